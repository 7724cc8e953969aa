"""Robots are drawn as their files say: every visual of a record is what its mesh file holds, and lights the pixels
that its vertices fall on.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.record import Recorder, scene_bodies
from stiction.replay import Replay, write_replay
from test_replay_browser import Browser, find_chromium
from test_robots import ROBOTS

NAMES = (
    "go2_description/urdf/go2.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "panda_description/urdf/panda.urdf",
)
TETRAHEDRON = "0 0 0 .1 0 0 0 .2 0 0 0 .3"
VOLUME = 0.1 * 0.2 * 0.3 / 6


def signed_volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """[m^3]"""
    a, b, c = (vertices[triangles[:, k]].astype(float) for k in range(3))
    return float(np.einsum("ij,ij", a, np.cross(b, c))) / 6


def area(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """[m^2]"""
    a, b, c = (vertices[triangles[:, k]].astype(float) for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2


def collada(matrix: str) -> str:
    """A tetrahedron whose faces have two materials and positions of their own, under a node with that matrix."""
    numbers = TETRAHEDRON.split()
    reverse = " ".join(" ".join(numbers[3 * i : 3 * i + 3]) for i in (3, 2, 1, 0))
    parts = ((TETRAHEDRON, "0 2 1 0 1 3"), (reverse, "3 0 1 2 1 0"))  # 0 3 2 and 1 2 3
    geometries = "".join(
        f"""<geometry id="g{i}"><mesh><source id="s{i}"><float_array id="a{i}" count="12">{xyz}</float_array>
        <technique_common><accessor source="#a{i}" count="4" stride="3"><param name="X" type="float"/>
        <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
        <vertices id="v{i}"><input semantic="POSITION" source="#s{i}"/></vertices>
        <triangles material="m{i}" count="1"><input semantic="VERTEX" source="#v{i}" offset="0"/>
        <p>{corners[:5]}</p></triangles>
        <triangles material="n{i}" count="1"><input semantic="VERTEX" source="#v{i}" offset="0"/>
        <p>{corners[6:]}</p></triangles></mesh></geometry>"""
        for i, (xyz, corners) in enumerate(parts)
    )
    nodes = "".join(
        f'<node id="n{i}"><matrix>{matrix}</matrix><instance_geometry url="#g{i}"/></node>'
        for i in range(2)
    )
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
    <asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries>{geometries}</library_geometries>
    <library_visual_scenes><visual_scene id="vs">{nodes}</visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#vs"/></scene></COLLADA>"""


def robot_with(tmp_path: Path, visual: str) -> Path:
    """A ball with that visual; the prefix that nothing declares is as xacro leaves it."""
    path = tmp_path / "one.urdf"
    path.write_text(
        f"""<robot name="one"><link name="base"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
        <visual><geometry>{visual}</geometry></visual><collision><geometry><sphere radius="0.1"/></geometry>
        </collision></link></robot>"""
    )
    return path


def one_frame(scene: stiction.Scene) -> Replay:
    simulator = stiction.Simulator(scene)
    recorder = Recorder(simulator)
    recorder.capture(simulator.initial_state())
    return recorder.replay()


def file_of(uri: str) -> Path:
    """Of example-robot-data."""
    return ROBOTS / uri.split("example-robot-data/robots/")[1]


@pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
@pytest.mark.parametrize("name", NAMES)
def test_visuals_are_what_the_files_hold(name: str) -> None:
    """As many as the file has, each as large as its mesh: mixed up vertices give seven times the surface."""
    path = ROBOTS / name
    bodies = scene_bodies(stiction.load(path))
    visuals = [g for body in bodies[1:] for g in body.geometries if g.role == "visual"]
    fixed = [g for g in bodies[0].geometries if g.role == "visual" and g.shape != "plane"]
    assert not fixed
    elements = ET.parse(path).getroot().findall("link/visual/geometry/*")
    assert len(visuals) == len(elements) > 5
    drawn = sorted(
        area(np.asarray(g.vertices), np.asarray(g.triangles)) for g in visuals if g.shape == "mesh"
    )
    held = []
    for element in elements:
        if element.tag == "mesh":
            scale = [float(x) for x in element.get("scale", "1 1 1").split()]
            held.append(area(*stiction.load_mesh(file_of(element.attrib["filename"]), scale)))
    np.testing.assert_allclose(drawn, sorted(held), rtol=0.25)


