"""Tables in Markdown, and the places of a page that are generated."""

from __future__ import annotations

from collections.abc import Sequence


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], marks: Sequence[str] | None = None
) -> str:
    """With a line under the heads; `marks` align the columns, "---:" to the right."""
    under = marks or ["---"] * len(columns)
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join(under) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def replace(text: str, name: str, content: str) -> str:
    """A page with other content between the markers of that name."""
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, rest = text.split(start)
    return f"{before}{start}\n{content}\n{end}{rest.split(end)[1]}"


def between(text: str, name: str) -> str:
    """What stands between the markers."""
    return text.split(f"<!-- {name}:start -->\n")[1].split(f"\n<!-- {name}:end -->")[0]
