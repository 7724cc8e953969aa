"""`stiction bench lanes` and `batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from stiction.cli_tools import guarded, line_progress, print_json, stdout

from .command_options import JsonOption, names_of, require_peer
from .results import update_results


@guarded
def lanes(
    scenarios: Annotated[str, typer.Option(help="Comma-separated names; empty: all of them.")] = "",
    worlds: Annotated[int, typer.Option(help="Stepped together.", min=8)] = 256,
    periods: Annotated[int, typer.Option(help="Of 20 steps with the same targets.", min=1)] = 30,
    results: Annotated[Path | None, typer.Option(help="Folder of the file to store it in.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Many worlds of a robot driven by random targets: time per world-step at every width."""
    from .lane_tables import lane_tables
    from .lanes import bench_lanes

    with line_progress("lanes") as tick:
        document = bench_lanes(names_of(scenarios), worlds, periods, tick=tick)
    if results is not None:
        update_results(results, {"lanes": document})
    if as_json:
        print_json(document)
    else:
        stdout().print(lane_tables(document))


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
    from .lane_tables import lane_tables

    with line_progress("batch") as tick:
        document = bench_batch(names_of(scenarios), worlds, periods, tick=tick)
    if results is not None:
        update_results(results, {"batch": document})
    if as_json:
        print_json(document)
    else:
        stdout().print(lane_tables(document))
