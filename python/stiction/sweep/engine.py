"""Chunks of worlds on processes, their results in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import table

__all__ = ["Columns", "Runs", "SweepError", "run"]

Columns = dict[str, NDArray[Any]]
"""By name (rows,) or (rows, m) each."""
Chunk = tuple[int, int]
"""First world, number of worlds."""

CHUNK = 256
RETRIES = 5
"""Of a chunk whose process died; one that dies each time has a fault of its own."""


class SweepError(RuntimeError):
    """A chunk that could not be done, by its worlds; or Ray did not start."""


class Runs(Protocol):
    """What is run. One's own class does, if it can be pickled."""

    @property
    def worlds(self) -> int:
        """How many there are."""

    def __call__(self, first: int, count: int) -> Columns:
        """Results of worlds first, ..., first + count - 1, which follow from these numbers alone:
        columns of equal length, the same names in every call."""

    def describe(self) -> dict[str, Any]:
        """What the results follow from, for JSON: results of another are not added to."""


def run(
    runs: Runs,
    *,
    workers: int = 0,
    chunk: int = CHUNK,
    out: str | os.PathLike[str] | None = None,
    address: str | None = None,
    on_chunk: Callable[[int, int], None] | None = None,
) -> Columns:
    """All worlds of `runs`.

    Args:
        runs: SceneRuns, TaskRuns or one's own.
        workers: processes of a local Ray, which is ended afterwards; what has run already, or runs
            at `address`, is taken as it is. 0 without `address`: this process, without Ray.
        chunk: worlds of a task of a worker >= 1.
        out: folder for Parquet files, one a chunk; chunks that stand there are not done again.
        address: of a Ray cluster, as ray.init has it; stiction must be installed there.
        on_chunk: called with the worlds done and all worlds.

    Returns:
        Columns of all worlds in their order; with `out` empty: read(out) has them.

    Raises:
        SweepError: a chunk failed, those that were done before are in `out`; Ray did not start.
        ValueError: a number is out of range, or `out` holds other runs.
        ModuleNotFoundError: Ray or pyarrow is needed and not there.
    """
    for name, value, least in (("workers", workers, 0), ("chunk", chunk, 1)):
        if value < least:
            raise ValueError(f"{name} = {value}: must be at least {least}")
    chunks = _chunks(runs.worlds, chunk)
    folder = None if out is None else table.Folder(out, runs.describe(), runs.worlds, chunk)
    todo = [k for k in range(len(chunks)) if folder is None or not folder.has(k)]
    done = runs.worlds - sum(chunks[k][1] for k in todo)
    kept: dict[int, Columns] = {}
    if on_chunk is not None:
        on_chunk(done, runs.worlds)
    results = (
        _on_ray(runs, chunks, todo, workers, address)
        if workers > 0 or address is not None
        else _here(runs, chunks, todo)
    )
    for k, columns in results:
        if folder is None:
            kept[k] = columns
        else:
            folder.write(k, columns)
        done += chunks[k][1]
        if on_chunk is not None:
            on_chunk(done, runs.worlds)
    if not kept:
        return {}
    return {name: np.concatenate([kept[k][name] for k in sorted(kept)]) for name in kept[0]}


def _chunks(worlds: int, size: int) -> list[Chunk]:
    if worlds < 1:
        raise ValueError(f"worlds = {worlds}: must be at least 1")
    return [(first, min(size, worlds - first)) for first in range(0, worlds, size)]


def _checked(runs: Runs, first: int, count: int) -> Columns:
    columns = {name: np.asarray(x) for name, x in runs(first, count).items()}
    lengths = {len(x) for x in columns.values()}
    if len(lengths) != 1:
        found = ", ".join(f"{name} {x.shape}" for name, x in columns.items())
        raise ValueError(f"columns must be of one length: {found or 'there are none'}")
    return columns


def _named(chunk: Chunk, error: BaseException | str) -> SweepError:
    first, count = chunk
    told = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return SweepError(f"worlds {first} to {first + count - 1}: {told}")


def _here(runs: Runs, chunks: list[Chunk], todo: list[int]) -> Iterator[tuple[int, Columns]]:
    for k in todo:
        try:
            columns = _checked(runs, *chunks[k])
        except Exception as error:
            raise _named(chunks[k], error) from error
        yield k, columns


def _on_ray(
    runs: Runs, chunks: list[Chunk], todo: list[int], workers: int, address: str | None
) -> Iterator[tuple[int, Columns]]:
    """As they become ready; twice as many as there are processors are with Ray at a time."""
    if not todo:
        return
    engine, own = _started(workers, address)
    pending: dict[Any, int] = {}
    try:
        task = engine.remote(num_cpus=1, max_retries=RETRIES)(_checked)
        held, rest = engine.put(runs), iter(todo)
        slots = 2 * max(1, int(engine.cluster_resources().get("CPU", 1)))
        while True:
            while len(pending) < slots and (k := next(rest, None)) is not None:
                pending[task.remote(held, *chunks[k])] = k
            if not pending:
                return
            ready, _ = engine.wait(list(pending), num_returns=1)
            k = pending.pop(ready[0])
            yield k, _got(engine, ready[0], chunks[k])
    finally:
        for reference in pending:
            engine.cancel(reference, force=True)
        if own:
            engine.shutdown()


def _got(engine: Any, reference: Any, chunk: Chunk) -> Columns:
    try:
        columns: Columns = engine.get(reference)
    except engine.exceptions.RayTaskError as error:
        raise _named(chunk, error.cause) from error
    except engine.exceptions.RayError as error:
        what = f"its process died {RETRIES + 1} times ({type(error).__name__})"
        raise _named(chunk, what) from error
    return columns


def _started(workers: int, address: str | None) -> tuple[Any, bool]:
    """Ray, and whether it was started here and is to be ended."""
    try:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "workers need ray: pip install ray; workers = 0 runs in this process",
            name="ray",
        ) from error
    if ray.is_initialized():
        return ray, False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        quiet |= {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(address=address, **quiet)
    except Exception as error:  # Ray has no type for a node that does not come up in time
        ray.shutdown()
        raise SweepError(f"Ray did not start: {error}; workers = 0 runs in this process") from error
    return ray, True
