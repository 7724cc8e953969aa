"""stiction in another CMake project: by add_subdirectory, and installed by find_package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "build" / "release"
PROJECT = ROOT / "tests" / "subproject"


def tool(name: str) -> str:
    """Beside this Python, as in the environment of `make`, or on the path."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")


def cmake(*arguments: str | Path) -> str:
    command = [tool("cmake"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def configure(build: Path, *options: str) -> str:
    """The subproject, which itself refuses targets that are no part of the libraries."""
    always = (f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-Wno-dev")
    return cmake("-G", "Ninja", "-S", PROJECT, "-B", build, *always, *options)


@pytest.mark.parametrize("loaders", ["ON", "OFF"])
def test_add_subdirectory_has_the_libraries_alone(tmp_path: Path, loaders: str) -> None:
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    configure(tmp_path, f"-DSTICTION_SOURCE={ROOT}", f"-DSTICTION_BUILD_LOADERS={loaders}", python)
    targets = cmake("--build", tmp_path, "--target", "help")
    assert "libstiction_core.a" in targets
    assert ("libstiction_loaders.a" in targets) == (loaders == "ON")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cmake --install` makes of this build."""
    if (
        not (BUILD / "libstiction_core.a").is_file()
        or not (BUILD / "cmake_install.cmake").is_file()
    ):
        pytest.skip(f"nothing is built in {BUILD}")
    folder = tmp_path_factory.mktemp("prefix")
    cmake("--install", BUILD, "--prefix", folder, "--component", "cpp")
    return folder


def test_installed_headers_stand_alone(prefix: Path) -> None:
    """Every header is there, and names no other that is not."""
    headers = prefix / "include"
    ours = {path.relative_to(ROOT / "include") for path in ROOT.glob("include/stiction/**/*.hpp")}
    assert ours <= {path.relative_to(headers) for path in headers.rglob("*.hpp")}
    for path in headers.rglob("*.hpp"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith('#include "'):
                name = line.split('"')[1]
                places = (headers, headers / "stiction", path.parent)
                assert any((place / name).is_file() for place in places), f"{path}: {name}"


def test_find_package_builds_and_runs(prefix: Path, tmp_path: Path) -> None:
    configure(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake("--build", tmp_path, "--target", "falls")
    subprocess.run([tmp_path / "falls"], check=True, timeout=60)
    for file in (prefix / "lib/cmake/stiction").glob("*targets*.cmake"):
        text = file.read_text(encoding="utf-8")
        for folder in ("include", "src", "scenes", "build"):  # the wheels may lie in ROOT / .venv
            assert f"{ROOT / folder}/" not in text, "paths of the source tree are not installed"


def test_find_package_finds_the_loaders(prefix: Path, tmp_path: Path) -> None:
    if not (prefix / "lib" / "libstiction_loaders.a").is_file():
        pytest.skip("built without loaders")
    configure(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake("--build", tmp_path, "--target", "stands")
    done = subprocess.run([tmp_path / "stands"], capture_output=True, text=True, check=True)
    assert done.stdout.count("N\n") == 4, "four feet"
