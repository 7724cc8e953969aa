"""Texts of the repository outside of docs/ as pages: architecture, READMEs of src/, changes.

They are written to `docs/internals/` before Sphinx reads, with links that lead to pages of the
manual; pages of docs/ that link to such a text are led there too.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
FOLDER = DOCS / "internals"
PARTS = {
    "benchmark.md": ("# Benchmark\n", "## Benchmark", "## Licence", FOLDER / "benchmark.md"),
    "limits.txt": ("", "## Limits", "## Benchmark", DOCS / "limits.md"),
}
"""Of README.md: file, heading, from, to, and the page that it becomes or is included by."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
README_PARTS = {"#benchmark": FOLDER / "benchmark.md", "#limits": DOCS / "limits.md"}
"""Pages of headings of README.md that are linked to."""
NAMED = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


def pages() -> dict[Path, Path]:
    """Source and page of each."""
    found = {ROOT / name: FOLDER / name.lower() for name in NAMED}
    readmes = [*sorted((ROOT / "src").rglob("README.md")), ROOT / "scenes" / "README.md"]
    found |= {x: FOLDER / ("_".join(x.relative_to(ROOT).parts[:-1]) + ".md") for x in readmes}
    tosses = ROOT / "tests" / "data" / "tosses" / "README.md"
    return found | {tosses: FOLDER / "data_tosses.md", ROOT / "README.md": DOCS / "index.md"}


def write(app: Sphinx) -> None:
    """Only what changed, so that a second build reads nothing again."""
    FOLDER.mkdir(exist_ok=True)
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, (head, first, last, page) in PARTS.items():
        part = text.split(f"\n{first}\n")[1].split(f"\n{last}\n")[0]
        write_changed(FOLDER / name, head + relinked(part, readme, page))
    for source, page in pages().items():
        if page.parent != FOLDER:
            continue
        text = relinked(source.read_text(encoding="utf-8"), source, page)
        text = re.sub(r"^```mermaid", "```text", text, flags=re.MULTILINE)
        write_changed(page, text)


def write_changed(page: Path, text: str) -> None:
    if not page.is_file() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def relinked(text: str, source: Path, page: Path) -> str:
    """Links of a text that moves from `source` to `page`."""
    known = pages()

    def of(found: re.Match[str]) -> str:
        picture, label, target, anchor = found.groups()
        if not target or re.match(r"[a-z]+:", target):
            return found.group(0)
        path = Path(os.path.normpath(source.parent / target))
        if path.is_dir():
            return label
        if path == ROOT / "README.md" and anchor in README_PARTS:
            path, anchor = README_PARTS[anchor], None
        path = known.get(path, path)
        if not path.is_file() and path.parent != FOLDER:
            return label
        if path.suffix == ".md" and DOCS not in path.parents:
            return label
        return f"{picture}[{label}]({os.path.relpath(path, page.parent)}{anchor or ''})"

    return LINK.sub(of, text)


def lead_on(app: Sphinx, name: str, source: list[str]) -> None:
    """Links of pages of docs/ to such texts."""
    page = DOCS / f"{name}.md"
    if page.is_file() and page.parent != FOLDER:
        source[0] = relinked(source[0], page, page)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    app.connect("source-read", lead_on)
    return {"version": "1", "parallel_read_safe": True}
