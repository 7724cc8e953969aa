"""What is unused, invalid or improbable in a model of a robot: `stiction doctor`."""

from __future__ import annotations

from .examine import examine
from .finding import SEVERITIES, Diagnosis, Finding

__all__ = ["SEVERITIES", "Diagnosis", "Finding", "examine"]
