"""Where there is no derivative, or one of many: what differences show and what the report says."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction.derivatives import made_of
from stiction.not_converged import NotConvergedWarning
from stiction.pages.experiment import Effort, Experiment, Table, Tick
from stiction.pages.plots import svg_text

from .differences import Start, change
from .drawing import COLORS
from .tasks import push

Floats = NDArray[np.float64]
H = 1e-6
SETUP = """One step of 1 ms, solved to 1e-13, of a box of 1 kg (friction 0.5) on a plane in several
states; the column of the derivative that asks the question, its two one-sided differences (1 µm,
1 µm/s, or 10 mN), and what stiction.GradientReport says. Then a whole rollout: a ball that pushes
the box (2.5 N, 50 steps of 10 ms), by the force of the first step, with and without friction
between ball and box."""
EXPLANATION = """At a gap of zero the target of the normal velocity has the slope 1/Δt above and
κ/Δt below: the derivative is that of a closed contact, one of the two, and the report counts
`gap of zero`; with κ = 1 both are the same. At the border of the cone either side has a derivative,
and the report counts `at a switch`. Four corners that slide while the box turns share the load in
many ways, and v⁺ depends on which: it is that of the limit of vanishing compliance, from any warm
start, and so is the derivative (`not unique`). A ball with friction carries a part of the box's
weight in the same way; over a rollout the two agree to half a percent, without friction at the
ball to all digits."""


def box(kappa: float, v: tuple[float, float, float] = (0, 0, 0), force: float = 0.0) -> Start:
    """At rest on four corners, or with speeds in x and y and a turn about z, and a force in x."""
    scene = stiction.Scene(name="box")
    material = stiction.Material(friction=0.5)
    scene.add_ground(material)
    X = np.eye(4)
    X[2, 3] = 0.1
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, X, material)
    sim = stiction.Simulator(scene, baumgarte=kappa, tolerance=1e-13)
    state, control = sim.initial_state(), sim.hold()
    sim.run(state, steps=3)
    state.q = sim.initial_state().q
    state.v = np.array([v[0], v[1], 0, 0, 0, v[2]])
    control.torque = force * np.eye(6)[0]
    return sim, state, control


def cases() -> dict[str, tuple[Start, str, int, int, float]]:
    """Name -> start, block, column, row of v+, size of the difference."""
    g = 0.5 * 9.81
    return {
        "at rest, κ = 0.2: v⁺ up by height": (box(0.2), "q", 2, 2, H),
        "at rest, κ = 1: the same": (box(1.0), "q", 2, 2, H),
        "at rest: v⁺ along x by force": (box(1.0), "torque", 0, 0, 1e-2),
        "pushed as hard as friction holds": (box(1.0, force=g), "torque", 0, 0, 1e-2),
        "slides straight: v⁺ along x by v": (box(1.0, (0.3, 0.1, 0.0)), "v", 0, 0, H),
        "slides and turns: v⁺ along x by v": (box(1.0, (0.3, 0.1, 2.0)), "v", 0, 0, H),
        "the same, warm start of zero": (_cold(box(1.0, (0.3, 0.1, 2.0))), "v", 0, 0, H),
        "a ball with friction hits it: v⁺ of the ball by v": (_hit(), "v", 0, 0, H),
    }


def _cold(start: Start) -> Start:
    """Without the impulses of the last step."""
    sim, state, control = start
    fresh = sim.initial_state()
    fresh.q, fresh.v = state.q, state.v
    return sim, fresh, control


def _hit() -> Start:
    """The step of the push below in which the ball meets the box."""
    task = push(2.5, np.random.default_rng(0))
    sim = stiction.Simulator(task.sim.scene, dt=0.01, margin=0.3, baumgarte=1.0, tolerance=1e-13)
    state, control = sim.initial_state(), sim.hold()
    control.torque = 2.5 * np.eye(sim.scene.nv)[0]
    while True:
        before = state.copy()
        sim.step(state, control)
        if state.v[2] > 1e-4:
            return sim, before, control


def run(effort: Effort, tick: Tick) -> Experiment:
    """Single steps, two pictures, a rollout."""
    experiment = Experiment("kinks", "Kinks and what is not unique", SETUP, EXPLANATION)
    table = Table(
        "One column of a step",
        ["state", "derivative", "from above", "from below", "the report says"],
    )
    for k, (name, case) in enumerate(cases().items()):
        tick(name, k / 10.0)
        value, above, below, report = sides(*case)
        table.rows.append([name, *(f"{x:.6g}" for x in (value, above, below)), said(report)])
        experiment.add_rows(state=name, derivative=value, above=above, below=below)
    experiment.tables.append(table)
    experiment.figures.append(("A step near two kinks, with the derivative there", _draw()))
    tick("rollouts", 0.8)
    experiment.tables.append(_rollouts())
    return experiment


def sides(
    start: Start, block: str, column: int, row: int, h: float
) -> tuple[float, float, float, stiction.GradientReport]:
    sim: Any = start[0]
    end = start[1].copy()
    found = made_of(sim._step_derivatives(end, start[2], []), end)
    nv = sim.scene.nv
    above, below = (change(sim, start, end, block, column, s * h)[nv + row] / (s * h)
                    for s in (1, -1))  # fmt: skip
    return float(found.by(block)[nv + row, column]), float(above), float(below), found.report


def said(report: stiction.GradientReport) -> str:
    """Its words, without the class."""
    return repr(report).removeprefix("GradientReport(").removesuffix(")")


def _rollouts() -> Table:
    table = Table(
        "Where the box ends, by the force of the first step [mm/N]",
        ["ball", "exact gradient", "differences", "the report says"],
    )
    for name, friction in (("with friction 0.8", 0.8), ("without friction", 0.0)):
        task = push(2.5, np.random.default_rng(0))
        sim = task.sim
        ball = next(k for k, g in enumerate(sim.scene.geometries) if g.name.startswith("ball"))
        sim.parameters.friction[ball] = friction
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            exact = 1e2 * task.jacobian(sim, task.start)[0, 0]
            e = 1e-5 * np.eye(len(task.start))[0]
            ends = [task.residual(sim, task.start + s * e)[0] for s in (1.0, -1.0)]
            report = task.report(task.start)
        differences = 1e2 * (ends[0] - ends[1]) / 2e-5
        words = repr(report).removeprefix("RolloutGradientReport(").removesuffix(")")
        table.rows.append([name, f"{exact:.3f}", f"{differences:.3f}", words])
    return table


def _draw() -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    at = np.linspace(-8e-6, 8e-6, 81)
    for k, kappa in enumerate((0.2, 1.0)):
        start = box(kappa)
        speeds, slope = _along(start, "q", 2, 2, at)
        left.plot(
            1e6 * at, 1e3 * speeds, color=COLORS[k], linewidth=2, label=f"step, κ = {kappa:g}"
        )
        left.plot(1e6 * at, 1e3 * slope * at, color=COLORS[k], linewidth=1, linestyle="--")
    left.plot(
        [], [], color="gray", linewidth=1, linestyle="--", label="derivative at a gap of zero"
    )
    left.set_xlabel("gap [µm]")
    left.set_ylabel("vertical speed after the step [mm/s]")
    start, hold = box(1.0, force=0.5 * 9.81), 0.5 * 9.81
    forces = np.linspace(-1.0, 1.0, 81)
    speeds, slope = _along(start, "torque", 0, 0, forces)
    right.plot(hold + forces, 1e3 * speeds, color=COLORS[0], linewidth=2, label="step")
    right.plot(hold + forces, 1e3 * slope * forces, color=COLORS[0], linewidth=1, linestyle="--",
               label="derivative at the border")  # fmt: skip
    right.set_xlabel("push [N]; friction holds 4.905")
    right.set_ylabel("speed after the step [mm/s]")
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
        axis.legend(frameon=False, fontsize=8)
    return svg_text(figure)


def _along(start: Start, block: str, column: int, row: int, at: Floats) -> tuple[Floats, float]:
    """v+ of the row over what is moved by `at`, and its derivative at 0."""
    sim: Any = start[0]
    end, nv = start[1].copy(), start[0].scene.nv
    slope = made_of(sim._step_derivatives(end, start[2], []), end).by(block)[nv + row, column]
    moved = [end.v[row] + change(sim, start, end, block, column, x)[nv + row] for x in at]
    return np.array(moved), float(slope)
