"""Replays without a browser: errors name the field, arrays survive, meshes are stored once, files stay small."""

from __future__ import annotations

import importlib
import math
import re
import sys
import types
import webbrowser
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "python" / "stiction"


def load_replay_module() -> types.ModuleType:
    """`stiction.replay`, or the same file alone where the compiled package is not built."""
    try:
        return importlib.import_module("stiction.replay")
    except ImportError:
        package = types.ModuleType("stiction_sources")
        package.__path__ = [str(SOURCE)]
        sys.modules.setdefault("stiction_sources", package)
        return importlib.import_module("stiction_sources.replay")


# --- a recording ---------------------------------------------------------------------------------------------------


def turn_y(angle: float) -> np.ndarray:
    """Quaternion x y z w of a rotation by `angle` [rad] about y."""
    return np.array([0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2)])


def rotate_y(angle: float, vector: tuple[float, float, float]) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = vector
    return np.array([c * x + s * z, y, -s * x + c * z])


def trotting_replay(seconds: float = 2.0, fps: float = 60.0) -> Any:
    """A quadruped of boxes and capsules that trots over a plane: mostly two contacts, some of them sliding."""
    m = load_replay_module()
    orange, dark, pale = (0.93, 0.45, 0.13, 1.0), (0.2, 0.23, 0.27, 1.0), (0.82, 0.84, 0.87, 1.0)
    link = 0.16  # length of thigh and shank [m]
    bodies = [
        m.ReplayBody("ground", [m.ReplayGeometry("plane", role="collision")]),
        m.ReplayBody(
            "trunk",
            [
                m.ReplayGeometry("box", (0.2, 0.07, 0.035), color=orange),
                m.ReplayGeometry(
                    "box", (0.05, 0.05, 0.02), placement=(0.17, 0, 0.05, 0, 0, 0, 1), color=dark
                ),
                m.ReplayGeometry("box", (0.21, 0.08, 0.045), role="collision"),
            ],
        ),
    ]
    middle = (0, 0, -link / 2, 0, 0, 0, 1)
    for leg in ("FL", "FR", "HL", "HR"):
        bodies.append(
            m.ReplayBody(
                f"{leg}_thigh", [m.ReplayGeometry("capsule", (0.018, link / 2), middle, pale)]
            )
        )
        foot = m.ReplayGeometry("sphere", (0.02,), (0, 0, -link, 0, 0, 0, 1), dark)
        bodies.append(
            m.ReplayBody(
                f"{leg}_shank",
                [
                    m.ReplayGeometry("capsule", (0.012, link / 2), middle, dark),
                    foot,
                    replace(foot, role="collision"),
                ],
            )
        )
    frames = round(seconds * fps) + 1
    when = np.arange(frames) / fps
    poses = np.zeros((frames, len(bodies), 7))
    poses[..., 6] = 1.0
    contacts = []
    for f, t in enumerate(when):
        trunk = np.array([0.25 * t, 0.0, 0.262 + 0.006 * math.sin(8 * math.pi * t)])
        poses[f, 1, :3] = trunk
        poses[f, 1, 3:] = turn_y(0.04 * math.sin(4 * math.pi * t))
        rows = []
        for leg in range(4):
            phase = 4 * math.pi * t + (math.pi if leg in (0, 3) else 0.0)
            swing = max(0.0, math.sin(phase))
            hip = trunk + np.array(
                [0.17 if leg < 2 else -0.17, 0.095 if leg % 2 == 0 else -0.095, 0.0]
            )
            upper = 0.55 + 0.3 * math.cos(phase) + 0.25 * swing
            lower = upper - 1.25 - 0.5 * swing
            knee = hip + rotate_y(upper, (0, 0, -link))
            foot_at = knee + rotate_y(lower, (0, 0, -link))
            poses[f, 2 + 2 * leg] = [*hip, *turn_y(upper)]
            poses[f, 3 + 2 * leg] = [*knee, *turn_y(lower)]
            if math.sin(phase) < 0:
                load = 12.0 * math.sqrt(-math.sin(phase))
                sliding = float(math.sin(phase) > -0.35)
                tangential = (0.6 if sliding else 0.25) * load * math.cos(phase)
                rows.append(
                    [
                        foot_at[0],
                        foot_at[1],
                        0.0,
                        tangential,
                        0.08 * load,
                        load,
                        0,
                        0,
                        1,
                        0.6,
                        sliding,
                    ]
                )
        contacts.append(np.array(rows).reshape(-1, 11))
    rng = np.random.default_rng(1)
    info = {
        "Solver": "ncp-newton",
        "Time step": "1 ms",
        "Integrator": "semi-implicit Euler",
        "Friction": 0.6,
    }
    return m.Replay(
        "Quadruped, trot", bodies, when, poses, contacts,
        residual=10.0 ** rng.uniform(-12, -8.5, frames),
        penetration=2e-5 * (1 + np.sin(8 * np.pi * when)) ** 2,
        energy=6.2 + 0.3 * np.sin(8 * np.pi * when) - 0.1 * when,
        info=info,
    )  # fmt: skip


