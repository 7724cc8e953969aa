"""Lines of the elements of an MJCF file and of those it includes.

MuJoCo's compiled model has no lines. An element is found by its kind and name, one without a name
by its number if the file has as many of its kind as the model: then nothing was replicated,
attached or made by the compiler.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

__all__ = ["Lines", "joined_lines", "read_lines"]

SECTIONS = ("actuator", "equality", "tendon", "sensor")
"""Elements whose children are called by the section's name, whatever their tag."""
OTHERS = (
    ("keyframe", "key"),
    ("contact", "pair"),
    ("contact", "exclude"),
    ("deformable", "flex"),
    ("", "option"),
)
"""Others, with what they stand in."""
TREE = ("joint", "geom", "site")
"""Numbered body by body, in depth-first order."""
ASSETS = ("mesh", "hfield", "texture", "skin", "model", "flexcomp")
FOLDERS = ("assetdir", "meshdir", "texturedir")
LARGEST = 1 << 28
"""Of a file that is included [bytes]: larger ones have no lines."""
DEEPEST, DEEPEST_INCLUDE = 600, 20
"""Of elements, of files; MuJoCo refuses what is deeper."""
_ATTRIBUTE = re.compile(r"unrecognized attribute: '([^']+)'\s+Element '([^']+)'")
_OPENED = re.compile(r"Error opening file '([^']+)'")


@dataclass
class Lines:
    """Where each element stands, by kind: (name, file, line) in MuJoCo's order; and the size of the
    file with all that it refers to [bytes]."""

    file: str
    size: int = 0
    found: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    files: list[tuple[str, str, int]] = field(default_factory=list)
    """Of assets: the name that was given, then file and line."""
    included: list[tuple[str, tuple[str, ...], str, int]] = field(default_factory=list)
    """Tag, attributes, file and line of what included files hold."""

    def of_error(self, error: str) -> str:
        """Where the compiler's words have no line, on a file that it could not open or an attribute
        in a file that is included: ", line 7" or ", part.xml line 7"; else nothing."""
        if re.search(r"line [1-9]", error):
            return ""
        if opened := _OPENED.search(error):
            places = (at for given, *at in self.files if opened[1].endswith(given))
        elif wrong := _ATTRIBUTE.search(error):
            places = (
                at
                for tag, words, *at in self.included
                if (tag, wrong[1] in words) == (wrong[2], True)
            )
        else:
            return ""
        for file, line in places:
            return f", line {line}" if file == self.file else f", {file} line {line}"
        return ""

    def find(self, kind: str, name: str, index: int, count: int) -> tuple[str, int]:
        """File and line of an element; the main file and 0 where that is not known."""
        elements = self.found.get(kind, [])
        if name:
            for given, file, line in elements:
                if given == name:
                    return file, line
        elif len(elements) == count:
            return elements[index][1:]
        return self.file, 0


def read_lines(file: str, text: bytes) -> Lines:
    """Of a file's text; what cannot be read is left out."""
    reader = _Reader(Path(file).parent)
    reader.read(file, text)
    return Lines(file, reader.size, reader.elements(), reader.asset_files, reader.included)


def joined_lines(file: str, parts: list[tuple[str, Lines]]) -> Lines:
    """Of several files that are attached to each other, each behind a prefix; what has no name has
    no line, for its number is another."""
    whole = Lines(file)
    for prefix, lines in parts:
        whole.size += lines.size
        whole.files += lines.files
        whole.included += lines.included
        for kind, elements in lines.found.items():
            whole.found.setdefault(kind, []).extend(
                (prefix + name if name else "", path, line)
                for name, path, line in elements
                if name or kind == "option"
            )
    return whole


class _Reader:
    """Walks a file and its includes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.size = 0
        self.included: list[tuple[str, tuple[str, ...], str, int]] = []
        self.asset_files: list[tuple[str, str, int]] = []
        self._files: list[str] = []
        self._included: set[Path] = set()
        self._folders = {folder}
        self._stack: list[str] = []
        self._bodies: list[int] = [0]
        self._found: dict[str, list[tuple[str, str, int]]] = {"body": [("world", "", 0)]}
        self._of_body: dict[str, list[tuple[int, str, str, int]]] = {kind: [] for kind in TREE}

    def elements(self) -> dict[str, list[tuple[str, str, int]]]:
        """By kind, in the order of MuJoCo's numbers."""
        found = dict(self._found)
        for kind, entries in self._of_body.items():
            found[kind] = [entry[1:] for entry in sorted(entries, key=lambda entry: entry[0])]
        return found

    def read(self, file: str, text: bytes) -> None:
        """Add the elements of one file."""
        if len(self._files) >= DEEPEST_INCLUDE:
            return
        self.size += len(text)
        self._files.append(file)
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda tag, attributes: self._start(
            tag, attributes, parser.CurrentLineNumber
        )
        parser.EndElementHandler = self._end
        with contextlib.suppress(expat.ExpatError):
            parser.Parse(text, True)
        self._files.pop()

    def _start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        if len(self._stack) >= DEEPEST:
            self._stack.append(tag)
            return
        parent = next((t for t in reversed(self._stack) if t not in _TRANSPARENT), "")
        in_world = "worldbody" in self._stack and "default" not in self._stack
        name, file = attributes.get("name", ""), self._files[-1]
        if len(self._files) > 1:
            self.included.append((tag, tuple(attributes), file, line))
        self._stack.append(tag)
        if tag == "compiler":
            self._folders |= {self._folder / attributes.get(word, "") for word in FOLDERS}
        elif tag in ASSETS and "file" in attributes:
            self._weigh(attributes["file"])
            self.asset_files.append((attributes["file"], file, line))
        if tag == "include":
            self._include(attributes.get("file", ""))
        elif tag == "body" and in_world:
            self._bodies.append(len(self._found["body"]))
            self._found["body"].append((name, file, line))
        elif tag in ("joint", "freejoint", "geom", "site") and in_world:
            kind = "joint" if tag == "freejoint" else tag
            self._of_body[kind].append((self._bodies[-1], name, file, line))
        elif parent in SECTIONS and "default" not in self._stack:
            self._found.setdefault(parent, []).append((name, file, line))
        elif (parent, tag) in OTHERS or (tag == "flexcomp" and in_world):
            kind = tag.removesuffix("comp")
            self._found.setdefault(kind, []).append((name, file, line))

    def _end(self, tag: str) -> None:
        self._stack.pop()
        if len(self._stack) >= DEEPEST:
            return
        if tag == "body" and "worldbody" in self._stack and "default" not in self._stack:
            self._bodies.pop()

    def _include(self, given: str) -> None:
        path = self._folder / given
        if path in self._included:  # MuJoCo refuses that
            return
        self._included.add(path)
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:  # a pipe, a device
                return
            text = path.read_bytes()
        except (OSError, ValueError):
            return
        self.read(str(path), text)

    def _weigh(self, given: str) -> None:
        """Adds the size of a file, if it lies in one of the file's folders."""
        for folder in self._folders:
            with contextlib.suppress(OSError, ValueError):
                self.size += (folder / given).stat().st_size
                return


_TRANSPARENT = ("include", "mujocoinclude", "mujoco", "frame", "replicate")
"""Tags through which an element belongs to the tag above."""
