"""Worlds of a scene, each with parameters of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..batch import Batch
from ..counted_random import uniform
from ..given_array import given_seed, integer
from ..loading import load
from ..servo_dofs import servo_dofs

__all__ = ["SceneRuns", "digest"]

Floats = NDArray[np.float64]
_MOVE_STREAM = 1

OBSERVATIONS = (
    "v_body", "w_body", "gravity", "height", "joint_q", "joint_v", "q", "v", "target", "com",
)  # fmt: skip
"""Of `Batch.observe`, what needs no further arguments."""


@dataclass(frozen=True)
class SceneRuns:
    """Worlds of a scene that hold a configuration, for each point of a grid of parameters.

    Columns of the results: world; the parameters of `grid` and `random`; time [s]; status and
    certificate, the worst since the row before; what `record` names. A row every `every`; of a
    world whose step was not finite, status "not_finite", they repeat the state before that step.

    Attributes:
        scene: name, or path of a URDF or MJCF file: what `load` takes.
        seconds: simulated time of a world.
        samples: worlds of each point of the grid.
        seed: of what is random, in [0, 2^64). It follows from seed and world alone.
        dt: time step [s].
        every: between two rows [s], a multiple of dt; None: one row, at the end.
        configuration: of the scene: where worlds start and what their servos hold.
        grid: values of fields, Batch.FIELDS; all combinations, the last field fastest.
        random: lowest and highest value of fields, uniform, a number for each world.
        move: new targets of the servos every `every`, uniform up to this far from the configuration
            [rad or m].
        record: names of Batch.observe.
        settings: further settings of a Simulator, by name.

    A number of a field is for all geometries, bodies or joints of the world; a free-flyer's dofs
    keep theirs.

    Raises:
        ValueError: a value is out of range or a name unknown.
    """

    scene: str
    seconds: float = 1.0
    samples: int = 1
    seed: int = 0
    dt: float = 1e-3
    every: float | None = None
    configuration: str = "default"
    grid: Mapping[str, Sequence[float]] = field(default_factory=dict)
    random: Mapping[str, Sequence[float]] = field(default_factory=dict)
    move: float = 0.0
    record: Sequence[str] = ("q", "v")
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_numbers(self)
        _check_fields(self)

    @property
    def worlds(self) -> int:
        """Points of the grid times samples."""
        return int(np.prod([len(x) for x in self.grid.values()], dtype=np.int64)) * self.samples

    def describe(self) -> dict[str, Any]:
        """The attributes, and a digest of the scene's file."""
        told = asdict(self)
        told["grid"] = {name: list(x) for name, x in self.grid.items()}
        told["record"] = list(self.record)
        return {"kind": "scene", **told, "file": digest(self.scene)}

    def __call__(self, first: int, count: int) -> dict[str, NDArray[Any]]:
        scene = load(self.scene)
        batch = Batch(
            scene, count, dt=self.dt, configuration=self.configuration, **dict(self.settings)
        )
        worlds = first + np.arange(count)
        values = self._values(worlds)
        for name, x in values.items():
            _assign(batch, name, x)
        joints = servo_dofs(scene)
        held = batch.position_target[:, joints].copy()
        rows = []
        for k, steps in enumerate(self._intervals()):
            if self.move > 0.0:
                moved = uniform(
                    self.seed, worlds, np.full(count, k), len(joints), stream=_MOVE_STREAM
                )
                batch.position_target[:, joints] = held + self.move * (2.0 * moved - 1.0)
            batch.step(steps)
            rows.append(self._row(batch))
        columns: dict[str, NDArray[Any]] = {"world": np.repeat(worlds, len(rows))}
        columns |= {name: np.repeat(x, len(rows)) for name, x in values.items()}
        # (intervals, worlds, ...) to rows that belong to one world side by side.
        for name in rows[0]:
            x = np.stack([row[name] for row in rows], axis=1)
            columns[name] = x.reshape(-1, *x.shape[2:])
        return columns

    def _intervals(self) -> list[int]:
        total = round(self.seconds / self.dt)
        each = total if self.every is None else round(self.every / self.dt)
        return [min(each, total - done) for done in range(0, total, each)]

    def _values(self, worlds: NDArray[np.int64]) -> dict[str, Floats]:
        """(worlds,) of each field that varies."""
        out: dict[str, Floats] = {}
        point = worlds // self.samples
        for name in reversed(list(self.grid)):
            choices = np.asarray(self.grid[name], np.float64)
            out[name] = choices[point % len(choices)]
            point = point // len(choices)
        names = sorted(self.random)  # not in the order of a file
        x = uniform(self.seed, worlds, np.zeros_like(worlds), len(names))
        for k, name in enumerate(names):
            low, high = self.random[name]
            out[name] = low + (high - low) * x[:, k]
        return {name: out[name] for name in (*self.grid, *names)}

    def _row(self, batch: Batch) -> dict[str, NDArray[Any]]:
        row: dict[str, NDArray[Any]] = {
            "time": batch.time.copy(),
            "status": np.array(Batch.STATUSES)[batch.status],
            "certificate": batch.certificate.copy(),
        }
        for name in self.record:
            row[name] = batch.observe([name])
        return row


def digest(path: str) -> str | None:
    """Of a file's bytes; None where there is no file."""
    at = Path(path)
    return hashlib.sha256(at.read_bytes()).hexdigest() if at.is_file() else None


def _assign(batch: Batch, name: str, values: Floats) -> None:
    """One number a world to all entries of a field but those of a free-flyer."""
    whole = batch.values(name)
    if whole.shape[1] == batch.scene.nv:
        whole[:, servo_dofs(batch.scene)] = values[:, None]
    else:
        whole[:] = values[:, None]
    batch.assign(name, whole)


def _check_numbers(runs: SceneRuns) -> None:
    integer("samples", runs.samples)
    times = ("seconds", "dt", *(["every"] if runs.every is not None else []))
    for name in (*times, "move"):
        value = getattr(runs, name)
        if not isinstance(value, int | float | np.number):
            raise TypeError(f"{name} = {value!r}: must be a number")
        if name in times and not (np.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} = {value}: must be finite and > 0 [s]")
    if runs.samples < 1:
        raise ValueError(f"samples = {runs.samples}: must be at least 1")
    given_seed(runs.seed)
    if not (np.isfinite(runs.move) and runs.move >= 0.0):
        raise ValueError(f"move = {runs.move}: must be finite and >= 0 [rad or m]")
    for name in ("seconds", "every"):
        value = runs.seconds if name == "seconds" else runs.every
        steps = 1.0 if value is None else value / runs.dt
        if round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps:
            raise ValueError(f"{name} = {value}: must be a multiple of dt = {runs.dt} [s]")


def _check_fields(runs: SceneRuns) -> None:
    fields = [name for name in Batch.FIELDS if name != "gravity"]
    for where, given in (("grid", runs.grid), ("random", runs.random)):
        for name, values in given.items():
            if name not in fields:
                raise ValueError(f"{where}.{name}: unknown; there are: {', '.join(fields)}")
            if not len(values) or not np.isfinite(np.asarray(values, np.float64)).all():
                raise ValueError(f"{where}.{name} = {values}: must be finite numbers")
            if where == "random" and (len(values) != 2 or values[0] > values[1]):
                raise ValueError(f"random.{name} = {values}: must be the lowest and highest value")
    for name in set(runs.grid) & set(runs.random):
        raise ValueError(f"{name} is in grid and in random: must be in one")
    if not runs.record or not set(runs.record) <= set(OBSERVATIONS):
        raise ValueError(f"record = {list(runs.record)}: must be of {', '.join(OBSERVATIONS)}")
