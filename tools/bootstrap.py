"""Makes the virtual environment .venv with everything a bare machine lacks, without root.

    python3 tools/bootstrap.py build    # CMake, Ninja and the C++ libraries, from pyproject.toml
    python3 tools/bootstrap.py test     # also what the tests need
    python3 tools/bootstrap.py dev      # also formatters and linters

Needs only a Python >= 3.11 with venv and a C++20 compiler; says in words which one is missing.
A second call with an unchanged pyproject.toml does nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("VENV", ROOT / ".venv"))
PROJECT = ROOT / "pyproject.toml"
GROUPS = {"build": (), "test": ("test",), "dev": ("test", "dev")}


def main() -> None:
    """Check the tools, make the environment, install the group's packages once."""
    group = sys.argv[1] if len(sys.argv) > 1 else "build"
    if group not in GROUPS:
        sys.exit(f"bootstrap: {group!r} is unknown; there are: {', '.join(GROUPS)}")
    check_python()
    check_compiler()
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
    for name in [*GROUPS][: [*GROUPS].index(group) + 1]:  # each group holds those before it
        (VENV / f".ready-{name}").write_text(digest)


def check_python() -> None:
    """Version and the venv module, which Debian packs separately."""
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(
            f"stiction needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}"
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        sys.exit(
            "Python's venv module is missing. On Debian and Ubuntu: sudo apt install python3-venv "
            "python3-dev"
        )


def check_compiler() -> None:
    """A C++20 compiler, by trying it."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    hint = "On Debian and Ubuntu: sudo apt install g++ (12 or newer)"
    if compiler is None:
        sys.exit(f"No C++ compiler was found (c++ or g++, or the variable CXX). {hint}")
    test = (
        "#include <bit>\nstatic_assert(std::endian::native == std::endian::little); int main() {}"
    )
    tried = subprocess.run(
        [*compiler.split(), "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
        input=test, text=True, capture_output=True, check=False,
    )  # fmt: skip
    if tried.returncode != 0:
        sys.exit(f"{compiler} cannot compile C++20. {hint}\n{tried.stderr.strip()}")


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
    return sorted(set(wanted))


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
    """Run a command with its output shown; stop at a failure."""
    result = subprocess.run([str(part) for part in command], check=False)
    if result.returncode != 0:
        sys.exit(f"bootstrap: failed: {' '.join(str(part) for part in command[:5])} ...")


def say(text: str) -> None:
    """Progress for the eye."""
    print(f"-- {text}", flush=True)


if __name__ == "__main__":
    main()
