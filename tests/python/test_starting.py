"""Overlaps and open closures where a simulation starts are said, once and in one warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import stiction
from stiction import StartWarning, starting


def _at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def _scene() -> stiction.Scene:
    """Two boxes 5 mm inside each other, one of them 3 mm in the ground; a third, far off."""
    scene = stiction.Scene(name="room")
    scene.add_ground()
    scene.add_body("low", stiction.Box([0.1, 0.1, 0.1]), 1.0, _at(z=0.097))
    scene.add_body("high", stiction.Box([0.1, 0.1, 0.1]), 1.0, _at(z=0.292))
    scene.add_body("far", stiction.Box([0.1, 0.1, 0.1]), 1.0, _at(x=5.0, z=0.1))
    return scene


def test_overlaps_are_listed_once_with_their_depth() -> None:
    sim = stiction.Simulator(_scene())
    with pytest.warns(StartWarning) as seen:
        sim.initial_state()
    assert [str(w.message) for w in seen] == [
        "room: 2 pairs of bodies overlap at the start: low / high 5 mm, ground / low 3 mm; "
        "to start apart, raise low: state.q[2] += 0.003; move low and high apart"
    ]
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.initial_state()


def test_open_closures_are_listed() -> None:
    scene = stiction.Scene(name="joint")
    scene.add_body("a", stiction.Box([0.1, 0.1, 0.1]), 1.0)
    scene.add_body("b", stiction.Box([0.1, 0.1, 0.1]), 1.0, _at(x=1.0))
    scene.add_point_closure("pin", "a", [0.5, 0.0, 0.0], "b", [-0.498, 0.0, 0.0])
    scene.add_point_closure("shut", "a", [0.5, 0.1, 0.0], "b", [-0.5, 0.1, 0.0])
    turned = _at(x=-0.5)
    c, s = np.cos(0.3), np.sin(0.3)
    turned[:2, :2] = [[c, -s], [s, c]]
    scene.add_weld("plate", "a", _at(x=0.5), "b", turned)
    with pytest.warns(StartWarning, match="^joint: ") as seen:
        stiction.Simulator(scene).initial_state()
    text = str(seen[0].message)
    assert "2 closures or gears are open at the start" in text
    assert "closure 'plate' 0.3 rad, closure 'pin' 2 mm" in text


@pytest.mark.parametrize("name", ["solo12", "talos", "four-bar", "box-stack(5)", "allegro-ball"])
def test_scenes_of_the_library_start_clean(name: str) -> None:
    scene = stiction.load(name)
    sim = stiction.Simulator(scene)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StartWarning)
        for configuration in ("default", *scene.configurations):
            if (name, configuration) != ("allegro-ball", "closed"):  # a target inside the ball
                sim.initial_state(configuration)


def test_an_unknown_configuration_is_refused() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        stiction.Simulator(_scene()).initial_state("nowhere")


def _first_step(sim: stiction.Simulator, state: stiction.State) -> list[str]:
    """What is said of two steps."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        sim.step(state, sim.hold())
        sim.step(state, sim.hold())
    assert all(w.filename == __file__ for w in seen)
    return [str(w.message) for w in seen]


def test_a_robot_put_into_the_floor_is_told_once_and_how_far_up_to_move_it() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    state = sim.initial_state("standing")
    state.q[2] -= 0.05
    (text,) = _first_step(sim, state)
    assert text.startswith("solo12: 4 pairs of bodies overlap at the start of the first step: ")
    assert "ground / FL_LOWER_LEG 50 mm" in text and "keep_overlapping_pairs" not in text
    height = text.split("state.q[2] += ")[1]
    state = sim.initial_state("standing")
    state.q[2] += float(height) - 0.05
    assert _first_step(stiction.Simulator(sim.scene), state) == []


class _Own(stiction.Simulator):
    """A user's class."""


@pytest.mark.parametrize("method", ["step", "run", "rollout", "step_derivatives"])
@pytest.mark.parametrize("kind", [stiction.Simulator, _Own])
def test_whatever_steps_first_looks_once(kind: type[stiction.Simulator], method: str) -> None:
    sim = kind(stiction.load("solo12"))
    state = sim.initial_state("standing")
    state.q[2] -= 0.02
    more = {"steps": 1} if method in ("run", "rollout") else {}
    with pytest.warns(StartWarning, match="at the start of the first step") as seen:
        getattr(sim, method)(state, **more)
    assert type(sim) is kind and seen[0].filename == __file__
    state.q[2] -= 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("error", StartWarning)
        getattr(sim, method)(state, **more)


