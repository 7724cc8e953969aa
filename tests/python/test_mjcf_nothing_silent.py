"""What files combine, and what was once dropped without a word: honoured, or a message."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
import stiction
from stiction.cli import app
from typer.testing import CliRunner

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
ARM = """<mujoco><option timestep=".001"/><worldbody><body name="b">
  <joint name="j" axis="0 1 0" {0}/><geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass="1"/>
  {1}</body></worldbody>{2}</mujoco>"""


def arm(joint: str = "", body: str = "", rest: str = "") -> str:
    return ARM.format(joint, body, rest)


def unused(text: str, **options: bool) -> list[str]:
    model = stiction.load_mjcf(text, **options)  # type: ignore[arg-type]
    return [message.text for message in model.messages if message.kind == "unused"]


def test_a_scene_alone_says_what_it_lacks_and_strict_refuses_it(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(arm().replace('name="b"', 'name="b" gravcomp="1"'))
    assert not unused(str(path.read_text()))  # simulation() has it
    with pytest.warns(stiction.LoadWarning, match="1 elements not used"):
        scene = stiction.load(path)
    assert any("gravcomp" in message.text for message in scene.messages)
    with pytest.raises(stiction.StictionError, match="gravcomp: in load_mjcf"):
        stiction.load(path, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = CliRunner().invoke(app, ["run", str(path), "--seconds", "0.3", "--json"]).stdout
    energy = json.loads(told)["energy"]
    assert energy["first"] == energy["last"]  # it hangs where it is


def test_run_begins_at_a_keyframe_with_all_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(arm(rest='<keyframe><key name="turning" qvel="2"/></keyframe>'))
    command = ["run", str(path), "--seconds", "0.01", "--configuration", "turning", "--json"]
    told = json.loads(CliRunner().invoke(app, command).stdout)
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    assert told["energy"]["first"] == pytest.approx(d.energy[1], rel=1e-9)


def test_limits_of_servos_beside_others() -> None:
    servo = '<position joint="j" kp="1000" forcerange="-1 1"/>'
    text = arm(rest=f'<actuator>{servo}<velocity joint="j" kv="1"/></actuator>')
    assert any("limits of its actuators' force" in m for m in unused(text))
    limited = arm('actuatorfrcrange="-.5 .5"', rest=f"<actuator>{servo}{servo}</actuator>")
    assert stiction.load_mjcf(limited).scene.parameters.effort_limit.tolist() == [0.5]


TWO = """<mujoco><worldbody><body><joint name="a" {0}/><geom size=".1"/>
  <body pos="1 0 0"><joint name="b"/><geom size=".1"/><site name="s"/></body></body></worldbody>
  <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
  <actuator>{1}</actuator></mujoco>"""


def test_limits_of_joints_that_no_scene_can_hold() -> None:
    cut = 'actuatorfrcrange="-.3 .3"'
    for motor in ('<position name="m" tendon="t" kp="5"/>', '<motor name="m" site="s"/>'):
        assert not unused(TWO.format("", motor))
        assert unused(TWO.format(cut, motor)) == [
            "joint 'a': its actuatorfrcrange does not hold back actuator 'm'"
        ]


@pytest.mark.parametrize("word", ["armature", "damping"])
def test_what_actuators_add_on_tendons(word: str) -> None:
    (said,) = unused(TWO.format("", f'<motor name="m" tendon="t" {word}=".1"/>'))
    assert said == f"actuator 'm': its {word} is honoured on hinges and slides alone"
    assert not unused(TWO.format("", f'<motor name="m" joint="a" {word}=".1"/>'))


MOCAP = """<mujoco><worldbody><body name="hand" mocap="true" pos=".4 0 0">
  <body name="tool" pos="0 .1 0"><site name="tip" pos="0 0 .05"/></body></body>
  <body name="ball" pos=".4 .1 0"><freejoint/><geom size=".05" mass="1"/>
  <site name="at" pos="0 0 .05"/></body></worldbody><equality>{0}</equality></mujoco>"""


def test_a_weld_to_what_a_mocap_body_carries_follows_it() -> None:
    m = mujoco.MjModel.from_xml_string(MOCAP.format('<weld site1="tip" site2="at"/>'))
    d, run = (
        mujoco.MjData(m),
        stiction.load_mjcf(MOCAP.format('<weld site1="tip" site2="at"/>')).simulation(),
    )
    run.place("hand", [0.6, 0.0, 0.0])
    d.mocap_pos[0] = [0.6, 0.0, 0.0]
    for _ in range(500):
        run.step()
        mujoco.mj_step(m, d)
    assert run.state.q[:3] == pytest.approx(d.qpos[:3], abs=2e-3)
    assert run.state.q[0] == pytest.approx(0.6, abs=2e-3)


def test_a_connect_to_a_mocap_body_is_told_of() -> None:
    (said,) = unused(MOCAP.format('<connect name="c" body1="hand" body2="ball" anchor="0 0 0"/>'))
    assert said == "equality 'c': does not follow its mocap body when that is placed"


def test_pairs_of_a_file_may_be_let_pass() -> None:
    text = """<mujoco><worldbody><body name="p"><joint/><geom name="p" size=".1"/>
      <body name="c" pos=".1 0 0"><joint/><geom name="c" size=".1"/></body></body></worldbody>
      <contact><pair geom1="p" geom2="c"/></contact></mujoco>"""
    for keep in (True, False):
        scene = stiction.load_mjcf(text, keep_overlapping_pairs=keep).scene
        assert scene.pair_enabled("p", "c") == keep
        assert any("overlap" in m.text for m in scene.messages)


def test_a_keyframe_may_be_called_default() -> None:
    model = stiction.load_mjcf(arm(rest='<keyframe><key name="default" qpos=".7"/></keyframe>'))
    run = model.simulation()
    run.reset()
    assert run.state.q[0] == 0.0
    run.reset("default")
    assert run.state.q[0] == 0.7


def test_a_site_may_have_its_bodys_name() -> None:
    model = stiction.load_mjcf(arm(body='<site name="b" pos=".2 0 0"/>'))
    assert any("its frame is 'b:site'" in message.text for message in model.messages)
    _, X = model.scene.frame("b:site")
    assert X.translation == pytest.approx([0.2, 0.0, 0.0])


def test_a_keyframes_controls_are_kept() -> None:
    servo = '<actuator><position joint="j" kp="50" kv="5"/></actuator>'
    text = arm(rest=f'{servo}<keyframe><key name="up" qpos="-.7" ctrl="-.73"/></keyframe>')
    m = mujoco.MjModel.from_xml_string(text)
    d, run = mujoco.MjData(m), stiction.load_mjcf(text).simulation()
    run.reset("up")
    mujoco.mj_resetDataKeyframe(m, d, 0)
    for _ in range(300):
        run.step()
        mujoco.mj_step(m, d)
    assert run.state.q[0] == pytest.approx(d.qpos[0], abs=1e-4)


def test_an_early_activation_takes_the_step_of_the_simulation() -> None:
    general = '<general joint="j" dyntype="filter" dynprm=".05" actearly="true"/>'
    text = arm(rest=f"<actuator>{general}</actuator>").replace(".001", ".01")
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.timestep = 5e-4
    d, run = mujoco.MjData(m), stiction.load_mjcf(text).simulation(dt=5e-4)
    d.ctrl[0] = 1.0
    mujoco.mj_step(m, d)
    run.step([1.0])
    assert run.state.v[0] == pytest.approx(d.qvel[0], rel=1e-9)


def test_bodies_beside_a_file() -> None:
    model = stiction.load_mjcf(arm(rest='<actuator><motor joint="j"/></actuator>'))
    model.scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0)
    assert np.array_equal(model.control([2.0]).torque, [2.0] + 6 * [0.0])
    sim = stiction.Simulator(model.scene)
    sim.step(sim.initial_state(), model.hold())
    with pytest.raises(ValueError, match="bodies were added to its scene"):
        model.simulation()


# --- sensors --------------------------------------------------------------------------------------


def beside(text: str, steps: int, ctrl: list[float] | None = None) -> tuple[object, object, object]:
    """Both engines after so many steps."""
    m = mujoco.MjModel.from_xml_string(text)
    d, run = mujoco.MjData(m), stiction.load_mjcf(text).simulation()
    for _ in range(steps):
        d.ctrl[:] = 0.0 if ctrl is None else ctrl
        mujoco.mj_step(m, d)
        run.step(ctrl)
    mujoco.mj_forward(m, d)
    return m, d, run


BEAM = """<mujoco><worldbody><body name="beam"><joint axis="0 1 0"/>
  <geom type="capsule" size=".05" fromto="0 0 0 1 0 0" mass="2"/><site name="s"/></body></worldbody>
  <equality>{0}</equality>
  <sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("equality", "force", "torque"),
    [('<connect body1="beam" anchor="1 0 0"/>', 9.81, 0.0), ('<weld body1="beam"/>', None, None)],
)
def test_a_load_cell_sees_what_its_parent_carries(
    equality: str, force: float | None, torque: float | None
) -> None:
    _, d, run = beside(BEAM.format(equality), 400)
    f, t = run.sensor("f"), run.sensor("t")  # type: ignore[attr-defined]
    if force is not None:
        assert f == pytest.approx([0.0, 0.0, force], abs=1e-3)
        assert t == pytest.approx([0.0, torque, 0.0], abs=1e-3)
        assert f == pytest.approx(d.sensordata[:3], abs=2e-2)  # type: ignore[attr-defined]
    else:  # the hinge and the weld share the load as they like; together it is the weight
        assert np.isfinite([*f, *t]).all()


