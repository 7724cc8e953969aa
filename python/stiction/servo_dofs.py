"""The dofs of a scene that servos drive."""

from __future__ import annotations

from ._stiction import Scene

__all__ = ["servo_dofs"]


def servo_dofs(scene: Scene) -> list[int]:
    """Dofs of the joints that may have a servo: of one dof."""
    return [joint.v_index for joint in scene.joints if joint.nv == 1]
