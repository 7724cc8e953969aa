"""The benches of drops and of worst steps: small runs, judged by what they must contain."""

import dataclasses

import numpy as np
import pytest
import stiction
from stiction_lab.bench import jams, scene_tables, work_budget
from stiction_lab.bench.worst_step import bench_worst_step

drops = pytest.importorskip("stiction_lab.bench.drops")


def small(name, **changes):
    """That scene of the bench, shortened."""
    scene = next(scene for scene in drops.SCENES if scene.name == name)
    return dataclasses.replace(scene, reps=1, **changes)


def test_engines_hold_the_same_boxes():
    scene = small("stack-kick-10", seconds=0.05, kicks=2, settle=0.05)
    row = drops.bench_drop(scene)
    assert len(row["engines"]) == 9
    assert sum(label.endswith("-euler") for label in row["engines"]) == 4
    for label, numbers in row["engines"].items():
        assert numbers["contacts"] == pytest.approx(40, rel=0.4), label
        assert 0.5 < numbers["linear_speed"] < 1.1, label  # a kick of 1 N s on 1 kg
    ours = row["engines"]["stiction"]
    assert sum(ours["status"].values()) == row["steps"] == 50
    assert ours["ms"]["p50"] <= ours["ms"]["p99"] <= ours["ms"]["max"]


def test_another_mass_is_other_work(monkeypatch):
    monkeypatch.setattr(drops, "_MASS", 2.0)
    with pytest.raises(drops.BenchError, match="mass"):
        drops.bench_drop(small("pile-drop-100", build=lambda: drops.pile(5), seconds=0.01))


def test_unknown_scene_is_named():
    with pytest.raises(drops.BenchError, match="pile-drop-7"):
        drops.bench_drops(["pile-drop-7"])


def test_speeds_are_apart():
    """Linear speed is that of centres; a box that only spins has none."""
    engine = drops.Ours(small("stack-kick-10", settle=0.0))
    engine._state.v[3:6] = [0, 0, 40.0]
    trace = drops.Trace()
    engine.step()
    engine.observe(trace)
    assert trace.linear[0] < 3.0 < 20.0 < trace.angular[0]


def test_overlap_counts_after_the_start():
    scene = small("pile-drop-100", dt=0.1)
    trace = drops.Trace([5e-2, 5e-2, 1e-3, 3e-3], [1] * 4, [0.0] * 4, [0.0] * 4)
    row = drops._summary(scene, np.ones(4), trace)
    assert (row["overlap_small"], row["overlap_max"], row["overlap_start"]) == (0.5, 3e-3, 5e-2)


def test_worst_step_and_its_table():
    document = bench_worst_step(4, steps=30)
    for row in document["rows"]:
        assert row["steps"] + row["more_rows"] == 4 * 30 or row["not_finite"]
        assert row["p50_us"] <= row["p999_us"]
        # The largest is the least of replays, and cannot be a rare delay of the machine.
        assert row["max_us"] > 0
    head, cells = scene_tables.worst_step_rows(document)
    assert len(cells) == 2 and all(len(line) == len(head) for line in cells)


def test_work_is_a_share_of_the_budget():
    sim = stiction.Simulator(stiction.load("box-stack(3)"))
    report = sim.step(sim.initial_state())
    assert report.factorisations <= sim.most_factorisations()
    assert work_budget.work_used(sim, report) == report.factorisations / sim.most_factorisations()
    assert 0.0 < work_budget.share_of_work(sim, report) == report.work / sim.most_work() <= 1.0


def test_a_jam_and_its_table():
    (row,) = jams.bench_jams(["10 compliant boxes, implicit-euler"])
    assert row["contacts"] > 100 and 0.0 < row["work"] <= 1.0
    document = {"jams": [row]} | bench_worst_step(1, steps=2)
    assert scene_tables.worst_step_tables(document)


SPARSE = 600


def dense(rows):
    return 2 + int(800 / (1 + (rows / 72) ** 2))


@pytest.mark.parametrize("law, again", [("newton-dissipative", 1), ("newton", 0)])
def test_budget_is_the_stated_formula(law, again):
    """Two boxes apart fall on a plane: each is an island of four contacts; one of them hits it."""
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(restitution=0.5))
    for k in range(2):
        X = np.eye(4)
        X[:3, 3] = k, 0, 0.05
        scene.add_body(f"box{k}", stiction.Box([0.05] * 3), 1.0, X)
    sim = stiction.Simulator(scene, impact_law=law)
    state = sim.initial_state()
    sim.step(state)
    safe = 2 * min(100, dense(12))
    assert sim.most_factorisations() == 2 * (2 * dense(12) + SPARSE) + safe
    state.v[2] = -1.0
    sim.step(state)
    assert sim.most_factorisations() == 2 * SPARSE + (2 * 2 + again) * dense(12) + safe


