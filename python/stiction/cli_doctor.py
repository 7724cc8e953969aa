"""The command `doctor`: what is unused, invalid or improbable in a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import StictionError
from .cli_subject import (
    DtOption,
    FixedBaseOption,
    JsonOption,
    KdOption,
    KpOption,
    PackageDirOption,
    SrdfOption,
)
from .cli_tools import UsageError, guarded, print_json, spinner
from .doctor import SEVERITIES, Diagnosis, Finding, examine
from .doctor.finding import listed

MOST_ALIKE = 3
"""Findings with the same fix that are told in full; JSON has all."""


@guarded
def doctor_command(
    model: Annotated[
        str,
        typer.Argument(
            help="A URDF or MJCF file, a saved scene, or a built-in scene, see `scenes`."
        ),
    ],
    srdf: SrdfOption = None,
    package_dir: PackageDirOption = None,
    fixed_base: FixedBaseOption = False,
    dt: DtOption = None,
    kp: KpOption = None,
    kd: KdOption = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 if there are warnings.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """What is unused, invalid or improbable in a model, each with its place and one fix. Exit
    code 1 if it cannot be loaded."""
    options: dict[str, Any] = {}
    if srdf is not None:
        options["srdf"] = srdf
    if package_dir:
        options["package_dirs"] = package_dir
    if fixed_base:
        options["free_flyer"] = False
    if options and Path(model).suffix.lower() not in (".urdf", ".xacro"):
        raise UsageError(
            f"--srdf, --package-dir and --fixed-base are for URDF files, not for {model!r}"
        )
    with spinner(f"looking at {model}"):
        found = examine(model, dt, kp, kd, **options)
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)
    worst = "error" if found.of("error") else "warning"
    if worst == "error" or (strict and found.of(worst)):
        raise StictionError(f"{model}: {_count(len(found.of(worst)), worst)}")


def _print(found: Diagnosis) -> None:
    for severity in SEVERITIES:
        findings = found.of(severity)
        if not findings:
            continue
        typer.echo(f"{severity}s ({len(findings)})")
        alike: dict[tuple[str, str], list[Finding]] = {}
        for finding in findings:
            alike.setdefault((finding.check, finding.fix), []).append(finding)
        for group in alike.values():
            typer.echo(_lines(group))
    counts = ", ".join(_count(len(found.of(severity)), severity) for severity in SEVERITIES)
    bodies = "1 body" if found.bodies == 1 else f"{found.bodies} bodies"
    size = f"{bodies}, {_count(found.dofs, 'dof')}: " if found.bodies else ""
    typer.echo(f"{found.subject}: {size}{counts}")


def _lines(alike: list[Finding]) -> str:
    """What and where, the first ones in a line each; the fix that all share in the last line."""
    lines = []
    for finding in alike[:MOST_ALIKE]:
        place = f"{Path(finding.file).name}:{finding.line}: " if finding.line else ""
        lines.append(f"  {place}{finding.text} [{finding.check}]")
    if more := alike[MOST_ALIKE:]:
        numbers = [str(finding.line) for finding in more if finding.line]
        where = f": lines {listed(numbers)}" if numbers else ""
        lines.append(f"      and {len(more)} more{where}")
    return "\n".join([*lines, f"      fix: {alike[0].fix}"])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
