"""Steps, rollouts and distances as differentiable functions of PyTorch tensors: the extra
`stiction[torch]`.

    step = stiction.torch.make_step(sim)
    q1, v1 = step(q0, v0, tau)  # backward() works
    gap, *_ = stiction.torch.make_distance(a, b)(pose_a, pose_b)  # likewise

Gradients of q are of its nq coordinates. Quaternions are divided by their length first, so their
gradient has no part along them: a step of an optimiser should be followed by a division. Tensors of
any floating type; the simulator computes in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._stiction import Control, Shape, State
from .autodiff import ArrayFunction, DistanceFunction
from .simulator import Simulator

try:
    import torch
except ImportError as error:
    raise ImportError("stiction.torch needs PyTorch: pip install torch") from error

__all__ = ["make_distance", "make_rollout", "make_step"]

Function = Callable[..., tuple[Any, ...]]


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


def make_distance(a: Shape, b: Shape, method: str = "exact", **settings: Any) -> Function:
    """(pose_a (7,), pose_b (7,)) -> (distance (), witness_a (3,), witness_b (3,), normal (3,)); of
    poses x y z and a quaternion x y z w; arguments of `DistanceFunction`."""
    f = DistanceFunction(a, b, method, **settings)
    return _function(f.value, f.vjp)


def _function(value: Callable[..., Any], vjp: Callable[..., Any]) -> Function:
    class Made(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            ctx.save_for_backward(*given)
            return tuple(_like(x, given[0]) for x in value(*map(_array, given)))

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, *by: Any) -> Any:
            given = ctx.saved_tensors
            found = vjp(*map(_array, (*given, *by)))
            return tuple(_like(x, one) for x, one in zip(found, given, strict=True))

    def function(*given: Any) -> tuple[Any, ...]:
        return tuple(Made.apply(*given))

    return function


def _array(x: Any) -> Any:
    return x.detach().cpu().double().numpy()


def _like(x: Any, tensor: Any) -> Any:
    return torch.as_tensor(x, dtype=tensor.dtype, device=tensor.device)
