"""Steps and rollouts as differentiable functions of PyTorch tensors: the extra `stiction[torch]`.

    step = stiction.torch.make_step(sim)
    q1, v1 = step(q0, v0, tau)  # backward() works

Gradients of q are of its nq coordinates. Quaternions are divided by their length first, so their
gradient has no part along them: a step of an optimiser should be followed by a division. Tensors of
any floating type; the simulator computes in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._stiction import Control, State
from .autodiff import ArrayFunction
from .simulator import Simulator

try:
    import torch
except ImportError as error:
    raise ImportError('stiction.torch needs PyTorch: pip install "stiction[torch]"') from error

__all__ = ["make_rollout", "make_step"]

Function = Callable[[Any, Any, Any], tuple[Any, Any]]


def make_step(
    sim: Simulator, state: State | None = None, control: Control | None = None
) -> Function:
    """(q (nq,), v (nv,), tau (nv,)) -> (q+, v+), one step; arguments of `ArrayFunction`."""
    f = ArrayFunction(sim, state, control)
    return _function(f.step, f.step_vjp)


def make_rollout(
    sim: Simulator,
    state: State | None = None,
    control: Control | None = None,
    checkpoint_every: int = 0,
) -> Function:
    """(q (nq,), v (nv,), taus (T, nv)) -> (q (T + 1, nq), v (T + 1, nv)); likewise."""
    f = ArrayFunction(sim, state, control, checkpoint_every)
    return _function(f.rollout, f.rollout_vjp)


def _function(value: Callable[..., Any], vjp: Callable[..., Any]) -> Function:
    class Made(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, q: Any, v: Any, tau: Any) -> Any:
            ctx.save_for_backward(q, v, tau)
            return tuple(_like(x, q) for x in value(*map(_array, (q, v, tau))))

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, by_q: Any, by_v: Any) -> Any:
            given = ctx.saved_tensors
            found = vjp(*map(_array, (*given, by_q, by_v)))
            return tuple(_like(x, one) for x, one in zip(found, given, strict=True))

    def function(q: Any, v: Any, tau: Any) -> tuple[Any, Any]:
        q_next, v_next = Made.apply(q, v, tau)
        return q_next, v_next

    return function


def _array(x: Any) -> Any:
    return x.detach().cpu().double().numpy()


def _like(x: Any, tensor: Any) -> Any:
    return torch.as_tensor(x, dtype=tensor.dtype, device=tensor.device)
