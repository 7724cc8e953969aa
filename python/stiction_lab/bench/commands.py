"""`stiction bench step`, `drops`, `worst-step`, `robots`, `census`, `collision` and so on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from stiction import _stiction
from stiction.cli_tools import UsageError, guarded, line_progress, print_json, stdout

from .census_command import census
from .command_options import JsonOption, names_of, require_peer
from .results import update_results
from .world_commands import batch, lanes
from .worlds import BenchError

app = typer.Typer(
    help="Time steps, collision queries and solvers against peers; no ratio without equal work.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

EffortOption = Annotated[
    float,
    typer.Option(
        help="Share of the planned repetitions, steps and settling; below 1 only for trying out.",
        min=0.01,
    ),
]


@app.command(short_help="One scene beside every variant of MuJoCo.")
@guarded
def step(
    scene: Annotated[
        str | None,
        typer.Argument(
            help="One of the benchmark's scenes; `bench scenes` lists them. Default: solo12."
        ),
    ] = None,
    named: Annotated[str | None, typer.Option("--scene", help="The same as an option.")] = None,
    peer: Annotated[str, typer.Option(help="Engine to compare with.")] = "mujoco",
    effort: EffortOption = 1.0,
    as_json: JsonOption = False,
) -> None:
    """One scene: time per step of ours and of every variant of the peer, and the certificates."""
    if scene is not None and named is not None:
        raise UsageError(f"--scene {named}: the scene is given already: {scene}")
    result = _measure(scene or named or "solo12", peer, effort)
    if as_json:
        print_json(result)
    else:
        from .tables import step_tables

        stdout().print(step_tables(result))


@app.command(short_help="The narrow phase beside Coal and MuJoCo.")
@guarded
def collision(
    peers: Annotated[str, typer.Option(help="Comma-separated: coal, mujoco.")] = "coal,mujoco",
    pairs: Annotated[int, typer.Option(help="Pairs of hulls per distance.", min=10)] = 1000,
    sequences: Annotated[int, typer.Option(help="Moving pairs per warm start.", min=5)] = 200,
    sweeps: Annotated[int, typer.Option(help="A query's time is its best of so many.", min=1)] = 7,
    seed: Annotated[int, typer.Option(help="Of the random pairs.", min=1)] = 1,
    no_piles: Annotated[
        bool, typer.Option("--no-piles", help="Leave out the piles against mj_collision.")
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `collision`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Queries of pairs of YCB hulls against Coal and MuJoCo, and the collision part of a step."""
    from .collision import bench_collision

    chosen = names_of(peers)
    with line_progress("collision") as tick:
        document = bench_collision(chosen, pairs, sequences, sweeps, seed, tick)
        if "mujoco" in chosen and not no_piles:
            from .pile_collision import pile_rows

            document["piles"] = [row.as_dict() for row in pile_rows(tick=tick)]
    if results is not None:
        target = update_results(results, {"collision": document})
    if as_json:
        print_json(document)
        return
    from .collision_tables import collision_tables

    stdout().print(collision_tables(document))
    if results is not None:
        typer.echo(str(target))


