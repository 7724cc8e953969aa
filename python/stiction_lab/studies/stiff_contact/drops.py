"""YCB objects dropped on a floor of springs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction._stiction import Control, Material, Scene, State
from stiction.pages.experiment import Effort, Experiment, Table, Tick
from stiction.simulator import Simulator

from ..objects import ycb_hull
from .curves import Panel, draw
from .integrators import IMPLICIT, METHODS, OURS, PUBLISHED
from .windows import Run, errors_of, follow, part

Floats = NDArray[np.float64]

OBJECTS = ("Banana", "CrackerBox", "FoamBrick", "MasterChefCan", "MustardBottle", "PowerDrill")
MASS, FRICTION = 0.3, 0.6
STIFFNESS, RATIO = 1e5, 0.1
"""Of every point [N/m]; of its damper, against the object's mass on one point."""
DAMPING = 2.0 * RATIO * float(np.sqrt(STIFFNESS * MASS))
CLEARANCE, SPIN = 0.05, 3.0
"""Below the lowest vertex at the start [m]; of the start's angular velocity [rad/s]."""
PERIOD, WINDOWS = 10e-3, 60
STEPS = (1, 2, 5, 10)
REST_STEP, REST_TIME = 5e-3, 2.0
LARGE = (OURS, IMPLICIT, PUBLISHED)
SETTINGS = {"per_point_stiffness": True}
GRAVITY = 9.81
SETUP = (
    f"Convex hulls of six YCB objects, {MASS:g} kg, fall {100 * CLEARANCE:g} cm, turning, on a "
    f"floor of {STIFFNESS:g} N/m and {DAMPING:.0f} N s/m per vertex, friction {FRICTION:g}. A run "
    "through impacts is chaotic: what is compared are windows of 10 ms, each started from the "
    "reference, and what holds for any run: m g / k at rest, and energy."
)


@dataclass
class Rest:
    """Where an object is after `REST_TIME`.

    Attributes:
        load: sum of k times the depth of its vertices, by kinematics alone, over m g.
        speed: fastest of its coordinates [m/s, rad/s].
        gained: largest energy above that of the start, over m g times the clearance.
    """

    load: float
    speed: float
    gained: float


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("drops", "Dropped objects", SETUP)
    names = OBJECTS if effort.share >= 1.0 else OBJECTS[:2]
    windows = effort.count(WINDOWS, least=25)
    found: dict[str, dict[str, dict[int, Floats]]] = {}
    left = []
    for k, name in enumerate(names):
        share = part(tick, k / len(names), (k + 1) / len(names), f"{name}: ")
        fall = dropped(name, effort, windows, part(share, 0.0, 0.8))
        left.append(float(fall.left.mean()))
        found[name] = {
            method: {n: errors_of(fall, method, n, SETTINGS) for n in STEPS} for method in LARGE
        }
        for method, by_steps in found[name].items():
            for n, errors in by_steps.items():
                experiment.add_rows(
                    object=name,
                    integrator=method,
                    step=PERIOD / n,
                    window=np.arange(len(errors)),
                    error=errors,
                )
    experiment.tables.append(_errors(found, windows, left))
    experiment.tables.append(_rests(names, effort))
    experiment.figures.append((_CAPTION, _figure(found)))
    return experiment


def falling(name: str, effort: Effort) -> tuple[Scene, State]:
    """An object above the floor, turned and turning by the seed."""
    hull = ycb_hull(name)
    random = effort.generator(100 + OBJECTS.index(name))
    quaternion = random.normal(size=4)
    rotation = pin.Quaternion(quaternion / np.linalg.norm(quaternion)).toRotationMatrix()
    lowest = float((np.asarray(hull.vertices) @ rotation.T)[:, 2].min())
    scene = Scene()
    scene.add_ground(Material(friction=FRICTION, stiffness=STIFFNESS, damping=DAMPING))
    placement = pin.SE3(rotation, np.array([0.0, 0.0, CLEARANCE - lowest]))
    scene.add_body(name, hull, MASS, placement, Material(friction=FRICTION))
    state = Simulator(scene, integrator=OURS).initial_state()
    state.v[3:] = SPIN * random.normal(size=3)
    return scene, state


