"""ccp-pgs, ccp-admm and ccp-newton against solvers and forces of others."""

from __future__ import annotations

from pathlib import Path

import clarabel
import mujoco
import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from scipy import sparse
from stiction_lab.bench import peer_models
from stiction_lab.bench.catalogue import SOLO12_POSTURE

Floats = NDArray[np.float64]
DATA = Path(__file__).parent.parent / "data" / "contactbench_solutions.npz"
SOLVERS = ("ccp-admm", "ccp-admm-published", "ccp-newton", "ccp-pgs")


# --- ContactBench -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def oracle() -> dict[str, NDArray[np.generic]]:
    with np.load(DATA) as data:
        return dict(data)


def cone_problem(oracle: dict[str, NDArray[np.generic]], index: int) -> stiction.ContactProblem:
    G, g, mu, R = (oracle[f"p{index:03d}_{name}"] for name in ("G", "g", "mu", "R_comp"))
    return stiction.ContactProblem(G, g, mu, R=R)


def ccp_natural_residual(impulse: Floats, c: Floats, mu: Floats, G: Floats) -> float:
    """max |l_i - P_K(l_i - r_i c_i)|, r_i = 3 / trace G_ii, relative to the largest impulse."""
    worst = 0.0
    for i, friction in enumerate(mu):
        rows = slice(3 * i, 3 * i + 3)
        x = impulse[rows] - 3.0 / np.trace(G[rows, rows]) * c[rows]
        t = np.linalg.norm(x[:2])
        n = (x[2] + friction * t) / (1.0 + friction**2)
        if t > friction * x[2]:
            x = np.zeros(3) if n <= 0.0 else np.r_[friction * n / t * x[:2], n]
        worst = max(worst, float(np.linalg.norm(impulse[rows] - x)))
    return worst / max(float(np.abs(impulse).max()), 1e-300)


@pytest.mark.parametrize(("column", "solver"), [(k, s) for k in (0, 1) for s in SOLVERS])
def test_contactbench(oracle: dict[str, NDArray[np.generic]], column: int, solver: str) -> None:
    """Converged: the oracle's own measure agrees, and c, which is unique, is the reference's."""
    tolerance = float(oracle["tolerances"][column])
    statuses = []
    for index, name in enumerate(oracle["problem_names"]):
        problem = cone_problem(oracle, index)
        mu, c = oracle[f"p{index:03d}_mu"], oracle["ref_ccp_c"][index][: len(problem.g)]
        x = stiction.solve(problem, solver, tolerance, max_iterations=10_000)
        statuses.append(x.status)
        if x.status not in ("converged", "rounding_limited"):
            continue
        G, velocity = problem.dense(), x.velocity
        if x.regularisation is not None:
            G, velocity = G + np.diag(x.regularisation), velocity + x.regularisation * x.impulse
        assert ccp_natural_residual(x.impulse, velocity, mu, G) <= 10 * np.sqrt(tolerance), name
        if x.regularisation is None and np.isfinite(c).all():
            assert np.abs(velocity - c).max() <= np.sqrt(tolerance) * np.abs(problem.g).max(), name
    reached = sum(status in ("converged", "rounding_limited") for status in statuses)
    least = {
        "ccp-admm": (71, 65),
        "ccp-admm-published": (71, 65),
        "ccp-newton": (72, 72),
        "ccp-pgs": (60, 57),
    }
    assert reached >= least[solver][column]


def test_newton_does_what_contactbench_does_with_the_same_rule(
    oracle: dict[str, NDArray[np.generic]],
) -> None:
    """Its CCP-Newton adds the same R (contact norm); where it arrives, c is ours."""
    theirs = list(oracle["solver_names"]).index("CCP-Newton")
    compared = 0
    for index in range(72):
        problem = cone_problem(oracle, index)
        rows = len(problem.g)
        x = stiction.solve(problem, "ccp-newton", 1e-10)
        assert x.regularisation is not None
        added = oracle["R_used"][index, theirs, 1][:rows]
        if np.any(problem.R):
            continue  # theirs takes R for the compliance, ours adds it
        np.testing.assert_allclose(x.regularisation, added, rtol=1e-9)
        if oracle["converged_flag"][index, theirs, 1]:
            c = oracle["c"][index, theirs, 1][:rows]
            compared += 1
            assert np.abs(x.velocity - c).max() <= 1e-5 * np.abs(problem.g).max()
    assert compared >= 40


