"""The commands `compare`, `explain` and `solve`: contact problems of a step or of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from . import (
    ContactSolution,
    Control,
    Simulator,
    State,
    integrators,
    load_problem,
    load_warm_start,
    solve,
    solvers,
)
from .cli_subject import (
    CollisionMeshesOption,
    ConfigurationOption,
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
    SolverOption,
    SrdfOption,
    StiffnessOption,
    Subject,
    require_folder,
    say_if_free,
)
from .cli_tools import UsageError, finite, guarded, print_json, spinner, stdout
from .comparison import RESIDUALS
from .fitted_table import FittedTable
from .setting_names import SettingNames

RIGID = "semi-implicit-euler"
"""The integrator whose steps pose a contact problem."""


@guarded
def compare_command(
    scene: SceneArgument,
    solvers_: Annotated[
        str, typer.Option("--solvers", help="Names with commas between them, or all.")
    ] = "all",
    steps: Annotated[
        int, typer.Option(help="Steps with --solver before the one compared.", min=0)
    ] = 100,
    output: Annotated[
        Path | None, typer.Option(help="Draw it: a page .html, or a figure .svg or .png.")
    ] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Start from zero impulses.")] = False,
    dt: DtOption = None,
    solver: SolverOption = "ncp-newton",
    configuration: ConfigurationOption = "default",
    kp: KpOption = None,
    kd: KdOption = None,
    fixed_base: FixedBaseOption = False,
    srdf: SrdfOption = None,
    package_dir: PackageDirOption = None,
    keep_overlaps: KeepOverlapsOption = False,
    no_self_collision: NoSelfCollisionOption = False,
    collision_meshes: CollisionMeshesOption = None,
    stiffness: StiffnessOption = None,
    integrator: IntegratorOption = RIGID,
    recovery_speed: RecoverySpeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solve the contact problem of one step with many solvers: forces, residuals, time."""
    require_folder("--output", output)
    names = list(solvers()) if solvers_ == "all" else [x.strip() for x in solvers_.split(",")]
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
    )
    settings = _problem_settings(subject.step(dt), solver, integrator, recovery_speed)
    with spinner(f"comparing on {scene}"):
        sim, state, control = _advanced(subject, settings, configuration, steps)
        comparison = sim.compare(state, control, names, warm_start=not cold)
        if output is not None:
            comparison.save(output)
    if as_json:
        print_json(comparison.to_dict() | {"output": str(output) if output else None})
        return
    title = f"{comparison.scene} after {steps} steps, {comparison.problem.num_rows} rows"
    stdout().print(_rich(title, *comparison.table()))
    if comparison.contacts:
        stdout().print(_rich("force: normal / tangential [N]", *comparison.force_table()))
    else:
        typer.echo("No contacts: nothing touches in this step.")
    if output is not None:
        typer.echo(str(output))


