"""The bounds of `stiction doctor`, each from both sides: a model 1 % within has no finding, one 1 %
beyond has it. The numbers here are those of docs/doctor.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stiction
from stiction.doctor import examine
from test_doctor import (
    ARM_MASS,
    CORNERS,
    INERTIA,
    MJCF,
    SIDES,
    TOPS,
    URDF,
    looked_at,
    matching,
)

VOLUME, REACH = 0.2**3, float(np.sqrt(0.03))
"""[m^3] of the arm's box, and [m] of its farthest corner."""


def arm(before: str, after: str) -> str:
    assert before in URDF
    return URDF.replace(before, after, 1)


def massive(mass: float) -> str:
    """The arm's inertia with its mass, so that its radius of gyration stays."""
    own = INERTIA.replace("0.01", f"{0.01 * mass:.9g}")
    return arm(f"{ARM_MASS}{INERTIA}", f'<mass value="{mass:.9g}"/>{own}')


def gyrating(radius: float) -> str:
    """Of mass 1, at that radius of gyration about the centre."""
    moment = f"{radius**2 / 1.5:.9g}"
    return arm(f"{ARM_MASS}{INERTIA}", f"{ARM_MASS}{INERTIA.replace('0.01', moment)}")


def cart(before: str, after: str) -> str:
    assert before in MJCF
    return MJCF.replace(before, after, 1)


def boxed(half: float, depth: float) -> str:
    """A cart of that size and depth in the floor."""
    text = cart('pos="0 0 0.5"', f'pos="0 0 {half - depth:.9g}"')
    return text.replace('size="0.1 0.1 0.1"', f'size="{half} {half} {half}"')


def hollow(ratio: float) -> str:
    """A cube of edge 2 with a pit in its lid, its hull that much larger."""
    corners = CORNERS.copy()
    corners[8, 2] = 1.0 - 0.75 * (8.0 - 8.0 / ratio)
    vertex = " ".join(f"{x:.9g}" for x in corners.ravel())
    face = " ".join(str(k) for t in SIDES + TOPS["hollow"] for k in t)
    mesh = f'<mesh name="pit" scale="0.1 0.1 0.1" vertex="{vertex}" face="{face}"/>'
    text = cart('type="capsule" size="0.05 0.1"', 'type="mesh" mesh="pit"')
    return text.replace("</asset>", f"{mesh}</asset>")


def prismatic(effort: float) -> str:
    text = arm('type="revolute"', 'type="prismatic"')
    return text.replace('effort="10"', f'effort="{effort:.9g}"')


# check, severity, words, the model at a share of the bound
CASES: dict[str, tuple[str, str, str, Callable[[float], str]]] = {
    "lightest": ("density", "warning", "lighter than foam", lambda x: massive(10.0 / x * VOLUME)),
    "heaviest": ("density", "warning", "than any metal", lambda x: massive(30000.0 * x * VOLUME)),
    "widest": ("inertia", "warning", "its shapes reach", lambda x: gyrating(1.02 * REACH * x)),
    "narrowest": ("inertia", "warning", "nearly a point", lambda x: gyrating(REACH / 30.0 / x)),
    "centre outside": (
        "inertia", "warning", "outside the box of its shapes",
        lambda x: arm(ARM_MASS, f'<origin xyz="{0.1 + 0.02 * x:.9g} 0 0"/>{ARM_MASS}'),
    ),
    "centre outside below": (
        "inertia", "warning", "outside the box of its shapes",
        lambda x: arm(ARM_MASS, f'<origin xyz="0 0 {-0.1 - 0.02 * x:.9g}"/>{ARM_MASS}'),
    ),
    "ratio of masses": ("mass ratio", "note", "by a factor of", lambda x: massive(2e-4 / x)),
    "large ratio": ("mass ratio", "warning", "by a factor of", lambda x: massive(2e-6 / x)),
    "below the limit": (
        "start pose", "warning", "outside its limits",
        lambda x: arm('lower="-1"', f'lower="{1e-6 * x:.9g}"'),
    ),
    "above the limit": (
        "start pose", "warning", "outside its limits",
        lambda x: arm('upper="1"', f'upper="{-1e-6 * x:.9g}"'),
    ),
    "full effort turns": (
        "armature", "note", "its full effort",
        lambda x: arm('effort="10"', f'effort="{2000.0 * x:.9g}"'),
    ),
    "full effort moves": ("armature", "note", "its full effort", lambda x: prismatic(20000.0 * x)),
    "overlap": ("start overlap", "warning", "overlap by", lambda x: boxed(0.1, 5e-4 * x)),
    "overlap of something small": (
        "start overlap", "warning", "overlap by",
        lambda x: boxed(0.01, 0.02 * 0.01 * float(np.sqrt(3.0)) * x),
    ),
    "hull": ("hull", "warning", "hull volume / mesh volume", lambda x: hollow(1.2 * x)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_bound_from_both_sides(tmp_path: Path, name: str) -> None:
    check, severity, words, model = CASES[name]
    found = []
    for share in (0.99, 1.01):
        text = model(share)
        file = "arm.urdf" if text.startswith("<robot") else "cart.xml"
        found.append(len(matching(looked_at(tmp_path, file, text), check, severity, words)))
    assert found == [0, 1]


def test_moments_that_no_solid_has_beyond_rounding(tmp_path: Path) -> None:
    """Largest principal moment less the sum of the others, over the largest: 1e-6 is rounding."""
    for share, expected in ((0.99, 0), (1.01, 1)):
        scene = stiction.load("ball-drop")
        a, b = 0.3, 0.5
        scene.parameters.set_inertia(0, np.diag([a, b, (a + b) / (1.0 - 1e-6 * share)]))
        path = tmp_path / "ball.stiction"
        scene.save(path)
        found = examine(path).findings
        assert len([f for f in found if "inertia of no solid" in f.text]) == expected


@pytest.mark.parametrize("count", [11, 12, 13, 15])
def test_twelve_overlaps_are_told_one_by_one(tmp_path: Path, count: int) -> None:
    bodies = "".join(
        f'<body pos="{k} 0 {0.1 - 1e-3 * (k + 1):g}"><freejoint/><geom size=".1"/></body>'
        for k in range(count)
    )
    text = f'<mujoco><worldbody><geom type="plane" size="99 9 1"/>{bodies}</worldbody></mujoco>'
    found = [f for f in looked_at(tmp_path, "many.xml", text).findings if "overlap" in f.text]
    one_by_one = [f for f in found if "more pairs" not in f.text]
    depths = [f.value for f in one_by_one]
    assert depths == pytest.approx(sorted(depths, reverse=True))
    assert len(one_by_one) == min(count, 12) and depths[0] == pytest.approx(count, rel=1e-3)
    rest = [f for f in found if "more pairs" in f.text]
    assert [f.value for f in rest] == ([count - 12.0] if count > 12 else [])
    if rest:
        assert f"by up to {count - 12} mm" in rest[0].text
