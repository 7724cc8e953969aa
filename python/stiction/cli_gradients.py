"""The command `check-gradients`: derivatives of a step against differences of the step."""

from __future__ import annotations

from math import isinf
from typing import Annotated

import numpy as np
import typer

from . import Simulator, StictionError
from .cli_subject import (
    ConfigurationOption,
    DtOption,
    JsonOption,
    KdOption,
    KpOption,
    SceneArgument,
    SolverOption,
    Subject,
)
from .cli_tools import UsageError, guarded, print_json, spinner, stdout
from .derivatives import STATE
from .fitted_table import FittedTable
from .gradient_check import GradientCheck, check_gradients
from .setting_names import SettingNames


@guarded
def check_gradients_command(
    scene: SceneArgument,
    steps: Annotated[int, typer.Option(help="Steps before the one checked.", min=0)] = 100,
    speed: Annotated[
        float, typer.Option(help="Random velocity added to the state then [m/s, rad/s].", min=0.0)
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of that velocity.", min=0)] = 0,
    wrt: Annotated[
        str,
        typer.Option(help="Blocks with commas between them: q, v, torque, friction, ...; or all."),
    ] = "q,v,torque",
    bar: Annotated[
        float, typer.Option(help="Largest error, of the block's largest entry.", min=0.0)
    ] = 1e-6,
    baumgarte: Annotated[
        float | None,
        typer.Option(help="Share of an overlap undone in a step; 1: no kink where gaps are zero."),
    ] = None,
    dt: DtOption = None,
    solver: SolverOption = "ncp-newton",
    configuration: ConfigurationOption = "default",
    kp: KpOption = None,
    kd: KdOption = None,
    spoil: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: JsonOption = False,
) -> None:
    """Every column of the derivatives of a step against differences of the step, at kinks, where
    the two sides disagree, of one side, with the reason. Exit code 1 if a column is off."""
    subject = Subject(scene, kp, kd)
    opened = subject.opened
    loaded = opened.scene
    settings: SettingNames = {"dt": subject.step(dt), "solver": solver}
    if baumgarte is not None:
        settings["baumgarte"] = baumgarte
    sim = Simulator(loaded, **settings)
    state, control = sim.initial_state(configuration), opened.hold(sim, configuration)
    if steps:
        sim.run(state, control, steps)
    state.v += speed * np.random.default_rng(seed).standard_normal(loaded.nv)
    with spinner("stepping"):
        found = check_gradients(sim, state, control, _blocks(wrt), bar, _spoilt(spoil))
    if as_json:
        print_json({"scene": loaded.name, "steps": steps} | found.as_dict())
    else:
        _print(found, loaded.name)
    if found.wrong:
        names = ", ".join(f"{c.block} of {c.name}" for c in found.wrong[:5])
        raise StictionError(f"{len(found.wrong)} columns are off by more than {bar:g}: {names}")


def _blocks(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--wrt: names no block")
    return [*STATE, *Simulator.derivative_parameters()] if names == ["all"] else names


def _spoilt(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    block, _, name = text.partition(":")
    return block, name


def _print(found: GradientCheck, name: str) -> None:
    table = FittedTable(f"{name}: derivatives against differences, bar {found.bar:g}")
    for heading in ("block", "columns", "kinks", "approximate", "wrong", "worst error", "column"):
        left = heading in ("block", "column")
        table.add_column(heading, "left" if left else "right", joined=heading == "column")
    for block in dict.fromkeys(c.block for c in found.columns):
        there = [c for c in found.columns if c.block == block]
        worst = found.worst(block)
        counts = (
            len(there),
            sum(c.kink for c in there),
            sum(c.approximate for c in there),
            sum(c.block == block for c in found.wrong),
        )
        shown = ("", "") if worst is None else (f"{worst.error:.2g}", worst.name)
        table.add_row(block, *map(str, counts), *shown)
    stdout().print(table)
    typer.echo(repr(found.report))
    for what, columns in (("kinks", found.kinks), ("approximate", found.approximate)):
        if columns:
            typer.echo(f"{what}: {'; '.join(found.reasons)}")
        for block in dict.fromkeys(c.block for c in columns):
            typer.echo(f"  {block} of {', '.join(c.name for c in columns if c.block == block)}")
    unseen = [str(c) for c in found.kinks if isinf(c.error)]
    if unseen:
        typer.echo(f"of neither side: {', '.join(unseen)}")
    if found.left_out:
        typer.echo(f"left out: {', '.join(found.left_out)}")
    for column in found.wrong:
        reasons = "; ".join(found.reasons)
        typer.echo(f"wrong: {column}" + (f" ({reasons})" if reasons else ""))
