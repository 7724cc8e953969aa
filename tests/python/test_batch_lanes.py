"""Which scenes a Batch steps on lanes, and what it says of those that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import stiction
from stiction import Batch

INERTIA = '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/>'
WALKER = f"""<robot name="r">
  <link name="trunk"><inertial><mass value="1"/>{INERTIA}</inertial>
    <collision><geometry><sphere radius=".1"/></geometry></collision></link>
  <link name="arm"><inertial><mass value=".1"/>{INERTIA}</inertial></link>
  <joint name="wheel" type="continuous"><parent link="trunk"/><child link="arm"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("friction", 0.8, ""),
        ("stiffness", 1e4, "contacts of trunk_0 and ground are compliant"),
        ("torsional_friction", 0.01, "contacts of trunk_0 and ground have torsional or rolling"),
        ("rolling_friction", 1e-3, "contacts of trunk_0 and ground have torsional or rolling"),
        ("kp", 1.0, "a servo or spring holds wheel, which turns without limits"),
    ],
)
def test_what_never_steps_on_lanes_is_not_packed(
    tmp_path: Path, field: str, value: float, why: str
) -> None:
    (tmp_path / "r.urdf").write_text(WALKER)
    scene = stiction.Scene()
    scene.add_ground()
    scene.add_robot(stiction.load_urdf(tmp_path / "r.urdf"))
    getattr(scene.parameters, field)[-1] = value
    batch, sim = Batch(scene, 3), stiction.Simulator(scene)
    assert batch.why_not.startswith(why)
    assert batch.lanes == (why == "")
    state = sim.initial_state()
    state.v[:] = batch.v[:] = 0.3
    for _ in range(50):
        batch.step()
        sim.step(state)
    assert batch.v[2].tobytes() == state.v.tobytes()
