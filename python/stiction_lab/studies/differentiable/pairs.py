"""Accuracy by pair of shapes: how gap, normal and point of each kind of contact move."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction.gradient_check import check_gradients
from stiction.pages.experiment import Effort, Experiment, Table, Tick
from stiction.pages.plots import svg_text

from ..collision_derivatives.rough_shapes import random_pose
from .differences import Start, switches_nearby
from .drawing import panel

POSES = 10
OVERLAP, NEARER = 1e-5, 1e-9
BAR = 1e-6
Random = np.random.Generator
SETUP = """Two loose bodies of 1 kg of each pair of shapes of about 10 cm, in {poses} random poses,
10 µm deep, that close in at 0.2 m/s while they turn; on a plane, a height field and a triangle mesh
(both a hilly floor) one body alone. One step of 1 ms, κ = 1, friction 0.5, no gravity. Columns
against differences of the step, as in the experiment before."""
EXPLANATION = """A kink is a column whose two sides differ at every size of the difference, or that
agrees with differences of 10 nm alone: a vertex of the one moves over an edge of the other, or a
point appears, within a micrometre. Inexact poses are those of which the report says so (exact is
False). Off: neither, and beyond 1e-6."""
FLOORS = ("plane", "height field", "triangle mesh")


def shapes(generator: Random) -> dict[str, stiction.Shape]:
    """One of each convex kind."""
    points = generator.normal(size=(40, 3))
    points *= np.array([0.1, 0.12, 0.09]) / np.linalg.norm(points, axis=1, keepdims=True)
    return {
        "sphere": stiction.Sphere(0.1),
        "capsule": stiction.Capsule(0.06, 0.08),
        "box": stiction.Box([0.1, 0.08, 0.12]),
        "cylinder": stiction.Cylinder(0.08, 0.1),
        "cone": stiction.Cone(0.1, 0.1),
        "ellipsoid": stiction.Ellipsoid([0.1, 0.07, 0.12]),
        "hull": stiction.ConvexMesh(points),
    }


def floors(generator: Random) -> dict[str, stiction.Shape]:
    """A half-space, and hills of the same heights as a field and as triangles."""
    n, cell = 9, 0.25
    heights = generator.uniform(0.0, 0.08, (n, n))
    at = (np.arange(n) - 0.5 * (n - 1)) * cell
    x, y = np.meshgrid(at, at)
    corner = np.add.outer(n * np.arange(n - 1), np.arange(n - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + n], axis=1)
    upper = np.stack([corner + 1, corner + n + 1, corner + n], axis=1)
    points = np.stack([x.ravel(), y.ravel(), heights.ravel()], axis=1)
    return {
        "plane": stiction.HalfSpace(),
        "height field": stiction.HeightField(heights, [cell, cell]),
        "triangle mesh": stiction.TriangleMesh(points, np.vstack([lower, upper])),
    }


def pairs() -> Iterator[tuple[str, str]]:
    """Floors with each shape, then shapes with each other."""
    names = list(shapes(np.random.default_rng(0)))
    yield from itertools.product(FLOORS, names)
    yield from itertools.combinations_with_replacement(names, 2)


def touching(
    first: stiction.Shape, second: stiction.Shape, fixed: bool, generator: Random
) -> Start | None:
    """The second moved along the normal to the overlap; None: they do not come to it."""
    X = random_pose(0.3, generator)
    if fixed:
        X[:3, 3] = [*generator.uniform(-0.4, 0.4, 2), 0.3]
    for _ in range(30):
        found = stiction.distance(first, None, second, X)
        if abs(found.distance + OVERLAP) < NEARER:
            break
        X[:3, 3] -= (found.distance + OVERLAP) * found.normal
    else:
        return None
    scene = stiction.Scene(name="pair")
    material = stiction.Material(friction=0.5)
    if fixed:
        scene.add_geometry("floor", "world", first, None, material)
    else:
        scene.add_body("a", first, 1.0, None, material)
    scene.add_body("b", second, 1.0, X, material)
    sim = stiction.Simulator(scene, baumgarte=1.0)
    sim.parameters.gravity = np.zeros(3)
    state = sim.initial_state()
    state.v = generator.normal(0.0, 0.3, scene.nv)
    closing = X[:3, :3].T @ (-0.2 * found.normal + generator.normal(0.0, 0.05, 3))
    state.v[-6:-3] = closing
    return sim, state, sim.hold()


def run(effort: Effort, tick: Tick) -> Experiment:
    """The largest error of each pair, and what has no derivative."""
    poses = effort.count(POSES, 1)
    experiment = Experiment(
        "pairs", "Accuracy by pair of shapes", SETUP.format(poses=poses), EXPLANATION
    )
    every = list(pairs())
    table = Table(
        "Errors of columns, relative",
        ["pair", "poses", "median", "largest", "columns", "kinks", "inexact poses", "off"],
    )  # fmt: skip
    largest: dict[tuple[str, str], float] = {}
    for k, pair in enumerate(every):
        tick(" and ".join(pair), k / len(every))
        errors, kinks, inexact, done = _errors(pair, poses, effort.generator(200 + k))
        experiment.add_rows(first=pair[0], second=pair[1], error=np.r_[errors, kinks * [np.nan]])
        middle, most = (np.median(errors), errors.max()) if len(errors) else (np.nan, np.nan)
        largest[pair] = float(most)
        table.rows.append([
            " and ".join(pair), str(done), f"{middle:.0e}", f"{most:.0e}",
            str(len(errors) + kinks), str(kinks), str(inexact), str(int(np.sum(errors > BAR))),
        ])  # fmt: skip
    experiment.tables.append(table)
    experiment.figures.append(("Largest error of the columns without a kink", _map(largest)))
    return experiment


def _errors(
    pair: tuple[str, str], poses: int, generator: Random
) -> tuple[NDArray[np.float64], int, int, int]:
    errors, kinks, inexact, done = [], 0, 0, 0
    convex = shapes(generator)
    ground = floors(generator)
    for _ in range(poses):
        first = ground.get(pair[0]) or convex[pair[0]]
        start = touching(first, convex[pair[1]], pair[0] in FLOORS, generator)
        if start is None:
            continue
        check = check_gradients(*start)
        if not check.report.modes:
            continue
        done += 1
        inexact += not check.report.exact
        for column in check.columns:
            off = column.error > BAR
            if not column.compared or (off and switches_nearby(start, column)):
                kinks += 1
            else:
                errors.append(column.error)
    return np.array(errors), kinks, inexact, done


def _map(largest: dict[tuple[str, str], float]) -> str:
    names = list(shapes(np.random.default_rng(0)))
    rows = [*FLOORS, *names]
    exponents = np.full((len(rows), len(names)), np.nan)
    for (a, b), error in largest.items():
        exponents[rows.index(a), names.index(b)] = np.log10(max(error, 1e-16))
    figure, axis = panel(5.4)
    shown = axis.imshow(exponents, cmap="cividis", vmin=-12, vmax=-5, aspect="auto")
    for (i, j), value in np.ndenumerate(exponents):
        if np.isfinite(value):
            color = "white" if value < -8.5 else "black"
            axis.text(j, i, f"{10**value:.0e}", ha="center", va="center", fontsize=8, color=color)
    axis.set_xticks(range(len(names)), names)
    axis.set_yticks(range(len(rows)), rows)
    bar = figure.colorbar(shown, ax=axis, label="largest error, relative")
    bar.set_ticks(range(-12, -4, 2), labels=[f"1e{k}" for k in range(-12, -4, 2)])
    return svg_text(figure)
