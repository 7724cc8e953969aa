"""Learned policies, without the library that they were learned with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._stiction import StictionError
from ..npz_file import ArrayFile

__all__ = ["CART_POLE", "GO2_TROT", "SOLO12_ROUGH", "SOLO12_TROT", "Policy"]

Singles = NDArray[np.float32]

SOLO12_TROT = Path(__file__).with_name("policies") / "solo12_trot.npz"
"""Of Solo12Velocity: 8.6 million control steps of examples/learning/ppo.py, seed 0."""
GO2_TROT = Path(__file__).with_name("policies") / "go2_trot.npz"
"""Of Go2Velocity, likewise."""
SOLO12_ROUGH = Path(__file__).with_name("policies") / "solo12_rough.npz"
"""Of Solo12Rough, likewise."""
CART_POLE = Path(__file__).with_name("policies") / "cart_pole.npz"
"""Of CartPole: 0.6 million control steps, seed 0."""


LARGEST = 256 << 20
"""Bytes that a stored policy may hold, unpacked: 64 million weights."""


class Policy:
    """A network of tanh layers from normalised observations to the mean of the action.

    Args:
        layers: (weight (out, in), bias (out,)) of each layer; the last one is linear.
        mean, scale: (in,) of observations, which are normalised by them and cut to [-10, 10].
    """

    def __init__(
        self, layers: list[tuple[Singles, Singles]], mean: Singles, scale: Singles
    ) -> None:
        size = len(mean)
        for k, (weight, bias) in enumerate(layers):
            if weight.shape != (len(bias), size):
                raise ValueError(
                    f"layer {k} has weights {weight.shape} and {len(bias)} biases: "
                    f"must be ({len(bias)}, {size})"
                )
            size = len(bias)
        self.layers, self.mean, self.scale = layers, mean, scale

    def __call__(self, observation: Singles) -> Singles:
        """(N, actions) from (N, observations), or of one world."""
        return self._through(observation, lambda x, weight: x @ weight.T)

    def row_by_row(self, observation: Singles) -> Singles:
        """The same but for rounding, and slower: no bit of a row depends on the other rows or on
        the threads of a library of matrix products."""
        return self._through(observation, lambda x, weight: np.einsum("...i,oi->...o", x, weight))

    def _through(self, observation: Singles, times: Callable[[Any, Any], Any]) -> Singles:
        if (size := np.shape(observation)[-1:]) != self.mean.shape:
            raise ValueError(
                f"observation has {size[0] if size else 'no'} columns: must have {len(self.mean)}, "
                "as the policy was learned"
            )
        x = np.clip((observation - self.mean) / self.scale, -10.0, 10.0)
        for weight, bias in self.layers[:-1]:
            x = np.tanh(times(x, weight) + bias)
        weight, bias = self.layers[-1]
        return np.asarray(times(x, weight) + bias, np.float32)

    def save(self, path: str | os.PathLike[str]) -> None:
        """As .npz: mean, scale, weight0, bias0, weight1, ..."""
        arrays = {"mean": self.mean, "scale": self.scale}
        for k, (weight, bias) in enumerate(self.layers):
            arrays[f"weight{k}"], arrays[f"bias{k}"] = weight, bias
        singles: Any = {name: np.asarray(x, np.float32) for name, x in arrays.items()}
        np.savez_compressed(Path(path), **singles)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Policy:
        """What save() wrote.

        Raises:
            StictionError: the file cannot be read, is damaged or holds more than 256 MiB, or arrays
                are missing, not finite, or do not fit together; the message names the file.
        """
        file = ArrayFile.read(path, "policy", LARGEST)

        def numbers(name: str, ndim: int = 1) -> Singles:
            return file.numbers(name, ndim).astype(np.float32)

        layers = [(numbers("weight0", 2), numbers("bias0"))]
        while f"weight{len(layers)}" in file:
            layers.append((numbers(f"weight{len(layers)}", 2), numbers(f"bias{len(layers)}")))
        mean, scale = numbers("mean"), numbers("scale")
        if scale.shape != mean.shape:
            raise file.fail("scale", f"has {len(scale)} entries: must have {len(mean)}, as mean")
        try:
            return Policy(layers, mean, scale)
        except ValueError as error:
            raise StictionError(f"{file.path}: {error}") from None
