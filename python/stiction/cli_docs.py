"""`stiction docs`: opens the manual, that of the installed package or of this checkout."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from .cli_tools import guarded, print_json

PACKAGE = Path(__file__).resolve().parent
PLACES = (PACKAGE / "docs", PACKAGE.parents[1] / "build" / "docs")
"""A wheel that was built after `make docs` has it inside; a checkout has it where it is made."""


def find_manual() -> Path:
    """Its first page.

    Raises:
        FileNotFoundError: it was not built.
    """
    for place in PLACES:
        if (place / "index.html").is_file():
            return place / "index.html"
    raise FileNotFoundError(
        "the manual is not part of this installation; in a checkout `make docs` builds it"
    )


@guarded
def docs_command(
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Say where it is, start no browser.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Open the manual in a browser; it needs no network."""
    page = find_manual()
    if as_json:
        print_json({"page": str(page)})
    else:
        typer.echo(str(page))
    if not no_open and not as_json:
        webbrowser.open(page.as_uri())
