"""Accuracy by what the rows of the contact problem do: sticking, sliding, limits, springs, ..."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction.gradient_check import ColumnCheck, GradientCheck, check_gradients
from stiction.not_converged import NotConvergedWarning
from stiction.pages.experiment import Effort, Experiment, Table, Tick

from .differences import Start
from .drawing import quantiles

STATES = 20
BLOCKS = ("q", "v", "torque")
Random = np.random.Generator
SETUP = """{states} random states of each kind, one step of 1 ms each: every column of
d(q⁺, v⁺)/d(q, v, torque) against central differences of the step, solved to 1e-13, best of seven
sizes of the difference. An error is the largest of the column, over the largest entry of its block
in rows of the same kind (q⁺ or v⁺). Columns that have no derivative to compare with, because the
two sides differ, or that the report calls not exact or not unique, are kinks: counted, and left
out of the quantiles. Where nothing else is said, κ is 1: a gap of zero then has no kink, see the
last experiment."""
EXPLANATION = """A median of 1e-11 is the rounding of differences. Sliding contacts stand out: the
solver's residual is quadratic in the direction of an impulse, to 1e-13 that is known to 1e-7. Rows
whose recovery is capped by the speed that it would give to a joint are taken as constant, which
the report says (exact is False): their columns by q are listed as kinks, with the error that the
constant costs. There 1e-06 is what differences can tell at best."""

CHAIN = """<robot name="chain"><link name="base"/>{links}</robot>"""
LINK = """<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/>
<origin xyz="0 0 {up}" rpy="0.2 0 0"/><axis xyz="{axis}"/>
<limit lower="-1" upper="1" effort="1000" velocity="100"/></joint>
<link name="l{k}"><inertial><origin xyz="0.02 0 0.1"/><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.005"/></inertial></link>"""


def chain(joints: int = 4) -> stiction.Robot:
    """Links on alternating axes, limits at ±1 rad, no shapes."""
    links = "".join(
        LINK.format(
            k=k, parent=f"l{k - 1}" if k else "base", up=0.2 if k else 0.0,
            axis=("1 0 0", "0 1 0")[k % 2],
        )
        for k in range(joints)
    )  # fmt: skip
    return stiction.load_urdf_string(CHAIN.format(links=links), free_flyer=False)


def _chains(count: int) -> stiction.Scene:
    scene = stiction.Scene(name="chains")
    for k in range(count):
        X = np.eye(4)
        X[0, 3] = 0.3 * k
        scene.add_robot(chain(), X, f"chain{k}")
    return scene


def _moving(sim: stiction.Simulator, generator: Random, q: float, v: float) -> Start:
    """Away from the first configuration, with speeds and torques."""
    state = sim.initial_state()
    nv = sim.scene.nv
    state.q = stiction.integrate(sim.scene, state.q, generator.uniform(-q, q, nv))
    state.v = generator.normal(0.0, v, nv)
    control = sim.hold()
    control.torque = generator.normal(0.0, 1.0, nv)
    return sim, state, control


def solo(generator: Random, height: float, speed: float, **settings: Any) -> Start:
    """Settled on its feet with other targets, then moved up by `height` [m], base at `speed`."""
    sim = stiction.Simulator(stiction.load("solo12"), **({"baumgarte": 1.0} | settings))
    state, control = sim.initial_state("standing"), sim.hold("standing")
    control.position_target[6:] += generator.uniform(-0.1, 0.1, 12)
    sim.run(state, control, 300)
    state.q[2] += height
    angle = generator.uniform(-np.pi, np.pi)
    state.v[:2] += speed * np.array([np.cos(angle), np.sin(angle)])
    control.torque[6:] += generator.normal(0.0, 0.05, 12)
    return sim, state, control


def flying(generator: Random) -> Start:
    sim, state, control = solo(generator, 0.5, 1.0)
    state.v += generator.normal(0.0, 1.0, 18)
    return sim, state, control


def saturated(generator: Random) -> Start:
    sim, state, control = solo(generator, 0.0, 0.1)
    sim.parameters.effort_limit[6:] = 0.4
    return sim, state, control


def springs(generator: Random, ratio: float = 0.0, **settings: Any) -> Start:
    """In the rigid step, or of a compliant integrator."""
    scene = stiction.Scene(name="springs")
    stiff = stiction.Material(
        friction=0.5, stiffness=2e4, damping=100.0,
        tangential_stiffness_ratio=ratio, tangential_damping_ratio=ratio,
    )  # fmt: skip
    scene.add_ground(stiff)
    X = np.eye(4)
    X[2, 3] = 0.1 - 2e-4
    scene.add_body("box", stiction.Box([0.1, 0.12, 0.1]), 1.0, X, stiff)
    sim = stiction.Simulator(scene, **settings)
    state = sim.initial_state()
    state.v = generator.normal(0.0, 0.05, 6)
    sim.run(state, steps=5)
    return sim, state, sim.hold()


