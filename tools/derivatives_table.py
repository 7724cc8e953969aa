"""Writes the table of times in docs/derivatives.md from what `stiction bench derivatives` stored.

python tools/derivatives_table.py benchmarks/results/<machine>.json
"""

import json
import sys
from pathlib import Path

from stiction_lab.bench.derivatives import derivative_rows
from stiction_lab.studies.page.markdown import replace, table

PAGE = Path("docs/derivatives.md")


def content_of(document: dict) -> str:
    """Machine, set-up, rows."""
    machine, calls, rounds = document["machine"], document["calls"], document["rounds"]
    columns, rows = derivative_rows(document)
    head = (
        f"{machine['cpu']}, {machine['date'][:10]}, load of the machine {machine['load']}, MuJoCo "
        f"{machine['versions']['mujoco']}: {document['peer']}. {rounds} rounds of {calls['ours']} "
        f"calls of ours and {calls['peer']} of the peer's. Set-up: {document['setup']}."
    )
    return f"{head} Ratios with MuJoCo below 1: ours is faster.\n\n{table(columns, rows)}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = json.loads(Path(sys.argv[1]).read_text())["derivatives"]
    PAGE.write_text(replace(PAGE.read_text(), "times", content_of(found)))
