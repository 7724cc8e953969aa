"""Of several solutions the limit of vanishing compliance: grasps hold, what nothing squeezes falls,
symmetric scenes move symmetrically."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

GRAVITY, DT = 9.81, 1e-3
LINK = """<link name='{name}'><inertial><mass value='{mass}'/>
<inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial>
<collision><geometry><box size='{size}'/></geometry></collision></link>"""
SLIDE = """<joint name='j{name}' type='prismatic'><parent link='base'/><child link='{name}'/>
<origin xyz='{at}'/><axis xyz='{axis}'/>
<limit lower='-.1' upper='.1' effort='1e6' velocity='1'/>{more}</joint>"""


def placed(x: float, y: float, z: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def two_pads(more: str = "") -> str:
    """Pads of 0.1 m x 0.1 m on slides, 0.1 m apart, with positive positions inwards."""
    text = "<robot name='g'><link name='base'/>"
    for name, side in (("a", -1), ("b", 1)):
        text += LINK.format(name=name, mass=0.2, size=".02 .1 .1")
        text += SLIDE.format(
            name=name, at=f"{side * 0.06} 0 1", axis=f"{-side} 0 0", more=more if side > 0 else ""
        )
    return text + "</robot>"


def grasp(squeeze: float, friction: float = 0.5) -> tuple[stiction.Simulator, stiction.Control]:
    """A cube of 1 kg, pressed by `squeeze` times the least force that carries it."""
    material = stiction.Material(friction=friction)
    scene = stiction.Scene()
    scene.add_body("cube", stiction.Box([0.05] * 3), 1.0, placed(0, 0, 1), material)
    robot = stiction.load_urdf_string(two_pads(), "g.urdf", free_flyer=False, material=material)
    scene.add_robot(robot)
    sim = stiction.Simulator(scene, dt=DT)
    control = stiction.Control(scene.nv)
    torque = np.zeros(scene.nv)
    torque[-2:] = squeeze * GRAVITY / (2 * friction)
    control.torque = torque
    return sim, control


@pytest.mark.parametrize("squeeze", [1.001, 1.05, 1.2, 2.0])
def test_a_grasp_that_can_hold_holds(squeeze: float) -> None:
    sim, control = grasp(squeeze)
    state = sim.initial_state()
    for _ in range(300):
        assert sim.step(state, control).status == "ok"
    assert abs(1 - state.q[2]) < 1e-9


def free_fall(
    sim: stiction.Simulator, steps: int, control: stiction.Control | None = None
) -> float:
    """How far the first body is from where it would be without contact [m]."""
    state = sim.initial_state()
    z = state.q[2]
    for _ in range(steps):
        assert sim.step(state, control if control else sim.hold()).status == "ok"
    return abs(z - state.q[2] - GRAVITY * DT**2 * steps * (steps + 1) / 2)


def test_an_open_gripper_drops_what_it_touches() -> None:
    sim, control = grasp(0.0)
    assert free_fall(sim, 100, control) < 1e-6


def test_a_gripper_that_lets_go_drops() -> None:
    """The squeeze of the last step is no reason to hold."""
    sim, control = grasp(1.5)
    state = sim.initial_state()
    for _ in range(50):
        sim.step(state, control)
    z = state.q[2]
    control.torque = np.zeros(sim.scene.nv)
    for _ in range(100):
        sim.step(state, control)
    assert abs(z - state.q[2] - GRAVITY * DT**2 * 100 * 101 / 2) < 1e-6


@pytest.mark.parametrize("walls", [2, 4])
def test_a_box_exactly_in_a_slot_or_hole_falls(walls: int) -> None:
    material = stiction.Material(friction=0.8)
    scene = stiction.Scene()
    scene.add_body("box", stiction.Box([0.05, 0.04, 0.06]), 1.0, placed(0, 0, 1), material)
    sides = [(1, 0), (-1, 0), (0, 1), (0, -1)][:walls]
    for k, (x, y) in enumerate(sides):
        scene.add_half_space(f"wall{k}", [-0.05 * x, -0.04 * y, 0], [x, y, 0], material)
    assert free_fall(stiction.Simulator(scene, dt=DT), 100) < 1e-6


@pytest.mark.parametrize("angle", [5.0, 15.0])
def test_a_wedge_that_locks_itself_stays(angle: float) -> None:
    """Two walls lean by less than the angle of friction, 16.7 degrees, and press a wedge out."""
    material = stiction.Material(friction=0.3)
    scene = stiction.Scene()
    slope = np.tan(np.radians(angle))
    half, width = 0.03, 0.05
    corners = [
        (s * (width + slope * z), y, z)
        for s in (-1, 1)
        for y in (-half, half)
        for z in (-half, half)
    ]
    scene.add_body("wedge", stiction.ConvexMesh(np.array(corners)), 0.5, placed(0, 0, 1), material)
    for side in (-1.0, 1.0):
        normal = np.array([-side, 0.0, slope])
        scene.add_half_space(
            f"wall{side:+.0f}", [side * width, 0, 1], normal / np.linalg.norm(normal), material
        )
    sim = stiction.Simulator(scene, dt=DT)
    state = sim.initial_state()
    push = stiction.Control(scene.nv)
    for k in range(200):  # pressed in, left alone
        push.torque = np.array([0, 0, -50.0 if k < 100 else 0.0, 0, 0, 0])
        assert sim.step(state, push).status == "ok"
    assert abs(state.q[2] - 1) < 1e-6


@pytest.mark.parametrize("coupled", [False, True])
def test_two_fingers_share_the_weight(coupled: bool) -> None:
    material = stiction.Material(friction=0.8)
    more = "<mimic joint='ja'/>" if coupled else ""
    scene = stiction.Scene()
    robot = stiction.load_urdf_string(two_pads(more), "g.urdf", free_flyer=False, material=material)
    scene.add_robot(robot)
    for name in ("ja", "jb")[: 1 if coupled else 2]:
        scene.set_gains(name, kp=2000, kd=40)
    scene.add_body("cube", stiction.Box([0.05] * 3), 0.2, placed(0, 0, 1), material)
    sim = stiction.Simulator(scene, dt=DT)
    state, control = sim.initial_state(), sim.hold()
    target = np.zeros(scene.nv)
    target[[scene.dof(name) for name in ("ja", "jb")[: 1 if coupled else 2]]] = 0.005
    control.position_target = target
    sim.parameters.gravity[:] = 0
    for k in range(200):
        sim.parameters.gravity[:] = [0, 0, -GRAVITY if k >= 100 else 0.0]
        assert sim.step(state, control).status == "ok"
    left, right = (np.array(sim.wrench_between(name, "cube")[0]) for name in ("a", "b"))
    # A servo on one finger alone makes that the heavier one of two that are nearly alike.
    assert left[2] == pytest.approx(0.1 * GRAVITY, rel=0.05 if coupled else 1e-6)
    assert left[2] + right[2] == pytest.approx(0.2 * GRAVITY, rel=1e-6)
    assert abs(left[1]) < 1e-5 and abs(right[1]) < 1e-5  # of 5 N that each presses


def skid_steer() -> str:
    text = "<robot name='s'>" + LINK.format(name="base", mass=20, size=".5 .3 .1").replace(
        "1e-3", "1"
    )
    for name, x, y in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1)):
        text += f"""<link name='{name}'><inertial><mass value='1'/>