def limits(generator: Random) -> Start:
    sim, state, control = _moving(stiction.Simulator(_chains(1)), generator, 0.5, 0.5)
    at = generator.permutation(4)[:2]
    side = generator.choice([-1.0, 1.0], 2)
    state.q[at] = side * (1.0 + generator.uniform(1e-5, 1e-4, 2))
    state.v[at] = side * generator.uniform(0.1, 1.0, 2)
    return sim, state, control


def dry_friction(generator: Random) -> Start:
    """Two joints stuck and two sliding, about."""
    sim, state, control = _moving(stiction.Simulator(_chains(1)), generator, 0.5, 1.0)
    sim.parameters.dry_friction[:] = generator.permutation([50.0, 50.0, 0.5, 0.5])
    return sim, state, control


def _joined(generator: Random, join: Callable[[stiction.Scene], Any]) -> Start:
    """Two chains that swing together for 0.2 s."""
    scene = _chains(2)
    join(scene)
    start = _moving(stiction.Simulator(scene, baumgarte=1.0), generator, 0.0, 0.0)
    start[0].run(start[1], start[2], 200)
    return start


def closure(generator: Random) -> Start:
    return _joined(
        generator,
        lambda s: s.add_point_closure("c", "l3", [0.1, 0, 0.2], "chain1/l3", [-0.2, 0, 0.2]),
    )


def weld(generator: Random) -> Start:
    """A load on the end of one of them."""

    def join(scene: stiction.Scene) -> None:
        X, place = np.eye(4), np.eye(4)
        X[2, 3] = 0.3
        sim = stiction.Simulator(scene)
        end = sim.body_poses(sim.initial_state())[scene.body_names.index("l3")]
        place[:3, :3] = end.rotation
        place[:3, 3] = end.translation + 0.3 * end.rotation[:, 2]
        scene.add_body("load", stiction.Sphere(0.05), 0.5, place)
        scene.add_weld("w", "l3", X, "load", None)

    return _joined(generator, join)


def gear(generator: Random) -> Start:
    return _joined(generator, lambda s: s.add_gear("g", 2, 5, -1.5))


def restitution(generator: Random) -> Start:
    """Balls and a box that bounce: the target depends on the speed before."""
    scene = stiction.Scene(name="bounce")
    bouncy = stiction.Material(friction=0.4, restitution=0.6)
    scene.add_ground(bouncy)
    for k, shape in enumerate((stiction.Sphere(0.1), stiction.Box([0.1, 0.1, 0.1]))):
        X = np.eye(4)
        X[:3, 3] = [0.5 * k, 0, 0.1]
        scene.add_body(f"b{k}", shape, 1.0, X, bouncy)
    sim = stiction.Simulator(scene, baumgarte=1.0)
    sim, state, control = _moving(sim, generator, 0.3, 0.3)
    for k in range(2):
        state.v[6 * k : 6 * k + 3] = [0.2, 0.1, 0.0]
    place_on_ground(sim, state, generator.uniform(1e-6, 1e-5))
    poses = sim.body_poses(state)
    for k, pose in enumerate(poses):
        down = np.r_[generator.normal(0.0, 0.3, 2), -generator.uniform(0.8, 2.0)]
        state.v[6 * k : 6 * k + 3] = pose.rotation.T @ down
    return sim, state, control


def place_on_ground(sim: stiction.Simulator, state: stiction.State, overlap: float) -> None:
    """Each loose body moved up or down until its lowest point is `overlap` below z = 0."""
    scene = sim.scene
    q = state.q.copy()
    for body, X in enumerate(sim.body_poses(state)):
        (shape,) = [g.shape for g in scene.geometries if g.body == body]
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = X.rotation, X.translation
        low = stiction.distance(stiction.HalfSpace(), None, shape, pose).distance
        q[7 * body + 2] -= low + overlap
    state.q = q