# --- the tests -----------------------------------------------------------------------------------------------------

module = load_replay_module()
page = module.page

POSE = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def small_replay(**changes: Any) -> Any:
    """One ball, three frames, a contact in the last one."""
    fields: dict[str, Any] = {
        "title": "ball",
        "bodies": [module.ReplayBody("ball", [module.ReplayGeometry("sphere", (0.1,))])],
        "time": [0.0, 0.1, 0.2],
        "poses": np.tile(POSE, (3, 1, 1)),
        "contacts": [np.zeros((0, 11)), [], [[0, 0, 0, 1, 2, 3, 0, 0, 1, 0.5, 1]]],
        "residual": [1e-9, 0.0, np.nan],
        "penetration": [0.0, 1e-5, 2e-5],
        "energy": [9.81, 9.8, 9.79],
        "info": {"Solver": "ncp-newton", "mu": 0.123456},
    }
    return module.Replay(**{**fields, **changes})


def geometry(**changes: Any) -> Any:
    """A replay whose ball has another geometry."""
    one = replace(module.ReplayGeometry("sphere", (0.1,)), **changes)
    return small_replay(bodies=[module.ReplayBody("ball", [one])])


TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)


def test_arrays_survive_the_page(tmp_path: Path) -> None:
    replay = trotting_replay(seconds=1.0)
    meta, arrays = page.decode(
        module.write_replay(tmp_path / "trot.html", replay).read_text(encoding="utf-8")
    )
    assert meta["title"] == replay.title and len(meta["bodies"]) == len(replay.bodies)
    np.testing.assert_array_equal(arrays["time"], replay.time)
    np.testing.assert_allclose(arrays["poses"], replay.poses, atol=1e-6)
    starts = arrays["contact_starts"]
    assert starts.dtype == np.uint32 and starts[0] == 0 and len(starts) == len(replay.time) + 1
    for f, rows in enumerate(replay.contacts):
        np.testing.assert_array_equal(
            arrays["contacts"][starts[f] : starts[f + 1]], rows.astype(np.float32)
        )
    for name in ("residual", "penetration", "energy"):
        np.testing.assert_allclose(arrays[name], getattr(replay, name), rtol=1e-6)


def test_nan_gaps_and_missing_curves(tmp_path: Path) -> None:
    path = module.write_replay(tmp_path / "r.html", small_replay(energy=None, contacts=()))
    meta, arrays = page.decode(path.read_text(encoding="utf-8"))
    assert "energy" not in arrays and np.isnan(arrays["residual"][2])
    np.testing.assert_array_equal(arrays["contact_starts"], np.zeros(4))
    assert ["mu", "0.1235"] in meta["info"]


