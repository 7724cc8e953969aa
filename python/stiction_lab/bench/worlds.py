"""What a benchmark needs of an engine, and what two engines must share to be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from stiction.certificate import ContactSample


class BenchError(RuntimeError):
    """The benchmark cannot give a number it could defend; the message says what is wrong."""


@dataclass(frozen=True)
class Facts:
    """What makes two engines' scenes the same work.

    Attributes:
        mass: of everything that moves [kg].
        nv: degrees of freedom.
        com_height: of everything that moves, in the initial pose [m].
        friction: the largest coefficient of any surface; all of a scene are equal.
        stiffness, damping: sums of the servo gains [N m/rad, N m s/rad].
    """

    mass: float
    nv: int
    com_height: float
    friction: float
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Observed:
    """One step: its contacts, the solver's iterations, its own residual (NaN: it tells none).

    pairs: (k, 2) the geometries of each contact, numbered as the engine does; None: not told.
    """

    sample: ContactSample
    iterations: int
    residual: float
    pairs: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Kick:
    """An impulse (3,) [N s], world axes, at the centre of mass of the loose body of that number."""

    body: int
    impulse: tuple[float, float, float]


class World(Protocol):
    """One engine with one scene; `advance` and `rollout` run no Python inside."""

    label: str
    dt: float

    def facts(self) -> Facts:
        """Of the initial pose."""
        ...

    def settle(self, seconds: float) -> None:
        """Advance from the initial pose and remember the state reached as the start."""
        ...

    def restart(self) -> None:
        """Back to the start, with warm starts as they were there."""
        ...

    def advance(self, steps: int) -> None:
        """That many steps with the held targets, in one call."""
        ...

    def kick(self, kick: Kick) -> None:
        """Change the velocity of a loose body."""
        ...

    def prepare_rollout(self, noise: NDArray[np.float64]) -> None:
        """The next `rollout` begins at the start, with a row of noise per step.

        noise (T, servos) [rad] is added to the targets.
        """
        ...

    def rollout(self) -> None:
        """The prepared steps, in one call."""
        ...

    def observe(self, noise: NDArray[np.float64]) -> Observed:
        """One step with noise (servos,) [rad] on the targets."""
        ...
