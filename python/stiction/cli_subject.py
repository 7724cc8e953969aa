"""What the commands simulate: a scene or a file of one, and the options that say how."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from . import Control, Mjcf, Scene, Simulator, load, load_mjcf
from .file_run import FileRun
from .loading import MJCF_ENDINGS
from .replay import ReplayGeometry
from .servo_dofs import servo_dofs
from .setting_names import SettingNames

SceneArgument = Annotated[
    str,
    typer.Argument(
        help="A built-in scene, e.g. solo12 or box-stack(10), see `scenes`; or a URDF or MJCF "
        "file, or a saved scene (.stiction)."
    ),
]
SecondsOption = Annotated[float, typer.Option(help="Simulated time [s].", min=0.0)]


def _step(dt: float | None) -> float | None:
    if dt is not None and not (dt > 0 and math.isfinite(dt)):
        raise typer.BadParameter(f"{dt:g} is not a time step: must be > 0 and finite [s]")
    return dt


DEFAULT_STEP = 1e-3


def _dt_option(otherwise: str) -> Any:
    text = f"Time step [s]; if not given {otherwise}0.001."
    return typer.Option(help=text, callback=_step, show_default=False)


DtOption = Annotated[float | None, _dt_option("an MJCF file's own, else ")]
DemoDtOption = Annotated[float | None, _dt_option("")]
SolverOption = Annotated[str, typer.Option(help="Contact solver, see `stiction solvers`.")]
ConfigurationOption = Annotated[
    str,
    typer.Option(
        help="To start from and to hold: one that the scene has a name for, such as standing."
    ),
]
KpOption = Annotated[
    float | None,
    typer.Option(help="Servo stiffness of every one-dof joint [N m/rad or N/m].", min=0.0),
]
KdOption = Annotated[
    float | None,
    typer.Option(help="Servo damping of every one-dof joint [N m s/rad or N s/m].", min=0.0),
]
FixedBaseOption = Annotated[
    bool, typer.Option("--fixed-base", help="URDF file: the base is fixed to the world.")
]
SrdfOption = Annotated[
    Path | None,
    typer.Option(help="URDF file: its SRDF, with disabled pairs and named configurations."),
]
KeepOverlapsOption = Annotated[
    bool,
    typer.Option(
        "--keep-overlaps", help="URDF file: links that overlap at the start collide all the same."
    ),
]
PackageDirOption = Annotated[
    list[Path] | None,
    typer.Option(help="URDF file: a folder that package:// may stand for; may be repeated."),
]
NoSelfCollisionOption = Annotated[
    bool, typer.Option("--no-self-collision", help="URDF file: its links do not collide.")
]
CollisionMeshesOption = Annotated[
    str | None,
    typer.Option(help="URDF file: collision meshes as hull (the default), exact or decompose."),
]
StiffnessOption = Annotated[
    float | None, typer.Option(help="Of every surface [N/m]; compliant integrators need one.")
]
DampingOption = Annotated[
    float | None, typer.Option(help="Of every surface [N s/m]; beside a --stiffness.", min=0.0)
]
IntegratorOption = Annotated[
    str,
    typer.Option(
        help="semi-implicit-euler for rigid contact; with a stiffness exponential, implicit-euler, "
        "rk4 or one of the others of stiction.integrators()."
    ),
]
RecoverySpeedOption = Annotated[
    float | None,
    typer.Option(help="Largest speed at which overlaps are undone [m/s].", min=0.0),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables.")
]


@dataclass(frozen=True)
class Opened:
    """A scene, and its MJCF file if it came from one."""

    scene: Scene
    mjcf: Mjcf | None = None
    served: bool = False  # --kp and --kd took the place of the file's servos

    def hold(self, sim: Simulator, configuration: str) -> Control:
        """Servos hold a configuration; the springs of an MJCF file pull to where they rest."""
        if self.mjcf is None or self.served:
            return sim.hold(configuration)
        return self.mjcf.hold(configuration)

    def run_whole(self, configuration: str, settings: SettingNames) -> FileRun | None:
        """An MJCF file in motion with what a Simulator of its scene knows nothing of; None where
        there is nothing of that."""
        if self.mjcf is None or self.served:
            return None
        if not (self.mjcf.beyond_scene or configuration in self.mjcf.keyframes):
            return None
        return FileRun(self.mjcf, configuration, settings)

    def visuals(self) -> dict[int, list[ReplayGeometry]] | None:
        """What to draw of an MJCF file, by body; None: what the scene's own files say."""
        return None if self.mjcf is None else self.mjcf.visuals()


