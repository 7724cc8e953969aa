"""How well a learned policy walks: errors against what it is told, falls, gait, in 256 worlds.

    python examples/learning/judge.py stiction/Solo12Velocity-v0 trot.npz [--randomise] [--json]

Every world is told another velocity for 8 s; the first second does not count.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gymnasium
import numpy as np
import stiction.envs
from stiction.envs import Policy, VelocityEnv

WORLDS, STEPS, SETTLING = 256, 400, 50  # steps of 20 ms
STRIDE = 20  # steps: one period of the clock


def judge(task: str, policy: Policy, seed: int, randomise: bool = False) -> dict[str, float]:
    """Means over the worlds that stand to the end.

    velocity [m/s] and turn [rad/s]: by how much the means over strides of 0.4 s miss the command;
    stance: share of the time that a foot is on the ground; lift_offs: of a foot, a second.
    """
    worlds = gymnasium.make_vec(
        task, num_envs=WORLDS, autoreset="Disabled", episode_steps=STEPS + 1, randomise=randomise
    )
    assert isinstance(worlds.unwrapped, VelocityEnv)
    env = worlds.unwrapped
    observation, _ = env.reset(seed=seed)
    fell = np.zeros(WORLDS, bool)
    moved, touched = [], []
    for k in range(STEPS):
        observation, _, ended, _, _ = env.step(policy(observation))
        fell |= ended
        if k < SETTLING:
            continue
        moved.append(env.batch.v[:, [0, 1, 5]].copy())
        touched.append(env.touching())
    strides = len(moved) // STRIDE
    means = np.reshape(moved[: strides * STRIDE], (strides, STRIDE, WORLDS, 3)).mean(axis=1)
    error = means - env.command
    feet = np.array(touched)
    lifted = (feet[:-1] & ~feet[1:]).sum(axis=0) / ((STEPS - SETTLING) * env.control_dt)
    stands = ~fell
    if not stands.any():
        raise SystemExit(f"all {WORLDS} worlds fell")
    return {
        "velocity": float(np.linalg.norm(error[:, stands, :2], axis=2).mean()),
        "turn": float(np.abs(error[:, stands, 2]).mean()),
        "falls": int(fell.sum()),
        "stance": float(feet[:, stands].mean()),
        "lift_offs": float(lifted[stands].mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", help="such as stiction/Solo12Velocity-v0")
    parser.add_argument("policy", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--randomise", action="store_true", help="friction and masses")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = judge(given.task, stiction.envs.Policy.load(given.policy), given.seed, given.randomise)
    if given.json:
        print(json.dumps(found))
        return
    print(f"error of velocity {found['velocity']:.3f} m/s, of turn {found['turn']:.3f} rad/s")
    print(f"falls {found['falls']} of {WORLDS}")
    print(f"feet on the ground {found['stance']:.0%}, lift-offs a second {found['lift_offs']:.1f}")


if __name__ == "__main__":
    main()
