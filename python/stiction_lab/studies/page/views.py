"""What a page shows of an experiment's tables: at most eight columns and thirty rows of one or two;
all of them are CSV files beside the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

COLUMNS_MOST, ROWS_MOST = 8, 30
Rows = list[list[str]]


@dataclass(frozen=True)
class View:
    """A table as a page shows it."""

    title: str
    columns: Sequence[str]
    rows: Rows
    note: str = ""


Views = Callable[[list[dict[str, Any]]], list[View]]
"""An experiment's stored tables -> those shown."""


def whole(*titles: str) -> Views:
    """Tables as they are; no title: the first."""

    def show(tables: list[dict[str, Any]]) -> list[View]:
        return [_view(t) for t in (_named(tables, titles) if titles else tables[:1])]

    return show


def columns(title: str, chosen: Sequence[int], note: str | None = None) -> Views:
    """Some columns of the table whose title begins so.

    Args:
        note: in place of the table's own, where that tells of columns left out.
    """

    def show(tables: list[dict[str, Any]]) -> list[View]:
        [t] = _named(tables, (title,))
        rows = [[row[k] for k in chosen] for row in t["rows"]]
        shown = t["note"] if note is None else note
        return [View(t["title"], [t["columns"][k] for k in chosen], rows, shown)]

    return show


def joined(title: str, heads: Sequence[str], chosen: Sequence[int], share: int = 0) -> Views:
    """Tables with the same first column side by side.

    Args:
        heads: of each table, before the names of its columns.
        chosen: columns taken of each.
        share: if not 0, how many columns after a chosen one its share stands, which follows in
            brackets where it is not 100%.
    """

    def show(tables: list[dict[str, Any]]) -> list[View]:
        used = tables[: len(heads)]
        names = [
            f"{h}, {t['columns'][k]}" for h, t in zip(heads, used, strict=True) for k in chosen
        ]
        rows = []
        for lines in zip(*(t["rows"] for t in used), strict=True):
            cells = [_cell(line, k, share) for line in lines for k in chosen]
            rows.append([lines[0][0], *cells])
        return [View(title, [used[0]["columns"][0], *names], rows, used[0]["note"])]

    return show


def _cell(line: list[str], k: int, share: int) -> str:
    if not share or line[k + share] == "100%":
        return line[k]
    return f"{line[k]} ({line[k + share]})"


def worst(title: str, column: str, most: int = 20) -> Views:
    """The rows with the largest numbers in one column."""

    def show(tables: list[dict[str, Any]]) -> list[View]:
        [t] = _named(tables, (title,))
        k = list(t["columns"]).index(column)
        rows = sorted(t["rows"], key=lambda row: -float(row[k] or 0.0))[:most]
        shown = f"{t['title']}: the {len(rows)} worst of {len(t['rows'])}"
        return [View(shown, t["columns"], rows, t["note"])]

    return show


def blocks(title: str, block: int, value: int, kept: Sequence[int]) -> Views:
    """Groups of rows, of which only the first names itself, as one row each.

    Args:
        block: column that names the row within its group.
        value: column that is spread over the blocks' names.
        kept: columns kept of the group's first row, before the values.
    """

    def show(tables: list[dict[str, Any]]) -> list[View]:
        [t] = _named(tables, (title,))
        groups: list[Rows] = []
        for row in t["rows"]:
            if row[0]:
                groups.append([])
            groups[-1].append(row)
        names = [row[block] for row in groups[0]]
        heads = [t["columns"][k] for k in kept]
        heads += [f"{t['columns'][value]}, {name}" for name in names]
        rows = [[g[0][k] for k in kept] + [row[value] for row in g] for g in groups]
        return [View(t["title"], heads, rows, t["note"])]

    return show


def turned(*titles: str) -> Views:
    """Tables of few rows and many columns, on their side."""

    def show(tables: list[dict[str, Any]]) -> list[View]:
        views = []
        for t in _named(tables, titles):
            rows = [list(column) for column in zip(*t["rows"], strict=True)]
            heads, *body = [[name, *row] for name, row in zip(t["columns"], rows, strict=True)]
            views.append(View(t["title"], heads, body, t["note"]))
        return views

    return show


def several(*views: Views) -> Views:
    """One after the other."""
    return lambda tables: [one for view in views for one in view(tables)]


def _view(t: dict[str, Any]) -> View:
    return View(t["title"], t["columns"], t["rows"], t["note"])


def _named(tables: list[dict[str, Any]], titles: Sequence[str]) -> list[dict[str, Any]]:
    """The first table whose title begins so, for each.

    Raises:
        KeyError: there is none.
    """
    found = []
    for title in titles:
        fits = [t for t in tables if t["title"].startswith(title)]
        if not fits:
            raise KeyError(f"no table {title!r}; there are: {[t['title'] for t in tables]}")
        found.append(fits[0])
    return found
