"""The directive `cpp-api`: the public headers of a folder, by Doxygen and Breathe.

    .. cpp-api:: simulator

Doxygen is no Python package. Where it is missing the headers are shown as they are.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles

INCLUDE = Path(__file__).resolve().parents[2] / "include"
INTERNAL = ("lanes.hpp", "spatial.hpp", "setting.hpp", "cone.hpp")
"""For kernels: of no use to who calls the library; shown as they are."""
OPTIONS = {
    "INPUT": INCLUDE / "stiction",
    "STRIP_FROM_PATH": INCLUDE,
    "RECURSIVE": "YES",
    "GENERATE_HTML": "NO",
    "GENERATE_LATEX": "NO",
    "GENERATE_XML": "YES",
    "XML_PROGRAMLISTING": "NO",
    "QUIET": "YES",
    "WARNINGS": "NO",
    "MACRO_EXPANSION": "YES",
    "AUTOLINK_SUPPORT": "NO",
    "EXTRACT_ALL": "YES",
    # No designated initialisers: Sphinx cannot read them.
    "INPUT_FILTER": "\"sed -E 's/[{][.].*[}];/;/'\"",
    "EXCLUDE_SYMBOLS": '"stiction::detail*" "k*Settings"',
    # Attributes and instruction sets say nothing to a reader, and Sphinx does not read them.
    "PREDEFINED": '"__attribute__(x)=" "STICTION_ISA=isa"',
    "EXCLUDE_PATTERNS": " ".join(f"*/{name}" for name in INTERNAL),
}
log = logging.getLogger(__name__)


class CppApi(SphinxDirective):
    """Every header of a folder under its name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        lines = StringList()
        for header in sorted((INCLUDE / "stiction" / self.arguments[0]).glob("*.hpp")):
            self.env.note_dependency(str(header))
            for line in self._header(header):
                lines.append(line, str(header))
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, lines, node)
        for about in list(node.findall(addnodes.desc)):
            if about["objtype"] == "type" and about.astext().startswith("namespace "):
                about.parent.replace(about, about[-1].children)
        for part in list(node.findall(nodes.container)):
            if part.children and part[0].astext().startswith(("Private", "Friend")):
                part.parent.remove(part)
        return node.children

    def _header(self, header: Path) -> list[str]:
        name = f"stiction/{self.arguments[0]}/{header.name}"
        title = [name, "-" * len(name), ""]
        if self.config.stiction_doxygen and header.name not in INTERNAL:
            return [*title, f".. doxygenfile:: {header.name}", ""]
        shown = Path("/") / ".." / "include" / name
        return [*title, f".. literalinclude:: {shown}", "   :language: cpp", ""]


def run_doxygen(app: Sphinx, config: Any) -> None:
    """XML beside the built pages, if there is a Doxygen."""
    found = shutil.which("doxygen")
    config.stiction_doxygen = bool(found)
    if not found:
        log.info("doxygen is not installed: the C++ pages show the headers themselves")
        return
    folder = Path(app.outdir).parent / "doxygen"
    folder.mkdir(parents=True, exist_ok=True)
    options = OPTIONS | {"OUTPUT_DIRECTORY": folder}
    text = "".join(f"{name} = {value}\n" for name, value in options.items())
    subprocess.run([found, "-"], input=text, text=True, check=True, capture_output=True)
    config.breathe_projects = {"stiction": str(folder / "xml")}
    config.breathe_default_project = "stiction"
    config.breathe_show_include = False


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("breathe")
    app.add_config_value("stiction_doxygen", False, "env")
    app.connect("config-inited", run_doxygen)
    app.add_directive("cpp-api", CppApi)
    return {"version": "1", "parallel_read_safe": False}
