"""What an experiment gives, and how much work it does."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tick = Callable[[str, float], None]
"""Progress: what is done now, and the share of the experiment done before it."""


class StudyError(RuntimeError):
    """A study cannot run here; the message says what is missing."""


@dataclass(frozen=True)
class Effort:
    """How much of an experiment is done.

    Attributes:
        share: of the full number of pairs, poses and repetitions, at most 1.
        seed: of everything random.
        problems: file of the collection of contact problems; None: that of the repository.
        reference_data: folder of arrays that others published; None: not used.
        biped: URDF of the robot that walks; None: Talos as installed.
    """

    share: float = 1.0
    seed: int = 0
    problems: Path | None = None
    reference_data: Path | None = None
    biped: Path | None = None

    def count(self, full: int, least: int = 2) -> int:
        """That share of a number, at least `least`."""
        return max(min(least, full), round(full * self.share))

    def generator(self, stream: int) -> np.random.Generator:
        """Random numbers of one part of the study; parts do not share a stream."""
        return np.random.default_rng([self.seed, stream])


QUICK, FULL = 0.02, 1.0


@dataclass
class Table:
    """A table of text; the first column names the rows."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that our numbers can contradict.

    Attributes:
        statement: the paper's.
        ours: our numbers.
        holds: None where our numbers cannot tell, see `less`.
    """

    statement: str
    ours: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """In words."""
        return {True: "holds", False: "does not", None: "within noise"}[self.holds]


NOISE = 0.05
"""Two times closer than this share may be in the other order in the next run."""


def less(time: float, other: float) -> bool | None:
    """Is a time less than another? None: they are within `NOISE` of each other."""
    if abs(time - other) <= NOISE * max(time, other):
        return None
    return time < other


@dataclass
class Experiment:
    """One experiment as it was run.

    Attributes:
        name: of its files and of its anchor in the report.
        title: heading.
        setup: what was done, and where it differs from the paper.
        explanation: why numbers differ from the paper's, where they do.
        figures: (caption, SVG text).
        columns: raw rows for the CSV file: name -> array, all of one length.
    """

    name: str
    title: str
    setup: str
    explanation: str = ""
    tables: list[Table] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def add_rows(self, **columns: Any) -> None:
        """Append rows to the CSV; scalars are repeated."""
        arrays = {name: np.atleast_1d(np.asarray(value)) for name, value in columns.items()}
        length = max(len(array) for array in arrays.values())
        for name, array in arrays.items():
            values = array if len(array) == length else np.repeat(array, length)
            self.columns.setdefault(name, []).extend(values.tolist())

    def write_csv(self, folder: Path) -> Path:
        """All raw rows."""
        path = folder / f"{self.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows(zip(*self.columns.values(), strict=True))
        return path

    def as_dict(self) -> dict[str, Any]:
        """Texts, tables and claims, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "setup": self.setup,
            "explanation": self.explanation,
            "captions": [caption for caption, _ in self.figures],
            "tables": [
                {
                    "title": t.title,
                    "columns": list(t.columns),
                    "rows": [list(r) for r in t.rows],
                    "note": t.note,
                }
                for t in self.tables
            ],
            "claims": [vars(claim) | {"verdict": claim.verdict} for claim in self.claims],
        }


def mean_std(values: NDArray[Any], digits: int = 1) -> str:
    """`mean ± standard deviation`."""
    array = np.asarray(values, dtype=float)
    return f"{array.mean():.{digits}f} ± {array.std():.{digits}f}"
