"""`stiction study`: gjk, collision-derivatives, contact-models, stiff-contact, differentiable,
measured-tosses, deciding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from stiction.cli_tools import guarded, print_json, stderr, stdout
from stiction.fitted_table import FittedTable
from stiction.pages.experiment import FULL, QUICK, Effort, Experiment

if TYPE_CHECKING:
    from .study import Study

app = typer.Typer(
    help="Rebuild published experiments; our numbers beside the paper's, as one HTML report.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def studies() -> None:
    """Rebuild published experiments; our numbers beside the paper's, as one HTML report."""


@app.command(short_help="GJK with momentum: the GJK++ paper.")
@guarded
def gjk(
    quick: Annotated[
        bool, typer.Option("--quick", help="A fiftieth of the problems, for trying out.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the report, CSV files and figures.")] = Path(
        "build/study/gjk"
    ),
    only: Annotated[
        str, typer.Option(help="Comma-separated: fig7, fig8, table1, table2, table3, fig12.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """GJK with Polyak and Nesterov momentum: the experiments of the GJK++ paper."""
    from .gjk import EXPERIMENTS, run_study

    names = [name.strip() for name in only.split(",") if name.strip()] or list(EXPERIMENTS)
    _run(run_study, names, Effort(QUICK if quick else FULL, seed), out, as_json)


@app.command("collision-derivatives", short_help="Derivatives of collision queries.")
@guarded
def collision_derivatives(
    quick: Annotated[
        bool, typer.Option("--quick", help="25 of the 10000 problems, for trying out.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the report and CSV files.")] = Path(
        "build/study/collision-derivatives"
    ),
    only: Annotated[str, typer.Option(help="Comma-separated: table1, ycb, table2.")] = "",
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Derivatives of collision queries: the experiments of the randomized-smoothing paper."""
    from .collision_derivatives.study import EXPERIMENTS, run_study

    names = [name.strip() for name in only.split(",") if name.strip()] or list(EXPERIMENTS)
    _run(run_study, names, Effort(QUICK if quick else FULL, seed), out, as_json)


@app.command(short_help="Derivatives of steps: accuracy, cost, use.")
@guarded
def differentiable(
    quick: Annotated[
        bool, typer.Option("--quick", help="One seed and few states, for trying out.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the report, CSV files and figures.")] = Path(
        "build/study/differentiable"
    ),
    only: Annotated[
        str,
        typer.Option(
            help="Comma-separated: modes, pairs, cost, optimisation, identification, kinks."
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Derivatives of steps: accuracy, cost beside MuJoCo's, use for searches, and their limits."""
    from .differentiable.study import EXPERIMENTS, run_study

    names = [name.strip() for name in only.split(",") if name.strip()] or list(EXPERIMENTS)
    _run(run_study, names, Effort(QUICK if quick else FULL, seed), out, as_json)


@app.command("contact-models", short_help="Contact models on a comparison's scenes.")
@guarded
def contact_models(
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs and coarser sweeps, for trying out.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the report, CSV files and figures.")] = Path(
        "build/study/contact-models"
    ),
    only: Annotated[
        str, typer.Option(help="Comma-separated names of experiments, such as table2, fig9.")
    ] = "",
    problems: Annotated[
        Path | None, typer.Option(help="Collection of contact problems, .npz, for `profiles`.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Every contact model and solver on the scenes of the comparison by Le Lidec et al."""
    from .contact_models.study import EXPERIMENTS, run_study

    names = [name.strip() for name in only.split(",") if name.strip()] or list(EXPERIMENTS)
    _run(run_study, names, Effort(QUICK if quick else FULL, seed, problems), out, as_json)


@app.command("stiff-contact", short_help="Integrators of stiff compliant contact.")
@guarded
def stiff_contact(
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter motions and fewer steps, for trying out.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the report, CSV files and figures.")] = Path(
        "build/study/stiff-contact"
    ),
    only: Annotated[
        str, typer.Option(help="Comma-separated names of experiments, such as squat, table2.")
    ] = "",
    reference_data: Annotated[
        Path | None,
        typer.Option(help="Folder with the arrays published with the paper.", exists=True),
    ] = None,
    biped: Annotated[
        Path | None,
        typer.Option(help="URDF of Romeo, to walk in place of Talos.", exists=True),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Integrators of stiff compliant contact on the motions of the paper by Hammoud et al."""
    from .stiff_contact.study import EXPERIMENTS, run_study

    names = [name.strip() for name in only.split(",") if name.strip()] or list(EXPERIMENTS)
    effort = Effort(QUICK if quick else FULL, seed, reference_data=reference_data, biped=biped)
    _run(run_study, names, effort, out, as_json)


def _run(
    run_study: Callable[..., Study],
    names: Sequence[str],
    effort: Effort,
    out: Path,
    as_json: bool,
) -> None:
    with _progress(len(names)) as tick:
        study = run_study(out, effort, names, tick)
    _print(study, as_json)


@app.command("measured-tosses", short_help="Contact models against measured tosses.")
@guarded
def measured_tosses(
    quick: Annotated[
        bool, typer.Option("--quick", help="24 tosses, two models, for trying out.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(help="Other tosses (.npz), in the format of tests/data/tosses.", exists=True),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the report, CSV file and figure.")] = Path(
        "build/study/measured-tosses"
    ),
    only: Annotated[
        str,
        typer.Option(help="Comma-separated: solvers of the registry, mujoco[-stiff][-elliptic]."),
    ] = "",
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Contact models against measured tosses of a cube: fitted on one half, judged on the other."""
    from .measured_tosses import run_study

    names = [name.strip() for name in only.split(",") if name.strip()]
    with _progress(1) as tick:
        study = run_study(out, Effort(QUICK if quick else FULL, seed), data, names, jobs, tick)
    _print(study, as_json)


@app.command(short_help="Why a statement of a paper does not hold.")
@guarded
def deciding(
    quick: Annotated[
        bool, typer.Option("--quick", help="A fiftieth of the work, for trying out.")
    ] = False,
    only: Annotated[str, typer.Option(help="Comma-separated names of experiments.")] = "",
    results: Annotated[
        Path | None, typer.Option(help="Folder whose deciding.json takes the numbers.", exists=True)
    ] = None,
) -> None:
    """Small experiments that say why a statement of a paper does not hold; prints JSON."""
    from .deciding import EXPERIMENTS, decide, store

    names = [name.strip() for name in only.split(",") if name.strip()]
    with _progress(len(names or EXPERIMENTS)) as tick:
        found = decide(names, QUICK if quick else FULL, lambda name: tick(name, "", 0.0))
    if results is not None:
        store(found, results / "deciding.json")
    print_json(found)


def _print(study: Study, as_json: bool) -> None:
    if as_json:
        print_json(study.as_dict())
        return
    for experiment in study.experiments:
        stdout().print(_tables(experiment))
    for name, why in study.left_out.items():
        typer.echo(f"stiction: {name} was not run: {why}", err=True)
    typer.echo(str(study.page))


def _tables(experiment: Experiment) -> Group:
    parts: list[FittedTable | str] = []
    for source in experiment.tables:
        table = FittedTable(f"{experiment.title}. {source.title}")
        for k, column in enumerate(source.columns):
            table.add_column(column, justify="right" if k else "left")
        for row in source.rows:
            table.add_row(*row)
        parts.append(table)
        if source.note:
            parts.append(source.note)
    if not experiment.claims:
        return Group(*parts)
    claims = RichTable(title="The paper says")
    for name in ("statement", "here", "verdict"):
        claims.add_column(name)
    for claim in experiment.claims:
        style = {True: "green", False: "red", None: None}[claim.holds]
        claims.add_row(claim.statement, claim.ours, claim.verdict, style=style)
    return Group(*parts, claims)


@contextmanager
def _progress(experiments: int) -> Iterator[Callable[[str, str, float], None]]:
    """A bar on standard error, drawn only between timed parts."""
    console = stderr()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    hidden = not console.is_terminal
    with Progress(
        *columns, console=console, transient=True, auto_refresh=False, disable=hidden
    ) as bar:
        task = bar.add_task("", total=experiments)
        seen: list[str] = []

        def tick(name: str, text: str, share: float) -> None:
            if name not in seen:
                seen.append(name)
            done = len(seen) - 1 + share
            bar.update(task, completed=done, description=f"{name}: {text}")
            bar.refresh()

        yield tick