def test_another_law_is_refused_with_the_words_there_are():
    scene = stiction.Scene()
    with pytest.raises(ValueError, match='must be "newton-dissipative" or "newton"'):
        stiction.Simulator(scene, impact_law="energetic")


@pytest.mark.filterwarnings("ignore::stiction.StartWarning", "ignore::stiction.NotConvergedWarning")
def test_the_bound_counts_every_solve_of_a_step():
    """Of robots that fall so fast that efforts and limits have some steps solved twice."""
    twice = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sim = stiction.Simulator(
            stiction.load("solo12"), max_factorisations=int(rng.integers(1, 6))
        )
        p = sim.parameters
        p.kp[6:], p.kd[6:] = rng.uniform(20.0, 400.0, 12), rng.uniform(0.1, 5.0, 12)
        p.effort_limit[6:] = rng.uniform(0.5, 8.0, 12)
        sim.parameters = p
        state = sim.initial_state(configuration="standing")
        state.q[2] += 0.1 * rng.random() - 0.08
        state.v[:] = rng.normal(size=18) * rng.choice([1.0, 10.0])
        for _ in range(150):
            report = sim.step(state, sim.hold("standing"))
            assert report.factorisations <= sim.most_factorisations()
            twice += sim.most_factorisations() >= 2 * min(100, dense(report.num_rows))
    assert twice > 0


def test_budget_of_a_large_island_has_sparse_systems():
    sim = stiction.Simulator(stiction.load("box-stack(6)"))
    report = sim.step(sim.initial_state())
    rows = report.num_rows
    assert (rows, report.num_islands) == (72, 1)
    assert sim.most_factorisations() == 2 * dense(rows) + SPARSE + min(100, dense(rows))


def test_a_budget_that_is_given_is_the_bound():
    sim = stiction.Simulator(stiction.load("box-stack(3)"), max_factorisations=7)
    report = sim.step(sim.initial_state())
    assert sim.most_factorisations() == 7 + min(100, dense(report.num_rows))


def soft_ball(**settings):
    scene = stiction.Scene()
    material = stiction.Material(stiffness=1e4, damping=10.0)
    scene.add_ground(material)
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, np.eye(4), material)
    return stiction.Simulator(scene, **settings)


def test_budget_of_a_compliant_step():
    sim = soft_ball(integrator="exponential")
    sim.step(sim.initial_state())
    assert sim.most_factorisations() == 0, "nothing is rigid, and its own parts factor nothing"
    sim = soft_ball(integrator="implicit-euler", substeps=2, newton_iterations=3, newton_halvings=4)
    report = sim.step(sim.initial_state())
    assert sim.most_factorisations() == 2 * 3 * (3 * 2**4 - 1) >= report.factorisations > 0


def test_budget_of_rigid_rows_in_a_compliant_step():
    """A closed loop: three rows, solved for velocities and for displacements in each sub-step."""
    scene = stiction.load("four-bar")
    scene.parameters.stiffness[:] = 1e4
    sim = stiction.Simulator(scene, integrator="explicit-euler", substeps=3)
    report = sim.step(sim.initial_state())
    assert report.num_rows == 3
    elimination = 1  # of the loop's rows
    most = 3 * 2 * (2 * dense(3) + SPARSE + elimination + min(100, dense(3)))
    assert sim.most_factorisations() == most >= report.factorisations


@pytest.mark.parametrize("name", ["cube-drop", "box-stack-10"])
def test_euler_takes_the_steps_of_implicitfast_where_no_servo_damps(name):
    """Loose bodies are timed with the cheapest of integrators that take the same steps; a robot,
    whose servos Euler damps explicitly, is not timed with it."""
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.peer_models import variants

    chosen = scene(name)
    ours = chosen.ours()
    for cone in ("elliptic", "pyramidal"):
        labels = {v.label: v for v in variants(cone, servos=bool(ours.joints))}
        assert len(labels) == 9 and not any("euler" in v.label for v in variants(cone))
        ends = []
        for integrator in ("euler", "implicitfast"):
            peer = chosen.build_peer(ours, labels[f"newton-{cone}-{integrator}"])
            peer.settle(0.0)
            peer.advance(1)
            ends.append(peer._data.qpos.copy())
        assert np.abs(ends[0] - peer._start[1 : 1 + ends[0].size]).max() > 1e-6
        np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-9)
