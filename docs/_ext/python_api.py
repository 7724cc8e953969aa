"""The directive `python-api`: classes and functions of the installed package, all their members.

    .. python-api:: Simulator State

Signatures and types of compiled classes are those of the stub, texts are the docstrings. What no
page names is nowhere; `tests/python/test_manual.py` holds the pages against `stiction.__all__`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
import types
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from docstrings import Known, attribute, converted
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles


@dataclass
class Entry:
    """A function, or a member of a class."""

    name: str
    signature: str | None = None
    """Of something that is called."""
    kind: str | None = None
    """Type of an attribute."""
    text: str = ""
    decorator: str = ""


@dataclass
class Class:
    """A class with all that is public of it, inherited from compiled bases too."""

    name: str
    signature: str
    text: str
    members: dict[str, Entry] = field(default_factory=dict)


class PythonApi(SphinxDirective):
    """Renders the names that it is given."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"module": lambda text: text}

    def run(self) -> list[nodes.Node]:
        reader = Reader(self.options.get("module", "stiction"))
        for source in [*reader.folder.rglob("*.py*"), *Path(__file__).parent.glob("*.py")]:
            if source.suffix in (".py", ".pyi"):
                self.env.note_dependency(str(source))
        lines = StringList()
        for name in self.arguments[0].split():
            for line in reader.rst(name):
                lines.append(line, f"<{reader.name}.{name}>")
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, lines, node)
        return node.children


class Reader:
    """Looks things of one module up."""

    def __init__(self, module: str) -> None:
        self.name = module
        self.module = imported(module)
        package = importlib.import_module("stiction")
        self.folder = Path(package.__file__ or "").parent
        tree = ast.parse((self.folder / "_stiction.pyi").read_text(encoding="utf-8"))
        self.stub: dict[str, list[Any]] = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                self.stub.setdefault(node.name, []).append(node)
        self.public, self.own = set(package.__all__), set(getattr(self.module, "__all__", ()))

    def rst(self, name: str) -> list[str]:
        """The entry of a function, class or exception."""
        thing = getattr(self.module, name)
        head = [f".. py:currentmodule:: {self.name}", ""]
        if isinstance(thing, ast.AST):
            first, *members = source_entries(thing)
            kind = "py:class" if isinstance(thing, ast.ClassDef) else "py:function"
            lines = self._entry(kind, first, set())
            for member in members:
                lines += indented(self._entry("py:method", member, set()))
            return [*head, *lines]
        if isinstance(thing, type) and issubclass(thing, Exception):
            entry = Entry(name, "", None, own_doc(thing))
            return [*head, *self._entry("py:exception", entry, set())]
        if isinstance(thing, type):
            return [*head, *self._class(self.read_class(name, thing))]
        entry = Entry(name, self._function_signature(name, thing), None, own_doc(thing))
        return [*head, *self._entry("py:function", entry, set())]

    def read_class(self, name: str, kind: type) -> Class:
        """Its own members, then those of bases that it does not replace."""
        members: dict[str, Entry] = {}
        for base in kind.__mro__:
            if base.__module__ == "stiction._stiction":
                found = self._compiled_members(base)
            elif base.__module__.startswith("stiction"):
                found = python_members(base)
            else:
                continue
            if base is not kind:
                found.pop("__init__", None)
            members = members | {key: x for key, x in found.items() if key not in members}
        start = members.pop("__init__", None)
        signature = start.signature or "" if start else ""
        text = own_doc(kind)
        if start and start.text:
            text += "\n\n" + inspect.cleandoc(start.text)
        return Class(name, signature.removesuffix(" -> None"), text, members)

    def _function_signature(self, name: str, thing: Any) -> str:
        if isinstance(thing, types.FunctionType):
            return python_signature(thing)
        return stub_signature(self.stub[name][0])

    def _compiled_members(self, kind: type) -> dict[str, Entry]:
        out: dict[str, Entry] = {}
        for member in self.stub[kind.__name__][0].body:
            if isinstance(member, ast.AnnAssign):
                name = ast.unparse(member.target)
                out[name] = Entry(name, None, ast.unparse(member.annotation), doc_of(kind, name))
            elif isinstance(member, ast.FunctionDef) and member.name not in out:
                if member.name.startswith("_") and member.name != "__init__":
                    continue
                out[member.name] = compiled_member(kind, member)
        return out

    def _class(self, about: Class) -> list[str]:
        inside = set(about.members)
        fields = any(e.kind and not e.text for e in about.members.values())
        text = about.text
        if fields:
            for entry in about.members.values():
                if entry.kind and not entry.text:
                    entry.text = attribute(text, entry.name)
        said = all(e.text for e in about.members.values() if e.kind)
        lines = [f".. py:class:: {about.name}{about.signature}", ""]
        skip = ("Attributes",) if said else ()
        lines += indented(converted(text, self._known(inside, about.name), skip))
        for entry in about.members.values():
            kind = "py:attribute" if entry.kind else "py:method"
            lines += indented(self._entry(kind, entry, inside, about.name))
        return lines

    def _entry(self, directive: str, entry: Entry, inside: set[str], owner: str = "") -> list[str]:
        lines = [f".. {directive}:: {entry.name}{entry.signature or ''}"]
        if entry.kind:
            lines.append(f"   :type: {entry.kind}")
        if entry.decorator:
            lines.append(f"   :{entry.decorator}:")
        return [*lines, "", *indented(converted(entry.text, self._known(inside, owner))), ""]

    def _known(self, inside: set[str], owner: str) -> Known:
        """Members of the class first, then what the module and the package have."""

        def full(name: str) -> str:
            if name in inside:
                return f"{self.name}.{owner}.{name}"
            first = name.split(".")[0]
            module = self.name if first in self.own else "stiction" if first in self.public else ""
            return f"{module}.{name}" if module else ""

        return full


