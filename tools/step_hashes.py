"""Hashes of what steps and solvers compute: the oracle of a rewrite that changes no bit.

    python tools/step_hashes.py store hashes.json      # before the change
    python tools/step_hashes.py check hashes.json      # after it: names every case that differs

A case is a built-in scene, one of 20 random scenes, or the problem set with one solver; its hash is
of q, v and the impulses of every step (or of the impulses of every problem). Hashes belong to one
machine and one build. `--only TEXT` picks the cases whose name contains TEXT.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import stiction
from stiction_lab.bench.random_scenes import random_scene
from stiction_lab.studies.contact_models.problem_set import load_set

STEPS = {"ycb-pile": 300}
COMPLIANT_STEPS = 200
SLOW = {"implicit-euler box-stack": 10}
STRIDE = 12
RIGID = "semi-implicit-euler"
STIFFNESS, DAMPING = 2e4, 2e2
"""[N/m], [N s/m] of every surface under compliant integrators."""
COMPLIANT_SCENES = ("solo12", "cube-slide", "slope", "allegro-ball", "box-stack", "four-bar")


def run(
    sim: stiction.Simulator, state: stiction.State, control: stiction.Control, steps: int
) -> str:
    """The hash of q, v, λ over the steps; an error is part of it."""
    digest = hashlib.sha256()
    for _ in range(steps):
        try:
            report = sim.step(state, control)
        except stiction.SimulationError as error:
            digest.update(str(error).encode())
            break
        digest.update(np.ascontiguousarray(state.q).tobytes())
        digest.update(np.ascontiguousarray(state.v).tobytes())
        digest.update(str(report.status).encode())
        digest.update(np.ascontiguousarray(sim.solution().impulse).tobytes())
    return digest.hexdigest()[:16]


def built_in(name: str, integrator: str, steps: int) -> str:
    """A built-in scene with seeded kicks, so that it does not only rest."""
    scene = stiction.load(name)
    if integrator != RIGID:
        scene.parameters.stiffness[:] = STIFFNESS
        scene.parameters.contact_damping[:] = DAMPING
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    state, control = sim.initial_state(), sim.hold()
    rng = np.random.default_rng(7)
    state.v = np.array(state.v) + 0.05 * rng.normal(size=scene.nv)
    return run(sim, state, control, steps)


def compliant_random(kind: str, seed: int, integrator: str) -> str:
    """A random scene with springs in its contacts."""
    scene = random_scene(kind, seed)
    scene.scene.parameters.stiffness[:] = STIFFNESS
    scene.scene.parameters.contact_damping[:] = DAMPING
    sim = stiction.Simulator(scene.scene, dt=scene.dt, integrator=integrator)
    state = sim.initial_state()
    state.v = scene.v
    return run(sim, state, sim.hold(), 100)


def problem_set(solver: str) -> str:
    """Some problems of tests/data/ncp_set.npz."""
    digest = hashlib.sha256()
    for collected in load_set(None, STRIDE):
        try:
            solution = stiction.solve(collected.problem, solver=solver, max_iterations=200)
        except ValueError as refused:
            digest.update(str(refused).encode())
            continue
        digest.update(np.ascontiguousarray(solution.impulse).tobytes())
        digest.update(str(solution.status).encode())
    return digest.hexdigest()[:16]


def cases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Name and computation of every case."""
    for info in stiction.scenes():
        steps = STEPS.get(info.name, 1000)
        yield (
            f"scene {info.name}",
            lambda n=info.name, s=steps: built_in(n, RIGID, s),
        )
    for integrator in stiction.integrators():
        for name in COMPLIANT_SCENES if integrator != RIGID else ():
            yield (
                f"{integrator} {name}",
                lambda n=name, i=integrator: built_in(n, i, SLOW.get(f"{i} {n}", COMPLIANT_STEPS)),
            )
    for kind in ("mild", "hard"):
        for seed in range(10):
            yield (
                f"random {kind} {seed}",
                lambda k=kind, s=seed: run(*random_scene(k, s).start(), 1000),
            )
    for seed in range(4):
        for integrator in ("exponential", "implicit-euler"):
            yield (
                f"{integrator} random mild {seed}",
                lambda i=integrator, s=seed: compliant_random("mild", s, i),
            )
    for solver in stiction.solvers():
        yield f"solver {solver}", lambda n=solver: problem_set(n)


def main() -> int:
    """Stores or checks; 1 if a hash differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("store", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    known = json.loads(arguments.file.read_text()) if arguments.file.exists() else {}
    different = []
    for name, compute in cases():
        if arguments.only not in name:
            continue
        begin = time.process_time()
        found = compute()
        if arguments.verbose:
            print(f"{name:45} {found} {time.process_time() - begin:.2f} s", flush=True)
        if arguments.action == "store":
            known[name] = found
        elif known.get(name) != found:
            different.append(name)
    if arguments.action == "store":
        arguments.file.write_text(json.dumps(known, indent=1) + "\n")
    for name in different:
        print(f"differs: {name}")
    print(f"{len(different)} of {len(known)} cases differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
