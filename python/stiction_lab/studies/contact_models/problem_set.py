"""The collection of contact problems that the solvers are judged on, as an .npz file.

Arrays per problem: <number>_<class>_<name>_Gtril (lower triangle of G by rows), _g, _mu, and
_gwarm, the free velocity of a nearby problem whose solution is the warm start.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import ContactProblem
from stiction.pages.experiment import StudyError

IN_REPOSITORY = Path(__file__).parents[4] / "tests" / "data" / "ncp_set.npz"
INFEASIBLE = "infeas"
"""Class of the problems without a solution."""


@dataclass(frozen=True)
class Collected:
    """A problem of the collection.

    Attributes:
        name: number, class and name.
        nearby: the same contacts with another free velocity.
    """

    name: str
    problem: ContactProblem
    nearby: ContactProblem


def load_set(path: Path | None, stride: int = 1) -> list[Collected]:
    """Every `stride`-th problem that has a solution; None: the file of the repository.

    Raises:
        StudyError: there is no such file; the message says what to do.
    """
    file = IN_REPOSITORY if path is None else path
    if not file.is_file():
        raise StudyError(
            f"{file} does not exist: the problems come with the repository; --problems"
        )
    with np.load(file, allow_pickle=False) as data:
        names = [key.removesuffix("_Gtril") for key in data.files if key.endswith("_Gtril")]
        solvable = [name for name in names if name.split("_")[1] != INFEASIBLE]
        return [
            Collected(
                name,
                _problem(data[f"{name}_Gtril"], data[f"{name}_g"], data[f"{name}_mu"]),
                _problem(data[f"{name}_Gtril"], data[f"{name}_gwarm"], data[f"{name}_mu"]),
            )
            for name in solvable[::stride]
        ]


def _problem(
    triangle: NDArray[np.float64], g: NDArray[np.float64], mu: NDArray[np.float64]
) -> ContactProblem:
    G = np.zeros((len(g), len(g)))
    G[np.tril_indices(len(g))] = triangle
    return ContactProblem(G + np.tril(G, -1).T, g, mu)
