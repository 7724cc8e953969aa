"""Solo-12 learns to jump: torques of hips and knees by the adjoint of a rollout.

Usage: 10_solo12_jump.py [replay.html]
"""

import sys

import numpy as np
import stiction
from stiction.record import Recorder
from stiction.replay import write_replay

DT, STEPS, PUSH, KNOTS = 2e-3, 170, 80, 4  # the motors push for 160 ms
LIMIT = 2.5  # N m
SIGN = np.array([0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1, -1.0])  # legs are mirrored: straightens them


def torques(x):
    """(STEPS, 18) from x (KNOTS, 2): hips and knees, the same in all legs, within LIMIT."""
    hip_knee = LIMIT * np.tanh(x)[np.arange(PUSH) * KNOTS // PUSH]
    out = np.zeros((STEPS, 18))
    out[:PUSH, 6:] = np.tile(np.c_[np.zeros(PUSH), hip_knee], 4) * SIGN
    return out


def cost_and_gradient(sim, start, x):
    """Minus the height that the base has, would its last speed carry it up; turns count."""
    tape = sim.rollout(start.copy(), taus=torques(x), record=("q", "v"), tape=True)
    q, v = tape.q, tape.v
    up, turn = PUSH + 5, q[PUSH + 5, 3:5]
    cost = -(q[up, 2] + v[up, 2] * abs(v[up, 2]) / 19.62) + 2 * turn @ turn
    w = np.zeros((STEPS + 1, 36))
    w[up, 2], w[up, 20] = -1.0, -abs(v[up, 2]) / 9.81
    w[up, 3:5] = 2 * turn  # quaternion: half the angle
    by = tape.adjoint(w, wrt="taus").taus[:PUSH, 6:] * SIGN
    legs = by.reshape(PUSH, 4, 3)[:, :, 1:].sum(axis=1)
    knots = legs.reshape(KNOTS, -1, 2).sum(axis=1)
    return cost, knots * LIMIT * (1 - np.tanh(x) ** 2), q[:, 2].max()


def main(page=None):
    sim = stiction.Simulator(stiction.load("solo12"), dt=DT)
    start = sim.initial_state("standing")
    sim.run(start, steps=200)
    x, step = np.full((KNOTS, 2), 0.05), 1.0
    cost, gradient, height = cost_and_gradient(sim, start, x)
    print(f"at first the base reaches {height:.3f} m")
    for _ in range(40):
        trial = x - step * gradient / (1e-9 + np.linalg.norm(gradient))
        found = cost_and_gradient(sim, start, trial)
        if found[0] < cost:
            x, (cost, gradient, height), step = trial, found, 1.3 * step
        else:
            step *= 0.5
    print(f"after 40 rollouts it reaches {height:.3f} m")
    if page:
        recorder, state, hold = Recorder(sim, title="Solo-12 jumps"), start.copy(), sim.hold()
        recorder.capture(state)
        given = np.array(hold.torque)
        for torque in torques(x):
            hold.torque = given + torque
            sim.step(state, hold)
            recorder.after_step(state)
        print(write_replay(page, recorder.replay()))
    return start.q[2], height


if __name__ == "__main__":
    main(*sys.argv[1:])