<inertia ixx='.005' iyy='.01' izz='.005' ixy='0' ixz='0' iyz='0'/></inertial>
<collision><origin rpy='1.5707963267948966 0 0'/><geometry><cylinder radius='.1' length='.06'/>
</geometry></collision></link><joint name='j{name}' type='continuous'><parent link='base'/>
<child link='{name}'/><origin xyz='{0.2 * x} {0.22 * y} -.05'/><axis xyz='0 1 0'/></joint>"""
    return text + "</robot>"


@pytest.mark.parametrize("yaw", [0.0, 0.4])
def test_a_robot_that_turns_in_place_stays(yaw: float) -> None:
    material = stiction.Material(friction=0.6)
    scene = stiction.Scene()
    scene.add_ground(material)
    scene.add_robot(stiction.load_urdf_string(skid_steer(), "s.urdf", material=material))
    wheels = {"jfl": -5.0, "jrl": -5.0, "jfr": 5.0, "jrr": 5.0}
    for name in wheels:
        scene.set_gains(name, 0, 50)
    sim = stiction.Simulator(scene, dt=4e-3)
    state = sim.initial_state()
    state.q[:7] = 0, 0, 0.15, 0, 0, np.sin(yaw / 2), np.cos(yaw / 2)
    control = stiction.Control(scene.nv)
    target = np.zeros(scene.nv)
    for name, speed in wheels.items():
        target[scene.dof(name)] = speed
    control.velocity_target = target
    farthest, turned = 0.0, 0.0
    for _ in range(2500):
        sim.step(state, control)
        farthest = max(farthest, float(np.linalg.norm(state.q[:2])))
        turned += state.v[5] * 4e-3
    assert turned > 2 * 2 * np.pi * 0.9
    assert farthest < 1e-3


# --- mirror images ------------------------------------------------------------------------------

FLIP = np.array([-1.0, 1.0, 1.0])
"""Of positions and velocities in the plane x = 0."""


def mirrored_rotation(q: np.ndarray) -> np.ndarray:
    return q * np.array([1, -1, -1, 1])


def mirrored(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of bodies that their own mirror images equal."""
    q, v = q.copy().reshape(-1, 7), v.copy().reshape(-1, 6)
    q[:, :3] *= FLIP
    q[:, 3:] = np.array([mirrored_rotation(x) for x in q[:, 3:]])
    v[:, :3] *= FLIP
    v[:, 3:] *= -FLIP
    return q.ravel(), v.ravel()


