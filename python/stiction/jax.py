"""Steps and rollouts as differentiable functions of JAX arrays: the extra `stiction[jax]`.

    step = stiction.jax.make_step(sim)
    gradient = jax.grad(lambda tau: cost(*step(q, v, tau)))

They are callbacks on the host: `jit`, `grad` and `vmap` (one after the other) work, forward mode
and second derivatives do not. Gradients of q are of its nq coordinates. Quaternions are divided by
their length first, so their gradient has no part along them: a step of an optimiser should be
followed by a division. The simulator computes in double precision: `jax_enable_x64` keeps it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._stiction import Control, State
from .autodiff import ArrayFunction
from .simulator import Simulator

try:
    import jax
except ImportError as error:
    raise ImportError('stiction.jax needs JAX: pip install "stiction[jax]"') from error

__all__ = ["make_rollout", "make_step"]

Function = Callable[[Any, Any, Any], tuple[Any, Any]]


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


def _function(
    value: Callable[..., Any], vjp: Callable[..., Any], shapes: Callable[..., Any]
) -> Function:
    def call(host: Callable[..., Any], likes: Any, *given: Any) -> Any:
        def run(*arrays: Any) -> Any:
            found = host(*(np.asarray(x, dtype=float) for x in arrays))
            return tuple(np.asarray(x, one.dtype) for x, one in zip(found, likes, strict=True))

        return jax.pure_callback(run, likes, *given, vmap_method="sequential")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def made(q: Any, v: Any, tau: Any) -> Any:
        likes = tuple(jax.ShapeDtypeStruct(shape, q.dtype) for shape in shapes(q, v, tau))
        return call(value, likes, q, v, tau)

    def backward(given: Any, by: Any) -> Any:
        likes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in given)
        return call(vjp, likes, *given, *by)

    made.defvjp(lambda q, v, tau: (made(q, v, tau), (q, v, tau)), backward)

    def function(q: Any, v: Any, tau: Any) -> tuple[Any, Any]:
        given = (jax.numpy.asarray(x, jax.numpy.result_type(float, x)) for x in (q, v, tau))
        q_next, v_next = made(*given)
        return q_next, v_next

    return function
