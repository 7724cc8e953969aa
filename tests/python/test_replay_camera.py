"""The replay's camera shows what moves, as large as it fits, and the force arrows with it."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_replay import load_replay_module
from test_replay_browser import Browser, find_chromium, shot


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(find_chromium(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def falling(m: types.ModuleType) -> Any:
    """A column of 30 balls, 6 m high, that has become a heap of 0.5 m; large forces at the end."""
    bodies = [m.ReplayBody("ground", [m.ReplayGeometry("plane")])]
    bodies += [m.ReplayBody(f"ball {i}", [m.ReplayGeometry("sphere", (0.05,))]) for i in range(30)]
    poses = np.zeros((61, 31, 7))
    poses[..., 6] = 1.0
    rng = np.random.default_rng(3)
    heap = np.c_[rng.uniform(-0.25, 0.25, (30, 2)), rng.uniform(0.05, 0.3, 30)]
    column = np.c_[np.zeros((30, 2)), 0.2 * np.arange(1, 31)]
    for f in range(61):
        poses[f, 1:, :3] = column + (heap - column) * min(1.0, f / 40)
    rows = [[*p, 0, 0, 10.0 * 2**i, 0, 0, 1, 0.5, 0] for i, p in enumerate(heap[:12])]
    contacts = [np.zeros((0, 11))] * 60 + [np.array(rows)]
    return m.Replay("heap", bodies, np.arange(61) / 60, poses, contacts)


def test_camera_fits_what_moves_at_each_time(browser: Browser, tmp_path: Path) -> None:
    """All bodies in the picture, and never a speck in it; no arrow longer than they are apart."""
    m = load_replay_module()
    url = m.write_replay(tmp_path / "heap.html", falling(m)).as_uri()
    spans = "window.stiction.bodies.moving.map(b => window.stiction.bodies.groups[b].position"
    for t, smallest in ((0, 0.5), (0.5, 0.35), (1, 0.3)):
        shot(browser, url, f"t={t}&panel=0")
        at = np.array(
            browser.evaluate(f"{spans}.clone().project(window.stiction.stage.camera).toArray())")
        )
        assert np.abs(at[:, :2]).max() < 1, f"a body is out of the picture at {t} s"
        assert np.ptp(at[:, :2], axis=0).max() / 2 > smallest, f"a speck at {t} s"
    longest = browser.evaluate(
        "(() => { const c = window.stiction.contacts; return c.list.map(x => c.arrowOf(x))"
        ".filter(x => x).reduce((most, { shaft, head }) => { const l = (p) => Math.hypot("
        "...p.matrix.elements.slice(8, 11)); return Math.max(most, l(shaft) + l(head)); }, 0); })()"
    )
    assert 0 < longest < 0.5


def hand_and_box(m: types.ModuleType, distance: float) -> Any:
    """A hand that opens by a millimetre, a box that rests so far below it [m]."""
    names = ("hand", "finger", "box")
    bodies = [m.ReplayBody("ground", [m.ReplayGeometry("plane")])]
    bodies += [m.ReplayBody(name, [m.ReplayGeometry("box", (0.1, 0.1, 0.1))]) for name in names]
    poses = np.zeros((3, 4, 7))
    poses[..., 6] = 1.0
    poses[:, 1:, :3] = [[0, 0, 5.0], [0, 0, 4.8], [0, 0, 4.8 - distance]]
    poses[1:, 1:3, 0] = 1e-3
    return m.Replay("hand", bodies, np.arange(3) / 60, poses, [np.zeros((0, 11))] * 3)


@pytest.mark.parametrize(("distance", "seen"), [(0.3, True), (4.0, False)])
def test_what_rests_beside_is_in_the_picture(
    browser: Browser, tmp_path: Path, distance: float, seen: bool
) -> None:
    m = load_replay_module()
    url = m.write_replay(tmp_path / "hand.html", hand_and_box(m, distance)).as_uri()
    shot(browser, url, "t=0&panel=0")
    below, moving = browser.evaluate(
        "[window.stiction.stage.extent.center.z - window.stiction.stage.extent.radius,"
        " window.stiction.bodies.moving.length]"
    )
    assert moving == 2
    assert (below < 4.8 - distance) == seen
