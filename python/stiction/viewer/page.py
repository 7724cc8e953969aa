"""Assemble the viewer, three.js and a replay's data into one HTML page.

The viewer's sources are ordinary ES modules. A page opened from `file://` cannot import files, so they are joined into
a single inline module: import lines are dropped, `export` words too, and every third-party module becomes one constant.
Top-level names of the viewer's modules are therefore unique across files (a test checks it).
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MODULES", "assemble", "decode"]

HERE = Path(__file__).resolve().parent
VENDOR = HERE / "vendor"

MODULES = (
    "data.js",
    "geometry.js",
    "stage.js",
    "framing.js",
    "bodies.js",
    "contacts.js",
    "plots.js",
    "panel.js",
    "viewer.js",
)
"""The viewer's modules; each uses only those before it."""

_IMPORT = re.compile(r"^import\s[^;]*?;[ \t]*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export\s+(?=(?:const|let|function|class|async)\b)", re.MULTILINE)
_EXPORT_LIST = re.compile(r"export\s*\{([^{}]*)\}\s*;?\s*$")


def assemble(title: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """The whole page as text: `meta` as JSON, `arrays` (little-endian, any shape) as one base64 block."""
    table, block = _pack(arrays)
    parts = {
        "title": html.escape(title),
        "style": (HERE / "viewer.css").read_text(encoding="utf-8"),
        "meta": _json({**meta, "arrays": table}),
        "data": block,
        "script": _script(),
    }
    template = (HERE / "viewer.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match.group(1)], template)


def decode(text: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a page back: its description and its arrays, in the shapes that were written."""

    def block(name: str) -> str:
        found = re.search(rf'<script id="replay-{name}"[^>]*>(.*?)</script>', text, re.DOTALL)
        if found is None:
            raise ValueError(f"no replay-{name} block: this is not a replay page")
        return found.group(1)

    meta = json.loads(block("meta"))
    data = base64.b64decode(block("data"))
    arrays = {
        name: np.frombuffer(
            data, np.dtype(dtype).newbyteorder("<"), int(np.prod(shape)), offset
        ).reshape(shape)
        for name, (dtype, offset, shape) in meta.pop("arrays").items()
    }
    return meta, arrays


def _pack(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, list[Any]], str]:
    """(name -> [dtype, byte offset, shape], base64 text); every array starts on a multiple of 8 bytes."""
    table: dict[str, list[Any]] = {}
    chunks: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        table[name] = [array.dtype.name, offset, list(array.shape)]
        data += bytes(-len(data) % 8)
        chunks.append(data)
        offset += len(data)
    return table, base64.b64encode(b"".join(chunks)).decode("ascii")


def _json(value: Any) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _script() -> str:
    """Vendored and own modules as the text of one inline module."""
    three = _wrap("THREE", (VENDOR / "three.module.min.js").read_text(encoding="utf-8"))
    orbit = _wrap("ORBIT", (VENDOR / "OrbitControls.js").read_text(encoding="utf-8"))
    own = "\n".join(
        f"// ---- {name}\n{_strip((HERE / name).read_text(encoding='utf-8'))}" for name in MODULES
    )
    script = f"{three}\n{orbit}\nconst {{ OrbitControls }} = ORBIT;\n{own}"
    if "</script" in script or "<!--" in script:
        raise ValueError(
            "the viewer's source holds '</script' or '<!--', which would end the script element"
        )
    return script


def _strip(source: str) -> str:
    """A module of ours without its import statements and export words."""
    return _EXPORT.sub("", _IMPORT.sub("", source))


def _wrap(name: str, source: str) -> str:
    """A third-party module as `const name = (() => {...})()`, its exports as properties."""
    found = _EXPORT_LIST.search(source)
    if found is None:
        raise ValueError(f"vendor module {name} does not end in an export list")
    pairs = (
        re.split(r"\s+as\s+", item.strip()) for item in found.group(1).split(",") if item.strip()
    )
    exports = ", ".join(f"{pair[-1]}: {pair[0]}" for pair in pairs)
    body = re.sub(
        r"^import\s*(\{[^}]*\})\s*from\s*'three';", r"const \1 = THREE;", source[: found.start()]
    )
    return f"const {name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"
