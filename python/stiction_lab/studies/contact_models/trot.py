"""Solo-12 trots for ten seconds with every solver: slip, tracking, residuals, time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import Control, Scene
from stiction.gaits import Trot, trot_targets
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick
from stiction.simulator import Simulator

from . import cubes, paper, solvers
from .lines import Panel, draw
from .simulate import Run, simulate

DURATION = 10.0  # [s]
TOLERANCE = 1e-8
CONTACTS = 16  # most of one step; a foot may touch four tiles
TIMED_STEPS = 2000
TERRAINS = {"flat": "solo12-trot", "bumpy": "solo12-trot-bumpy"}
GAIT = Trot()
IN_QUICK = ("ncp-newton", "ncp-pgs", "ccp-pgs", "raisim", "lcp-pgs")


@dataclass
class Walk:
    """What a walk is judged by.

    Attributes:
        run: all steps.
        speed: mean along x after the strides have reached their length [m/s].
        slip: path of all loaded contact points over the ground per metre walked.
        lift: largest separating speed of a loaded contact [m/s], which the exact model forbids.
        tilt: largest angle of the base from the vertical [rad].
        microseconds: of a whole step, mean.
    """

    run: Run
    speed: float
    slip: float
    lift: float
    tilt: float
    microseconds: float


def run(effort: Effort, tick: Tick) -> Experiment:
    """Every solver on flat and bumpy ground."""
    experiment = Experiment("trot", "Solo-12 trotting", SETUP)
    names = solvers.NAMES if effort.share >= 1.0 else IN_QUICK
    duration = cubes.DT * effort.count(round(DURATION / cubes.DT), least=1400)
    walks: dict[str, dict[str, Walk]] = {}
    for i, (terrain, scene_name) in enumerate(TERRAINS.items()):
        scene = loading.load(scene_name)
        targets = trot_targets(scene, duration, cubes.DT, GAIT)
        walks[terrain] = {}
        for k, name in enumerate(names):
            tick(f"{terrain}, {name}", (i + k / len(names)) / len(TERRAINS))
            walks[terrain][name] = _walk(scene, name, targets)
            _add_rows(experiment, terrain, walks[terrain][name].run)
        experiment.tables.append(_table(terrain, walks[terrain]))
    experiment.claims += _claims(walks)
    for terrain, ours in walks.items():
        experiment.figures.append((CAPTION.format(terrain), _figure(ours)))
    return experiment


SETUP = (
    "Not in the paper, whose walking experiments run a predictive controller: an open-loop trot "
    f"(period {GAIT.period:g} s, commanded speed {GAIT.speed:g} m/s), joint servos, {DURATION:g} s "
    f"at 1 ms, tolerance {TOLERANCE:g}. Flat ground has friction 0.9, as in the paper; the bumpy "
    "one 0.3 and tiles up to 10 mm high, lower than the paper's 0.1 m, which nothing blind walks "
    "over. Slip is the path of all loaded contact points along the ground per metre that the base "
    "walks. Times are of whole steps, collision and dynamics included."
)
CAPTION = "Trot on {} ground: speed of the base, and residual of the NCP over time"
SHOWN = (*paper.TABLE_3, "ncp-newton")
"""In the claims."""


def _walk(scene: Scene, name: str, targets: NDArray[np.float64]) -> Walk:
    control = Simulator(scene).hold()

    def drive(now: float) -> Control:
        control.position_target[:] = targets[round(now / cubes.DT)]
        return control

    done = simulate(
        scene,
        name,
        len(targets),
        lambda simulator: simulator.initial_state("standing"),
        drive,
        contacts=CONTACTS,
        tolerance=TOLERANCE,
        max_iterations=1000,
    )
    steady = done.time >= 2.0 * GAIT.start
    walked = done.q[-1, 0] - done.q[steady][0, 0]
    loaded = np.nan_to_num(done.impulse[:, :, 2]) > 0.0
    sliding = np.linalg.norm(np.nan_to_num(done.velocity[:, :, :2]), axis=2)
    path = cubes.DT * float((sliding * loaded)[steady].sum())
    return Walk(
        run=done,
        speed=float(walked / (done.time[-1] - done.time[steady][0])),
        slip=path / max(abs(float(walked)), 1e-3),
        lift=float((np.nan_to_num(done.velocity[:, :, 2]) * loaded).max()),
        tilt=float(2.0 * np.arcsin(np.linalg.norm(done.q[:, 3:5], axis=1).clip(0.0, 1.0)).max()),
        microseconds=_time_steps(scene, name, targets[:TIMED_STEPS]),
    )


def _time_steps(scene: Scene, name: str, targets: NDArray[np.float64]) -> float:
    """Mean time of a step in a rollout without recording [µs]."""
    simulator = Simulator(scene, dt=cubes.DT, solver=name, tolerance=TOLERANCE)
    state = simulator.initial_state("standing")
    begin = time.perf_counter()
    simulator.rollout(state, position_targets=targets, record=())
    return 1e6 * (time.perf_counter() - begin) / len(targets)


def _add_rows(experiment: Experiment, terrain: str, done: Run) -> None:
    every = slice(None, None, 10)
    experiment.add_rows(
        terrain=terrain,
        solver=done.solver,
        time=done.time[every],
        x=done.q[every, 0],
        y=done.q[every, 1],
        z=done.q[every, 2],
        energy=done.energy[every],
        relative_residual=done.relative[every],
        complementarity=done.certificate[every, 2],
        converged=done.converged[every],
    )


def _table(terrain: str, walks: dict[str, Walk]) -> Table:
    columns = ["solver", "speed [m/s]", "sideways [m]", "tilt [rad]", "slip [m/m]"]
    columns += ["lift-off [m/s]", "complementarity, median / worst [J]", "penetration [µm]"]
    table = Table(f"{terrain.capitalize()} ground", [*columns, "converged", "step [µs]"])
    for name, walk in walks.items():
        done = walk.run
        power = done.certificate[:, 2]
        table.rows.append(
            [
                name,
                f"{walk.speed:.3f}",
                f"{done.q[-1, 1]:+.3f}",
                f"{walk.tilt:.3f}",
                f"{walk.slip:.3f}",
                f"{walk.lift:.1e}",
                f"{np.median(power):.0e} / {power.max():.0e}",
                f"{1e6 * done.penetration.max():.2g}",
                f"{done.converged.mean():.1%}",
                f"{walk.microseconds:.1f}",
            ]
        )
    return table


def _claims(walks: dict[str, dict[str, Walk]]) -> list[Claim]:
    spread = {}
    for terrain, ours in walks.items():
        speeds = [ours[name].speed for name in SHOWN]
        spread[terrain] = (max(speeds) - min(speeds)) / GAIT.speed
    relaxed = {t: float(np.max(ours["ccp-pgs"].run.certificate[:, 2])) for t, ours in walks.items()}
    exact = {
        t: float(np.max(ours["ncp-newton"].run.certificate[:, 2])) for t, ours in walks.items()
    }
    return [
        Claim(
            "on flat ground (friction 0.9) the choice of simulator hardly affects the velocity",
            f"CCP/PGS, RaiSim, NCP/PGS and ncp-newton differ by {spread['flat']:.1%} of the "
            "commanded speed",
            spread["flat"] <= 0.05,
        ),
        Claim(
            "on slippery bumpy ground it affects it more than on flat",
            f"{spread['bumpy']:.1%}",
            spread["bumpy"] > spread["flat"],
        ),
        Claim(
            "the CCP violates the NCP where feet slide",
            "largest complementarity error of CCP/PGS and of ncp-newton [J]: "
            + "; ".join(f"{t} {relaxed[t]:.0e}, {exact[t]:.0e}" for t in walks),
            all(relaxed[t] > 100.0 * exact[t] for t in walks),
        ),
    ]


def _figure(walks: dict[str, Walk]) -> str:
    speed = Panel("speed over one period", "time [s]", "[m/s]")
    residual = Panel("certificate", "time [s]", "relative residual", log="y", floor=1e-16)
    window = round(GAIT.period / cubes.DT)
    for name, walk in walks.items():
        done = walk.run
        mean = (done.q[window:, 0] - done.q[:-window, 0]) / GAIT.period
        speed.curves[name] = done.time[window:], mean
        residual.curves[name] = done.time, done.relative
    return draw([speed, residual])
