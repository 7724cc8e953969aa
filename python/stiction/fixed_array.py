"""Arrays of a Simulator's scene: to be read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class FixedArray(np.ndarray[Any, np.dtype[np.float64]]):
    """A read-only array that says where to write instead; what is computed from it is plain."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.flags.writeable:
            raise ValueError(
                "the parameters of a Simulator's scene are fixed: edit sim.parameters, which its "
                "next step reads"
            )
        super().__setitem__(key, value)

    def __array_wrap__(
        self, array: NDArray[Any], context: Any = None, return_scalar: bool = False
    ) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain
