"""A compiled MuJoCo model with names and places in its files, and what the loader says about it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .._stiction import LoadMessage, StictionError
from ..loading import MJCF_TEXT
from ..npz_file import read_bytes, require_path
from .mjcf_compiler import CompilerError, compile_model, seconds_for, start
from .mjcf_compiler_process import OWN, numbered
from .mjcf_lines import LARGEST, Lines, read_lines

__all__ = [
    "GearRow", "GivenFile", "Source", "compile_mjcf", "compiled", "given_file", "mujoco_module",
    "pose",
]  # fmt: skip

Floats = NDArray[np.float64]
Index = int | np.integer[Any]
INSTALL = 'pip install "mujoco-core>=4,<5"'
OF_DOFS = ("armature", "damping", "dry_friction", "lower", "upper", "kp", "kd",
           "effort_limit", "spring_stiffness", "spring_rest")  # fmt: skip
"""Parameters that have a number for each dof."""
MAJOR = "4"
"""Of MuJoCo: fields and their meaning change between major versions."""


def mujoco_module() -> Any:
    """The package mujoco.

    Raises StictionError: it is not installed, or of another major version.
    """
    try:
        import mujoco
    except ImportError:
        raise StictionError(
            f"MJCF files are read with MuJoCo's compiler, the package mujoco-core: {INSTALL}"
        ) from None
    if str(mujoco.__version__).partition(".")[0] != MAJOR:
        raise StictionError(
            f"MJCF files need mujoco-core {MAJOR}, not {mujoco.__version__}: {INSTALL}"
        )
    return mujoco


@dataclass(frozen=True)
class GearRow:
    """q[dof] = ratio q[driver] + offset."""

    dof: int
    driver: int
    ratio: float
    offset: float


@dataclass
class Source:
    """What the parts of the loader share.

    Attributes:
        mujoco: the package.
        model: the compiled model.
        file: path, or "MJCF string"; of several joined by " + ".
        title: of a scene of it.
        prefixes: of parts.
        messages: what was found so far.
        gears: of the scene.
    """

    mujoco: Any
    model: Any
    file: str
    title: str
    lines: Lines
    prefixes: tuple[str, ...] = ()
    messages: list[LoadMessage] = field(default_factory=list)
    gears: list[GearRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self._own_names: dict[str, list[str]] = {}

    def names(self, kind: str) -> list[str]:
        """Names of all elements of a kind ("body", "joint", "geom", "actuator", ...), unique; those
        without one are called by body or kind and number."""
        if kind not in self._names:
            self._names[kind] = self._make_names(kind)
        return self._names[kind]

    def name(self, kind: str, index: Index) -> str:
        """Of one element."""
        return self.names(kind)[int(index)]

    def _given(self, kind: str) -> list[str]:
        if kind not in self._own_names:
            self._own_names[kind] = self._read_names(kind)
        return self._own_names[kind]

    def _read_names(self, kind: str) -> list[str]:
        code, count = _KINDS[kind]
        object_type = getattr(self.mujoco.mjtObj, code)
        number = int(getattr(self.model, count))
        return [self._given_name(object_type, i) for i in range(number)]

    def _given_name(self, object_type: Any, i: int) -> str:
        """A name that is no UTF-8 counts as none."""
        try:
            return self.mujoco.mj_id2name(self.model, object_type, i) or ""
        except UnicodeDecodeError:
            return ""

    def _make_names(self, kind: str) -> list[str]:
        given = self._given(kind)
        return numbered(given, [self._stem(kind, index) for index in range(len(given))])

    def _stem(self, kind: str, index: int) -> str:
        owners = {"geom": "geom_bodyid", "joint": "jnt_bodyid"}
        if kind not in owners:
            return kind
        return f"{self.name('body', getattr(self.model, owners[kind])[index])}_{kind}"

    def note(self, text: str) -> None:
        """Say something about the file as a whole: how the two engines differ."""
        self.messages.append(LoadMessage("warning", text, self.file, 0))

    def own_name(self, kind: str, index: Index) -> str:
        """That in its part's file, without the prefix."""
        name = self.name(kind, index)
        before = [prefix for prefix in self.prefixes if name.startswith(prefix)]
        return name.removeprefix(max(before, key=len, default=""))

    def unused(self, kind: str, index: Index, text: str) -> None:
        """Say that something of an element is not honoured."""
        file, line = self.place(kind, index)
        self.messages.append(
            LoadMessage("unused", f"{kind} '{self.name(kind, index)}': {text}", file, line)
        )

    def unused_of(self, kind: str, indices: Sequence[int] | NDArray[Any], text: str) -> None:
        """The same of several elements in one message, at the line of the first."""
        found = [int(i) for i in indices]
        if not found:
            return
        file, line = self.place(kind, found[0])
        names = ", ".join(f"'{self.name(kind, i)}'" for i in found)
        if len(found) > 1:
            kind = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
            text = f"each {text}" if text.startswith("is ") else text
        self.messages.append(LoadMessage("unused", f"{kind} {names}: {text}", file, line))

    def unused_option(self, text: str) -> None:
        """Say that something of <option> is not honoured, at the line of the first."""
        file, line = self.option_place()
        self.messages.append(LoadMessage("unused", f"option: {text}", file, line))

    def option_place(self) -> tuple[str, int]:
        """File and line of the first <option>."""
        _, file, line = next(iter(self.lines.found.get("option", [])), ("", self.file, 0))
        return file, line

    def place(self, kind: str, index: Index) -> tuple[str, int]:
        """File and line of an element; line 0: not known."""
        given = self._given(kind)
        return self.lines.find(kind, given[int(index)], int(index), len(given))

    def by_joint(self, error: str) -> str:
        """An error about "parameters.name[dof]", by the joint and with its line."""
        found = re.search(r"parameters\.(\w+)\[(\d+)\]", error)
        if found is None or found[1] not in OF_DOFS or int(found[2]) >= int(self.model.nv):
            return error
        joint = int(self.model.dof_jntid[int(found[2])])
        _, line = self.place("joint", joint)
        where = f", line {line}" if line else ""
        return error.replace(found[0], f"joint '{self.name('joint', joint)}': {found[1]}") + where

    def disabled(self, flag: str) -> bool:
        """Whether <flag flag="disable"/> is set."""
        bit = int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"))
        return bool(int(self.model.opt.disableflags) & bit)

    def is_one_of(self, value: int, enum: str, names: Iterable[str]) -> bool:
        """Whether a number of the model is one of these members of a mujoco enum."""
        members = getattr(self.mujoco, enum)
        return int(value) in [int(getattr(members, name)) for name in names]


