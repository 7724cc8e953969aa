"""The tables of the README and of the page on batches are the results files, row by row."""

import copy
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location(
        "readme_benchmark", ROOT / "tools" / "readme_benchmark.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_what_the_files_say(tool):
    for page, sections in tool.PAGES.items():
        text = page.read_text()
        assert tool.rendered(text, tool.load_files(), sections) == text, (
            "run python tools/readme_benchmark.py benchmarks/results"
        )


def test_every_row_is_printed(tool):
    """As many lines as the documents have measurements, those where ours is slower among them."""
    for data in tool.load_files().values():
        if "results" in data:
            expected = len(data["refused"])
            for r in data["results"]:
                expected += 1 + len(r["other_tolerances"]) + bool(r["noise"]) + 2 * bool(r["kicks"])
            assert len(tool.block("results", {"file": data})) == expected + 5
        if "drops" in data:
            lines = tool.block("drops", {"file": data})
            assert len(lines) == 2 * 3 * len(data["drops"]["rows"]) + 5 + 5
            for row in data["drops"]["rows"]:
                best = min(
                    (e["ms"]["mean"], label)
                    for label, e in row["engines"].items()
                    if "mujoco" in label
                )[1]
                assert any(f"| {row['scene']} | {best} |" in line for line in lines)
                assert any(f"| {row['scene']} | stiction |" in line for line in lines)
        if "batch" in data:
            lines = tool.block("batch", {"file": data})
            assert len(lines) == len(data["batch"]["scenarios"]) + 5
        if "worst_step" in data:
            assert (
                len(tool.block("worst_step", {"file": data})) == len(data["worst_step"]["rows"]) + 5
            )


def test_another_number_is_another_text(tool):
    page = ROOT / "README.md"
    text, files = page.read_text(), copy.deepcopy(tool.load_files())
    changed = next(data for data in files.values() if "results" in data)
    changed["results"][-1]["ours_us"] *= 2
    assert tool.rendered(text, files, tool.PAGES[page]) != text


def test_a_batch_without_the_widest_packs_or_of_an_older_version_has_its_row(tool):
    stored = next(data["batch"] for data in tool.load_files().values() if "batch" in data)
    head, rows = tool.batch_rows(stored)
    row = stored["scenarios"]["solo12-stand"]
    wide = {k: v for k, v in row["series"].items() if "-w4-" not in k}
    avx2 = {k.replace("-w8-", "-w4-"): v for k, v in wide.items()}
    (found,) = tool.batch_rows({"scenarios": {"solo12-stand": {"series": avx2}}})[1]
    expected = next(r for r in rows if r[0] == found[0])
    assert found[1:3] == ["-", expected[1]] and found[3:] == expected[3:], expected
    old = {k: {n: x for n, x in v.items() if n != "work"} for k, v in row["series"].items()}
    (found,) = tool.batch_rows({"scenarios": {"solo12-stand": {"series": old}}})[1]
    assert len(found) == len(head)
    assert found[:-3] == expected[:-3] and found[-3:] == ["-"] * 3