# --- Clarabel ---------------------------------------------------------------------------


def random_cone(rng: np.random.Generator) -> stiction.ConstraintSet:
    """Torsional friction, at times with rolling friction, with none in some rows, or elliptic."""
    mu = rng.uniform(0.05, 1.0, 2) if rng.integers(3) == 0 else rng.uniform(0.05, 1.0)
    torsional, rolling = rng.uniform(0.002, 0.05), rng.uniform(0.001, 0.02, 2)
    rolling[rng.integers(2)] *= rng.integers(0, 2)
    return stiction.ContactCone(mu, torsional, rolling if rng.integers(2) else None)


def random_problem(rng: np.random.Generator, wide: bool) -> stiction.ContactProblem:
    """Every kind of set; G of full or lower rank, g a velocity that a mechanism can have."""
    sets: list[stiction.ConstraintSet] = []
    for kind in rng.integers(0, 6, size=rng.integers(1, 9)):
        low = rng.uniform(-1.0, 0.2)
        sets.append(
            stiction.NonNegative()
            if kind == 0
            else stiction.BoxSet(low, low + rng.uniform(0.0, 1.0))
            if kind == 1
            else stiction.Free(int(rng.integers(1, 7)))
            if kind == 2
            else random_cone(rng)
            if wide
            else stiction.ContactCone(0.0 if kind == 3 else rng.uniform(0.05, 1.5))
        )
    rows = sum(s.dim for s in sets)
    A = rng.uniform(-1.0, 1.0, (rows, max(1, int(rng.uniform(0.3, 1.2) * rows))))
    angular = np.concatenate([np.arange(s.dim) >= 2 for s in sets])
    angular[np.cumsum([s.dim for s in sets]) - 1] = False
    A[angular & np.repeat([s.kind == "cone" for s in sets], [s.dim for s in sets])] *= 50.0
    return stiction.ContactProblem(A @ A.T, A @ rng.uniform(-1, 1, A.shape[1]), sets=sets)