def test_quaternions_are_normalised(tmp_path: Path) -> None:
    poses = np.tile([0, 0, 0, 0, 0, 0, 1.001], (3, 1, 1))
    _, arrays = page.decode(
        module.write_replay(tmp_path / "r.html", small_replay(poses=poses)).read_text("utf-8")
    )
    np.testing.assert_allclose(np.linalg.norm(arrays["poses"][..., 3:], axis=-1), 1.0, atol=1e-7)


def test_equal_meshes_are_stored_once(tmp_path: Path) -> None:
    def body(name: str, scale: float) -> Any:
        return module.ReplayBody(
            name,
            [module.ReplayGeometry("mesh", (scale,), vertices=TRIANGLE, triangles=[[0, 1, 2]])],
        )

    replay = small_replay(bodies=[body("a", 1.0), body("b", 2.0)], poses=np.tile(POSE, (3, 2, 1)))
    meta, arrays = page.decode(module.write_replay(tmp_path / "r.html", replay).read_text("utf-8"))
    assert meta["meshes"] == 1 and [b["geometries"][0]["mesh"] for b in meta["bodies"]] == [0, 0]
    np.testing.assert_array_equal(arrays["mesh0.vertices"], TRIANGLE.astype(np.float32))
    np.testing.assert_array_equal(arrays["mesh0.triangles"], [[0, 1, 2]])


def test_six_seconds_are_small(tmp_path: Path) -> None:
    page_size = module.write_replay(tmp_path / "r.html", small_replay()).stat().st_size
    robot = module.write_replay(tmp_path / "t.html", trotting_replay(seconds=6.0)).stat().st_size
    assert page_size < 0.9e6
    assert robot - page_size < 0.5e6


@pytest.mark.parametrize(
    ("replay", "message"),
    [
        (lambda: small_replay(time=[]), "Replay.time is empty"),
        (
            lambda: small_replay(time=[0.0, 0.2, 0.1]),
            r"Replay.time\[1:3\] = \[0.2, 0.1\] must increase",
        ),
        (
            lambda: small_replay(poses=np.zeros((3, 2, 7))),
            r"Replay.poses has shape \(3, 2, 7\); give \(3, 1, 7\)",
        ),
        (
            lambda: small_replay(poses=np.zeros((3, 1, 7))),
            r"Replay.poses\[0\]\[0\]\[3:7\] = .* no unit quaternion",
        ),
        (
            lambda: small_replay(poses=np.full((3, 1, 7), np.nan)),
            r"Replay.poses\[0, 0, 0\] = nan is not finite",
        ),
        (lambda: small_replay(contacts=[[]]), "Replay.contacts has 1 frames, time has 3"),
        (
            lambda: small_replay(contacts=[[], [], [[1.0, 2.0]]]),
            r"Replay.contacts\[2\] has shape \(1, 2\)",
        ),
        (
            lambda: small_replay(contacts=[[], [[0] * 11], []]),
            r"Replay.contacts\[1\]\[0, 6:9\] .* no unit normal",
        ),
        (lambda: small_replay(residual=[1.0]), r"Replay.residual has shape \(1,\); give \(3,\)"),
        (
            lambda: small_replay(penetration=[0.0, -1e-3, 0.0]),
            r"Replay.penetration\[1\] = -0.001 is negative",
        ),
        (lambda: small_replay(energy="much"), "Replay.energy is no array of numbers"),
        (lambda: small_replay(title=None), "Replay.title = None"),
        (
            lambda: geometry(shape="cube"),
            r"bodies\[0\].geometries\[0\].shape = 'cube' must be one of sphere",
        ),
        (lambda: geometry(size=(0.1, 0.2)), r"geometries\[0\].size = \[0.1, 0.2\] .* \(radius,\)"),
        (lambda: geometry(size=(-0.1,)), r"size = \[-0.1\] is wrong for a sphere"),
        (lambda: geometry(color=(255, 0, 0)), r"color = \[255.0, 0.0, 0.0\] must be"),
        (lambda: geometry(placement=(0, 0, 0)), r"placement has shape \(3,\); give \(7,\)"),
        (lambda: geometry(role="both"), "role = 'both'"),
        (lambda: geometry(shape="mesh", size=()), "mesh without vertices"),
        (lambda: geometry(vertices=TRIANGLE), "only a 'mesh' has them"),
        (
            lambda: geometry(shape="mesh", size=(), vertices=TRIANGLE, triangles=[[1, 2, 3]]),
            "names vertices 1 to 3, but there are 3",
        ),
        (
            lambda: geometry(shape="mesh", size=(), vertices=TRIANGLE, triangles=[[0.0, 1.0, 2.0]]),
            "give integers of shape",
        ),
    ],
)
def test_errors_name_field_value_and_mend(tmp_path: Path, replay: Any, message: str) -> None:
    with pytest.raises(module.ReplayError, match=message):
        module.write_replay(tmp_path / "never.html", replay())
    assert not (tmp_path / "never.html").exists()


