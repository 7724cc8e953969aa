"""A gripper with compliant pads: squeeze, lift, let slip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import Box, Control, Material, Scene, SimulationError, State
from stiction.pages.experiment import Effort, Experiment, Table, Tick
from stiction.simulator import Simulator

from .curves import Panel, draw
from .integrators import IMPLICIT, METHODS, OURS, PUBLISHED
from .windows import Run, errors_of, follow, part

Floats = NDArray[np.float64]

STIFFNESS, DAMPING, FRICTION = 2e4, 40.0, 0.8
"""Of a pad on the object [N/m, N s/m], normal and tangential: rubber of some mm."""
MASS, HALF = 0.4, 0.03
"""Of the object, a cube [kg], [m]."""
FINGER, PAD = 0.1, (0.02, 0.01, 0.02)
"""Mass of a finger [kg], half sides of its pad [m]."""
OFFSET = np.array([0.008, 0.0, 0.004])
"""Of the pads' centres from the cube's [m]: its weight turns it."""
GRIP, WEAK = 12.0, 0.85
"""Force of a finger [N]; at the end, as a share of what just holds the object."""
GRAVITY = 9.81
LIFT, PERIOD = 0.1, 10e-3
SQUEEZE, RAISE, HOLD, SLIP = 0.2, 0.4, 0.2, 0.1
"""Durations of the phases [s]."""
STEPS = (1, 2, 5, 10)
LARGE = (OURS, IMPLICIT, PUBLISHED)
RIGID = "semi-implicit-euler"
SETUP = (
    f"Two fingers with pads of {STIFFNESS:g} N/m and {DAMPING:g} N s/m squeeze a cube of {MASS:g} "
    f"kg off its centre with {GRIP:g} N each, friction {FRICTION:g}, raise it by {100 * LIFT:g} "
    f"cm, hold it, and loosen to {WEAK:g} of the force that just holds it, so that it slips. "
    "Forces on the slides are held over 10 ms."
)
LINK = """<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="1e-4" iyy="1e-4"
 izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="prismatic"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0 {y} 0"/><axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1000" velocity="9"/>
</joint>"""


def gripper() -> Scene:
    """Slides: up, left finger, right finger; the cube between them, in the air."""
    y = HALF + PAD[1]
    links = [("base", 1.0), ("wrist", 0.2), ("left", FINGER), ("right", FINGER)]
    joints = [
        ("lift", "base", "wrist", 0.0, "0 0 1"),
        ("close_left", "wrist", "left", -y, "0 1 0"),
        ("close_right", "wrist", "right", y, "0 -1 0"),
    ]
    text = "".join(LINK.format(name=name, mass=mass) for name, mass in links) + "".join(
        JOINT.format(name=name, parent=parent, child=child, y=at, axis=axis)
        for name, parent, child, at, axis in joints
    )
    robot = loading.load_urdf_string(
        f'<robot name="gripper">{text}</robot>', "gripper.urdf", free_flyer=False
    )
    scene = Scene()
    scene.add_robot(robot)
    pad = Material(friction=FRICTION, stiffness=STIFFNESS, damping=DAMPING)
    seat = pin.SE3(np.eye(3), OFFSET)
    for side in ("left", "right"):
        scene.add_geometry(f"pad {side}", scene.body(side), Box(PAD), seat, pad)
    cube = Material(friction=FRICTION)
    scene.add_body("cube", Box([HALF] * 3), MASS, pin.SE3.Identity(), cube)
    scene.disable_pair("pad left", "pad right")
    return scene


def start(scene: Scene) -> State:
    """Pads as deep as they are under the grip, the cube's weight on their tangential springs."""
    state = Simulator(scene, integrator=OURS).initial_state()
    depth = GRIP / STIFFNESS
    state.q[1:3] = depth
    return state


def controls(scene: Scene) -> list[Control]:
    """Forces on the slides (lift, left, right) of each period."""
    found = []
    moving = MASS + float(np.asarray(scene.parameters.mass)[:3].sum())
    for k in range(round((SQUEEZE + RAISE + HOLD + SLIP) / PERIOD)):
        t = (k + 0.5) * PERIOD
        control = Control(scene.nv)
        control.torque[0] = moving * (GRAVITY + lift_acceleration(t))
        slipping = t > SQUEEZE + RAISE + HOLD
        control.torque[1:3] = WEAK * MASS * GRAVITY / (2.0 * FRICTION) if slipping else GRIP
        found.append(control)
    return found


def lift_acceleration(t: float) -> float:
    """Of the wrist [m/s^2]: from rest to rest."""
    s = (t - SQUEEZE) / RAISE
    rate = 2.0 * np.pi
    return LIFT / RAISE**2 * rate * float(np.sin(rate * s)) if 0.0 < s < 1.0 else 0.0


@dataclass
class Grasp:
    """A free run of the whole motion.

    Attributes:
        sag: of the cube against the wrist at the end of the hold [m].
        force: sum of the normal forces on the left pad there [N].
        slipped: way of the cube against the wrist in the last phase [m].
    """

    sag: float
    force: float
    slipped: float


