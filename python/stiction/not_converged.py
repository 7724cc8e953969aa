"""What is said of the first step of a simulator whose contact problem was not solved."""

from __future__ import annotations

import warnings

from .user_frame import level_of_user

__all__ = ["NotConvergedWarning", "warn_not_converged"]


class NotConvergedWarning(UserWarning):
    """A step ended "not_converged": it used the best or the safe impulses, not a solution.

    Said of the first such step of a Simulator alone; `report.status` tells of every one.
    """


def warn_not_converged(text: str) -> None:
    """Called by the compiled simulator."""
    end = ". Said once for a simulator; report.status tells of every step"
    warnings.warn(text + end, NotConvergedWarning, stacklevel=level_of_user())
