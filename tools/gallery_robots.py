"""The gallery's entries of robots from files: example-robot-data and Gymnasium."""

from gallery_entry import Entry


def urdf(name: str, title: str, about: str, file: str, srdf: str, *rest: object) -> Entry:
    """A robot of example-robot-data: configuration, kp, more code, seconds, at, cam."""
    configuration, kp, height, more, seconds, at, cam = rest
    folder = file.split("/")[0]
    code = (
        f'scene = stiction.load(robots / "{file}", srdf=robots / "{folder}/srdf/{srdf}.srdf")\n'
        f'sim, state, control = begin(scene, "{configuration}", kp={kp}, height={height})\n{more}'
    )
    return Entry(name, title, about, code, seconds, at, cam, file, "example_robot_data")  # type: ignore[arg-type]


def pushed(body: str, force: list[int], first: int = 600, last: int = 800) -> str:
    """Code of a push."""
    return f"""
def act(step):
    control.wrenches = ()
    if {first} <= step < {last}:
        sim.add_wrench(control, "{body}", force={force})
"""


TILT = "state.q[3:7] = pinocchio.Quaternion(pinocchio.rpy.rpyToMatrix(0.3, 0.2, 0)).coeffs()\n"


def mjcf(name: str, title: str, about: str, file: str, *rest: object) -> Entry:
    """A model of Gymnasium: more code, seconds, at, cam."""
    more, seconds, at, cam = rest
    code = f"""\
mjcf = stiction.load_mjcf(tasks / "{file}")
sim = stiction.Simulator(mjcf.scene, dt=1e-3)
state, control = sim.initial_state(), mjcf.hold()
{more}"""
    return Entry(name, title, about, code, seconds, at, cam, file, "gymnasium")  # type: ignore[arg-type]


def driven(size: float, period: float = 0.6) -> str:
    """Code of actuators that go to and fro."""
    return f"""\
phase = np.arange(len(mjcf.actuators)) * 2.4

def act(step):
    ctrl = {size} * np.sin(2 * np.pi * state.time / {period} + phase)
    control.torque = mjcf.control(ctrl).torque
"""


