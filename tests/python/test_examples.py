"""Every example runs, alone, and prints what it promises."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stiction

FOLDER = Path(__file__).resolve().parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9][0-9]_*.py"))
PROMISES = {
    "01_first_steps": "residual",
    "02_solo12_stand": "the feet carry 24.5",
    "03_compose_scene": "ghost is at",
    "04_contact_problem": "converged",
    "05_collision": "height scan",
    "06_stiff_contact": "zeta 0.30: 0.4",
    "07_push_to_a_target": "mm from the target",
    "08_gripper_from_afar": "epsilon 0 J",
    "09_identify_a_toss": "Ixx, Iyy, Izz and mass",
    "10_solo12_jump": "after 40 rollouts",
    "11_identify_solo12": "standard deviations",
    "12_many_worlds": "friction 0.80: slid by 12.",
    "13_learned_trot": "told [0.5 0.  0. ] walks [ 0.5",
    "14_saved_scene": "steps with the same bits: yes",
}


def run(script: Path, *arguments: str) -> str:
    """Standard output of an example in a process of its own."""
    package = str(Path(stiction.__file__).resolve().parents[1])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
    }
    command = [sys.executable, "-W", "error", str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} >= set(PROMISES)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(script: Path) -> None:
    assert PROMISES.get(script.stem, "") in run(script)


def test_first_example_is_short() -> None:
    code = [
        line
        for line in (FOLDER / "01_first_steps.py").read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    assert len(code) <= 12


def test_standing_example_writes_a_replay(tmp_path: Path) -> None:
    page = tmp_path / "stand.html"
    assert str(page) in run(FOLDER / "02_solo12_stand.py", str(page))
    assert page.stat().st_size > 100_000


def test_go2_trots_too(tmp_path: Path) -> None:
    page = tmp_path / "go2.html"
    for walker in ("go2", "rough"):
        said = run(FOLDER / "13_learned_trot.py", walker, str(page))
        assert "told [0.5 0.  0. ] walks [ 0.5" in said
    assert 100_000 < page.stat().st_size < 2_000_000  # the manual's limit


def test_a_toss_tells_all_but_the_mass() -> None:
    """Friction, restitution, inertia to 1 %; the unseen direction is mass with inertia."""
    main = runpy.run_path(str(FOLDER / "09_identify_a_toss.py"))["main"]
    truth, found, spread, singular, null = main()
    seen = [0, 1, 5, 7, 10]  # friction, restitution, Ixx, Iyy, Izz
    np.testing.assert_allclose(found[seen], truth[seen], rtol=1e-2)
    assert np.all(np.abs(found - truth)[:11] < 5 * spread)
    assert singular[-1] < 0.01 * singular[-2]
    np.testing.assert_allclose(null[[5, 7, 10]], null[11], rtol=1e-2)


def test_the_box_arrives_by_gradient_descent() -> None:
    main = runpy.run_path(str(FOLDER / "07_push_to_a_target.py"))["main"]
    assert main() < 1.0


def test_the_gripper_gets_its_object_from_afar() -> None:
    gradient, off = runpy.run_path(str(FOLDER / "08_gripper_from_afar.py"))["main"]()
    assert gradient == 0.0 and off < 1.0  # nothing touches at first [mm]


def test_solo12_learns_to_jump(tmp_path: Path) -> None:
    script, page = FOLDER / "10_solo12_jump.py", tmp_path / "jump.html"
    assert len(script.read_text(encoding="utf-8").splitlines()) < 80
    stands, jumps = runpy.run_path(str(script))["main"](page)
    assert jumps > stands + 0.15  # [m]
    assert page.stat().st_size > 100_000
