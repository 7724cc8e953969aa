"""What a URDF's text says that a scene does not: lines, meshes, limits, other engines' friction."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["Limit", "MeshUse", "SurfaceFriction", "UrdfLines", "read_urdf"]

FRICTION = ("mu", "mu1", "mu2", "lateral_friction", "rolling_friction", "spinning_friction")
"""Elements of Gazebo and Bullet."""


@dataclass(frozen=True)
class Limit:
    """A <limit>, its attributes as they stand."""

    joint: str
    type: str
    line: int
    attributes: dict[str, str]


@dataclass(frozen=True)
class MeshUse:
    """A <mesh> of a link."""

    link: str
    purpose: str  # "visual" or "collision"
    uri: str
    line: int


@dataclass(frozen=True)
class SurfaceFriction:
    """A coefficient of friction that is not part of URDF."""

    link: str
    tag: str
    value: str
    line: int


@dataclass
class UrdfLines:
    """Of one file.

    Attributes:
        lines: by (kind, name): "body", "inertial", "joint", "geom".
        limits, meshes, friction: in the order of the file.
        joint_types: by name.
        is_template: elements of xacro are in it.
    """

    lines: dict[tuple[str, str], int] = field(default_factory=dict)
    limits: list[Limit] = field(default_factory=list)
    meshes: list[MeshUse] = field(default_factory=list)
    friction: list[SurfaceFriction] = field(default_factory=list)
    joint_types: dict[str, str] = field(default_factory=dict)
    is_template: bool = False

    def line(self, kind: str, name: str) -> int:
        """Of an element; 0: not known."""
        return self.lines.get((kind, name), self.lines.get(("body", name), 0))


def read_urdf(text: bytes) -> UrdfLines:
    """Of a file's text, as far as it can be read."""
    reader = _Reader()
    reader.parser.StartElementHandler = reader.start
    reader.parser.EndElementHandler = reader.end
    reader.parser.CharacterDataHandler = reader.characters
    with contextlib.suppress(expat.ExpatError):  # the loader says what is wrong and where
        reader.parser.Parse(text, True)
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.found = UrdfLines()
        self._stack: list[tuple[str, dict[str, str]]] = []
        self._shapes: dict[str, int] = {}
        self._text, self._line = "", 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line, path = self.parser.CurrentLineNumber, [name for name, _ in self._stack]
        self._stack.append((tag, attributes))
        self._text, self._line = "", line
        found, name = self.found, attributes.get("name", "")
        found.is_template |= tag.startswith("xacro:") or "${" in "".join(attributes.values())
        if path == ["robot"] and tag == "link":
            found.lines["body", name] = line
        elif path == ["robot"] and tag == "joint":
            found.lines["joint", name] = line
            found.joint_types[name] = attributes.get("type", "")
        elif path == ["robot", "link"] and tag == "inertial":
            found.lines["inertial", self._owner("link")] = line
        elif path == ["robot", "joint"] and tag == "limit":
            joint = self._owner("joint")
            found.limits.append(Limit(joint, found.joint_types[joint], line, attributes))
        elif path == ["robot", "link"] and tag == "collision":
            link = self._owner("link")
            number = self._shapes[link] = self._shapes.get(link, -1) + 1
            found.lines["geom", f"{link}_{number}"] = line
        elif path[:2] == ["robot", "link"] and tag == "mesh" and len(path) > 2:
            uri = attributes.get("filename", "")
            found.meshes.append(MeshUse(self._owner("link"), path[2], uri, line))
        if "value" in attributes:
            self._take_friction(tag, attributes["value"])

    def characters(self, text: str) -> None:
        self._text += text

    def end(self, tag: str) -> None:
        if self._text.strip():
            self._take_friction(tag, self._text.strip())
        self._text = ""
        self._stack.pop()

    def _take_friction(self, tag: str, value: str) -> None:
        tags = [name for name, _ in self._stack]
        if tag in FRICTION and ("gazebo" in tags or "contact" in tags):
            link = self._owner("gazebo", "reference") or self._owner("link")
            self.found.friction.append(SurfaceFriction(link, tag, value, self._line))

    def _owner(self, tag: str, attribute: str = "name") -> str:
        return next((a.get(attribute, "") for name, a in self._stack if name == tag), "")
