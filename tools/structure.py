"""Guards of the structure: what grows too long, looks upwards, or is there twice.

    python tools/structure.py            # names every violation; 1 if there is one
    python tools/structure.py --lengths  # the distributions

Rules (ARCHITECTURE.md): functions of at most 80 lines (99 % of them) and 120 (all), files of at
most 400, classes of at most 20 fields (workspaces, settings and bindings excepted), folders include
only folders above them, every public header is included by somebody outside the library, no run of
lines stands in two places, and the C library's elementary functions, whose last bit depends on the
processor, are not called. What is allowed in spite of a rule stands, with its reason, in
structure_exceptions.txt; an exception that nobody needs any more is a violation too.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).resolve().parent.parent
LIBM = re.compile(
    r"(?:std::|__builtin_)(?:a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p)?|pow|cbrt|hypot)\("
)
EXCEPTIONS = Path(__file__).with_name("structure_exceptions.txt")
LAYERS = (
    "math",
    "geometry",
    "model",
    "dynamics",
    "collision",
    "contact",
    "solver",
    "integrator",
    "derivatives",
    "simulator",
    "batch",
)
"""Folders of src/ and include/stiction/, downwards as the data of a step flows."""
FUNCTION_P99, FUNCTION_MOST, FILE_MOST, FIELDS_MOST, COPIED_LINES = 80, 120, 400, 20, 10
OWN_CODE = ("src/", "include/", "bindings/", "python/stiction/", "python/stiction_lab/")
WIDE = re.compile(r"(Workspace|Work|Settings|Scratch|Options|Parameters)$")
"""Names of classes that may have many fields: storage and numbers."""


@dataclass(frozen=True, order=True)
class Violation:
    """One rule broken in one place."""

    rule: str
    place: str
    value: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.place}: {self.value}"


@dataclass(frozen=True)
class Function:
    """A definition, its first line (from 1) and its number of lines."""

    file: str
    name: str
    line: int
    lines: int


class Tree:
    """Source files: text by path. C++ is parsed on demand."""

    def __init__(self, text: dict[str, str]) -> None:
        self.text = text
        self._parser = Parser(Language(tree_sitter_cpp.language()))

    def cpp(self, *folders: str) -> Iterator[tuple[str, str]]:
        """Name and text of the C++ files in these folders."""
        return ((n, t) for n, t in self.text.items() if n.startswith(folders) and n[-3:] != ".py")

    def parse(self, text: str) -> Node:
        """The syntax tree of C++ text."""
        return self._parser.parse(text.encode()).root_node


def read(root: Path = ROOT) -> Tree:
    """The files under version control, and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    return Tree(
        {
            name: (root / name).read_text(encoding="utf-8")
            for name in sorted(set(listed))
            if name.endswith((".cpp", ".hpp", ".py")) and (root / name).is_file()
        }
    )


def walk(node: Node, kind: str) -> Iterator[Node]:
    """All nodes of a kind, outer ones first."""
    if node.type == kind:
        yield node
    for child in node.children:
        yield from walk(child, kind)


def _lines(node: Node) -> int:
    return node.end_point[0] - node.start_point[0] + 1


def _name(node: Node) -> str:
    declarator = node.child_by_field_name("declarator")
    text = (declarator.text or b"").decode() if declarator is not None else "?"
    return re.sub(r"\s+", " ", text.split("(")[0]).strip("&* ")


def functions(tree: Tree) -> list[Function]:
    """Every function of the library, the bindings and the package."""
    found = []
    for name, text in tree.cpp(*OWN_CODE):
        for node in walk(tree.parse(text), "function_definition"):
            found.append(Function(name, _name(node), node.start_point[0] + 1, _lines(node)))
    for name, text in tree.text.items():
        if name.endswith(".py") and name.startswith(OWN_CODE):
            for item in ast.walk(ast.parse(text)):
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                    lines = (item.end_lineno or item.lineno) - item.lineno + 1
                    found.append(Function(name, item.name, item.lineno, lines))
    return found


def long_functions(tree: Tree) -> Iterator[Violation]:
    """Functions over the bound; the longest ones where more than 1 % are over 80 lines."""
    found = sorted(functions(tree), key=lambda f: -f.lines)
    for f in found:
        if f.lines > FUNCTION_MOST:
            yield Violation("long function", f"{f.file} {f.name}", f"{f.lines} > {FUNCTION_MOST}")
    allowed = len(found) // 100
    for f in found[allowed:]:
        if f.lines > FUNCTION_P99:
            yield Violation("long function", f"{f.file} {f.name}", f"{f.lines} > {FUNCTION_P99}")


def long_files(tree: Tree) -> Iterator[Violation]:
    """Files of the library, bindings, package and tests over the bound."""
    for name, text in tree.text.items():
        lines = text.count("\n")
        if name.startswith((*OWN_CODE, "tests/", "tools/")) and lines > FILE_MOST:
            yield Violation("long file", name, f"{lines} > {FILE_MOST}")


def wide_classes(tree: Tree) -> Iterator[Violation]:
    """Classes with more fields than a reader keeps in mind."""
    for name, text in tree.cpp("src/", "include/"):
        root = tree.parse(text)
        for kind in ("class_specifier", "struct_specifier"):
            for node in walk(root, kind):
                fields, label = number_of_fields(node), node.child_by_field_name("name")
                title = (label.text or b"").decode() if label is not None else "?"
                if fields > FIELDS_MOST and not WIDE.search(title):
                    yield Violation("wide class", f"{name} {title}", f"{fields} > {FIELDS_MOST}")


