"""The guards of the structure: the repository keeps the rules, each rule sees what breaks it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@contextmanager
def tool(name: str) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture(scope="module")
def structure() -> Iterator[ModuleType]:
    """tools/structure.py."""
    with tool("structure") as module:
        yield module


def test_the_repository_keeps_the_rules(structure: ModuleType) -> None:
    tree = structure.read()
    assert len(tree.text) > 400 and len(structure.functions(tree)) > 3000  # it looks at the code
    found = structure.violations(tree, structure.exceptions())
    assert not found, "\n".join(map(str, found))


def lines(count: int, of: str = "  x = {};\n") -> str:
    """Different lines."""
    return "".join(of.format(k) for k in range(count))


BROKEN = {
    "long function": {
        "src/math/a.cpp": "void f() {\n" + lines(119) + "}\nvoid g() {\n" + lines(118) + "}\n"
    },
    "long file": {"src/math/a.cpp": "\n" * 401, "src/math/b.cpp": "\n" * 400},
    "wide class": {
        "src/math/a.hpp": "class A {\n" + lines(10, "double a{0}, b{0};\n") + "int f() const;\n};",
        "src/math/b.hpp": "struct B {\n" + lines(7, "double *a{0}, *b{0}, c{0};\n") + "};",
        "src/math/c.hpp": "struct CWorkspace {\n" + lines(30, "std::vector<double> a{0};\n") + "};",
    },
    "upward include": {
        "src/contact/a.cpp": '#include "stiction/math/x.hpp"\n#include "solver/y.hpp"\n',
        "src/contact/b.cpp": '#include "contact/b.hpp"\n#include "math/y.hpp"\n',
    },
    "unused public header": {
        "include/stiction/math/used.hpp": "",
        "include/stiction/math/needed.hpp": '#include "stiction/math/used.hpp"\n',
        "include/stiction/math/alone.hpp": "",
        "src/math/a.cpp": '#include "stiction/math/alone.hpp"\n',
        "bindings/python/a.cpp": '#include "stiction/math/needed.hpp"\n',
    },
    "copied lines": {
        "src/math/a.cpp": "void f() {\n" + lines(10) + "}\n",
        "src/math/b.cpp": "int g() {\n  // other words\n" + lines(10) + "  return 1;\n}\n",
        "src/math/c.cpp": "int h() {\n" + lines(9) + "  return 2;\n}\n",
    },
    "C library": {
        "src/math/a.cpp": "double f(double x) { return std::hypot(x, 1.0); }\n",
        "src/math/b.cpp": "double g(double x) { return std::sqrt(x); }  // std::cos(x)\n",
    },
}
SEEN = {
    "long function": {"src/math/a.cpp f"},
    "long file": {"src/math/a.cpp"},
    "wide class": {"src/math/b.hpp B"},
    "upward include": {"src/contact/a.cpp"},
    "unused public header": {"include/stiction/math/alone.hpp"},
    "copied lines": {"src/math/a.cpp src/math/b.cpp"},
    "C library": {"src/math/a.cpp"},
}


@pytest.mark.parametrize("rule", sorted(BROKEN))
def test_each_rule_sees_what_breaks_it_and_nothing_else(structure: ModuleType, rule: str) -> None:
    found = structure.violations(structure.Tree(BROKEN[rule]), {})
    bound = structure.FUNCTION_MOST
    seen = {v.place for v in found if v.rule == rule}
    if rule == "long function":  # g is over 80 lines: more than 1 % of two functions
        assert any(v.value.endswith(str(bound)) for v in found)
        seen -= {"src/math/a.cpp g"}
    assert seen == SEEN[rule]


def test_one_function_in_a_hundred_may_have_120_lines(structure: ModuleType) -> None:
    short = {f"src/math/s{k}.cpp": f"void s{k}() {{}}\n" for k in range(100)}
    long = {"src/math/a.cpp": "void f() {\n" + lines(118) + "}\n"}
    assert not list(structure.long_functions(structure.Tree(short | long)))
    two = long | {"src/math/b.cpp": "void g() {\n" + lines(80) + "}\n"}
    places = [v.place for v in structure.long_functions(structure.Tree(short | two))]
    assert places == ["src/math/b.cpp g"]


def test_python_functions_count(structure: ModuleType) -> None:
    tree = structure.Tree({"python/stiction/a.py": "def f():\n" + lines(121, "    x = {}\n")})
    assert [v.place for v in structure.long_functions(tree)][:1] == ["python/stiction/a.py f"]


def test_an_exception_is_used_or_reported(structure: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "exceptions.txt"
    file.write_text("# why\nlong file: src/math/a.cpp: a table\nlong file: src/b.cpp: gone\n")
    found = structure.violations(
        structure.Tree({"src/math/a.cpp": "\n" * 500}), structure.exceptions(file)
    )
    assert [str(v) for v in found] == ["exception without need: long file: src/b.cpp: gone"]


def test_every_deliberate_defect_still_has_its_place() -> None:
    """The text that it changes is in its file (`make mutants` changes it)."""
    with tool("mutants") as mutants:
        texts = (TOOLS / "mutants.txt").read_text().split("\n\n")
        defects = [mutants.Defect.read(text) for text in texts]
    assert len(defects) > 80
    lost = [d.what for d in defects if d.file.read_text().count(d.old) != 1 or d.old == d.new]
    assert not lost
