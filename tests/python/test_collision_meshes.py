"""What becomes of the collision meshes of a URDF: hulls, their own triangles, convex parts."""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import stiction
from surfaces import bowl, pose, run, torus

URDF = """<robot name="ring">
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="{name}.obj" scale="{scale}"/></geometry></collision>
  </link>
</robot>"""


def write_urdf(folder: Path, name: str, vertices, triangles, scale: str = "1 1 1") -> Path:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    (folder / f"{name}.obj").write_text("\n".join(lines) + "\n")
    path = folder / f"{name}.urdf"
    path.write_text(URDF.format(name=name, scale=scale))
    return path


def shapes_of(path: Path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = stiction.load_urdf(path, **options)
    scene = stiction.Scene()
    scene.add_robot(robot)
    return scene, [g.shape for g in scene.geometries], " ".join(str(w.message) for w in caught)


def test_hull_by_default_exact_by_choice(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, "ring", *torus(0.5, 0.15, 24, 12))
    _, (hull,), text = shapes_of(path)
    assert hull.type == "convex_mesh"
    assert "hull volume / mesh volume" in text
    scene, (exact,), text = shapes_of(path, collision_meshes="exact")
    assert (exact.type, exact.closed, text) == ("triangle_mesh", True, "")
    assert exact.volume == pytest.approx(2 * np.pi**2 * 0.5 * 0.15**2, rel=0.1)
    assert len(exact.triangles) == 2 * 24 * 12
    # The robot is a ring now: it falls over a pole and touches nothing; its hull does not.
    for one, touched in (("exact", False), ("hull", True)):
        scene, _, _ = shapes_of(path, collision_meshes=one)
        scene.add_geometry("pole", "world", stiction.Capsule(0.05, 1.0), pose((0, 0, -1.3)))
        state = run(scene, 400)[1]
        free = -0.5 * 9.81 * 0.4**2
        assert (state.q[2] == pytest.approx(free, abs=2e-3)) != touched


def test_mirrored_meshes_are_turned_and_open_ones_told(tmp_path: Path) -> None:
    v, t = bowl(0.5, 0.1, 16, 6)
    path = write_urdf(tmp_path, "mirrored", v, t, "1 -1 1")
    _, (exact,), text = shapes_of(path, collision_meshes="exact")
    assert exact.closed
    assert exact.volume > 0
    assert text == ""
    path = write_urdf(tmp_path, "open", v, t[5:])
    _, (exact,), text = shapes_of(path, collision_meshes="exact")
    assert not exact.closed
    assert text.startswith("open.urdf: line 4: ")
    assert "is not a closed surface" in text


def test_unknown_choice_is_refused(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, "ring", *torus(0.5, 0.15, 12, 6))
    with pytest.raises(ValueError, match='collision_meshes = "bvh"'):
        stiction.load_urdf(path, collision_meshes="bvh")


def test_without_coacd_the_error_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(stiction.StictionError, match="pip install coacd"):
        stiction.decompose(*torus(0.5, 0.15))
    path = write_urdf(tmp_path, "ring", *torus(0.5, 0.15, 12, 6))
    with pytest.raises(stiction.StictionError, match="pip install coacd"):
        stiction.load_urdf(path, collision_meshes="decompose")


def halves(mesh, **_):
    """Stands for coacd: the points on either side of x = 0."""
    v = np.asarray(mesh.vertices)
    return [[v[v[:, 0] <= 1e-9], None], [v[v[:, 0] >= -1e-9], None]]


def test_parts_become_geometries_of_the_link(tmp_path, monkeypatch) -> None:
    fake = types.SimpleNamespace(
        Mesh=lambda v, t: types.SimpleNamespace(vertices=v, indices=t),
        run_coacd=halves,
        set_log_level=lambda level: None,
    )
    monkeypatch.setitem(sys.modules, "coacd", fake)
    v, t = torus(0.5, 0.15, 24, 12)
    path = write_urdf(tmp_path, "ring", v, t)
    scene, shapes, text = shapes_of(path, collision_meshes="decompose")
    assert [s.type for s in shapes] == ["convex_mesh"] * 2
    assert [g.name for g in scene.geometries] == ["base_0.0", "base_0.1"]
    assert "2 convex parts, parts volume / mesh volume = " in text
    assert not scene.pair_enabled(0, 1)  # of one body
    assert [s.type for s in stiction.decompose(v, t)] == ["convex_mesh"] * 2
    with pytest.raises(ValueError, match=r"threshold = 0\.001"):
        stiction.decompose(v, t, threshold=0.001)
    with pytest.raises(ValueError, match="max_parts = 0"):
        stiction.decompose(v, t, max_parts=0)


def test_a_ball_falls_through_a_decomposed_ring() -> None:
    pytest.importorskip("coacd")
    v, t = torus(1.0, 0.3, 32, 12)
    parts = stiction.decompose(v, t, threshold=0.05)
    assert len(parts) > 3
    exact = stiction.TriangleMesh(v, t).volume
    assert sum(p.volume for p in parts) == pytest.approx(exact, rel=0.15)
    scene = stiction.Scene()
    for k, part in enumerate(parts):
        scene.add_geometry(f"part{k}", "world", part)
    scene.add_body("ball", stiction.Sphere(0.3), 1.0, pose((0.1, 0.0, 1.0)))
    state = run(scene, 1000)[1]
    assert state.q[2] < -3
