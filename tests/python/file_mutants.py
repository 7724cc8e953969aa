"""Mutants of files, read in a process of their own: `file_mutants.py KIND FIRST_SEED COUNT`.

Prints each seed before it is read, so that whatever kills or hangs the process has a name; the last
line counts how many were accepted and refused. Ends with an error where a mutant is refused by any
exception but the one that the documentation names, or in more than one line.
"""

from __future__ import annotations

import io
import re
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import stiction

SECONDS = 20
"""Of one mutant, wall clock; ordinary ones take a millisecond."""
MEMORY = 6 << 30
HOSTILE = ("-1", "0", "2147483647", "-2147483648", "4294967296", "1e999", "nan", "1e300", ".3", "")

TRIANGLES = "0 2 1 0 1 3 0 3 2 1 2 3"
POINTS = "0 0 0 1 0 0 0 1 0 0 0 1"
OBJ = (
    "# tetrahedron\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\n"
    "f 1/1/1 3/1/1 2/1/1\nf 1 2 4\nf -4 -1 -2\nf 2//1 3//1 4//1\nf 1 2 3 4\n"
)
DAE = f"""<?xml version="1.0"?><COLLADA version="1.4.1"><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">{POINTS}</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"/></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices><triangles count="4">
<input semantic="VERTEX" source="#v" offset="0"/><p>{TRIANGLES}</p></triangles><polylist count="2">
<input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#v" offset="1"/>
<vcount>3 4</vcount><p>0 0 1 0 2 0 0 0 1 0 2 0 3 0</p></polylist></mesh></geometry>
</library_geometries><library_nodes><node id="n"><translate>0 0 1</translate>
<instance_geometry url="#g"/></node></library_nodes><library_visual_scenes><visual_scene id="s">
<node id="a"><rotate>0 0 1 90</rotate>
<matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#g"/><node>
<scale>2 2 2</scale><instance_node url="#n"/></node></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
STL = "solid t\n" + "".join(
    f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    for corners in ("vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n",) * 2
)
LINK = """<link name="{0}"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><collision>
<geometry><sphere radius="0.1"/></geometry></collision></link>
"""
URDF = (
    '<?xml version="1.0" encoding="utf-8"?>\n<robot name="r">\n'
    + "".join(LINK.format(name) for name in ("a", "b", "c", "d"))
    + """<joint name="ab" type="revolute"><origin xyz="0 0 0.15" rpy="0 0 1"/><parent link="a"/>
<child link="b"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
<dynamics damping="0.1" friction="0.1"/></joint>
<joint name="bc" type="continuous"><parent link="b"/><child link="c"/><origin xyz="0 0 0.15"/>
</joint>
<joint name="cd" type="prismatic"><parent link="c"/><child link="d"/><limit lower="0" upper="1"
effort="9" velocity="9"/><mimic joint="ab" multiplier="2"/></joint></robot>
"""
)
SRDF = """<?xml version="1.0"?><robot name="r"><disable_collisions link1="a" link2="c" reason="x"/>
<group_state name="home" group="all"><joint name="ab" value="0.5"/><joint name="bc" value="0.5"/>
<joint name="cd" value="0.1"/></group_state></robot>"""


MJCF = Path(__file__).resolve().parents[1] / "data" / "mjcf"


def binary_stl() -> bytes:
    data = np.zeros(4, dtype=[("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("a", "<u2")])
    points = np.array(POINTS.split(), dtype=float).reshape(4, 3)
    data["corner"] = points[np.array(TRIANGLES.split(), dtype=int).reshape(4, 3)]
    return bytes(80) + np.uint32(4).tobytes() + data.tobytes()


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """One to four changes: a byte, a piece cut, doubled or moved, a number made hostile, an end."""
    out = bytearray(data)
    for _ in range(max(1, int(rng.integers(-1, 5)))):
        if not out:
            break
        at, length = int(rng.integers(len(out))), int(rng.integers(1, 40))
        piece = bytes(out[at : at + length])
        how = int(rng.integers(7))
        if how == 0:
            out[at] = int(rng.integers(256))
        elif how == 1:
            del out[at : at + length]
        elif how == 2:
            out[at:at] = piece * int(rng.integers(1, 30))
        elif how == 3:
            to = int(rng.integers(len(out)))
            out[to:to] = piece
        elif how == 4:
            numbers = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(out)))
            if numbers:
                chosen = numbers[int(rng.integers(len(numbers)))]
                new = HOSTILE[int(rng.integers(len(HOSTILE)))].encode()
                out[chosen.start() : chosen.end()] = new
        elif how == 5 and rng.integers(4) == 0:
            del out[at:]
        else:
            out[at : at + 4] = rng.bytes(4)
    return bytes(out)


def mutate_arrays(arrays: dict[str, Any], rng: np.random.Generator) -> bytes:
    """A .npz of these arrays with one to three of them changed in an entry, a shape or a type."""
    changed = dict(arrays)
    for _ in range(int(rng.integers(1, 4))):
        name = sorted(changed)[int(rng.integers(len(changed)))]
        array, how = np.array(changed[name]), int(rng.integers(6))
        if how < 3 and array.size:
            values = (2**31 - 1, -(2**31), -1, 0, 1, 7) if array.dtype.kind == "i" else FLOATS
            value = values[int(rng.integers(len(values)))]
            with np.errstate(all="ignore"):
                array.flat[int(rng.integers(array.size))] = np.array(value).astype(array.dtype)
            changed[name] = array
        elif how == 3:
            changed[name] = array.ravel()[: array.size // 2]
        elif how == 4:
            changed[name] = array.astype([np.float32, np.int64, np.complex128][rng.integers(3)])
        else:
            del changed[name]
            if not changed:
                break
    file = io.BytesIO()
    np.savez(file, **changed)
    return file.getvalue()


SCENE_HEADER = 20
"""Bytes before the first part of a saved scene; the last eight of them are its size."""
FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, 1e-320)


def checksum(data: bytes) -> bytes:
    """FNV-1a, as a saved state ends with."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value.to_bytes(8, "little")


