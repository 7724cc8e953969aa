"""For attributes of MJCF that are physics: a file without and with each, and the quantity that it
changes, by element and attribute. `NOT_COMPARED` lists the others."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pinocchio
import stiction

__all__ = ["CHANGES", "NOT_COMPARED", "quantities"]

meeting = attrgetter("friction", "torsional_friction", "rolling_friction")
Files = tuple[str, str, str]  # without, with, and what changes
ARM = """<mujoco>{option}<compiler {compiler}/>{default}<asset>{asset}</asset><worldbody>
  <geom name="floor" type="plane" size="2 2 1" pos="0 0 -.5" {floor}/><site name="w" pos="0 0 1"/>
  <camera name="c" pos="0 -1 0" xyaxes="1 0 0 0 0 1" resolution="20 20" {camera}/>
  <body name="a" {body}>{inertial}<joint name="j" axis="0 1 0" {joint}/>{more}
    <geom name="g" type="capsule" size=".05 .2" pos="0 0 -.2" {geom}/><site name="s" {site}/>
    <body name="b" pos=".2 0 -.3" {child}><joint name="k" type="slide" axis="0 0 1" damping=".3"
      {second}/><geom name="h" type="box" size=".05 .04 .03" {box}/></body></body>
  <body name="ball" pos="1 0 -.4"><freejoint name="f"/><geom name="n" size=".1" {round}/></body>
  <body name="m" mocap="true" pos="-1 0 0"/>
  <body name="kite" pos="-1 0 0"><freejoint/><geom size=".05"/></body>{world}</worldbody>
  <contact>{contact}</contact><tendon>{tendon}</tendon><equality>{equality}</equality>
  <actuator>{actuator}</actuator><sensor>{sensor}</sensor><keyframe>{key}</keyframe></mujoco>"""
HOLES = (
    "option", "compiler", "default", "asset", "floor", "camera", "body", "inertial", "joint",
    "more", "geom", "site", "child", "second", "box", "round", "world", "contact", "tendon",
    "equality", "actuator", "sensor", "key",
)  # fmt: skip


def arm(**given: str) -> str:
    """The file with what is given in its holes."""
    return ARM.format(**{hole: given.get(hole, "") for hole in HOLES})


def quantities(xml: str, soft: bool = False) -> dict[str, Any]:
    """What a scene and its simulation do, by name; arrays as text, to be compared as they are."""
    loaded = stiction.load_mjcf(xml, softness="mujoco" if soft else "rigid")
    scene, p, n = loaded.scene, loaded.scene.parameters, len(loaded.scene.geometries)
    found: dict[str, Any] = {
        "names": (scene.body_names, scene.joint_names, [g.name for g in scene.geometries]),
        "joints": [joint.type for joint in scene.joints],
        "start": scene.default_q,
        "shapes": [(g.shape.type, g.shape.size) for g in scene.geometries],
        "places": [p.geometry_placement(i).homogeneous for i in range(n)],
        "pairs": [scene.pair_enabled(i, j) for i in range(n) for j in range(i)],
        "surfaces": [meeting(scene.pair_material(i, j)) for i in range(n) for j in range(i)],
        "timestep": loaded.timestep,
        "keyframes": [(k.q, k.v, k.time, k.ctrl, k.activation) for k in loaded.keyframes.values()],
        "mocap": [k.mocap for k in loaded.keyframes.values()],
        "poses": [X.homogeneous for X in start_poses(scene)],
        "inertia": [robot_inertias(scene, robot.name) for robot in scene.robots],
        "frames": scene.frame("s")[1].homogeneous,
    }
    for name in PARAMETERS:
        found[name] = np.array(getattr(p, name))
    found |= of_motion(loaded)
    return {name: repr(value) for name, value in found.items()}


PARAMETERS = (
    "gravity", "mass", "armature", "damping", "dry_friction", "lower", "upper", "kp", "kd",
    "friction", "torsional_friction", "rolling_friction", "rest_offset", "effort_limit",
    "spring_stiffness", "spring_rest", "pair_friction", "pair_torsional_friction",
    "pair_rolling_friction", "pair_rest_offset", "pair_stiffness", "pair_contact_damping",
    "gear_ratio", "gear_offset",
)  # fmt: skip


def start_poses(scene: stiction.Scene) -> list[Any]:
    """Of the bodies."""
    sim = stiction.Simulator(scene)
    return sim.body_poses(stiction.make_state(scene, scene.default_q))


def robot_inertias(scene: stiction.Scene, name: str) -> list[Any]:
    """Of each joint."""
    model: pinocchio.Model = stiction.pinocchio_model(scene, name)
    return [inertia.toDynamicParameters() for inertia in model.inertias]


def of_motion(loaded: stiction.Mjcf) -> dict[str, Any]:
    """After some steps with constant controls, a mocap body that moved, and random velocities."""
    run, count = loaded.simulation(), loaded._actuation.count
    run.state.v = 0.3 * np.random.default_rng(0).normal(size=loaded.scene.nv)
    run.place("m", [-1.0, 0.0, 0.05])
    control = loaded.control(np.full(count, 0.4))
    targets = (control.torque, control.position_target, control.velocity_target)
    for _ in range(8):
        run.step(np.full(count, 0.4))
    wrenches = [(w.body, np.array(w.force), np.array(w.moment)) for w in run.external_wrenches]
    read = {name: run.sensor(name) for name in run.sensor_names}
    return {
        "controls": targets,
        "motion": np.array(run.state.q),
        "activations": run.activation,
        "wrenches": wrenches,
        "sensors": read,
    }


# --- the files ----------------------------------------------------------------------------------


def rows(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Attribute, without, with, what changes; of lines "base | attribute -> quantity", or
    "without || with -> quantity" where the attribute comes first."""
    for line in filter(str.strip, text.splitlines()):
        given, _, changes = line.strip().partition(" -> ")
        if " || " in given:
            one, _, two = given.partition(" || ")
            yield two.partition("=")[0], one, two, changes
        else:
            base, _, added = given.rpartition(" | ")
            yield added.partition("=")[0], base, f"{base} {added}", changes


