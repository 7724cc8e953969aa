"""Makes the virtual environment .venv with everything a bare machine lacks, without root.

    python3 tools/bootstrap.py build    # CMake, Ninja and the C++ libraries, from pyproject.toml
    python3 tools/bootstrap.py test     # also what the tests need
    python3 tools/bootstrap.py study    # also what the studies need
    python3 tools/bootstrap.py dev      # also formatters and linters
    python3 tools/bootstrap.py docs     # build, and what makes the manual
    python3 tools/bootstrap.py jax      # build, JAX and pytest; torch: PyTorch
    python3 tools/bootstrap.py crocoddyl; ray

Needs only a Python >= 3.11 with venv and headers, and a C++20 compiler; what is missing is said in
words.
A second call with an unchanged pyproject.toml does nothing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("VENV", ROOT / ".venv")).absolute()
PROJECT = ROOT / "pyproject.toml"
GROUPS = {
    "build": (),
    "test": ("test",),
    "study": ("test", "study"),
    "dev": ("test", "dev"),
    "docs": ("docs",),
    "jax": ("jax",),
    "torch": ("torch",),
    "crocoddyl": ("crocoddyl",),
    "ray": ("ray", "envs"),
}
# pyproject.toml sets `timeout`, which only pytest-timeout knows.
RUNNERS = {
    name: ["pytest>=8", "pytest-timeout>=2.3"] for name in ("jax", "torch", "crocoddyl", "ray")
}


def main() -> None:
    """Check the tools, make the environment, install the group's packages once."""
    group = sys.argv[1] if len(sys.argv) > 1 else "build"
    if group not in GROUPS:
        sys.exit(f"bootstrap: {group!r} is unknown; there are: {', '.join(GROUPS)}")
    check_tools()
    marker = VENV / f".ready-{group}"
    digest = hashlib.sha256(PROJECT.read_bytes() + Path(__file__).read_bytes()).hexdigest()
    if marker.is_file() and marker.read_text() == digest:
        return
    make_environment()
    packages = requirements(group)
    say(f"installing {len(packages)} packages into {VENV.name} (once)")
    run(VENV / "bin" / "python", "-m", "pip", "install", "--upgrade-strategy", "only-if-needed",
        "--disable-pip-version-check", *packages)  # fmt: skip
    link_package()
    for name, extras in GROUPS.items():
        if set(extras) <= set(GROUPS[group]):
            (VENV / f".ready-{name}").write_text(digest)


def check_tools() -> None:
    """Stop with one message that names everything the system lacks."""
    if sys.version_info < (3, 11):  # noqa: UP036
        found = sys.version.split()[0]
        sys.exit(f"stiction needs Python 3.11 or newer; {sys.executable} is {found}")
    missing = [*missing_python_parts(), *missing_compiler()]
    if not missing:
        return
    what = "\n".join(f"  {text}" for text, _ in missing)
    packages = " ".join(package for _, package in missing)
    sys.exit(f"missing:\n{what}\nOn Debian and Ubuntu: sudo apt install {packages}")


def missing_python_parts() -> list[tuple[str, str]]:
    """The venv module and the headers, which Debian packs separately."""
    missing = []
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        missing.append(("Python's venv module", "python3-venv"))
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        missing.append((f"the C headers of {sys.executable} (Python.h)", "python3-dev"))
    return missing


def missing_compiler() -> list[tuple[str, str]]:
    """A C++20 compiler, by trying it."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return [("a C++20 compiler (c++ or g++ 12 or newer, or the variable CXX)", "g++")]
    concepts = "#include <concepts>\ntemplate <std::integral T> T same(T x) { return x; }\n"
    tried = subprocess.run(
        [*compiler.split(), "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
        input=concepts,
        text=True,
        capture_output=True,
        check=False,
    )
    if tried.returncode == 0:
        return []
    return [(f"a compiler for C++20: {compiler} is not one (g++ 12 or newer is)", "g++")]


def make_environment() -> None:
    """The environment itself, if it is not there."""
    if (VENV / "bin" / "python").exists():
        return
    say(f"making the virtual environment {VENV.name}")
    run(sys.executable, "-m", "venv", VENV)


def requirements(group: str) -> list[str]:
    """Packages to build and run the project, and those of the group's extras."""
    import tomllib

    data = tomllib.loads(PROJECT.read_text())
    wanted = [*data["build-system"]["requires"], *data["project"]["dependencies"]]
    for extra in GROUPS[group]:
        wanted += data["project"]["optional-dependencies"][extra]
    return sorted({*wanted, *RUNNERS.get(group, [])})


def link_package() -> None:
    """`import stiction` and `stiction` in the environment mean this source tree."""
    site = subprocess.run(
        [VENV / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    Path(site, "stiction.pth").write_text(f"{ROOT / 'python'}\n")
    script = VENV / "bin" / "stiction"
    script.write_text(f"#!{VENV / 'bin' / 'python'}\nfrom stiction.cli import main\n\nmain()\n")
    script.chmod(0o755)


def run(*command: str | Path) -> None:
    """Run a command and show what it says, less what pip finds in place; stop at a failure."""
    words = [str(part) for part in command]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if not line.startswith("Requirement already satisfied"):
            print(line, end="", flush=True)
    if process.wait() != 0:
        sys.exit(f"bootstrap: failed: {' '.join(words[:5])} ...")


def say(text: str) -> None:
    """Progress for the eye."""
    print(f"-- {text}", flush=True)


if __name__ == "__main__":
    main()
