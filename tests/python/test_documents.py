"""Every Python block of the pages a newcomer reads runs as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/start.md",
    "docs/compare.md",
    "docs/concepts.md",
    "docs/robots.md",
    "docs/gradients.md",
    "docs/derivatives.md",
)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[int, str]]:
    """Line number and text of each."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [(text[: m.start(1)].count("\n"), m.group(1)) for m in BLOCK.finditer(text)]
    return [(line, code) for line, code in found if "import crocoddyl" not in code]  # by its tests


def test_there_are_blocks() -> None:
    assert all(blocks(page) for page in PAGES if page != "docs/concepts.md")


@pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # what they write
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, text in blocks(page):
        # As many empty lines before it as the page has: a traceback names the page's line.
        exec(compile("\n" * line + text, page, "exec"), namespace)