_KINDS = {
    "body": ("mjOBJ_BODY", "nbody"),
    "joint": ("mjOBJ_JOINT", "njnt"),
    "geom": ("mjOBJ_GEOM", "ngeom"),
    "site": ("mjOBJ_SITE", "nsite"),
    "actuator": ("mjOBJ_ACTUATOR", "nactuator"),
    "equality": ("mjOBJ_EQUALITY", "neq"),
    "tendon": ("mjOBJ_TENDON", "ntendon"),
    "sensor": ("mjOBJ_SENSOR", "nsensor"),
    "key": ("mjOBJ_KEY", "nkey"),
    "pair": ("mjOBJ_PAIR", "npair"),
    "flex": ("mjOBJ_FLEX", "nflex"),
    "plugin": ("mjOBJ_PLUGIN", "nplugin"),
}


@dataclass(frozen=True)
class GivenFile:
    """What load_mjcf was given, a path or the text of a file.

    Attributes:
        kind, given: for the compiler.
        file: path, or "MJCF string".
        title: of a scene of it.
        text: all of it.
    """

    kind: str
    given: str
    file: str
    title: str
    text: bytes


def given_file(path_or_xml: str | os.PathLike[str]) -> GivenFile:
    """Raises StictionError: there is no such file, or it is a URDF; the message names it."""
    text = path_or_xml if isinstance(path_or_xml, str) else ""
    if path_or_xml == "":
        raise StictionError('load_mjcf(""): is neither a path nor the text of a file')
    if text.lstrip().startswith("<"):
        found = GivenFile("string", text, MJCF_TEXT, "mjcf", text.encode(errors="replace"))
    elif not isinstance(path_or_xml, str | os.PathLike):
        raise TypeError(
            f"load_mjcf: {type(path_or_xml).__name__} is neither a path nor the text of a file; of "
            "a mujoco.MjSpec give spec.to_xml(), of a file behind a prefix "
            "stiction.MjcfPart(file, prefix)"
        )
    else:
        path = Path(require_path(path_or_xml))
        if os.path.isdir(path):
            raise StictionError(f"{path}: is a folder")
        found = GivenFile("path", str(path), str(path), path.stem, read_bytes(path, LARGEST))
    if _root(found.text) == "robot":
        raise StictionError(f"{found.file}: is a URDF; stiction.load_urdf reads it")
    return found


def compile_mjcf(path_or_xml: str | os.PathLike[str]) -> Source:
    """Compile a file, or a string that starts with "<".

    Raises StictionError: MuJoCo is missing, there is no such file, it is not MJCF, or it does not
    compile; the message names the file.
    """
    start()
    mujoco = mujoco_module()
    given = given_file(path_or_xml)
    lines = read_lines(given.file, given.text)
    return compiled(mujoco, given.kind, given.given, given.file, given.title, lines)


def compiled(
    mujoco: Any,
    kind: str,
    given: str,
    file: str,
    title: str,
    lines: Lines,
    labels: Sequence[str] = (),
    prefixes: Sequence[str] = (),
) -> Source:
    """Of what the compiler's process takes; `labels`: of parts, which its errors may begin with.

    Raises StictionError: it does not compile.
    """
    try:
        model, said = compile_model(mujoco, kind, given, seconds_for(lines.size))
    except (CompilerError, ValueError, TypeError, RuntimeError, UnicodeError) as error:
        where = lines.of_error(str(error))
        whose = (
            "" if str(error).startswith(tuple(f"{label}: " for label in labels)) else f"{file}: "
        )
        raise StictionError(f"{whose}{error}{where}") from None
    source = Source(mujoco, model, file, title, lines, tuple(prefixes))
    for warning in said:
        text = " ".join(warning.split())
        own = text.removeprefix(OWN)
        source.note(own if own != text else f"MuJoCo's compiler: {text}")
    return source


def _root(text: bytes) -> str:
    """Name of the root element; "" where that cannot be told."""
    found: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, _: found.append(tag)
    with contextlib.suppress(expat.ExpatError):
        parser.Parse(text, True)
    return found[0] if found else ""


def pose(position: Floats, quaternion: Floats) -> pinocchio.SE3:
    """A placement from a position [m] and MuJoCo's quaternion w x y z."""
    w, x, y, z = (float(c) for c in quaternion)
    rotation = pinocchio.Quaternion(w, x, y, z).normalized().toRotationMatrix()
    return pinocchio.SE3(rotation, np.array(position, dtype=np.float64))