class Mutants:
    """How a mutant of each kind is made and read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        sim = stiction.Simulator(stiction.load("box-stack(2)"))
        state = sim.initial_state()
        sim.run(state, steps=5)
        sim.save_problem(folder / "p.npz")
        with np.load(folder / "p.npz") as data:
            self.arrays = dict(data)
        self.archive = (folder / "p.npz").read_bytes()
        self.sim, self.saved = sim, state.save()
        (folder / "r.urdf").write_text(URDF)
        scenes = (stiction.load(folder / "r.urdf"), sim.scene, stiction.load("four-bar"))
        self.scenes = [scene.to_bytes() for scene in scenes]

    def problem(self, rng: np.random.Generator) -> None:
        path = self.folder / "mutant.npz"
        if rng.integers(2):
            path.write_bytes(mutate_arrays(self.arrays, rng))
        else:
            path.write_bytes(mutate_bytes(self.archive, rng))
        start = stiction.load_warm_start(path)
        stiction.solve(stiction.load_problem(path), warm_start=start, max_factorisations=20)

    def obj(self, rng: np.random.Generator) -> None:
        self.mesh("obj", OBJ.encode(), rng)

    def stl(self, rng: np.random.Generator) -> None:
        self.mesh("stl", STL.encode() if rng.integers(2) else binary_stl(), rng)

    def dae(self, rng: np.random.Generator) -> None:
        self.mesh("dae", DAE.encode(), rng)

    def ply(self, rng: np.random.Generator) -> None:
        self.mesh("ply", b"ply\nformat ascii 1.0\nelement vertex 3\nend_header\n0 0 0\n", rng)

    def mesh(self, ending: str, data: bytes, rng: np.random.Generator) -> None:
        path = self.folder / f"mutant.{ending}"
        path.write_bytes(mutate_bytes(data, rng))
        vertices, triangles = stiction.load_mesh(path)
        assert np.all(np.isfinite(vertices)) and triangles.min() >= 0
        assert triangles.max() < len(vertices)

    def urdf(self, rng: np.random.Generator) -> None:
        path = self.folder / "mutant.urdf"
        path.write_bytes(mutate_bytes(URDF.encode(), rng))
        stiction.load(path)

    def srdf(self, rng: np.random.Generator) -> None:
        path = self.folder / "mutant.srdf"
        path.write_bytes(mutate_bytes(SRDF.encode(), rng))
        stiction.load(self.folder / "r.urdf", srdf=path)

    def mjcf(self, rng: np.random.Generator) -> None:
        """With a step, which must be whole unless the numbers are not."""
        files = sorted(MJCF.glob("*.xml"))
        path = self.folder / "mutant.xml"
        path.write_bytes(mutate_bytes(files[rng.integers(len(files))].read_bytes(), rng))
        loaded = stiction.load_mjcf(path)
        loaded.visuals()
        sim = stiction.Simulator(loaded.scene)
        sim.step(sim.initial_state(), loaded.hold())

    def scene(self, rng: np.random.Generator) -> None:
        """Most of them with a size and a checksum that fit; with a step, as above."""
        data = mutate_bytes(self.scenes[int(rng.integers(len(self.scenes)))], rng)
        if rng.integers(4) and len(data) > SCENE_HEADER + 8:
            size = len(data).to_bytes(8, "little")
            data = data[: SCENE_HEADER - 8] + size + data[SCENE_HEADER:-8]
            data += checksum(data)
        path = self.folder / "mutant.stiction"
        path.write_bytes(data)
        sim = stiction.Simulator(stiction.load(path))
        sim.step(sim.initial_state())

    def state(self, rng: np.random.Generator) -> None:
        """Half of them with a checksum that fits."""
        data = mutate_bytes(self.saved, rng)
        if rng.integers(2):
            data = data[:-8] + checksum(data[:-8])
        state = stiction.State(data)
        self.sim.step(state)


KINDS = ("problem", "obj", "stl", "dae", "ply", "urdf", "srdf", "mjcf", "scene", "state")


def read_mutants(kind: str, first: int, count: int) -> None:
    import warnings

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        read: Callable[[np.random.Generator], None] = getattr(Mutants(Path(folder)), kind)
        for seed in range(first, first + count):
            print(seed, flush=True)
            signal.alarm(SECONDS)
            try:
                read(np.random.default_rng(seed))
                outcomes["accepted"] += 1
            except REFUSALS[kind] as error:
                outcomes["refused"] += 1
                if "\n" in str(error):
                    raise AssertionError(f"more than one line: {error}") from error
    signal.alarm(0)
    print(f"accepted {outcomes['accepted']} refused {outcomes['refused']}")


REFUSALS: dict[str, Any] = dict.fromkeys(KINDS, stiction.StictionError) | {
    "state": (ValueError, stiction.SimulationError),
}

if __name__ == "__main__":
    read_mutants(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
