"""Every Python block of the manual runs as written, each page in a process of its own.

Blocks of a page run in order in one namespace. The word after "python" in a fence says what a block
needs: ```python mjcf, or ```python drake, which runs where that is installed; `not-run` says that
it is not for running.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import stiction

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python *([\w-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = {"", "mjcf"} | ({"drake"} if importlib.util.find_spec("pydrake") else set())
ELSEWHERE = {"jax", "torch", "crocoddyl", "not-run"} | ({"drake"} - RUN)
"""Frameworks have tests of their own in tests/frameworks."""
NEEDS_A_FILE = {"docs/mjcf.md"}
"""Pages about a file of the reader's."""
TUTORIALS = {
    "docs/tutorials/first_robot.md",
    "docs/tutorials/your_robot.md",
    "docs/tutorials/contact_forces.md",
    "docs/tutorials/stiff_contact.md",
    "docs/tutorials/compare_engines.md",
    "docs/tutorials/learning.md",
    "docs/tutorials/own_task.md",
    "docs/tutorials/own_solver.md",
    "docs/gradients.md",
}
RUNNER = """
import json, sys, warnings
from pathlib import Path
import stiction
warnings.simplefilter("error")
warnings.simplefilter("ignore", stiction.LoadWarning)
page, blocks = json.loads(Path(sys.argv[1]).read_text())
namespace = {"__name__": "__main__"}
for line, text in blocks:  # as many empty lines as the page has: a traceback names its line
    exec(compile("\\n" * line + text, page, "exec"), namespace)
"""


def fences(page: str) -> list[tuple[int, str, str]]:
    """Line number, marker and text of each."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(text[: m.start(2)].count("\n"), m[1], m[2]) for m in FENCE.finditer(text)]


def pages() -> list[str]:
    """README and the manual, those with a block that runs."""
    found = ["README.md"] + [
        str(p.relative_to(ROOT))
        for p in sorted((ROOT / "docs").rglob("*.md"))
        if p.parent.name != "internals"
    ]
    return [p for p in found if p not in NEEDS_A_FILE and any(m in RUN for _, m, _ in fences(p))]


def test_the_tutorials_are_there_and_short() -> None:
    assert set(pages()) >= TUTORIALS
    for page in TUTORIALS - {"docs/gradients.md"}:
        assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= 120, page


def test_every_marker_is_known() -> None:
    for page in pages():
        assert {marker for _, marker, _ in fences(page)} <= RUN | ELSEWHERE, page


def test_a_block_that_fails_is_noticed(tmp_path: Path) -> None:
    done = run("docs/nowhere.md", [(6, "x = 1\n"), (11, "assert x == 2\n")], tmp_path)
    assert done.returncode != 0
    assert 'File "docs/nowhere.md", line 12' in done.stderr


@pytest.mark.parametrize("page", pages())
def test_blocks_run_as_written(page: str, tmp_path: Path) -> None:
    blocks = [(line, text) for line, marker, text in fences(page) if marker in RUN]
    blocks = [(line, text) for line, text in blocks if "import crocoddyl" not in text]
    done = run(page, blocks, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


SHOWN = "# -> "
"""Begins a line of output, below the code that prints it."""
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]\d+)?")


def apart(text: str) -> tuple[str, list[float]]:
    """A line without its numbers and blanks, and these."""
    return "".join(NUMBER.sub("#", text).split()), [float(x) for x in NUMBER.findall(text)]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_blocks_print_what_they_show(page: str, tmp_path: Path) -> None:
    """Each block of the two first pages ends with output, which is the one it has."""
    for line, marker, text in fences(page):
        shown = [x.removeprefix(SHOWN) for x in text.splitlines() if x.startswith(SHOWN)]
        assert marker in RUN and shown and text.splitlines()[-1].startswith(SHOWN), line
        done = run(page, [(line, text)], tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
        printed = done.stdout.splitlines()
        assert len(printed) == len(shown), done.stdout
        for got, wanted in zip(map(apart, printed), map(apart, shown), strict=True):
            assert got[0] == wanted[0], done.stdout
            assert got[1] == pytest.approx(wanted[1], rel=0.01, abs=1e-9), done.stdout


def test_output_that_differs_is_noticed() -> None:
    assert apart("at [-1.61  2e-3] N") == ("at[##]N", [-1.61, 2e-3])
    assert apart("a 1")[0] != apart("b 1")[0] and apart("a 1")[1] != apart("a 2")[1]


def run(page: str, blocks: list[tuple[int, str]], folder: Path) -> subprocess.CompletedProcess[str]:
    """In `folder`, where blocks may write."""
    job = folder / "job.json"
    job.write_text(json.dumps([page, blocks]))
    package = str(Path(stiction.__file__).resolve().parents[1])
    path = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", RUNNER, str(job)],
        capture_output=True, text=True, timeout=120, cwd=folder, check=False,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
