"""Writes what Python and the manual say of settings, from the tables of the library.

    python tools/settings_page.py            write
    python tools/settings_page.py --check    exit code 1 if something is not current

python/stiction/setting_names.py (the keywords with their types and words), the classes of settings
in python/stiction/_stiction.pyi, and docs/settings.md.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "python" / "stiction" / "setting_names.py"
STUB = ROOT / "python" / "stiction" / "_stiction.pyi"
PAGE = ROOT / "docs" / "settings.md"
REGULARISATION = {
    "name": "regularisation",
    "type": "str | ArrayLike",
    "default": "contact-norm",
    "unit": "",
    "range": '"contact-norm", "diagonal", or for solve the (n,) rows > 0',
    "meaning": "What is added to diag(G).",
    "kind": "solver",
    "readers": "ccp-newton",
}
"""The one setting that is no plain number or word."""
ALWAYS = ("tolerance", "max_iterations")
"""Arguments of `solve` of their own."""
HEAD = """# Settings

Keywords of `stiction.Simulator`, `stiction.solve`, `Simulator.compare` and `explain`; in C++ fields
of the same names. A setting that is not its default is refused where the chosen solver or
integrator does not read it. Written by `tools/settings_page.py` from the tables of the library.
"""

sys.path.insert(0, str(ROOT / "python"))
Field = dict[str, Any]


def fields() -> list[Field]:
    """Every setting of a Simulator, in the order of the tables."""
    from stiction import _stiction

    found = list(_stiction._setting_fields())
    solve = _stiction.SolverSettings()
    for row in found:
        row["solve"] = getattr(solve, row["name"], row["default"])
    at = next(k for k, row in enumerate(found) if row["name"] == "regularisation_weight")
    return [*found[:at], REGULARISATION | {"solve": "contact-norm"}, *found[at:]]


def value(x: object) -> str:
    """A default as Python writes it, quotes as in the code."""
    return f'"{x}"' if isinstance(x, str) else f"{x:g}" if isinstance(x, float) else str(x)


def sentence(row: Field, default: str) -> str:
    """`[unit] range. Meaning Read by ... Default ...`"""
    unit = f"[{row['unit']}] " if row["unit"] else ""
    allowed = f"{row['range']}. " if row["range"] else ""
    readers = f" Read by {row['readers'].replace(' ', ', ')}." if row["readers"] else ""
    return f"{unit}{allowed}{row['meaning']}{readers} Default {default}."


def described(row: Field, default: str) -> str:
    """A paragraph of a docstring."""
    text = textwrap.fill(
        f"{row['name']}: {sentence(row, default)}",
        width=99,
        initial_indent="    ",
        subsequent_indent="        ",
        break_on_hyphens=False,
    )
    return text + "\n"


def both(row: Field) -> str:
    """The default; that of `solve` too where it is another."""
    usual, own = value(row["default"]), value(row["solve"])
    return usual if usual == own else f"{usual} in a Simulator, {own} in solve"


def names(rows: list[Field]) -> str:
    """python/stiction/setting_names.py."""
    other = [r for r in rows if r["kind"] == "solver" and r["name"] not in ALWAYS]
    always = [r for r in rows if r["name"] in ALWAYS]
    own = [r for r in rows if r["kind"] == "integrator"]

    def typed(group: list[Field]) -> str:
        return "".join(f"    {r['name']}: {r['type']}\n" for r in group)

    def words(group: list[Field]) -> str:
        return "".join(described(r, both(r)) for r in group)

    return f'''"""Keyword settings. Written by tools/settings_page.py: do not edit."""

from __future__ import annotations

from typing import TypedDict

from numpy.typing import ArrayLike


class OtherOptions(TypedDict, total=False):
    """Keyword settings of `solve`; each names the solvers that read it.

{words(other)}    """

{typed(other)}

class SolverOptions(OtherOptions, total=False):
    """Keyword settings of the solvers, OtherOptions among them.

{words(always)}    """

{typed(always)}

class SettingNames(SolverOptions, total=False):
    """Keyword settings of a Simulator, those of SolverOptions among them; each names the
    integrators that read it, all if none is named.

    solver: a name of `solvers()`. Default "ncp-newton".
    integrator: a name of `integrators()`. Default "semi-implicit-euler", rigid contacts; the others
        read the stiffness of materials.
{words(own)}    """

    solver: str
    integrator: str
{typed(own)}'''


def stub(rows: list[Field]) -> str:
    """The stub with the attributes of both classes replaced."""
    text = STUB.read_text(encoding="utf-8")
    for kind, head in (("solver", "class _SolverFields:\n"), ("integrator", "    solver: str\n")):
        listed = "".join(
            f"    {r['name']}: {r['type']}\n"
            for r in rows
            if r["kind"] == kind and r["name"] != "regularisation"
        )
        pattern = re.escape(head) + r"(    \w+: (?:float|int|bool|str)\n)*"
        text, count = re.subn(pattern, lambda _, h=head, x=listed: h + x, text, count=1)
        if count != 1:
            raise SystemExit(f"{STUB}: {head.strip()!r} is not there")
    return text


def page(rows: list[Field]) -> str:
    """docs/settings.md."""
    parts = [HEAD]
    for title, kind in (("Of solvers", "solver"), ("Of steps", "integrator")):
        parts.append(f"\n## {title}\n\n| name | type | default | |\n| --- | --- | --- | --- |\n")
        for r in rows:
            if r["kind"] == kind:
                said = sentence(r, "").removesuffix(" Default .").replace("|", "\\|")
                kinds = r["type"].replace("|", "\\|")
                parts.append(f"| `{r['name']}` | {kinds} | {both(r)} | {said} |\n")
    return "".join(parts)


def main() -> int:
    """Writes, or with --check compares."""
    rows = fields()
    wanted = {NAMES: names(rows), STUB: stub(rows), PAGE: page(rows)}
    stale = [p for p, text in wanted.items() if not p.exists() or p.read_text("utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not current: python tools/settings_page.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
