"""Runs the files of a census in processes of their own, and keeps what is done.

A file may crash the process that reads it, or hang in a step that no check of time reaches: its
process is then ended, its row says so, and the next file has a new one. Rows go to a journal, a
line each, from which a census that was broken off goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from . import machine
from .census import FileRow, Limits, measure_file

__all__ = ["run_census"]

PATIENCE = 4.0
"""Wall time that a file has, as a multiple of its thread time; and this for loading it:"""
LOADING = 120.0

Row = dict[str, Any]
Tick = Callable[[str], None]


def run_census(
    folder: Path,
    files: Sequence[str],
    limits: Limits,
    jobs: int = 1,
    journal: Path | None = None,
    tick: Tick = lambda line: None,
) -> dict[str, Any]:
    """The document: a row a file, in their order. Rows that the journal has for the same limits are
    taken from it."""
    done = _read(journal, limits)
    left = [file for file in files if file not in done]
    for row in _rows(folder, left, limits, jobs):
        done[row["file"]] = row
        if journal is not None:
            _append(journal, limits, row)
        tick(f"{len([f for f in files if f in done])} of {len(files)}, {row['file']}")
    return {
        "machine": machine.describe(),
        "limits": asdict(limits),
        "rows": [done[file] for file in files],
    }


def _read(journal: Path | None, limits: Limits) -> dict[str, Row]:
    if journal is None or not journal.is_file():
        return {}
    found = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue  # broken off while it was written
        if entry["limits"] == asdict(limits):
            found[entry["row"]["file"]] = entry["row"]
    return found


def _append(journal: Path, limits: Limits, row: Row) -> None:
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a", encoding="utf-8") as file:
        # The line before may have been broken off.
        file.write("\n" + json.dumps({"limits": asdict(limits), "row": row}))


def _serve(folder: Path, limits: Limits, pipe: Connection) -> None:
    pipe.send("ready")
    while True:
        try:
            file = pipe.recv()
        except EOFError:
            return
        pipe.send(measure_file(folder, file, limits).as_dict())


class _Worker:
    """A process that takes one file after the other."""

    serve = staticmethod(_serve)

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._limits = limits
        context = multiprocessing.get_context("spawn")
        self.answers, theirs = context.Pipe()
        given = (folder, limits, theirs)
        self._process = context.Process(target=self.serve, args=given, daemon=True)
        self._process.start()
        theirs.close()
        self.answers.recv()  # "ready": what the process imports is no file's time
        self.file, self._end = "", 0.0

    def give(self, file: str) -> None:
        self.file = file
        self._end = time.monotonic() + LOADING + PATIENCE * self._limits.file_seconds
        self.answers.send(file)

    @property
    def left(self) -> float:
        """Until its file is given up [s]."""
        return self._end - time.monotonic()

    def take(self) -> Row | None:
        """The row of its file; None: the process has died of it, or must."""
        try:
            if self.answers.poll():
                row: Row = self.answers.recv()
                return row
        except EOFError:
            pass
        return None

    def stop(self) -> int | None:
        """Ends the process; its exit code, None: it was still running."""
        self._process.join(1.0 if self.left > 0.0 else 0.0)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        self.answers.close()
        return code


def _rows(folder: Path, files: Sequence[str], limits: Limits, jobs: int) -> Iterator[Row]:
    """As they are done."""
    waiting = list(files)
    workers: list[_Worker] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_Worker(folder, limits))
                workers[-1].give(waiting.pop(0))
            least = max(0.0, min(worker.left for worker in workers))
            ready = wait([worker.answers for worker in workers], timeout=least)
            for worker in list(workers):
                if worker.answers not in ready and worker.left > 0.0:
                    continue
                row = worker.take()
                if row is None:
                    workers.remove(worker)
                    yield _lost(worker.file, worker.left, worker.stop())
                    continue
                yield row
                if waiting:
                    worker.give(waiting.pop(0))
                else:
                    workers.remove(worker)
                    worker.stop()
    finally:
        for worker in workers:
            worker.stop()


def _lost(file: str, left: float, code: int | None) -> Row:
    why = "its time was over" if left <= 0.0 else f"the process ended with code {code}"
    row = FileRow(file, loaded=True, error=f"{why}, while it was loaded or in a step")
    return row.as_dict() | {"share": 0.0, "raised": left > 0.0, "passed": False}
