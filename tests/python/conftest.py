"""What holds for every test: which skips may happen, and no terminal width from outside."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """A shell that starts a job in the background lets it ignore Ctrl-C, and its children too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


ALLOWED_SKIPS = {
    "tests/python/test_bench_drake.py": "Drake is not installed",
    "tests/python/test_mjcf.py": "gymnasium is not installed",
    "tests/python/test_published_law.py": "STICTION_REFERENCE_DATA names no folder",
    "tests/python/test_stiff_contact_study.py": "STICTION_REFERENCE_DATA names no folder",
}
"""Files whose tests may be skipped, and the reason they must give. Any other skip fails the run."""


def may_skip(path: str, reason: str) -> bool:
    """Whether a skip at `path` (as pytest prints it) for `reason` is one of those expected."""
    return any(
        path.endswith(name.removeprefix("tests/python/")) and why in reason
        for name, why in ALLOWED_SKIPS.items()
    )


def unexpected_skips(reporter: pytest.TerminalReporter) -> list[str]:
    """Skips that no entry of ALLOWED_SKIPS covers, one line each."""
    lines = []
    for report in reporter.stats.get("skipped", []):
        if hasattr(report, "wasxfail"):
            continue
        path, _, reason = report.longrepr
        if not may_skip(report.nodeid.split("::")[0] or path, reason):
            lines.append(f"{report.nodeid}: {reason}")
    return lines


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A test that was skipped without being on the list has not passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker process; the first process sees all reports
        return
    for line in unexpected_skips(reporter):
        reporter.write_line(f"skipped, and not on the list in conftest.py: {line}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def own_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are as wide as in a pipe, whatever the terminal that runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
