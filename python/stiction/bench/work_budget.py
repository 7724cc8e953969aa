"""What a step may cost at most, in factorisations and sweeps: the stated formula, for tests."""

from __future__ import annotations

from .._stiction import StepReport


def work_used(report: StepReport, bodies: int) -> float:
    """Share of its budget that a step used: above 1 it broke the promise."""
    return float(report.factorisations) / work_budget(report.num_rows, bodies, report.num_islands)


def work_budget(rows: int, bodies: int, islands: int) -> float:
    """Factorisations of one step, at most."""
    return 2000.0 * max(1, islands)