@guarded
def explain_command(
    scene: SceneArgument,
    base: Annotated[
        str, typer.Option(help="The solver to explain, see `stiction solvers`.")
    ] = "ccp-newton",
    steps: Annotated[
        int, typer.Option(help="Steps with --solver before the one explained.", min=0)
    ] = 100,
    output: Annotated[
        Path | None, typer.Option(help="Write it: a text, or a JSON document to a file .json.")
    ] = None,
    dt: DtOption = None,
    solver: SolverOption = "ncp-newton",
    configuration: ConfigurationOption = "default",
    kp: KpOption = None,
    kd: KdOption = None,
    fixed_base: FixedBaseOption = False,
    srdf: SrdfOption = None,
    package_dir: PackageDirOption = None,
    keep_overlaps: KeepOverlapsOption = False,
    no_self_collision: NoSelfCollisionOption = False,
    collision_meshes: CollisionMeshesOption = None,
    stiffness: StiffnessOption = None,
    integrator: IntegratorOption = RIGID,
    recovery_speed: RecoverySpeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which hypothesis of a solver makes the difference to the next velocity of one step."""
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
    )
    settings = _problem_settings(subject.step(dt), solver, integrator, recovery_speed)
    with spinner(f"explaining {base} on {scene}"):
        sim, state, control = _advanced(subject, settings, configuration, steps)
        explanation = sim.explain(state, control, base)
    document = {"scene": str(sim.scene.name), "time": float(state.time)}
    document["dt"] = float(sim.settings.dt)
    document |= explanation.to_dict() | {"output": str(output) if output else None}
    if output is not None:
        as_document = output.suffix == ".json"
        text = json.dumps(finite(document), indent=1) if as_document else str(explanation)
        output.write_text(text + "\n", encoding="utf-8")
    if as_json:
        print_json(document)
        return
    typer.echo(str(explanation))
    if output is not None:
        typer.echo(str(output))


def _problem_settings(
    dt: float, solver: str, integrator: str, recovery_speed: float | None
) -> SettingNames:
    """Settings of a simulator whose steps pose a contact problem; others are refused."""
    if integrator not in integrators():
        raise ValueError(
            f"--integrator {integrator!r} is unknown; there are: {', '.join(integrators())}"
        )
    if integrator != RIGID:
        raise UsageError(
            f"--integrator {integrator}: its steps pose no contact problem that solvers could "
            f"share; only {RIGID} does, with any --stiffness"
        )
    settings: SettingNames = {"dt": dt, "solver": solver, "integrator": integrator}
    if recovery_speed is not None:
        settings["recovery_speed"] = recovery_speed
    return settings


def _advanced(
    subject: Subject, settings: SettingNames, configuration: str, steps: int
) -> tuple[Simulator, State, Control]:
    """A scene after so many steps that hold its configuration."""
    opened = subject.opened
    sim = Simulator(opened.scene, **settings)
    state, control = sim.initial_state(configuration), opened.hold(sim, configuration)
    say_if_free(sim.scene)
    sim.run(state, control, steps)
    return sim, state, control


@guarded
def solve_command(
    problem: Annotated[Path, typer.Argument(help="An .npz file of save_problem().")],
    solver: SolverOption = "ncp-newton",
    tolerance: Annotated[float, typer.Option(help="On the relative residual.")] = 1e-8,
    max_iterations: Annotated[int, typer.Option(help="Per island.", min=1)] = 1000,
    cold: Annotated[
        bool, typer.Option("--cold", help="From zero, not from the start saved in the file.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Solve a contact problem that a simulator saved; fails if it does not converge."""
    start = None if cold else load_warm_start(problem)
    solution = solve(load_problem(problem), solver, tolerance, max_iterations, start)
    document = _solution_document(problem, solver, solution)
    if as_json:
        print_json(document)
    else:
        rows = [[key, _short(value)] for key, value in document.items() if key != "residuals"]
        rows += [[f"residual, {key}", f"{x:.2e}"] for key, x in document["residuals"].items()]
        stdout().print(_rich(str(problem), ["quantity", "value"], rows))
    if solution.status not in ("converged", "rounding_limited"):
        raise RuntimeError(f"{problem}: {solver} ended with status {solution.status}")


def _solution_document(path: Path, solver: str, solution: ContactSolution) -> dict[str, Any]:
    def plain(residuals: Any) -> dict[str, float]:
        return {name: float(getattr(residuals, name)) for name in RESIDUALS}

    return {
        "problem": str(path),
        "solver": solver,
        "model": solution.model,
        "status": solution.status,
        "converged": solution.converged,
        "iterations": solution.iterations,
        "factorisations": solution.factorisations,
        "residuals": plain(solution.residuals),
        "model_residual": float(solution.model_residuals.relative),
        "impulse": solution.impulse.tolist(),
        "velocity": solution.velocity.tolist(),
    }


def _short(value: Any) -> str:
    """A list as its largest entry."""
    if isinstance(value, list):
        return f"{len(value)} rows, largest {np.abs(value).max(initial=0.0):.4g}"
    return f"{value:.2e}" if isinstance(value, float) else str(value)


def _rich(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> FittedTable:
    table = FittedTable(title)
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table
