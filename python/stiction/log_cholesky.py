"""Inertial parameters of a body as ten free numbers, every choice of which is a physical body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

__all__ = ["InertialParameters", "log_cholesky", "physical_inertia"]

ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""xx xy yy xz yz zz: the order of `step_derivatives` by "inertia"."""


@dataclass(frozen=True)
class InertialParameters:
    """A body's numbers and how they move with theta."""

    mass: float
    """[kg]"""
    com: Floats
    """(3,) body frame [m]"""
    inertia: Floats
    """(3, 3) about the centre of mass, axes of the body [kg m²]"""
    jacobian: Floats
    """(10, 10): rows mass, com (3), inertia (xx xy yy xz yz zz), columns theta. With columns P of
    step_derivatives by ("mass", "com", "inertia") of this body, P @ jacobian is by theta."""


def _second_moment(inertia: Floats) -> Floats:
    """∫ x xᵀ dm about the centre of mass."""
    return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - inertia)


def _inertia(second: Floats) -> Floats:
    """The inverse: trace(Σ) 1 - Σ, by sums of what is positive."""
    x, y, z = np.diag(second)
    return np.asarray(np.diag([y + z, x + z, x + y]) - (second - np.diag([x, y, z])))


NAMES = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
LARGEST = (100.0,) * 4 + (1e50,) * 6
"""Within these all products of a body's numbers are finite and none is zero."""


def _numbers(theta: ArrayLike) -> Floats:
    """theta as an array.

    Raises ValueError naming the entry.
    """
    try:
        x = np.asarray(theta, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"theta = {theta!r}: must be ten finite numbers") from None
    if x.shape != (10,) or not np.isfinite(x).all():
        raise ValueError(f"theta = {x.tolist()}: must be ten finite numbers")
    for k, (name, most) in enumerate(zip(NAMES, LARGEST, strict=True)):
        if abs(x[k]) > most:
            raise ValueError(
                f"theta[{k}] = {x[k]:g}: {name} must lie within {-most:g} ... {most:g}; beyond, "
                "the body's numbers overflow or vanish: shorten the step of the search"
            )
    return x


def physical_inertia(theta: ArrayLike) -> InertialParameters:
    """The body that theta stands for, with the derivatives of its numbers.

    theta: (10,) alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 of Rucker and Wensing ("Smooth
        Parameterization of Rigid-Body Inertia", RA-L 2022, eq. 9): the pseudo-inertia is U Uᵀ with
        U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]].
        All real numbers are allowed; mass > 0 and the triangle inequalities follow.

    Raises ValueError if theta has another shape, entries that are not finite, or so large ones that
    the body's numbers would overflow or vanish: beyond 100 of alpha and d, whose powers of e they
    are of, beyond 1e50 of the others.
    """
    x = _numbers(theta)
    d, (s12, s23, s13), t = np.exp(x[1:4]), x[4:7], x[7:10]
    mass = float(np.exp(2.0 * x[0]))
    upper = np.array([[d[0], s12, s13], [0.0, d[1], s23], [0.0, 0.0, d[2]]])
    second = mass * upper @ upper.T
    inertia = _inertia(second)
    jacobian = np.zeros((10, 10))
    jacobian[0, 0] = 2.0 * mass
    jacobian[1:4, 7:10] = np.eye(3)
    places = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)]
    for k in range(7):
        if k == 0:
            change = 2.0 * second
        else:
            row, column = places[k - 1]
            turn = np.zeros((3, 3))
            turn[row, column] = upper[row, column] if k < 4 else 1.0
            change = mass * (turn @ upper.T + upper @ turn.T)
        moved = _inertia(change)
        jacobian[4:10, k] = [moved[i] for i in ENTRIES]
    return InertialParameters(mass, t.copy(), inertia, jacobian)


def log_cholesky(mass: float, com: ArrayLike, inertia: ArrayLike) -> Floats:
    """theta (10,) of a body, the inverse of physical_inertia().

    mass: [kg] > 0. com: (3,) body frame [m]. inertia: (3, 3) about the centre of mass, axes of the
        body [kg m²].

    Raises ValueError naming the number if no body has it: a mass that is not positive, an inertia
    that is not symmetric or whose largest principal moment is not below the sum of the others.
    """
    c, I = np.asarray(com, dtype=float), np.asarray(inertia, dtype=float)  # noqa: E741
    if not (np.isfinite(mass) and mass > 0.0):
        raise ValueError(f"mass = {mass}: must be > 0")
    if c.shape != (3,) or not np.isfinite(c).all():
        raise ValueError(f"com = {c.tolist()}: must be three finite numbers")
    if (
        I.shape != (3, 3)
        or not np.isfinite(I).all()
        or np.abs(I - I.T).max() > 1e-9 * np.abs(I).max()
    ):
        raise ValueError(
            f"inertia = {I.tolist()}: must be a symmetric 3 x 3 matrix of finite numbers"
        )
    second = _second_moment(I) / mass
    if not np.linalg.eigvalsh(second)[0] > 0.0:
        moments = np.linalg.eigvalsh(I).tolist()
        raise ValueError(
            f"inertia: its principal moments {moments} must be > 0, the largest below the sum of "
            "the others; flat bodies and lines have no theta"
        )
    # U Uᵀ with U upper triangular: the Cholesky factor of the matrix turned around.
    upper = np.linalg.cholesky(second[::-1, ::-1])[::-1, ::-1]
    diagonal = np.log(np.diag(upper))
    theta: Floats = np.r_[0.5 * np.log(mass), diagonal, upper[0, 1], upper[1, 2], upper[0, 2], c]
    return theta
