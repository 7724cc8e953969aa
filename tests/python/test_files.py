"""Files as they come: other encodings, devices, damaged archives; every refusal is one line."""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest
import stiction
from stiction.doctor import examine
from stiction_lab.bench.robots import example_robots

LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""


def refused(function: Callable[[], Any], *words: str) -> None:
    with pytest.raises(stiction.StictionError) as caught:
        function()
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text


def urdf(name: str, prolog: str, encoding: str) -> bytes:
    return f'{prolog}\n<robot name="r">\n{LINK.format(name)}</robot>'.encode(encoding)


# --- encodings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("iso-8859-1", "größe"), ("windows-1252", "µ–€"), ("utf-8", "関節"), ("us-ascii", "base")],
)
def test_declared_encodings_are_read(tmp_path: Path, encoding: str, name: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(urdf(name, f'<?xml version="1.0" encoding="{encoding}"?>', encoding))
    assert stiction.load_urdf(path).body_names == [name]


def test_all_characters_of_8_bit_encodings() -> None:
    for encoding in ("iso-8859-1", "windows-1252"):
        for code in range(0xA0, 0x100) if encoding == "iso-8859-1" else range(0x80, 0x100):
            try:
                name = "a" + bytes([code]).decode(encoding)
            except UnicodeDecodeError:
                continue
            text = urdf(name, f"<?xml version='1.0' encoding='{encoding}'?>", encoding)
            assert robot_of(text).body_names == [name]


def robot_of(text: bytes) -> stiction.Robot:
    path = Path(os.environ["PYTEST_TMP_URDF"])
    path.write_bytes(text)
    return stiction.load_urdf(path)


@pytest.fixture(autouse=True)
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_TMP_URDF", str(tmp_path / "any.urdf"))


def test_bytes_that_are_not_what_is_declared_have_a_line() -> None:
    bad = urdf("größe", "", "iso-8859-1")
    refused(lambda: robot_of(bad), "any.urdf:3: byte 0xF6 is not UTF-8; declare the file's")
    for prolog, words in [
        ('<?xml version="1.0" encoding="us-ascii"?>', "any.urdf:3: byte 0xF6 is not US-ASCII"),
        ('<?xml version="1.0" encoding="EBCDIC"?>', "any.urdf:1: encoding 'ebcdic' is not read"),
    ]:
        refused(lambda p=prolog: robot_of(urdf("größe", p, "iso-8859-1")), words)  # type: ignore[misc]
    utf8 = urdf("a", "", "utf-8")
    for sequence in (b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\x80"):
        refused(lambda s=sequence: robot_of(utf8.replace(b'"a"', b'"' + s + b'"')), "is not UTF-8")  # type: ignore[misc]


# --- what is no file, and too much of one -----------------------------------------------


def readers(path: Path | str) -> list[Callable[[], Any]]:
    sound = Path(os.environ["PYTEST_TMP_URDF"])
    sound.write_bytes(urdf("a", "", "utf-8"))
    mesh = str(path).replace(".x", ".stl")
    return [
        lambda: stiction.load_urdf(path),
        lambda: stiction.load_urdf(sound, srdf=path),
        lambda: stiction.load_mesh(mesh),
        lambda: stiction.load_problem(path),
        lambda: stiction.load_warm_start(path),
    ]


def test_devices_pipes_folders_and_huge_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(1 << 40)
    for name in ("pipe", "folder", "/dev/zero", "huge", "nothing"):
        link = tmp_path / f"{Path(name).name}.x"
        for path in (link, link.with_suffix(".stl")):
            path.symlink_to(name if name.startswith("/") else tmp_path / name)
        for read in readers(link):
            refused(read, link.stem)
    for read in readers(f"{tmp_path}/a\0.x"):
        refused(read, "the path holds a zero byte")


def test_chains_are_bounded() -> None:
    def chain(links: int) -> bytes:
        text = "".join(LINK.format(f"l{i}") for i in range(links))
        joint = '<joint name="j{0}" type="fixed"><parent link="l{1}"/><child link="l{0}"/></joint>'
        text += "".join(joint.format(i, i - 1) for i in range(1, links))
        return f'<robot name="r">{text}</robot>'.encode()

    assert robot_of(chain(1001)).nv == 6
    refused(lambda: robot_of(chain(1002)), "link 'l1001' is the end of a chain of more than 1000")
    refused(lambda: robot_of(chain(60_000)), "is the end of a chain")


# --- contact problems -------------------------------------------------------------------


@pytest.fixture
def arrays(tmp_path: Path) -> dict[str, Any]:
    sim = stiction.Simulator(stiction.load("box-stack(3)"))
    sim.step(sim.initial_state())
    sim.save_problem(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as data:
        return dict(data)


def changed(array: Any, at: Any, value: Any) -> Any:
    out = np.array(array)
    out[at] = value
    return out


@pytest.mark.parametrize("value", [2**31 - 1, 2**31 - 2, 2**30, -1, -(2**31)])
@pytest.mark.parametrize("field", ["tree_sides", "run_counts", "run_columns", "tree_dofs"])
def test_integers_of_any_size_name_their_field(
    arrays: dict[str, Any], tmp_path: Path, field: str, value: int
) -> None:
    for index in np.ndindex(arrays[field].shape):
        if arrays[field][index] == value:  # a loose body has no dofs: -1
            continue
        np.savez(tmp_path / "w.npz", **(arrays | {field: changed(arrays[field], index, value)}))
        words = field.replace("tree_", "").split("_")[0]
        refused(lambda: stiction.load_problem(tmp_path / "w.npz"), "w.npz: ", words)


def test_sets_must_fit_their_rows(arrays: dict[str, Any], tmp_path: Path) -> None:
    rows = len(arrays["g"])
    for field, value, words in [
        ("offsets", np.full_like(arrays["offsets"], 7), "offsets must rise from 0 to"),
        ("offsets", arrays["offsets"] + 1, "offsets must rise from 0 to"),
        ("offsets", arrays["offsets"][:-1], "offsets has shape"),
        ("kinds", arrays["kinds"] - 4, "kinds has an entry outside"),
        ("kinds", arrays["kinds"] + 4, "kinds has 4, the codes are 0 to 3"),
        ("kinds", arrays["kinds"] + 1, "offsets give set 0 (non_negative) 3 rows"),
        ("kinds", arrays["kinds"].astype(float), "kinds holds float64, not whole numbers"),
        ("mu", arrays["mu"][1:], "mu has shape"),
        ("mu", changed(arrays["mu"], 0, -1), "sets[0].mu = -1: must be"),
        ("bounds", changed(arrays["bounds"], (0, 0), np.nan), "bounds has a NaN"),
        ("A", changed(arrays["A"], (0, 0), np.inf), "A has an entry that is not finite"),
        ("A", arrays["A"][:3], f"A is 3 x {rows}, g has {rows} entries"),
        ("A", arrays["A"].ravel(), "A has 1 dimensions, not 2"),
        ("R", arrays["R"][1:], "R has"),
        ("version", np.array([3, 3]), "version is None"),
        ("resting", changed(arrays["resting"], 0, 2), "resting: must be 0 or 1"),
    ]:
        np.savez(tmp_path / "w.npz", **(arrays | {field: value}))
        refused(lambda: stiction.load_problem(tmp_path / "w.npz"), "w.npz: ", words)
    for field in arrays:
        if field in (
            "arm",
            "resting",
            "tree_sides",
            "velocity_floor",
            "velocity_scale",
            "warm_start",
        ):  # may be absent
            continue
        np.savez(tmp_path / "w.npz", **{k: v for k, v in arrays.items() if k != field})
        refused(lambda: stiction.load_problem(tmp_path / "w.npz"), field)


def test_damaged_archives_are_no_whole_problems(arrays: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    whole = file.getvalue()
    for data in (b"", b"PK", whole[: len(whole) // 2], whole[100:]):
        path.write_bytes(data)
        refused(lambda: stiction.load_problem(path), "w.npz")
    for name, member, words in [
        ("bomb", b"\x93NUMPY\x01\x00" + header("(1000000000,)"), "has 128 bytes, its header says"),
        ("object", b"\x93NUMPY\x01\x00" + header("()", "|O"), "is no array"),
        ("text", b"hello", "is no array"),
        ("code", b"\x93NUMPY\x01\x00" + header("(__import__('os').getpid(),)"), "is no array"),
    ]:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}.npy", member)
        refused(lambda: stiction.load_problem(path), "w.npz", words)


def header(shape: str, dtype: str = "<f8") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(118)
    return len(text).to_bytes(2, "little") + text.encode()


def test_an_archive_that_unpacks_to_more_than_allowed_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stiction import npz_file

    np.savez_compressed(tmp_path / "w.npz", A=np.zeros((2000, 2000)))
    assert (tmp_path / "w.npz").stat().st_size < 1_000_000
    monkeypatch.setattr(npz_file, "LARGEST", 10_000_000)
    refused(lambda: stiction.load_problem(tmp_path / "w.npz"), "unpacks to more than 10000000")


# --- paths ------------------------------------------------------------------------------

LOADERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "load urdf": (".urdf", stiction.load),
    "load mjcf": (".xml", stiction.load),
    "load scene": (".stiction", stiction.load),
    "load_urdf": (".urdf", stiction.load_urdf),
    "load_mjcf": (".xml", stiction.load_mjcf),
    "part": (".xml", lambda path: stiction.load_mjcf([stiction.MjcfPart(path, "a/")])),
    "srdf": (".srdf", lambda p: stiction.load_urdf_string(PLAIN, srdf=p)),
    "Scene.load": (".stiction", stiction.Scene.load),
    "load_mesh": (".stl", stiction.load_mesh),
    "load_problem": (".npz", stiction.load_problem),
    "load_warm_start": (".npz", stiction.load_warm_start),
    "Policy.load": (".npz", lambda path: policy().load(path)),
    "doctor": (".urdf", examine),
}
PLAIN = f"<robot name='r'>{LINK.format('l')}</robot>"


def policy() -> Any:
    from stiction.envs import Policy

    return Policy


@pytest.mark.parametrize("loader", LOADERS)
def test_paths_that_cannot_be_read_are_refused(loader: str, tmp_path: Path) -> None:
    """A name of 5000 characters, a folder, and a file whose bytes the system does not give."""
    ending, load = LOADERS[loader]
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    unreadable = tmp_path / f"mem{ending}"
    unreadable.symlink_to("/proc/self/mem")
    for path in ("x" * 5000 + ending, str(tmp_path / ("y" * 300 + ending)), str(folder)):
        with pytest.raises(stiction.StictionError):
            load(path)
    with pytest.raises(stiction.StictionError):
        load(str(unreadable))


def test_a_long_name_is_no_scene() -> None:
    with pytest.raises(ValueError, match="no scene"):
        stiction.load("x" * 5000)


def test_a_stored_policy_is_read_as_carefully_as_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        count = 300_000_000 // 8
        with archive.open("g.npy", "w", force_zip64=True) as member:
            member.write(b"\x93NUMPY\x01\x00" + header(f"({count},)"))
            for _ in range(count * 8 // 10_000_000):
                member.write(b"\0" * 10_000_000)
    refused(lambda: policy().load(path), "p.npz", "unpacks to more than")
    weight, bias = np.zeros((2, 3), np.float32), np.zeros(2, np.float32)
    whole = {"mean": np.zeros(3), "scale": np.ones(3), "weight0": weight, "bias0": bias}
    np.savez(path, **whole)
    policy().load(path)
    for field, value, words in [
        ("scale", None, "scale is missing"),
        ("scale", np.ones(4), "scale has 4 entries: must have 3"),
        ("mean", np.array([np.nan] * 3), "mean has an entry that is not finite"),
        ("weight0", np.zeros((2, 4)), "layer 0 has weights (2, 4)"),
        ("bias0", np.array(["a", "b"]), "p.npz"),
    ]:
        changed = {k: v for k, v in {**whole, field: value}.items() if v is not None}
        np.savez(path, **changed)
        refused(lambda: policy().load(path), "p.npz", words)
    path.write_bytes(path.read_bytes()[:200])
    refused(lambda: policy().load(path), "p.npz is no whole policy")


# --- meshes -----------------------------------------------------------------------------


def moments_of(vertices: Any, triangles: Any) -> Any:
    """Count, area, volume, and the first and second moments of area of a surface."""
    a, b, c = np.moveaxis(np.asarray(vertices)[np.asarray(triangles)], 1, 0)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    middle = (a + b + c) / 3.0
    second = np.einsum("t,ti,tj->ij", area, middle, middle)
    volume = np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0
    return np.concatenate([[len(area), area.sum(), volume], area @ middle, second.ravel()])


def test_meshes_are_those_that_coal_reads() -> None:
    """Every collision and visual mesh up to 50 kB of the robots that Coal reads, too."""
    folder = example_robots()[0].parents[2]
    seen = dict.fromkeys(("stl", "obj", "dae"), 0)
    for path in sorted(folder.rglob("*")):
        ending = path.suffix.lower()[1:]
        if ending not in seen or path.stat().st_size > 50_000 or seen[ending] >= 60:
            continue
        other = coal.MeshLoader(coal.BV_AABB).load(str(path), np.ones(3))
        theirs = [other.tri_indices(i) for i in range(other.num_tris)]
        used = {t[k] for t in theirs for k in range(3)}
        if len(used) < len(other.vertices()):  # it mixes up the parts of several materials
            continue
        vertices, triangles = stiction.load_mesh(path)
        wanted = moments_of(other.vertices(), [[t[0], t[1], t[2]] for t in theirs])
        got, scale = moments_of(vertices, triangles), np.abs(wanted).max() / len(theirs)
        assert got[0] == wanted[0], path
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6 * scale, err_msg=str(path))
        seen[ending] += 1
    assert min(seen.values()) >= 15, seen


def test_ply_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "c.ply"
    path.write_bytes(b"ply\nformat ascii 1.0\nelement vertex 12\n")
    refused(lambda: stiction.load_mesh(path), "from STL, OBJ and DAE files, not from '.ply'; conv")
    robot = urdf("a", "", "utf-8").replace(
        b"</link>", b'<collision><geometry><mesh filename="c.ply"/></geometry></collision></link>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(lambda: robot_of(robot), "any.urdf:4: link 'a': collision mesh 'c.ply'", "convert")


def test_zero_bytes_in_a_path_are_refused(tmp_path: Path) -> None:
    """By whatever reads or writes; the message shows the whole path, and nothing is written."""
    from stiction.record import Recorder
    from stiction.replay import open_replay, write_replay

    sim = stiction.Simulator(stiction.load("ball-drop"))
    state, recorder = sim.initial_state(), Recorder(sim)
    sim.step(state)
    recorder.capture(state)
    sound = tmp_path / "sound.urdf"
    sound.write_bytes(urdf("a", "", "utf-8"))
    calls: list[Callable[[str], Any]] = [
        stiction.load,
        stiction.load_urdf,
        lambda path: stiction.load_urdf(sound, srdf=path),
        lambda path: stiction.load_urdf(sound, package_dirs=[path]),
        stiction.load_mesh,
        stiction.load_problem,
        stiction.load_warm_start,
        lambda path: stiction.save_problem(path, sim.problem()),
        sim.save_problem,
        sim.compare(state, solvers="ncp-newton").save,
        lambda path: write_replay(path, recorder.replay()),
        open_replay,
        stiction.set_data_directory,
        stiction.set_robots_directory,
    ]
    before = sorted(tmp_path.iterdir())
    for ending in ("", ".urdf", ".stl", ".npz", ".html"):
        for call in calls:
            path = f"{tmp_path}/a{ending}\0b{ending}"
            refused(
                lambda c=call, p=path: c(p), f"{tmp_path}/a{ending}\\0b{ending}: the path holds"
            )  # type: ignore[misc]
    refused(lambda: stiction.load("solo12\0"), "solo12\\0: the path holds a zero byte")
    assert sorted(tmp_path.iterdir()) == before
    assert stiction.load("solo12").nv == 18, "the folder of the robots is as it was"
