"""Scenes by name or from a file, with the loader's messages as one warning."""

from __future__ import annotations

import difflib
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import pinocchio
from numpy.typing import NDArray

from . import _stiction
from ._stiction import LoadMessage, Material, Robot, Scene
from .decomposition import decompose_points
from .npz_file import require_path

__all__ = ["LoadWarning", "load", "load_urdf", "load_urdf_string"]

_log = logging.getLogger("stiction")

_SCENE_OPTIONS = (
    "all_collision_geometry",
    "friction",
    "restitution",
    "n",
    "corner_spheres",
    "seed",
)
_FILE_OPTIONS = ("ground", "X_W")
SYNONYMS = {"timestep": "dt", "time_step": "dt", "step": "dt", "tol": "tolerance"}
"""What other engines call settings."""
MJCF_TEXT = "MJCF string"
"""The file of messages about a text."""
MJCF_ENDINGS = (".xml", ".mjcf")
SCENE_ENDING = ".stiction"
INSTALL_ROBOTS = "pip install example-robot-data==6.0.0"
READ = "only URDF (.urdf), MJCF (.xml, .mjcf) and saved scenes (.stiction)"


class LoadWarning(UserWarning):
    """Parts of a file were not used or look wrong; `scene.messages` lists them with their lines."""


class UrdfOptions(TypedDict, total=False):
    """How a URDF is read.

    free_flyer: the root is a free-flyer; False: the base is fixed to the world. Default True.
    collision_geometry: load the file's collision shapes. Default True.
    self_collision: keep pairs inside the robot. Default True.
    keep_overlapping_pairs: keep also the pairs of links that overlap in the neutral configuration
        or in one of the SRDF's, which are otherwise disabled and listed. Default False.
    srdf: path of an SRDF with disabled pairs and named configurations.
    package_dirs: folders that `package://` may stand for.
    material: Material of all shapes.
    strict: elements that are not used are errors. Default False.
    balance_inertia: replace inertias that no solid has by their mean moment. Default False.
    collision_meshes: what becomes of a collision mesh: "hull", its convex hull (the default);
        "exact", its own triangles; "decompose", convex parts by `stiction.decompose` (needs the
        package coacd).
    """

    free_flyer: bool
    collision_geometry: bool
    self_collision: bool
    keep_overlapping_pairs: bool
    srdf: str | os.PathLike[str]
    package_dirs: Sequence[str | os.PathLike[str]]
    material: Material
    strict: bool
    balance_inertia: bool
    collision_meshes: Literal["hull", "exact", "decompose"]


def load(name_or_path: str | os.PathLike[str], **options: Any) -> Scene:
    """A built-in scene by name (see `scenes()`), a robot on the ground from a URDF file, the scene
    of an MJCF file, or a saved scene.

    Args:
        name_or_path: "solo12", "box-stack(20)", ..., or a path that ends in .urdf, .xml, .mjcf or
            .stiction.
        options: of a built-in scene: all_collision_geometry (bool), friction, restitution (of every
            pair), n (bodies), corner_spheres (bool), seed. Of a URDF file: those of `load_urdf`,
            ground (True, False or its Material), X_W (pose of the base; by default a floating
            robot is lifted until its lowest point touches z = 0). Of an MJCF file: strict, margins,
            keep_overlapping_pairs and ground (False: without its own), see `load_mjcf`, which gives
            its actuators and keyframes too.
            Of a saved scene (`Scene.save`): none; its messages were said when it was loaded first.

    Raises:
        ValueError: unknown name or option out of range.
        TypeError: unknown option.
        StictionError: the file cannot be read; the message names file and line.
    """
    require_path(name_or_path)
    if _is_path(name_or_path):
        return _load_file(Path(name_or_path), options)
    _check_names("load", options, _SCENE_OPTIONS)
    chosen = _stiction.SceneOptions()
    for name, value in options.items():
        _set_typed(chosen, name, value)
        if getattr(chosen, name) < 0:
            raise ValueError(f"{name} = {value!r}: must be >= 0")
    try:
        scene = _stiction.make_scene(str(name_or_path), chosen)
    except _stiction.StictionError as error:
        # The library names the extra, from which pip would compile all of stiction anew.
        text = str(error).replace("pip install stiction[robots]", INSTALL_ROBOTS)
        raise _stiction.StictionError(text) from None
    except ValueError as error:
        raise ValueError(f"{error}{_near_file(str(name_or_path))}") from None
    for message in scene.messages:
        _log.debug("%s", message)
    return scene


