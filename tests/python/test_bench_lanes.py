"""`stiction bench lanes`: the peer's worlds, the table, and what is refused."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from stiction_lab.bench import batch, lanes  # noqa: E402
from stiction_lab.bench.lane_tables import lane_tables  # noqa: E402
from stiction_lab.bench.worlds import BenchError  # noqa: E402


def peer(targets: np.ndarray) -> lanes.PeerWorlds:
    return lanes.PeerWorlds(lanes.SCENARIOS[0], lanes.PEERS[0], targets.shape[1], 5, targets)


def test_the_peers_worlds_follow_their_own_targets() -> None:
    targets = np.zeros((3, 4, 12))
    targets[:, 1] = 0.2
    worlds = peer(targets)
    worlds.period(False)
    worlds.period(True)
    q = worlds._states[:, 8:20]
    assert np.array_equal(q[0], q[2])
    assert np.abs(q[1] - q[0]).max() > 1e-3
    assert worlds.series.us[0] > 0.0
    assert len(worlds.series.us) == 1


def test_a_fallen_world_begins_anew() -> None:
    worlds = peer(np.zeros((2, 3, 12)))
    worlds._states[1, 3] = 0.05
    worlds._states[2, 3] = np.nan
    worlds.period(True)
    assert worlds.series.resets == 2
    assert np.allclose(worlds._states[1], worlds._states[0])


def test_speed_ups_are_over_the_fastest_of_each_cone() -> None:
    series = [
        lanes.LaneSeries("stiction-w8", us=[2.0, 1.0, 1.0], contacts=[1.0], lanes=0.5, worst=1e-9),
        lanes.LaneSeries("mujoco-newton-elliptic-implicitfast", us=[12.0]),
        lanes.LaneSeries("mujoco-newton-elliptic-discrete", us=[10.0]),
        lanes.LaneSeries("mujoco-newton-pyramidal-discrete", us=[6.0]),
    ]
    row = lanes._row(lanes.SCENARIOS[0], series)
    assert row["speedup"]["elliptic"] == {"stiction-w8": 10.0}
    assert row["speedup"]["pyramidal"] == {"stiction-w8": 6.0}
    machine = {"cpu": "one", "load": 0.0, "date": "today"}
    document = {"worlds": 8, "periods": 3, "scenarios": {"solo12-policy": row}, "machine": machine}
    assert lane_tables(document).renderables


def test_an_unknown_scenario_is_named() -> None:
    with pytest.raises(BenchError, match="solo12-policy"):
        lanes.bench_lanes(["solo13"])


def test_a_batch_and_its_peers_on_as_many_threads() -> None:
    document = batch.bench_batch(["solo12-policy"], worlds=16, periods=1)
    row = document["scenarios"]["solo12-policy"]
    labels = set(row["series"])
    width = max(int(x.split("-")[1][1:]) for x in labels if x.startswith("stiction-w"))
    assert {f"stiction-w{width}-t1", f"stiction-w{width}-t2", "stiction-simulators-t1"} <= labels
    assert sum(x.startswith("mujoco") and x.endswith("-t2") for x in labels) == len(lanes.PEERS)
    for label, series in row["series"].items():
        assert series["us"] > 0.0 and series["wall"] > 0.0, label
    ours = row["series"][f"stiction-w{width}-t1"]
    assert ours["worst"] <= 1e-8 and ours["lanes"] > 0.9 and ours["not_ok"] == 0
    assert ours["contacts"] == row["series"]["stiction-w4-t1"]["contacts"]
    for label, series in row["series"].items():
        assert (series["work"] is not None) == label.endswith("-t1"), label
    looked_at = ours["work"]
    assert looked_at == row["series"]["stiction-simulators-t1"]["work"]  # the same bits
    assert looked_at["steps"] == 16 * 5 * 20 and 0.3 < looked_at["loaded"] <= looked_at["points"]
    # What feet at new targets sink by in a step of 4 ms, since kappa is that of its start.
    assert looked_at["maximum"]["penetration"] < 1e-4
    for label in lanes.PEERS:
        work = row["series"][f"mujoco-{label.label}-t1"]["work"]
        assert 0.3 < work["loaded"] <= work["points"] < 4.0
        assert work["loaded"] < 3.0 * looked_at["loaded"]
        assert work["maximum"]["penetration"] > 1e-3  # soft contact under these servos
    assert lane_tables(document).renderables


def test_a_hand_and_its_ball_are_no_lanes() -> None:
    document = batch.bench_batch(["allegro-rest"], worlds=8, periods=1)
    row = document["scenarios"]["allegro-rest"]
    ours = [x for x in row["series"] if x.startswith("stiction")]
    assert ours == ["stiction-simulators-t1", "stiction-simulators-t2"]
    work = row["series"]["stiction-simulators-t1"]["work"]
    assert (
        2.0 < work["loaded"] < work["points"]
        and row["series"]["stiction-simulators-t1"]["resets"] == 0
    )
    assert lane_tables(document).renderables


def test_the_balls_height_is_looked_at() -> None:
    """Not a joint of the hand, whose tree comes first."""
    scenario = next(item for item in batch.ALL_SCENARIOS if item.name == "allegro-noise")
    targets = np.zeros((2, 3, 16))
    ours = batch.BatchWorlds(scenario, 3, 5, targets, 1)
    theirs = lanes.PeerWorlds(scenario, lanes.PEERS[0], 3, 5, targets)
    ours.batch.q[1, 18] = -0.3
    theirs._states[1, 1 + 18] = -0.3
    for worlds in (ours, theirs):
        worlds.period(True)
        assert worlds.series.resets == 1


def test_ratios_are_of_as_many_threads() -> None:
    series = [
        lanes.LaneSeries("stiction-w8-t1", us=[1.0]),
        lanes.LaneSeries("stiction-w8-t2", us=[2.0]),
        lanes.LaneSeries("mujoco-newton-elliptic-discrete-t1", us=[10.0]),
        lanes.LaneSeries("mujoco-newton-elliptic-implicitfast-t1", us=[12.0]),
        lanes.LaneSeries("mujoco-newton-elliptic-discrete-t2", us=[30.0]),
        lanes.LaneSeries("mujoco-newton-pyramidal-discrete-t1", us=[5.0]),
        lanes.LaneSeries("mujoco-newton-pyramidal-discrete-t2", us=[8.0]),
    ]
    row = batch.row(series)
    assert row["speedup"]["elliptic"] == {"stiction-w8-t1": 10.0, "stiction-w8-t2": 15.0}
    assert row["speedup"]["pyramidal"] == {"stiction-w8-t1": 5.0, "stiction-w8-t2": 4.0}
    assert row["fastest_peer"]["elliptic-t1"] == "mujoco-newton-elliptic-discrete-t1"
