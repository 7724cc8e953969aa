"""Masses and inertias that no body has, or hardly any."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import Shape, mass_properties
from .case import Case
from .finding import Finding

__all__ = ["check_inertias"]

ROUNDING = 1e-6
"""Of the largest moment: what files round away."""
LIGHTEST, HEAVIEST = 10.0, 30000.0
"""[kg/m^3] of foam and of more than osmium."""
WIDEST = 1.02
"""Radius of gyration about the centre of mass over the distance of the farthest point."""
OUTSIDE = 0.1
"""Of the largest extent: how far outside the box of its shapes a centre of mass may lie."""
NARROWEST = 1.0 / 30.0
"""Below, nearly all of the mass is a point."""
DIFFERENT, VERY_DIFFERENT = 1e4, 1e6
"""Heaviest over lightest body of a robot."""


def check_inertias(case: Case) -> Iterator[Finding]:
    """Of every body that moves."""
    for body in case.moving:
        yield from _of_body(case, body)
    yield from _ratios(case)


def _of_body(case: Case, body: int) -> Iterator[Finding]:
    parameters, name = case.scene.parameters, case.scene.body_names[body]
    mass = float(parameters.mass[body])
    file, line = case.place("inertial", name)
    if mass == 0.0:
        if case.urdf is None or ("inertial", name) in case.urdf.lines:
            text = f"body '{name}' moves and has mass 0 kg"
            fix = "give it mass and inertia, or make its joint fixed"
            yield Finding("warning", "mass", text, fix, file, line, 0.0)
        return
    moments = np.linalg.eigvalsh(np.asarray(parameters.inertia(body)))
    small, middle, large = (float(x) for x in moments)
    values = f"({small:.3g}, {middle:.3g}, {large:.3g}) kg m^2"
    excess, rounding = large - small - middle, ROUNDING * large + 1e-12 * mass
    if small < -rounding:
        text = f"body '{name}': inertia is not positive, principal moments {values}"
        fix = "compute the inertia again from the shape: stiction.mass_properties(shape, density)"
        yield Finding("error", "inertia", text, fix, file, line, small)
        return
    if excess > rounding:
        text = (
            f"body '{name}': inertia of no solid, the largest of the principal moments {values} "
            f"is above the sum of the others by {excess:.3g} kg m^2"
        )
        fix = "compute it again, or load with balance_inertia=True, which takes their mean"
        yield Finding("warning", "inertia", text, fix, file, line, excess)
    square = max(0.0, 0.5 * float(moments.sum()) / mass)
    yield from _against_shapes(case, body, mass, float(np.sqrt(square)))


def _against_shapes(case: Case, body: int, mass: float, gyration: float) -> Iterator[Finding]:
    """gyration: root of the mean square distance from the centre of mass [m]."""
    corners = case.corners.get(body)
    if corners is None:
        return
    name = case.scene.body_names[body]
    file, line = case.place("inertial", name)
    com = np.asarray(case.scene.parameters.com[body])
    reach = float(np.linalg.norm(corners - com, axis=1).max())
    size = np.ptp(corners, axis=0)
    out = float(np.maximum(corners.min(0) - com, com - corners.max(0)).max())
    if out > OUTSIDE * size.max():
        text = f"body '{name}': its centre of mass is {out:.3g} m outside the box of its shapes"
        fix = "look at <inertial><origin>, and whether its mesh is turned: axes of a file count as"
        fix += " they are, whatever up_axis says"
        if case.mjcf is not None:
            fix = "look at inertial pos: in the frame of the body"
        yield Finding("warning", "inertia", text, fix, file, line, out)
    elif gyration > WIDEST * reach:
        text = (
            f"body '{name}': its inertia is that of mass {gyration:.3g} m from the centre of mass, "
            f"its shapes reach {reach:.3g} m"
        )
        fix = f"divide the inertia by {(gyration / reach) ** 2:.3g} or more, or look at its unit"
        yield Finding("warning", "inertia", text, fix, file, line, gyration)
    elif gyration < NARROWEST * reach:
        text = (
            f"body '{name}': its inertia is that of mass {gyration:.3g} m from the centre of mass, "
            f"its shapes reach {reach:.3g} m: nearly a point"
        )
        fix = "compute it again: stiction.mass_properties(shape, density); or move stray shapes"
        yield Finding("warning", "inertia", text, fix, file, line, gyration)
    yield from _density(case, body, mass, float(np.prod(size)))


def _density(case: Case, body: int, mass: float, box: float) -> Iterator[Finding]:
    """By the largest of its solid shapes, which is at most its volume, and by the box around all,
    which is at least that: what is out of bounds by these is so by its own volume."""
    name, scene = case.scene.body_names[body], case.scene
    file, line = case.place("inertial", name)
    volumes = [_volume(g.shape) for g in scene.geometries if g.body == body and g.shape.bounded()]
    solid = max(volumes, default=0.0)
    if solid > 0.0 and mass / solid < LIGHTEST:
        density = mass / solid
        text = (
            f"body '{name}': mass {mass:.3g} kg in a shape of {solid:.3g} m^3 is {density:.3g} "
            f"kg/m^3, lighter than foam ({LIGHTEST:g})"
        )
        fix = "look at the mass, and at the mesh's scale: metres"
        if case.mjcf is not None:
            fix = "look at mass or density of its geoms, and at the mesh's scale: metres"
        yield Finding("warning", "density", text, fix, file, line, density)
    if box > 0.0 and mass / box > HEAVIEST:
        density = mass / box
        text = (
            f"body '{name}': mass {mass:.3g} kg in a box of {box:.3g} m^3 is {density:.3g} "
            f"kg/m^3, more than any metal ({HEAVIEST:g})"
        )
        fix = "look at the mass, and at the mesh's scale: metres; or give the body its whole shape"
        yield Finding("warning", "density", text, fix, file, line, density)


def _volume(shape: Shape) -> float:
    try:
        return float(mass_properties(shape, 1.0).mass)  # of a density of 1
    except ValueError:  # an open surface has none
        return 0.0


def _ratios(case: Case) -> Iterator[Finding]:
    names, masses = case.scene.body_names, np.asarray(case.scene.parameters.mass)
    for robot in case.scene.robots:
        own = range(robot.body_offset, robot.body_offset + robot.num_bodies)
        bodies = [b for b in own if b in set(case.moving) and masses[b] > 0.0]
        if len(bodies) < 2:
            continue
        light, heavy = min(bodies, key=masses.__getitem__), max(bodies, key=masses.__getitem__)
        ratio = float(masses[heavy] / masses[light])
        if ratio < DIFFERENT:
            continue
        text = (
            f"masses differ by a factor of {ratio:.2g}: '{names[light]}' has "
            f"{masses[light]:.3g} kg, '{names[heavy]}' {masses[heavy]:.3g} kg"
        )
        fix = f"give '{names[light]}' the mass of a real part, or make its joint fixed"
        file, line = case.place("inertial", names[light])
        severity = "warning" if ratio >= VERY_DIFFERENT else "note"
        yield Finding(severity, "mass ratio", text, fix, file, line, ratio)
