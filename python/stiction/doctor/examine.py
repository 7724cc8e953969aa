"""The examination of a model, from the file to the findings."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import Scene, StictionError, load, load_mjcf
from ..cli_subject import DEFAULT_STEP
from ..loading import MJCF_ENDINGS, MJCF_TEXT, READ, SCENE_ENDING
from ..npz_file import read_bytes, require_path
from ..servo_dofs import servo_dofs
from .case import Case
from .finding import Diagnosis, Finding, diagnosis
from .friction import check_friction, check_urdf_friction
from .inertias import check_inertias
from .joints import check_joints, check_urdf_limits
from .loader_messages import check_messages, failure
from .meshes import check_mjcf_meshes, check_urdf_meshes, open_meshes
from .servos import check_servos
from .start import check_start
from .units import check_units
from .urdf_lines import UrdfLines, read_urdf

__all__ = ["examine"]

CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    check_inertias,
    check_joints,
    check_servos,
    check_start,
    check_friction,
    check_units,
)


def examine(
    model: str | os.PathLike[str],
    dt: float | None = None,
    kp: float | None = None,
    kd: float | None = None,
    **options: Any,
) -> Diagnosis:
    """What is unused, invalid or improbable in a model.

        for finding in stiction.doctor.examine("robot.urdf").findings:
            print(finding.severity, finding)

    Args:
        model: a URDF or MJCF file, a saved scene, or the name of a built-in scene.
        dt: time step [s] that gains are judged at; None: an MJCF file's, else 0.001.
        kp: servo stiffness of every joint with one dof, to be judged [N m/rad or N/m]; None: the
            model's, or 0 beside a kd.
        kd: servo damping likewise [N m s/rad or N s/m].
        options: of `load` for a URDF file: srdf, package_dirs, free_flyer, ...

    Returns a Diagnosis; a file that exists but does not load is a finding of severity "error".

    Raises:
        TypeError: `model` is no path.
        StictionError: there is no such file, or it is a template or a file of another kind.
        ValueError: there is no such scene.
    """
    name = require_path(model)
    _refuse(name)
    suffix = Path(name).suffix.lower()
    if suffix == ".urdf":
        return _of_urdf(name, dt, kp, kd, options)
    if options:
        raise TypeError(f"{', '.join(options)}: only for URDF files, not for {name!r}")
    if suffix in MJCF_ENDINGS:
        return _of_mjcf(name, dt, kp, kd)
    if suffix == SCENE_ENDING:
        return _of_saved(name, dt, kp, kd)
    scene = load(name)
    return _diagnosed(_case(name, scene, dt, kp, kd), [])


def _refuse(name: str) -> None:
    """Files that cannot be read, in words.

    Raises StictionError.
    """
    path = Path(name)
    if path.suffix.lower() == ".xacro":
        raise StictionError(_expand(name))
    if path.suffix.lower() == ".srdf":
        raise StictionError(
            f"{name}: an SRDF says nothing by itself: stiction doctor ROBOT.urdf --srdf {name}"
        )
    if os.path.isdir(path):
        raise StictionError(f"{name}: is a folder; name the URDF or MJCF file in it")
    known = (".urdf", SCENE_ENDING, *MJCF_ENDINGS)
    if path.suffix.lower() in known and not os.path.isfile(path):
        raise StictionError(f"{name}: no such file")
    if path.suffix.lower() not in known and (os.path.isfile(path) or path.suffix.lower() == ".sdf"):
        raise StictionError(
            f"{name}: {READ} can be read, not {path.suffix or 'a file without an ending'}"
        )


def _expand(name: str) -> str:
    stem = name.removesuffix(".xacro").removesuffix(".urdf")
    target = f"{stem}_expanded.urdf" if name.endswith(".urdf") else f"{stem}.urdf"
    return f"{name}: is a xacro template; expand it first: xacro {name} > {target}"


def _of_urdf(
    name: str, dt: float | None, kp: float | None, kd: float | None, options: dict[str, Any]
) -> Diagnosis:
    urdf = read_urdf(read_bytes(name))
    if urdf.is_template:
        raise StictionError(_expand(name))
    package_dirs = options.get("package_dirs", ())
    findings = [
        *check_urdf_limits(name, urdf),
        *check_urdf_meshes(name, urdf, package_dirs),
        *check_urdf_friction(name, urdf),
    ]
    try:
        with _silence():
            scene = load(name, **options)
    except (StictionError, RuntimeError) as error:
        found = failure(error, name)
        known = {f.line for f in findings if f.severity == "error"}
        return diagnosis(name, [*findings, *([] if found.line in known else [found])])
    findings += check_messages(scene.messages, False)
    if options.get("collision_geometry", True):
        findings += open_meshes(name, urdf, package_dirs)
    return _diagnosed(_case(name, scene, dt, kp, kd, urdf, package_dirs), findings)


def _of_mjcf(name: str, dt: float | None, kp: float | None, kd: float | None) -> Diagnosis:
    try:
        with _silence():
            mjcf = load_mjcf(name)
    except StictionError as error:
        if "mujoco-core" in str(error):
            raise  # nothing was looked at
        return diagnosis(name, [failure(error, name)])
    case = _case(name, mjcf.scene, mjcf.timestep if dt is None else dt, kp, kd)
    case.mjcf = mjcf
    findings = [*check_messages(mjcf.messages, True), *check_mjcf_meshes(case)]
    return _diagnosed(case, findings)


def _of_saved(name: str, dt: float | None, kp: float | None, kd: float | None) -> Diagnosis:
    """What its loaders said is in it."""
    try:
        scene = load(name)
    except StictionError as error:
        return diagnosis(name, [failure(error, name)])
    findings: list[Finding] = []
    for message in scene.messages:
        is_mjcf = Path(message.file).suffix.lower() in MJCF_ENDINGS or message.file == MJCF_TEXT
        findings += check_messages([message], is_mjcf)
    return _diagnosed(_case(name, scene, dt, kp, kd), findings)


def _case(
    name: str,
    scene: Scene,
    dt: float | None,
    kp: float | None,
    kd: float | None,
    urdf: UrdfLines | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Case:
    if kp is not None or kd is not None:
        for dof in servo_dofs(scene):
            scene.set_gains(dof, kp or 0.0, kd or 0.0)
    folders = [os.fspath(folder) for folder in package_dirs]
    return Case(name, scene, DEFAULT_STEP if dt is None else dt, urdf, package_dirs=folders)


def _diagnosed(case: Case, findings: Sequence[Finding]) -> Diagnosis:
    with _silence():
        found = [*findings, *(f for check in CHECKS for f in check(case))]
    return diagnosis(case.subject, _once(found), case.scene.num_bodies, case.scene.nv)


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """One inertia or mass finding for each place: the loader's comes first."""
    seen: set[tuple[str, str, int]] = set()
    kept = []
    for finding in findings:
        key = (finding.check, finding.file, finding.line)
        if finding.check in ("inertia", "mass") and finding.line and key in seen:
            continue
        seen.add(key)
        kept.append(finding)
    return kept


def _silence() -> warnings.catch_warnings:
    """The doctor says all of it in its own words."""
    return warnings.catch_warnings(action="ignore")
