"""The command `stiction`: run, view, demo, compare, explain, solve, sweep, doctor, check-gradients,
bench, study, scenes, solvers.

Every command takes --json: then standard output holds one JSON document and nothing else. A failure
is one line on standard error and a non-zero exit code.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from stiction_lab.bench.commands import app as bench_app
from stiction_lab.studies.commands import app as study_app

from . import Simulator, __version__, scenes, solvers
from .cli_docs import docs_command
from .cli_doctor import doctor_command
from .cli_gradients import check_gradients_command
from .cli_problems import compare_command, explain_command, solve_command
from .cli_subject import (
    DEFAULT_STEP,
    CollisionMeshesOption,
    ConfigurationOption,
    DampingOption,
    DemoDtOption,
    DtOption,
    FixedBaseOption,
    IntegratorOption,
    JsonOption,
    KdOption,
    KeepOverlapsOption,
    KpOption,
    NoSelfCollisionOption,
    PackageDirOption,
    RecoverySpeedOption,
    SceneArgument,
    SecondsOption,
    SolverOption,
    SrdfOption,
    StiffnessOption,
    Subject,
    require_folder,
    say_if_free,
)
from .cli_summary import demo_table, summary_table
from .cli_sweep import sweep_command
from .cli_tools import OneLineGroup, UsageError, guarded, print_json, spinner, stdout, step_progress
from .demo import DURATION, LONGEST_STEP, run_demo
from .loading import INSTALL_ROBOTS, has_example_robots
from .record import Recorder
from .replay import open_replay, write_replay
from .run import Segment, execute, time_steps
from .setting_names import SettingNames

app = typer.Typer(
    name="stiction",
    cls=OneLineGroup,
    help="A simulator of robots in contact, with a physical certificate on every step.",
    epilog="To begin with: `stiction view solo12`, `stiction doctor robot.urdf`.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(bench_app, name="bench", short_help="Time steps and collision against peers.")
app.add_typer(study_app, name="study", short_help="Rebuild published experiments.")
app.command("compare", short_help="One contact problem, many solvers.")(compare_command)
app.command("explain", short_help="What makes a solver's next velocity differ.")(explain_command)
app.command("check-gradients", short_help="Derivatives of a step against differences.")(
    check_gradients_command
)
app.command("docs", short_help="Open the manual.")(docs_command)
app.command("doctor", short_help="What is wrong with a model, and one fix each.")(doctor_command)
app.command("solve", short_help="Solve a saved contact problem.")(solve_command)
app.command("sweep", short_help="Many worlds on many processes, to Parquet.")(sweep_command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"stiction {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """A simulator of robots in contact, with a physical certificate on every step."""


@app.command(short_help="Simulate a scene and judge it.")
@guarded
def run(
    scene: SceneArgument,
    seconds: SecondsOption = 1.0,
    dt: DtOption = None,
    solver: SolverOption = "ncp-newton",
    configuration: ConfigurationOption = "default",
    replay: Annotated[Path | None, typer.Option(help="Write an HTML replay to this file.")] = None,
    kp: KpOption = None,
    kd: KdOption = None,
    fixed_base: FixedBaseOption = False,
    srdf: SrdfOption = None,
    package_dir: PackageDirOption = None,
    keep_overlaps: KeepOverlapsOption = False,
    no_self_collision: NoSelfCollisionOption = False,
    collision_meshes: CollisionMeshesOption = None,
    stiffness: StiffnessOption = None,
    damping: DampingOption = None,
    integrator: IntegratorOption = "semi-implicit-euler",
    recovery_speed: RecoverySpeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate a scene that holds its configuration; say how well it was solved, and how fast."""
    require_folder("--replay", replay)
    subject = Subject(
        scene,
        kp,
        kd,
        fixed_base,
        srdf,
        package_dir or [],
        keep_overlaps,
        not no_self_collision,
        collision_meshes,
        stiffness,
        damping,
    )
    settings = _settings(subject.step(dt), solver, integrator, recovery_speed)
    simulation = _simulate(subject, seconds, settings, configuration, recorded=replay is not None)
    document = _run_document(simulation)
    document["replay"] = None
    if replay is not None:
        document["replay"] = str(write_replay(replay, simulation["recorder"].replay()))
    if as_json:
        print_json(document)
        return
    step = f"{document['dt'] * 1e3:g} ms"
    stdout().print(
        summary_table(f"{document['scene']}, {seconds:g} s at {step}, {solver}", document)
    )
    if replay is not None:
        typer.echo(document["replay"])


