"""stiction.sweep on processes of Ray, some of which are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from stiction.envs import SOLO12_TROT  # noqa: E402
from stiction.sweep import SceneRuns, SweepError, TaskRuns, read, run  # noqa: E402
from stiction.sweep.spec import EXAMPLE  # noqa: E402

pytestmark = pytest.mark.filterwarnings(  # of Ray's own processes, as it ends them
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

SCENE = SceneRuns(
    "solo12",
    configuration="standing",
    seconds=0.2,
    dt=2e-3,
    every=0.1,
    samples=20,
    grid={"friction": [0.3, 0.9]},
    random={"mass_scale": [0.9, 1.1]},
    move=0.3,
)
TASK = TaskRuns(
    "stiction/Solo12Velocity-v0", policy=str(SOLO12_TROT), worlds=24, steps=30, transitions=True
)


class Deadly:
    """SCENE, but the process that does a chunk is killed in it, `times` times; a line in `log` for
    each time that a chunk was begun."""

    worlds = SCENE.worlds

    def __init__(self, log: Path, victims: dict[int, int]) -> None:
        self.log, self.victims = log, victims

    def __call__(self, first: int, count: int) -> dict[str, Any]:
        with self.log.open("a") as file:
            file.write(f"{first}\n")
        begun = self.log.read_text().split().count(str(first))
        columns = SCENE(first, count)
        if begun <= self.victims.get(first, 0):
            os.kill(os.getpid(), signal.SIGKILL)
        return columns

    def describe(self) -> dict[str, Any]:
        return SCENE.describe()


class Failing:
    worlds = 4

    def __call__(self, first: int, count: int) -> dict[str, Any]:
        if first == 2:
            raise ValueError("two is wrong")
        return {"world": first + np.arange(count)}

    def describe(self) -> dict[str, Any]:
        return {}


@pytest.fixture(autouse=True)
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)  # workers find the classes of this file
    yield
    assert not ray.is_initialized()  # run() ends what it began


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Bit by bit; strings of any width."""

    def equal(x: np.ndarray, y: np.ndarray) -> bool:
        if x.dtype.kind == "U":
            return np.array_equal(x, y)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()

    return list(a) == list(b) and all(equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("runs", [SCENE, TASK], ids=["scene", "task"])
def test_workers_give_the_bits_of_one_process(runs: Any, tmp_path: Path) -> None:
    alone = run(runs, chunk=8)
    seen: list[tuple[int, int]] = []
    assert same(run(runs, chunk=8, workers=2, on_chunk=lambda *x: seen.append(x)), alone)
    assert seen == [(8 * k, runs.worlds) for k in range(runs.worlds // 8 + 1)]
    run(runs, chunk=8, workers=2, out=tmp_path / "out")
    assert same(read(tmp_path / "out"), alone)


def test_killed_workers_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    runs = Deadly(log, {8: 1, 32: 2})
    run(runs, chunk=8, workers=2, out=tmp_path / "out")
    begun = log.read_text().split()
    assert begun.count("8") >= 2 and begun.count("32") >= 3  # they were killed
    assert same(read(tmp_path / "out"), run(SCENE, chunk=8))
    assert sorted(x.name for x in (tmp_path / "out").iterdir()) == [
        *(f"part-{k:06d}.parquet" for k in range(5)), "sweep.json"]  # fmt: skip


def test_a_worker_that_always_dies_is_named_and_the_others_stay(tmp_path: Path) -> None:
    runs = Deadly(tmp_path / "log", {16: 1000})
    with pytest.raises(SweepError, match=r"worlds 16 to 23: its process died 6 times"):
        run(runs, chunk=8, workers=1, out=tmp_path / "out")
    kept = {x.name for x in (tmp_path / "out").glob("part-*")}
    assert {"part-000000.parquet", "part-000001.parquet"} <= kept
    run(SCENE, chunk=8, out=tmp_path / "out")  # goes on in one process
    assert same(read(tmp_path / "out"), run(SCENE, chunk=8))


def test_an_error_of_the_runs_is_told(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match=r"worlds 2 to 3: ValueError: two is wrong"):
        run(Failing(), chunk=2, workers=1)


def test_ray_that_runs_already_goes_on() -> None:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        assert same(run(SCENE, chunk=20, workers=1), run(SCENE, chunk=20))
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_a_killed_command_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(EXAMPLE.replace("seconds = 2.0", "seconds = 4.0"))
    options = ["--workers", "1", "--chunk", "25"]
    command = [sys.executable, "-m", "stiction", "sweep", str(file), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 120.0
    parts = tmp_path / "long"
    while len(list(parts.glob("part-*"))) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = {x: x.stat().st_mtime_ns for x in parts.glob("part-*")}
    assert 3 <= len(done) < 24
    told = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    assert all(x.stat().st_mtime_ns == at for x, at in done.items())  # not done again
    table = read(parts)
    from stiction.sweep import from_toml

    assert same(table, run(from_toml(file), chunk=600))
