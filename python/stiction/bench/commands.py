"""`stiction bench step` and `stiction bench all`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..cli_tools import guarded, line_progress, print_json, stdout
from .worlds import BenchError

app = typer.Typer(
    help="Time a step against MuJoCo on equal scenes; no ratio without equal work.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables.")
]
EffortOption = Annotated[
    float,
    typer.Option(
        help="Share of the planned repetitions, steps and settling; below 1 only for trying out.",
        min=0.01,
    ),
]


@app.command()
@guarded
def step(
    scene: Annotated[
        str, typer.Option(help="One of the benchmark's scenes; `bench scenes` lists them.")
    ] = "solo12",
    peer: Annotated[str, typer.Option(help="Engine to compare with.")] = "mujoco",
    effort: EffortOption = 1.0,
    as_json: JsonOption = False,
) -> None:
    """One scene: time per step of ours and of every variant of the peer, and the certificates."""
    result = _measure(scene, peer, effort)
    if as_json:
        print_json(result)
    else:
        from .tables import step_tables

        stdout().print(step_tables(result))


@app.command("all")
@guarded
def all_scenes(
    peer: Annotated[str, typer.Option(help="Engine to compare with.")] = "mujoco",
    scenes: Annotated[str, typer.Option(help="Comma-separated names; empty: all of them.")] = "",
    effort: EffortOption = 1.0,
    results: Annotated[
        Path,
        typer.Option(help="Folder for the JSON results; the file is named after the processor."),
    ] = Path("benchmarks/results"),
    as_json: JsonOption = False,
) -> None:
    """Every scene: the whole table, stored as JSON in the folder of results."""
    _require_peer(peer)
    from . import machine
    from .catalogue import SCENES
    from .tables import all_table

    names = [name.strip() for name in scenes.split(",") if name.strip()] or [
        item.name for item in SCENES
    ]
    measured, failed = [], {}
    for name in names:
        try:
            measured.append(_measure(name, peer, effort))
        except BenchError as error:
            failed[name] = str(error)
    document = {
        "machine": machine.describe(),
        "effort": effort,
        "results": measured,
        "refused": failed,
    }
    target = results / f"{machine.slug()}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_json(document)
    else:
        stdout().print(all_table(measured))
        typer.echo(str(target))
    if failed:
        raise BenchError(" | ".join(failed.values()))


@app.command("scenes")
@guarded
def list_scenes(as_json: JsonOption = False) -> None:
    """The benchmark's scenes."""
    _require_peer("mujoco")
    from .catalogue import SCENES

    names = [item.name for item in SCENES]
    if as_json:
        print_json(names)
    else:
        typer.echo("\n".join(names))


def _measure(name: str, peer: str, effort: float) -> dict[str, Any]:
    _require_peer(peer)
    from .catalogue import scene
    from .step import Effort, bench_step

    with line_progress(name) as tick:
        return bench_step(scene(name), Effort(effort, effort, effort), tick).as_dict()


def _require_peer(peer: str) -> None:
    """Raise BenchError unless the peer is known and installed."""
    if peer != "mujoco":
        raise BenchError(f"--peer {peer!r} is unknown; there is: mujoco")
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise BenchError(
            'the peer is not installed: pip install ".[bench]" in the repository, or make bench'
        ) from error
