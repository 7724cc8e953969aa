"""Builds and runs the benchmarks' C++ programs, which link the peers' libraries."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .worlds import BenchError

PEERS = ("coal", "mujoco")
TARGET = "collision_peers"
INTEGRATORS = "integrator_steps"
LANES = "lane_steps"


def repository() -> Path:
    """The sources this package runs from.

    Raises:
        BenchError: it runs from an installed wheel, which carries no C++ sources.
    """
    root = Path(__file__).resolve().parents[3]
    if not (root / "benchmarks" / TARGET / "CMakeLists.txt").is_file():
        raise BenchError(
            "this benchmark is compiled from the repository's sources, and this package is "
            "installed without them: run it from a checkout"
        )
    return root


def build(root: Path, peers: Sequence[str], say: Callable[[str], None]) -> Path:
    """The program, up to date, in build/peers; the core is compiled at the first call.

    Raises:
        BenchError: a tool or a peer is missing, or the sources do not compile.
    """
    for peer in peers:
        if peer not in PEERS:
            raise BenchError(f"--peers {peer!r} is unknown; there are: {', '.join(PEERS)}")
    options = [
        "-DSTICTION_BUILD_COLLISION_PEERS=ON",
        f"-DSTICTION_COLLISION_PEERS={';'.join(peers)}",
        "-DSTICTION_BUILD_LOADERS=OFF",
    ]
    if "mujoco" in peers:
        options.append(f"-DSTICTION_MUJOCO_DIR={_mujoco_folder()}")
    return _compile(root, root / "build" / "peers", TARGET, options, say)


def build_integrators(root: Path, say: Callable[[str], None]) -> Path:
    """The program that times integrators, up to date; see `_in_release`."""
    return _in_release(root, INTEGRATORS, say)


def build_lanes(root: Path, say: Callable[[str], None]) -> Path:
    """The program that steps worlds on lanes, up to date; see `_in_release`."""
    return _in_release(root, LANES, say)


def _in_release(root: Path, target: str, say: Callable[[str], None]) -> Path:
    """A program in build/release if `make` has been there, with the core it has compiled; else in
    build/integrators.

    Raises:
        BenchError: a tool is missing, or the sources do not compile.
    """
    folder = root / "build" / "release"
    if not (folder / "CMakeCache.txt").is_file():
        folder = root / "build" / "integrators"
    return _compile(root, folder, target, [], say)


def _compile(
    root: Path, folder: Path, target: str, options: Sequence[str], say: Callable[[str], None]
) -> Path:
    """A program of benchmarks/; a folder that is configured already keeps its other parts."""
    cmake = _tool("cmake", "pip install cmake")
    ninja = _tool("ninja", "pip install ninja")
    _tool(os.environ.get("CXX", "g++"), "apt install g++, or set CXX")
    fresh = [f"-DSTICTION_BUILD_{part}=OFF" for part in ("TESTS", "PYTHON", "EXAMPLES")]
    fresh += [
        "-G",
        "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DPython3_EXECUTABLE={sys.executable}",
    ]
    say("configuring")
    known = (folder / "CMakeCache.txt").is_file()
    _run([cmake, "-S", str(root), "-B", str(folder), *([] if known else fresh), *options])
    say("compiling")
    _run([cmake, "--build", str(folder), "--target", target])
    return folder / "benchmarks" / target / target


def run(program: Path, arguments: Sequence[str], say: Callable[[str], None]) -> dict[str, Any]:
    """Run the program; its progress lines go to `say`, its JSON comes back.

    Raises:
        BenchError: it failed; the message is its last line.
    """
    last = ""
    with tempfile.TemporaryFile("w+") as output:  # a pipe could fill up while stderr is read
        command = [str(program), *arguments]
        with subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for line in process.stderr:
                last = line.strip()
                say(last)
        if process.returncode != 0:
            raise BenchError(f"{program.name} failed: {last}")
        output.seek(0)
        document: dict[str, Any] = json.load(output)
    return document


def _tool(name: str, hint: str) -> str:
    found = shutil.which(name, path=_search_path())
    if found is None:
        raise BenchError(f"this benchmark is compiled, and there is no {name}: {hint}")
    return found


def _search_path() -> str:
    """Tools of this Python's environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def _mujoco_folder() -> Path:
    spec = importlib.util.find_spec("mujoco")
    if spec is None or spec.origin is None:
        raise BenchError(
            "the peer mujoco is not installed: pip install mujoco==4.0.0, or leave "
            "it out with --peers coal"
        )
    return Path(spec.origin).parent


def _run(command: Sequence[str]) -> None:
    environment = os.environ | {"PATH": _search_path()}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        lines = [x for x in (done.stdout + done.stderr).splitlines() if "rror" in x]
        reason = " | ".join(lines[:3]) or "no message"
        raise BenchError(f"{Path(command[0]).name} failed: {reason}")
