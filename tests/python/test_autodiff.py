"""What the wrappers for JAX and PyTorch share, without these."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pinocchio
import pytest
import stiction
from stiction import autodiff


def ball_and_hinge() -> stiction.Scene:
    """A free body that carries a ball joint and a hinge without end stops."""
    model = pinocchio.Model()
    pinocchio.seed(1)
    at, inertia = pinocchio.SE3.Random(), pinocchio.Inertia.Random()
    root = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "root")
    ball = model.addJoint(root, pinocchio.JointModelSpherical(), at, "ball")
    hinge = model.addJoint(ball, pinocchio.JointModelRUBZ(), at, "hinge")
    for joint in (root, ball, hinge):
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    return stiction.Scene(model, name="parts")


def somewhere(scene: stiction.Scene, rng: np.random.Generator) -> np.ndarray:
    q = stiction.Simulator(scene).initial_state().q
    return stiction.integrate(scene, q, rng.normal(size=scene.nv))


def test_gradients_by_coordinates_and_tangents() -> None:
    scene, rng = ball_and_hinge(), np.random.default_rng(1)
    assert {joint.type for joint in scene.joints} == {"free_flyer", "spherical", "continuous"}
    q, h = somewhere(scene, rng), 1e-6
    by_q, x = rng.normal(size=scene.nq), rng.normal(size=scene.nv)
    ends = [by_q @ stiction.integrate(scene, q, step * x) for step in (h, -h)]
    found = autodiff.tangent(scene, q, by_q) @ x
    assert abs(found - (ends[0] - ends[1]) / (2 * h)) < 1e-8
    by_tangent, d = rng.normal(size=scene.nv), rng.normal(size=scene.nq)

    def cost(step: float) -> float:
        moved = autodiff.unit(scene, q + step * d)
        return float(by_tangent @ stiction.difference(scene, q, moved))

    found = autodiff.coordinates(scene, q, by_tangent)
    assert abs(found @ d - (cost(h) - cost(-h)) / (2 * h)) < 1e-8
    np.testing.assert_allclose(autodiff.tangent(scene, q, found), by_tangent, atol=1e-14)


def test_a_step_and_a_rollout_agree_with_differences() -> None:
    """At quaternions that are not of unit length."""
    sim = stiction.Simulator(ball_and_hinge(), tolerance=1e-13)
    f, rng = autodiff.ArrayFunction(sim), np.random.default_rng(2)
    nq, nv = sim.scene.nq, sim.scene.nv
    q, v = 1.2 * somewhere(sim.scene, rng), rng.normal(size=nv)
    for value, vjp, rows, ends in (
        (f.step, f.step_vjp, (), ()),
        (f.rollout, f.rollout_vjp, (20,), (21,)),
    ):
        given = (q, v, rng.normal(size=(*rows, nv)))
        by = (rng.normal(size=(*ends, nq)), rng.normal(size=(*ends, nv)))
        found = vjp(*given, *by)
        d = [rng.normal(size=x.shape) for x in given]

        def cost(step: float, given=given, d=d, value=value, by=by) -> float:
            moved = [x + step * y for x, y in zip(given, d, strict=True)]
            return sum(np.sum(a * b) for a, b in zip(value(*moved), by, strict=True))

        along = sum(np.sum(a * b) for a, b in zip(found, d, strict=True))
        scale = sum(np.abs(a * b).sum() for a, b in zip(found, d, strict=True))
        errors = [abs((cost(h) - cost(-h)) / (2 * h) - along) for h in (1e-4, 1e-5, 1e-6)]
        assert min(errors) < 1e-8 * scale


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_what_is_missing_names_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"stiction.{name}", raising=False)
    with pytest.raises(ImportError, match=rf'pip install "stiction\[{name}\]"'):
        importlib.import_module(f"stiction.{name}")
