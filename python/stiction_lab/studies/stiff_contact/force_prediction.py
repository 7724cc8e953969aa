"""Fig. 5: the normal force that one long step predicts, while it goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import State, make_state
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick
from stiction.simulator import Simulator

from . import plans, robots
from .curves import Panel, draw
from .integrators import IMPLICIT, METHODS, OURS, PUBLISHED, Method
from .robots import Robot
from .truth import Fineness, Refined

Floats = NDArray[np.float64]

SPEEDS = (0.0, -0.02, -0.05)
"""Of the whole robot along z at the start [m/s]."""
HORIZON, TIMES = 0.02, 40
METHODS_SHOWN = (OURS, PUBLISHED, IMPLICIT)
PROBE = 1e-9
"""A step so short that its forces are those of its start [s]."""
FOOT = 0
ACCURATE = 0.05
SETUP = (
    "Solo-12 at the start of the squat, moving down as a whole; one step of every length up to "
    "20 ms, and the normal force of a front foot in the state where it ends: what an integrator's "
    "closed form, frozen (exponential-published) or with a bias linear in time (exponential), "
    "makes of the future. The truth is rk4; all under the continuous law."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("fig5", "Fig. 5: forces inside a step", SETUP)
    times = np.linspace(0.0, HORIZON, effort.count(TIMES, least=10) + 1)[1:]
    panels: list[Panel] = []
    errors: dict[str, list[float]] = {name: [] for name in METHODS_SHOWN}
    robot = robots.solo12()
    motion = plans.squat(robot, 1)
    for i, speed in enumerate(SPEEDS):
        tick(f"{speed:g} m/s", i / len(SPEEDS))
        start = make_state(robot.scene, motion.q, motion.v)
        start.v[2] += speed
        torque = motion.controller.torque(0, motion.q, motion.v)
        forces = {"truth": true_forces(robot, start, torque, times)}
        for name in METHODS_SHOWN:
            forces[name] = predicted(robot, METHODS[name], start, torque, times)
            errors[name].append(np.abs(forces[name] - forces["truth"]).max())
        panel = Panel(f"{speed:g} m/s", "time since the start [ms]", "normal force [N]", log="")
        panel.curves = {name: (1e3 * times, f) for name, f in forces.items()}
        panels.append(panel)
        experiment.add_rows(speed=speed, time=times, **forces)
    colors = {name: METHODS[name].color for name in METHODS_SHOWN} | {"truth": "#e69f00"}
    experiment.figures.append(("Fig. 5: predicted normal force.", draw(panels, colors)))
    experiment.tables.append(_table(errors))
    experiment.claims.append(_claim(errors))
    return experiment


def normal_forces(robot: Robot, state: State, torque: Floats, probe: Simulator) -> Floats:
    """Of every contact point in a state [N]."""
    probe.run(state.copy(), torque, 1)
    tips = {contact.geometry_b_name: contact for contact in probe.contacts()}
    found = [tips.get(f"tip {name}") for name in robot.points]
    return np.array([0.0 if c is None else c.force_on_b_world[2] for c in found])


def prober(robot: Robot) -> Simulator:
    """For `normal_forces`."""
    return METHODS["explicit-euler"].simulator(robot.scene, PROBE)


def predicted(robot: Robot, method: Method, start: State, torque: Floats, times: Floats) -> Floats:
    """Normal force of a foot at the end of one step of each length."""
    probe, forces = prober(robot), []
    for t in times:
        state = start.copy()
        method.simulator(robot.scene, float(t)).run(state, torque, 1)
        forces.append(normal_forces(robot, state, torque, probe)[FOOT])
    return np.array(forces)


def true_forces(robot: Robot, start: State, torque: Floats, times: Floats) -> Floats:
    """The same from one fine run."""
    refined = Refined(robot, float(times[0]), Fineness())
    probe, state, forces = prober(robot), start, []
    for _ in times:
        state, _, _ = refined.end(state, torque)
        forces.append(normal_forces(robot, state, torque, probe)[FOOT])
    return np.array(forces)


def _weight() -> float:
    robot = robots.solo12()
    return float(robot.scene.parameters.mass.sum() * 9.81 / len(robot.points))


def _table(errors: dict[str, list[float]]) -> Table:
    table = Table(
        "Largest error of the predicted normal force within 20 ms [N]",
        ["method", *(f"{speed:g} m/s" for speed in SPEEDS)],
        note=f"A foot carries {_weight():.2f} N at rest.",
    )
    for name, row in errors.items():
        table.rows.append([name, *(f"{e:.2g}" for e in row)])
    return table


def _claim(errors: dict[str, list[float]]) -> Claim:
    weight = _weight()
    shares = {name: max(row) / weight for name, row in errors.items()}
    return Claim(
        "the force prediction can be accurate over a rather long horizon (20 ms)",
        "largest error in parts of the force at rest: "
        + ", ".join(f"{name} {share:.2g}" for name, share in shares.items()),
        bool(shares[PUBLISHED] <= ACCURATE),
    )
