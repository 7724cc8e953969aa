"""The manual has a place for everything public, and what its pages promise to link is there."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import stiction

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def documented(text: str) -> list[str]:
    """Names that `python-api` directives of a page of the package itself list."""
    found: list[str] = []
    for block in re.findall(r"^\.\. python-api:: (.+(?:\n   .+)*)", text, re.MULTILINE):
        if ":module:" not in block:
            found += block.split()
    return found


def test_every_public_name_is_on_one_page_of_the_api() -> None:
    pages = (DOCS / "api").glob("*.rst")
    names = [name for page in pages for name in documented(page.read_text("utf-8"))]
    public = [n for n in stiction.__all__ if not n.startswith("__") and n != "materials"]
    assert sorted(names) == sorted(public)


def test_every_folder_of_headers_has_a_page() -> None:
    listed = re.findall(
        r"\.\. cpp-api:: (\w+)", "".join(p.read_text() for p in (DOCS / "cpp").glob("*.rst"))
    )
    assert sorted(listed) == sorted(p.name for p in (ROOT / "include" / "stiction").iterdir())


PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        *ROOT.glob("*.md"),
        *(ROOT / "src").rglob("README.md"),
        ROOT / "scenes" / "README.md",
        *DOCS.rglob("*.md"),
    )
    if path.parent != DOCS / "internals"  # which are made, and are not in the repository
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|:::+)[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)


def links(page: str) -> list[str]:
    """Targets in the repository, with their anchors; nothing of code."""
    text = re.sub(r"`[^`\n]*`(?!\])", "", FENCE.sub("", (ROOT / page).read_text("utf-8")))
    return [x for x in LINK.findall(text) if not re.match(r"[a-z]+:", x)]


def anchors(path: Path) -> set[str]:
    """Of the headings of a page, as GitHub and the manual name them, and labels."""
    text = FENCE.sub("", path.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}
    return slugs | set(re.findall(r"^\((\S+)\)=$", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_of_the_repository(page: str) -> None:
    """On the repository's own page, without the manual being built."""
    for link in links(page):
        target, _, anchor = link.partition("#")
        path = (ROOT / page).parent / target if target else ROOT / page
        assert path.exists(), link
        assert DOCS / "internals" not in path.resolve().parents, link
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), link


def test_links_of_the_manual_stay_in_it() -> None:
    """What pages of docs/ link in the repository outside becomes a page of the manual: `relinked`
    drops no link that has one."""
    pages = extension("repository_pages")
    led = 0
    for page in DOCS.rglob("*.md"):
        if page.parent == pages.FOLDER:
            continue
        for link in links(str(page.relative_to(ROOT))):
            path = (page.parent / link.partition("#")[0]).resolve()
            if path.suffix == ".md" and DOCS not in path.parents:
                moved = pages.relinked(f"[x]({link})", page, page)
                target = moved.removeprefix("[x](").removesuffix(")").partition("#")[0]
                there = (page.parent / target).resolve()
                assert there in {*pages.pages().values(), *pages.README_PARTS.values()}, link
                led += 1
    assert led > 10
    text = pages.relinked("[x](../README.md#benchmark)", DOCS / "faq.md", DOCS / "faq.md")
    assert text == "[x](internals/benchmark.md)"


def extension(name: str) -> Any:
    """A module of docs/_ext that needs no Sphinx."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_docstrings_become_markup() -> None:
    lines = extension("docstrings").converted(
        """Says |x| of `known` and `other thing`, lambda_ times *two*.

        sim.step()

        Args:
            a, b: two
                lines.
            *rest: more.

        Returns:
            A `known`.

        Raises:
            ValueError: never.
        """.replace("\n        sim", "\n            sim"),
        {"known": "stiction.known"}.get,
    )
    assert lines[0].startswith(
        r"Says \|x\| of :py:obj:`known <stiction.known>`\  and ``other thing``\ , "
    )
    assert lines[0].endswith(r"lambda\_ times \*two\*.")
    assert "::" in lines and "    sim.step()" in lines
    assert ":param a, b: two lines." in lines and r":param \*rest: more." in lines
    assert r":returns: A :py:obj:`known <stiction.known>`\ ." in lines
    assert ":raises ValueError: never." in lines