KINDS: dict[str, Callable[[Random], Start]] = {
    "open: in flight": flying,
    "stick: on four feet": lambda g: solo(g, -2e-5, 0.0),
    "slide: on four feet": lambda g: solo(g, -2e-5, 0.5),
    "mixed: a slow shove": lambda g: solo(g, -2e-5, 0.2),
    "gap of 0.1 mm, closing": lambda g: _touching_down(g),
    "joint limits": limits,
    "dry friction of joints": dry_friction,
    "point closure": closure,
    "weld": weld,
    "gear": gear,
    "recovery, κ = 0.2": lambda g: solo(g, -2e-5, 0.02, baumgarte=0.2),
    "recovery, capped": lambda g: solo(g, -5e-3, 0.02, baumgarte=0.2),
    "restitution 0.6": restitution,
    "effort limits": saturated,
    "springs in the step": springs,
    "tangential springs too": lambda g: springs(g, 1.0),
    "implicit-euler": lambda g: springs(g, 1.0, integrator="implicit-euler"),
}


def _touching_down(generator: Random) -> Start:
    sim, state, control = solo(generator, 1e-4, 0.02)
    state.v[2] -= 0.5
    return sim, state, control


@dataclass
class Found:
    """All columns of one kind.

    Attributes:
        modes: of the reports, counted.
        reasons: that a report gave, with the number of states.
    """

    name: str
    checks: list[GradientCheck]

    def columns(self, block: str) -> list[ColumnCheck]:
        return [c for check in self.checks for c in check.columns if c.block == block]

    def errors(self, block: str) -> NDArray[np.float64]:
        """Of columns that differences compare with."""
        return np.array([c.error for c in self.columns(block) if c.compared])

    def of_kinks(self, block: str) -> NDArray[np.float64]:
        """Errors of the others, of those that differences have a value for."""
        errors = np.array([c.error for c in self.columns(block) if not c.compared])
        return np.asarray(errors[np.isfinite(errors)])

    def modes(self) -> str:
        """Most frequent first."""
        every = [mode for check in self.checks for mode in check.report.modes]
        counts = {mode: every.count(mode) for mode in dict.fromkeys(every)}
        listed = sorted(counts.items(), key=lambda item: -item[1])
        return ", ".join(f"{mode} {count}" for mode, count in listed[:3]) or "none"

    def reasons(self) -> str:
        """In words, without their counts."""
        said = [
            text.rsplit(" (", 1)[0]
            for c in self.checks
            if c.kinks or c.approximate
            for text in c.reasons
        ]
        counts = {text: said.count(text) for text in dict.fromkeys(said)}
        return ", ".join(f"{text} ({count})" for text, count in counts.items())


def checked(starts: Iterator[Start]) -> list[GradientCheck]:
    """Every state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return [check_gradients(*start) for start in starts]


def run(effort: Effort, tick: Tick) -> Experiment:
    """One row a kind and block."""
    states = effort.count(STATES, 1)
    experiment = Experiment(
        "modes", "Accuracy by mode", SETUP.format(states=states), EXPLANATION
    )  # fmt: skip
    found = []
    for k, (name, start) in enumerate(KINDS.items()):
        tick(name, k / len(KINDS))
        generator = effort.generator(100 + k)
        found.append(Found(name, checked(start(generator) for _ in range(states))))
    show(experiment, found)
    return experiment


def show(experiment: Experiment, found: list[Found]) -> None:
    """Table, figure, rows."""
    columns = ["kind", "modes", "block", "median", "90 %", "largest", "columns", "kinks",
               "their median", "off"]  # fmt: skip
    table = Table("Errors of columns, relative", columns)
    reasons = "; ".join(f"{one.name}: {one.reasons()}" for one in found if one.reasons())
    table.note = f"off: columns beyond 1e-6 without a reason. Kinks by (states): {reasons}."
    for one in found:
        for block in BLOCKS:
            every, errors = one.columns(block), one.errors(block)
            experiment.add_rows(
                kind=one.name,
                block=block,
                error=[c.error for c in every],
                kink=[int(not c.compared) for c in every],
            )
            first = block == BLOCKS[0]
            table.rows.append([
                one.name if first else "", one.modes() if first else "", block,
                *_shown(errors, [0.5, 0.9, 1.0]), str(len(every)), str(len(every) - len(errors)),
                *_shown(one.of_kinks(block), [0.5]), str(int(np.sum(errors > 1e-6))),
            ])  # fmt: skip
    experiment.tables.append(table)
    errors_by = {
        f"by {block}": [np.maximum(one.errors(block), 1e-16) for one in found] for block in BLOCKS
    }
    drawn = quantiles(
        [one.name for one in found],
        errors_by,
        "error of a column, relative to the largest entry",
        (1e-6, "bar of check-gradients"),
    )
    experiment.figures.append(("Errors of columns: median and quartiles", drawn))


def _shown(errors: NDArray[np.float64], shares: list[float]) -> list[str]:
    """Quantiles."""
    if not len(errors):
        return [""] * len(shares)
    return [f"{x:.0e}" for x in np.quantile(errors, shares)]
