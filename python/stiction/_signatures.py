"""What the compiled functions take, read from the stub beside them: for help(), for
inspect.signature() and for the message of a call that does not fit."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Any

Kind = inspect.Parameter


@cache
def _stub() -> dict[str, ast.FunctionDef | ast.AnnAssign | str]:
    """By qualified name: functions, attributes with their types, and bases of classes."""
    out: dict[str, Any] = {}
    text = Path(__file__).with_name("_stiction.pyi").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            out[node.name] = node
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            out[node.name] = bases[0] if bases else ""
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    out.setdefault(f"{node.name}.{member.name}", member)
                if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                    out[f"{node.name}.{member.target.id}"] = member
    return out


def _find(name: str) -> Any:
    """In the stub, of the class or a base of it."""
    stub = _stub()
    while name not in stub and "." in name:
        owner, _, member = name.partition(".")
        base = stub.get(owner)
        if not isinstance(base, str) or not base:
            return None
        name = f"{base}.{member}"
    return stub.get(name)


class _Text(str):
    """A default or an annotation as the stub writes it."""

    def __repr__(self) -> str:
        return str(self)


def _value(default: ast.expr) -> object:
    """Itself where the stub writes a literal."""
    try:
        return ast.literal_eval(default)
    except ValueError:
        return _Text(ast.unparse(default))


def _parameter(argument: ast.arg, default: ast.expr | None, kind: Any) -> Kind:
    return Kind(
        argument.arg,
        kind,
        default=Kind.empty if default is None else _value(default),
        annotation=Kind.empty
        if argument.annotation is None
        else _Text(ast.unparse(argument.annotation)),
    )


@cache
def signature(name: str) -> inspect.Signature | None:
    """Of "Scene.add_body" or "distance"; None: not in the stub."""
    node = _find(name)
    if not isinstance(node, ast.FunctionDef):
        return None
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    parameters = [
        _parameter(argument, default, Kind.POSITIONAL_OR_KEYWORD)
        for argument, default in zip(plain, defaults, strict=True)
    ]
    if given.vararg:
        parameters.append(_parameter(given.vararg, None, Kind.VAR_POSITIONAL))
    parameters += [
        _parameter(argument, default, Kind.KEYWORD_ONLY)
        for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    returned = node.returns
    return inspect.Signature(
        parameters,
        return_annotation=Kind.empty if returned is None else _Text(ast.unparse(returned)),
    )


def _called(name: str) -> str:
    """ "Box.__init__" is called as Box."""
    return name.removesuffix(".__init__")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fits(value: object, annotation: str) -> bool:
    """False where it certainly does not; types that are not simple always may."""
    from . import _stiction

    options = [option.strip() for option in annotation.split("|")]
    simple = {
        "float": (int, float),
        "int": (int,),
        "bool": (int,),
        "str": (str,),
        "bytes": (bytes,),
    }
    for option in options:
        if option == "None":
            if value is None:
                return True
        elif option in simple:
            number = hasattr(value, "__index__") or hasattr(value, "__float__")
            if isinstance(value, simple[option]) or (option != "str" and number):
                return True
        elif isinstance(kind := getattr(_stiction, option, None), type):
            if isinstance(value, kind):
                return True
        else:
            return True
    return False


def call_message(name: str, args: tuple[object, ...], keywords: dict[str, object]) -> str:
    """Why a call does not fit, and what would."""
    called, found = _called(name), signature(name)
    if found is None:
        return f"{called}(): cannot take {_short(args)[1:-1]}"
    takes = [p for p in found.parameters.values() if p.name != "self"]
    shown = str(found.replace(parameters=takes, return_annotation=Kind.empty))
    try:
        bound = found.bind(*args, **keywords)
    except TypeError as error:
        return f"{called}(): {error}; it takes {shown}"
    for key, value in bound.arguments.items():
        annotation = found.parameters[key].annotation
        if key != "self" and annotation is not Kind.empty and not _fits(value, str(annotation)):
            return f"{called}(): {key} = {_short(value)}: must be {annotation}; it takes {shown}"
    values = ", ".join(_short(v) for k, v in bound.arguments.items() if k != "self")
    return f"{called}(): cannot take {values}; it takes {shown}"


def attribute_message(owner: str, name: str, value: object) -> str:
    """Why a value cannot be assigned to an attribute."""
    node = _find(f"{owner}.{name}")
    wanted = ""
    if isinstance(node, ast.AnnAssign):
        wanted = f": must be {ast.unparse(node.annotation)}"
    elif isinstance(node, ast.FunctionDef) and node.returns is not None:
        wanted = f": must be {ast.unparse(node.returns)}"
    return f"{owner}.{name} = {_short(value)}{wanted or ': is of the wrong type'}"
