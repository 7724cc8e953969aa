"""Calls of the command line in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stiction.cli import app
from typer.testing import CliRunner, Result


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: str | Path) -> Any:
    """What a command with --json prints: one document, and nothing on standard error."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def failure(*arguments: str | Path) -> str:
    """The one line a failing command leaves on standard error; standard output stays empty."""
    result = invoke(*arguments)
    assert result.exit_code not in (0, None) and result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("stiction: "), result.stderr
    return lines[0]
