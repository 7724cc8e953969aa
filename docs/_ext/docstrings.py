"""Docstrings of the package as reStructuredText.

They are prose with `names` in single back quotes, Google's sections ("Args:", "Returns:",
"Raises:", "Attributes:") and indented code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

SECTIONS = {"Args": "param", "Raises": "raises", "Attributes": "ivar", "Returns": "returns"}
SECTION = re.compile(r"^(Args|Raises|Attributes|Returns):$")
ITEM = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)$", re.DOTALL)
ENUMERATOR = re.compile(r"^(\(?\w+[.)]|[-+•])(?=\s)")
IDENTIFIER = re.compile(r"^[A-Za-z_][\w.]*(\(\))?$")

Known = Callable[[str], str | None]
"""Name in a docstring -> full name of what it refers to; empty: it is code."""


def converted(text: str, known: Known, without: tuple[str, ...] = ()) -> list[str]:
    """Lines of reStructuredText, but sections `without`."""
    lines: list[str] = []
    section = ""
    for paragraph in _paragraphs(inspect.cleandoc(text)):
        head, _, rest = paragraph.partition("\n")
        if SECTION.match(head):
            section = head[:-1]
            if section not in without and rest:
                lines += [*_fields(section, inspect.cleandoc(rest), known), ""]
        elif section and paragraph.startswith(" "):
            if section not in without:
                lines += [*_fields(section, inspect.cleandoc(paragraph), known), ""]
        elif paragraph.startswith("    "):
            lines += ["::", "", *paragraph.split("\n"), ""]
        else:
            section = ""
            lines += [*_prose(paragraph, known), ""]
    return lines


def attribute(text: str, name: str) -> str:
    """What "Attributes:" of a class says about one of its fields."""
    found = re.search(
        rf"^\s+(?:\w+, )*{name}(?:, \w+)*: (.+?)(?=\n\s*\w+(?:, \w+)*: |\n\s*\n|\Z)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    return " ".join(found.group(1).split()) if found else ""


def _paragraphs(text: str) -> list[str]:
    """Runs of lines between empty ones; indented code keeps its empty lines."""
    out: list[str] = []
    for part in re.split(r"\n\s*\n", text):
        code = part.startswith("    ") and out and out[-1].startswith("    ")
        if code:
            out[-1] += "\n\n" + part
        elif part.strip():
            out += _split_at_code(part)
    return out


def _split_at_code(part: str) -> list[str]:
    """A section heading may follow prose without an empty line."""
    found = re.search(r"\n(?=(?:Args|Raises|Attributes|Returns):\n)", part)
    return [part[: found.start()], part[found.end() :]] if found else [part]


def _prose(paragraph: str, known: Known) -> list[str]:
    if paragraph.lstrip().startswith("- "):
        items = re.split(r"\n\s*- ", "\n" + paragraph.strip())[1:]
        return ["- " + escaped(" ".join(item.split()), known) for item in items]
    text = escaped(" ".join(paragraph.split()), known)
    return ["\\" + text if ENUMERATOR.match(text) else text]


def _fields(section: str, text: str, known: Known) -> list[str]:
    """A field list; "Returns:" is one field."""
    if section == "Returns":
        return [":returns: " + escaped(" ".join(text.split()), known)]
    out: list[str] = []
    for item in re.split(r"\n(?! )", text):
        found = ITEM.match(item)
        body = escaped(" ".join((found.group(2) if found else item).split()), known)
        if found:
            names = found.group(1).replace("*", r"\*")
            out.append(f":{SECTIONS[section]} {names}: {body}")
        elif out:  # a line that goes on without an indent
            out[-1] += " " + body
        else:
            out += [*_prose(item, known), ""]
    return out


def escaped(text: str, known: Known) -> str:
    """Prose whose back quotes are code or references, and nothing else is markup."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(_code(p, known) if p.startswith("`") else _plain(p) for p in parts)


def _code(part: str, known: Known) -> str:
    name = part.strip("`")
    target = known(name.removesuffix("()")) if IDENTIFIER.match(name) else ""
    if target:
        return rf":py:obj:`{name} <{target}>`\ "
    return rf"``{name}``\ "


def _plain(part: str) -> str:
    part = re.sub(r"([\\*|])", r"\\\1", part)
    return re.sub(r"(\w)_(?!\w)", r"\1\\_", part)
