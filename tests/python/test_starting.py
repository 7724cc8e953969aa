"""Overlaps and open closures where a simulation starts are said, once and in one warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import stiction
from stiction import StartWarning


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
        "room: 2 pairs of bodies overlap at the start: low / high 5 mm, ground / low 3 mm"
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
