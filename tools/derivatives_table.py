"""Writes the table of times in docs/derivatives.md from what `stiction bench derivatives` stored.

python tools/derivatives_table.py benchmarks/results/<machine>.json
"""

import json
import sys
from pathlib import Path

from collision_tables import replace, table

PAGE = Path("docs/derivatives.md")
COLUMNS = {
    "scene": "scene",
    "columns": "columns",
    "step": "step [µs]",
    "matrices": "Jacobian",
    "matrices_over_step": "of a step",
    "gradient": "vjp",
    "gradient_over_step": "of a step",
    "peer_columns": "MuJoCo's columns",
    "peer_step": "its step",
    "peer_forward": "forward",
    "peer_forward_over_matrices": "of our Jacobian",
    "peer_forward_over_ours": "of our step and Jacobian",
    "peer_centered": "centred",
    "peer_centered_over_matrices": "of our Jacobian",
    "peer_centered_over_ours": "of our step and Jacobian",
}


def content_of(document: dict) -> str:
    """Machine, set-up, rows."""
    machine, calls, rounds = document["machine"], document["calls"], document["rounds"]
    rows = [
        [f"{row[name]:.3g}" if isinstance(row[name], float) else str(row[name]) for name in COLUMNS]
        for row in document["rows"]
    ]
    head = (
        f"{machine['cpu']}, {machine['date'][:10]}, load of the machine {machine['load']}, MuJoCo "
        f"{machine['versions']['mujoco']}: {document['peer']}. {rounds} rounds of {calls['ours']} "
        f"calls of ours and {calls['peer']} of the peer's. Set-up: {document['setup']}."
    )
    return f"{head}\n\n{table(list(COLUMNS.values()), rows)}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = json.loads(Path(sys.argv[1]).read_text())["derivatives"]
    PAGE.write_text(replace(PAGE.read_text(), "times", content_of(found)))