def _near_file(name: str) -> str:
    """A file that a name without its ending may mean; empty: there is none."""
    for ending in (".urdf", *MJCF_ENDINGS, SCENE_ENDING):
        if os.path.isfile(name + ending):
            return f"; there is a file {name + ending!r}"
    return ""


def load_urdf(path: str | os.PathLike[str], **options: Unpack[UrdfOptions]) -> Robot:
    """A Robot from a URDF file, to be placed by `Scene.add_robot`; options: see UrdfOptions.

    Raises:
        StictionError: the file cannot be read; the message names file and line.
        TypeError: unknown option.
    """
    return _load_urdf(path, options, stacklevel=4)


def _load_urdf(path: str | os.PathLike[str], options: Mapping[str, Any], stacklevel: int) -> Robot:
    if not os.path.lexists(require_path(path)):
        raise _stiction.StictionError(f"{os.fspath(path)}: no such file")
    robot = _stiction.load_urdf(os.fspath(path), _load_options(options))
    _warn(os.fspath(path), robot.messages, stacklevel)
    return robot


def load_urdf_string(xml: str, name: str = "robot.urdf", **options: Unpack[UrdfOptions]) -> Robot:
    """The same from a string; `name` stands for the file in messages."""
    robot = _stiction.load_urdf_string(xml, name, _load_options(options))
    _warn(name, robot.messages)
    return robot


def _is_path(name_or_path: str | os.PathLike[str]) -> bool:
    if not isinstance(name_or_path, str):
        return True
    return "/" in name_or_path or Path(name_or_path).suffix[1:].isalnum()


def _load_file(path: Path, options: Mapping[str, Any]) -> Scene:
    if path.suffix.lower() in MJCF_ENDINGS:
        return _load_mjcf(path, options)
    if path.suffix.lower() == SCENE_ENDING:
        _check_names("load", options, ())
        return Scene.load(path)
    if path.suffix.lower() != ".urdf":
        raise ValueError(f"{path}: {READ} can be read, not {path.suffix or 'this'}")
    _check_names("load", options, (*UrdfOptions.__annotations__, *_FILE_OPTIONS))
    given = {name: value for name, value in options.items() if name not in _FILE_OPTIONS}
    robot = _load_urdf(path, given, stacklevel=5)
    scene = Scene(name=path.stem)
    ground = options.get("ground", True)
    if ground:
        scene.add_ground(ground if isinstance(ground, Material) else given.get("material"))
    X_W = options.get("X_W")
    if X_W is None and given.get("free_flyer", True):
        X_W = _stiction._on_ground(robot)
    scene.add_robot(robot, X_W)
    return scene


def _load_mjcf(path: Path, options: Mapping[str, Any]) -> Scene:
    from .loaders.mjcf import read_mjcf  # which imports this module

    _check_names("load", options, ("strict", "keep_overlapping_pairs", "margins", "ground"))
    strict = _flag("strict", options.get("strict", False))
    keep = _flag("keep_overlapping_pairs", options.get("keep_overlapping_pairs", True))
    margins = _flag("margins", options.get("margins", True))
    ground = _flag("ground", options.get("ground", True))
    mjcf = read_mjcf(
        path, strict, keep, margins, soft=False, stacklevel=5, scene_alone=True, ground=ground
    )
    return mjcf.scene


def _load_options(options: Mapping[str, Any]) -> _stiction.LoadOptions:
    _check_names("load_urdf", options, tuple(UrdfOptions.__annotations__))
    chosen = dict(options)
    for name, value in options.items():
        kind = UrdfOptions.__annotations__[name]
        if getattr(kind, "__forward_arg__", kind) == "bool":
            chosen[name] = _flag(name, value)
    if chosen.get("collision_meshes") == "decompose":
        chosen["decompose"] = _convex_points
    return _stiction.LoadOptions(**chosen)


