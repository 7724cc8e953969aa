"""What the doctor says: findings, grouped by how bad they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["SEVERITIES", "Diagnosis", "Finding", "listed"]

SEVERITIES = ("error", "warning", "note")
"""error: the file cannot be simulated. warning: the simulation is not what the file says, or what a
machine of this kind does. note: worth knowing."""
MOST_NAMES = 6


@dataclass(frozen=True)
class Finding:
    """One thing about a model.

    Attributes:
        severity: one of SEVERITIES.
        check: what was looked at, such as "inertia" or "start overlap".
        text: what was found, with the value and its unit.
        fix: one thing to do about it.
        file: where; a scene's name if it came from no file.
        line: 0: not known.
        value: the number in the text; None: there is none.
    """

    severity: str
    check: str
    text: str
    fix: str
    file: str = ""
    line: int = 0
    value: float | None = None

    def __str__(self) -> str:
        place = f"{Path(self.file).name}:{self.line}: " if self.line else ""
        return f"{place}{self.text}; fix: {self.fix}"


@dataclass(frozen=True)
class Diagnosis:
    """All findings about a model.

    Attributes:
        subject: the file or scene that was looked at.
        findings: errors first, then warnings, then notes; of each in the order of lines.
        bodies, dofs: numbers of the scene; 0 if it could not be loaded.
    """

    subject: str
    findings: tuple[Finding, ...]
    bodies: int = 0
    dofs: int = 0

    def of(self, severity: str) -> tuple[Finding, ...]:
        """Findings of one severity."""
        return tuple(f for f in self.findings if f.severity == severity)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "subject": self.subject,
            "bodies": self.bodies,
            "dofs": self.dofs,
            "counts": {severity: len(self.of(severity)) for severity in SEVERITIES},
            "findings": [asdict(finding) for finding in self.findings],
        }


def diagnosis(
    subject: str, findings: Sequence[Finding], bodies: int = 0, dofs: int = 0
) -> Diagnosis:
    """Ordered, without repetitions."""
    once = dict.fromkeys(findings)
    ordered = sorted(once, key=lambda f: (SEVERITIES.index(f.severity), f.file, f.line))
    return Diagnosis(subject, tuple(ordered), bodies, dofs)


def listed(names: Sequence[str]) -> str:
    """The first names of many."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