def test_thinning_keeps_the_worst() -> None:
    n = 1001
    time = np.arange(n) * 1e-3
    residual = np.full(n, 1e-10)
    residual[777] = 1e-3
    full = small_replay(
        time=time, poses=np.tile(POSE, (n, 1, 1)), contacts=(), residual=residual,
        penetration=np.zeros(n), energy=np.arange(n),
    )  # fmt: skip
    thin = module.thin_replay(full, fps=60)
    assert 60 <= len(thin.time) <= 62 and len(thin.poses) == len(thin.time)
    assert thin.residual.max() == 1e-3
    assert 0.777 <= thin.time[np.argmax(thin.residual)] <= 0.777 + 1 / 60
    np.testing.assert_array_equal(thin.energy, np.round(thin.time * 1e3))
    assert len(module.thin_replay(small_replay(), fps=1e4).time) == 3


def test_open_replay_prints_the_url(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = module.write_replay(tmp_path / "a replay.html", small_replay())
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url))
    monkeypatch.setenv("DISPLAY", ":0")
    url = module.open_replay(path)
    assert url.startswith("file:///") and "%20" in url and opened == [url]
    assert capsys.readouterr().out.strip() == url

    def broken(_: str) -> bool:
        raise webbrowser.Error("none")

    monkeypatch.setattr(webbrowser, "open", broken)
    assert module.open_replay(path) == url
    with pytest.raises(FileNotFoundError, match="write_replay"):
        module.open_replay(tmp_path / "missing.html")


class Elements(HTMLParser):
    """Counts elements and collects everything that could be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.fetched: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if getattr(self, "inside", "") == "title" and data.strip():
            self.titles.append(data)
        self.inside = ""


def test_page_is_self_contained_and_escapes(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script> {{data}} & <!--"
    replay = small_replay(title=evil, info={evil: evil}, bodies=[module.ReplayBody(evil)])
    text = module.write_replay(tmp_path / "r.html", replay).read_text(encoding="utf-8")
    elements = Elements()
    elements.feed(text)
    assert elements.scripts == 3 and elements.fetched == ["data:,"] and elements.titles == [evil]
    meta, _ = page.decode(text)
    assert meta["title"] == evil and meta["info"][0] == [evil, evil]
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)


def test_viewer_modules_share_one_scope() -> None:
    """Joined into one module, top-level names must be unique, and every file of the folder must take part."""
    names: list[str] = []
    for name in page.MODULES:
        source = (page.HERE / name).read_text(encoding="utf-8")
        assert len(source.splitlines()) <= 400
        names += re.findall(
            r"^(?:export )?(?:const|let|function|class) (\w+)", source, re.MULTILINE
        )
    assert sorted(names) == sorted(set(names))
    assert {path.name for path in page.HERE.glob("*.js")} == set(page.MODULES)