@app.command(short_help="Solvers on stored problems, beside Pinocchio's.")
@guarded
def solvers(
    counted: Annotated[
        str,
        typer.Option(help="Comma-separated: whose solved problems are counted; `all`: every one."),
    ] = "ncp-newton",
    timed: Annotated[
        str, typer.Option(help="Comma-separated: which are timed; default: exact ones and peers.")
    ] = "",
    classes: Annotated[str, typer.Option(help="Comma-separated; empty: all classes.")] = "",
    every: Annotated[int, typer.Option(help="Each so many-th problem only.", min=1)] = 1,
    rows: Annotated[int, typer.Option(help="Problems of at most so many rows; 0: all.")] = 0,
    timed_every: Annotated[
        int, typer.Option(help="Time each so many-th of these only.", min=1)
    ] = 1,
    max_iterations: Annotated[int, typer.Option(help="Of every solver.", min=1)] = 1000,
    data: Annotated[
        Path | None, typer.Option(help="Problem set; default: tests/data/ncp_set.npz.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `solvers`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Solvers on the stored problems: how many they solve, time to 1e-10, Pinocchio's beside."""
    from . import native
    from .problem_set import load_set
    from .solver_tables import solver_tables
    from .solvers import TIMED, bench_solvers

    path = data or native.repository() / "tests" / "data" / "ncp_set.npz"
    problems = load_set(path, names_of(classes), every, rows)
    everyone = list(_stiction.solvers())
    with line_progress("solvers") as tick:
        document = bench_solvers(
            problems,
            everyone if counted == "all" else names_of(counted),
            names_of(timed) or TIMED,
            max_iterations,
            timed_every,
            say=tick,
        )
    if results is not None:
        update_results(results, {"solvers": document})
    if as_json:
        print_json(document)
    else:
        stdout().print(solver_tables(document))


@app.command(short_help="Every integrator: time and error.")
@guarded
def integrators(
    scenes: Annotated[str, typer.Option(help="Comma-separated names; empty: all of them.")] = "",
    effort: EffortOption = 1.0,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `integrators`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Time per step of every integrator, the error it reaches, and a step of Pinocchio calls."""
    from .integrator_tables import integrator_tables
    from .integrators import Budget, bench_integrators

    with line_progress("integrators") as tick:
        document = bench_integrators(names_of(scenes), Budget(effort), tick)
    if results is not None:
        target = update_results(results, {"integrators": document})
    if as_json:
        print_json(document)
        return
    stdout().print(integrator_tables(document))
    if results is not None:
        typer.echo(str(target))


app.command(short_help="Worlds of a robot at every width of lanes.")(lanes)
app.command(short_help="Many worlds beside mujoco.rollout.")(batch)
app.command(short_help="Does each robot file of a folder take every step?")(census)


@app.command(short_help="Jacobian and vjp beside MuJoCo's differences.")
@guarded
def derivatives(
    scenes: Annotated[str, typer.Option(help="Comma-separated names; empty: four of them.")] = "",
    peer: Annotated[str, typer.Option(help="Engine to compare with.")] = "mujoco",
    rounds: Annotated[
        int, typer.Option(help="Of 50 calls of ours and 4 of each peer's.", min=1)
    ] = 40,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `derivatives`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Jacobian and vjp of a step beside the step itself and MuJoCo's differences of its own."""
    require_peer(peer)
    from .derivatives import bench_derivatives, derivative_table

    with line_progress("derivatives") as tick:
        document = bench_derivatives(names_of(scenes), rounds, tick)
    if results is not None:
        update_results(results, {"derivatives": document})
    if as_json:
        print_json(document)
    else:
        stdout().print(derivative_table(document))


@app.command(short_help="Falling piles, kicked stacks, beside MuJoCo.")
@guarded
def drops(
    scenes: Annotated[str, typer.Option(help="Comma-separated names; empty: all of them.")] = "",
    effort: EffortOption = 1.0,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `drops`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Falling piles and kicked stacks from their first step on, ours beside MuJoCo's."""
    require_peer("mujoco")
    from .drops import bench_drops
    from .scene_tables import drop_tables

    with line_progress("drops") as tick:
        document = bench_drops(names_of(scenes), effort, tick)
    if results is not None:
        update_results(results, {"drops": document})
    if as_json:
        print_json(document)
    else:
        stdout().print(drop_tables(document))


@app.command("worst-step", short_help="The slowest steps of random scenes.")
@guarded
def worst_step(
    scenes: Annotated[int, typer.Option(help="Seeds of each kind.", min=1)] = 500,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `worst_step`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """The slowest steps of random scenes, mild and hard, and of bodies that lie in each other.

    Times are CPU times of the thread."""
    from .scene_tables import worst_step_tables
    from .worst_step import bench_worst_step

    with line_progress("worst-step") as tick:
        document = bench_worst_step(scenes, jams=True, tick=tick)
    if results is not None:
        update_results(results, {"worst_step": document})
    if as_json:
        print_json(document)
    else:
        stdout().print(worst_step_tables(document))


@app.command(short_help="Does each robot of a folder just stand?")
@guarded
def robots(
    folder: Annotated[
        Path | None,
        typer.Option(help="Every .urdf file below it; default: those of example-robot-data."),
    ] = None,
    only: Annotated[
        str, typer.Option(help="Comma-separated parts of paths; empty: all robots.")
    ] = "",
    seconds: Annotated[float, typer.Option(help="Simulated time [s].", min=0.1)] = 2.0,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the table to this file of the manual.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Store the document in this folder's file, section `robots`."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Each robot on the ground, base free, joints held, default settings: does it just stand?"""
    from . import machine
    from .robot_tables import robot_table, write_robot_page
    from .robots import bench_robots, example_robots

    chosen = names_of(only)
    paths = [
        path
        for path in example_robots(folder)
        if not chosen or any(part in str(path) for part in chosen)
    ]
    with line_progress("robots") as tick:
        rows = [row.as_dict() for row in bench_robots(paths, seconds, tick)]
    document = {"machine": machine.describe(), "seconds": seconds, "rows": rows}
    if results is not None:
        update_results(results, {"robots": document})
    if markdown is not None:
        write_robot_page(markdown, rows)
    if as_json:
        print_json(document)
    else:
        stdout().print(robot_table(rows))


@app.command("all", short_help="Every scene of `step`, stored as JSON.")
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
    require_peer(peer)
    from . import machine
    from .catalogue import SCENES
    from .tables import all_table

    names = names_of(scenes) or [item.name for item in SCENES]
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
    target = update_results(results, document)
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
    require_peer("mujoco")
    from .catalogue import SCENES

    names = [item.name for item in SCENES]
    if as_json:
        print_json(names)
    else:
        typer.echo("\n".join(names))


def _measure(name: str, peer: str, effort: float) -> dict[str, Any]:
    require_peer(peer)
    from .catalogue import scene
    from .step import Effort, bench_step

    with line_progress(name) as tick:
        return bench_step(scene(name), Effort(effort, effort, effort), tick).as_dict()