def grasp(scene: Scene, integrator: str, steps: int) -> Grasp | None:
    """None: it blew up."""
    sim = Simulator(scene, dt=PERIOD / steps, integrator=integrator)
    state = start(scene)
    plan = controls(scene)
    held = len(plan) - round(SLIP / PERIOD)
    try:
        for control in plan[:held]:
            sim.run(state, control, steps)
        sag, force = -below(state), left_force(scene, sim)
        for control in plan[held:]:
            sim.run(state, control, steps)
    except SimulationError:
        return None
    return Grasp(sag, force, -below(state) - sag)


def below(state: State) -> float:
    """Height over the wrist of the cube's point that was seized [m]."""
    turned = pin.Quaternion(np.asarray(state.q[6:10])).toRotationMatrix() @ OFFSET
    return float(state.q[5] + turned[2] - OFFSET[2] - state.q[0])


def left_force(scene: Scene, sim: Simulator) -> float:
    """Normal force on the left pad in the last step [N]."""
    pad = scene.geometry("pad left")
    return float(
        sum(
            abs(c.force_on_b_world @ c.normal)
            for c in sim.contacts()
            if pad in (c.geometry_a, c.geometry_b)
        )
    )


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("fingertips", "Compliant fingertips", SETUP)
    scene = gripper()
    reference = follow(scene, start(scene), controls(scene), PERIOD, part(tick, 0.0, 0.6))
    steps = STEPS if effort.share >= 1.0 else STEPS[:3]
    errors = {name: {n: errors_of(reference, name, n) for n in steps} for name in LARGE}
    for name, by_steps in errors.items():
        for n, values in by_steps.items():
            experiment.add_rows(
                integrator=name, step=PERIOD / n, window=np.arange(len(values)), error=values
            )
    experiment.tables.append(_errors(reference, errors))
    tick("free runs", 0.8)
    experiment.tables.append(_grasps(scene, reference, steps))
    experiment.figures.append((_CAPTION, _figure(errors)))
    return experiment


def _phases(count: int) -> dict[str, slice]:
    slipping = count - round(SLIP / PERIOD)
    return {"held": slice(0, slipping), "slipping": slice(slipping, count)}


def _errors(reference: Run, errors: dict[str, dict[int, Floats]]) -> Table:
    phases = _phases(len(reference.windows))
    table = Table(
        "Mean local error over 10 ms",
        ["step [ms]", *(f"{name}, {phase}" for name in errors for phase in phases)],
        note=f"The reference is known to {reference.left.mean():.0e} in the mean.",
    )
    for n in next(iter(errors.values())):
        cells = [f"{errors[m][n][rows].mean():.1e}" for m in errors for rows in phases.values()]
        table.rows.append([f"{1e3 * PERIOD / n:g}", *cells])
    return table


def _grasps(scene: Scene, reference: Run, steps: tuple[int, ...]) -> Table:
    table = Table(
        "Whole runs",
        ["integrator", "step [ms]", "sag [µm]", "grip [N]", "slip [mm]"],
        note="At the end of the hold: how far the cube hangs below where it was seized, on its "
        "tangential springs, and the normal force on a pad; then the way of the slip. "
        "semi-implicit-euler: the rigid step with the pads' normal compliance.",
    )
    held = _phases(len(reference.windows))["slipping"].start
    sag = -below(reference.windows[held].state)
    slipped = -below(reference.ends[-1]) - sag
    rest = MASS * GRAVITY / (2.0 * STIFFNESS)
    table.rows.append(["m g / 2 k, grip", "", f"{1e6 * rest:.3f}", f"{GRIP:g}", ""])
    table.rows.append(["reference", "", f"{1e6 * sag:.3f}", "", f"{1e3 * slipped:.4f}"])
    for name in (*LARGE, RIGID):
        for n in steps:
            found = grasp(scene, name, n)
            cells = ["blew up", "", ""]
            if found is not None:
                cells = [f"{1e6 * found.sag:.3f}", f"{found.force:.5f}"]
                cells.append(f"{1e3 * found.slipped:.4f}")
            table.rows.append([name, f"{1e3 * PERIOD / n:g}", *cells])
    return table


_CAPTION = "Mean local error over 10 ms while the gripper holds the cube, and while it slips."


def _figure(errors: dict[str, dict[int, Floats]]) -> str:
    panels = []
    for phase, rows in _phases(len(next(iter(errors[OURS].values())))).items():
        panel = Panel(phase, "step [ms]", "local error [m, rad, m/s, rad/s]")
        for name, by_steps in errors.items():
            x = [1e3 * PERIOD / n for n in by_steps]
            panel.curves[name] = x, [float(v[rows].mean()) for v in by_steps.values()]
        panels.append(panel)
    return draw(panels, {name: METHODS[name].color for name in LARGE})
