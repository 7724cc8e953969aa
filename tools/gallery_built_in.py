"""The gallery's entries of built-in scenes."""

from gallery_entry import Entry

BUILT_IN = (
    Entry(
        "solo12",
        "solo12",
        "Solo-12 falls 15 cm, stands and is pushed with 15 N.",
        """\
sim, state, control = begin(stiction.load("solo12"), "standing", height=0.15)

def act(step):
    control.wrenches = ()
    if 1000 <= step < 1150:
        sim.add_wrench(control, "base_link", force=[0, 15, 0])
""",
        2.0,
        1.1,
        "35,18,1.15",
    ),
    Entry(
        "solo12-trot",
        "solo12-trot",
        "A trot of fixed servo targets, without feedback.",
        """\
scene = stiction.load("solo12-trot")
sim, state, control = begin(scene, "standing")
targets = stiction.trot_targets(scene, 3.0)

def act(step):
    control.position_target = targets[min(step, len(targets) - 1)]
""",
        3.0,
        2.06,
        "60,14,1.15",
    ),
    Entry(
        "solo12-rough",
        "solo12-rough",
        "The quadruped lands on a height field.",
        """\
sim = stiction.Simulator(stiction.load("solo12-rough"))
state, control = sim.initial_state("standing"), sim.hold("standing")
state.q[2] += 0.2
""",
        2.0,
        1.0,
        "40,14,1.2",
        options="grid=0",
    ),
    Entry(
        "solo12-trot-bumpy",
        "solo12-trot-bumpy",
        "The same trot on slippery tiles of uneven height.",
        """\
scene = stiction.load("solo12-trot-bumpy")
sim = stiction.Simulator(scene)
state, control = sim.initial_state("standing"), sim.hold("standing")
targets = stiction.trot_targets(scene, 3.0)

def act(step):
    control.position_target = targets[min(step, len(targets) - 1)]
""",
        3.0,
        2.06,
        "55,20,1.25",
    ),
    Entry(
        "talos",
        "talos",
        "Humanoid TALOS, half sitting, is pushed with 80 N and keeps standing.",
        """\
sim, state, control = begin(stiction.load("talos"), "standing")

def act(step):
    control.wrenches = ()
    if 500 <= step < 700:
        sim.add_wrench(control, "base_link", force=[0, 80, 0])
""",
        2.0,
        0.65,
        "30,10,3.6",
        needs="example_robot_data",
    ),
    Entry(
        "allegro-ball",
        "allegro-ball",
        "The Allegro hand closes on a ball of 0.1 kg.",
        """\
sim = stiction.Simulator(stiction.load("allegro-ball"))
state, control = sim.initial_state(), sim.hold()
""",
        2.0,
        1.5,
        "200,30,0.5",
        needs="example_robot_data",
    ),
    Entry(
        "cube-slide",
        "cube-slide",
        "A cube slides at 3 m/s until friction stops it; it does not hop.",
        """\
sim = stiction.Simulator(stiction.load("cube-slide"))
state, control = sim.initial_state(), sim.hold()
state.v[:] = [0, 3, 0, 0, 0, 6]
""",
        1.5,
        0.35,
        "20,22,1.0",
        options="cones=1",
    ),
    Entry(
        "cube-drag",
        "cube-drag",
        "A growing force drags a cube: it sticks, then slides.",
        """\
sim = stiction.Simulator(stiction.load("cube-drag"))
state, control = sim.initial_state(), sim.hold()

def act(step):
    control.wrenches = ()
    sim.add_wrench(control, "cube", force=[0, min(17.658, 39.24 * step * 1e-3), 0])
""",
        1.0,
        0.7,
        "20,22,1.0",
        options="cones=1",
    ),
    Entry(
        "two-cubes",
        "two-cubes",
        "1000 kg on 1 g: a mass ratio of a million, at rest.",
        """\
sim = stiction.Simulator(stiction.load("two-cubes"))
state, control = sim.initial_state(), sim.hold()
""",
        1.0,
        0.5,
        "30,18,1.6",
        options="cones=1",
    ),
    Entry(
        "box-stack",
        "box-stack(10)",
        "The fourth of ten cubes is kicked at 5 m/s; those above it come down.",
        """\
sim = stiction.Simulator(stiction.load("box-stack(10)"))
state, control = sim.initial_state(), sim.hold()
state.v[3 * 6 : 3 * 6 + 3] = [5, 1, 0]
""",
        2.5,
        0.3,
        "60,8,4.6",
        options="arrows=0&points=0",
    ),
    Entry(
        "ball-drop",
        "ball-drop",
        "A ball of restitution 0.8 bounces with spin.",
        """\
sim = stiction.Simulator(stiction.load("ball-drop"))
state, control = sim.initial_state(), sim.hold()
state.v[:] = [0.5, 0, 0, 0, 20, 0]
""",
        3.0,
        0.3,
        "30,10,2.4,0.25,0,0.4",
    ),
    Entry(
        "slope",
        "slope",
        "A cube slides down a plane of 15 degrees, friction 0.2.",
        """\
sim = stiction.Simulator(stiction.load("slope"))
state, control = sim.initial_state(), sim.hold()
""",
        1.5,
        0.5,
        "80,14,1.2",
        options="cones=1",
    ),
    Entry(
        "cartpole",
        "cartpole",
        "Cart and pole without a servo swing between their end stops.",
        """\
sim = stiction.Simulator(stiction.load("cartpole"))
state, control = sim.initial_state(), sim.hold()
state.v[0] = 1.0
""",
        3.0,
        0.35,
        "70,10,3.0,0,0,0.35",
    ),
    Entry(
        "double-pendulum",
        "double-pendulum",
        "Two rods, released from the horizontal.",
        """\
sim = stiction.Simulator(stiction.load("double-pendulum"))
state, control = sim.initial_state(), sim.hold()
""",
        4.0,
        0.5,
        "70,5,3.0",
    ),
    Entry(
        "four-bar",
        "four-bar",
        "A closed loop of four bars, turned at its crank.",
        """\
sim = stiction.Simulator(stiction.load("four-bar"))
state, control = sim.initial_state(), sim.hold()
control.torque[0] = 0.05
""",
        3.0,
        1.0,
        "75,8,1.8",
    ),
    Entry(
        "ycb-pile",
        "ycb-pile(30)",
        "Thirty hulls of household objects fill a funnel.",
        """\
sim = stiction.Simulator(stiction.load("ycb-pile(30)"), dt=2e-3)
state, control = sim.initial_state(), sim.hold()
""",
        2.0,
        1.4,
        "35,35,1.5,0,0,0.12",
        options="arrows=0&points=0",
    ),
)
