"""Derivatives of the steps of many worlds, beside a Simulator's of each."""

import numpy as np
import pytest
import stiction


def moving(batch, rng):
    """Worlds that stand, slide, fly, each with its control, friction and gains."""
    n, nv = batch.num_worlds, batch.scene.nv
    batch.torque[:] = rng.normal(scale=0.3, size=(n, nv))
    batch.position_target[:, 6:] += rng.uniform(-0.3, 0.3, (n, nv - 6))
    batch.assign("friction", rng.uniform(0.2, 1.0, n))
    gains = batch.values("kp")
    batch.assign("kp", gains * rng.uniform(0.5, 4.0, (n, 1)))
    batch.v[:, :3] = rng.normal(scale=0.3, size=(n, 3))
    batch.q[: n // 4, 2] += 0.1  # in the air
    batch.step(8)


@pytest.mark.parametrize("threads", [1, 3])
def test_jacobians_are_a_simulators(threads):
    batch = stiction.Batch(
        stiction.load("solo12"), 11, dt=2e-3, threads=threads, configuration="standing"
    )
    rng = np.random.default_rng(1)
    moving(batch, rng)
    q, v, time = batch.q.copy(), batch.v.copy(), batch.time.copy()
    got = batch.step_derivatives()
    w = rng.normal(size=(11, 36))
    gradients = batch.vjp(w)
    assert np.array_equal(batch.q, q) and np.array_equal(batch.v, v)
    assert np.array_equal(batch.time, time)
    contacts = set()
    for world in range(11):
        sim, state = batch.simulator(world), batch.state(world)
        sim.step(state, batch.control(world))
        d = sim.step_derivatives()
        assert np.array_equal(got.A[world], d.A) and np.array_equal(got.B[world], d.B)
        assert got.exact[world] == gradients.exact[world] == d.report.exact
        contacts.add(len(sim.contacts()))
        J = np.concatenate([d.A, d.B], axis=1).T @ w[world]
        g = np.concatenate([gradients.q[world], gradients.v[world], gradients.torque[world]])
        assert np.abs(J - g).max() < 1e-11 * (1.0 + np.abs(J).max())
    assert len(contacts) >= 3


def test_masks_leave_worlds_out():
    batch = stiction.Batch(stiction.load("solo12"), 5, dt=2e-3, configuration="standing")
    moving(batch, np.random.default_rng(2))
    mask = np.array([True, False, True, False, False])
    whole, some = batch.step_derivatives(), batch.step_derivatives(mask)
    assert np.array_equal(whole.A[mask], some.A[mask]) and (some.A[~mask] == 0.0).all()
    assert (whole.B != 0.0).any(axis=(1, 2)).all() and not some.exact[~mask].any()
    g = batch.vjp(np.ones(36), mask)
    assert (g.q[~mask] == 0.0).all() and (g.q[mask] != 0.0).any(axis=1).all()


def test_scenes_without_lanes_have_them_too():
    batch = stiction.Batch(stiction.load("box-stack(3)"), 3, dt=5e-3, threads=2)
    assert not batch.lanes
    batch.v[:] = np.random.default_rng(3).normal(scale=0.1, size=batch.v.shape)
    batch.step(3)
    got = batch.step_derivatives()
    for world in range(3):
        sim, state = batch.simulator(world), batch.state(world)
        sim.step(state, batch.control(world))
        assert np.array_equal(got.A[world], sim.step_derivatives().A)


def test_a_world_that_failed_has_nan_alone():
    batch = stiction.Batch(stiction.load("solo12"), 4, dt=2e-3, configuration="standing")
    before = batch.step_derivatives()
    batch.v[2, 0] = np.nan
    batch.step()
    batch.reset(np.arange(4) != 2)
    after, g = batch.step_derivatives(), batch.vjp(np.ones(36))
    keep = [0, 1, 3]
    assert np.array_equal(after.A[keep], before.A[keep])
    assert after.exact.tolist() == before.exact.tolist()[:2] + [False] + before.exact.tolist()[3:]
    assert np.isfinite(g.q[keep]).all() and not g.exact[2]


def test_errors_name_the_world_or_the_argument():
    scene = stiction.load("solo12")
    batch = stiction.Batch(scene, 2, dt=2e-3)
    with pytest.raises(ValueError, match=r"w has shape \(35,\): must be \(2, 36\) or \(36,\)"):
        batch.vjp(np.ones(35))
    with pytest.raises(ValueError, match="w = None"):
        batch.vjp(None)
    with pytest.raises(TypeError, match="mask has dtype int64"):
        batch.step_derivatives(np.array([1, 0]))
    raisim = stiction.Batch(scene, 2, dt=2e-3, solver="raisim", configuration="standing")
    with pytest.raises(ValueError, match=r"world 0: .*raisim"):
        raisim.step_derivatives()
