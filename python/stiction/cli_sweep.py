"""The command `sweep`: many worlds on many processes, results as Parquet."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from .cli_subject import JsonOption
from .cli_tools import UsageError, guarded, line_progress, print_json, stdout

_CORES = os.cpu_count() or 1


@guarded
def sweep_command(
    file: Annotated[
        Path | None, typer.Argument(help="TOML file that says what is run; see --example.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for Parquet files; the name of FILE without its ending."),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes of a local Ray; 0: this process, without Ray.", min=0)
    ] = _CORES,
    address: Annotated[
        str | None,
        typer.Option(help="Of a Ray cluster, e.g. auto, instead of a local one."),
    ] = None,
    chunk: Annotated[int, typer.Option(help="Worlds of a task of a worker.", min=1)] = 256,
    seed: Annotated[int | None, typer.Option(help="Instead of the file's.", min=0)] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a file to begin with.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Sweeps over parameters, data of random motions, rollouts of policies. The same bits on any
    number of workers; a call that was stopped goes on where it was."""
    from .sweep import from_toml, read, run
    from .sweep.spec import EXAMPLE

    if example:
        typer.echo(EXAMPLE, nl=False)
        return
    if file is None:
        raise UsageError("FILE is missing; `stiction sweep --example` prints one")
    runs = from_toml(file, **({} if seed is None else {"seed": seed}))
    folder = out or file.with_suffix("")
    begin = time.monotonic()
    with line_progress(f"{file.name}, worlds") as tick:

        def on_chunk(done: int, worlds: int) -> None:
            tick(f"{done} of {worlds}, {time.monotonic() - begin:.0f} s")

        run(runs, workers=workers, chunk=chunk, out=folder, address=address, on_chunk=on_chunk)
    document = _document(runs, folder, read(folder), time.monotonic() - begin)
    if as_json:
        print_json(document)
        return
    table = Table(title=str(file))
    table.add_column("quantity")
    table.add_column("value", justify="right")
    for name, value in document.items():
        table.add_row(name, _words(value))
    stdout().print(table)


def _document(runs: Any, folder: Path, columns: dict[str, Any], seconds: float) -> dict[str, Any]:
    document: dict[str, Any] = {
        "out": str(folder),
        "worlds": runs.worlds,
        "rows": len(columns["world"]),
        "columns": {name: list(x.shape[1:]) for name, x in columns.items()},
        "seconds": seconds,
    }
    if "status" in columns:
        names, counts = np.unique(columns["status"], return_counts=True)
        document["status"] = dict(zip(map(str, names), map(int, counts), strict=True))
    if "certificate" in columns:
        document["largest certificate"] = float(np.max(columns["certificate"]))
    if "total" in columns and len(columns["total"]):
        document["mean return"] = float(np.mean(columns["total"]))
        document["terminated"] = int(columns["terminated"].sum())
    return document


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" if v != [] else k for k, v in value.items())
    return f"{value:.3g}" if isinstance(value, float) else str(value)
