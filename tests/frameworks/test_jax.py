"""stiction.jax: values, gradients against differences, transformations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import stiction
from problems import PAIRS, matrix, moment, shapes

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import stiction.jax as stj  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

SCENES = ["cartpole", "solo12"]


@pytest.mark.parametrize("name", SCENES)
def test_a_step(name: str) -> None:
    sim, given, state = moment(name)
    step = stj.make_step(sim, state)
    q, v = step(*given)
    end = state.copy()  # of the same q, its quaternion of unit length
    end.v = given[1]
    control = sim.hold()
    control.torque = given[2]
    sim.step(end, control)
    np.testing.assert_allclose(q, end.q, atol=1e-14)
    np.testing.assert_allclose(v, end.v, atol=1e-12)
    check_grads(step, given, order=1, modes=["rev"], eps=1e-8, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", SCENES)
def test_a_rollout(name: str) -> None:
    sim, given, state = moment(name, rows=20)
    rollout = stj.make_rollout(sim, state)
    q, v = rollout(*given)
    assert q.shape == (21, sim.scene.nq) and v.shape == (21, sim.scene.nv)
    check_grads(rollout, given, order=1, modes=["rev"], eps=1e-6, atol=1e-5, rtol=1e-5)


def test_the_gradient_of_a_rollout_is_that_of_its_steps() -> None:
    sim, (q0, v0, taus), _ = moment("cartpole", rows=10)
    step, rollout = stj.make_step(sim), stj.make_rollout(sim)

    def by_steps(taus):
        q, v = q0, v0
        for tau in taus:
            q, v = step(q, v, tau)
        return (q**2).sum() + (v**3).sum()

    def at_once(taus):
        q, v = rollout(q0, v0, taus)
        return (q[-1] ** 2).sum() + (v[-1] ** 3).sum()

    expected = jax.grad(by_steps)(taus)
    np.testing.assert_allclose(jax.jit(jax.grad(at_once))(taus), expected, rtol=1e-9)


def test_many_at_a_time_and_single_precision() -> None:
    sim, (q, v, tau), _ = moment("cartpole")
    step = stj.make_step(sim)
    many = jax.vmap(step, in_axes=(None, None, 0))(q, v, np.stack([tau, 2 * tau]))
    np.testing.assert_array_equal(many[1][1], step(q, v, 2 * tau)[1])
    single = step(*(jax.numpy.asarray(x, "float32") for x in (q, v, tau)))
    assert single[0].dtype == "float32"


def test_what_has_no_derivatives_is_refused() -> None:
    sim = stiction.Simulator(stiction.load("four-bar"), project_closures=True)
    rollout, q = stj.make_rollout(sim), sim.initial_state().q
    nv = sim.scene.nv
    with pytest.raises(Exception, match="project_closures moves the state"):
        jax.grad(lambda t: rollout(q, np.zeros(nv), t)[1].sum())(np.zeros((3, nv)))


@pytest.mark.parametrize("pair", PAIRS)
def test_a_distance(pair: str) -> None:
    a, b, poses = shapes(pair)
    gap = stj.make_distance(a, b)
    found = stiction.distance(a, matrix(poses[0]), b, matrix(poses[1]))
    for x, y in zip(
        gap(*poses), (found.distance, found.witness_a, found.witness_b, found.normal), strict=True
    ):
        np.testing.assert_allclose(x, y, atol=1e-14)
    check_grads(gap, poses, order=1, modes=["rev"], eps=1e-5, atol=1e-6, rtol=1e-6)
    slope = jax.jit(jax.grad(lambda pose: gap(pose, poses[1])[0]))(poses[0])
    np.testing.assert_allclose(slope[:3], -found.normal, atol=1e-9)
    many = jax.vmap(gap, in_axes=(0, None))(np.stack([poses[0], poses[0]]), poses[1])
    assert many[0].shape == (2,) and many[3].shape == (2, 3)


def test_the_page_runs_as_written() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/derivatives.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python jax\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(block, {"__name__": "__main__"})