REAL = (
    urdf("go2", "Unitree Go2", "Falls 20 cm and is pushed over with 120 N.",
         "go2_description/urdf/go2.urdf", "go2", "standing", 150.0, 0.2,
         pushed("base", [0, 120, 0]), 2.0, 0.75, "40,16,1.7"),
    urdf("anymal", "ANYmal C", "Falls 40 cm onto its feet.",
         "anymal_c_simple_description/urdf/anymal.urdf", "anymal", "standing", 600.0, 0.4,
         "", 2.0, 0.5, "40,16,2.6"),
    urdf("hyq", "HyQ", "Falls 30 cm, rolled by 17 degrees and pitched by 11.",
         "hyq_description/robots/hyq_no_sensors.urdf", "hyq", "standing", 800.0, 0.3,
         TILT, 2.0, 0.7, "40,16,3.0"),
    urdf("b1-z1", "Unitree B1 with arm Z1", "Falls 20 cm with its arm up.",
         "b1_description/urdf/b1-z1.urdf", "b1-z1", "standing_with_arm_up", 600.0, 0.2,
         "", 2.0, 0.5, "40,16,2.8"),
    urdf("talos-full", "TALOS, with hands", "50 degrees of freedom; 250 N push it over.",
         "talos_data/robots/talos_full_v2.urdf", "talos", "half_sitting", 1500.0, 0.0,
         pushed("base_link", [0, 250, 0], 200, 500), 2.0, 1.0, "30,10,3.6"),
    urdf("centauro", "CENTAURO", "Four legs on wheels and two arms land from 20 cm.",
         "centauro_description/urdf/centauro.urdf", "centauro", "homing_nominal", 2000.0, 0.2,
         "", 1.0, 0.35, "40,12,4.0"),
    urdf("romeo", "Romeo", "Half sitting, falls 5 cm.",
         "romeo_description/urdf/romeo_small.urdf", "romeo_small", "half_sitting", 500.0, 0.05,
         "", 1.0, 0.3, "30,10,2.6"),
    urdf("bolt", "Bolt", "A biped on two points falls.",
         "bolt_description/robots/bolt.urdf", "bolt", "standing", 10.0, 0.02,
         "", 0.8, 0.45, "40,10,1.5"),
    Entry(
        "g1", "Unitree G1", "With 14 finger joints, straight legs; is pushed with 60 N.",
        """\
scene = stiction.load(robots / "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf")
sim, state, control = begin(scene, kp=200.0, height=0.05)

def act(step):
    control.wrenches = ()
    if 400 <= step < 600:
        sim.add_wrench(control, "pelvis", force=[60, 0, 0])
""",
        1.0, 0.55, "50,10,2.8", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
        "example_robot_data"),
    Entry(
        "tiago", "TIAGo", "The mobile manipulator moves its arm.",
        """\
scene = stiction.load(robots / "tiago_description/robots/tiago_no_hand.urdf")
sim, state, control = begin(scene, kp=400.0)

def act(step):
    control.position_target[scene.dof("arm_4_joint")] = 1.5 * min(1.0, step / 1000)
    control.position_target[scene.dof("arm_2_joint")] = -1.0 * min(1.0, step / 1000)
""",
        2.0, 1.4, "40,14,3.0", "tiago_description/robots/tiago_no_hand.urdf",
        "example_robot_data"),
    Entry(
        "panda", "Franka Panda", "The gripper closes on a block of 0.2 kg and carries it.",
        """\
file, srdf = "panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"
scene = stiction.load(robots / file, srdf=robots / srdf, free_flyer=False)
start = stiction.Simulator(scene)
hand = start.body_poses(start.initial_state())[scene.body("panda_rightfinger")]
place = pinocchio.SE3(np.eye(3), hand.act(np.array([0, 0, 0.045])))
scene.add_body("block", stiction.Box([0.02, 0.02, 0.03]), mass=0.2, X_W=place)
sim, state, control = begin(scene, kp=600.0)
stance = control.position_target.copy()
state.q[7:9] = 0.04  # the fingers are open

def act(step):
    turn = np.clip(state.time - 0.3, 0, 1)
    control.position_target[:4] = stance[:4] + turn * np.array([1, 0.4, 0, 0.7])
""",
        2.0, 1.3, "120,8,1.5", "panda_description/urdf/panda.urdf", "example_robot_data",
        "arrows=0&points=0"),
    Entry(
        "so101", "SO-101", "The arm of printed parts swings its five joints and gripper.",
        """\
scene = stiction.load(robots / "so_arm_description/urdf/so101.urdf", free_flyer=False)
sim, state, control = begin(scene, kp=20.0)

def act(step):
    control.position_target[:] = 0.5 * np.sin(3 * state.time) * np.cos(2.4 * np.arange(scene.nv))
""",
        3.0, 0.5, "40,14,0.9", "so_arm_description/urdf/so101.urdf", "example_robot_data"),
    mjcf("ant", "Ant", "Gymnasium's ant, its eight motors driven to and fro.", "ant.xml",
         driven(0.6), 3.0, 1.2, "40,22,3.6"),
    mjcf("humanoid", "Humanoid", "Gymnasium's humanoid falls forwards, no motor on.",
         "humanoid.xml", "state.v[:3] = [1, 0, 0]\n", 2.0, 0.5, "60,10,3.4"),
    mjcf("half-cheetah", "Half-cheetah", "Gymnasium's half-cheetah, its motors to and fro.",
         "half_cheetah.xml", driven(0.8, 0.35), 3.0, 1.3, "90,8,2.8"),
    mjcf("hopper", "Hopper", "Gymnasium's hopper, its motors to and fro.", "hopper.xml",
         driven(0.6, 0.5), 1.5, 0.3, "80,8,2.8"),
    mjcf("walker2d", "Walker2d", "Gymnasium's walker, its motors to and fro.", "walker2d_v5.xml",
         driven(0.5, 0.5), 1.5, 0.3, "80,8,3.0"),
    mjcf("pusher", "Pusher", "Gymnasium's arm sweeps over the table.", "pusher_v5.xml",
         driven(0.8, 1.5), 2.0, 1.0, "40,25,2.2"),
)  # fmt: skip