def test_a_wrist_does_not_see_what_a_mocap_weld_carries() -> None:
    text = """<mujoco><worldbody><body name="hand" mocap="true" pos="0 0 1"/>
      <body name="palm" pos="0 0 1"><freejoint/><geom size=".05" mass="1"/><site name="s"/></body>
      </worldbody><equality><weld body1="hand" body2="palm"/></equality>
      <sensor><force name="f" site="s"/></sensor></mujoco>"""
    _, d, run = beside(text, 500)
    assert run.sensor("f") == pytest.approx([0, 0, 0], abs=1e-6)  # type: ignore[attr-defined]
    assert d.sensordata == pytest.approx([0, 0, 0], abs=1e-2)  # type: ignore[attr-defined]


FINGERS = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body><joint name="f1" type="slide" axis="1 0 0" damping="1"/><geom size=".01" mass=".1"/></body>
  <body pos="0 .1 0"><joint name="f2" type="slide" axis="1 0 0"/><geom size=".01" mass=".1"/></body>
  </worldbody><tendon><fixed name="t"><joint joint="f1" coef=".5"/><joint joint="f2" coef=".5"/>
  </fixed></tendon><equality><joint joint1="f1" joint2="f2" polycoef=".01 1 0 0 0"/></equality>
  <actuator><position name="grip" tendon="t" kp="10"/></actuator><sensor>
  <jointactuatorfrc name="a" joint="f1"/><jointactuatorfrc name="b" joint="f2"/>
  <actuatorpos name="l" actuator="grip"/><tendonpos name="tl" tendon="t"/>
  <actuatorfrc name="f" actuator="grip"/></sensor></mujoco>"""


def test_a_servo_on_geared_fingers_is_read_as_the_file_has_it() -> None:
    _, _, run = beside(FINGERS, 50, [0.1])
    read = {name: run.sensor(name)[0] for name in ["a", "b", "l", "tl", "f"]}  # type: ignore[attr-defined]
    assert read["l"] == pytest.approx(read["tl"], abs=1e-12)
    assert read["f"] == pytest.approx(10.0 * (0.1 - read["tl"]), abs=1e-9)
    assert read["a"] == read["b"] == pytest.approx(0.5 * read["f"])


def test_sensors_of_actuators_that_do_not_act() -> None:
    text = arm(
        rest='<actuator><muscle name="m" joint="j" lengthrange="0 1"/></actuator>'
        '<sensor><actuatorfrc name="f" actuator="m"/></sensor>'
    )
    assert "sensor 'f': is not read: its actuator does not act" in unused(text)
    assert stiction.load_mjcf(text).simulation().sensor_names == []


def test_the_doctor_counts_actuators_not_controls(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(
        arm(rest='<actuator><muscle joint="j" lengthrange="0 1"/><position joint="j"/></actuator>')
    )
    assert CliRunner().invoke(app, ["doctor", str(path)]).exit_code == 0


@pytest.mark.parametrize("damping", ["0 0 .4", "0 .5", ".98 .8 .4"])
def test_dampers_of_higher_order_only_damp(damping: str) -> None:
    text = f"""<mujoco><option timestep=".002" gravity="0 0 0"/><worldbody><body>
      <joint damping="{damping}"/><geom size=".05" pos=".01 0 0"/></body></worldbody>
      <keyframe><key qvel="20"/></keyframe></mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    run.reset("key0")
    speeds = [float(run.state.v[0])]
    for _ in range(100):
        run.step()
        speeds.append(float(run.state.v[0]))
    assert np.all(np.diff(speeds) <= 0.0) and 0.0 <= speeds[-1] < 10.0


