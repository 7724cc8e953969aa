"""What a Batch tells of the steps that its worlds take next."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from .batch_arguments import numbers
from .batch_results import BatchJacobians, BatchVjp, WorldReport
from .given_array import integer
from .simulator import Simulator

__all__ = ["NextSteps"]

Floats = NDArray[np.float64]


class NextSteps(_stiction.Batch):
    """A base of Batch: looks ahead, and arguments by world."""

    _stepped: bool

    def simulator(self, world: int) -> Simulator:
        """A Simulator with the settings of the batch and the parameters of a world, for all that a
        Simulator tells:

            sim, state = batch.simulator(17), batch.state(17)
            sim.step(state, batch.control(17))
        """
        parameters = self._parameters(self._world(world))
        sim = Simulator._of(self.scene, self.settings, parameters)
        sim._start_checked = self._stepped  # the Batch's own first step looked
        return sim

    def step_derivatives(self, mask: ArrayLike | None = None) -> BatchJacobians:
        """Jacobians of the step that each world would take next, with its present control and
        parameters, on the threads of the batch. Nothing moves: step() afterwards takes it.

        The steps are a Simulator's, which has the bits of the lanes.

        Args:
            mask: (N,) bool, the worlds to do; None: all. Others have zeros.

        Raises:
            ValueError: naming the world whose step cannot be differentiated, and why.
        """
        n, nv = self.num_worlds, self.scene.nv
        A, B = np.zeros((n, 2 * nv, 2 * nv)), np.zeros((n, 2 * nv, nv))
        exact = np.zeros(n, np.uint8)
        self._jacobians(self._mask(mask), A, B, exact)
        return BatchJacobians(A, B, exact.astype(bool))

    def vjp(self, w: ArrayLike, mask: ArrayLike | None = None) -> BatchVjp:
        """w . dx+/d(q, v, torque) of the step that each world would take next, without the
        Jacobians: about half a step more than the step.

        Args:
            w: (N, 2 nv) or (2 nv,), weights of (q+, v+) in tangents.
            mask: as in step_derivatives().

        Raises:
            ValueError: as step_derivatives(); w has another shape.
        """
        n, nv = self.num_worlds, self.scene.nv
        weights = self._rows("w", numbers("w", w), 2 * nv)
        assert weights is not None
        x, torque, exact = np.zeros((n, 2 * nv)), np.zeros((n, nv)), np.zeros(n, np.uint8)
        self._vjp(self._mask(mask), weights, x, torque, exact)
        return BatchVjp(x[:, :nv], x[:, nv:], torque, exact.astype(bool))

    def report(self, world: int) -> WorldReport:
        """What a world is about to do: its next step with its present control, by a Simulator, on a
        copy. Arrays of the batch tell of the step it took last.

        Raises:
            SimulationError: that step is not finite.
        """
        simulator, state = self.simulator(world), self._state(self._world(world))
        step = simulator.step(state, self._control(self._world(world)))
        return WorldReport(step, simulator.contacts(), state)

    def _world(self, world: int) -> int:
        index = integer("world", world)
        if not 0 <= index < self.num_worlds:
            raise ValueError(f"world = {index}: must be in [0, {self.num_worlds})")
        return index

    def _mask(self, mask: ArrayLike | None, name: str = "mask") -> NDArray[np.uint8] | None:
        if mask is None:
            return None
        array = np.asarray(mask)
        if array.dtype != np.bool_:
            raise TypeError(
                f"{name} has dtype {array.dtype}: must be bool; for a list of worlds write "
                f"{name} = numpy.zeros(N, bool); {name}[worlds] = True"
            )
        if array.shape != (self.num_worlds,):
            raise ValueError(f"{name} has shape {array.shape}: must be ({self.num_worlds},)")
        return np.ascontiguousarray(array).view(np.uint8)

    def _rows(self, name: str, values: ArrayLike | None, columns: int) -> Floats | None:
        if values is None:
            return None
        array = numbers(name, values)
        if array.shape not in ((columns,), (self.num_worlds, columns)):
            raise ValueError(
                f"{name} has shape {array.shape}: must be ({self.num_worlds}, {columns}) or "
                f"({columns},)"
            )
        return np.ascontiguousarray(np.broadcast_to(array, (self.num_worlds, columns)))