def number_of_fields(node: Node) -> int:
    """Data members of a class: `double a, b;` counts two, static ones and methods none."""
    body = node.child_by_field_name("body")
    count = 0
    for member in body.children if body is not None else ():
        if member.type != "field_declaration" or b"static" in (member.text or b""):
            continue
        declarators = member.children_by_field_name("declarator")
        count += sum(
            1
            for d in declarators
            if d.type != "function_declarator" and not any(walk(d, "function_declarator"))
        )
    return count


def layer_of(path: str) -> str | None:
    """The folder of the data flow a path lies in: src/x/... or [include/]stiction/x/..."""
    match = re.match(r"(?:src|(?:include/)?stiction)/(\w+)/", path)
    return match.group(1) if match and match.group(1) in LAYERS else None


def upward_includes(tree: Tree) -> Iterator[Violation]:
    """A folder that includes one below it."""
    for name, text in tree.cpp("src/", "include/"):
        own = layer_of(name)
        if own is None:
            continue
        for target in re.findall(r'#include "([^"]+)"', text):
            other = layer_of(target if target.startswith("stiction/") else f"src/{target}")
            if other is not None and LAYERS.index(other) > LAYERS.index(own):
                yield Violation("upward include", name, target)


def unused_public_headers(tree: Tree) -> Iterator[Violation]:
    """Headers of include/ that neither bindings, examples nor another needed header include."""
    includes = {
        name: set(re.findall(r'#include [<"](stiction/[^">]+)[">]', text))
        for name, text in tree.cpp("")
    }
    outside = ("bindings/", "examples/", "benchmarks/", "scenes/")
    needed: set[str] = set()
    waiting = [h for n, hs in includes.items() if n.startswith(outside) for h in hs]
    while waiting:
        header = waiting.pop()
        if header not in needed:
            needed.add(header)
            waiting.extend(includes.get("include/" + header, ()))
    for name in includes:
        if name.startswith("include/") and name.removeprefix("include/") not in needed:
            yield Violation("unused public header", name, "nobody outside the library needs it")


def copied_lines(tree: Tree) -> Iterator[Violation]:
    """Runs of equal lines of code in two places; includes, braces and comments do not count."""
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, text in tree.text.items():
        if not name.startswith(OWN_CODE):
            continue
        lines = [
            (at, line.strip())
            for at, line in enumerate(text.split("\n"), 1)
            if len(line.strip()) > 4 and not re.match(r"\s*(#|//|from |import |\"\"\"|\*)", line)
        ]
        for k in range(len(lines) - COPIED_LINES + 1):
            window = tuple(line for _, line in lines[k : k + COPIED_LINES])
            first = seen.setdefault(window, (name, lines[k][0]))
            if first != (name, lines[k][0]):
                found[first[0], name].append(lines[k][0])
    for (first_file, second_file), at in sorted(found.items()):
        count = COPIED_LINES + len(at) - 1
        yield Violation(
            "copied lines", f"{first_file} {second_file}", f"{count}, from line {at[0]}"
        )


def processor_dependent(tree: Tree) -> Iterator[Violation]:
    """Calls of elementary functions of the C library: math/elementary.hpp has our own."""
    for name, text in tree.cpp("src/", "include/", "scenes/"):
        for at, line in enumerate(text.split("\n"), 1):
            for call in LIBM.findall(line.split("//")[0]):
                yield Violation("C library", name, f"{call}, line {at}")


RULES = (
    long_functions,
    long_files,
    wide_classes,
    upward_includes,
    unused_public_headers,
    copied_lines,
    processor_dependent,
)


def exceptions(path: Path = EXCEPTIONS) -> dict[tuple[str, str], str]:
    """(rule, place) -> reason, from lines `rule: place: reason`."""
    allowed = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            rule, place, reason = line.split(": ", 2)
            allowed[rule, place] = reason
    return allowed


def violations(tree: Tree, allowed: dict[tuple[str, str], str]) -> list[Violation]:
    """What breaks a rule without being allowed, and what is allowed without need."""
    found = [v for rule in RULES for v in rule(tree)]
    places = {(v.rule, v.place) for v in found}
    stale = [
        Violation("exception without need", f"{rule}: {place}", reason)
        for (rule, place), reason in allowed.items()
        if (rule, place) not in places
    ]
    return sorted(v for v in found if (v.rule, v.place) not in allowed) + stale


def lengths(tree: Tree) -> str:
    """Median, 90 %, 99 % and longest, of functions and files."""
    rows = {
        "functions": sorted(f.lines for f in functions(tree)),
        "files": sorted(t.count("\n") for n, t in tree.text.items() if n.startswith(OWN_CODE)),
    }
    text = []
    for name, values in rows.items():
        at = [values[min(len(values) - 1, int(p * len(values)))] for p in (0.5, 0.9, 0.99)]
        text.append(
            f"{name}: {len(values)}, lines {at[0]} (median), {at[1]} (90 %), {at[2]} (99 %), "
            f"{values[-1]} (longest)"
        )
    return "\n".join(text)


def main() -> int:
    """Prints; 1 if a rule is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lengths", action="store_true", help="print the distributions")
    tree = read()
    if parser.parse_args().lengths:
        print(lengths(tree))
    found = violations(tree, exceptions())
    for violation in found:
        print(violation)
    print(f"{len(found)} violations, {len(exceptions())} exceptions")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
