"""The stored set of contact problems: G, g, mu, and a perturbed g for warm starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import ContactProblem

from .worlds import BenchError

INFEASIBLE = "infeas"
"""The class of problems that have no solution."""

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class StoredProblem:
    """One problem of the set; per contact rows (t1, t2, n), impulses [N s], velocities [m/s].

    Attributes:
        name: number, class and what it was made from.
        kind: its class.
        G: (3n, 3n) Delassus matrix.
        g: (3n,) free velocity.
        mu: (n,) friction coefficients.
        g_warm: (3n,) the free velocity a little later: to be solved from the solution for g.
    """

    name: str
    kind: str
    G: _Array
    g: _Array
    mu: _Array
    g_warm: _Array

    @property
    def feasible(self) -> bool:
        """Whether the set expects a solution."""
        return self.kind != INFEASIBLE

    @property
    def groups(self) -> tuple[str, ...]:
        """What it is counted under: its class, and the tallest stacks once more."""
        return (self.kind, "stack20") if "_stack20_" in self.name else (self.kind,)

    def problem(self, warm: bool) -> ContactProblem:
        """For the solvers of the registry."""
        return ContactProblem(self.G, self.g_warm if warm else self.g, self.mu)


def load_set(
    path: Path, classes: Iterable[str] = (), every: int = 1, rows: int = 0
) -> list[StoredProblem]:
    """Problems of those classes (empty: all), each `every`-th, of at most so many rows (0: all).

    Raises:
        BenchError: there is no such file, or no such class; the message lists the classes.
    """
    if not path.is_file():
        raise BenchError(
            f"{path} is not there: the problem set lies in the repository's tests/data"
        )
    problems = list(_read(path))
    wanted, known = set(classes), {p.kind for p in problems}
    if wanted - known:
        raise BenchError(f"classes {sorted(wanted - known)} are unknown; there are {sorted(known)}")
    chosen = [p for p in problems if not wanted or p.kind in wanted]
    return [p for p in chosen[::every] if not rows or len(p.g) <= rows]


def thinned(problems: Iterable[StoredProblem], every: int) -> list[StoredProblem]:
    """Each `every`-th problem of each smallest group."""
    seen: Counter[str] = Counter()
    kept = []
    for stored in problems:
        group = stored.groups[-1]
        if seen[group] % every == 0:
            kept.append(stored)
        seen[group] += 1
    return kept


def _read(path: Path) -> Iterator[StoredProblem]:
    with np.load(path) as file:
        for name in sorted({key.rsplit("_", 1)[0] for key in file.files}):
            g = file[f"{name}_g"]
            G = np.zeros((len(g), len(g)))
            G[np.tril_indices(len(g))] = file[f"{name}_Gtril"]
            G += np.tril(G, -1).T
            kind = name.split("_")[1]
            yield StoredProblem(name, kind, G, g, file[f"{name}_mu"], file[f"{name}_gwarm"])
