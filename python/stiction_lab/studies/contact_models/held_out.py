"""Contact problems that no constant of a solver was tuned on, and what each stage brings on them.

    python -m stiction_lab.studies.contact_models.held_out

Problems of random scenes, mild and hard (robots with overlaps, masses over twelve decades), of
piles and stacks that are kicked, and of random matrices, by seeds that no other set uses. They are
made anew, the same each time; the warm start is the solution of a nearby free velocity.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator
from copy import copy

import numpy as np
import stiction
from stiction import ContactCone, ContactProblem
from stiction._stiction import _restored_problem

from ...bench.random_scenes import MAX_ROWS, random_scene
from .problem_set import Collected, load_set

SCENES = 150
"""Random scenes of each kind, from seed FIRST on."""
FIRST = 7000
TAKEN_AT = (0, 3, 40)
"""Steps whose problem is taken."""
KICKED = (("ycb-pile", 6, 300), ("box-stack", 5, 60), ("solo12", 1, 60), ("talos", 1, 60))
"""Scene, its bodies, and the step of the first kick."""
KICKS = 15
RANDOM = 150
NEARBY = 0.01
"""Change of the free velocity, in parts of its largest entry."""


def held_out() -> Iterator[Collected]:
    """Every problem of the set."""
    for kind in ("mild", "hard"):
        for seed in range(FIRST, FIRST + SCENES):
            yield from _of_scene(kind, seed)
    for name, bodies, first in KICKED:
        yield from _kicked(name, bodies, first)
    for seed in range(FIRST, FIRST + RANDOM):
        yield _random(np.random.default_rng(seed))


def _collected(name: str, problem: ContactProblem, rng: np.random.Generator) -> Collected:
    A, g = problem.dense(), problem.g
    change = NEARBY * np.abs(g).max() * rng.uniform(-1, 1, len(g)) / max(A.diagonal().max(), 1e-300)
    nearby = _restored_problem(A, g + A @ change, problem.R, problem.sets, problem._structure())
    return Collected(name, problem, nearby)


def _of_scene(kind: str, seed: int) -> Iterator[Collected]:
    sim, state, control = random_scene(kind, seed).start()
    rng = np.random.default_rng([seed, 1])
    for step in range(max(TAKEN_AT) + 1):
        try:
            sim.step(state, control)
        except stiction.SimulationError:
            return
        problem = copy(sim.problem())
        if step in TAKEN_AT and 0 < problem.num_rows <= MAX_ROWS:
            yield _collected(f"{kind}-{seed}-{step}", problem, rng)


def _kicked(name: str, bodies: int, first: int) -> Iterator[Collected]:
    rng = np.random.default_rng(FIRST)
    sim = stiction.Simulator(stiction.load(name, n=bodies) if bodies > 1 else stiction.load(name))
    state, control = sim.initial_state(), sim.hold()
    for step in range(first + 10 * KICKS):
        kick = step >= first and step % 10 == 0
        if kick:
            state.v = np.array(state.v) + rng.normal(scale=0.05, size=len(state.v))
        sim.step(state, control)
        if kick and sim.problem().num_rows > 0:
            yield _collected(f"{name}-{step}", copy(sim.problem()), rng)


def _random(rng: np.random.Generator) -> Collected:
    """Contacts of a few bodies, of large friction, hyperstatic and near to jamming."""
    contacts, dofs = int(rng.integers(2, 13)), int(rng.integers(3, 13))
    J = rng.normal(size=(3 * contacts, dofs)) * 10 ** rng.uniform(-1, 1, size=dofs)
    sets = [ContactCone(float(rng.uniform(0.0, 1.5))) for _ in range(contacts)]
    problem = ContactProblem(J @ J.T, J @ rng.normal(size=dofs), sets=sets)
    return _collected("random", problem, rng)


def measure(name: str, problems: list[Collected]) -> None:
    """Prints the share solved cold and warm, what it costs, and what each stage brings."""
    starts = [stiction.solve(p.nearby, max_factorisations=0).impulse for p in problems]
    for kind in ("cold", "warm"):
        visits: Counter[str] = Counter()
        ended: Counter[str] = Counter()
        factors: Counter[str] = Counter()
        solved, infeasible, begin = 0, 0, time.process_time()
        total = 0
        for p, start in zip(problems, starts, strict=True):
            x = stiction.solve(p.problem, warm_start=start if kind == "warm" else None)
            solved += x.status in ("converged", "rounding_limited")
            infeasible += x.status == "infeasible"
            total += x.factorisations
            for stage in x.stages:
                visits[stage["stage"]] += 1
                ended[stage["stage"]] += stage["ends"]
                factors[stage["stage"]] += stage["factorisations"]
        print(
            f"{name} {kind}: {solved} solved, {infeasible} infeasible of {len(problems)}, "
            f"{total} factorisations, {time.process_time() - begin:.2f} s"
        )
        for stage_name, count in visits.items():
            print(
                f"    {stage_name:15s} {count:5d} {ended[stage_name]:5d} {factors[stage_name]:6d}"
            )


def main() -> None:
    """Both sets."""
    measure("ncp_set", load_set(None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overlaps and steps that are not solved are what is tried
        problems = list(held_out())
    measure("held out", problems)


if __name__ == "__main__":
    main()
