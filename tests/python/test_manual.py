"""The manual has a place for everything public, and what its pages promise to link is there."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

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


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_links_of_the_repository_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text("utf-8")):
        assert (ROOT / target).exists(), target


def extension(name: str) -> object:
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
