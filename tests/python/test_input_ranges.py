"""Every number, flag and name that goes in: what cannot be is refused where it is given or, for
arrays that are written in place, by the next step; the message names the field and the value."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import stiction

INF, NAN = float("inf"), float("nan")
HUGE = (INF, -INF, NAN, 1e300, -1e300)
SETTINGS: list[type[Any]] = [stiction.SimulatorSettings, stiction.SolverSettings]


def arm(axis: str = "0 1 0") -> stiction.Scene:
    """A jointed link and a loose body above the ground."""
    scene = stiction.Scene()
    scene.add_robot(
        stiction.load_urdf_string(
            f"""<robot name="arm"><link name="base"/><joint name="elbow" type="revolute">
            <parent link="base"/><child link="fore"/><axis xyz="{axis}"/>
            <limit lower="-1" upper="1" effort="9" velocity="9"/></joint><link name="fore">
            <inertial><mass value="1"/><origin xyz="0.3 0.2 0.1"/>
            <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2"/></inertial>
            </link></robot>""",
            free_flyer=False,
        )
    )
    scene.add_ground()
    scene.add_body("cube", stiction.Box([0.1, 0.1, 0.1]), 2.0)
    return scene


def everything() -> stiction.Scene:
    """A second arm geared to the first, and a pair with a material of its own."""
    scene = arm()
    scene.add_robot(arm().robots[0].description, robot_name="other")
    scene.add_gear("teeth", "elbow", "other/elbow", 1.0)
    scene.set_pair_material("ground", "cube", stiction.Material())
    return scene


def refused(error: type[Exception], text: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()


# --- parameters ---------------------------------------------------------------------------

ARRAYS = [
    name
    for name, member in vars(stiction.Parameters).items()
    if getattr(member, "fset", None) is not None
]
ITEMS = {
    "inertia": "body",
    "placement": "body",
    "base": "tree",
    "geometry_placement": "geometry",
    "closure_X_A": "closure",
    "closure_X_B": "closure",
}
MAY_BE = {  # without an end, or out of the way of everything
    "effort_limit": {INF, 1e300},
    "stiffness": {INF},
    "pair_stiffness": {INF},
    "lower": {-INF, -1e300, 1e300},  # below upper
    "upper": {INF, 1e300, -1e300},  # above lower
}


def test_the_arrays_of_parameters_are_all_here() -> None:
    assert {"mass", "axis", "gravity", "lower", "dry_friction", "stiffness"} <= set(ARRAYS)
    assert len(ARRAYS) >= 15
    setters = {name for name in vars(stiction.Parameters) if name.startswith("set_")}
    assert setters == {f"set_{name}" for name in ITEMS}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("value", HUGE)
def test_a_parameter_out_of_range_is_named(name: str, value: float) -> None:
    """Each entry of each array, written in place: the next step tells which."""
    sim = stiction.Simulator(everything())
    state, good = sim.initial_state(), sim.parameters.copy()
    assert getattr(good, name).size > 0
    for index in np.ndindex(getattr(good, name).shape):
        if name in ("lower", "upper") and good.upper[index] < INF and abs(value) == 1e300:
            continue  # on one side of the other end, see the test of limits
        getattr(sim.parameters, name)[index] = value
        if value in MAY_BE.get(name, set()):
            assert sim.step(state.copy()).status != "not_finite"
        else:
            refused(ValueError, f"parameters.{name}[{index[0]}]", lambda: sim.step(state))
            refused(ValueError, f"{value:g}", sim.parameters.validate)
        sim.parameters = good


@pytest.mark.parametrize("name", ARRAYS)
def test_what_does_not_fit_an_array_is_named(name: str) -> None:
    parameters = everything().parameters
    array = getattr(parameters, name)
    before, shape = array.copy(), str(array.shape)
    longer = np.zeros((array.shape[0] + 3, *array.shape[1:]))
    for value, found in [
        (longer, f"has shape {longer.shape}: must be {shape}"),
        (np.zeros((2, *array.shape)), f"has shape {(2, *array.shape)}: must be {shape}"),
        ("soft", f"= 'soft': must be an array of numbers of shape {shape}"),
        (None, f"= None: must be an array of shape {shape}"),
        ([1.0, {}], f"= [1.0, {{}}]: must be an array of numbers of shape {shape}"),
        (array + 1j, f"must be an array of numbers of shape {shape}"),
    ]:
        text = f"parameters.{name} {found}" if found[0] != "m" else f"parameters.{name} = "
        refused(ValueError, text, partial(setattr, parameters, name, value))
        refused(ValueError, found, partial(setattr, parameters, name, value))
        np.testing.assert_array_equal(array, before)
    if name not in ("gravity", "axis"):
        setattr(parameters, name, 0.5)  # one number for all
        assert np.all(array == 0.5)
        setattr(parameters, name, before.tolist())
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("name", ITEMS)
def test_what_does_not_fit_an_item_is_named(name: str) -> None:
    scene = everything()
    scene.add_weld("glue", "fore", np.eye(4), "cube", np.eye(4))
    parameters, what = scene.parameters, ITEMS[name]
    get, change = getattr(parameters, name), getattr(parameters, f"set_{name}")
    count = parameters.to_dict()[name].shape[0]
    good = np.eye(3) if name == "inertia" else np.eye(4)
    assert count > 0
    for index in (-1, count):
        text = f"parameters.{name}: {what} = {index}: must be in [0, {count})"
        refused(ValueError, text, partial(get, index))
        refused(ValueError, text, partial(change, index, good))
    for value in (2.0 * good + good[::-1], np.eye(2), NAN * good, "x"):
        if name != "inertia" or np.size(value) != 9 or np.isnan(value).any():
            refused(
                ValueError, f"parameters.{name}({count - 1})", partial(change, count - 1, value)
            )
    if name == "inertia":
        change(0, -good)
        refused(ValueError, "parameters.inertia(0) diagonal = -1: must be", parameters.validate)
    else:
        good[0, 3] = 1e300
        change(count - 1, good)
        text = f"parameters.{name}({count - 1}) position[0] = 1e+300: must be"
        refused(ValueError, text, parameters.validate)


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e300])
def test_masses_without_inertia_are_named(value: float) -> None:
    """A body that nothing else moves needs a mass; its number is told, not a step that failed."""
    scene = arm()
    refused(ValueError, ".mass = ", lambda: scene.add_body("b", stiction.Sphere(0.1), value))
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    sim.parameters.mass[1] = value
    refused(ValueError, "parameters.mass[1] = ", lambda: sim.step(state))
    sim.parameters.mass[1] = 1.0
    sim.parameters.mass[0] = 0.0  # the joint still moves the moments of inertia
    assert sim.step(state).status == "ok"
    sim.parameters.set_inertia(0, np.zeros((3, 3)))
    refused(ValueError, 'joint "elbow" of body "fore" moves no inertia', lambda: sim.step(state))
    refused(ValueError, "moves no inertia", lambda: setattr(sim, "parameters", sim.parameters))
    sim.parameters.armature[0] = 1e-3
    assert sim.step(state).status == "ok"


def test_limits_name_the_end_that_is_wrong() -> None:
    parameters = arm().parameters
    for name, value in (("upper", NAN), ("lower", NAN), ("lower", INF), ("upper", -INF)):
        good = getattr(parameters, name)[0]
        getattr(parameters, name)[0] = value
        refused(ValueError, f"parameters.{name}[0] = {value}", parameters.validate)
        getattr(parameters, name)[0] = good
    parameters.lower[0] = 3.0
    refused(ValueError, "parameters.lower[0] = 3: must be at most upper, 1", parameters.validate)


# --- axes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loaded", ["1 0 0", "0 1 0", "0 0 1", "0 0.6 0.8", "0 -1 0"])
def test_axes_are_as_loaded_or_unit(loaded: str) -> None:
    """An axis of x, y or z stays, another turns to any unit vector, and the motion follows it."""
    wanted = np.array([float(x) for x in loaded.split()])
    general = loaded in ("0 0.6 0.8", "0 -1 0")
    scene = arm(loaded)
    before = scene.parameters.axis.copy()
    np.testing.assert_allclose(before[0], wanted, atol=1e-15)
    bad = [wanted * 2, wanted * 0, wanted * 1e300, [0, 6, 8], [NAN, 0, 1], [INF, 0, 0]]
    others: list[Any] = [[0.0, 0.8, 0.6], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]
    others = [axis for axis in others if not np.allclose(axis, wanted)]
    for axis in bad if general else [*bad, *others]:
        refused(ValueError, "parameters.axis[0] = [", partial(assign, scene, axis))
        assert (scene.parameters.axis == before).all()
        sim = stiction.Simulator(scene)
        sim.parameters.axis[0] = axis
        refused(ValueError, "parameters.axis[0] = [", partial(sim.step, sim.initial_state()))
        refused(ValueError, "parameters.axis[0] = [", sim.parameters.validate)
    for axis in others if general else []:
        assign(scene, axis)
        sim = stiction.Simulator(scene)
        state = sim.initial_state()
        state.q[0], turn = 0.5, np.linalg.norm(axis)
        pose = sim.body_poses(state)[0].rotation
        np.testing.assert_allclose(pose @ axis, axis, atol=1e-14)
        assert turn == 1.0 and np.trace(pose) == pytest.approx(1 + 2 * np.cos(0.5))


def assign(scene: stiction.Scene, axis: Any) -> None:
    scene.parameters.axis = np.vstack([axis, scene.parameters.axis[1:]])


# --- settings -----------------------------------------------------------------------------

FREE_ABOVE = {  # "never" or "no bound" is a wish that can be met
    "recovery_speed",
    "recovery_angular_speed",
    "restitution_threshold",
    "limit_margin",
    "sleep_time",
    "max_work",
    "time_budget",
}


def settings_of(kind: type, wanted: type) -> list[tuple[type, str]]:
    return [
        (kind, name)
        for name, member in vars(kind).items()
        if getattr(member, "fset", None) and type(getattr(kind(), name)) is wanted
    ]


NUMBERS = [pair for kind in SETTINGS for pair in settings_of(kind, float)]
FLAGS = [pair for kind in SETTINGS for pair in settings_of(kind, bool)]


def test_the_settings_are_all_here() -> None:
    names, flags = {name for _, name in NUMBERS}, {name for _, name in FLAGS}
    assert {"dt", "tolerance", "margin", "proximal"} <= names and names >= FREE_ABOVE
    assert {"project_closures", "sleeping", "per_point_stiffness"} <= flags


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_a_setting_that_is_no_number_is_named(kind: type[Any], name: str) -> None:
    for value in (NAN, INF, -INF):
        settings = kind()
        if name == "accuracy":
            settings.integrator = "exponential"
        setattr(settings, name, value)
        if (value == INF and name in FREE_ABOVE) or (
            value == -INF and name == "restitution_threshold"
        ):
            settings.validate()
        else:
            refused(ValueError, f"{value}: must be", settings.validate)
            refused(ValueError, name, settings.validate)


@pytest.mark.parametrize(("kind", "name"), FLAGS)
def test_a_flag_is_true_or_false(kind: type[Any], name: str) -> None:
    settings = kind()
    for value in (None, 0, 1, "no", "", [], 0.5, np.array([True])):
        refused(TypeError, f"{name} = ", lambda value=value: setattr(settings, name, value))
        if kind is stiction.SimulatorSettings:
            call = {name: value}
            refused(TypeError, f"{name} = ", lambda call=call: stiction.Simulator(arm(), **call))
    for flag in (True, np.bool_(True), False, np.bool_(False)):
        setattr(settings, name, flag)
        assert getattr(settings, name) is bool(flag)


def test_flags_of_loading_and_solving() -> None:
    refused(TypeError, "strict = 1", lambda: stiction.load_urdf_string("", strict=1))


# --- scenes, states, controls -------------------------------------------------------------


@pytest.mark.parametrize("value", HUGE)
def test_gears_gains_and_placements(value: float) -> None:
    scene = stiction.load("four-bar")
    a, b = (joint.v_index for joint in scene.joints[:2])
    for ratio, offset in ((value, 0.0), (1.0, value)):
        text = f'gear "g".{"ratio" if offset == 0.0 else "offset"} = '
        refused(ValueError, text, lambda r=ratio, o=offset: scene.add_gear("g", a, b, r, o))
    for gains in ((value, 0.0), (0.0, value)):
        refused(ValueError, "kp = ", lambda gains=gains: scene.set_gains(a, *gains))
    if not np.isfinite(value):
        at = np.eye(4)
        at[0, 3] = value
        refused(ValueError, "not finite", lambda: scene.add_body("b", stiction.Sphere(1), 1.0, at))


def test_configurations_are_checked_where_they_are_named() -> None:
    scene = arm()
    for index in range(scene.nq):
        for value in (NAN, INF):
            q = scene.default_q.copy()
            q[index] = value
            text = f'set_configuration("up").q[{index}] = {value}: must be finite'
            refused(ValueError, text, lambda q=q: scene.set_configuration("up", q))
    q = scene.default_q * 2
    q[4:] = [0, 0, 0, 2]
    refused(ValueError, "normalise it", lambda: scene.set_configuration("up", q))
    assert "up" not in scene.configurations
    scene.set_configuration("up", scene.default_q)


def test_the_time_of_a_state_is_finite() -> None:
    sim = stiction.Simulator(arm())
    state = sim.initial_state()
    for value in (NAN, INF, -INF):
        refused(ValueError, f"state.time = {value}", lambda v=value: setattr(state, "time", v))
    assert state.time == 0.0


def test_wrenches_are_of_bodies_that_move() -> None:
    sim = stiction.Simulator(arm())
    control = sim.hold()
    for body in (-1, sim.scene.num_bodies, -7):
        text = f"body = {body}: must be in [0, 2)"
        refused(ValueError, text, lambda body=body: sim.add_wrench(control, body, [0, 0, 1.0]))
    assert control.wrenches == ()
    sim.add_wrench(control, 1, [0, 0, 1.0])
    sim.step(sim.initial_state(), control)


@pytest.mark.parametrize("name", ["", "world", "a\0b", "\0"])
def test_names_that_mean_something_else(name: str) -> None:
    scene = arm()
    ball = stiction.Sphere(0.1)
    refused(ValueError, "body_name", lambda: scene.add_body(name, ball, 1.0))
    if name != "world":
        refused(ValueError, "geometry_name", lambda: scene.add_geometry(name, 0, ball))
    assert scene.num_bodies == 2 and len(scene.geometries) == 2
    scene.add_geometry("world", "world", ball)
    assert scene.geometries[-1].body == -1


def test_a_link_of_a_robot_has_a_name_of_its_own() -> None:
    robot = stiction.load_urdf_string(
        """<robot name="r"><link name="world"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""
    )
    scene = stiction.Scene()
    scene.add_robot(robot)
    assert scene.body_names == ["r/world"] and scene.joint_names == ["root_joint"]
    scene.add_geometry("g", "world", stiction.Sphere(0.1))
    scene.add_geometry("h", "r/world", stiction.Sphere(0.1))
    assert [g.body for g in scene.geometries] == [-1, 0]
    scene = stiction.Scene()
    scene.add_body("fore", stiction.Sphere(0.1), 1.0)
    refused(ValueError, 'link "fore" is taken', lambda: scene.add_robot(elbow()))
    assert scene.num_bodies == 1


def elbow() -> stiction.Robot:
    return stiction.load_urdf_string(
        """<robot name="arm"><link name="fore"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""
    )


# --- surfaces -----------------------------------------------------------------------------


def test_a_height_field_has_an_end() -> None:
    calls = []

    def flat(x: Any, y: Any) -> Any:
        calls.append(x.size)
        return x * 0

    for size, cell in (([1e6, 1e6], 1e-3), ([1e300, 1.0], 1e-3), ([4e3, 4e3], 1.0)):
        refused(ValueError, "cells: must be at most 1e+07", lambda s=size, c=cell: (
            stiction.height_field(flat, s, c)
        ))  # fmt: skip
    assert calls == []
    assert stiction.height_field(flat, [1.0, 1.0], 0.1) is not None and calls == [121]


def test_a_flat_surface_has_no_inside() -> None:
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    for triangles in ([[0, 1, 2]], [[0, 1, 2], [1, 3, 2]]):
        refused(ValueError, "decompose: the surface has no inside", lambda t=triangles: (
            stiction.decompose(corners, t)
        ))  # fmt: skip