def _convex_points(
    vertices: NDArray[np.float64], triangles: NDArray[np.int32]
) -> list[NDArray[np.float64]]:
    return decompose_points(vertices, triangles)


def _check_names(function: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(SYNONYMS.get(name, name), known, 1)
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}"
                + (f", near: {near[0]}" if near else "")
                + f"; there are: {', '.join(known) or 'none'}"
            )


def _flag(name: str, value: Any) -> bool:
    """The library would take the truth of any object."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} = {value!r}: must be of type bool")


def _set_typed(target: Any, name: str, value: Any) -> None:
    """Set an attribute of a compiled object; a wrong type is said in words."""
    wanted = type(getattr(target, name)).__name__
    try:
        setattr(target, name, _flag(name, value) if wanted == "bool" else value)
    except (TypeError, OverflowError):
        raise TypeError(f"{name} = {value!r}: must be of type {wanted}") from None


def _check_type(name: str, value: Any, wanted: type, such_as: str) -> None:
    """Refuse an argument of another type, by its name."""
    if not isinstance(value, wanted):
        article = "an" if wanted.__name__[0] in "AEIO" else "a"
        raise TypeError(
            f"{name} = {value!r}: must be {article} {wanted.__name__}, such as {such_as}"
        )


def _check_scene(given: Any) -> None:
    """Refuse what is no scene, with how to get one."""
    if isinstance(given, Scene):
        return
    how = "stiction.load() makes one"
    if isinstance(given, str | os.PathLike):
        how = f"stiction.load({os.fspath(given)!r}) makes one"
    elif isinstance(getattr(given, "scene", None), Scene):
        how = "its .scene is one"
        if hasattr(given, "simulation"):
            how += ", and its simulation() knows all of the file"
    raise TypeError(f"scene = {given!r}: must be a Scene; {how}")


def _warn(file: str, messages: Sequence[LoadMessage], stacklevel: int = 3) -> None:
    """All messages of one file as one warning, grouped by their kind."""
    for message in messages:
        _log.info("%s", message)
    if not messages:
        return
    kinds: dict[str, list[LoadMessage]] = {}
    for message in messages:
        kinds.setdefault(message.kind, []).append(message)
    parts = [_shortened(message.text) for message in kinds.get("overlap", [])]
    parts += [_first_of(kinds[kind]) for kind in ("warning", "mesh") if kind in kinds]
    if "unused" in kinds:
        parts.append(f"{len(kinds['unused'])} elements not used")
    warnings.warn(
        f"{Path(file).name}: {'; '.join(parts)} (all: `.messages` of the robot or scene)",
        LoadWarning,
        stacklevel=stacklevel,
    )


def _first_of(messages: Sequence[LoadMessage]) -> str:
    first, more = messages[0], len(messages) - 1
    line = f"line {first.line}: " if first.line else ""
    return f"{line}{first.text}" + (f" (and {more} more)" if more else "")


def _shortened(text: str, most: int = 3) -> str:
    """The first entries of a list after a colon."""
    head, _, entries = text.partition(": ")
    items = entries.split(", ")
    return f"{head}: {', '.join(items[:most])}" + (", ..." if len(items) > most else "")


_EXAMPLE_ROBOTS = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"


def example_robots() -> Path:
    """The folder of the robots of example-robot-data, whether it is there or not."""
    return Path(os.environ.get("STICTION_ROBOTS_DIR", _EXAMPLE_ROBOTS))


def has_example_robots() -> bool:
    """Whether the robots of example-robot-data are there."""
    return example_robots().is_dir()


def _set_directories() -> None:
    """Data beside this file; robots of example-robot-data where it is installed with pinocchio."""
    if "STICTION_DATA_DIR" not in os.environ:
        _stiction.set_data_directory(str(Path(__file__).parent / "robots"))
    if "STICTION_ROBOTS_DIR" not in os.environ and _EXAMPLE_ROBOTS.is_dir():
        _stiction.set_robots_directory(str(_EXAMPLE_ROBOTS))


_set_directories()
