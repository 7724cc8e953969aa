"""Every MJCF file below some folders in stiction and in MuJoCo, for a page of the manual.

    PYTHONPATH=tests/python python tools/mjcf_models.py [FOLDER ...]

Without folders, those of the packages that fetch_mjcf_models.py fetches.
Of every file that MuJoCo compiles and that has joints: whether mass matrix, bias and acceleration
at random states and controls are MuJoCo's to 1e-9 with contacts, limits, dry friction and
equalities off in both; then 2 s without control at the file's time step (4000 steps at most) in
either engine. `--only NAME` looks at the files whose path holds NAME and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import stiction
from fetch_mjcf_models import fetch
from mjcf_beside_mujoco import Beside, worst_differences
from mjcf_page import ENERGY_DIFFERENCE, Model, store, write_page
from stiction_lab.bench.machine import describe

SECONDS, MOST_STEPS, LIMIT, SAMPLES = 2.0, 4000, 300, 200
"""Simulated [s], steps at most, wall clock of one file [s], looks at energies."""


def main() -> None:
    """Measure, store, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda _: None)
    signal.signal(signal.SIGALRM, _too_long)
    stiction.load_mjcf("<mujoco/>")  # starts the process that compiles
    models = [
        measured(folder, file, given.only)
        for folder in given.folders or fetch()
        for file in sorted(folder.rglob("*.xml"))
    ]
    found = [model for model in models if model]
    if given.only:
        print(json.dumps([asdict(m) for m in found], indent=1))
        return
    store(describe(), found)
    write_page()


def measured(folder: Path, file: Path, only: str) -> Model | None:
    """None of what MuJoCo does not compile."""
    name = str(file.relative_to(folder))
    if only not in name:
        return None
    try:
        m = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        return None
    model = Model(folder.name, name, int(m.nv))
    signal.alarm(LIMIT)
    try:
        look_at(model, file, m)
    except TimeoutError:
        model.error = f"not through after {LIMIT} s"
    except stiction.StictionError as error:
        model.error = str(error)
    signal.alarm(0)
    print(
        model.package,
        model.file,
        "; ".join(model.falls_short()) or "ok",
        file=sys.stderr,
        flush=True,
    )
    return model


def look_at(model: Model, file: Path, m: Any) -> None:
    """Load, compare, run."""
    loaded = stiction.load_mjcf(file)
    # Again: both compilers, in their processes, have now seen its meshes.
    model.compile = seconds(lambda: mujoco.MjModel.from_xml_path(str(file)))
    model.load = seconds(lambda: stiction.load_mjcf(file))
    model.unused = sum(message.kind == "unused" for message in loaded.messages)
    if not model.dofs:
        return
    beside = Beside(file, equalities=False)
    differences = worst_differences(beside, np.random.default_rng(0), states=100)
    model.differences = {key: x for key, x in differences.items() if x >= 1e-9}
    model.steps = min(round(SECONDS / loaded.timestep), MOST_STEPS)
    model.passive = int(m.nu) == 0 and int(m.nmocap) == 0
    energy, theirs = run(model, loaded, m), run_mujoco(model, m)
    extent = max(np.ptp(theirs, axis=0).max(), np.ptp(energy, axis=0).max(), 1e-9)
    ours, theirs = energy.sum(axis=1), theirs.sum(axis=1)
    model.energy_gain = float((ours - np.minimum.accumulate(ours)).max() / extent)
    model.energy_difference = float(abs(ours[-1] - theirs[-1]) / extent)
    if model.energy_difference > ENERGY_DIFFERENCE:
        model.stiff_difference = float(abs(ours[-1] - stiff_end(m, model.steps)) / extent)
    if min(model.energy_difference, model.stiff_difference) > ENERGY_DIFFERENCE:
        # stiff_end() has changed m.
        model.spread = spread(mujoco.MjModel.from_xml_path(str(file)), model.steps) / extent
        if model.overlaps:
            model.apart_difference = apart(file, loaded, model.steps) / extent


