"""Steps, rollouts and distances as differentiable functions of JAX arrays: the extra
`stiction[jax]`.

    step = stiction.jax.make_step(sim)
    gradient = jax.grad(lambda tau: cost(*step(q, v, tau)))
    gap = stiction.jax.make_distance(a, b)
    slope = jax.grad(lambda pose: gap(pose, pose_b)[0])(pose_a)

They are callbacks on the host: `jit`, `grad` and `vmap` (one after the other) work, forward mode
and second derivatives do not. Gradients of q are of its nq coordinates. Quaternions are divided by
their length first, so their gradient has no part along them: a step of an optimiser should be
followed by a division. The simulator computes in double precision: `jax_enable_x64` keeps it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._stiction import Control, Shape, State
from .autodiff import ArrayFunction, DistanceFunction
from .simulator import Simulator

try:
    import jax
except ImportError as error:
    raise ImportError("stiction.jax needs JAX: pip install jax") from error

__all__ = ["make_distance", "make_rollout", "make_step"]

Function = Callable[..., tuple[Any, ...]]


def make_step(
    sim: Simulator, state: State | None = None, control: Control | None = None
) -> Function:
    """(q (nq,), v (nv,), tau (nv,)) -> (q+, v+), one step; arguments of `ArrayFunction`."""
    f = ArrayFunction(sim, state, control)
    return _function(f.step, f.step_vjp, lambda q, v, tau: (q.shape, v.shape))


def make_rollout(
    sim: Simulator,
    state: State | None = None,
    control: Control | None = None,
    checkpoint_every: int = 0,
) -> Function:
    """(q (nq,), v (nv,), taus (T, nv)) -> (q (T + 1, nq), v (T + 1, nv)); likewise."""
    f = ArrayFunction(sim, state, control, checkpoint_every)

    def shapes(q: Any, v: Any, taus: Any) -> tuple[Any, Any]:
        rows = (taus.shape[0] + 1,)
        return rows + q.shape, rows + v.shape

    return _function(f.rollout, f.rollout_vjp, shapes)


def make_distance(a: Shape, b: Shape, method: str = "exact", **settings: Any) -> Function:
    """(pose_a (7,), pose_b (7,)) -> (distance (), witness_a (3,), witness_b (3,), normal (3,)); of
    poses x y z and a quaternion x y z w; arguments of `DistanceFunction`."""
    f = DistanceFunction(a, b, method, **settings)
    return _function(f.value, f.vjp, lambda pose_a, pose_b: ((), (3,), (3,), (3,)))


def _function(
    value: Callable[..., Any], vjp: Callable[..., Any], shapes: Callable[..., Any]
) -> Function:
    def call(host: Callable[..., Any], likes: Any, *given: Any) -> Any:
        def run(*arrays: Any) -> Any:
            found = host(*(np.asarray(x, dtype=float) for x in arrays))
            return tuple(np.asarray(x, one.dtype) for x, one in zip(found, likes, strict=True))

        return jax.pure_callback(run, likes, *given, vmap_method="sequential")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def made(*given: Any) -> Any:
        likes = tuple(jax.ShapeDtypeStruct(shape, given[0].dtype) for shape in shapes(*given))
        return call(value, likes, *given)

    def backward(given: Any, by: Any) -> Any:
        likes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in given)
        return call(vjp, likes, *given, *by)

    made.defvjp(lambda *given: (made(*given), given), backward)

    def function(*given: Any) -> tuple[Any, ...]:
        return tuple(made(*(jax.numpy.asarray(x, jax.numpy.result_type(float, x)) for x in given)))

    return function
