"""Stiffness and damping from materials: closed forms, and a simulated bounce."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
import stiction
from stiction import materials


def test_stiffness_is_the_slope_of_hertz() -> None:
    a, b = materials.SOLIDS["steel"], materials.SOLIDS["rubber, 60 Shore A"]
    modulus = 1.0 / (1.0 / a.plane_modulus + 1.0 / b.plane_modulus)

    def force(depth: float) -> float:
        return 4.0 / 3.0 * modulus * math.sqrt(0.02) * depth**1.5

    depth = 1e-3
    slope = (force(depth + 1e-8) - force(depth - 1e-8)) / 2e-8
    assert materials.contact_stiffness(a, b, 0.02, force(depth)) == pytest.approx(slope, rel=1e-8)


def test_rubber_of_60_shore_is_a_few_megapascal() -> None:
    assert materials.rubber(60.0).youngs_modulus == pytest.approx(3.6e6, rel=0.01)
    with pytest.raises(ValueError, match="shore_a = 120"):
        materials.rubber(120.0)


def test_every_solid_has_a_source() -> None:
    for name, solid in materials.SOLIDS.items():
        assert solid.source, name
        assert 1e4 < solid.youngs_modulus < 1e12
        assert 0.0 <= solid.poisson_ratio <= 0.5


@pytest.mark.parametrize("restitution", [0.9, 0.5, 0.2, 0.05])
def test_a_ball_comes_back_with_the_restitution(restitution: float) -> None:
    stiffness, mass = 1e4, 0.5
    damping = materials.damping(stiffness, mass, restitution)
    scene = stiction.Scene()
    scene.parameters.gravity[:] = 0.0
    scene.add_ground(stiction.Material(stiffness=stiffness, damping=damping))
    scene.add_body("b", stiction.Sphere(0.1), mass, pin.SE3(np.eye(3), np.array([0, 0, 0.1])))
    sim = stiction.Simulator(scene, dt=1e-6, integrator="rk4")
    state = sim.initial_state()
    state.v[2] = -1.0
    sim.run(state, steps=60000)
    assert state.v[2] == pytest.approx(restitution, abs=1e-4)


def test_refusals_name_the_argument() -> None:
    a = materials.SOLIDS["steel"]
    with pytest.raises(ValueError, match="radius = -1"):
        materials.contact_stiffness(a, a, -1.0, 1.0)
    with pytest.raises(ValueError, match="force = nan"):
        materials.contact_stiffness(a, a, 1.0, math.nan)
    with pytest.raises(ValueError, match="restitution = 0"):
        materials.damping(1e4, 1.0, 0.0)


def test_pair_material_goes_into_a_scene() -> None:
    foot, floor = materials.SOLIDS["PLA, printed solid"], materials.SOLIDS["oak, across the grain"]
    pair = materials.pair_material(foot, floor, radius=0.01, force=6.0, mass=0.6, friction=0.4)
    assert 1e5 < pair.stiffness < 1e7
    scene = stiction.load("solo12")
    scene.set_pair_material("ground", "FL_FOOT", pair)
    assert scene.pair_material("ground", "FL_FOOT") == pair