def test_a_damper_of_a_tendon_only_damps() -> None:
    text = TWO.format("", "").replace('name="t"', 'name="t" damping="50"')
    run = stiction.load_mjcf(
        text.replace("<mujoco>", '<mujoco><option gravity="0 0 0"/>')
    ).simulation()
    run.state.v = [3.0, -1.0]
    speeds = []
    for _ in range(200):
        run.step()
        speeds.append(abs(run.state.v[0] + 2.0 * run.state.v[1]))
    assert max(speeds) < 1.5 and speeds[-1] < 1e-3


# --- errors ---------------------------------------------------------------------------------------


def test_errors_at_the_door(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"MjSpec is neither .*spec\.to_xml"):
        stiction.load_mjcf(mujoco.MjSpec())
    with pytest.raises(stiction.StictionError, match="is a folder"):
        stiction.load_mjcf(tmp_path)
    with pytest.raises(
        stiction.StictionError, match=r"joint 'j': spring_stiffness = -1.*, line 2$"
    ):
        stiction.load_mjcf(arm('stiffness="-1"'))


def test_controls_that_are_no_numbers_are_named() -> None:
    general = '<general name="g" joint="j" dyntype="filter" dynprm=".05"/>'
    run = stiction.load_mjcf(arm(rest=f"<actuator>{general}</actuator>")).simulation()
    with pytest.raises(ValueError, match=r"ctrl\[0\] = nan of actuator 'g': must be finite"):
        run.step([np.nan])
    run.step([1.0])


