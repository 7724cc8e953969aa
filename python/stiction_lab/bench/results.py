"""The results file of a machine: one JSON document, a section per benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stiction.cli_tools import finite

from . import machine


def results_file(folder: Path) -> Path:
    """Of this processor."""
    return folder / f"{machine.slug()}.json"


def update_results(folder: Path, sections: dict[str, Any]) -> Path:
    """Replace these top-level sections of the file and keep all others; returns the file.

    Raises:
        ValueError: the file is there but holds no JSON object; it is left alone.
    """
    path = results_file(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    document: Any = {}
    if path.is_file():
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path} is not JSON ({error}); move it away") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path} holds no JSON object; move it away")
    text = json.dumps(finite(document | sections), indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    return path