def random_sliders(
    rng: np.random.Generator,
) -> tuple[stiction.Scene, np.ndarray, np.ndarray]:
    """One to three flat boxes that slide and spin on the floor, with positions and velocities."""
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=rng.uniform(0.2, 1.0)))
    q: list[float] = []
    v: list[float] = []
    for k in range(rng.integers(1, 4)):
        half = rng.uniform([0.1, 0.1, 0.02], [0.2, 0.2, 0.04])
        material = stiction.Material(friction=rng.uniform(0.2, 1.0))
        scene.add_body(f"box{k}", stiction.Box(half), rng.uniform(0.2, 5.0), None, material)
        yaw = rng.uniform(-np.pi, np.pi)
        q += [3.0 * k, rng.uniform(-0.2, 0.2), half[2], 0, 0, np.sin(yaw / 2), np.cos(yaw / 2)]
        v += [*rng.uniform(-1, 1, 2), 0, 0, 0, rng.uniform(-2, 2)]
    return scene, np.array(q), np.array(v)


def test_a_mirror_image_moves_as_the_scene_does() -> None:
    rng = np.random.default_rng(0)
    for trial in range(200):
        scene, q, v = random_sliders(rng)
        sims = [stiction.Simulator(scene, dt=DT) for _ in range(2)]
        states = [sim.initial_state() for sim in sims]
        states[0].q[:], states[0].v[:] = q, v
        states[1].q[:], states[1].v[:] = mirrored(q, v)
        for step in range(1000 if trial % 10 == 0 else 1):
            for sim, state in zip(sims, states, strict=True):
                sim.step(state, sim.hold())
            if step == 0:
                expected = mirrored(states[0].q, states[0].v)[1]
                assert np.abs(states[1].v - expected).max() < 1e-9
        expected = mirrored(states[0].q, states[0].v)[0]
        assert np.abs(states[1].q - expected).max() < 1e-6


def test_what_stands_takes_one_factorisation() -> None:
    """Feet with four contacts, a brake on every joint, elbows that touch their limits."""
    sim = stiction.Simulator(stiction.load("talos"), dt=DT)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, steps=1000)
    total = 0
    for _ in range(200):
        sim.step(state, control)
        total += sim.solution().factorisations
    assert total <= 1.1 * 200
