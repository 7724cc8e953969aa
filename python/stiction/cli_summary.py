"""What a run was like, as a table of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from .demo import DemoResult

__all__ = ["demo_table", "millimetres", "summary_table"]

LITTLE = 5e-5
"""Energy that is not worth a row [J]: less than the table has digits."""


def summary_table(title: str, document: dict[str, Any]) -> Table:
    """Two columns: quantity and value, from RunSummary.as_dict() and the time per step."""
    table = Table(title=title)
    table.add_column("quantity")
    table.add_column("value", justify="right")
    status = ", ".join(f"{name} {count}" for name, count in document["status"].items())
    python = "with" if document.get("python_steps") else "without"
    rows = {
        f"time per step {python} Python [µs], median": f"{document['us_per_step']:.2f}",
        "steps": f"{document['steps']} ({status})",
        "relative residual, median / max": _pair(document["residual"], "median", "max", ".1e"),
        "solver iterations, mean / max": _pair(document["iterations"], "mean", "max", ".1f"),
        "penetration [mm], max": millimetres(document["penetration"]["max"]),
        "creep of sticking contacts [m/s], max": f"{document['creep']['max']:.1e}",
        "contacts, mean / max": _pair(document["contacts"], "mean", "max", ".1f"),
        "energy [J], first / last": _pair(document["energy"], "first", "last", ".4f"),
    }
    if document["recovery_energy"] > LITTLE:
        rows["energy that corrections of positions added [J], at most"] = (
            f"{document['recovery_energy']:.4f}"
        )
    if document["loose_steps"]:
        rows["steps held to 1e-3 or 1e-6, not 1e-8"] = f"{document['loose_steps']}"
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def demo_table(result: DemoResult, solver: str, dt: float) -> Table:
    """The same of the demo, and what it measures."""
    table = summary_table(
        f"Solo-12 falls, stands, is pushed: {dt * 1e3:g} ms, {solver}", result.as_dict()
    )
    table.add_row("foot drift while standing 0.5 s [mm]", millimetres(result.foot_drift))
    table.add_row("base height at the end [m]", f"{result.base_height:.4f}")
    return table


def millimetres(metres: float) -> str:
    """Two digits without an exponent; less than a nanometre is negligible."""
    value = metres * 1e3
    if abs(value) < 1e-6:
        return "< 1e-6"
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def _pair(values: dict[str, float], first: str, second: str, form: str) -> str:
    return f"{values[first]:{form}} / {values[second]:{form}}"