@dataclass(frozen=True)
class Subject:
    """What is simulated: a built-in scene or a file; how its robot is read and held."""

    scene: str
    kp: float | None = None
    kd: float | None = None
    fixed_base: bool = False
    srdf: Path | None = None
    package_dirs: list[Path] | tuple[Path, ...] = ()
    keep_overlaps: bool = False
    self_collision: bool = True
    collision_meshes: str | None = None
    stiffness: float | None = None
    damping: float | None = None

    def step(self, dt: float | None) -> float:
        """The time step asked for, else that of an MJCF file, else a millisecond [s]."""
        if dt is not None:
            return dt
        mjcf = self.opened.mjcf if self._is_mjcf() else None
        return DEFAULT_STEP if mjcf is None else mjcf.timestep

    def _is_mjcf(self) -> bool:
        return Path(self.scene).suffix.lower() in MJCF_ENDINGS

    @cached_property
    def opened(self) -> Opened:
        """The scene, with the gains asked for, which take the place of those of an MJCF file."""
        if self._is_mjcf() and not self._urdf_options():
            mjcf = load_mjcf(self.scene)
            self._set_numbers(mjcf.scene)
            served = self.kp is not None or self.kd is not None
            return Opened(mjcf.scene, mjcf, served)
        return Opened(self.load())

    def load(self) -> Scene:
        """The scene alone."""
        options = self._urdf_options()
        if options and Path(self.scene).suffix.lower() != ".urdf":
            raise ValueError(
                "--fixed-base, --srdf, --package-dir, --keep-overlaps, --no-self-collision and "
                f"--collision-meshes are for URDF files, not for {self.scene!r}"
            )
        scene = load(self.scene, **options)
        self._set_numbers(scene)
        return scene

    def _urdf_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.fixed_base:
            options["free_flyer"] = False
        if self.srdf is not None:
            options["srdf"] = self.srdf
        if self.keep_overlaps:
            options["keep_overlapping_pairs"] = True
        if not self.self_collision:
            options["self_collision"] = False
        if self.collision_meshes is not None:
            options["collision_meshes"] = self.collision_meshes
        if self.package_dirs:
            options["package_dirs"] = list(self.package_dirs)
        return options

    def _set_numbers(self, scene: Scene) -> None:
        if self.kp is not None or self.kd is not None:
            for dof in servo_dofs(scene):
                scene.set_gains(dof, self.kp or 0.0, self.kd or 0.0)
        if self.stiffness is not None:
            set_compliance(scene, self.stiffness, self.damping)
        elif self.damping is not None:
            raise ValueError(f"--damping {self.damping:g}: needs a --stiffness")


def set_compliance(scene: Scene, stiffness: float, damping: float | None = None) -> None:
    """Give every surface this stiffness [N/m] and damping [N s/m]; None: as it is.

    Raises:
        ValueError: one is negative or NaN.
    """
    scene.parameters.stiffness[:] = stiffness
    if damping is not None:
        scene.parameters.contact_damping[:] = damping
    scene.parameters.validate()


def say_if_free(scene: Scene) -> None:
    """One line on standard error if nothing holds the joints."""
    dofs, parameters = servo_dofs(scene), scene.parameters
    if dofs and not (parameters.kp[dofs].any() or parameters.kd[dofs].any()):
        typer.echo(
            "stiction: no servos: joints are free; --kp/--kd hold the configuration", err=True
        )


def require_folder(option: str, path: Path | None) -> None:
    """Raise before anything is simulated if the file could not be written."""
    if path is not None and not os.path.isdir(path.parent):
        raise ValueError(f"{option} {path}: there is no folder {path.parent}")
    if path is not None and os.path.isdir(path):
        raise ValueError(f"{option} {path}: is a folder; name a file in it")
