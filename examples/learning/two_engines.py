"""A task learned in two engines, each policy judged in both: what of a gait is the engine's?

    pip install torch 'gymnasium[mujoco]'
    python examples/learning/two_engines.py --results benchmarks/results
    python examples/learning/two_engines.py --smoke        # a minute: does it run?

Half-cheetah, hopper and ant as Gymnasium has them, on stiction and on MuJoCo, with ppo.py and the
same settings. Printed, and with --results stored as "gymnasium" in the file of this machine: mean
of the return over episodes and seeds for each pair of engines, and the deviation between seeds.
"""

from __future__ import annotations

import argparse
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import ppo
import stiction.envs

TASKS: dict[str, dict[str, Any]] = {
    "HalfCheetah": {},
    "Hopper": {},
    "Ant": {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0},
}
"""Task -> settings of both: what contacts carry is as large in neither."""
ENGINES = ("stiction", "mujoco")


@dataclass(frozen=True)
class Plan:
    """Control steps of all worlds while learning, worlds, episodes to judge, their longest."""

    steps: int = 4_000_000
    worlds: int = 256
    episodes: int = 64
    longest: int = 1000
    threads: int = 2


SMOKE = Plan(steps=2 * ppo.HORIZON * 4, worlds=4, episodes=2, longest=20)


class MujocoWorlds:
    """Gymnasium's own task, many times, with the interface of stiction.envs: the observation after
    an episode's end is the first of the next one, the last one stands in info."""

    def __init__(self, task: str, worlds: int) -> None:
        mode = gymnasium.vector.AutoresetMode.SAME_STEP
        makers = [lambda: gymnasium.make(f"{task}-v5", **TASKS[task])] * worlds
        self.worlds = gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)
        self.action_space = self.worlds.action_space
        self.single_action_space = self.worlds.single_action_space

    def reset(self, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
        observation, info = self.worlds.reset(seed=seed)
        return observation.astype(np.float32), info

    def step(
        self, action: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.worlds.step(action)
        found = observation.astype(np.float32)
        last = found.copy()
        for world in np.flatnonzero(terminated | truncated):
            last[world] = info["final_obs"][world]
        return found, reward, terminated, truncated, {"final_obs": last}


def worlds_of(engine: str, task: str, worlds: int, threads: int) -> Any:
    """Environments of a task on an engine, which start again where they end.

    Raises:
        ValueError: the engine or the task is unknown.
    """
    if engine not in ENGINES or task not in TASKS:
        raise ValueError(f"{engine!r}, {task!r}: engines are {ENGINES}, tasks {tuple(TASKS)}")
    if engine == "mujoco":
        return MujocoWorlds(task, worlds)
    return gymnasium.make_vec(
        f"stiction/{task}-v5", num_envs=worlds, threads=threads, **TASKS[task]
    )


def judge(env: Any, policy: stiction.envs.Policy, longest: int, seed: int) -> dict[str, float]:
    """The first episode of every world, at most `longest` steps, under the mean action."""
    observation, _ = env.reset(seed=seed)
    total, length = np.zeros(len(observation)), np.zeros(len(observation))
    running = np.ones(len(observation), bool)
    limit = env.single_action_space.high
    for _ in range(longest):
        action = np.clip(policy(observation), -limit, limit)
        observation, reward, terminated, truncated, _ = env.step(action)
        total += np.where(running, reward, 0.0)
        length += running
        running &= ~(terminated | truncated)
        if not running.any():
            break
    return {
        "return": float(total.mean()),
        "deviation": float(total.std()),
        "length": float(length.mean()),
        "episodes": len(total),
    }


def study(tasks: list[str], plan: Plan, seeds: list[int], folder: Path) -> dict[str, Any]:
    """Learns every task in both engines and judges each policy in both."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed, task, learned in itertools.product(seeds, tasks, ENGINES):
        out = folder / f"{task}-{learned}-{seed}.npz"
        env = worlds_of(learned, task, plan.worlds, plan.threads)
        print(f"{task}, learned in {learned}, seed {seed}", flush=True)
        curve = ppo.learn_in(env, plan.worlds, plan.steps, seed, out)
        policy = stiction.envs.Policy.load(out)
        for judged in ENGINES:
            env = worlds_of(judged, task, plan.episodes, plan.threads)
            row = {"task": task, "learned in": learned, "judged in": judged, "seed": seed}
            rows.append(row | judge(env, policy, plan.longest, seed + 1000))
        rows[-1]["seconds to learn"] = curve["seconds"][-1]
    return {"plan": vars(plan), "seeds": seeds, "rows": rows}


def table(document: dict[str, Any]) -> str:
    """A task a block: a row an engine that taught, a column an engine that judges."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    for r in document["rows"]:
        cells.setdefault((r["task"], r["learned in"], r["judged in"]), []).append(r["return"])
    lines = []
    for task in dict.fromkeys(r["task"] for r in document["rows"]):
        lines.append(f"{task:12s}" + "".join(f"   judged in {engine:10s}" for engine in ENGINES))
        for learned in ENGINES:
            found = [cells[task, learned, judged] for judged in ENGINES]
            shown = "".join(f"   {np.mean(x):9.1f} ± {np.std(x):8.1f}" for x in found)
            lines.append(f"  {learned:10s}{shown}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", default=",".join(TASKS), help="comma-separated")
    parser.add_argument("--steps", type=int, default=Plan.steps, help="control steps of all worlds")
    parser.add_argument("--worlds", type=int, default=Plan.worlds)
    parser.add_argument("--seeds", default="0", help="comma-separated")
    parser.add_argument("--threads", type=int, default=Plan.threads, help="of stiction")
    parser.add_argument("--smoke", action="store_true", help="a few steps, for trying out")
    parser.add_argument("--out", type=Path, default=Path("build/study/envs"), help="of policies")
    parser.add_argument("--results", type=Path, help="folder whose file takes the numbers")
    given = parser.parse_args()
    plan = Plan(given.steps, given.worlds, threads=given.threads)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    document = study(given.tasks.split(","), SMOKE if given.smoke else plan, seeds, given.out)
    (given.out / "two_engines.json").write_text(json.dumps(document, indent=1) + "\n")
    print(table(document))
    if given.results:
        from stiction_lab.bench import machine
        from stiction_lab.bench.results import update_results

        described = {"machine": machine.describe()}
        print(update_results(given.results, {"gymnasium": described | document}))


if __name__ == "__main__":
    main()
