"""stiction.sweep in one process: columns, files, what is refused; on Ray: tests/frameworks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import stiction
from stiction.counted_random import uniform
from stiction.sweep import SceneRuns, SweepError, TaskRuns, from_toml, read, run
from stiction.sweep.spec import EXAMPLE
from typer.testing import CliRunner

RUNS = SceneRuns(
    "solo12",
    configuration="standing",
    seconds=0.06,
    dt=2e-3,
    every=0.02,
    samples=3,
    seed=5,
    grid={"friction": [0.3, 0.8], "kp": [10.0, 20.0]},
    random={"mass_scale": [0.9, 1.1]},
    move=0.3,
    record=["q", "v", "target"],
)


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Bit by bit; strings of any width."""

    def equal(x: np.ndarray, y: np.ndarray) -> bool:
        if x.dtype.kind == "U":
            return np.array_equal(x, y)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()

    return list(a) == list(b) and all(equal(a[name], b[name]) for name in a)


class Squares:
    """Runs of one's own: fails in the chunks that it is told."""

    worlds = 10

    def __init__(self, bad: tuple[int, ...] = ()) -> None:
        self.bad, self.asked = bad, []

    def __call__(self, first: int, count: int) -> dict[str, Any]:
        self.asked.append(first)
        if first in self.bad:
            raise RuntimeError("no squares here")
        k = first + np.arange(count)
        return {"world": k, "square": k**2.0, "pair": np.stack([k, -k], axis=1)}

    def describe(self) -> dict[str, Any]:
        return {"kind": "squares"}


def test_columns_do_not_depend_on_chunks() -> None:
    whole = run(RUNS)
    assert RUNS.worlds == 12 and len(whole["world"]) == 36
    assert all(same(whole, run(RUNS, chunk=size)) for size in (1, 5, 12))


def test_a_row_is_what_a_batch_does_with_these_parameters() -> None:
    table = run(RUNS, chunk=4)
    world = 7  # friction 0.8, kp 10, sample 1
    rows = table["world"] == world
    assert (table["friction"][rows] == 0.8).all() and (table["kp"][rows] == 10.0).all()
    scale = 0.9 + 0.2 * uniform(5, np.array([world]), np.array([0]), 1)[0, 0]
    assert (table["mass_scale"][rows] == scale).all()
    scene = stiction.load("solo12")
    batch = stiction.Batch(scene, 1, dt=2e-3, configuration="standing")
    for name, x in (("friction", 0.8), ("mass_scale", scale)):
        batch.assign(name, x)
    kp = batch.values("kp")
    assert kp[0, 0] == 0.0
    kp[:, 6:] = 10.0
    batch.assign("kp", kp)
    standing = batch.position_target[0, 6:].copy()
    for k in range(3):
        moved = uniform(5, np.array([world]), np.array([k]), 12, stream=1)[0]
        batch.position_target[0, 6:] = standing + 0.3 * (2.0 * moved - 1.0)
        batch.step(10)
        row = np.flatnonzero(rows)[k]
        assert table["time"][row] == pytest.approx(0.02 * (k + 1))
        assert np.array_equal(table["q"][row], batch.q[0])
        assert np.array_equal(table["v"][row], batch.v[0])
        assert np.array_equal(table["target"][row, 6:], batch.position_target[0, 6:])
        assert table["status"][row] == "ok" and table["certificate"][row] == batch.certificate[0]


def test_one_row_at_the_end_and_other_seeds() -> None:
    def ends(**given: Any) -> dict[str, Any]:
        return run(SceneRuns("solo12", seconds=0.02, samples=4, record=["height"], **given))

    still = ends()
    assert still["height"].shape == (4, 1) and len(np.unique(still["height"])) == 1
    assert list(still) == ["world", "time", "status", "certificate", "height"]
    a, b = (ends(random={"friction": [0.2, 1.0]}, seed=s)["friction"] for s in (0, 1))
    assert len(np.unique([a, b])) == 8 and min(a) >= 0.2 and max(b) <= 1.0


def test_files_are_the_columns_and_a_stopped_sweep_goes_on(tmp_path: Path) -> None:
    expected = run(Squares(), chunk=3)
    failing = Squares(bad=(6,))
    with pytest.raises(SweepError, match=r"worlds 6 to 8: RuntimeError: no squares here"):
        run(failing, chunk=3, out=tmp_path / "out")
    assert failing.asked == [0, 3, 6]
    with pytest.raises(ValueError, match=r"2 of 4 chunks are done"):
        read(tmp_path / "out")
    (tmp_path / "out" / ".part-000002.parquet.1").write_bytes(b"half a file")
    resumed, seen = Squares(), []
    assert run(resumed, chunk=3, out=tmp_path / "out", on_chunk=lambda *x: seen.append(x)) == {}
    assert resumed.asked == [6, 9] and seen == [(6, 10), (9, 10), (10, 10)]
    assert same(read(tmp_path / "out"), expected)
    again = Squares()
    run(again, chunk=3, out=tmp_path / "out")
    assert again.asked == []