def test_a_smoothed_simulator_looks_too_and_a_warning_may_be_an_error() -> None:
    sim = stiction.Simulator(stiction.load("solo12")).smoothed(1e-3)
    state = sim.initial_state("standing")
    state.q[2] -= 0.02
    before = state.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", StartWarning)
        with pytest.raises(StartWarning):
            sim.step(state)
    np.testing.assert_array_equal(state.q, before.q)
    sim.step(state)


def test_a_first_step_says_nothing_of_what_is_small_known_or_soft() -> None:
    scene = stiction.load("solo12")
    shallow = stiction.Simulator(scene).initial_state("standing")
    shallow.q[2] -= 0.0008
    assert _first_step(stiction.Simulator(scene), shallow) == []
    room = stiction.Simulator(_scene())
    with pytest.warns(StartWarning):
        known = room.initial_state()
    assert _first_step(room, known) == []
    soft = stiction.load("solo12")
    soft.parameters.stiffness[:] = 1e3
    sunk = stiction.Simulator(soft).initial_state("standing")
    sunk.q[2] -= 0.004
    assert _first_step(stiction.Simulator(soft), sunk) == []


def test_a_step_that_is_refused_is_no_first_step() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    with pytest.raises(ValueError, match="scene"):
        sim.step(stiction.Simulator(stiction.load("cartpole")).initial_state())
    state = sim.initial_state("standing")
    state.q[2] -= 0.02
    with pytest.warns(StartWarning):
        sim.step(state)


def test_warnings_of_a_file_in_motion_are_at_the_line_of_the_user() -> None:
    file = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.2"><freejoint/>
      <geom size=".1"/></body></worldbody></mujoco>"""
    sim = stiction.load_mjcf(file).simulation()
    sim.state.q[2] = 0.05
    with pytest.warns(StartWarning) as seen:
        sim.step()
    assert seen[0].filename == __file__


def test_a_batch_looks_at_the_worlds_that_it_steps() -> None:
    batch = stiction.Batch(stiction.load("solo12"), 20, configuration="standing")
    batch.q[:15, 2] -= 0.02
    mask = np.arange(20) >= 15
    with warnings.catch_warnings():
        warnings.simplefilter("error", StartWarning)
        batch.step(mask=mask)
    again = stiction.Batch(batch.scene, 20, configuration="standing")
    again.q[:, 2] -= 0.02
    with pytest.warns(StartWarning, match="world 16"):
        again.step(mask=np.arange(20) >= 16)
    sim, state = stiction.Batch(batch.scene, 2).simulator(1), again.state(0)
    with pytest.warns(StartWarning):
        sim.step(state)


def test_a_run_of_no_steps_looks_at_nothing() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    state = sim.initial_state("standing")
    sim.run(state, None, 0)
    state.q[2] -= 0.02
    with pytest.warns(StartWarning):
        sim.step(state)


def test_a_first_step_of_a_wrong_state_fails_in_its_own_words() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    state = sim.initial_state("standing")
    state.q[2] = np.nan
    with pytest.raises(ValueError, match="q"):
        sim.step(state)
    with pytest.raises(TypeError, match="state"):
        stiction.Simulator(sim.scene).step()


def test_the_fix_is_that_of_the_pair() -> None:
    """Links of a robot in each other, a body in a wall, a robot in the floor."""
    scene = stiction.Scene(name="wall")
    scene.add_half_space("wall", [0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, _at(x=0.09))
    with pytest.warns(StartWarning, match="; to start apart, move box out of wall$"):
        stiction.Simulator(scene).initial_state()
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 .09"><freejoint/><geom name="foot" size=".1"/>
      <body pos="0 0 .5"><joint/><geom name="shin" size=".1"/>
      <body pos="0 .15 0"><joint axis="1 0 0"/><geom name="toe" size=".1"/>
      <body pos="0 -.1 .0"><joint/><geom name="tip" size=".1"/></body></body></body></body>
      </worldbody></mujoco>"""
    for keep in (True, False):
        with pytest.warns(stiction.LoadWarning):
            model = stiction.load_mjcf(text, keep_overlapping_pairs=keep)
        overlaps = {m.text for m in model.messages if m.kind == "overlap"}
        floor = next(t for t in overlaps if "floor / foot 10 mm" in t)
        links = next(t for t in overlaps if "shin / tip" in t)
        assert "begin higher" in floor and "keep_overlapping_pairs" not in floor
        assert ("keep_overlapping_pairs=False" in links) == keep
        assert model.scene.pair_enabled("floor", "foot")
        assert model.scene.pair_enabled("shin", "tip") == keep
    sim = stiction.Simulator(stiction.load_mjcf(text).scene)
    with pytest.warns(StartWarning, match="raise body0: state.q.2. ") as seen:
        sim.initial_state()
    assert "scene.disable_pair('shin', 'tip')" in str(seen[0].message)


