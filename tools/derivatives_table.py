"""Writes the table of times in docs/derivatives.md from what `stiction bench derivatives` stored.

python tools/derivatives_table.py benchmarks/results/<machine>.json
"""

import json
import sys
from pathlib import Path

from stiction_lab.studies.page.markdown import replace, table

PAGE = Path("docs/derivatives.md")
ROWS = {
    "columns": "columns",
    "step": "step [µs]",
    "matrices": "Jacobian [µs]",
    "matrices_over_step": "Jacobian / step",
    "gradient": "vjp [µs]",
    "gradient_over_step": "vjp / step",
    "peer_columns": "MuJoCo's columns",
    "peer_step": "MuJoCo's step [µs]",
    "peer_forward": "its forward differences [µs]",
    "peer_forward_over_matrices": "forward / our Jacobian",
    "peer_forward_over_ours": "forward / our step and Jacobian",
    "peer_centered": "its centred differences [µs]",
    "peer_centered_over_matrices": "centred / our Jacobian",
    "peer_centered_over_ours": "centred / our step and Jacobian",
}


def content_of(document: dict) -> str:
    """Machine, set-up, rows."""
    machine, calls, rounds = document["machine"], document["calls"], document["rounds"]
    scenes = document["rows"]
    rows = [[label, *(cell(scene[name]) for scene in scenes)] for name, label in ROWS.items()]
    head = (
        f"{machine['cpu']}, {machine['date'][:10]}, load of the machine {machine['load']}, MuJoCo "
        f"{machine['versions']['mujoco']}: {document['peer']}. {rounds} rounds of {calls['ours']} "
        f"calls of ours and {calls['peer']} of the peer's. Set-up: {document['setup']}."
    )
    columns = ["", *(scene["scene"] for scene in scenes)]
    return f"{head}\n\n{table(columns, rows)}"


def cell(value: float | int | str) -> str:
    """Three digits of what is measured."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = json.loads(Path(sys.argv[1]).read_text())["derivatives"]
    PAGE.write_text(replace(PAGE.read_text(), "times", content_of(found)))
