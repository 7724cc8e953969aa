"""The pages of the studies: every "does not hold" has its reason, every number its stored place."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from stiction_lab.studies.deciding import EXPERIMENTS, decide, store, sweeps
from stiction_lab.studies.page.content import TABLES, content, csv_files
from stiction_lab.studies.page.markdown import between
from stiction_lab.studies.page.pages import PAGES
from stiction_lab.studies.page.views import COLUMNS_MOST, ROWS_MOST
from stiction_lab.studies.rulings import RULINGS, Kind, Ruling
from stiction_lab.studies.rulings.ruling import Stored
from stiction_lab.studies.rulings.statements import count, statements

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results"
STORED = {
    study: next(RESULTS.glob(f"*-{study}-study.json")).name.removesuffix(f"-{study}-study.json")
    for study in PAGES
}
"""Study -> machine."""


def stored(study: str) -> Stored:
    return Stored(RESULTS / f"{STORED[study]}.json", study)


# --- rulings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", PAGES)
def test_every_failing_statement_has_one_ruling_and_every_ruling_a_failing_statement(
    study: str,
) -> None:
    failing = [
        (experiment["name"], one.text)
        for experiment in stored(study).document("study")["experiments"]
        for one in statements(experiment, RULINGS[study])
        if one.holds is False
    ]
    ruled = [(ruling.experiment, ruling.statement) for ruling in RULINGS[study]]
    assert sorted(failing) == sorted(ruled)
    assert len(set(ruled)) == len(ruled)


def test_numbers_of_rulings_are_stored() -> None:
    for study, rulings in RULINGS.items():
        for ruling in rulings:
            text = ruling.text(stored(study))
            assert "{" not in text and "None" not in text, text
            if "deciding|" in "".join(ruling.numbers.values()):
                assert any(c.isdigit() for c in text)


def document(*claims: tuple[str, str, bool | None]) -> dict[str, Any]:
    """Of experiments `one` and, for claims whose statement starts with a star, `two`."""
    verdicts = {True: "holds", False: "does not", None: "within noise"}
    made: dict[str, list[dict[str, Any]]] = {"one": [], "two": []}
    for statement, ours, holds in claims:
        name = "two" if statement.startswith("*") else "one"
        claim = {"statement": statement.lstrip("*"), "ours": ours, "holds": holds}
        made[name].append(claim | {"verdict": verdicts[holds]})
    return {"experiments": [{"name": n, "claims": c} for n, c in made.items()]}


def test_variants_and_repetitions_are_counted_once() -> None:
    rulings = (
        Ruling("one", "a is less", Kind.PAPER, "", ""),
        Ruling("one", "c", Kind.PAPER, "", ""),
        Ruling("two", "c", Kind.UNDECIDED, "", ""),
        Ruling("one", "e", Kind.MISPRINT, "", ""),
    )
    found = document(
        ("a is less (printed)", "2", False),
        ("a is less (code)", "1", True),
        ("b (alone)", "3", True),
        ("c", "4", False),
        ("*c", "5", False),
        ("*d", "6", None),
        ("e (printed)", "7", False),
        ("e (code)", "8", True),
    )
    assert count(found, rulings) == {
        "holds": 1,
        "within noise": 1,
        "undecided": 1,  # c: the paper fails in one, not known in the other
        "our experiment differs": 0,
        "the paper fails": 1,
        "misprint: holds with the authors' code": 1,
    }
    first, alone, _, printed = statements(found["experiments"][0], rulings)
    assert first.ours == "printed: 2 (does not)<br>code: 1 (holds)"
    assert first.verdict == "**does not**: the paper fails"
    assert alone.text == "b (alone)" and alone.ours == "3"
    assert printed.verdict == "misprint: holds with the authors' code"


def test_a_failing_statement_without_a_ruling_is_refused() -> None:
    with pytest.raises(KeyError, match="'c' does not hold and has no ruling"):
        count(document(("c", "4", False)), ())


def test_a_missing_number_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"rows": [{"solver": "pgs", "ms": 2.0}]}))
    here = Stored(tmp_path / "m.json", "gjk")
    assert here.find("results|rows|pgs|ms") == 2.0
    with pytest.raises(KeyError, match=r"m\.json has no 'admm' of 'results\|rows\|admm\|ms'"):
        here.find("results|rows|admm|ms")
    with pytest.raises(KeyError, match=r"deciding\.json is missing"):
        here.find("deciding|walk")


# --- pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", PAGES)
def test_pages_are_those_of_the_stored_documents(study: str) -> None:
    """Mended by tools/study_page.py."""
    page = PAGES[study]
    text = (ROOT / page.path).read_text()
    assert between(text, "study") == content(study, page, stored(study))
    files = csv_files(stored(study).document("study"), page)
    assert {p: (ROOT / p).read_text() for p in files} == files
    assert set((ROOT / TABLES / page.prefix).iterdir()) == {ROOT / p for p in files}


@pytest.mark.parametrize("study", PAGES)
def test_tables_of_pages_can_be_read(study: str) -> None:
    lines = content(study, PAGES[study], stored(study)).split("\n")
    rows = 0
    for line in lines:
        rows = rows + 1 if line.startswith("|") else 0
        assert rows <= ROWS_MOST + 2, line
        assert line.count(" | ") < COLUMNS_MOST, line


@pytest.mark.parametrize("study", PAGES)
def test_figures_of_pages_exist_and_have_captions(study: str) -> None:
    page = PAGES[study]
    text = content(study, page, stored(study))
    for name in page.figures:
        assert page.images(name)
        for image in page.images(name).values():
            assert (ROOT / "docs" / "images" / image).is_file()
            assert text.split(f"images/{image})")[1].startswith("\n\n*"), image


# --- deciding experiments -----------------------------------------------------------------------


def test_deciding_experiments_are_all_stored() -> None:
    assert list(json.loads((RESULTS / "deciding.json").read_text())) == list(EXPERIMENTS)


def test_deciding_experiments_give_what_is_stored(tmp_path: Path) -> None:
    """The cheap ones at their full size; storing leaves the others alone."""
    kept = json.loads((RESULTS / "deciding.json").read_text())
    found = decide(["own velocity"], 1.0, lambda name: None)
    for key in ("exact", "own"):
        assert found["own velocity"][key] == pytest.approx(kept["own velocity"][key], rel=0.5)
    assert found["own velocity"]["own"] < 1e-12 < found["own velocity"]["exact"]
    path = tmp_path / "deciding.json"
    store({"sizes": {"cases": []}}, path)
    store(found, path)
    assert list(json.loads(path.read_text())) == ["own velocity", "sizes"]


def test_an_alternation_of_exact_programs_settles_on_an_easy_problem() -> None:
    pytest.importorskip("clarabel")
    found = decide(["exact alternation"], 0.1, lambda name: None)["exact alternation"]["problems"]
    by_name = {row["problem"]: row for row in found}
    assert by_name["1000 kg on 1 g"]["most"] < 1e-6
    assert by_name["1000 kg on 1 g, pulled to slide"]["least"] > 1e-2


def test_the_printed_step_overshoots_where_one_eigenvalue_dominates() -> None:
    """G = diag(0.01, 0.01, 1): 3 / tr G is 2.9 times what the normal row bears."""
    problem = stiction.ContactProblem(
        np.diag([0.01, 0.01, 1.0]), np.array([0.0, 0.0, -1.0]), np.array([0.5])
    )
    moved = sweeps._swept(problem, sweeps._onto_cone, sweeps._mean_of_block, 1000)
    assert moved > 0.5
    assert stiction.solve(problem, "ccp-pgs", 1e-9, max_iterations=1000).converged
    alike = stiction.ContactProblem(np.eye(3), np.array([-3.0, 0.0, -1.0]), np.array([0.5]))
    assert sweeps._swept(alike, sweeps._onto_cone, sweeps._mean_of_block, 100) < 1e-12
    assert sweeps._swept(alike, sweeps._onto_box, sweeps._least_tangential, 100) < 1e-12


# --- the tool -----------------------------------------------------------------------------------


def tool() -> Any:
    """tools/study_page.py as a module."""
    spec = importlib.util.spec_from_file_location("study_page", ROOT / "tools" / "study_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_of_some_experiments_takes_their_places() -> None:
    facts = {"cpu": "new", "date": "2026", "load": 0.1, "share of the full study": "1"}
    before = {
        "experiments": [{"name": "a", "x": 1}, {"name": "b", "x": 2}],
        "facts": facts | {"cpu": "old"},
    }
    some = {"experiments": [{"name": "b", "x": 3}], "facts": facts}
    found = tool().merged(before, some)
    assert found["facts"] == before["facts"]
    assert found["experiments"] == [{"name": "a", "x": 1}, {"name": "b", "x": 3, "run": facts}]
    everything = {"experiments": [{"name": "b"}, {"name": "a"}], "facts": facts}
    assert tool().merged(before, everything) is everything


def test_the_facts_are_those_of_the_run_with_more_experiments() -> None:
    facts = {"cpu": "new", "date": "2026", "load": 0.1, "share of the full study": "1"}
    old = facts | {"cpu": "old"}
    before = {"experiments": [{"name": n, "x": 1} for n in "abc"], "facts": old}
    most = {"experiments": [{"name": n, "x": 2} for n in "acd"], "facts": facts}
    found = tool().merged(before, most)
    assert found["facts"] == facts
    expected = [{"name": "a", "x": 2}, {"name": "b", "x": 1, "run": old}]
    assert found["experiments"] == [*expected, {"name": "c", "x": 2}, {"name": "d", "x": 2}]
