"""A box is pushed to a place by a ball that is 7 cm away: the central path first, then exact."""

from __future__ import annotations

import numpy as np
import pinocchio
import stiction

STEPS, TARGET, WEIGHT = 50, np.array([0.25, 0.0]), 0.002
PUSHER = """<robot name="pusher">
  <link name="base"/><link name="rail"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="ball"><inertial><mass value="0.5"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision name="ball"><geometry><sphere radius="0.04"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="rail"/><axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" effort="99" velocity="99"/></joint>
  <joint name="y" type="prismatic"><parent link="rail"/><child link="ball"/><axis xyz="0 1 0"/>
    <limit lower="-9" upper="9" effort="99" velocity="99"/></joint>
</robot>"""


def push_scene() -> stiction.Scene:
    scene = stiction.Scene(name="push")
    scene.add_ground()
    start = pinocchio.SE3(np.eye(3), np.array([-0.21, 0.0, 0.05]))  # 7 cm from the box
    scene.add_robot(stiction.load_urdf_string(PUSHER, free_flyer=False), start)
    slippery = stiction.Material(friction=0.4)
    place = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 0.05]))
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.05]), mass=1.0, X_W=place, material=slippery)
    return scene


def roll(
    sim: stiction.Simulator, forces: np.ndarray, derive: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Where the box ends, and by the forces."""
    state, control = sim.initial_state(), stiction.Control(sim.scene.nv)
    nv = sim.scene.nv
    by = np.zeros((2 * nv, 2 * STEPS))
    for k in range(STEPS):
        torque = np.zeros(nv)
        torque[:2] = forces[k]
        control.torque = torque
        if derive:
            d = sim.step_derivatives(state, control)
            by = d.A @ by
            by[:, 2 * k : 2 * k + 2] += d.B[:, :2]
            state = d.next_state
        else:
            sim.step(state, control)
    q = state.q
    R = pinocchio.Quaternion(q[5:9] / np.linalg.norm(q[5:9])).matrix()
    return q[2:4].copy(), (R @ by[2:5])[:2]


def residual(
    sim: stiction.Simulator, forces: np.ndarray, derive: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    end, by = roll(sim, forces, derive)
    r = np.r_[10.0 * (end - TARGET), WEIGHT * forces.ravel()]
    return r, np.r_[10.0 * by, WEIGHT * np.eye(2 * STEPS)], end


def improve(sim: stiction.Simulator, forces: np.ndarray, iterations: int) -> np.ndarray:
    """Levenberg and Marquardt."""
    damping = 1e-3
    r, J, _ = residual(sim, forces)
    for _ in range(iterations):
        while damping < 1e9:
            step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), -J.T @ r)
            trial = forces + step.reshape(forces.shape)
            if np.sum(residual(sim, trial, False)[0] ** 2) < np.sum(r**2):
                forces, damping = trial, damping / 3
                break
            damping *= 4
        else:
            break
        r, J, _ = residual(sim, forces)
    return forces


def test_the_path_starts_a_search_that_does_not_touch() -> None:
    sim = stiction.Simulator(push_scene(), dt=0.01, margin=0.3)
    start = np.zeros((STEPS, 2))
    assert not residual(sim, start)[1][:2].any()  # exact: nothing touches, the gradient is zero
    forces = start
    for epsilon, simulator in stiction.along_path(sim):
        forces = improve(simulator, forces, 1 if epsilon else 20)
    end = residual(sim, forces)[2]
    assert np.linalg.norm(end - TARGET) < 1e-3
