"""MuJoCo's compiler in a process of its own: what kills, hangs or bloats it is an error."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import DATA, GYMNASIUM, file_of
from stiction.loaders import mjcf_compiler
from stiction.loaders.mjcf_source import compile_mjcf

BALL = '<mujoco><worldbody><body name="{}"><freejoint/><geom size="1"/></body></worldbody></mujoco>'
FAULTS = """
import json, os, signal, sys, time
sys.path.insert(0, {folder!r})
import mjcf_compiler_process as process
answer = process._answer
def faulty(mujoco, request, file):
    for word, fault in (("abort", os.abort), ("leave", lambda: os._exit(3)),
                        ("sleep", lambda: time.sleep(600)), ("spin", spin)):
        if word in request["given"]:
            fault()
    return answer(mujoco, request, file)
def spin():
    while True:
        pass
process._answer = faulty
process.main()
"""


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that does what the name of a body says."""
    script = tmp_path / "faults.py"
    script.write_text(FAULTS.format(folder=str(mjcf_compiler.SCRIPT.parent)))
    monkeypatch.setattr(mjcf_compiler, "SCRIPT", script)
    mjcf_compiler._end()
    yield
    mjcf_compiler._end()


@pytest.mark.usefixtures("faults")
@pytest.mark.parametrize(
    ("word", "says"),
    [("abort", "was killed by SIGABRT"), ("leave", "ended with code 3"), ("spin", "longer than 2")],
)
def test_its_death_and_hangs_name_the_file(tmp_path: Path, word: str, says: str) -> None:
    """And the next file loads."""
    path = tmp_path / f"{word}.xml"
    path.write_text(BALL.format(word))
    stiction.load_mjcf(BALL.format("before"))
    with pytest.raises(stiction.StictionError, match=f"{word}.xml: MuJoCo's compiler .*{says}"):
        stiction.load_mjcf(path)
    assert stiction.load_mjcf(BALL.format("after")).scene.num_bodies == 1


@pytest.mark.usefixtures("faults")
def test_a_compiler_that_sleeps_is_given_up_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mjcf_compiler, "SECONDS", 0.2)
    begin = time.monotonic()
    with pytest.raises(stiction.StictionError, match="longer than"):
        stiction.load_mjcf(BALL.format("sleep"))
    assert time.monotonic() - begin < 20.0


def test_a_file_that_multiplies_without_end_is_refused() -> None:
    """In the compiler itself, no fault of ours."""
    endless = '<mujoco><worldbody><replicate count="1000000000"><geom size="1"/></replicate>'
    with pytest.raises(stiction.StictionError, match="MJCF string: MuJoCo's compiler"):
        stiction.load_mjcf(endless + "</worldbody></mujoco>")


@pytest.mark.parametrize(
    "asset",
    [
        '<hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/>',
        '<texture name="h" type="2d" builtin="flat" width="60000" height="60000"/>',
    ],
)
def test_memory_is_limited(asset: str) -> None:
    """The next file loads, although MuJoCo hangs after some of these."""
    text = f"<mujoco><asset>{asset}</asset>"
    text += '<worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>'
    with pytest.raises(stiction.StictionError, match=r"^MJCF string: .*(take 2 GB|longer than)"):
        stiction.load_mjcf(text)
    assert stiction.load_mjcf(BALL.format("after")).scene.num_bodies == 1


def test_memory_that_is_only_reserved_is_not_counted() -> None:
    """An arena of 3.4 GB, as dm_control's rodent asks for."""
    text = '<mujoco><size njmax="8000" nconmax="4000"/><worldbody><body name="b"><freejoint/>'
    text += '<geom size="1"/></body></worldbody></mujoco>'
    assert stiction.load_mjcf(text).scene.nv == 6


@pytest.mark.parametrize("name", ("sensors", "contacts", "equalities", *GYMNASIUM))
def test_the_model_is_the_one_that_mujoco_compiles_here(name: str) -> None:
    there, here = (
        compile_mjcf(file_of(name)).model,
        mujoco.MjModel.from_xml_path(str(file_of(name))),
    )
    for word in dir(here):
        if not word.startswith("_") and isinstance(getattr(here, word), np.ndarray):
            assert getattr(there, word).tobytes() == getattr(here, word).tobytes(), word


def test_one_process_serves_all_files_fast() -> None:
    stiction.load_mjcf(BALL.format("a"))
    process = mjcf_compiler._process
    begin = time.perf_counter()
    for _ in range(20):
        stiction.load_mjcf(BALL.format("a"))
    assert mjcf_compiler._process is process
    assert time.perf_counter() - begin < 20 * 0.1


def test_an_interrupted_answer_is_not_taken_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    stiction.load_mjcf(BALL.format("a"))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(mjcf_compiler._Process, "_wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stiction.load_mjcf(BALL.format("b"))
    names = [body.name for body in stiction.load_mjcf(BALL.format("c")).scene.robots]
    assert names == ["c"]


def test_threads_take_turns() -> None:
    found: dict[int, str] = {}

    def load(i: int) -> None:
        found[i] = stiction.load_mjcf(BALL.format(f"b{i}")).scene.robots[0].name

    threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: f"b{i}" for i in range(8)}


def test_the_child_of_a_fork_has_its_own() -> None:
    """And ends without a word; so does a parent whose compiler was never asked again."""
    code = f"""
import os, sys, stiction
from stiction.loaders import mjcf_compiler
ball = {BALL!r}
stiction.load_mjcf(ball.format("a"))
if (child := os.fork()) == 0:
    assert mjcf_compiler._process is None
    sys.exit(0 if stiction.load_mjcf(ball.format("b")).scene.robots[0].name == "b" else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert stiction.load_mjcf(ball.format("c")).scene.robots[0].name == "c"
sys.exit(code)
"""
    run = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=dict(os.environ),
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_relative_paths_are_of_the_callers_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stiction.load_mjcf(BALL.format("a"))
    (tmp_path / "b.xml").write_text((DATA / "joints.xml").read_text())
    monkeypatch.chdir(tmp_path)
    assert stiction.load_mjcf("b.xml").scene.nv > 0
    assert not list(tmp_path.glob("*LOG*"))


def test_limits_grow_with_the_meshes(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "m.obj").write_bytes(bytes(3_000_000))
    (tmp_path / "part.xml").write_text('<mujoco><asset><mesh file="m.obj"/></asset></mujoco>')
    text = b'<mujoco><compiler meshdir="meshes"/><include file="part.xml"/></mujoco>'
    from stiction.loaders.mjcf_lines import read_lines

    size = read_lines(str(tmp_path / "a.xml"), text).size
    assert size == 3_000_000 + len(text) + (tmp_path / "part.xml").stat().st_size
    assert 4.8 < mjcf_compiler.seconds_for(size) < 5.0
    assert mjcf_compiler.seconds_for(50_000) == 2.0


def test_deep_and_circular_files_are_refused_at_once(tmp_path: Path) -> None:
    deep = (
        "<mujoco><worldbody>" + "<body>" * 200_000 + "</body>" * 200_000 + "</worldbody></mujoco>"
    )
    (tmp_path / "b.xml").write_text(
        '<mujoco><include file="b.xml"/><include file="b.xml"/></mujoco>'
    )
    (tmp_path / "deep.xml").write_text(deep)
    for name in ("b.xml", "deep.xml"):
        begin = time.monotonic()
        with pytest.raises(stiction.StictionError, match=name):
            stiction.load_mjcf(tmp_path / name)
        assert time.monotonic() - begin < 2.0