def dropped(name: str, effort: Effort, windows: int, tick: Tick) -> Run:
    """The reference of the fall and the first impacts."""
    scene, state = falling(name, effort)
    flight = 0.9 * float(np.sqrt(2.0 * CLEARANCE / GRAVITY))
    Simulator(scene, dt=flight, integrator=OURS, per_point_stiffness=True).run(state, None, 1)
    return follow(
        scene, state, [Control(scene.nv)] * windows, PERIOD, tick, tolerance=1e-7, settings=SETTINGS
    )


def rest(name: str, integrator: str, effort: Effort) -> Rest:
    """A free run of that integrator."""
    scene, state = falling(name, effort)
    sim = Simulator(scene, dt=REST_STEP, integrator=integrator, per_point_stiffness=True)
    energies = []
    for _ in range(round(REST_TIME / REST_STEP)):
        report = sim.step(state)
        energies.append(report.energy + report.elastic_energy)
    sim.step(state)  # what the last steps end with
    points = [c for c in sim.contacts() if c.gap < 0.0]
    load = -STIFFNESS * sum(c.gap for c in points) / (MASS * GRAVITY)
    gained = (max(energies) - energies[0]) / (MASS * GRAVITY * CLEARANCE)
    return Rest(load, float(np.abs(state.v).max()), gained)


def _errors(
    found: dict[str, dict[str, dict[int, Floats]]], windows: int, left: list[float]
) -> Table:
    table = Table(
        "Mean and median local error over 10 ms, all objects",
        ["step [ms]", *(f"{name}, {kind}" for name in LARGE for kind in ("mean", "median"))],
        note=f"{windows} windows of each of {len(found)} objects from just before the first "
        f"impact; the reference is known to {max(left):.0e}.",
    )
    for n in STEPS:
        cells = []
        for name in LARGE:
            errors = pooled(found, name, n)
            cells += [f"{errors.mean():.1e}", f"{np.median(errors):.1e}"]
        table.rows.append([f"{1e3 * PERIOD / n:g}", *cells])
    return table


def pooled(found: dict[str, dict[str, dict[int, Floats]]], name: str, steps: int) -> Floats:
    """Errors of all objects."""
    return np.concatenate([of_object[name][steps] for of_object in found.values()])


def _rests(names: tuple[str, ...], effort: Effort) -> Table:
    table = Table(
        f"After {REST_TIME:g} s in steps of {1e3 * REST_STEP:g} ms",
        ["object", *(f"{m}, {what}" for m in (OURS, IMPLICIT) for what in _INVARIANTS)],
        note="k times the depths of the points over m g, less one; the fastest coordinate left; "
        "the most that the energy was above its start, over m g times the height of the fall.",
    )
    for name in names:
        cells = []
        for method in (OURS, IMPLICIT):
            r = rest(name, method, effort)
            cells += [f"{r.load - 1.0:.1e}", f"{r.speed:.1e}", f"{r.gained:.1e}"]
        table.rows.append([name, *cells])
    return table


_INVARIANTS = ("k depth / m g - 1", "speed [m/s, rad/s]", "energy gained")
_CAPTION = "Local error over 10 ms from the first impact on, of all objects: mean, and median."


def _figure(found: dict[str, dict[str, dict[int, Floats]]]) -> str:
    panels = []
    for title, of in (("mean", np.mean), ("median", np.median)):
        panel = Panel(title, "step [ms]", "local error [m, rad, m/s, rad/s]")
        for name in LARGE:
            errors = [max(float(of(pooled(found, name, n))), 1e-12) for n in STEPS]
            panel.curves[name] = [1e3 * PERIOD / n for n in STEPS], errors
        panels.append(panel)
    return draw(panels, {name: METHODS[name].color for name in LARGE})
