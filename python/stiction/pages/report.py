"""One self-contained HTML page with tables, figures and claims, and a CSV file per experiment."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .experiment import Claim, Experiment, Table

VERDICT_CLASS = {True: "yes", False: "no", None: "small"}
STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")


def write_report(
    folder: Path,
    title: str,
    introduction: str,
    experiments: Sequence[Experiment],
    left_out: dict[str, str],
    facts: dict[str, Any],
) -> Path:
    """index.html and the CSV files; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        experiment.write_csv(folder)
        for k, (_, svg) in enumerate(experiment.figures):
            name = f"{experiment.name}_{k + 1}.svg"
            (folder / name).write_text(svg, encoding="utf-8")
    page = folder / "index.html"
    page.write_text(_page(title, introduction, experiments, left_out, facts), encoding="utf-8")
    return page


def write_page(
    path: Path, title: str, introduction: str, section: Experiment, facts: dict[str, Any]
) -> Path:
    """One page and nothing beside it, for an experiment without raw rows."""
    path.write_text(_page(title, introduction, [section], {}, facts), encoding="utf-8")
    return path


def _page(
    title: str,
    introduction: str,
    experiments: Sequence[Experiment],
    left_out: dict[str, str],
    facts: dict[str, Any],
) -> str:
    links = "".join(f'<a href="#{e.name}">{escape(e.title)}</a>' for e in experiments)
    listed = "; ".join(f"{escape(str(k))}: {escape(str(v))}" for k, v in facts.items())
    missing = "".join(
        f"<p class='no'>{escape(name)} was not run: {escape(why)}</p>"
        for name, why in left_out.items()
    )
    every = [claim for e in experiments for claim in e.claims]
    held, noise = (sum(claim.holds is x for claim in every) for x in (True, None))
    undecided = f"; {noise} cannot be told from noise" if noise else ""
    summary = f"<p>{held} of {len(every)} statements of the paper hold here{undecided}.</p>"
    summary = summary if every else ""
    body = "\n".join(_section(e) for e in experiments)
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{STYLE}</style></head><body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(introduction)}</p>\n{summary}\n{missing}\n"
        f"<p class='small'>{listed}</p>\n<nav>{links}</nav>\n{body}\n</body></html>\n"
    )


def _section(experiment: Experiment) -> str:
    parts = [f"<h2 id='{experiment.name}'>{escape(experiment.title)}</h2>"]
    parts.append(f"<p>{escape(experiment.setup)}</p>")
    if experiment.claims:
        parts.append(_claims(experiment.claims))
    parts += [_figure(caption, svg) for caption, svg in experiment.figures]
    parts += [_table(table) for table in experiment.tables]
    if experiment.explanation:
        parts.append(f"<h3>Why numbers differ</h3><p>{escape(experiment.explanation)}</p>")
    if experiment.columns:
        parts.append(f"<p class='small'>Raw rows: <a href='{experiment.name}.csv'>CSV</a></p>")
    return "\n".join(parts)


def _claims(claims: Sequence[Claim]) -> str:
    rows = "".join(
        f"<tr><td class='text'>{escape(c.statement)}</td><td class='text'>{escape(c.ours)}</td>"
        f"<td class='{VERDICT_CLASS[c.holds]}'>{c.verdict}</td></tr>"
        for c in claims
    )
    head = "<th class='text'>the paper says</th><th class='text'>here</th><th></th>"
    return f"<table><tr>{head}</tr>{rows}</table>"


def _figure(caption: str, svg: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    return (
        f"<figure><img alt='{escape(caption, quote=True)}' src='data:image/svg+xml;base64,{data}'>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(c)}</th>" for c in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = f"<p class='small'>{escape(table.note)}</p>" if table.note else ""
    return f"<h3>{escape(table.title)}</h3><table><tr>{head}</tr>{rows}</table>{note}"
