"""A Simulator and a Batch copy their scene: an edit that comes too late is said, not lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
import stiction
from stiction import Batch, Scene, Simulator

EDITS: dict[str, Callable[[Scene], object]] = {
    "gains": lambda scene: scene.set_gains("FL_KFE", 5.0, 0.1),
    "pair": lambda scene: scene.disable_pair(foot(scene), "ground"),
    "body": lambda scene: scene.add_body("ball", stiction.Sphere(0.1), 1.0),
    "array": lambda scene: scene.parameters.kp.__setitem__(7, 3.0),
}


def foot(scene: Scene) -> str:
    """The geometry of one."""
    return next(g.name for g in scene.geometries if "FOOT" in g.name)


def solo() -> Scene:
    return stiction.load("solo12")


def makers() -> dict[str, Callable[[Scene], Callable[[], object]]]:
    def simulator(scene: Scene) -> Callable[[], object]:
        sim = Simulator(scene)
        state = sim.initial_state("standing")
        return lambda: sim.step(state)

    def batch(scene: Scene) -> Callable[[], object]:
        made = Batch(scene, 2, configuration="standing")
        return made.step

    return {"Simulator": simulator, "Batch": batch}


@pytest.mark.parametrize("kind", ["Simulator", "Batch"])
@pytest.mark.parametrize("edit", list(EDITS))
def test_an_edit_after_the_copy_is_said_once(kind: str, edit: str) -> None:
    scene = solo()
    step = makers()[kind](scene)
    EDITS[edit](scene)
    with pytest.warns(UserWarning, match=f"{kind}: the scene .* that it was made of"):
        step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step()


def test_the_number_that_was_written_is_named() -> None:
    scene = solo()
    step = makers()["Simulator"](scene)
    scene.parameters.kp[7] = 3.0
    with pytest.warns(UserWarning, match=r"parameters\.kp\[7\].*edit sim\.parameters"):
        step()


def test_gains_set_between_steps_are_said() -> None:
    scene = solo()
    step = makers()["Simulator"](scene)
    step()
    scene.set_gains("FL_KFE", 5.0, 0.1)
    with pytest.warns(UserWarning, match="was edited"):
        step()


@pytest.mark.parametrize("kind", ["Simulator", "Batch"])
def test_one_scene_for_several_is_no_mistake(kind: str) -> None:
    """A sweep edits its scene for the next; what does not act in steps is no edit of theirs."""
    scene, steps = solo(), []
    for kp in (1.0, 2.0, 3.0):
        scene.set_gains("FL_KFE", kp, 0.1)
        scene.parameters.friction[:] = kp
        steps.append(makers()[kind](scene))
    scene.add_visual("base_link", stiction.Sphere(0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in steps:
            step()


# --- parameters of a Batch -------------------------------------------------------------


@pytest.mark.parametrize("lanes", [True, False])
def test_a_batch_takes_the_parameters_of_a_simulator(lanes: bool) -> None:
    """All worlds have the bits of that Simulator, not those of one with the scene's numbers."""
    scene = solo()
    sim = Simulator(scene)
    sim.parameters.friction[:] = 0.2
    sim.parameters.kp[6:], sim.parameters.kd[6:] = 4.0, 0.1
    sim.parameters.gravity[:] = [1.0, 0.0, -8.0]
    batch = Batch(sim.scene, 3, lanes=lanes, configuration="standing", parameters=sim.parameters)
    other = Batch(scene, 3, lanes=lanes, configuration="standing")
    state, control = sim.initial_state("standing"), sim.hold("standing")
    for _ in range(50):
        sim.step(state, control)
        batch.step()
        other.step()
    for world in range(3):
        np.testing.assert_array_equal(batch.q[world], state.q)
        np.testing.assert_array_equal(batch.v[world], state.v)
    assert not np.array_equal(other.q[0], state.q)
    np.testing.assert_array_equal(batch.scene.parameters.gravity, [1.0, 0.0, -8.0])


def test_the_scene_of_an_edited_simulator_is_not_taken_in_silence() -> None:
    sim = Simulator(solo())
    Batch(sim.scene, 2)
    sim.parameters.upper[8] = 0.5
    with pytest.warns(UserWarning, match=r"parameters\.upper\[8\].*parameters=sim\.parameters"):
        Batch(sim.scene, 2)
    Batch(sim.scene, 2, parameters=sim.parameters)
    Batch(sim.scene.copy(), 2)  # a scene of its own
    shown = sim.scene
    del sim
    Batch(shown, 2)


def test_parameters_of_a_batch_are_checked() -> None:
    sim = Simulator(solo())
    with pytest.raises(TypeError, match=r"must be a Parameters, such as sim\.parameters"):
        Batch(sim.scene, 2, parameters=0.5)  # type: ignore[arg-type]
    wrong = sim.parameters.copy()
    wrong.friction[0] = -1.0
    with pytest.raises(ValueError, match=r"friction\[0\] = -1"):
        Batch(sim.scene, 2, parameters=wrong)
    with pytest.raises(ValueError, match="parameters"):
        Batch(sim.scene, 2, parameters=stiction.load("cartpole").parameters)
