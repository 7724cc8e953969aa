"""As much of PyTorch as `stiction.torch` and the manual touch: arrays that know their origin."""

from __future__ import annotations

import types
from collections.abc import Callable

import numpy as np

Pull = Callable[[np.ndarray], object]


class Tensor:
    """An array, and what a gradient by it is by the tensors it was made of."""

    device = "cpu"

    def __init__(
        self, values: object, dtype: object = None, origin: tuple[tuple[Tensor, Pull], ...] = ()
    ) -> None:
        self.values = np.asarray(values, dtype=dtype)
        self.origin = origin
        self.grad: Tensor | None = None

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def detach(self) -> Tensor:
        return Tensor(self.values)

    cpu = detach

    def double(self) -> Tensor:
        return Tensor(self.values, float)

    def numpy(self) -> np.ndarray:
        return self.values

    def square(self) -> Tensor:
        return Tensor(self.values**2, None, ((self, lambda by: 2.0 * self.values * by),))

    def sum(self) -> Tensor:
        return Tensor(self.values.sum(), None, ((self, lambda by: by + 0.0 * self.values),))

    def __getitem__(self, row: int) -> Tensor:
        def placed(by: np.ndarray) -> np.ndarray:
            whole = np.zeros(self.shape)
            whole[row] = by
            return whole

        return Tensor(self.values[row], None, ((self, placed),))

    def __add__(self, other: Tensor) -> Tensor:
        return Tensor(
            self.values + other.values, None, ((self, lambda by: by), (other, lambda by: by))
        )

    def __rmul__(self, factor: float) -> Tensor:
        return Tensor(factor * self.values, None, ((self, lambda by: factor * by),))

    def backward(self, by: object = 1.0) -> None:
        """Adds to `grad` of all it was made of, one path after the other."""
        by = np.asarray(by)
        self.grad = Tensor(by if self.grad is None else self.grad.values + by)
        for tensor, pull in self.origin:
            tensor.backward(pull(by))


class Context:
    def save_for_backward(self, *given: Tensor) -> None:
        self.saved_tensors = given


class Function:
    """Forwards; one gradient at a time goes back, those of the other answers are zero."""

    last: tuple[type, Context]

    @classmethod
    def apply(cls, *given: Tensor) -> tuple[Tensor, ...]:
        context = Context()
        Function.last = (cls, context)
        found = cls.forward(context, *given)

        def pull(answer: int, argument: int) -> Pull:
            def back(by: np.ndarray) -> np.ndarray:
                of = [Tensor(by if i == answer else 0.0 * x.values) for i, x in enumerate(found)]
                return cls.backward(context, *of)[argument].values

            return back

        for i, x in enumerate(found):
            x.origin = tuple((tensor, pull(i, k)) for k, tensor in enumerate(given))
        return found


def stand_in() -> types.ModuleType:
    """The module."""
    torch = types.ModuleType("torch")
    torch.float64 = np.float64
    torch.autograd = types.SimpleNamespace(
        Function=Function, function=types.SimpleNamespace(once_differentiable=lambda f: f)
    )
    torch.as_tensor = lambda x, dtype, device: Tensor(x, dtype)
    torch.tensor = lambda x, dtype=None, requires_grad=False: Tensor(x, dtype)
    torch.ones = lambda shape, dtype, requires_grad: Tensor(np.ones(shape), dtype)
    return torch