def seconds(call: Callable[[], Any]) -> float:
    """That it takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def run(model: Model, loaded: stiction.Mjcf, m: Any) -> Any:
    """Steps without control; energies on the way."""
    sim, scene, d = loaded.simulation(), loaded.scene, mujoco.MjData(m)
    state, times, energies = sim.state, np.zeros(model.steps), []
    model.overlaps = sum(p.distance < -1e-3 for p in scene.distances(state, 0.0))
    for _ in looks(model.steps, times, lambda: note(model, sim.step())):
        energies.append(energy_of(m, d, scene, state))
    model.step, model.slowest_step = float(np.median(times)), float(times.max())
    return np.array(energies)


def note(model: Model, report: Any) -> None:
    """Status and certificate of a step."""
    model.ok += report.status == "ok"
    model.residual = max(model.residual, float(report.residuals.relative))
    model.depth = max(model.depth, float(report.penetration))
    if model.depth_at_start is None:
        model.depth_at_start = model.depth


def run_mujoco(model: Model, m: Any) -> Any:
    """The same steps there."""
    d, times, energies = mujoco.MjData(m), np.zeros(model.steps), []
    for _ in looks(model.steps, times, lambda: mujoco.mj_step(m, d)):
        energies.append(energy_at(m, d))
    model.mujoco_step = float(np.median(times))
    return np.array(energies)


def stiff_end(m: Any, steps: int, finer: int = 10) -> float:
    """Energy after the same time in MuJoCo with contacts, limits and dry friction as stiff as a
    tenth of the step allows, elliptic cones, five sweeps against slip."""
    dt = float(m.opt.timestep) / finer
    solref, solimp = (2.0 * dt, 1.0), (0.99, 0.999, 0.001, 0.5, 2.0)
    m.opt.timestep, m.opt.impratio, m.opt.noslip_iterations = dt, 100.0, 5
    m.opt.cone, m.opt.solver = mujoco.mjtCone.mjCONE_ELLIPTIC, mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    m.opt.o_solref[:], m.opt.o_solimp[:] = solref, solimp
    for row in ("jnt", "dof"):
        getattr(m, f"{row}_solref")[:], getattr(m, f"{row}_solimp")[:] = solref, solimp
    for row in ("lim", "fri"):
        getattr(m, f"tendon_solref_{row}")[:] = solref
        getattr(m, f"tendon_solimp_{row}")[:] = solimp
    d = mujoco.MjData(m)
    for _ in range(finer * steps):
        mujoco.mj_step(m, d)
    return float(energy_at(m, d).sum())


def spread(m: Any, steps: int, starts: int = 8) -> float:
    """Of MuJoCo's energy at the end over starts with normal random speeds of 1e-6 [J]."""
    ends = []
    for seed in range(starts):
        d = mujoco.MjData(m)
        d.qvel[:] = 1e-6 * np.random.default_rng(seed).normal(size=m.nv)
        for _ in range(steps):
            mujoco.mj_step(m, d)
        ends.append(energy_at(m, d).sum())
    return float(np.ptp(ends))


def apart(file: Path, loaded: stiction.Mjcf, steps: int) -> float:
    """Difference of the energies at the end with the pairs that overlap at the start off [J]."""
    free = stiction.load_mjcf(file, keep_overlapping_pairs=False)
    m = mujoco.MjModel.from_xml_path(str(file))
    number = loaded._geometries

    def is_off(_m: Any, _d: Any, a: int, b: int) -> int:
        # In the place of contype and conaffinity, which the scene has too.
        pair = number.get(a), number.get(b)
        return int(None in pair or not free.scene.pair_enabled(*pair))

    sim, d = free.simulation(), mujoco.MjData(m)
    mujoco.set_mjcb_contactfilter(is_off)
    try:
        for _ in range(steps):
            mujoco.mj_step(m, d)
            sim.step()
    finally:
        mujoco.set_mjcb_contactfilter(None)
    theirs = energy_at(m, d).sum()
    return float(abs(energy_of(m, d, free.scene, sim.state).sum() - theirs))


def looks(steps: int, times: Any, step: Callable[[], None]) -> Iterator[int]:
    """Take the steps and note their times; pause SAMPLES times, first at the start."""
    every = max(1, steps // SAMPLES)
    for k in range(steps):
        if k % every == 0:
            yield k
        times[k] = seconds(step)
    yield steps


def energy_of(m: Any, d: Any, scene: stiction.Scene, state: stiction.State) -> Any:
    """MuJoCo's energies at our state."""
    d.qpos[:] = stiction.to_mujoco_qpos(scene, state.q)
    d.qvel[:] = stiction.to_mujoco_qvel(scene, state.q, state.v)
    return energy_at(m, d)


def energy_at(m: Any, d: Any) -> Any:
    """(2,) of weight and springs, kinetic [J]."""
    mujoco.mj_fwdPosition(m, d)
    mujoco.mj_energyPos(m, d)
    mujoco.mj_energyVel(m, d)
    return np.array(d.energy)


def _too_long(*_: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
