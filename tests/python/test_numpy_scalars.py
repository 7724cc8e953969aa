"""Numbers of NumPy's types are numbers: single precision and integers wherever one is taken."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

REALS = [np.float16, np.float32, np.float64, np.longdouble]
INTEGERS = [np.int8, np.uint16, np.int32, np.int64, np.uint64]


@pytest.mark.parametrize("kind", REALS)
def test_settings_materials_and_gains_take_reals(kind: type) -> None:
    half = kind(0.5)
    scene = stiction.load("solo12")
    assert stiction.Simulator(scene, dt=half).settings.dt == 0.5
    assert stiction.Batch(scene, 2, dt=half, tolerance=kind(0.25)).settings.tolerance == 0.25
    assert stiction.Material(friction=half, stiffness=kind(2.0)).friction == 0.5
    scene.set_gains("FL_KFE", half, kind(0.25))
    dof = scene.dof("FL_KFE")
    assert (scene.parameters.kp[dof], scene.parameters.kd[dof]) == (0.5, 0.25)
    scene.add_body("ball", stiction.Sphere(half), half)
    assert scene.parameters.mass[-1] == 0.5
    state = stiction.Simulator(scene).initial_state()
    state.time = half
    assert state.time == 0.5


@pytest.mark.parametrize("kind", INTEGERS)
def test_settings_take_integers(kind: type) -> None:
    scene = stiction.load("box-stack(2)")
    settings = stiction.Simulator(scene, max_iterations=kind(7), dt=kind(1)).settings
    assert (settings.max_iterations, settings.dt) == (7, 1.0)
    assert len(stiction.load("box-stack", n=kind(3)).body_names) == 3


def test_a_single_is_the_number_that_it_is() -> None:
    single = np.float32(1e-3)
    sim = stiction.Simulator(stiction.load("solo12"), dt=single)
    assert sim.settings.dt == float(single) != 1e-3


@pytest.mark.parametrize(
    "wrong",
    [np.float32("nan"), np.float32(0.0), np.complex64(1.0), np.bool_(True), np.array([1.0])],
)
def test_what_is_no_such_number_stays_refused(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match="dt"):
        stiction.Simulator(stiction.load("solo12"), dt=wrong)  # type: ignore[arg-type]


def test_integers_out_of_range_and_reals_are_no_integers() -> None:
    scene = stiction.load("solo12")
    for wrong in (np.int64(2**40), np.uint64(2**63), np.float32(3.0)):
        with pytest.raises(TypeError, match="max_iterations"):
            stiction.Simulator(scene, max_iterations=wrong)  # type: ignore[arg-type]
