"""What the wrappers for JAX and PyTorch share, without these."""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction import autodiff
from torch_stand_in import Function, Tensor, stand_in


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


PAIRS = [
    (stiction.Ellipsoid([0.1, 0.2, 0.3]), stiction.Ellipsoid([0.2, 0.1, 0.15]), 0.7),
    (stiction.Sphere(0.1), stiction.Box([0.3, 0.4, 0.5]), 0.9),
    (stiction.HalfSpace(), stiction.Capsule(0.1, 0.2), 0.8),
    (stiction.Sphere(0.3), stiction.Ellipsoid([0.1, 0.2, 0.3]), 0.35),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_distance_agrees_with_differences(
    pair: tuple[stiction.Shape, stiction.Shape, float],
) -> None:
    """Poses with quaternions not of unit length; by both poses and each of the four outputs."""
    a, b, apart = pair
    f, rng = autodiff.DistanceFunction(a, b), np.random.default_rng(5)
    along = np.array([0.3, 0.4, np.sqrt(0.75)])
    poses = [np.array([0.1, -0.2, 0.3, *rng.normal(size=4)]) for _ in range(2)]
    poses[1][:3] += apart * (autodiff._matrix(poses[0])[:3, 2] if apart == 0.8 else along)
    value = f.value(*poses)
    found = stiction.distance(a, autodiff._matrix(poses[0]), b, autodiff._matrix(poses[1]))
    assert value[0] == found.distance and value[0].shape == ()
    np.testing.assert_array_equal(value[3], found.normal)
    for output in range(4):
        by = [np.zeros_like(x) for x in value]
        by[output] = rng.normal(size=value[output].shape)
        gradient = f.vjp(*poses, *by)
        for moved in range(2):
            d = rng.normal(size=7)
            errors = []
            for h in (1e-4, 1e-5, 1e-6):
                ends = []
                for sign in (1, -1):
                    at = list(poses)
                    at[moved] = poses[moved] + sign * h * d
                    ends.append(np.sum(by[output] * f.value(*at)[output]))
                errors.append(abs((ends[0] - ends[1]) / (2 * h) - gradient[moved] @ d))
            assert min(errors) < 1e-7, (output, moved, errors)


def test_a_distance_refuses_what_its_method_does_not_read() -> None:
    a, b = stiction.Sphere(0.1), stiction.Box([0.3, 0.4, 0.5])
    with pytest.raises(ValueError, match="samples"):
        autodiff.DistanceFunction(a, b, samples=10)
    with pytest.raises(ValueError, match="method"):
        autodiff.DistanceFunction(a, b, "exactly")


def test_arguments_are_refused_by_name() -> None:
    sim = stiction.Simulator(stiction.load("cartpole"))
    f, z = autodiff.ArrayFunction(sim), np.zeros
    sphere = stiction.Sphere(0.1)
    between, pose = autodiff.DistanceFunction(sphere, sphere), np.eye(7)[6]
    calls: dict[str, Callable[[], object]] = {
        "tau has shape (1,): must be (2,)": lambda: f.step(z(2), z(2), z(1)),
        "tau has shape (3,): must be (2,)": lambda: f.step_vjp(z(2), z(2), z(3), z(2), z(2)),
        "q has shape (3,): must be (2,)": lambda: f.step(z(3), z(2), z(2)),
        "v[1] = nan: must be finite": lambda: f.step(z(2), np.array([0.0, np.nan]), z(2)),
        "taus has shape (4, 1): must be (T, 2)": lambda: f.rollout(z(2), z(2), z((4, 1))),
        "taus has shape (2,): must be (T, 2)": lambda: f.rollout_vjp(z(2), z(2), z(2), z(1), z(1)),
        "pose_a has shape (6,): must be (7,), x y z and a": lambda: between.value(z(6), pose),
        "pose_b[3:] = [0, 0, 0, 0]: must be a quaternion": lambda: between.vjp(pose, z(7), z(1)),
        "sim = 'abc': must be a Simulator": lambda: autodiff.ArrayFunction("abc"),  # type: ignore[arg-type]
        "state = 3: must be a State": lambda: autodiff.ArrayFunction(sim, 3),  # type: ignore[arg-type]
        "control = 3: must be a Control": lambda: autodiff.ArrayFunction(sim, None, 3),  # type: ignore[arg-type]
        "checkpoint_every = -1: must": lambda: autodiff.ArrayFunction(sim, checkpoint_every=-1),
        "b = 3: must be a Shape": lambda: autodiff.DistanceFunction(sphere, 3),  # type: ignore[arg-type]
    }
    for text, call in calls.items():
        with pytest.raises((TypeError, ValueError), match=re.escape(text)):
            call()
    ball = autodiff.ArrayFunction(stiction.Simulator(stiction.load("box-stack", n=1)))
    with pytest.raises(ValueError, match=re.escape("q[3:7] is zero: must be a quaternion")):
        ball.step(z(7), z(6), z(6))


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_what_is_missing_names_its_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"stiction.{name}", raising=False)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        importlib.import_module(f"stiction.{name}")


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """`stiction.torch` over the stand-in."""
    monkeypatch.setitem(sys.modules, "torch", stand_in())
    monkeypatch.delitem(sys.modules, "stiction.torch", raising=False)
    yield importlib.import_module("stiction.torch")
    del sys.modules["stiction.torch"]


