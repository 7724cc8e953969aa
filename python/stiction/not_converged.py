"""What is said of the first step of a simulator whose contact problem was not solved."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_FIRST_STEP = str(Path(__file__).with_name("first_step.py"))

__all__ = ["NotConvergedWarning", "warn_not_converged"]


class NotConvergedWarning(UserWarning):
    """A step ended "not_converged": it used the best or the safe impulses, not a solution.

    Said of the first such step of a Simulator alone; `report.status` tells of every one.
    """


def warn_not_converged(text: str, stacklevel: int) -> None:
    """Called by the compiled simulator, the caller `stacklevel` - 1 frames up; a first step has one
    frame more (`first_step`)."""
    if sys._getframe(stacklevel - 1).f_code.co_filename == _FIRST_STEP:
        stacklevel += 1
    end = ". Said once for a simulator; report.status tells of every step"
    warnings.warn(text + end, NotConvergedWarning, stacklevel=stacklevel)
