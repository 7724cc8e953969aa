"""Contacts with torsional and rolling friction: 4 and 6 rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from stiction.certificate import ContactSample, certify

Floats = NDArray[np.float64]
SOLVERS = ("ncp-newton", "ncp-pgs", "ncp-admm")
PLANAR = ("lcp-lemke", "lcp-pgs", "lcp-qp", "lcp-staggered", "ncp-staggered", "raisim")


def random_problem(rng: np.random.Generator) -> stiction.ContactProblem:
    sets = []
    for rows in rng.choice([3, 4, 6], rng.integers(1, 6)):
        torsional = rng.uniform(0.002, 0.05) if rows > 3 else None
        rolling = rng.uniform(0.001, 0.02, 2) if rows > 4 else None
        sets.append(stiction.ContactCone(rng.uniform(0.1, 1.0, 2), torsional, rolling))
    size = np.concatenate([[1, 1, 50, 50, 50][: s.dim - 1] + [1] for s in sets])
    A = size[:, None] * rng.uniform(-1, 1, (size.size, int(1.2 * size.size)))
    return stiction.ContactProblem(A @ A.T, A @ rng.uniform(-1, 1, A.shape[1]), sets=sets)


def violations(problem: stiction.ContactProblem, impulse: Floats) -> tuple[float, float, float]:
    """Outside K, c + Gamma outside K*, and their product, from the definitions: worst contact."""
    c = problem.dense() @ impulse + problem.g
    worst = np.zeros(3)
    for s in problem.sets:
        rows = slice(s.offset, s.offset + s.dim)
        load, speed, D = impulse[rows], c[rows], np.array(s.coefficients)
        slip = np.linalg.norm(D * speed[:-1])
        y = np.r_[speed[:-1], speed[-1] + slip]
        outside = np.linalg.norm(load[:-1] / D) - load[-1]
        worst = np.maximum(worst, [outside, slip - y[-1], abs(load @ y)])
    return float(worst[0]), float(worst[1]), float(worst[2])


@pytest.mark.parametrize("solver", SOLVERS)
def test_solutions_obey_the_definitions(solver: str) -> None:
    rng = np.random.default_rng(1)
    converged = 0
    for _ in range(60):
        problem = random_problem(rng)
        solution = stiction.solve(problem, solver, 1e-9, max_iterations=20_000)
        if solution.status != "converged":
            continue
        converged += 1
        size = max(1.0, float(np.abs(solution.impulse).max()))
        assert max(violations(problem, solution.impulse)) <= 1e-6 * size**2
    assert converged >= 55


def test_a_wrong_impulse_is_found_out() -> None:
    """Each part of the certificate sees the error that it is for, in its rows too."""
    problem = random_problem(np.random.default_rng(2))
    solution = stiction.solve(problem, tolerance=1e-10)
    assert solution.residuals.relative <= 1e-10
    for row in range(problem.num_rows):
        wrong = solution.impulse.copy()
        wrong[row] += 1e-3 * np.abs(wrong).max()
        assert stiction.residuals(problem, wrong).relative > 1e-5


def test_the_certificate_is_what_the_definitions_say() -> None:
    """Distances in N s and m/s: moments over and angular velocities times mu_i / mu_1."""
    mu, torsion, roll = 0.5, 0.02, 0.005
    problem = stiction.ContactProblem(
        np.eye(6), np.zeros(6), sets=[stiction.ContactCone(mu, torsion, roll)]
    )
    impulse = np.array([0.0, 0.0, 3e-2, 0.0, 0.0, 1.0])  # 3e-2 N m s over 4 cm: 0.75 N s
    r = stiction.residuals(problem, impulse)
    assert r.primal == pytest.approx((0.75 - mu) / np.hypot(1.0, mu))
    spin = problem.velocity(impulse)[2] * torsion  # 0.02 m x 0.03 rad/s
    assert r.complementarity == pytest.approx(3e-2 * 3e-2 + 1.0 * (1.0 + spin))
    pull = np.array([0.0, 0.0, 1.0, 0.0, 0.0, -1.0])  # c + Gamma: 4 cm x 1 rad/s, -1 + 0.02 m/s
    assert stiction.residuals(problem, pull).dual == pytest.approx(np.hypot(0.04, 0.98))


@pytest.mark.parametrize("solver", PLANAR)
def test_planar_solvers_refuse_by_name(solver: str) -> None:
    for cone in (stiction.ContactCone(0.5, 0.01), stiction.ContactCone(0.5, 0.01, 0.001)):
        problem = stiction.ContactProblem(np.eye(cone.dim), np.zeros(cone.dim), sets=[cone])
        with pytest.raises(ValueError, match=rf"{solver}.*sets\[0\] has {cone.dim}.*ncp-newton"):
            stiction.solve(problem, solver)


def test_contact_cone() -> None:
    assert stiction.ContactCone(0.5).dim == 3
    assert stiction.ContactCone(0.5).coefficients == [0.5, 0.5]
    assert stiction.ContactCone([0.5, 0.4], 0.01).coefficients == [0.5, 0.4, 0.01]
    six = stiction.ContactCone(0.5, torsional=0.01, rolling=[1e-3, 2e-3])
    assert six.dim == 6 and six.mu == 0.5
    assert six.coefficients == [0.5, 0.5, 0.01, 1e-3, 2e-3]
    assert repr(six) == "ContactCone(0.5, torsional=0.01, rolling=(0.001, 0.002))"
    assert stiction.ContactCone(0.5, rolling=1e-3).coefficients == [0.5, 0.5, 0.0, 1e-3, 1e-3]
    assert stiction.NonNegative().coefficients == []
    with pytest.raises(ValueError, match="rolling has 3 entries"):
        stiction.ContactCone(0.5, 0.01, [1e-3] * 3)
    for wrong, field in [((0.5, -1.0), r"mu\[2\] = -1"), ((0.5, 0.1, [0.0, -2.0]), r"mu\[4\]")]:
        cone = stiction.ContactCone(*wrong)
        with pytest.raises(ValueError, match=rf"sets\[0\]\.{field}"):
            stiction.ContactProblem(np.eye(cone.dim), np.zeros(cone.dim), sets=[cone])


# --- files ------------------------------------------------------------------------------


def test_files_keep_every_coefficient(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        problem = random_problem(rng)
        stiction.save_problem(tmp_path / "p.npz", problem)
        again = stiction.load_problem(tmp_path / "p.npz")
        assert [s.coefficients for s in again.sets] == [s.coefficients for s in problem.sets]
        first, second = stiction.solve(problem), stiction.solve(again)
        assert first.impulse.tobytes() == second.impulse.tobytes()


def test_files_of_version_3_are_read(tmp_path: Path) -> None:
    problem = stiction.ContactProblem(
        np.eye(7),
        -np.ones(7),
        sets=[stiction.ContactCone(0.3), stiction.NonNegative()] + [stiction.ContactCone(0.6)],
    )
    stiction.save_problem(tmp_path / "p.npz", problem)
    with np.load(tmp_path / "p.npz") as data:
        arrays = dict(data)
    assert arrays["version"] == 6 and arrays["mu"].shape == (3, 5)
    arrays |= {"version": np.array(3), "mu": arrays["mu"][:, 0]}
    np.savez(tmp_path / "p.npz", **arrays)
    again = stiction.load_problem(tmp_path / "p.npz")
    assert [s.coefficients for s in again.sets] == [[0.3, 0.3], [], [0.6, 0.6]]
    arrays["mu"] = np.ones((3, 5))
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(stiction.StictionError, match="mu"):
        stiction.load_problem(tmp_path / "p.npz")


# --- engine-neutral certificate ---------------------------------------------------------


def sample(impulse: list[float], velocity: list[float], friction: list[float]) -> ContactSample:
    axes = np.array([[0.0, 0.0, 1.0]])
    return ContactSample(np.zeros((1, 3)), axes, [0.0], [friction], [impulse], [velocity])


def test_engine_neutral_certificate_of_more_rows() -> None:
    friction = [0.5, 0.5, 0.02, 0.005, 0.005]
    slides = certify(sample([0, 0, -0.02, 0, 0, 1.0], [0, 0, 3.0, 0, 0, 0], friction), 1e-3)
    assert slides is not None and slides.sliding == 1
    assert slides.tangential == pytest.approx(0.0, abs=1e-15) and slides.cone == 0.0
    wrong = certify(sample([0, 0, 0.02, 0, 0, 1.0], [0, 0, 3.0, 0, 0, 0], friction), 1e-3)
    assert wrong is not None and wrong.tangential == pytest.approx(1.0)  # 2 x 0.02 / 4 cm
    creeps = certify(sample([0, 0, 0.0, 1e-3, 0, 1.0], [0, 0, 0, 0.1, 0, 0], friction), 1e-3)
    assert creeps is not None and creeps.creep == pytest.approx(1e-3)  # 1 cm x 0.1 rad/s
    outside = certify(sample([0, 0, 0.03, 0, 0, 1.0], [0] * 6, friction), 1e-3)
    assert outside is not None
    assert outside.cone == pytest.approx((0.75 - 0.5) / np.hypot(1.0, 0.5))
    with pytest.raises(ValueError, match="friction"):
        certify(sample([0] * 6, [0] * 6, [0.5, 0.5]), 1e-3)
    held = certify(sample([0, 0, 1e-4, 1.0], [0] * 4, [0.5, 0.5, 0.0]), 1e-3)  # no torsion: 1 cm
    assert held is not None and held.cone == pytest.approx(1e-2)
