"""The pages for those who come from another engine have the same ten tasks, each in both engines.

Their blocks run in test_docs_code.py; the last of each page compares mass matrices, bias forces and
Jacobians at 100 random states.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PEERS = {"from_mujoco": "MuJoCo", "from_drake": "Drake", "from_pinocchio": "Pinocchio"}
TASKS = [
    "Load a model",
    "Place and reset",
    "Step with torques",
    "Servos",
    "Contacts and forces",
    "Poses, velocities and Jacobians by name",
    "Mass matrix and inverse dynamics",
    "Derivatives of a step",
    "Thousands of worlds",
    "Watch it",
]
MAY_STAND_STILL = {
    "from_mujoco": {"Watch it"},
    "from_pinocchio": {"Watch it"},
    "from_drake": {"Watch it", "Derivatives of a step"},
}
"""Tasks whose peer's block needs a window, or is but a hint."""


def sections(page: str) -> dict[str, str]:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return {part.split("\n", 1)[0]: part for part in re.split(r"^## ", text, flags=re.M)[1:]}


@pytest.mark.parametrize("page", PEERS)
def test_the_ten_tasks_in_their_order(page: str) -> None:
    more = ["The same numbers", "What differs", "What stiction lacks"]
    assert list(sections(page)) == TASKS + more


@pytest.mark.parametrize("page", PEERS)
def test_each_task_has_both_sides_and_runs(page: str) -> None:
    """The peer's block first; stiction's always runs."""
    needs = {"from_mujoco": "mjcf", "from_drake": "drake", "from_pinocchio": ""}[page]
    for task in TASKS:
        text = sections(page)[task]
        columns = text.split(":::{grid-item}\n")[1:]
        assert [c.split("\n", 1)[0] for c in columns] == [PEERS[page], "stiction"], task
        peer, ours = (re.findall(r"^```python *([\w-]*)$", c, flags=re.M) for c in columns)
        still = task in MAY_STAND_STILL[page]
        assert peer == ["not-run" if still else needs], task
        assert len(ours) == 1 and ours[0] in ("", "mjcf"), task


@pytest.mark.parametrize("page", PEERS)
def test_the_last_block_compares_to_1e_9(page: str) -> None:
    """Three quantities at 100 states."""
    text = sections(page)["The same numbers"]
    assert 'close = {"rtol": 1e-9, "atol": 1e-9}' in text and "range(100)" in text
    for quantity in ("mass_matrix()", "bias()", 'jacobian("foot")'):
        assert f"assert_allclose(motion.{quantity}" in re.sub(r"\(\n\s+", "(", text)
    assert text.count("**close)") + text.count("**close\n") == 3


@pytest.mark.parametrize("page", PEERS)
def test_it_is_in_the_manual(page: str) -> None:
    assert f"\n{page}\n" in (DOCS / "index.md").read_text(encoding="utf-8")