@app.command(short_help="Show a scene in a browser.")
@guarded
def view(
    scene: SceneArgument,
    seconds: SecondsOption = 3.0,
    dt: DtOption = None,
    solver: SolverOption = "ncp-newton",
    configuration: ConfigurationOption = "default",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write; a temporary one if not given."),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Write the page, start no browser.")
    ] = False,
    kp: KpOption = None,
    kd: KdOption = None,
    fixed_base: FixedBaseOption = False,
    srdf: SrdfOption = None,
    package_dir: PackageDirOption = None,
    keep_overlaps: KeepOverlapsOption = False,
    no_self_collision: NoSelfCollisionOption = False,
    collision_meshes: CollisionMeshesOption = None,
    stiffness: StiffnessOption = None,
    damping: DampingOption = None,
    integrator: IntegratorOption = "semi-implicit-euler",
    recovery_speed: RecoverySpeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate a scene and show it in a browser, as one page that needs no network."""
    require_folder("--output", output)
    subject = Subject(
        scene,
        kp,
        kd,
        fixed_base,
        srdf,
        package_dir or [],
        keep_overlaps,
        not no_self_collision,
        collision_meshes,
        stiffness,
        damping,
    )
    settings = _settings(subject.step(dt), solver, integrator, recovery_speed)
    simulation = _simulate(subject, seconds, settings, configuration, recorded=True)
    target = output or Path(tempfile.mkdtemp(prefix="stiction-")) / "replay.html"
    path = write_replay(target, simulation["recorder"].replay())
    if as_json:
        print_json(_run_document(simulation) | {"replay": str(path)})
    elif no_open:
        typer.echo(str(path))
    else:
        open_replay(path)


@app.command(short_help="Solo-12 falls, stands, is pushed.")
@guarded
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML replay to write.")] = Path(
        "build/demo/solo12.html"
    ),
    solver: SolverOption = "ncp-newton",
    dt: DemoDtOption = None,
    stiffness: StiffnessOption = None,
    integrator: IntegratorOption = "semi-implicit-euler",
    recovery_speed: RecoverySpeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solo-12 falls, stands, is pushed twice; a table of numbers and an HTML replay."""
    dt = DEFAULT_STEP if dt is None else dt
    if dt > LONGEST_STEP:
        raise UsageError(
            f"--dt {dt:g}: must be at most {LONGEST_STEP:g} s, the length of the shortest push"
        )
    with step_progress(f"simulating {DURATION:g} s of Solo-12") as on_step:
        settings = _settings(dt, solver, integrator, recovery_speed)
        result = run_demo(output, settings, stiffness, on_step)
    if as_json:
        print_json(result.as_dict())
        return
    stdout().print(demo_table(result, solver, dt))
    typer.echo(str(result.replay))


@app.command("scenes")
@guarded
def list_scenes(as_json: JsonOption = False) -> None:
    """The built-in scenes."""
    rows = [_scene_row(info) for info in scenes()]
    if as_json:
        print_json(rows)
        return
    table = Table(title="Built-in scenes")
    for name in ("scene", "what it is", "bodies", "needs"):
        table.add_column(name, no_wrap=name == "scene", overflow="fold")
    for row in rows:
        count = f"{row['default_n']} by default" if row["default_n"] else ""
        missing = row["needs_robots"] and not has_example_robots()
        extra = INSTALL_ROBOTS if missing else ""
        table.add_row(
            row["name"] + ("(n)" if row["default_n"] else ""), row["description"], count, extra
        )
    stdout().print(table)


@app.command("solvers")
@guarded
def list_solvers(as_json: JsonOption = False) -> None:
    """The contact solvers."""
    rows = [_solver_row(name, text) for name, text in solvers().items()]
    if as_json:
        print_json(rows)
        return
    table = Table(title="Contact solvers")
    for name in ("name", "model", "description"):
        table.add_column(name, no_wrap=name != "description")
    for row in rows:
        table.add_row(*row.values())
    stdout().print(table)


LONGEST = 1e12  # steps: years, if not a slip


def _settings(
    dt: float, solver: str, integrator: str, recovery_speed: float | None
) -> SettingNames:
    """Settings of the simulator that were given."""
    settings: SettingNames = {"dt": dt, "solver": solver, "integrator": integrator}
    if recovery_speed is not None:
        settings["recovery_speed"] = recovery_speed
    return settings


def _simulate(
    subject: Subject,
    seconds: float,
    settings: SettingNames,
    configuration: str,
    recorded: bool,
) -> dict[str, Any]:
    """Run a scene that holds its configuration."""
    dt = settings["dt"]
    if not math.isfinite(seconds):
        raise UsageError(f"--seconds {seconds:g}: must be finite")
    if not seconds < LONGEST * dt:
        raise UsageError(f"--dt {dt:g}: {seconds:g} s of it are more than {LONGEST:.0e} steps")
    if seconds < dt:
        raise UsageError(f"--seconds {seconds:g} is less than one step of --dt {dt:g} s")
    with spinner(f"loading {subject.scene}"):
        opened = subject.opened
        whole = opened.run_whole(configuration, settings)
        sim = Simulator(opened.scene, **settings) if whole is None else whole.sim
    state = sim.initial_state(configuration) if whole is None else whole.state
    control, steps = opened.hold(sim, configuration), whole or sim
    plan, start = [Segment(control, round(seconds / dt))], state.copy()
    recorder = None
    if recorded:
        recorder = whole.recorder() if whole else Recorder(sim, visuals=opened.visuals())
    say_if_free(sim.scene)
    with step_progress(f"simulating {seconds:g} s of {subject.scene}") as on_step:
        summary = execute(steps, state, plan, recorder, on_step)
    with spinner("timing"):
        us_per_step = time_steps(steps, start, plan, reps=1)
    return {
        "sim": sim,
        "summary": summary,
        "us_per_step": us_per_step,
        "recorder": recorder,
        "python_steps": whole is not None,
        "configuration": configuration,
        "seconds": float(state.time),
    }


def _run_document(simulation: dict[str, Any]) -> dict[str, Any]:
    sim, summary = simulation["sim"], simulation["summary"]
    return {
        "scene": str(sim.scene.name),
        "configuration": simulation["configuration"],
        "seconds": simulation["seconds"],
        "dt": float(sim.settings.dt),
        "solver": str(sim.settings.solver),
        "us_per_step": simulation["us_per_step"],
        "python_steps": simulation["python_steps"],
        **summary.as_dict(),
    }


def _scene_row(info: Any) -> dict[str, Any]:
    words = {"name": str(info.name), "description": str(info.description)}
    return words | {"default_n": int(info.default_n), "needs_robots": bool(info.needs_robots)}


def _solver_row(name: str, text: str) -> dict[str, str]:
    """The registry's text is "MODEL: description"."""
    model, _, description = text.partition(": ")
    return {"name": name, "model": model, "description": description}


def main() -> None:
    """Entry point of the command."""
    app(prog_name="stiction")