def test_torch_passes_arrays_on(torch: types.ModuleType) -> None:
    """With a stand-in for PyTorch: numbers, types and order of what goes through."""
    sim, rng = stiction.Simulator(stiction.load("cartpole")), np.random.default_rng(3)
    own = autodiff.ArrayFunction(sim)
    a, b, _ = PAIRS[0]
    between = autodiff.DistanceFunction(a, b)
    pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    q, v = rng.normal(size=2), rng.normal(size=2)
    for made, value, vjp, given in (
        (torch.make_step(sim), own.step, own.step_vjp, (q, v, rng.normal(size=2))),
        (torch.make_rollout(sim), own.rollout, own.rollout_vjp, (q, v, rng.normal(size=(4, 2)))),
        (torch.make_distance(a, b), between.value, between.vjp, (pose, pose + 1.0)),
    ):
        for dtype in (np.float64, np.float32):
            given = [x.astype(dtype) for x in given]
            found = made(*map(Tensor, given))
            expected = value(*(x.astype(float) for x in given))
            by = [rng.normal(size=x.shape).astype(dtype) for x in expected]
            function, context = Function.last
            back = function.backward(context, *map(Tensor, by))
            wanted = vjp(*(x.astype(float) for x in (*given, *by)))
            assert len(found) == len(expected) and len(back) == len(given)
            for one, other in zip((*found, *back), (*expected, *wanted), strict=True):
                assert one.dtype == dtype
                np.testing.assert_array_equal(one.values, np.asarray(other, dtype))


def test_the_page_on_torch_runs_as_written(torch: types.ModuleType) -> None:
    """Its block gives the gradient that the adjoint of the same rollout gives."""
    page = Path(__file__).resolve().parents[2] / "docs" / "derivatives.md"
    block = re.search(r"^```python torch\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    assert block is not None
    names: dict[str, object] = {}
    exec(compile(block.group(1), page.name, "exec"), names)
    own = autodiff.ArrayFunction(stiction.Simulator(stiction.load("cartpole")))
    given = tuple(names[x].values for x in ("q", "v", "taus"))
    q, v = own.rollout(*given)
    by = np.zeros_like(q)
    by[-1] = 2.0 * q[-1]
    wanted = own.rollout_vjp(*given, by, 0.0 * v)[2] + 2e-3 * given[2]
    np.testing.assert_allclose(names["taus"].grad.values, wanted, rtol=1e-12)
