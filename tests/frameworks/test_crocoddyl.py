"""stiction.crocoddyl: action models against Crocoddyl's differences, and solutions that improve."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import stiction
from problems import moment, simulator

crocoddyl = pytest.importorskip("crocoddyl")

import stiction.crocoddyl as stc  # noqa: E402


def cube() -> tuple[stiction.Simulator, np.ndarray]:
    """A box that slides and turns over the ground."""
    scene = stiction.Scene(name="cube")
    scene.add_ground()
    at = np.eye(4)
    at[2, 3] = 0.05
    scene.add_body("cube", stiction.Box([0.05, 0.06, 0.05]), 0.5, at, stiction.Material(0.4))
    sim = stiction.Simulator(scene, tolerance=1e-13, baumgarte=1.0)
    turn = [0, 0, 0, 0.02, 0.03, 0.1]
    q = stiction.integrate(scene, sim.initial_state().q, turn)
    corners = np.array(np.meshgrid(*[(-h, h) for h in (0.05, 0.06, 0.05)])).reshape(3, -1)
    q[2] = -1e-6 - (stc.pinocchio.Quaternion(q[3:7]).matrix() @ corners)[2].min()  # one touches
    return sim, np.r_[q, 0.6, 0.2, -0.05, 0.3, -0.2, 0.4]


def subject(name: str) -> tuple[stiction.Simulator, np.ndarray, stiction.State | None]:
    if name == "cube":
        return *cube(), None
    sim, (q, v, _), state = moment("solo12")
    q[3:7] /= np.linalg.norm(q[3:7])
    if name == "air":
        q[2] += 0.5
    return sim, np.r_[q, v], None if name == "air" else state


@pytest.mark.parametrize("wrt", ["torque", "position_target"])
@pytest.mark.parametrize("name", ["solo12", "air", "cube"])
def test_action_against_differences(name: str, wrt: str) -> None:
    sim, x, start = subject(name)
    manifold = stc.make_state_manifold(sim.scene)
    rng = np.random.default_rng(2)
    nv = sim.scene.nv
    dofs = np.arange(nv)[6:] if name != "cube" else np.arange(nv)
    u = 0.1 * rng.normal(size=len(dofs))
    if wrt == "position_target":
        u += np.array(sim.hold().position_target)[dofs]
    goal = manifold.integrate(x, rng.uniform(-0.3, 0.3, 2 * nv))
    cost = stc.tracking(manifold, goal, rng.uniform(0.5, 2, 2 * nv), 0.1, 0.3)
    model = stc.ActionModel(sim, [cost], dofs, wrt, start=start, state=manifold)
    differences = crocoddyl.ActionModelNumDiff(model, False)
    differences.disturbance = 1e-10
    data, other = model.createData(), differences.createData()
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    differences.calc(other, x, u)
    differences.calcDiff(other, x, u)
    assert (sim.report().num_contacts > 0) == (name != "air")
    assert np.linalg.norm(data.Fu) > 0 or (name, wrt) == ("cube", "position_target")
    for field in ("Fx", "Fu", "Lx", "Lu"):
        exact, found = getattr(data, field), getattr(other, field)
        scale = max(1e-3, np.abs(exact).max())
        np.testing.assert_allclose(found, exact, atol=1e-4 * scale, err_msg=field)
    model.calc(data, x)
    model.calcDiff(data, x)
    assert np.linalg.norm(data.Lx) > 0


def test_small_steps_of_the_manifold_are_the_scenes() -> None:
    """To first order, which is what A and B are about; further away the manifold's are screws."""
    sim, x, _ = subject("solo12")
    manifold = stc.make_state_manifold(sim.scene)
    nq, nv = sim.scene.nq, sim.scene.nv
    step = 1e-6 * np.random.default_rng(0).uniform(-1, 1, 2 * nv)
    y = manifold.integrate(x, step)
    moved = stiction.integrate(sim.scene, x[:nq], step[:nv])
    np.testing.assert_allclose(y[:nq], moved, atol=1e-11)
    np.testing.assert_allclose(y[nq:], x[nq:] + step[nv:], atol=1e-14)


def test_solo12_reaches_a_posture_while_it_stands() -> None:
    sim = simulator("solo12")
    state = sim.initial_state()
    sim.run(state, steps=300)
    x = np.r_[state.q, state.v]
    goal = x.copy()
    goal[2] -= 0.02  # the base 2 cm lower
    goal[sim.scene.nq :] = 0
    nv = sim.scene.nv
    manifold = stc.make_state_manifold(sim.scene)
    running = np.r_[np.full(6, 1.0), np.zeros(nv - 6), np.full(nv, 0.01)]
    dofs = np.arange(6, nv)

    def make(weights: np.ndarray, u: float) -> stc.ActionModel:
        cost = stc.tracking(manifold, goal, weights, 0.0, u)
        return stc.ActionModel(sim, [cost], dofs, start=state, state=manifold)

    final = np.r_[np.full(6, 30.0), np.zeros(nv - 6), np.full(nv, 0.1)]
    problem = crocoddyl.ShootingProblem(x, [make(running, 0.01)] * 60, make(final, 0.0))
    solver = crocoddyl.SolverFDDP(problem)
    us = [np.zeros(len(dofs))] * 60
    before = problem.calc(problem.rollout(us), us)
    solver.solve(problem.rollout(us), us, 20, True)
    height = solver.xs[-1][2]
    print(
        f"cost {before:.4f} -> {solver.cost:.4f}, height off by {1e3 * (height - goal[2]):.2f} mm"
    )
    assert solver.cost < 0.5 * before
    assert abs(height - goal[2]) < 1e-2  # of 2e-2, in 60 ms


def test_the_manuals_code_runs_and_its_cart_arrives() -> None:
    page = (Path(__file__).parents[2] / "docs" / "derivatives.md").read_text(encoding="utf-8")
    section = page.split("## Into any DDP")[1].split("\n## ")[0]
    names: dict = {}
    for text in re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        exec(compile(text, "docs/derivatives.md", "exec"), names)
    assert np.abs(np.linalg.eigvals(names["A"] - names["B"] @ names["K"])).max() < 1
    assert abs(names["solver"].xs[-1][0] - 0.1) < 5e-3
