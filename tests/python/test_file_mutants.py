"""Damaged and hostile files: 1000 mutants of each kind, 100 000 with STICTION_FUZZ.

Each kind is read in a process of its own (file_mutants.py), so that a crash, a hang or memory
without end is a failure with the seed of the mutant.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("file_mutants.py")
KINDS = {
    "problem": 0.02,
    "obj": 0.1,
    "stl": 0.1,
    "dae": 0.02,
    "ply": 0.0,
    "urdf": 0.02,
    "srdf": 0.05,
    "mjcf": 0.02,
    "scene": 0.02,
    "state": 0.02,
}
"""Share of the mutants that must be read without an error, so that the depths are reached, too."""
COUNT = 100_000 if os.environ.get("STICTION_FUZZ") else 1000
PART = 10_000


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_no_mutant_kills_hangs_or_is_refused_in_other_words(kind: str) -> None:
    accepted = refused = 0
    for first in range(0, COUNT, PART):
        run = subprocess.run(
            [sys.executable, str(SCRIPT), kind, str(first), str(min(PART, COUNT - first))],
            capture_output=True,
            text=True,
            timeout=3600,
            check=False,
        )
        lines = run.stdout.splitlines()
        seed = lines[-1] if lines else "none"
        assert run.returncode == 0, f"{kind}, seed {seed}: {run.returncode}\n{run.stderr[-2000:]}"
        counts = re.fullmatch(r"accepted (\d+) refused (\d+)", lines[-1])
        assert counts, lines[-1]
        accepted, refused = accepted + int(counts[1]), refused + int(counts[2])
    assert accepted + refused == COUNT
    assert accepted >= KINDS[kind] * COUNT and refused >= 0.2 * COUNT
