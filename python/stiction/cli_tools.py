"""What the commands share: errors in one line, JSON alone, progress only for a person."""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

P = ParamSpec("P")
R = TypeVar("R")

MISTAKES = (ValueError, RuntimeError, OSError, ImportError, LookupError, OverflowError)
"""What a command turns into one line and exit code 1; anything else is a bug."""


class UsageError(ValueError):
    """An option's value with which the command makes no sense: exit code 2, as for an option that
    does not exist."""


def stdout() -> Console:
    """Where results go; 80 columns in a file or a pipe, unless COLUMNS says otherwise."""
    return Console(markup=False, width=shutil.get_terminal_size().columns)


def stderr() -> Console:
    """Where progress and errors go."""
    return Console(stderr=True, markup=False)


ORDER = ("run", "view", "demo", "doctor", "scenes", "solvers", "compare", "explain", "solve")
"""Of the commands in the help: what a newcomer needs first; others follow as they are added."""


class OneLineGroup(TyperGroup):
    """The whole command: an option that does not exist or does not parse is one line and code 2."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the help."""
        names = super().list_commands(ctx)
        return [*(n for n in ORDER if n in names), *(n for n in names if n not in ORDER)]

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """As of its base; errors of the command line without usage and frame."""
        run = functools.partial(
            super().main, args, prog_name, complete_var, False, windows_expand_args, **extra
        )
        if not standalone_mode:
            return run()
        try:
            code = run()
        except typer.Abort:
            typer.echo("stiction: aborted", err=True)
            sys.exit(1)
        except Exception as error:
            # Click's exceptions, whose module differs between versions of typer, have both methods.
            if not (hasattr(error, "format_message") and hasattr(error, "show")):
                raise
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                typer.echo(f"stiction: {' '.join(error.format_message().split())}", err=True)
            sys.exit(getattr(error, "exit_code", 2))
        sys.exit(code if isinstance(code, int) else 0)


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose mistakes end in one line on standard error and exit code 1, or 2."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return command(*args, **kwargs)
        except BrokenPipeError as error:  # who reads has gone, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(128 + signal.SIGPIPE) from error
        except MISTAKES as error:
            typer.echo(f"stiction: {_line_of(error)}", err=True)
            raise typer.Exit(2 if isinstance(error, UsageError) else 1) from error

    return wrapper


def _line_of(error: BaseException) -> str:
    """Its message; of a file that cannot be used its name and why, without a number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return " ".join(str(error).split()) or type(error).__name__


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line, without the place in our sources that raised it."""
    typer.echo(f"stiction: warning: {message}", err=True)


def print_json(document: Any) -> None:
    """One JSON document on standard output; numbers that are not finite become null."""
    typer.echo(json.dumps(finite(document), indent=1))


def finite(value: Any) -> Any:
    """The same document with null for numbers that are not finite, which JSON does not know."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def step_progress(text: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, silent where nobody looks; yields on_step(done, total)."""
    console = stderr()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(text, total=None)

        def on_step(done: int, total: int) -> None:
            if done % 50 == 0 or done == total:
                progress.update(task, completed=done, total=total)

        yield on_step


@contextmanager
def line_progress(text: str) -> Iterator[Callable[[str], None]]:
    """A changing line on standard error, silent where nobody looks; yields tick(line).

    It is drawn by tick alone: a spinner's thread would disturb what is being timed.
    """
    console = stderr()
    column = TextColumn("{task.description}", markup=False)
    hidden = not console.is_terminal
    with Progress(column, console=console, transient=True, auto_refresh=False, disable=hidden) as p:
        task = p.add_task(text)

        def tick(line: str) -> None:
            p.update(task, description=f"{text}: {line}")
            p.refresh()

        yield tick


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """A spinner on standard error, silent where nobody looks."""
    console = stderr()
    columns = (SpinnerColumn(), TextColumn(text))
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        progress.add_task(text)
        yield
