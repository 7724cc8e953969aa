"""A study's part of a page: machine, count of statements, and every experiment."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from ..rulings import RULINGS, Kind, Ruling
from ..rulings.ruling import Stored
from ..rulings.statements import UNTOLD, Statement, count, statements
from .markdown import table
from .pages import Page
from .views import COLUMNS_MOST, ROWS_MOST, View

TABLES = Path("docs/tables")
"""Of the CSV files: TABLES/<prefix>/<experiment>_<number>.csv."""


def content(study: str, page: Page, stored: Stored) -> str:
    """What stands between the markers of a study's page."""
    document, rulings = stored.document("study"), RULINGS[study]
    parts = [_machine(document), _counted(document, rulings, page.source)]
    level = "###" if study == "gjk" else "##"
    for experiment in document["experiments"]:
        parts.append(f"{level} {experiment['title']}")
        parts += _experiment(experiment, page, rulings, stored)
    return "\n\n".join(part for part in parts if part)


def _machine(document: dict[str, Any]) -> str:
    facts = document["facts"]
    return (
        f"{facts['cpu']}, {facts['date'][:10]}, share {facts['share of the full study']} of the "
        f"full study, seed {facts['seed']}, load of the machine {facts['load']}. "
        f"{facts.get('note', '')}"
    ).rstrip()


def _counted(document: dict[str, Any], rulings: Sequence[Ruling], source: str) -> str:
    counts = count(document, rulings)
    total = sum(counts.values())
    if not total:
        return ""
    noise, misprints = counts[UNTOLD], counts[Kind.MISPRINT.value]
    failing = total - counts["holds"] - noise - misprints
    text = f"Of {total} statements of {source}, each counted once, {counts['holds'] or 'none'} hold"
    if misprints:
        text += f", {misprints} hold with the authors' code and not as printed{_cause(rulings)}"
    if noise:
        text += (
            f", {noise} cannot be told from the times (two within 5 % of each other, or of solves "
            "that had nothing to do)"
        )
    if not failing:
        one = f"The one statement of {source} that is checked holds."
        return text + "." if total > 1 else one
    kinds = ", ".join(
        f"{counts[kind.value]} {word}"
        for kind, word in (
            (Kind.PAPER, "because the paper fails"),
            (Kind.OURS, "because our experiment differs"),
            (Kind.UNDECIDED, "for reasons that are undecided"),
        )
        if counts[kind.value]
    )
    return (
        f"{text} and {failing} do not: {kinds}. What decided, or would decide, each of them stands "
        "below its table of statements."
    )


def _cause(rulings: Sequence[Ruling]) -> str:
    """Misprints with the same reason are one finding."""
    causes = {ruling.why for ruling in rulings if ruling.kind is Kind.MISPRINT}
    return ", all for one misprint" if len(causes) == 1 else f", for {len(causes)} misprints"


def _experiment(
    experiment: dict[str, Any], page: Page, rulings: Sequence[Ruling], stored: Stored
) -> list[str]:
    found = statements(experiment, rulings)
    parts = [_run(experiment), experiment.get("setup", "")]
    if found:
        rows = [[one.text, one.ours, one.verdict] for one in found]
        parts.append(table([f"{page.source} says", "here", ""], rows))
    parts += [_reason(one, stored) for one in found if one.ruling is not None]
    name = experiment["name"]
    for number, image in page.images(name).items():
        parts.append(f"![{experiment['title']}](images/{image})")
        parts.append(f"*{experiment['captions'][number - 1]}*")
    tables = experiment["tables"]
    shown = page.views[name](tables) if name in page.views else _small(tables)
    for view in shown:
        parts += [f"**{view.title}**\n\n{table(view.columns, view.rows)}", view.note]
    parts.append(_files(experiment, page))
    parts.append(experiment.get("explanation", ""))
    return parts


def _run(experiment: dict[str, Any]) -> str:
    """Of an experiment that is of a later run than the rest."""
    if "run" not in experiment:
        return ""
    run = experiment["run"]
    share = (
        "" if run["share of the full study"] == "1" else f", share {run['share of the full study']}"
    )
    return f"This experiment: {run['cpu']}, {run['date'][:10]}{share}, load {run['load']}."


def _reason(one: Statement, stored: Stored) -> str:
    assert one.ruling is not None
    return f"- *{one.text}* {one.ruling.kind.value.capitalize()}. {one.ruling.text(stored)}"


def _small(tables: list[dict[str, Any]]) -> list[View]:
    fits = [t for t in tables if len(t["columns"]) <= COLUMNS_MOST and len(t["rows"]) <= ROWS_MOST]
    return [View(t["title"], t["columns"], t["rows"], t["note"]) for t in fits[:1]]


def _files(experiment: dict[str, Any], page: Page) -> str:
    links = [
        f"[{t['title']}](tables/{page.prefix}/{path.name})"
        for path, t in zip(_paths(experiment, page), experiment["tables"], strict=True)
    ]
    return f"All tables as CSV: {'; '.join(links)}." if links else ""


def _paths(experiment: dict[str, Any], page: Page) -> list[Path]:
    count_ = len(experiment["tables"])
    return [TABLES / page.prefix / f"{experiment['name']}_{k + 1}.csv" for k in range(count_)]


def csv_files(document: dict[str, Any], page: Page) -> dict[Path, str]:
    """Path -> text of every table of a stored study."""
    files = {}
    for experiment in document["experiments"]:
        for path, t in zip(_paths(experiment, page), experiment["tables"], strict=True):
            text = StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(t["columns"])
            writer.writerows(t["rows"])
            files[path] = text.getvalue()
    return files
