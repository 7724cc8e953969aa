"""Numbers of a scene between steps, from Python: views, dicts, pickles, what follows from sizes."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import stiction

DATA = Path(__file__).parents[1] / "data"


def pose(x: float, y: float, z: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = [x, y, z]
    return X


def scene(radius: float = 0.1, stiffness: float = float("inf")) -> stiction.Scene:
    soft = stiction.Material(friction=0.5, stiffness=stiffness, damping=50.0)
    s = stiction.Scene(name="numbers")
    s.add_ground(soft)
    for k, name in enumerate(("a", "b", "c")):
        s.add_body(name, stiction.Sphere(radius), 1.0, pose(0.5 * k, 0.0, 0.1), soft)
    s.add_point_closure("rope", "a", [0.25, 0, 0], "b", [-0.25, 0, 0])
    s.set_pair_material("ground", "c", stiction.Material(friction=0.2, stiffness=stiffness))
    return s


def numbers(p: stiction.Parameters) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in p.to_dict().items()}


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "exponential"])
@pytest.mark.parametrize("array", ["gravity", "geometry_size", "friction", "pair_friction", "mass"])
def test_a_step_sees_what_a_view_wrote(integrator: str, array: str) -> None:
    soft = scene(stiffness=1e4)
    sim = stiction.Simulator(soft, integrator=integrator, dt=1e-3)
    view = getattr(sim.parameters, array)  # taken before the first step, never again
    state = sim.initial_state()
    state.v[:] = np.tile([0.3, 0.1, 0.0, 0.0, 0.0, 0.0], 3)
    sim.run(state, None, 20)
    assert sim.parameters.version == 0
    for version in (1, 2):
        view *= 1.01
        built = soft.copy()
        getattr(built.parameters, array)[...] = view
        fresh = stiction.Simulator(built, integrator=integrator, dt=1e-3)
        untouched = stiction.Simulator(soft, integrator=integrator, dt=1e-3)
        other, old = state.copy(), state.copy()
        for _ in range(2):
            sim.step(state)
            fresh.step(other)
            untouched.step(old)
        assert state == other
        assert state != old
        assert sim.parameters.version == version


def bodies(size: float, ground_last: bool) -> stiction.Scene:
    """One of each shape that has sizes, pressed into the ground, two of them into each other."""
    soft = stiction.Material(friction=0.5, stiffness=1e4, damping=50.0)
    s = stiction.Scene(name="sizes")
    if not ground_last:
        s.add_ground(soft)
    for k, shape in enumerate(
        (
            stiction.Sphere(size),
            stiction.Capsule(size, size),
            stiction.Box([size, size, size]),
            stiction.Cylinder(size, size),
            stiction.Cone(size, size),
            stiction.Ellipsoid([size, 2.0 * size, size]),
            stiction.Sphere(size),
        )
    ):
        low = 0.099 if k != 1 else 0.199
        x = 1.0 * k if k < 6 else 0.199
        s.add_body(f"b{k}", shape, 1.0, pose(x, 0.0, low), soft)
    if ground_last:
        s.add_ground(soft)
    return s


@pytest.mark.parametrize("integrator", sorted(stiction.integrators()))
@pytest.mark.parametrize("ground_last", [False, True])  # the ground is shape A of a contact, or B
def test_sizes_are_those_of_the_parameters(integrator: str, ground_last: bool) -> None:
    """Two scenes that differ in the sizes they were built with alone."""
    first = stiction.Simulator(bodies(0.1, ground_last), integrator=integrator, dt=1e-3)
    other = stiction.Simulator(bodies(0.15, ground_last), integrator=integrator, dt=1e-3)
    other.parameters = first.parameters
    state = first.initial_state()
    state.v[:] = np.tile([0.3, 0.1, 0.0, 1.0, 2.0, 3.0], 7)
    same = state.copy()
    for _ in range(10):
        first.step(state)
        other.step(same)
        assert len(first.contacts()) >= 8
    assert state == same


def test_a_bad_number_is_refused_until_it_is_mended() -> None:
    sim = stiction.Simulator(scene())
    state, size = sim.initial_state(), sim.parameters.geometry_size
    size[1, 0] = -0.1
    before = state.copy()
    for _ in range(3):
        with pytest.raises(ValueError, match=r'geometry_size\[1\] of "a": sphere: radius = -0.1'):
            sim.step(state)
    assert state == before and sim.parameters.version == 0
    size[1, 0] = 0.1
    sim.step(state)
    with pytest.raises(ValueError, match=r"parameters.pair_friction\[0\] = -1"):
        sim.parameters.pair_friction[0] = -1.0
        sim.step(state)


def test_closures_gears_and_pairs_have_names_and_numbers() -> None:
    s = scene()
    assert s.closure_names == ["rope"] and s.gear_names == []
    assert s.material_pairs == [(0, 3)]
    assert s.set_pair_material("a", "c", stiction.Material(0.9)) == 1
    assert s.material_pairs == [(0, 3), (1, 3)]
    np.testing.assert_array_equal(s.parameters.pair_friction, [0.2, 0.9])
    s.parameters.pair_friction = [0.3, 0.8]
    assert s.pair_material("c", "ground").friction == 0.3
    X = s.parameters.closure_X_A(0)
    np.testing.assert_array_equal(X.translation, [0.25, 0, 0])
    s.parameters.set_closure_X_A(0, pose(0.2, 0, 0))
    np.testing.assert_array_equal(s.parameters.closure_X_A(0).translation, [0.2, 0, 0])
    with pytest.raises(ValueError, match=r"closure_X_B: closure = 1: must be in \[0, 1\)"):
        s.parameters.set_closure_X_B(1, pose(0, 0, 0))


def test_queries_and_listed_shapes_have_the_sizes_of_the_parameters() -> None:
    s = scene()
    sim = stiction.Simulator(s)
    state = sim.initial_state()
    sim.parameters.geometry_size[3, 0] = 0.07
    down = ([[1.0, 0.0, 1.0]], [[0.0, 0.0, -1.0]])
    assert stiction.ray_cast(s, state, *down).distances[0] == pytest.approx(0.8)
    hits = stiction.ray_cast(s, state, *down, parameters=sim.parameters)
    assert hits.distances[0] == pytest.approx(0.83)
    gaps = {
        (p.geometry_a, p.geometry_b): p.distance for p in s.distances(state, 1.0, sim.parameters)
    }
    assert gaps[0, 3] == pytest.approx(0.03) and gaps[0, 2] == pytest.approx(0.0, abs=1e-12)
    s.parameters.geometry_size[3, 0] = 0.07
    assert s.geometries[3].shape.size[0] == 0.07
    assert sim.scene.geometries[3].shape.size[0] == 0.1


def test_dict_pickle_and_copies_keep_every_bit() -> None:
    p = stiction.Simulator(scene()).parameters
    p.friction[1] = np.nextafter(0.5, 1.0)
    for other in (
        stiction.Parameters.from_dict(p.to_dict()),
        pickle.loads(pickle.dumps(p)),
        copy.copy(p),
        copy.deepcopy(p),
    ):
        assert numbers(other) == numbers(p)
        other.friction[1] = 0.1
        assert p.friction[1] != 0.1
    sim = stiction.Simulator(scene())
    sim.parameters = pickle.loads(pickle.dumps(p))
    assert numbers(sim.parameters) == numbers(p)


def test_a_dict_that_does_not_fit_is_refused() -> None:
    arrays = stiction.Simulator(scene()).parameters.to_dict()
    assert len(arrays) == 28

    def refused(change: dict[str, object], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            stiction.Parameters.from_dict(arrays | change)

    refused({"mass": arrays["mass"][:-1]}, '"placement" has 3 entries: must have 2, as "mass"')
    refused({"mass": arrays["mass"] * -1.0}, r"parameters.mass\[0\] = -1")
    refused({"com": np.zeros((3, 2))}, "com")
    refused({"more": np.zeros(1)}, r"has \['more'\], which Parameters do not know")
    refused({"axis_code": np.full(3, 7.0)}, "axis_code has 7")
    with pytest.raises(ValueError, match='lacks "gravity"'):
        stiction.Parameters.from_dict({k: v for k, v in arrays.items() if k != "gravity"})
    other = stiction.Parameters.from_dict(arrays | {"pair_material": np.zeros((0, 10))})
    sim = stiction.Simulator(scene())
    with pytest.raises(ValueError, match="another scene: pair_material has 0 entries, this one 1"):
        sim.parameters = other


def test_a_view_taken_before_a_closure_was_added_is_none_of_the_scene() -> None:
    s = scene()
    ratio, mass = s.parameters.gear_ratio, s.parameters.mass
    s.add_weld("glue", "b", pose(0, 0, 0), "c", pose(0, 0, 0))
    mass[0] = 7.0
    assert ratio.shape == (0,) and s.parameters.mass[0] == 1.0


def test_a_state_saved_before_these_numbers_were_parameters_is_read() -> None:
    s = stiction.Scene(name="stored")
    s.add_ground()
    s.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, pose(0, 0, 0.1))
    s.add_body("lid", stiction.Box([0.08, 0.08, 0.05]), 0.5, pose(0.01, 0, 0.25))
    s.add_body("ball", stiction.Sphere(0.05), 0.2, pose(0.3, 0, 0.05))
    s.add_body("bob", stiction.Cylinder(0.05, 0.05), 0.2, pose(0.3, 0.2, 0.3))
    s.add_point_closure("rope", "ball", [0, 0, 0], "bob", [0, -0.2, -0.25])
    s.add_weld("glue", "bob", np.eye(4), "box", pose(0.3, 0.2, 0.2))
    s.set_pair_material("box", "lid", stiction.Material(friction=0.2))
    saved = (DATA / "state_v5.bin").read_bytes()
    state = stiction.State(saved)
    assert state.save() == saved
    sim = stiction.Simulator(s)
    sim.run(state, None, 20)
    np.testing.assert_allclose(state.q[:3], [0, 0, 0.1], atol=1e-9)
    assert sim.contacts()


def told(sim: stiction.Simulator, state: stiction.State) -> list[bytes]:
    """All that a simulator computes of its last step when it is asked."""
    out = [repr([c.to_dict() for c in sim.contacts()]), repr(sim.balance(state).to_dict())]
    out += [repr(sim.wrench_on(body).to_dict()) for body in sim.scene.body_names]
    shown = sim.snapshot()
    out += [repr([X.homogeneous.tolist() for X in shown.body_poses]), repr(shown.q.tolist())]
    return [text.encode() for text in out]


def hinged(stiffness: float) -> stiction.Scene:
    """A scene() with a leg whose foot stands on the ground."""
    s = scene(stiffness=stiffness)
    leg = stiction.load_urdf_string(
        """<robot name="leg"><link name="base"/><joint name="hip" type="revolute">
        <parent link="base"/><child link="shank"/><axis xyz="0 1 0"/><origin xyz="0 0 0.5"/>
        <limit lower="-1" upper="1" effort="9" velocity="9"/></joint><link name="shank">
        <inertial><mass value="1"/><origin xyz="0.1 0 -0.2"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
        <collision><origin xyz="0.2 0 -0.45"/><geometry><sphere radius="0.0501"/></geometry>
        </collision></link></robot>""",
        free_flyer=False,
    )
    s.add_robot(leg, pose(0.0, 2.0, 0.0))
    return s


VIEWS = [n for n, m in vars(stiction.Parameters).items() if getattr(m, "fset", None) is not None]
SETTERS = [n for n in vars(stiction.Parameters) if n.startswith("set_")]


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "exponential"])
def test_what_is_told_of_a_step_knows_its_numbers_alone(integrator: str) -> None:
    """Whatever is written between a step and its report, and if the next step refuses it."""
    soft = hinged(float("inf") if integrator == "semi-implicit-euler" else 1e4)
    sim = stiction.Simulator(soft, integrator=integrator, dt=1e-3)
    state, p = sim.initial_state(), sim.parameters
    sim.run(state, None, 5)
    good, expected = p.copy(), told(sim, state)
    assert len(sim.contacts()) == 4 and {"mass", "friction", "gravity"} < set(VIEWS)
    assert b"nan" not in b"".join(expected) and np.any(sim.wrench_on("shank").force)

    def same() -> None:
        assert told(sim, state) == expected

    for name in VIEWS:
        for change in (1.25, np.nan):
            getattr(p, name)[...] *= change
            same()
            if np.isnan(change) and getattr(p, name).size:
                with pytest.raises(ValueError, match="nan"):
                    sim.step(state)
                same()
            sim.parameters = good
    for name in SETTERS:
        getattr(p, name)(0, np.diag([2.0, 2.0, 2.0]) if name == "set_inertia" else pose(1, 2, 3))
        same()
        sim.parameters = good
    with pytest.raises(AttributeError, match=r"settings.dt: .* fixed"):
        sim.settings.dt = 1e-2
    p.gravity[:] = [0.0, 0.0, -1.62]
    sim.step(state)
    assert told(sim, state) != expected