def test_a_folder_of_other_runs_is_refused(tmp_path: Path) -> None:
    run(Squares(), chunk=5, out=tmp_path / "a")
    with pytest.raises(ValueError, match=r"holds results of other runs \(chunk in sweep\.json"):
        run(Squares(), chunk=4, out=tmp_path / "a")
    with pytest.raises(ValueError, match=r"other runs \(runs, worlds"):
        run(RUNS, chunk=5, out=tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("x")
    with pytest.raises(ValueError, match=r"is not empty and holds no sweep\.json"):
        run(Squares(), out=tmp_path / "b")
    with pytest.raises(ValueError, match="not the folder of a sweep"):
        read(tmp_path / "b")


def test_episodes_of_a_task() -> None:
    runs = TaskRuns(
        "stiction/CartPole-v0", worlds=5, steps=25, seed=3, settings={"episode_steps": 10}
    )
    table = run(runs, chunk=2)
    assert list(table) == ["world", "episode", "total", "length", "terminated"]
    assert table["world"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert table["episode"].tolist() == [0, 1] * 5
    assert (table["length"] == 10).all() and (table["total"] == 10.0).all()
    assert not table["terminated"].any()


@pytest.mark.parametrize("policy", ["random", "stored"])
def test_transitions_of_a_task_are_those_of_the_environment(policy: str) -> None:
    import gymnasium
    from stiction.envs import SOLO12_TROT, Policy

    name = str(SOLO12_TROT) if policy == "stored" else policy
    runs = TaskRuns(
        "stiction/Solo12Velocity-v0",
        policy=name,
        worlds=6,
        steps=8,
        transitions=True,
        settings={"episode_steps": 5},
    )
    table = run(runs, chunk=3)
    assert same(table, run(runs, chunk=3))
    seen = table["observation"].reshape(6, 8, 50)
    actions = table["action"].reshape(6, 8, 12)
    assert not np.array_equal(seen[0], seen[3])  # the first worlds of two chunks
    env = gymnasium.make_vec("stiction/Solo12Velocity-v0", num_envs=3, episode_steps=5)
    place = uniform(0, np.array([3]), np.array([0]), 1, stream=3)[0, 0]
    observation, _ = env.reset(seed=int(place * 2.0**53))
    for step in range(8):
        assert np.array_equal(seen[3:, step], observation)
        if policy == "stored":
            learned = Policy.load(SOLO12_TROT)
            assert np.abs(actions[3:, step] - learned(observation)).max() < 1e-5
            assert np.array_equal(
                learned.row_by_row(observation)[1], learned.row_by_row(observation[1])
            )
        observation, reward, _, truncated, _ = env.step(actions[3:, step])
        row = 8 * np.arange(3, 6) + step
        assert np.array_equal(table["reward"][row], reward)
        assert np.array_equal(table["truncated"][row], truncated) and truncated.all() == (step == 4)
        assert (table["episode"][row] == (step > 4)).all()
    assert np.abs(actions).max() <= 1.0 or policy == "stored"
    assert len(np.unique(actions)) > 500


def test_the_example_is_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(EXAMPLE)
    runs = from_toml(file, seed=9)
    assert isinstance(runs, SceneRuns)
    assert runs.worlds == 600 and runs.seed == 9 and runs.random == {"mass_scale": [0.9, 1.1]}
    commented = "".join(
        line.removeprefix("# ") + "\n" for line in EXAMPLE[EXAMPLE.index("# [task]") :].splitlines()
    )
    file.write_text(commented)
    (tmp_path / "trot.npz").write_bytes(b"")
    runs = from_toml(file)
    assert isinstance(runs, TaskRuns)
    assert runs.policy == str(tmp_path / "trot.npz") and runs.settings == {"randomise": True}


def test_ray_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def init(**_: Any) -> None:
        raise Exception("The current node timed out during startup.")

    stand_in = ModuleType("ray")
    stand_in.is_initialized = lambda: False  # type: ignore[attr-defined]
    stand_in.init = init  # type: ignore[attr-defined]
    stand_in.shutdown = lambda: calls.append("shutdown")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    with pytest.raises(SweepError, match=r"Ray did not start: The current node timed out.*workers"):
        run(Squares(), workers=2)
    assert calls == ["shutdown"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", r"s\.toml: Invalid value"),
        ("", r"has nothing: must have one table, \[scene\] or \[task\]"),
        ("[scene]\nseed = 1", r"scene\.scene is missing"),
        ('[scene]\nscene = "x"\ndtt = 1', r"scene\.dtt: unknown; there are: scene, seconds"),
        ('[scene]\nscene = "x"\ndt = 0.0', r"dt = 0\.0: must be finite and > 0"),
        ('[scene]\nscene = "x"\nseconds = 0.0015', r"seconds = 0\.0015: must be a multiple of dt"),
        ('[scene]\nscene = "x"\nevery = 0.0001', r"every = 0\.0001: must be a multiple of dt"),
        ('[scene]\nscene = "x"\nsamples = 0', r"samples = 0: must be at least 1"),
        ('[scene]\nscene = "x"\nseed = -1', r"seed = -1: must be in \[0, 2\^64\)"),
        ('[scene]\nscene = "x"\nseconds = "a"', "seconds = 'a': must be a number"),
        ('[scene]\nscene = "x"\nsamples = 1.5', r"samples = 1\.5: must be an integer"),
        ('[scene]\nscene = "x"\nmove = -0.1', r"move = -0\.1: must be finite and >= 0"),
        ('[scene]\nscene = "x"\nrecord = []', r"record = \[\]: must be of v_body"),
        ('[scene]\nscene = "x"\ngrid.mass = [1]', r"grid\.mass: unknown; there are: friction"),
        ('[scene]\nscene = "x"\ngrid.kp = []', r"grid\.kp = \[\]: must be finite numbers"),
        ('[scene]\nscene = "x"\nrandom.kp = [2, 1]', r"random\.kp = \[2, 1\]: must be the lowest"),
        ('[scene]\nscene = "x"\ngrid.kp = [1]\nrandom.kp = [1, 2]', "kp is in grid and in random"),
        ('[task]\ntask = "x"\nsteps = 0', r"steps = 0: must be at least 1"),
    ],
)
def test_files_that_are_wrong_say_where(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        from_toml(file)


def test_what_cannot_be_run_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SweepError, match=r"worlds 0 to 0: .*no-such-scene"):
        run(SceneRuns("no-such-scene"))
    for name in ("speed", "contact"):  # the latter would need feet
        with pytest.raises(ValueError, match=rf"record = \['{name}'\]: must be of v_body, w_body"):
            run(SceneRuns("solo12", record=[name], seconds=0.001))
    from stiction.envs import SOLO12_TROT

    for task, text in (
        ({"task": "CartPole-v1"}, r"task = 'CartPole-v1': must be one of stiction\.envs"),
        ({"policy": str(SOLO12_TROT)}, "has 50 observations and 12 actions, .*CartPole-v0 5 and 1"),
        ({"policy": "none.npz"}, r"StictionError: none\.npz"),
        ({"settings": {"autoreset": "NextStep"}}, "autoreset = 'NextStep': must be SameStep"),
    ):
        with pytest.raises(SweepError, match=rf"worlds 0 to 1: .*{text}"):
            run(TaskRuns(**({"task": "stiction/CartPole-v0"} | task), worlds=2, steps=1))
    for name, value in (("workers", -1), ("chunk", 0)):
        given: dict[str, Any] = {name: value}
        with pytest.raises(ValueError, match=rf"{name} = {value}: must be at least"):
            run(Squares(), **given)
    uneven = Squares()
    monkeypatch.setattr(Squares, "__call__", lambda *_: {"a": np.zeros(2), "b": np.zeros(3)})
    with pytest.raises(SweepError, match=r"columns must be of one length: a \(2,\), b \(3,\)"):
        run(uneven)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install ray; workers = 0 runs"):
        run(Squares(), workers=2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"need pyarrow: pip install pyarrow"):
        run(Squares(), out=tmp_path / "out")


def test_the_command(tmp_path: Path) -> None:
    from stiction.cli import app

    runner = CliRunner()
    file = tmp_path / "few.toml"
    text = EXAMPLE.replace("samples = 100", "samples = 1").replace("seconds = 2.0", "seconds = 0.2")
    file.write_text(text)
    told = runner.invoke(app, ["sweep", str(file), "--workers", "0", "--chunk", "4", "--json"])
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    assert document["worlds"] == 6 and document["rows"] == 12
    assert document["columns"]["q"] == [19] and document["status"] == {"ok": 12}
    assert document["largest certificate"] < 1e-8 and document["out"] == str(tmp_path / "few")
    assert same(read(tmp_path / "few"), run(from_toml(file)))
    told = runner.invoke(app, ["sweep", str(file), "--workers", "0", "--chunk", "4"])
    assert told.exit_code == 0 and "ok 12" in told.stdout
    told = runner.invoke(app, ["sweep", str(file), "--workers", "0"])
    assert told.exit_code == 1 and "holds results of other runs" in told.stderr
    told = runner.invoke(app, ["sweep", "--example"])
    assert told.stdout == EXAMPLE
    told = runner.invoke(app, ["sweep"])
    assert told.exit_code == 2 and "FILE is missing" in told.stderr
