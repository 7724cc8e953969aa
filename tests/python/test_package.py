"""The package as a package: types, import time, version, licence."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import stiction
from stiction import simulator

ROOT = Path(__file__).parent.parent.parent


def test_stubs_match_the_compiled_module() -> None:
    """mypy.stubtest, less what Boost.Python adds to each class by itself."""
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "--mypy-config-file",
         str(ROOT / "pyproject.toml"), "stiction._stiction"],
        capture_output=True, text=True, cwd=ROOT / "python", check=False,
        env=os.environ | {"MYPYPATH": str(ROOT / "python")},
    )  # fmt: skip
    own = re.compile(r"metaclass differs|__instance_size__")
    lines = (done.stdout + done.stderr).strip().splitlines()
    assert [line for line in lines if not own.search(line)] == []
    assert lines, "stubtest did not run"


def test_types_of_the_readme_hold(tmp_path: Path) -> None:
    """A user's script under mypy --strict: the stubs are found and say what is meant."""
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "import stiction\n"
        "sim = stiction.Simulator(stiction.load('solo12'), dt=1e-3, solver='ncp-newton')\n"
        "state = sim.initial_state()\n"
        "report = sim.step(state, np.zeros(18))\n"
        "status: str = report.status\n"
        "state.q = [0.0] * 19\n"
        "reveal_type(state.q)\n"
        "reveal_type(sim.contacts()[0].force_on_b_world)\n"
        "stiction.Simulator(sim.scene, timestep=1.0)\n"
        "status = report.iterations\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
         str(script)],
        capture_output=True, text=True, cwd=ROOT, check=False,
        env=os.environ | {"MYPYPATH": str(ROOT / "python")},
    )  # fmt: skip
    text = done.stdout
    assert len(re.findall(r"Revealed type.*ndarray", text)) == 2, text
    assert 'Unexpected keyword argument "timestep"' in text
    assert re.search(r"script\.py:11: error: Incompatible types", text), text
    assert len(re.findall(r"error:", text)) == 2, text


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_is_lean() -> None:
    code = "import json, sys, stiction; print(json.dumps(sorted(sys.modules)))"
    heavy = {"typer", "rich", "matplotlib", "mujoco", "scipy", "torch", "stiction.cli"}
    heavy |= {"stiction.pages", "stiction_lab"}
    assert heavy.isdisjoint(json.loads(fresh(code)))


def test_import_prints_nothing() -> None:
    assert fresh("import stiction; stiction.load('solo12')") == ""


def test_all_names_exist_and_are_documented() -> None:
    assert list(stiction.__all__) == sorted(stiction.__all__)
    for name in stiction.__all__:
        value = getattr(stiction, name)
        assert name.startswith("__") or value.__doc__, f"stiction.{name} has no docstring"


def test_one_version_everywhere() -> None:
    version = stiction.__version__
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(stiction VERSION {version} " in cmake
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_run_time_wheels_are_those_built_against() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    build, run = project["build-system"]["requires"], project["project"]["dependencies"]
    for name in ("pin", "eigenpy", "cmeel-boost"):
        (built,) = (r for r in build if r.startswith(f"{name}=="))
        assert built in run


def test_typed_marker_and_licence_are_there() -> None:
    package = Path(stiction.__file__).parent
    assert (package / "py.typed").is_file()
    assert (package / "_stiction.pyi").is_file()
    assert "BSD 2-Clause" in (ROOT / "LICENSE").read_text()


def test_settings_are_the_same_in_the_stub_the_keywords_and_the_library() -> None:
    """A TypedDict cannot be derived from a class: the names are written twice and compared here."""
    tree = ast.parse((Path(stiction.__file__).parent / "_stiction.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def fields(name: str) -> dict[str, str]:
        own = (node for node in classes[name].body if isinstance(node, ast.AnnAssign))
        return {ast.unparse(node.target): ast.unparse(node.annotation) for node in own}

    stub = fields("_SolverFields") | fields("SimulatorSettings")
    keywords = {
        name: getattr(kind, "__forward_arg__", kind)
        for name, kind in simulator.SettingNames.__annotations__.items()
    }
    del keywords["regularisation"]  # a property: it takes more than it gives
    assert stub == keywords
    settings = stiction.SimulatorSettings()
    library = {name for name in dir(settings) if not name.startswith("_")}
    methods = {name for name in library if callable(getattr(settings, name))}
    assert library - methods == set(stub) | {"regularisation"}


def test_wheels_need_an_interpreter() -> None:
    """tools/wheels.sh says what it lacks before it builds anything."""
    done = subprocess.run(
        ["bash", str(ROOT / "tools" / "wheels.sh")],
        env=os.environ | {"PYTHONS": "/nowhere/python3 true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no CPython 3.11 to 3.14 here; name them in PYTHONS" in done.stdout


def test_the_release_page_names_tools_that_exist() -> None:
    page = (ROOT / "docs" / "releases.md").read_text()
    named = set(re.findall(r"`(tools/[\w.]+|\.ci/run)", page))
    assert len(named) >= 6
    assert all((ROOT / name).is_file() for name in named), named
