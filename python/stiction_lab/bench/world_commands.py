"""`stiction bench lanes` and `batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from stiction.cli_tools import guarded, line_progress, print_json, stdout

from .command_options import JsonOption, names_of, require_peer
from .results import update_results


def _give(name: str, document: dict[str, Any], results: Path | None, as_json: bool) -> None:
    """Stores the document under its name, and prints it."""
    from .lane_tables import lane_tables

    if results is not None:
        update_results(results, {name: document})
    if as_json:
        print_json(document)
    else:
        stdout().print(lane_tables(document))


@guarded
def lanes(
    scenarios: Annotated[str, typer.Option(help="Comma-separated names; empty: all of them.")] = "",
    worlds: Annotated[int, typer.Option(help="Stepped together.", min=8)] = 256,
    periods: Annotated[int, typer.Option(help="Of 20 steps with the same targets.", min=1)] = 30,
    results: Annotated[Path | None, typer.Option(help="Folder of the file to store it in.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Many worlds of a robot driven by random targets: time per world-step at every width."""
    from .lanes import bench_lanes

    with line_progress("lanes") as tick:
        document = bench_lanes(names_of(scenarios), worlds, periods, tick=tick)
    _give("lanes", document, results, as_json)


@guarded
def batch(
    scenarios: Annotated[str, typer.Option(help="Comma-separated names; empty: all of them.")] = "",
    peer: Annotated[str, typer.Option(help="Engine to compare with.")] = "mujoco",
    worlds: Annotated[int, typer.Option(help="Stepped together.", min=8)] = 1024,
    periods: Annotated[int, typer.Option(help="Of 20 steps with the same targets.", min=1)] = 20,
    results: Annotated[Path | None, typer.Option(help="Folder of the file to store it in.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Batch of worlds driven by random targets beside mujoco.rollout, on one thread and on two."""
    require_peer(peer)
    from .batch import bench_batch

    with line_progress("batch") as tick:
        document = bench_batch(names_of(scenarios), worlds, periods, tick=tick)
    _give("batch", document, results, as_json)