def _changes() -> dict[tuple[str, str], Files]:
    out: dict[tuple[str, str], Files] = {}
    for element, where, text, rest, lines in TABLE:
        for attribute, one, two, changes in rows(lines):
            a, b = (arm(**rest, **{where: text.replace("@", x)}) for x in (one, two))
            out[element, attribute] = a, b, changes
    return out


FIXED = '<fixed name="t" @><joint joint="j" coef="1"/><joint joint="k" coef="-1"/></fixed>'
PULLS = FIXED.replace("@", "")
SPRING = '<fixed name="t" stiffness="9" springlength="1"><joint @/></fixed>'
LOOKS = '<camprojection name="x" site="s" camera="c"/>'
TURNED = """
        quat="1 .2 0 0" -> {0}
        euler="10 20 30" -> {0}
        axisangle="1 0 0 10" -> {0}
        xyaxes="1 0 0 0 1 .1" -> {0}
        zaxis="0 .1 1" -> {0}
"""
ACTS = """
        gear="2" -> {0}
        ctrlrange="-.1 .1" -> controls
        ctrlrange="-.1 .1" ctrllimited="false" || ctrllimited="true" ctrlrange="-.1 .1" -> controls
        forcerange="-.1 .1" -> effort_limit
        forcerange="-1 1" forcelimited="false" \
            || forcelimited="true" forcerange="-1 1" -> effort_limit
        armature=".1" -> armature
        damping=".1" -> damping
"""
COMPILED = {
    "joint": 'range="-10 10"', "geom": 'euler="10 20 30"', "second": 'range="0 1"',
    "inertial": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>',
}  # fmt: skip
FLAGS = {
    "joint": 'stiffness="3" frictionloss=".1" range="-1 1"',
    "actuator": '<motor joint="j" ctrlrange="-.1 .1"/>',
    "equality": '<joint joint1="j" joint2="k"/>',
}
MASS = 'pos="0 0 0" mass="1" diaginertia=".1 .1 .1"'
KEYED = {"actuator": '<general joint="j" dyntype="integrator"/>'}
SERVO = '<general joint="j" gainprm="3" biasprm="0 -3 0" biastype="affine" @/>'
TABLE: tuple[tuple[str, str, str, dict[str, str], str], ...] = (
    ("compiler", "compiler", "@", COMPILED, """
        angle="radian" -> places
        eulerseq="zyx" -> places
        inertiafromgeom="true" -> mass
        settotalmass="9" -> mass
        boundmass="3" -> mass
        boundinertia="3" -> inertia
    """),
    ("option", "option", "<option @/>", {}, """
        gravity="0 0 -1" -> gravity
        timestep=".001" -> timestep
        density="1000" -> wrenches
        viscosity="3" -> wrenches
        density="1000" | wind="3 0 0" -> wrenches
    """),
    ("option", "option", "<option @/>", {"sensor": '<magnetometer name="x" site="s"/>'}, """
        magnetic="1 0 0" -> sensors
    """),
    ("option", "option", "<option @/>", {"actuator": '<motor joint="j" group="1"/>'}, """
        actuatorgroupdisable="1" -> controls
    """),
    ("option/flag", "option", "<option><flag @/></option>", FLAGS, """
        gravity="disable" -> gravity
        contact="disable" -> pairs
        constraint="disable" -> pairs
        equality="disable" -> gear_ratio
        frictionloss="disable" -> dry_friction
        limit="disable" -> upper
        spring="disable" -> spring_stiffness
        damper="disable" -> damping
        actuation="disable" -> controls
        clampctrl="disable" -> controls
        filterparent="disable" -> pairs
    """),
    ("body", "body", "@", {}, TURNED.format("poses") + """
        pos="0 0 .1" -> poses
        gravcomp="1" -> wrenches
    """),
    ("body/inertial", "inertial", "<inertial @/>", {}, """
        pos="0 0 0" diaginertia=".1 .1 .1" mass="1" \
            || mass="2" pos="0 0 0" diaginertia=".1 .1 .1" -> mass
        pos="0 0 0" mass="1" diaginertia=".1 .1 .1" \
            || diaginertia=".1 .1 .2" pos="0 0 0" mass="1" -> inertia
        pos="0 0 0" mass="1" diaginertia="1 1 1" \
            || fullinertia="1 1 1 0 0 .1" pos="0 0 0" mass="1" -> inertia
        pos="0 0 0" mass="1" diaginertia="1 1 1" \
            || pos=".1 0 0" mass="1" diaginertia="1 1 1" -> inertia
    """),
    ("body/inertial", "inertial", '<inertial pos="0 0 0" mass="1" diaginertia=".1 .2 .25" @/>', {},
     TURNED.format("inertia")),
    ("body/joint", "more", "<joint @/>", {}, """
        armature=".1" -> armature
        axis="1 0 0" -> motion
        damping=".2" -> damping
        frictionloss=".2" -> dry_friction
        type="slide" -> joints
        name="mine" -> names
        pos=".1 0 0" -> inertia
        ref="20" -> start
        range="-1 1" || range="-1 2" -> upper
        range="-1 1" limited="false" || limited="true" range="-1 1" -> upper
        stiffness="3" -> spring_stiffness
        stiffness="3" | springref="30" -> spring_rest
        springdamper="1 1" -> damping
        range="-10 10" | margin=".05" -> upper
        actuatorfrcrange="-1 1" -> effort_limit
        actuatorfrcrange="-1 1" actuatorfrclimited="false" \
            || actuatorfrclimited="true" actuatorfrcrange="-1 1" -> effort_limit
    """),
    ("body/geom", "more", "<geom @/>", {}, """
        size=".1 .1 .1" | type="box" -> shapes
        size=".1" || size=".2" -> shapes
        size=".1" | pos="0 0 -.3" -> places
        size=".1" | density="500" -> mass
        size=".1" | mass="2" -> mass
        size=".1" | shellinertia="true" -> inertia
        size=".1" conaffinity="0" | contype="2" -> pairs
        size=".1" contype="2" | conaffinity="0" -> pairs
        size=".1" | condim="4" -> surfaces
        size=".1" | friction=".3" -> friction
        size=".1" friction=".3" | priority="1" -> surfaces
        size=".1" | margin=".02" -> rest_offset
        size=".1" | name="mine" -> names
        size=".1 .1" type="capsule" || fromto="0 0 0 0 .1 -.3" size=".1" type="capsule" -> shapes
    """),
    ("body/geom", "more", '<geom type="box" size=".1 .2 .3" @/>', {}, TURNED.format("places")),
    ("body/site", "site", "@", {}, TURNED.format("frames") + """
        pos=".1 0 0" -> frames
    """),
    ("body/camera", "camera", "@", {"sensor": LOOKS, "site": 'pos=".1 0 .05"'}, """
        fovy="30" -> sensors
        focal=".1 .1" sensorsize=".1 .1" || focal=".1 .2" sensorsize=".1 .1" -> sensors
        sensorsize=".1 .1" focal=".1 .1" || sensorsize=".1 .2" focal=".1 .1" -> sensors
        sensorsize=".1 .1" focal=".1 .1" || focalpixel="9 8" sensorsize=".1 .1" -> sensors
    """),
    ("contact/pair", "contact", "<pair @/>", {}, """
        geom1="n" geom2="h" | condim="6" -> pair_rolling_friction
        geom1="n" geom2="h" | friction=".2 .2" -> pair_friction
        geom1="n" geom2="h" | margin=".1" -> pair_rest_offset
        geom2="h" geom1="n" friction=".2 .2" || geom1="g" geom2="h" friction=".2 .2" -> pairs
        geom1="n" geom2="h" friction=".2 .2" || geom2="floor" geom1="n" friction=".2 .2" -> motion
    """),
    ("contact/exclude", "contact", "<exclude @/>", {}, """
        body1="a" body2="kite" || body1="a" body2="ball" -> pairs
        body1="a" body2="kite" || body2="ball" body1="a" -> pairs
    """),
    ("tendon/fixed", "tendon", FIXED, {}, """
        stiffness="9" -> wrenches
        damping="2" -> wrenches
        frictionloss="1" -> wrenches
        stiffness="9" | springlength=".3" -> wrenches
        range=".1 .2" -> wrenches
        range="-.2 -.1" | margin=".05" -> wrenches
        frictionloss="1000" | solreffriction=".5 1" -> wrenches
        frictionloss="1000" | solimpfriction=".2 .3 .1" -> wrenches
        range=".1 .2" | solreflimit=".5 1" -> wrenches
        range=".1 .2" | solimplimit=".2 .3 .1" -> wrenches
        range=".1 .2" limited="false" || limited="true" range=".1 .2" -> wrenches
    """),
    ("tendon/fixed/joint", "tendon", SPRING, {}, """
        joint="j" coef="1" || coef="2" joint="j" -> wrenches
        joint="j" coef="1" || joint="k" coef="1" -> wrenches
    """),
    ("equality/connect", "equality", "<connect @/>", {}, """
        body1="b" body2="kite" anchor="0 0 0" || anchor=".1 0 0" body1="b" body2="kite" -> motion
        body1="b" body2="kite" anchor=".1 0 0" | active="false" -> motion
        body1="b" body2="kite" anchor=".1 0 0" || body1="a" body2="kite" anchor=".1 0 0" -> motion
        body1="b" body2="kite" anchor=".1 0 0" || body2="ball" body1="b" anchor=".1 0 0" -> motion
    """),
    ("equality/weld", "equality", "<weld @/>", {}, """
        body1="m" body2="kite" | active="false" -> wrenches
        body1="m" body2="kite" | anchor=".1 0 0" -> wrenches
        body1="m" body2="kite" | relpose="0 0 .1 1 0 0 0" -> wrenches
        body1="m" body2="kite" | torquescale=".2" -> motion
        body1="m" body2="kite" | solref=".1 1" -> wrenches
        body1="m" body2="kite" | solimp=".5 .6 .1" -> wrenches
        body1="m" body2="kite" || body1="a" body2="kite" -> wrenches
        body1="m" body2="kite" || body2="ball" body1="m" -> wrenches
    """),
    ("equality/joint", "equality", "<joint @/>", {}, """
        joint1="j" | joint2="k" -> gear_ratio
        joint1="j" || joint1="k" -> motion
        joint1="j" joint2="k" | polycoef="0 .5 0 0 0" -> gear_ratio
        joint1="j" joint2="k" | active="false" -> gear_ratio
    """),
    ("equality/tendon", "equality", "<tendon @/>", {"tendon": PULLS}, """
        tendon1="t" | polycoef=".1 0 0 0 0" -> gear_offset
        tendon1="t" | active="false" -> gear_ratio
    """),
    ("actuator/general", "actuator", '<general joint="j" @/>', {}, ACTS.format("controls") + """
        gainprm="2" -> controls
        gaintype="fixed" gainprm="1 -1" || gaintype="affine" gainprm="1 -1" -> controls
        biasprm="1 0 0" | biastype="affine" -> controls
        biastype="affine" | biasprm="1 0 0" -> controls
        dyntype="integrator" -> activations
        dyntype="filter" | dynprm=".1" -> activations
        dyntype="filter" | actearly="true" -> motion
        dyntype="integrator" | actrange="-.001 .001" -> activations
        dyntype="integrator" actlimited="false" actrange="-1e-3 1e-3" \
            || actlimited="true" dyntype="integrator" actrange="-1e-3 1e-3" -> activations
    """),
    ("actuator/general", "actuator", SERVO, {"joint": 'range="-9 9"'}, """
        inheritrange="1" -> controls
    """),
    ("actuator/motor", "actuator", '<motor joint="j" @/>', {}, ACTS.format("controls")),
    ("actuator/position", "actuator", '<position joint="j" @/>', {"joint": 'range="-9 9"'},
     ACTS.format("kp") + """
        kp="9" -> kp
        kv="3" -> kd
        dampratio="1" -> kd
        timeconst=".1" -> activations
        inheritrange="1" -> controls
    """),
    ("actuator/velocity", "actuator", '<velocity joint="j" @/>', {}, ACTS.format("kd") + """
        kv="9" -> kd
    """),
    ("actuator/intvelocity", "actuator", '<intvelocity joint="j" @/>', {}, """
        actrange="-9 9" | kp="9" -> kp
        actrange="-9 9" | kv="9" -> kd
        actrange="-9 9" | gear="2" -> kp
        actrange="-9 9" || actrange="-1e-5 1e-5" -> activations
        actrange="-9 9" | dampratio="1" -> kd
    """),
    ("actuator/cylinder", "actuator", '<cylinder joint="j" @/>', {}, """
        area="2" -> controls
        diameter="2" -> controls
        bias="1 0 0" -> controls
        timeconst=".1" -> activations
    """),
    ("keyframe/key", "key", '<key name="k" @/>', KEYED, """
        time="2" -> keyframes
        qpos=".1 0 1 0 -.4 1 0 0 0 -1 0 0 1 0 0 0" -> keyframes
        qvel=".1 0 0 0 0 0 0 0 0 0 0 0 0 0" -> keyframes
        act=".3" -> keyframes
        ctrl=".3" -> keyframes
        mpos="1 2 3" -> mocap
        mquat="0 1 0 0" -> mocap
    """),
    ("sensor/rangefinder", "sensor", '<rangefinder name="x" site="s" @/>', {}, """
        cutoff=".01" -> sensors
        data="dist point" -> sensors
    """),
    ("sensor/jointpos", "sensor", '<jointpos name="x" @/>', {}, """
        joint="j" | cutoff="1e-6" -> sensors
        joint="j" || joint="k" -> sensors
    """),
)  # fmt: skip
CHANGES = _changes()
NOT_COMPARED: tuple[tuple[str, str, str], ...] = (
    ("**", "name class childclass", "the compiler resolves them, and each file here has some"),
    ("compiler", "alignfree assetdir autolimits balanceinertia coordinate fitaabb fusestatic "
     "inertiagrouprange meshdir strippath", "what MuJoCo compiles is what is read"),
    ("default", "class", "the same"),
    ("asset/**", "*", "meshes and height fields: test_mjcf.py, test_mjcf_sensors.py"),
    ("option", "cone impratio", "test_mjcf_softness.py"),
    ("option/flag", "refsafe", "test_mjcf_softness.py"),
    ("body", "fuse mocap", "mocap: test_mjcf_simulation.py"),
    ("body/freejoint", "align", "what MuJoCo compiles is what is read"),
    ("body/attach", "*", "the same"),
    ("body/geom", "fitscale hfield mesh", "of meshes and height fields"),
    ("body/geom", "solimp solmix solref surfacevel", "softness, moving_surfaces"),
    ("contact/pair", "solimp solref", "test_mjcf_softness.py"),
    ("body/site", "fromto mesh size type", "touch sensors: test_mjcf_simulation.py"),
    ("body/camera", "axisangle euler pos quat xyaxes zaxis resolution", "test_mjcf_sensors.py"),
    ("equality/*", "site1 site2", "test_mjcf_softness.py"),
    ("equality/tendon", "tendon1 tendon2", "test_mjcf.py"),
    ("actuator/*", "joint jointinparent site tendon", "test_mjcf_actuators.py"),
    ("actuator/intvelocity", "actlimited armature ctrllimited ctrlrange damping forcelimited "
     "forcerange inheritrange", "a position servo with an activation"),
    ("actuator/cylinder", "armature ctrllimited ctrlrange damping forcelimited forcerange gear",
     "a motor with an activation"),
    ("sensor/*", "*", "test_mjcf_simulation.py, test_mjcf_sensors.py: beside MuJoCo"),
)  # fmt: skip
"""Elements, attributes, and where else they are looked at, or why nowhere."""