def clarabel_solution(
    G: Floats, g: Floats, sets: list[stiction.ConstraintSet], tolerance: float
) -> Floats | None:
    """min 1/2 l^T G l + g^T l over the sets; None if it is not solved to the tolerance."""
    blocks: list[Floats] = []
    offsets: list[float] = []
    cones: list[object] = []
    # moments over lengths: its accuracy suffers from unlike units
    size = np.ones(len(g))
    for s in sets:
        for k, mu in enumerate(s.coefficients):
            size[s.offset + k] = mu / s.mu if mu > 0.0 and s.mu > 0.0 else 0.02 if k > 1 else 1.0
    unit = np.diag(size)

    def constrain(rows: Floats, offset: list[float], cone: object) -> None:
        """rows l + offset in the cone."""
        blocks.append(rows)
        offsets.extend(offset)
        cones.append(cone)

    for s in sets:
        e = unit[s.offset : s.offset + s.dim]
        if s.kind == "cone":
            rough = [k for k, mu in enumerate(s.coefficients) if mu > 0.0]
            smooth = [k for k, mu in enumerate(s.coefficients) if mu == 0.0]
            held = [e[k] / s.coefficients[k] for k in rough]
            constrain(
                np.array([e[-1], *held]),
                [0] * (1 + len(rough)),
                clarabel.SecondOrderConeT(1 + len(rough)),
            )
            if smooth:
                constrain(e[smooth], [0] * len(smooth), clarabel.ZeroConeT(len(smooth)))
        elif s.kind == "non_negative":
            constrain(e, [0], clarabel.NonnegativeConeT(1))
        elif s.kind == "box":
            constrain(np.r_[e, -e], [-s.lower, s.upper], clarabel.NonnegativeConeT(2))
    A = -np.vstack(blocks) if blocks else np.zeros((0, len(g)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    P = sparse.csc_matrix(np.triu(size[:, None] * G * size))
    solver = clarabel.DefaultSolver(
        P, size * g, sparse.csc_matrix(A), np.array(offsets, dtype=float), cones, settings
    )
    found = solver.solve()
    return size * np.array(found.x) if found.status == clarabel.SolverStatus.Solved else None


@pytest.mark.parametrize("wide", [False, True], ids=["3 rows", "4 and 6 rows"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_clarabel_finds_the_same_velocity(solver: str, wide: bool) -> None:
    rng = np.random.default_rng(5)
    near = 1e-4 if wide else 1e-5  # the square root of what the objective is known to
    compared = 0
    for _ in range(150):
        problem = random_problem(rng, wide)
        ours = stiction.solve(problem, solver, 1e-11, max_iterations=20_000)
        G = problem.dense()
        if ours.regularisation is not None:
            G = G + np.diag(ours.regularisation)
        theirs = clarabel_solution(G, problem.g, problem.sets, 1e-9 if wide else 1e-11)
        if theirs is None or ours.status not in ("converged", "rounding_limited"):
            continue
        compared += 1

        def objective(x: Floats, G: Floats = G, g: Floats = problem.g) -> float:
            return float(x @ (0.5 * G @ x + g))

        best = objective(theirs)
        assert abs(objective(ours.impulse) - best) <= 1e-8 * max(1.0, abs(best))
        assert np.abs(G @ (ours.impulse - theirs)).max() <= near * np.abs(problem.g).max()
    assert compared >= (120 if wide else 140)


# --- MuJoCo -----------------------------------------------------------------------------


def solo12_frames(cone: str, impratio: float) -> list[tuple[mujoco.MjModel, mujoco.MjData]]:
    """Solo-12 landing and standing under noise on its targets, each frame solved to rounding."""
    robot = stiction.load("solo12").robots[0]
    spec = peer_models.solo12(Path(robot.description.path), friction=0.9)
    model = peer_models.compile_variant(
        spec, peer_models.PeerVariant("newton", cone, "implicitfast"), 1e-3
    )
    model.opt.impratio = impratio
    model.opt.tolerance, model.opt.iterations = 0.0, 200
    model.opt.ls_tolerance, model.opt.ls_iterations = 1e-10, 100
    data = mujoco.MjData(model)
    data.qpos[2] = 0.24
    for i in range(model.nu):
        angle = SOLO12_POSTURE[model.actuator(i).name]
        data.ctrl[i] = data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]] = angle
    held, rng, frames = data.ctrl.copy(), np.random.default_rng(0), []
    for k in range(400):
        data.ctrl[:] = held + rng.normal(0.0, 0.3, model.nu)
        mujoco.mj_step(model, data)
        if k % 20 == 0:
            frame = mujoco.MjData(model)
            mujoco.mj_copyData(frame, model, data)
            mujoco.mj_forward(model, frame)
            frames.append((model, frame))
    return frames


def contact_space(
    model: mujoco.MjModel, data: mujoco.MjData
) -> tuple[stiction.ContactProblem, NDArray[np.int64]]:
    """MuJoCo's constraints as a contact problem in forces and accelerations, and its row order.

    G = J M^-1 J^T and g = J a_smooth - a_ref. Its contact axes are (n, t1, t2). A row of a pyramid
    is an edge with a force >= 0.
    """
    J = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(
            J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
    else:
        J[:] = data.efc_J.reshape(J.shape)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    sets: list[stiction.ConstraintSet] = []
    order: list[int] = []
    while len(order) < data.nefc:
        row = len(order)
        kind = mujoco.mjtConstraint(int(data.efc_type[row]))
        if kind == mujoco.mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC:
            sets.append(stiction.ContactCone(data.contact[data.efc_id[row]].friction[0]))
            order += [row + 1, row + 2, row]
        else:
            assert kind in (
                mujoco.mjtConstraint.mjCNSTR_CONTACT_PYRAMIDAL,
                mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT,
            )
            sets.append(stiction.NonNegative())
            order.append(row)
    rows = np.array(order)
    G = J @ np.linalg.solve(M, J.T)
    g = J @ data.qacc_smooth - data.efc_aref
    problem = stiction.ContactProblem(0.5 * (G + G.T)[np.ix_(rows, rows)], g[rows], sets=sets)
    return problem, rows


@pytest.mark.parametrize("impratio", [1.0, 10.0])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_mujoco_finds_the_same_forces(cone: str, impratio: float) -> None:
    compared, modes = 0, set()
    for model, data in solo12_frames(cone, impratio):
        if data.nefc == 0:
            continue
        problem, rows = contact_space(model, data)
        ours = stiction.solve(problem, "ccp-newton", 1e-12, regularisation=data.efc_R[rows])
        theirs = data.efc_force[rows]
        assert ours.status in ("converged", "rounding_limited")
        assert np.abs(ours.impulse - theirs).max() <= 1e-6 * np.abs(theirs).max()
        compared += 1
        for s in problem.sets:
            force = theirs[s.offset : s.offset + s.dim]
            slides = s.dim == 3 and np.hypot(*force[:2]) > 0.999 * s.mu * force[2]
            modes.add("open" if force[-1] == 0.0 else "slide" if slides else "hold")
    assert compared >= 15
    assert modes >= ({"open", "slide", "hold"} if cone == "elliptic" else {"open", "hold"})


# --- settings ---------------------------------------------------------------------------


def test_regularisation_by_rule_and_given() -> None:
    A = np.random.default_rng(2).normal(size=(7, 7))
    G = A @ A.T
    sets = [
        stiction.ContactCone(0.5),
        stiction.NonNegative(),
        stiction.BoxSet(-0.1, 0.1),
        stiction.Free(2),
    ]
    problem = stiction.ContactProblem(G, A @ np.ones(7), sets=sets)

    def added(**options: object) -> Floats:
        found = stiction.solve(problem, "ccp-newton", **options).regularisation
        assert found is not None
        return found

    normal = np.linalg.norm(G[:3, :3]) / (4 * np.pi**2)
    rest = np.diag(G)[3:] / (4 * np.pi**2) * [1.0, 1e-3, 1e-3, 1e-3]
    np.testing.assert_allclose(
        added(regularisation_weight=2.0), 2.0 * np.r_[1e-3 * normal, 1e-3 * normal, normal, rest]
    )
    np.testing.assert_allclose(
        added(regularisation="diagonal", regularisation_weight=0.1), 0.1 * np.diag(G)
    )
    given = np.linspace(0.1, 0.7, 7)
    np.testing.assert_array_equal(added(regularisation=given), given)
    for solver in ("ccp-admm", "ccp-pgs"):
        assert stiction.solve(problem, solver).regularisation is None
    with pytest.raises(ValueError, match="regularisation has 6 rows: the problem has 7"):
        added(regularisation=given[:6])
    with pytest.raises(ValueError, match="given by row, but the rows of a step change"):
        stiction.Simulator(stiction.load("solo12"), solver="ccp-newton", regularisation=given)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_robot_stands_and_can_be_restored(solver: str) -> None:
    """The state holds all that the next step depends on, also the penalty of ADMM."""
    sim = stiction.Simulator(stiction.load("solo12"), solver=solver)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    for _ in range(100):
        assert sim.step(state, control).solver_status == "converged"
    saved = state.save()
    sim.step(state, control)
    again = stiction.State(saved)
    other = stiction.Simulator(stiction.load("solo12"), solver=solver)
    other.step(again, control)
    assert again == state
    assert 0.2 < float(state.q[2]) < 0.3
