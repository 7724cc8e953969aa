"""Derivatives of a step: our matrices and gradients beside MuJoCo's differences of its step.

Both engines continue from the state that they settled in, as `bench step` does. Rounds alternate
between the two; a time is the median of all calls of all rounds. Ours are read off the time stamp
counter around each call in C++, the peer's are CPU time of the thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group
from stiction.fitted_table import FittedTable

from . import machine
from .catalogue import BenchScene, scene
from .measure import Tick
from .peer_models import PeerVariant

SCENES = ("solo12", "talos", "allegro-ball", "cube-slide")
VARIANT = PeerVariant("newton", "elliptic", "implicitfast")
TARGETS = {
    "solo12": (3.2, 1.5, 28.0),
    "talos": (4.5, 2.0, 33.0),
    "allegro-ball": (2.0, 1.5, 75.0),
}
"""Matrices over a step at most, a gradient over a step at most, the peer over matrices at least."""
OURS, PEER = 50, 4
"""Calls of a round."""
SETUP = (
    "each engine in the state that it settled in, of the same scene, at its time step; ours: "
    "d(q+, v+)/d(q, v, torque), `columns` = 3 nv; the peer's: by state and controls, "
    "`peer_columns` = 2 nv + nu; the peer's differences hold the step itself, our Jacobian starts "
    "from a step, so the ratio to step and Jacobian is of equal work; rounds alternate, medians of "
    "all calls; ours by the time stamp counter around a call in C++, the peer's CPU time of the "
    "thread; a busy machine shows in `machine.load`"
)


@dataclass(frozen=True)
class DerivativeTimes:
    """Medians of one scene [us]."""

    scene: str
    nv: int
    columns: int
    peer_columns: int
    step: float
    matrices: float
    gradient: float
    peer_step: float
    peer_forward: float
    peer_centered: float
    report: str

    def as_dict(self) -> dict[str, Any]:
        """With the ratios."""
        ours = self.step + self.matrices
        return vars(self) | {
            "matrices_over_step": self.matrices / self.step,
            "gradient_over_step": self.gradient / self.step,
            "peer_forward_over_matrices": self.peer_forward / self.matrices,
            "peer_forward_over_ours": self.peer_forward / ours,
            "peer_centered_over_matrices": self.peer_centered / self.matrices,
            "peer_centered_over_ours": self.peer_centered / ours,
            "targets": TARGETS.get(self.scene),
        }


def bench_derivatives(
    names: Sequence[str] = (), rounds: int = 40, tick: Tick | None = None
) -> dict[str, Any]:
    """All of `names`, or the four scenes that have targets or a loose body.

    Raises:
        BenchError: a scene is unknown.
    """
    say = tick or (lambda line: None)
    rows = [_measured(scene(name), rounds, say).as_dict() for name in names or SCENES]
    return {
        "machine": machine.describe(),
        "rounds": rounds,
        "calls": {"ours": OURS, "peer": PEER},
        "peer": f"mjd_transitionFD of {VARIANT.label}, eps 1e-6",
        "setup": SETUP,
        "rows": rows,
    }


def _measured(item: BenchScene, rounds: int, say: Tick) -> DerivativeTimes:
    say(f"{item.name}: settling")
    ours = item.ours()
    peer = item.build_peer(ours, VARIANT)
    ours.settle(item.settle)
    peer.settle(item.settle)
    report = ours.gradient_report()
    peer.restart()
    found: dict[str, list[float]] = {name: [] for name in ("step", "matrices", "gradient")}
    theirs: dict[str, list[float]] = {name: [] for name in ("step", "forward", "centered")}
    calls: dict[str, Callable[[], object]] = {
        "step": lambda: peer.advance(1),
        "forward": lambda: peer.differentiate(False),
        "centered": lambda: peer.differentiate(True),
    }
    for k in range(rounds):
        say(f"{item.name}: round {k + 1} of {rounds}")
        for values, times in zip(found.values(), ours.derivative_times(OURS), strict=True):
            values.extend(times)
        for name, call in calls.items():
            for _ in range(PEER):
                peer.restart()
                theirs[name].append(_cpu_time(call))
    ours_us = {name: 1e6 * float(np.median(values)) for name, values in found.items()}
    peer_us = {name: 1e6 * float(np.median(values)) for name, values in theirs.items()}
    nv = ours.facts().nv
    return DerivativeTimes(
        scene=item.name,
        nv=nv,
        columns=3 * nv,
        peer_columns=peer.columns,
        peer_step=peer_us["step"],
        peer_forward=peer_us["forward"],
        peer_centered=peer_us["centered"],
        report=repr(report),
        **ours_us,
    )


def _cpu_time(call: Callable[[], object]) -> float:
    """[s] of this thread."""
    begin = time.thread_time_ns()
    call()
    return 1e-9 * (time.thread_time_ns() - begin)


ROWS = {
    "columns": "columns of our Jacobian",
    "step": "our step [µs]",
    "matrices": "our Jacobian [µs]",
    "matrices_over_step": "time, our Jacobian / our step",
    "gradient": "our vjp [µs]",
    "gradient_over_step": "time, our vjp / our step",
    "peer_columns": "columns of MuJoCo's",
    "peer_step": "MuJoCo's step [µs]",
    "peer_forward": "its forward differences [µs]",
    "peer_forward_over_matrices": "time, our Jacobian / forward differences",
    "peer_forward_over_ours": "time, our step and Jacobian / forward differences",
    "peer_centered": "its centred differences [µs]",
    "peer_centered_over_matrices": "time, our Jacobian / centred differences",
    "peer_centered_over_ours": "time, our step and Jacobian / centred differences",
}
"""What is told of a scene, by its name in the document, where the peer's ratios are the other way
round."""


def derivative_rows(document: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Headings, one a scene, and cells. Every ratio with the peer is ours / MuJoCo's."""

    def cell(name: str, value: float) -> str:
        if "_over_" in name and name.startswith("peer"):
            return f"{1.0 / value:.2g}"
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    scenes = document["rows"]
    rows = [[label, *(cell(name, scene[name]) for scene in scenes)] for name, label in ROWS.items()]
    return ["", *(scene["scene"] for scene in scenes)], rows


def derivative_table(document: dict[str, Any]) -> Group:
    """One column a scene, then the machine and how it was measured."""
    peer, about = document["peer"], document["machine"]
    table = FittedTable(
        f"Full Jacobian (q, v, torque) and vjp beside {peer}; ratios below 1: ours is faster"
    )
    head, rows = derivative_rows(document)
    for k, name in enumerate(head):
        table.add_column(name, justify="right" if k else "left")
    for row in rows:
        table.add_row(*row)
    return Group(table, f"{about['cpu']}, load {about['load']}. Set-up: {document['setup']}.")
