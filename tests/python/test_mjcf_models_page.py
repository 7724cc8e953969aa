"""docs/mjcf_models.md: what counts as falling short, and that the page is of the stored numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        import mjcf_page
    finally:
        sys.path.remove(str(TOOLS))
    return mjcf_page


def test_the_page_has_the_stored_tables(page: ModuleType) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    inside = text.partition(page.BEGIN)[2].partition(page.END)[0]
    assert inside.strip() == page.tables().strip(), "run python tools/mjcf_page.py"


def test_every_file_that_moves_is_in_the_page(page: ModuleType) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    _, models = page.read()
    assert len(models) == 238 and sum(m.dofs > 0 for m in models) == 180
    assert all(f"`{page._name(m)}`" in text for m in models if m.dofs)


GOOD = {"package": "p", "file": "a/b/c.xml", "dofs": 3, "steps": 1000, "ok": 1000}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({"error": "refused"}, ["refused"]),
        ({"ok": 998}, ["2 of 1000 steps not ok"]),
        ({"ok": 999}, []),
        ({"load": 0.5, "compile": 0.1}, ["loads in 0.50 s, MuJoCo 0.10 s"]),
        ({"load": 0.39, "compile": 0.1}, []),
        ({"depth": 2e-3, "depth_at_start": 1e-3}, ["2.0 mm deep, 1.0 at first"]),
        ({"depth": 2e-3, "depth_at_start": 2e-3}, []),
        ({"passive": True, "energy_gain": 0.02}, ["energy rises by 2 %"]),
        ({"energy_gain": 0.02}, []),
        ({"differences": {"bias": 1e-6}}, ["bias 1e-06 off"]),
        (
            {"energy_difference": 0.5, "stiff_difference": 0.01},
            ["energy ends 50 % away, of MuJoCo made stiff 1.0 %"],
        ),
    ],
)
def test_what_falls_short(page: ModuleType, change: dict, words: list[str]) -> None:
    assert page.Model(**(GOOD | change)).falls_short() == words


def test_reasons_are_of_files_that_fall_short(page: ModuleType) -> None:
    """A pattern that fits no such file is left over."""
    _, models = page.read()
    short = [m for m in models if m.dofs and m.falls_short()]
    assert {m.pattern() for m in short} - {""} == set(page.WHY)
    assert all(m.why() not in ("", page.UNDECIDED) for m in short)


FAR = {"energy_difference": 0.3, "stiff_difference": 0.2}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "UNDECIDED"),
        ({"stiff_difference": 0.01}, "SOFT"),
        ({"stiff_difference": 0.01, "overlaps": 2}, "OVERLAP"),
        ({"overlaps": 2, "apart_difference": 0.02}, "OVERLAP"),
        ({"overlaps": 2, "apart_difference": 0.2}, "UNDECIDED"),
        ({"overlaps": 2, "apart_difference": 0.2, "spread": 0.31}, "CHAOS"),
        ({"spread": 0.29}, "UNDECIDED"),
        ({"spread": 0.31}, "CHAOS"),
    ],
)
def test_energies_that_end_elsewhere_have_a_measured_reason(
    page: ModuleType, change: dict, reason: str
) -> None:
    why = page.Model(**(GOOD | FAR | change)).why()
    assert why.startswith(getattr(page, reason).partition("{")[0])
