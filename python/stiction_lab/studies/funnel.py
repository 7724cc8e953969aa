"""Fig. 12: pairs of objects fall into a funnel; what do warm starts of GJK gain?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction import (
    Material,
    Scene,
    Shape,
    Simulator,
    bounding_box,
    bounding_radius,
    make_state,
)
from stiction.pages import plots
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick, less, mean_std
from stiction.rotations import rotations

from .objects import household
from .problems import (
    LABELS,
    NESTEROV_N,
    NESTEROV_NR,
    POLYAK,
    POLYAK_R,
    SCHEDULES,
    VANILLA,
    Floats,
    Problems,
    box_centres,
    exact,
    measured,
    random_rotations,
    solve,
    transformed,
)

PAIRS, SECONDS, RATE, REPEATS = 1000, 1.0, 120, 20
METHODS = (VANILLA, POLYAK, NESTEROV_N, POLYAK_R, NESTEROV_NR)
STARTS = ("none", "box centres", "previous", "moved previous")
"""x0 = (1, 0, 0); c_A - c_B; the separation vector of the last step; the same with its two witness
points moved with their bodies."""
TILT, WALL, HEIGHT = np.radians(30.0), 0.05, 0.3
SETUP = """{pairs} random pairs of the ten objects dropped from 30 cm into a funnel (a floor and
four half-spaces through points 5 cm from its axis, tilted by 30°), random orientations, all
twelve velocity components uniform in [0, 1); 1 s at 120 Hz in stiction's own simulator (friction
0.4, restitution 0.2, masses 1 kg, all contact points of a pair; the published code keeps one
point per pair). They start side by side without overlap. Of {steps} states those whose oriented
boxes overlap are queried: {active} problems ({overlapping:.0%} of them overlap), each {repeats}
times in a row. Where the boxes did not overlap a step before, both previous-step strategies start
from the box centres."""
EXPLANATION = """Starting directions are all that is carried over here, as in the paper.
stiction's own warm start carries the simplex (and for penetration the polytope) and is measured
by `stiction bench collision`."""


@dataclass(frozen=True)
class Trajectories:
    """World poses (pairs, steps, 4, 4) of both objects of every pair, and their shapes."""

    shapes: list[Shape]
    chosen: NDArray[np.int64]
    X_WA: Floats
    X_WB: Floats


def run(effort: Effort, tick: Tick) -> Experiment:
    """Iterations and times for four starts, three methods, boolean and distance."""
    pairs, repeats = effort.count(PAIRS, 8), max(3, round(REPEATS * min(1.0, 10 * effort.share)))
    moving = simulate(pairs, effort.generator(12), lambda share: tick("simulating", 0.5 * share))
    problems, starts = queries(moving)
    steps = moving.X_WA.shape[0] * moving.X_WA.shape[1]
    experiment = Experiment(
        "fig12_funnel",
        "Fig. 12: warm starts in a simulation",
        SETUP.format(
            pairs=pairs,
            steps=steps,
            active=len(problems),
            overlapping=float(np.mean(problems.distance < 0.0)),
            repeats=repeats,
        ),
        EXPLANATION,
    )
    medians: dict[tuple[str, str, str], float] = {}
    for m, mode in enumerate(("boolean", "distance")):
        rows, samples = [], {}
        for k, method in enumerate(METHODS):
            tick(f"{mode}, {LABELS[method]}", 0.5 + 0.5 * (m + k / len(METHODS)) / 2)
            cells, times = [], []
            for start in STARTS:
                found = solve(
                    problems,
                    method,
                    boolean=mode == "boolean",
                    start=starts[start],
                    repeats=repeats,
                )
                us, count = 1e-3 * found["nanoseconds"], found["iterations"]
                medians[mode, method, start] = float(np.median(us))
                cells.append(f"{np.median(us):.2f}, {mean_std(us, 2)} ({count.mean():.1f})")
                times.append(us)
                experiment.add_rows(
                    mode=mode,
                    method=method,
                    start=start,
                    median_us=np.median(us),
                    mean_us=us.mean(),
                    deviation_us=us.std(),
                    mean_iterations=count.mean(),
                )
            rows.append([LABELS[method], *cells])
            samples[method] = times
        title = f"Time [µs] median, mean ± deviation (mean iterations), {mode}"
        experiment.tables.append(Table(title, ["start", *STARTS], rows))
        svg = plots.boxes({f"{mode} queries": samples}, STARTS, "start", "time [µs]", LABELS)
        caption = f"{mode.capitalize()} queries: median, quartiles, 5 % and 95 % (Fig. 12)."
        experiment.figures.append((caption, svg))
    experiment.claims += _claims(medians)
    return experiment


def _claims(medians: dict[tuple[str, str, str], float]) -> list[Claim]:
    def of(method: str) -> list[float]:
        return [medians["boolean", method, start] for start in STARTS]

    none, centres, previous, moved = of(VANILLA)
    listed = ", ".join(f"{s} {t:.2f}" for s, t in zip(STARTS, of(VANILLA), strict=True)) + " µs"
    best = min(none, centres, previous, moved)
    return [
        Claim(
            "vanilla GJK: the previous step's solution is the best start",
            listed,
            less(previous, min(none, centres, moved)),
        ),
        Claim(
            "vanilla GJK: no start and the moved previous solution are worse than the other two",
            listed,
            less(max(centres, previous), min(none, moved)),
        ),
        *(
            Claim(
                f"Nesterov from the box centres beats vanilla GJK with its best start ({name})",
                f"median {medians['boolean', nesterov, 'box centres']:.2f} against {best:.2f} µs",
                less(medians["boolean", nesterov, "box centres"], best),
            )
            for name, (_, _, nesterov) in SCHEDULES.items()
        ),
    ]


# --- the simulation -----------------------------------------------------------------------------


def simulate(
    pairs: int,
    generator: np.random.Generator,
    tick: Callable[[float], None] = lambda share: None,
) -> Trajectories:
    """Every pair falls on its own for SECONDS."""
    shapes = list(household().values())
    steps = round(SECONDS * RATE)
    chosen = generator.integers(0, len(shapes), (pairs, 2))
    poses = np.zeros((2, pairs, steps + 1, 4, 4))
    for k, (a, b) in enumerate(chosen):
        q = _fall(shapes[a], shapes[b], steps, generator)
        for side in range(2):
            poses[side, k] = _poses(q[:, 7 * side : 7 * side + 7])
        tick((k + 1) / pairs)
    return Trajectories(shapes, chosen, poses[0], poses[1])


def _fall(a: Shape, b: Shape, steps: int, generator: np.random.Generator) -> Floats:
    """(steps + 1, 14) configurations of two objects in the funnel."""
    material = Material(friction=0.4, restitution=0.2)
    scene = Scene(material=material)
    scene.add_ground(material)
    up = np.array([0.0, 0.0, 1.0])
    for k, out in enumerate(np.array([[0, 1, 0], [0, -1, 0], [1, 0, 0], [-1, 0, 0]], dtype=float)):
        normal = np.cos(TILT) * up - np.sin(TILT) * out
        scene.add_half_space(f"wall{k}", WALL * out, normal, material)
    for side, (name, shape) in enumerate((("a", a), ("b", b))):
        X = np.eye(4)
        X[:3, :3] = random_rotations(1, generator)[0]
        lower, upper = bounding_box(shape)
        reach = max(0.1, bounding_radius(shape) + float(np.linalg.norm(lower + upper)) / 2)
        centre = np.array([0.0, (-1 if side == 0 else 1) * reach, HEIGHT])
        X[:3, 3] = centre - X[:3, :3] @ (0.5 * (lower + upper))
        scene.add_body(name, shape, 1.0, X, material)
    sim = Simulator(scene, dt=1.0 / RATE)
    state = make_state(scene, scene.default_q, generator.uniform(0.0, 1.0, scene.nv))
    q = sim.rollout(state, steps=steps, record=("q",)).q
    assert q is not None
    return q


def _poses(q: Floats) -> Floats:
    """(n, 7) x y z qx qy qz qw -> (n, 4, 4)."""
    X = np.zeros((len(q), 4, 4))
    X[:, :3, :3] = rotations(q[:, 3:7])
    X[:, :3, 3] = q[:, :3]
    X[:, 3, 3] = 1.0
    return X


# --- queries ------------------------------------------------------------------------------------


def queries(moving: Trajectories) -> tuple[Problems, dict[str, Floats]]:
    """The states whose oriented boxes overlap, and the four starts of each."""
    steps = moving.X_WA.shape[1]
    X_WA, X_WB = (X.reshape(-1, 4, 4) for X in (moving.X_WA, moving.X_WB))
    chosen = np.repeat(moving.chosen, steps, axis=0)
    X_AB = np.linalg.inv(X_WA) @ X_WB
    everything = Problems(moving.shapes, chosen, X_AB, np.zeros(len(chosen)))
    active = boxes_overlap(moving.shapes, chosen, X_AB)
    problems = measured(everything[active])
    found = exact(problems)
    # Witness points of every state, where there is a query, in the world.
    p_W = np.full((2, len(chosen), 3), np.nan)
    p_W[0, active] = transformed(X_WA[active], found["witness_a"])
    p_W[1, active] = transformed(X_WA[active], found["witness_b"])
    before = np.arange(len(chosen)) - 1
    known = active & active[before] & (np.arange(len(chosen)) % steps > 0)

    centres = box_centres(problems)
    rows, last = np.flatnonzero(active), before[active]
    R_AW = np.swapaxes(X_WA[rows][:, :3, :3], 1, 2)
    stay = np.einsum("nij,nj->ni", R_AW, p_W[0, last] - p_W[1, last])
    moved = [
        transformed(X[rows] @ np.linalg.inv(X[last]), p_W[side, last])
        for side, X in enumerate((X_WA, X_WB))
    ]
    carried = np.einsum("nij,nj->ni", R_AW, moved[0] - moved[1])
    starts = {"none": np.tile([1.0, 0.0, 0.0], (len(problems), 1)), "box centres": centres}
    for name, vectors in (("previous", stay), ("moved previous", carried)):
        usable = known[active] & (np.linalg.norm(np.nan_to_num(vectors), axis=1) > 1e-12)
        starts[name] = np.where(usable[:, None], vectors, centres)
    return problems, starts


def boxes_overlap(
    shapes: list[Shape], chosen: NDArray[np.int64], X_AB: Floats
) -> NDArray[np.bool_]:
    """(n,) the shapes' own boxes overlap as oriented boxes: 15 separating axes."""
    limits = np.array([bounding_box(shape) for shape in shapes])
    centre, half = 0.5 * (limits[:, 0] + limits[:, 1]), 0.5 * (limits[:, 1] - limits[:, 0])
    a, b = half[chosen[:, 0]], half[chosen[:, 1]]
    t = transformed(X_AB, centre[chosen[:, 1]]) - centre[chosen[:, 0]]
    R = X_AB[:, :3, :3]
    overlap = np.ones(len(chosen), dtype=bool)
    for axes in _axes(R):
        length = np.linalg.norm(axes, axis=1)
        along_b = np.abs(np.einsum("nij,ni->nj", R, axes))
        reach = np.einsum("ni,ni->n", a, np.abs(axes)) + np.einsum("ni,ni->n", b, along_b)
        apart = np.abs(np.einsum("ni,ni->n", t, axes)) > reach
        overlap &= ~(apart & (length > 1e-6))
    return overlap


def _axes(R: Floats) -> list[Floats]:
    """Face normals of both boxes and the cross products of their edges, frame A."""
    a = [np.tile(np.eye(3)[k], (len(R), 1)) for k in range(3)]
    b = [R[:, :, k] for k in range(3)]
    return a + b + [np.cross(x, y) for x in a for y in b]