MIRRORED = "-1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
PLAIN = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"


@pytest.mark.parametrize("scale", ["1 1 1", "1 -1 1", "-2 -1 -1", "0.5 0.5 0.5"])
@pytest.mark.parametrize("matrix", [PLAIN, MIRRORED])
def test_materials_and_mirrors_keep_a_solid_a_solid(
    tmp_path: Path, matrix: str, scale: str
) -> None:
    """Closed, outside out, where the file says."""
    (tmp_path / "two.dae").write_text(collada(matrix))
    path = robot_with(tmp_path, f'<mesh filename="two.dae" scale="{scale}"/>')
    (geometry,) = (g for g in scene_bodies(stiction.load(path))[1].geometries if g.role == "visual")
    vertices, triangles = np.asarray(geometry.vertices), np.asarray(geometry.triangles)
    factors = np.array([float(x) for x in scale.split()])
    assert len(triangles) == 4
    assert signed_volume(vertices, triangles) == pytest.approx(VOLUME * abs(np.prod(factors)))
    far = np.array([-0.1 if matrix == MIRRORED else 0.1, 0.2, 0.3]) * factors
    np.testing.assert_allclose(vertices.sum(axis=0), far, rtol=1e-6)


BROKEN = {
    "missing.dae": None,
    "empty.dae": "",
    "cut.dae": collada(PLAIN)[:900],
    "loop.dae": collada(PLAIN).replace("0 2 1", "0 2 999999999"),
    "nan.obj": "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "other.ply": "ply\n",
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_visual_is_drawn_as_its_collision_shape(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = BROKEN[name]
    if text is not None:
        (tmp_path / name).write_text(text)
    path = robot_with(tmp_path, f'<mesh filename="{name}"/>')
    with caplog.at_level(logging.WARNING, logger="stiction"):
        replay = one_frame(stiction.load(path))
    said = [record.getMessage() for record in caplog.records if "visual" in record.getMessage()]
    assert len(said) == 1 and name in said[0]
    assert [g.shape for g in replay.bodies[1].geometries] == ["sphere"]
    write_replay(tmp_path / "one.html", replay)


def test_a_prefix_that_nothing_declares_is_no_obstacle(tmp_path: Path) -> None:
    path = robot_with(tmp_path, '<sphere radius="0.1" xacro:note="1"/>')
    shapes = scene_bodies(stiction.load(path))[1].geometries
    assert [g.role for g in shapes] == ["visual", "collision"]


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(find_chromium(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


PIXELS = 160
"""Side of the pictures of one visual."""
PREPARE = f"""(() => {{
  const v = window.stiction, s = v.stage;
  s.renderer.shadowMap.enabled = false;
  s.renderer.setPixelRatio(1);
  s.renderer.setSize({PIXELS}, {PIXELS}, false);
  s.camera.clearViewOffset();
  s.camera.aspect = 1;
  s.camera.near = 1e-3;
  s.camera.far = 100;
  s.camera.updateProjectionMatrix();
  v.tick = () => {{}};
  for (const child of s.scene.children) if (child !== v.bodies.root) child.visible = false;
  v.bodies.root.traverse((o) => {{ if (o.isMesh) o.visible = false; }});
  return v.bodies.visual.length;
}})()"""
LIT = f"""((number, eye, target) => {{
  const v = window.stiction, s = v.stage, gl = s.renderer.getContext();
  v.bodies.visual.forEach((mesh, i) => {{ mesh.visible = i === number; }});
  s.camera.position.set(...eye);
  s.camera.lookAt(...target);
  s.renderer.render(s.scene, s.camera);
  const data = new Uint8Array(4 * {PIXELS} * {PIXELS});
  gl.readPixels(0, 0, {PIXELS}, {PIXELS}, gl.RGBA, gl.UNSIGNED_BYTE, data);
  let lit = '';
  for (let i = 3; i < data.length; i += 4) lit += data[i] > 0 ? '1' : '0';
  return [lit, s.camera.matrixWorldInverse.elements, s.camera.projectionMatrix.elements];
}})"""


def drawn_visuals(replay: Replay) -> list[tuple[str, Any, np.ndarray]]:
    """Body, geometry and pose of what the page draws as solids, in its order."""
    found = []
    for body, pose in zip(replay.bodies, np.asarray(replay.poses)[0], strict=True):
        solids = [g for g in body.geometries if g.shape != "plane" and g.role == "visual"]
        bare = not any(g.role == "visual" for g in body.geometries)
        if bare:
            solids = [g for g in body.geometries if g.shape != "plane"]
        found += [(body.name, g, pose) for g in solids]
    return found


def visible_share(browser: Browser, number: int, points: np.ndarray) -> float:
    """Part of the world points [m] that fall on lit pixels (or beside one), seen from two sides."""
    low, high = points.min(axis=0), points.max(axis=0)
    target, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    shares = []
    for direction in ([1.0, 0.7, 0.6], [-0.8, 0.3, -0.9]):
        eye = target + 4 * radius * np.array(direction) / np.linalg.norm(direction)
        text, view, projection = browser.evaluate(
            f"{LIT}({number}, {eye.tolist()}, {target.tolist()})"
        )
        lit = np.array(list(text)).reshape(PIXELS, PIXELS) == "1"
        wide = np.pad(lit, 1)
        near = np.zeros_like(lit)
        for i in range(3):
            for k in range(3):
                near |= wide[i : i + PIXELS, k : k + PIXELS]
        matrix = np.reshape(projection, (4, 4)).T @ np.reshape(view, (4, 4)).T
        clip = np.c_[points, np.ones(len(points))] @ matrix.T
        at = ((clip[:, :2] / clip[:, 3:] + 1) / 2 * PIXELS).astype(int)
        assert at.min() >= 0 and at.max() < PIXELS, "the camera does not see all of it"
        shares.append(float(np.mean(near[at[:, 1], at[:, 0]])) if lit.mean() < 0.6 else 0.0)
    return min(shares)


@pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
@pytest.mark.parametrize("name", [*NAMES, "mirrored"])
def test_every_visual_is_drawn(browser: Browser, tmp_path: Path, name: str) -> None:
    if name == "mirrored":
        (tmp_path / "two.dae").write_text(collada(MIRRORED))
        path = robot_with(tmp_path, '<mesh filename="two.dae"/>')
    else:
        path = ROBOTS / name
    replay = one_frame(stiction.load(path))
    browser.open(write_replay(tmp_path / "page.html", replay).as_uri() + "#play=0")
    expected = drawn_visuals(replay)
    assert browser.evaluate(PREPARE) == len(expected) > 0
    bad = {}
    for number, (body, geometry, pose) in enumerate(expected):
        if geometry.shape != "mesh":
            continue
        place = pinocchio.XYZQUATToSE3(pose) * pinocchio.XYZQUATToSE3(
            np.asarray(geometry.placement)
        )
        vertices = np.asarray(geometry.vertices)[np.unique(np.asarray(geometry.triangles))]
        share = visible_share(browser, number, vertices @ place.rotation.T + place.translation)
        if share < 0.99:
            bad[f"{body} {number}"] = share
    assert not bad, f"part of the vertices that fall on lit pixels: {bad}"