def imported(name: str) -> Any:
    """The module, or where its framework is missing what its source defines."""
    try:
        return importlib.import_module(name)
    except ImportError:
        folder = Path(importlib.import_module("stiction").__file__ or "").parent
        place = folder / name.split(".")[1]
        return SourceModule(place / "__init__.py" if place.is_dir() else place.with_suffix(".py"))


class SourceModule:
    """Stands for a module that cannot be imported here."""

    def __init__(self, file: Path) -> None:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                setattr(self, node.name, node)
            elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                other = file.parent / f"{node.module.replace('.', '/')}.py"
                if file.name == "__init__.py" and other.is_file():  # a package, by its parts
                    vars(self).update(vars(SourceModule(other)))


def source_entries(node: ast.FunctionDef | ast.ClassDef) -> list[Entry]:
    """Of a definition that is known by its source: itself, then the methods of a class."""
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        return [Entry(node.name, stub_signature(node), None, text)]
    methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
    start = stub_signature(methods.pop("__init__")) if "__init__" in methods else ""
    out = [Entry(node.name, start, None, text)]
    for name, method in methods.items():
        if not name.startswith("_"):
            doc = ast.get_docstring(method) or ""
            out.append(Entry(name, stub_signature(method), None, doc))
    return out


def compiled_member(kind: type, member: ast.FunctionDef) -> Entry:
    """As the stub has it."""
    decorators = {ast.unparse(d) for d in member.decorator_list}
    text = doc_of(kind, member.name)
    if "property" in decorators:
        returns = ast.unparse(member.returns) if member.returns else "Any"
        return Entry(member.name, None, returns, text)
    static = "staticmethod" if "staticmethod" in decorators else ""
    return Entry(member.name, stub_signature(member), None, text, static)


def python_members(kind: type) -> dict[str, Entry]:
    """Annotated fields, methods and properties, in the order of the source."""
    fields = vars(kind).get("__annotations__", {})
    shown = {n: getattr(t, "__forward_arg__", t) for n, t in fields.items() if n[0] != "_"}
    out = {n: Entry(n, None, str(t), "") for n, t in shown.items()}
    for name, member in vars(kind).items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, property) and member.fget:
            returns = inspect.signature(member.fget).return_annotation
            out[name] = Entry(name, None, str(returns), own_doc(member))
        elif isinstance(member, types.FunctionType):
            if name == "__init__" and is_dataclass(kind):
                continue  # a dataclass: its fields say it
            out[name] = Entry(name, python_signature(member), None, own_doc(member))
        elif isinstance(member, classmethod | staticmethod):
            function = member.__func__
            kind_of = type(member).__name__
            out[name] = Entry(name, python_signature(function), None, own_doc(function), kind_of)
    return out


def python_signature(function: Any) -> str:
    """From its source: names of types as they are written."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    return stub_signature(node)


def stub_signature(node: ast.FunctionDef) -> str:
    """Without self and cls."""
    given = ast.unparse(node.args)
    for first in ("self", "cls"):
        if given == first or given.startswith(first + ", "):
            given = given.removeprefix(first).removeprefix(", ")
    returns = ast.unparse(node.returns) if node.returns else "None"
    return f"({given})" + ("" if returns == "None" else f" -> {returns}")


def doc_of(kind: type, name: str) -> str:
    """Of a member; of the maker only its own."""
    return own_doc(getattr(kind, name, None) if name != "__init__" else vars(kind).get(name))


def own_doc(thing: Any) -> str:
    """Nothing where a docstring is that of a plain type or of object."""
    text = getattr(thing, "__doc__", None) or ""
    generic = isinstance(thing, int | float | str | tuple) or "for accurate signature" in text
    empty = "cannot be instantiated from Python" in text
    return "" if generic or empty else inspect.cleandoc(text)


def indented(lines: list[str]) -> list[str]:
    return ["   " + line if line else "" for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("python-api", PythonApi)
    return {"version": "1", "parallel_read_safe": True}
