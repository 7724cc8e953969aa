"""A gripper that does not touch yet: the central path leads its fingers to an object, exact
gradients put the object in its place.

Two fingers on rails, a ball at each side of a box. Nothing touches, so the exact gradient by their
forces is zero. On the central path contacts act from afar, less and less: `along_path`.
"""

import numpy as np
import stiction

STEPS, DT, TARGET = 50, 0.01, 0.04  # of the box along x [m]
FINGERS = """<robot name="{name}"><link name="rail"/>
  <joint name="{name}" type="prismatic"><parent link="rail"/><child link="ball"/>
    <axis xyz="1 0 0"/><origin xyz="{x} 0 0.05"/>
    <limit lower="-1" upper="1" effort="99" velocity="99"/></joint>
  <link name="ball"><inertial><mass value="0.3"/>
    <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial>
    <collision><geometry><sphere radius="0.03"/></geometry></collision></link></robot>"""


def build():
    scene = stiction.Scene(name="gripper")
    scene.add_ground(stiction.Material(friction=0.4))
    for name, x in (("left", -0.13), ("right", 0.13)):  # 5 cm from the box
        finger = FINGERS.format(name=name, x=x)
        scene.add_robot(
            stiction.load_urdf_string(
                finger, free_flyer=False, material=stiction.Material(friction=0.4)
            ),
            robot_name=name,
        )
    at = np.eye(4)
    at[2, 3] = 0.05
    scene.add_body("box", stiction.Box([0.05, 0.05, 0.05]), 0.5, at, stiction.Material(0.4))
    return stiction.Simulator(scene, dt=DT, margin=0.3)


def errors(sim, forces):
    """Of the box's end and of the forces, and their Jacobian."""
    state, nv = sim.initial_state(), sim.scene.nv
    by = np.zeros((2 * nv, forces.size))
    for k, force in enumerate(forces):
        d = sim.step_derivatives(state, np.r_[force, np.zeros(nv - 2)])
        by = d.A @ by
        by[:, 2 * k : 2 * k + 2] += d.B[:, :2]
        state = d.next_state
    box = state.q[2] - TARGET
    r = np.r_[20 * box, 0.2 * state.v[2], 2e-3 * forces.ravel()]
    J = np.vstack([20 * by[2], 0.2 * by[nv + 2], 2e-3 * np.eye(forces.size)])
    return r, J, 1e3 * abs(box)


def improve(sim, forces, iterations):
    """Levenberg and Marquardt."""
    damping, (r, J, off) = 1e-3, errors(sim, forces)
    for _ in range(iterations):
        while damping < 1e6:
            step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), -J.T @ r)
            trial = forces + step.reshape(forces.shape)
            found = errors(sim, trial)
            if found[0] @ found[0] < r @ r:
                forces, damping, (r, J, off) = trial, damping / 3, found
                break
            damping *= 4
    return forces, off


def main():
    sim, forces = build(), np.zeros((STEPS, 2))
    gradient = errors(sim, forces)[1][0]
    print(f"exact gradient before contact: {np.abs(gradient).max()}")
    for epsilon, simulator in stiction.along_path(sim):
        forces, off = improve(simulator, forces, 1 if epsilon else 20)
        print(f"epsilon {epsilon:g} J: box {off:.2f} mm from the target")
    return np.abs(gradient).max(), off


if __name__ == "__main__":
    main()
