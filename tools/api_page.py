"""Writes docs/api.md: every public class and function with its signature and one line.

    python tools/api_page.py            write it
    python tools/api_page.py --check    exit code 1 if it is not current

Compiled classes are read from the stub, their lines from the docstrings.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "api.md"
STUB = ROOT / "python" / "stiction" / "_stiction.pyi"
SUBMODULES = ("certificate", "record", "replay")
"""Public modules that `import stiction` does not import."""
LONGEST = 160
"""Characters of a line about something."""
HEAD = """# API

Every public class and function of `stiction`, one line each; `help(stiction.Scene.add_body)` says
more: shapes, units, errors. Written by `tools/api_page.py`. `_Floats` is a float64 array, `_Ints`
one of int32; a `_Placement` is a `pinocchio.SE3` or a (4, 4) array, None the identity.
"""

sys.path.insert(0, str(ROOT / "python"))


def page() -> str:
    """The whole page."""
    import stiction

    names = [name for name in stiction.__all__ if not name.startswith("__")]
    things = {name: getattr(stiction, name) for name in names}
    modules = {name: x for name, x in things.items() if inspect.ismodule(x)}
    errors = {n: x for n, x in things.items() if isinstance(x, type) and issubclass(x, Exception)}
    classes = {n: x for n, x in things.items() if isinstance(x, type) and n not in errors}
    functions = {n: x for n, x in things.items() if n not in modules and n not in errors | classes}
    stub = {node.name: node for node in ast.parse(STUB.read_text()).body if hasattr(node, "name")}
    parts = [HEAD, "## Functions\n", *[_function(n, functions[n], stub) for n in sorted(functions)]]
    parts += ["", "## Errors and warnings\n", *[_item(n, _line(errors[n])) for n in sorted(errors)]]
    parts += ["", "## Modules\n", *[_item(n, _line(modules[n])) for n in sorted(modules)], ""]
    parts += [_class(name, classes[name], stub) for name in sorted(classes)]
    parts += [_module(importlib.import_module(f"stiction.{name}")) for name in SUBMODULES]
    return "\n".join(parts)


def _module(module: types.ModuleType) -> str:
    """Functions and classes of a module that is imported by its own name."""
    public = {name: getattr(module, name) for name in sorted(module.__all__)}
    functions = {n: x for n, x in public.items() if isinstance(x, types.FunctionType)}
    errors = {n: x for n, x in public.items() if isinstance(x, type) and issubclass(x, Exception)}
    classes = {n: x for n, x in public.items() if isinstance(x, type) and n not in errors}
    parts = [f"## {module.__name__}\n", _line(module), ""]
    parts += [_function(name, function, {}) for name, function in functions.items()]
    parts += [_item(name, _line(error)) for name, error in errors.items()]
    parts += [""] if functions or errors else []
    return "\n".join([*parts, *("#" + _class(name, kind, {}) for name, kind in classes.items())])


def _class(name: str, kind: Any, stub: dict[str, Any]) -> str:
    """Its own members, then those of compiled bases that it does not replace."""
    lines = [f"## {name}\n", _line(kind), ""]
    members: dict[str, str] = {}
    for base in kind.__mro__:
        if base.__module__ != "stiction._stiction":
            found = _members(base) if base.__module__.startswith("stiction") else {}
        else:
            found = _compiled_members(base, stub[base.__name__])
        if base is not kind:
            found.pop("__init__", None)
        members = members | {key: text for key, text in found.items() if key not in members}
    return "\n".join([*lines, *members.values()]).rstrip() + "\n"


def _compiled_members(kind: Any, node: ast.ClassDef) -> dict[str, str]:
    """As the stub lists them; setters are the same attribute."""
    out: dict[str, str] = {}
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            name = ast.unparse(member.target)
            out[name] = _item(f"{name}: {ast.unparse(member.annotation)}", _of(kind, name))
        if isinstance(member, ast.FunctionDef) and member.name not in out:
            if member.name.startswith("_") and member.name != "__init__":
                continue
            out[member.name] = _compiled(kind, member)
    return out


def _compiled(kind: Any, member: ast.FunctionDef) -> str:
    if any(ast.unparse(d) == "property" for d in member.decorator_list):
        returns = ast.unparse(member.returns) if member.returns else "Any"
        return _item(f"{member.name}: {returns}", _of(kind, member.name))
    shown = kind.__name__ if member.name == "__init__" else member.name
    return _item(shown + _stub_signature(member), _of(kind, member.name))


def _stub_signature(member: ast.FunctionDef) -> str:
    given = ast.unparse(member.args).removeprefix("self").removeprefix(", ")
    returns = ast.unparse(member.returns) if member.returns else "None"
    return f"({given})" + ("" if returns == "None" else f" -> {returns}")


def _members(kind: type) -> dict[str, str]:
    """Methods, properties and annotated fields of a Python class, in the order of the source."""
    fields = vars(kind).get("__annotations__", {})
    shown = {n: getattr(t, "__forward_arg__", t) for n, t in fields.items() if n[0] != "_"}
    out = {n: _item(f"{n}: {t}", _attribute(kind, n)) for n, t in shown.items()}
    for name, member in vars(kind).items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, property):
            returns = inspect.signature(member.fget).return_annotation if member.fget else "Any"
            out[name] = _item(f"{name}: {returns}", _line(member))
        elif isinstance(member, types.FunctionType):
            if name == "__init__" and fields:
                continue  # a dataclass: its fields say it
            shown = kind.__name__ if name == "__init__" else name
            out[name] = _item(shown + _signature(member), _line(member))
    return out


def _function(name: str, function: Any, stub: dict[str, Any]) -> str:
    python = isinstance(function, types.FunctionType)
    shown = _signature(function) if python else _stub_signature(stub[name])
    return _item(name + shown, _line(function))


def _signature(function: Any) -> str:
    """Of a Python function, from its source."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    return _stub_signature(node)


def _attribute(kind: type, name: str) -> str:
    """What the docstring of the class says under "Attributes:"."""
    found = re.search(
        rf"^\s+(?:\w+, )*{name}(?:, \w+)*: (.+?)(?=\n\s*\w+(?:, \w+)*: |\n\s*\n|\Z)",
        kind.__doc__ or "",
        re.MULTILINE | re.DOTALL,
    )
    return _short(found.group(1)) if found else ""


def _of(kind: Any, name: str) -> str:
    return _line(getattr(kind, name, None)) if name != "__init__" else _line(vars(kind).get(name))


def _line(thing: Any) -> str:
    """The first paragraph of its docstring as one line; nothing where it has none of its own."""
    text = getattr(thing, "__doc__", None) or ""
    generic = isinstance(thing, (int, float, str, tuple)) or "for accurate signature" in text
    return "" if generic else _short(text.strip().split("\n\n")[0])


def _short(text: str) -> str:
    """Its first sentences that fit."""
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return text
    sentences = re.split(r"(?<=[.;]) ", text)
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + len(sentence) >= LONGEST:
            break
        kept += " " + sentence
    return kept.removesuffix(";")


def _item(code: str, text: str) -> str:
    return f"- `{code}`" + (f": {text}" if text else "")


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is current."""
    text = page()
    if arguments == ["--check"]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        print(f"{PAGE} is {'current' if current else 'not current: run tools/api_page.py'}")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
