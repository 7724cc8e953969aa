"""A plan of controls run through an MJCF file in motion, where a Simulator of its scene would leave
something out."""

from __future__ import annotations

from . import Control, Mjcf, Simulator, State, StepReport
from .record import Recorder
from .setting_names import SettingNames

__all__ = ["FileRun"]


class FileRun:
    """Takes the place of a Simulator in stiction.run: from a configuration of the file, which its
    servos hold; a keyframe that has controls gives these.

    Attributes:
        state: where it begins.
    """

    def __init__(self, model: Mjcf, configuration: str, settings: SettingNames) -> None:
        self._motion = model.simulation(**settings)
        self._keyframe = configuration if configuration in model.keyframes else None
        given = self._keyframe is not None and model.keyframes[configuration].ctrl.any()
        self._hold = None if given else configuration
        self._begin(self._motion.sim.initial_state(configuration))
        self.state = self._motion.state

    @property
    def sim(self) -> Simulator:
        """That it steps."""
        return self._motion.sim

    def recorder(self) -> Recorder:
        """In whose replay mocap bodies move."""
        return self._motion.recorder()

    def _begin(self, state: State) -> None:
        self._motion.reset(self._keyframe)
        if self._keyframe is None:
            self._motion.state = state

    def step(self, state: State, control: Control) -> StepReport:
        """One step of `state`, in place."""
        self._motion.state = state
        return self._motion.step(hold=self._hold)

    def run(self, state: State, control: Control, steps: int) -> None:
        """Many."""
        for _ in range(steps):
            self.step(state, control)
