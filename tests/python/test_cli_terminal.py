"""The command line at a terminal: help that fits, short runs, a reader that goes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from stiction.cli import app
from typer.testing import CliRunner


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.025])
def test_a_run_shorter_than_what_is_timed_at_once_has_a_time(seconds: float) -> None:
    command = ("run", "solo12", "--seconds", str(seconds))
    got = json.loads(printed(*command, "--json"))
    assert got["steps"] == round(seconds / 1e-3) and 0.0 < got["us_per_step"] < 1e4
    assert "nan" not in printed(*command)


def test_a_reader_that_goes_is_no_error() -> None:
    command = [sys.executable, "-m", "stiction", "check-gradients", "solo12", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert said == b"" and process.returncode == 141


@pytest.mark.parametrize("group", [[], ["bench"], ["study"]])
def test_no_line_of_the_list_of_commands_is_cut(group: list[str]) -> None:
    listed = printed(*group, "--help").split("Commands:\n")[1]
    assert "..." not in listed and max(map(len, listed.splitlines())) <= 80
    assert all(len(line.split()) > 1 for line in listed.splitlines() if line)


def test_what_a_newcomer_needs_comes_first() -> None:
    listed = printed("--help").split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines()]
    assert names[:4] == ["run", "view", "demo", "doctor"]
    assert set(names) >= {"bench", "study", "sweep", "docs", "check-gradients"}
    assert len(set(names)) == len(names)


def test_a_comparison_in_a_pipe_has_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = printed("compare", "solo12", "--steps", "1", "--solvers", "ncp-newton,ccp-newton,raisim")
    assert max(map(len, text.splitlines())) <= 80 and "next v" in text
    nothing = printed("compare", "ball-drop", "--steps", "1", "--solvers", "ncp-newton")
    assert "No contacts: nothing touches in this step." in nothing
