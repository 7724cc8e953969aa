"""Gradient descent through contact: push a box to a target with exact gradients of a rollout.

A ball on a rail pushes a box that slides over the ground with friction. What force, one number for
each tenth of a second, brings the box to rest at the target? The rollout goes forward, step by
step; the gradient comes back through `vjp`. It starts where the ball touches the box: without a
touch the gradient would be zero.
"""

import numpy as np
import stiction

DT, STEPS, KNOTS = 5e-3, 100, 5
TARGET = 0.10  # of the box along x [m]
BALL, BOX = "ball", "box"


def build():
    scene = stiction.Scene(name="push")
    material = stiction.Material(friction=0.3)
    scene.add_ground(material)
    at = np.eye(4)
    at[:3, 3] = [0.0, 0.0, 0.05]
    scene.add_body(BOX, stiction.Box([0.05, 0.05, 0.05]), 1.0, at, material)
    pusher = stiction.load_urdf_string(
        """<robot name="pusher"><link name="rail"/><joint name="slide" type="prismatic">
        <parent link="rail"/><child link="ball"/><axis xyz="1 0 0"/>
        <origin xyz="-0.08 0 0.05"/><limit lower="-1" upper="1" effort="100" velocity="10"/></joint>
        <link name="ball"><inertial><mass value="0.2"/>
        <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial>
        <collision><geometry><sphere radius="0.03"/></geometry></collision></link></robot>""",
        free_flyer=False,
        # With friction the ball could carry a part of the box's weight, how much is left open: the
        # report of the gradients would say `not_unique`.
        material=stiction.Material(friction=0.0),
    )
    scene.add_robot(pusher)
    return stiction.Simulator(scene, dt=DT, baumgarte=1.0)  # 1: no kink where gaps are zero


def cost_and_gradient(sim, forces):
    """Distance from the target and speed of the box at the end, and d/d(forces)."""
    nv, dof = sim.scene.nv, sim.scene.dof("slide")
    knot = np.arange(STEPS) * KNOTS // STEPS
    states, torques = [sim.initial_state()], np.zeros((STEPS, nv))
    torques[:, dof] = forces[knot]
    for torque in torques:
        state = states[-1].copy()
        sim.step(state, torque)
        states.append(state)
    x, vx = states[-1].q[0] - TARGET, states[-1].v[0]
    w = np.zeros(
        2 * nv
    )  # dl/dq+, dl/dv+, tangents: the box does not turn, its axes are the world's
    w[0], w[nv] = 2 * x, 0.02 * vx
    gradient = np.zeros(KNOTS)
    for k in reversed(range(STEPS)):
        sim.step(states[k].copy(), torques[k])  # the same bits again
        gq, gv, gtorque = sim.vjp(w)
        gradient[knot[k]] += gtorque[dof]
        w = np.concatenate([gq, gv])
    return x**2 + 0.01 * vx**2, gradient, states[-1]


def main():
    sim = build()
    forces = np.full(KNOTS, 4.0)  # friction holds the box up to 2.9 N
    cost, gradient, end = cost_and_gradient(sim, forces)
    h = 1e-5
    plus = cost_and_gradient(sim, forces + h * np.eye(KNOTS)[1])[0]
    minus = cost_and_gradient(sim, forces - h * np.eye(KNOTS)[1])[0]
    print(f"unique: {sim.gradient_report().not_unique == 0}")
    print(f"d cost / d force: {gradient[1]:.8f}, by differences {(plus - minus) / (2 * h):.8f} 1/N")
    step = 100.0
    for _ in range(40):
        trial = cost_and_gradient(sim, forces - step * gradient)
        if trial[0] < cost:
            forces, step = forces - step * gradient, 1.5 * step
            cost, gradient, end = trial
        else:
            step *= 0.3
    off = 1e3 * abs(end.q[0] - TARGET)
    print(f"box {off:.2f} mm from the target, forces", forces.round(2), "N")
    return off


if __name__ == "__main__":
    main()
