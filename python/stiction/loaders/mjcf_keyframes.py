"""Keyframes of an MJCF file, and several of them as one state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._stiction import Scene, State, make_state

__all__ = ["MjcfKeyframe", "merged_state", "name_of_configuration"]

Floats = NDArray[np.float64]


def name_of_configuration(keyframe: str) -> str:
    """In the scene, whose "default" is qpos0."""
    return "default keyframe" if keyframe == "default" else keyframe


@dataclass(frozen=True)
class MjcfKeyframe:
    """A keyframe of the file in stiction's layout.

    Attributes:
        q: of the file's joints (nq,); also a configuration of the scene by the keyframe's name.
        v: velocity (nv,), as that configuration has it.
        time: [s].
        ctrl: MuJoCo's controls (nu,), see Mjcf.control.
        activation: of actuators (na,).
        mocap: position [m] and quaternion w x y z of mocap bodies, by name.
    """

    q: Floats
    v: Floats
    time: float
    ctrl: Floats
    activation: Floats
    mocap: dict[str, tuple[Floats, Floats]]


def merged_state(scene: Scene, keys: Sequence[MjcfKeyframe]) -> State:
    """Of each keyframe what is not at the scene's default and at rest, joint by joint, of two that
    say so the last; its time that of the last."""
    start = np.array(scene.default_q)
    q, v = start.copy(), np.zeros(scene.nv)
    for key in keys:
        for joint in scene.joints:
            at = slice(joint.q_index, joint.q_index + joint.nq)
            if not np.array_equal(key.q[at], start[at]):
                q[at] = key.q[at]
        v = np.where(key.v != 0.0, key.v, v)
    state = make_state(scene, q)
    state.v, state.time = v, keys[-1].time if keys else 0.0
    return state
