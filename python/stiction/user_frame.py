"""Where a warning belongs: at the line of the user's own code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["level_of_user"]

PACKAGE = str(Path(__file__).parent) + os.sep


def level_of_user() -> int:
    """For warnings.warn(..., stacklevel=...) by the caller of this function: that of the first
    frame outside of the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
