"""Draws the pictures of README and of the first page of the manual.

    python tools/home_pictures.py       # needs matplotlib, and Chromium for the picture of Solo-12

docs/images/solo12.png is the demo's replay at one moment; compare_solo12.svg the example of
docs/compare.md with every solver.

A cube of 1 kg slides at 6 m/s on friction 0.5, figure 10 of the published comparison of contact
models, under the exact model and its relaxations.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from screenshot import browser, screenshot

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "home_slide.svg"
SOLO = ROOT / "docs" / "images" / "solo12.png"
COMPARISON = ROOT / "docs" / "images" / "compare_solo12.svg"
SPEED, FRICTION, SIDE, DT = 6.0, 0.5, 0.2, 1e-3
MODELS = {
    "ncp-newton": ("exact laws (NCP)", "#0072b2", "-"),
    "ccp-newton": ("convex relaxation (CCP)", "#d55e00", "--"),
    "raisim": ("RaiSim's model", "#cc79a7", ":"),
}
"""Colour-blind safe, and told apart by their dashes."""

sys.path.insert(0, str(ROOT / "python"))


def slide(solver: str, seconds: float = 1.3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times [s], heights of the centre above rest [mm] and kinetic energies [J]."""
    import stiction

    scene = stiction.Scene(name="slide")
    material = stiction.Material(friction=FRICTION)
    scene.add_ground(material)
    at = np.eye(4)
    at[2, 3] = SIDE / 2
    scene.add_body("cube", stiction.Box([SIDE / 2] * 3), 1.0, at, material)
    sim = stiction.Simulator(scene, dt=DT, solver=solver, max_iterations=10000)
    state = sim.initial_state()
    state.v[1] = SPEED
    log = sim.rollout(state, steps=round(seconds / DT))
    energy = 0.5 * (log.v[:, :3] ** 2).sum(axis=1)
    return DT * np.arange(len(log.q)), 1e3 * (log.q[:, 2] - SIDE / 2), energy


def compare() -> None:
    """One step of a sliding Solo-12 by all solvers but those kept as published."""
    import stiction

    sim = stiction.Simulator(stiction.load("solo12", friction=0.3))
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, 100)
    state.v[1] = 0.8
    names = [name for name in stiction.solvers() if not name.endswith("-published")]
    sim.compare(state, control, solvers=names).save(COMPARISON)


def photograph() -> None:
    """The replay of the demo as a browser draws it."""
    from stiction.demo import run_demo

    if browser() is None:
        print("no Chromium: docs/images/solo12.png stays as it is")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "solo12.html")
        run_demo(page)
        address = page.as_uri() + "#t=2.6&play=0&cones=1&panel=1&theme=light"
        screenshot(address, SOLO, (1280, 860), 8000)


def draw() -> None:
    """Two panels that can be read at 700 pixels."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "stiction"
    mpl.rcParams["font.size"] = 12
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for solver, (label, colour, dash) in MODELS.items():
        times, heights, energies = slide(solver)
        print(f"{solver}: rises by {heights.max():.3g} mm")
        left.plot(times, heights, dash, color=colour, label=label, lw=2)
        right.plot(times, energies, dash, color=colour, lw=2)
    left.set(xlabel="time [s]", ylabel="height over the floor [mm]", title="it is thrown up")
    right.set(xlabel="time [s]", ylabel="kinetic energy [J]", title="friction brakes it")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    left.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    draw()
    compare()
    photograph()
