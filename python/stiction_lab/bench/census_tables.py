"""The tables of `stiction bench census`, for a terminal and as markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from stiction.fitted_table import FittedTable

from .census import MODES

__all__ = ["brief", "census_table", "summary", "write_census_page"]

COLUMNS = ("package", "files", "load", "with dofs", "pass", "raise", "cut off", "worst step [ms]")
FAILING = ("file", "mode", "steps ok", "first that is not", "what", "worst step [ms]")
START, END = "<!-- census:start -->", "<!-- census:end -->"

_PLACE = re.compile(r"^\S+\.(urdf|xml)(:\d+)*: ")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")

Row = dict[str, Any]


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """What the census is judged by."""
    loaded = [row for row in rows if row["loaded"]]
    passed = sum(row["passed"] for row in loaded)
    return {
        "files": len(rows),
        "loaded": len(loaded),
        "passed": passed,
        "share_passed": passed / len(loaded) if loaded else 1.0,
        "raised": sum(row["raised"] for row in rows),
        "refused": dict(Counter(kind_of(row["error"]) for row in rows if not row["loaded"])),
    }


def kind_of(error: str) -> str:
    """The error without what is of one file: its path and line, names in quotes, numbers."""
    text = _PLACE.sub("", error.partition(": ")[2] or error)
    text = _QUOTED.sub("...", text)
    words = ("#" if any(c.isdigit() for c in word) else word for word in text.split())
    return shorten(" ".join(words), 140, placeholder=" …")


def brief(document: dict[str, Any]) -> dict[str, Any]:
    """What is stored: of a file that passes its size and times alone, of one that does not load the
    reason."""
    rows = [_brief(row) for row in document["rows"]]
    return document | {"rows": rows, "summary": summary(document["rows"])}


def _brief(row: Row) -> Row:
    if not row["loaded"]:
        return {"file": row["file"], "error": row["error"]}
    if not row["passed"]:
        return row
    times = {name: round(mode["worst_ms"], 3) for name, mode in row["modes"].items()}
    ok = {name: mode["ok"] for name, mode in row["modes"].items() if mode["ok"] < row["planned"]}
    return {"file": row["file"], "nv": row["nv"], "worst_ms": times} | ({"ok": ok} if ok else {})


def package_cells(package: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """One line of the table."""
    loaded = [row for row in rows if row["loaded"]]
    modes = [mode for row in loaded for mode in row["modes"].values()]
    cut = sum(_is_cut_off(row) for row in loaded)
    worst = max((mode["worst_ms"] for mode in modes), default=0.0)
    return (
        package,
        str(len(rows)),
        str(len(loaded)),
        str(sum(row["nv"] > 0 for row in loaded)),
        str(sum(row["passed"] for row in loaded)),
        str(sum(row["raised"] for row in loaded)),
        str(cut),
        f"{worst:.1f}",
    )


def _is_cut_off(row: Row) -> bool:
    """Whether a limit of time ended one of its runs, or its process."""
    ends = [row["error"], *(mode["ended"] for mode in row["modes"].values())]
    return not row["raised"] and any(ends)


def lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """A line a package, and one of all."""
    by_package: dict[str, list[Row]] = {}
    for row in rows:
        by_package.setdefault(row["file"].partition("/")[0], []).append(row)
    found = [package_cells(package, own) for package, own in by_package.items()]
    return [*found, package_cells("all", rows)]


def failing(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """A line for each run that falls short of a file that loads."""
    found: list[tuple[str, ...]] = []
    for row in rows:
        if not row["loaded"] or row["passed"]:
            continue
        if not row["modes"]:
            found.append((row["file"], "", "", "", row["error"], ""))
        for name in MODES:
            mode = row["modes"].get(name)
            if mode is None or (mode["ok"] == row["planned"] and not mode["ended"]):
                continue
            first = mode["first"]
            at = f"{first['step']}: {first['solver']} {first['relative']:.0e}" if first else ""
            rows_of = f"{first['rows']} rows, {first['contacts']} contacts" if first else ""
            found.append(
                (
                    row["file"],
                    name,
                    f"{mode['ok']} of {row['planned']}",
                    at,
                    mode["ended"] or rows_of,
                    f"{mode['worst_ms']:.1f}",
                )
            )
    return found


def census_table(document: dict[str, Any]) -> FittedTable:
    """For a terminal."""
    rows, limits = document["rows"], document["limits"]
    told = summary(rows)
    table = FittedTable(
        f"Robot files, {limits['steps']} steps of 1 ms three times: "
        f"{told['passed']} of {told['loaded']} that load pass"
    )
    for name in COLUMNS:
        table.add_column(name)
    for cells in lines(rows):
        table.add_row(*cells)
    return table


def markdown(document: dict[str, Any]) -> str:
    """Both tables and what files are refused for."""
    rows, machine, limits = document["rows"], document["machine"], document["limits"]
    told = summary(rows)
    refused = sorted(told["refused"].items(), key=lambda item: -item[1])
    parts = [
        f"Measured on {machine['cpu']}, {machine['date'][:10]}, {limits['steps']} steps a run: of "
        f"{told['files']} files {told['loaded']} load, of these {told['passed']} pass "
        f"({100 * told['share_passed']:.1f} %), {told['raised']} raise an error in a step.",
        _table(COLUMNS, lines(rows), numbers=True),
        "## Files that fall short",
        _table(FAILING, failing(rows)),
        "## Files that do not load",
        _table(("files", "why"), [(str(n), why) for why, n in refused]),
    ]
    return "\n\n".join(parts)


def write_census_page(page: Path, document: dict[str, Any]) -> None:
    """Replaces the part of the page between the two marks.

    Raises:
        ValueError: the page has no such part.
    """
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise ValueError(f"{page}: has no part between {START} and {END}")
    head, tail = text.partition(START)[0], text.partition(END)[2]
    page.write_text(f"{head}{START}\n\n{markdown(document)}\n\n{END}{tail}", encoding="utf-8")


def _table(head: Sequence[str], body: Sequence[Sequence[str]], numbers: bool = False) -> str:
    rules = ["---", *(["---:" if numbers else "---"] * (len(head) - 1))]
    cells = [head, rules, *[[c.replace("|", "\\|") for c in row] for row in body]]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)