def test_pipes_and_devices_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    for name in ("pipe.xml", "/dev/zero"):
        path = tmp_path / "robot.xml"
        path.write_text(f'<mujoco><include file="{name}"/></mujoco>')
        with pytest.raises(stiction.StictionError):
            stiction.load_mjcf(path)


def test_a_weld_without_torque_lets_turn() -> None:
    text = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/>
      <geom type="capsule" size=".02" fromto="0 0 0 .4 0 0" mass="1"/></body></worldbody>
      <equality><weld body1="a" torquescale="0"/></equality></mujoco>"""
    _, d, run = beside(text, 100)  # about its anchor, the origin of the world
    ours, theirs = run.state.q[:3], d.qpos[:3]  # type: ignore[attr-defined]
    assert ours == pytest.approx(theirs, abs=2e-3) and abs(ours[0]) > 0.03


def test_all_sensors_at_once() -> None:
    _, _, run = beside(FINGERS, 5, [0.1])
    told = run.sensors()  # type: ignore[attr-defined]
    assert list(told) == run.sensor_names  # type: ignore[attr-defined]
    assert all(np.array_equal(told[n], run.sensor(n)) for n in told)  # type: ignore[attr-defined]


def test_a_wrong_attribute_of_an_included_file_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        '<mujocoinclude>\n\n<geom name="g" sise="1"/></mujocoinclude>'
    )
    main = tmp_path / "main.xml"
    main.write_text('<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>')
    with pytest.raises(stiction.StictionError, match=r"'sise'.*, \S*part\.xml line 3$"):
        stiction.load_mjcf(main)
    told = CliRunner().invoke(app, ["doctor", str(main), "--json"]).stdout
    (finding,) = json.loads(told)["findings"]
    assert (Path(finding["file"]).name, finding["line"]) == ("part.xml", 3)


def test_a_batch_says_what_it_lacks() -> None:
    model = stiction.load_mjcf(arm().replace('name="b"', 'name="b" gravcomp="1"'))
    with pytest.warns(stiction.LoadWarning, match="gravcomp: not in a Batch"):
        model.write(stiction.Batch(model.scene, 2), [])
