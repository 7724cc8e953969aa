"""What is given in place of a file, a scene or a number is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import stiction

ARM = """<mujoco model="arm"><compiler angle="radian"/>
<option timestep="0.004" integrator="implicitfast" cone="elliptic"/>
<worldbody><body name="link" pos="0 0 1"><joint name="j" axis="0 1 0" range="-2 2" damping="1"/>
<geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
<site name="flange" pos=".5 0 0" euler="0 .4 0"/></body></worldbody>
<actuator><position name="p" joint="j" kp="500" kv="50"/></actuator>
<sensor><jointpos name="s" joint="j"/>
<framepos name="tip" objtype="site" objname="flange"/></sensor>
<keyframe><key name="home" qpos="0.5" ctrl="0.4" time="2"/></keyframe></mujoco>"""


def test_what_is_no_file_scene_or_number_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = stiction.load_mjcf(ARM)
    for error, text, call in (
        (TypeError, "its .scene is one, and its simulation()", lambda: stiction.Simulator(arm)),
        (TypeError, r"load\('a.xml'\) makes one", lambda: stiction.Simulator("a.xml")),
        (TypeError, "3 is no path", lambda: stiction.load(3)),
        (TypeError, "b'a.xml' is no path", lambda: stiction.load(b"a.xml")),
        (stiction.StictionError, "neither a path nor", lambda: stiction.load_mjcf("")),
        (TypeError, r"ctrl\['p'\] = 'x': must be a number", lambda: arm.control({"p": "x"})),
        (TypeError, r"ctrl\['p'\] = \[1.0\]", lambda: arm.simulation().step({"p": [1.0]})),
        (TypeError, "ctrl = 'abc': must be numbers, or by name", lambda: arm.control("abc")),
    ):
        with pytest.raises(error, match=text):
            call()
    assert repr(arm) == "Mjcf('MJCF string', nv=1, 1 actuator)"
    assert repr(arm.simulation()) == "MjcfSimulation('MJCF string', t=0)"
    (tmp_path / "ant.xml").write_text(ARM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"there is a file 'ant\.xml'"):
        stiction.load("ant")
