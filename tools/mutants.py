"""Deliberate defects, one at a time: is each caught? `make mutants`; not part of the tests.

A defect changes one line of one file. What is built and run is the smallest that ought to catch it:
suites of one C++ test executable, or files of Python tests, which must pass without it. The sources
are as before at the end; the builds are put right by the next one. tools/mutants.txt has them: what
is wrong, the file, "executable: suites" or "python: files", the text and what takes its place.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Defect:
    what: str
    file: Path
    old: str
    new: str
    tests: str

    @classmethod
    def read(cls, text: str) -> Defect:
        what, file, tests, old, new = text.strip().split("\n")
        return cls(what, ROOT / file, old[2:], new[2:], tests)


def passes(tests: str, build: Path, jobs: int) -> bool | None:
    """None: does not compile."""
    target, _, names = tests.partition(": ")
    goal = "_stiction" if target == "python" else f"{target}_tests"
    make = ["cmake", "--build", str(build), "--target", goal, "-j", str(jobs)]
    if subprocess.run(make, cwd=ROOT, capture_output=True).returncode:
        return None
    run = [str(build / "tests" / "cpp" / goal), *(f"--run_test={n}_test" for n in names.split())]
    if target == "python":
        files = [f"tests/python/test_{name}.py" for name in names.split()]
        run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    try:
        return not subprocess.run(
            run, cwd=ROOT, env=env, capture_output=True, timeout=900
        ).returncode
    except subprocess.TimeoutExpired:
        return False


def fate(defect: Defect, build: Path, jobs: int) -> str:
    source = defect.file.read_text()
    if source.count(defect.old) != 1:
        return "none: its line has changed"
    try:
        defect.file.write_text(source.replace(defect.old, defect.new))
        passed = passes(defect.tests, build, jobs)
    finally:
        defect.file.write_text(source)
    return {None: "does not compile", True: "survived", False: "caught"}[passed]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="defects whose words have this text")
    options = parser.parse_args()
    build = options.build.resolve()
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    texts = (ROOT / "tools" / "mutants.txt").read_text().split("\n\n")
    defects = [Defect.read(text) for text in texts if options.only in text]
    for tests in sorted({d.tests for d in defects}):
        if not passes(tests, build, options.jobs):
            sys.exit(f"{tests}: fails without any defect")
    fates = []
    for defect in defects:
        begun = time.monotonic()
        fates.append(fate(defect, build, options.jobs))
        print(f"{defect.what:60} {fates[-1]:9} {time.monotonic() - begun:4.0f} s", flush=True)
    print(f"{fates.count('caught')} of {len(fates)} caught")
    return 0 if fates.count("caught") == len(fates) else 1


if __name__ == "__main__":
    sys.exit(main())
