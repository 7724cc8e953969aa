"""Cells of tables that are a number or a name do not break at their hyphens: 6e-12, ncp-newton."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 16
"""Characters of a cell that stays on one line."""


def mark(app: Sphinx, document: nodes.document, docname: str) -> None:
    for cell in document.findall(nodes.entry):
        if len(cell.astext()) <= LONGEST:
            cell["classes"].append("short")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", mark)
    return {"version": "1", "parallel_read_safe": True}