def test_a_batch_looks_once_at_its_first_worlds() -> None:
    scene = stiction.load("solo12")
    batch = stiction.Batch(scene, 40, configuration="standing")
    batch.q[3, 2] -= 0.02
    with pytest.warns(StartWarning) as seen:
        batch.step()
        batch.step()
    (warning,) = seen
    assert str(warning.message).startswith("solo12, world 3: 4 pairs of bodies overlap")
    assert str(warning.message).endswith("raise base_link: batch.q[3, 2] += 0.02")
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clean = stiction.Batch(scene, 40, configuration="standing")
        clean.step_async()
        clean.wait()
        broken = stiction.Batch(scene, 2, configuration="standing")
        broken.q[0, 2] = np.nan
        broken.step()
        assert broken.frozen.tolist() == [True, False]


def test_a_pile_is_told_of_as_fast_as_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a scene is made of is listed once, not for every pair."""
    scene = stiction.Scene(name="pile")
    for k in range(60):
        scene.add_body(f"box{k}", stiction.Box([0.1, 0.1, 0.1]), 1.0, _at(x=0.19 * k))
    listed = 0

    class Counted(starting.Bodies):
        def __init__(self, scene: stiction.Scene) -> None:
            nonlocal listed
            listed += 1
            super().__init__(scene)

    monkeypatch.setattr(starting, "Bodies", Counted)
    with pytest.warns(StartWarning, match="59 pairs of bodies overlap"):
        stiction.Simulator(scene).initial_state()
    assert listed == 1


@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
@pytest.mark.parametrize("caps", [{"recovery_speed": np.inf}, {"recovery_angular_speed": np.inf}])
def test_overlaps_without_caps_are_corrected(caps: dict[str, float]) -> None:
    scene = stiction.Scene()
    scene.add_ground()
    for k in range(4):
        X = np.eye(4)
        X[:3, 3] = 0.15 * k, 0.0, 0.07
        scene.add_body(f"b{k}", stiction.Box([0.1] * 3), 1.0, X)
    sim = stiction.Simulator(scene, **caps)
    state = sim.initial_state()
    first = sim.step(state).penetration
    sim.run(state, sim.hold(), 300)
    assert first > 0.03 and sim.step(state).penetration < 1e-2 * first


@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
def test_what_rests_without_gravity_is_left_at_rest() -> None:
    """Bodies in each other press against each other as hard as one likes: they must not."""
    shapes = (stiction.Cylinder(0.1, 0.2), stiction.Box([0.1] * 3), stiction.Capsule(0.1, 0.2))
    for shape in shapes:
        for friction in (0.5, 2.0, 50.0):
            scene = stiction.Scene()
            for k in range(5):
                scene.add_body(f"b{k}", shape, 1.0, np.eye(4), stiction.Material(friction))
            scene.parameters.gravity = [0, 0, 0]
            sim = stiction.Simulator(scene)
            state = sim.initial_state()
            for _ in range(100):
                sim.step(state)
                energy = stiction.SceneMotion(scene, state).kinetic_energy
                moves = np.abs(state.v).max()
                assert energy <= 1.0 and moves < 20.0
                assert np.abs(sim.solution().impulse).max(initial=0.0) < 1e3
