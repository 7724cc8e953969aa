"""What a step may cost at most, in factorisations: the bound that the library states, for tests."""

from __future__ import annotations

from stiction import Simulator, StepReport


def work_used(sim: Simulator, report: StepReport) -> float:
    """Share of the last step's budget that it used: above 1 it broke the promise."""
    return float(report.factorisations) / max(1, sim.most_factorisations())


def share_of_work(sim: Simulator, report: StepReport) -> float:
    """The share of its bound on multiplications that a step took."""
    return float(report.work) / max(1.0, sim.most_work())
