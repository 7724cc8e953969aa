"""What becomes of each attribute of MJCF: reads tests/data/mjcf/attributes.txt beside MuJoCo's own
schema, and writes docs/mjcf_attributes.md.

    python tools/mjcf_attributes.py
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path

import mujoco

ROOT = Path(__file__).resolve().parent.parent
TABLE, PAGE = ROOT / "tests/data/mjcf/attributes.txt", ROOT / "docs/mjcf_attributes.md"
CLASSES = ("physics", "engine", "look", "unsupported")
LINE = re.compile(r"^( *)(\S+) \([!?*R]\)\s*(.*)$")
INDENT = 3
"""Columns by which MuJoCo's text indents an element in another."""
SAME = {
    "equality": ("equality/connect", "equality/weld", "equality/joint", "equality/tendon"),
    "tendon": ("tendon/fixed", "tendon/spatial"),
}
"""Elements of <default> that stand for several."""
PARENTS = ("body", "asset", "actuator", "contact")
HEAD = """# Every attribute of MJCF

Made by `tools/mjcf_attributes.py` from the schema of MuJoCo {version} and
`tests/data/mjcf/attributes.txt`; a test fails where an attribute of the schema stands in no class.
*Physics* changes what the scene does, or its [`simulation()`](mjcf.md#a-file-in-motion), by itself
or through MuJoCo's compiler. *Engine* says how MuJoCo computes and stores, to which nothing here
corresponds. *Look* is drawn, or a label. What is *not honoured* gives a message with its line, and
is an error with `strict=True`, wherever it would do something. Attributes in `<default>` are those
of their elements; those of plugins are refused by the compiler where the plugin is not loaded.

| element | physics | engine | look | not honoured |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Rule:
    """A line of the table."""

    kind: str
    elements: tuple[str, ...]
    attributes: tuple[str, ...]

    def names(self, element: str, attribute: str) -> int:
        """How exactly the rule names it: 0 not at all, more for names than for stars."""
        if attribute not in self.attributes and self.attributes != ("*",):
            return 0
        fitting = [e for e in self.elements if _fits(e, element)]
        if not fitting:
            return 0
        exact = any("*" not in e for e in fitting)
        return 1 + exact + 2 * (attribute in self.attributes)


def _fits(pattern: str, element: str) -> bool:
    if pattern.endswith("/**"):
        return element == pattern[:-3] or element.startswith(pattern[:-2])
    return fnmatch.fnmatchcase(element, pattern) and element.count("/") == pattern.count("/")


def schema() -> dict[str, list[str]]:
    """Attributes of each element, by its path below <mujoco>; <worldbody> is a body."""
    found: dict[str, list[str]] = {}
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        element = LINE.match(line)
        if element:
            depth = len(element[1]) // INDENT
            path = [*path[:depth], element[2].replace("(world)", "")]
            found.setdefault("/".join(path[1:]) or "mujoco", []).extend(element[3].split())
        else:
            found["/".join(path[1:]) or "mujoco"].extend(line.split())
    return found


def rules() -> list[Rule]:
    """Of the table."""
    out = []
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            left, _, right = line.partition(":")
            kind, *elements = left.split()
            if kind not in CLASSES:
                raise ValueError(f"{TABLE}: {line!r}: no class {kind!r}")
            out.append(Rule(kind, tuple(elements), tuple(right.split())))
    return out


def meant(element: str) -> tuple[str, ...]:
    """Elements whose attributes one of <default> holds; else itself."""
    head, _, rest = element.partition("/")
    if head != "default" or not rest:
        return (element,)
    name, _, below = rest.partition("/")
    if name in SAME:
        return SAME[name]
    known = schema()
    found = [f"{parent}/{name}" for parent in PARENTS if f"{parent}/{name}" in known]
    return tuple(f"{one}/{below}" if below else one for one in found)


def classes(element: str, attribute: str, given: list[Rule]) -> set[str]:
    """Of the rules that name it most exactly; one, if the table is right."""
    best, found = 0, set()
    for one in meant(element):
        for rule in given:
            exact = rule.names(one, attribute)
            if exact and exact > best:
                best, found = exact, {rule.kind}
            elif exact and exact == best:
                found.add(rule.kind)
        if found:
            break
    return found


def page() -> str:
    """The Markdown text."""
    given, lines = rules(), []
    for element, attributes in schema().items():
        if element.startswith("default/") or not attributes:
            continue
        cells: dict[str, list[str]] = {kind: [] for kind in CLASSES}
        for attribute in attributes:
            (kind,) = classes(element, attribute, given)
            cells[kind].append(f"`{attribute}`")
        lines.append(f"| `{element}` | " + " | ".join(" ".join(cells[k]) for k in CLASSES) + " |")
    return HEAD.format(version=mujoco.__version__) + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
