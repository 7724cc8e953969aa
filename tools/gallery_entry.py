"""An entry of the gallery (docs/gallery.md): its code, how long it runs, and its picture.

The code of an entry runs after PRELUDE; it leaves `sim`, `state` and `control`, and may define
`act(step)` of its own, called after each step, which may change `control`.
"""

from dataclasses import dataclass

PRELUDE = '''\
from pathlib import Path

import gymnasium
import numpy as np
import pinocchio
import stiction
from stiction.record import Recorder
from stiction.replay import write_replay

robots = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
tasks = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def begin(scene, configuration="default", kp=None, height=0.0, dt=1e-3):
    """Servos hold a configuration; the lowest point starts at a height above the ground [m]."""
    for joint in scene.joints:
        if joint.nv == 1 and kp:
            scene.set_gains(joint.v_index, kp, kp / 15)
    sim = stiction.Simulator(scene, dt=dt)
    state = sim.initial_state(configuration)
    if scene.joints[0].nv == 6:
        state.q[2] += 1.0
        ground = scene.geometry("ground")
        pairs = [p for p in scene.distances(state) if ground in (p.geometry_a, p.geometry_b)]
        state.q[2] += height - min(p.distance for p in pairs)
    return sim, state, sim.hold(configuration)


def act(step):
    """Entries that steer have one of their own."""
'''

FINISH = """\
recorder = Recorder(sim)  # of an MJCF file: Recorder(sim, visuals=mjcf.visuals())
recorder.capture(state)
for step in range(2000):  # as many as the entry says
    sim.step(state, control)
    recorder.after_step(state)
    act(step + 1)
write_replay("replay.html", recorder.replay())
"""


@dataclass(frozen=True)
class Entry:
    """One card.

    Attributes:
        about: one line.
        code: Python, after PRELUDE.
        seconds: simulated [s].
        at: time of the picture [s].
        cam: azimuth, elevation [deg], distance [m] and maybe the target [m], as in the viewer.
        source: file of example-robot-data or gymnasium; empty for a built-in scene.
        needs: a package that must be there.
        options: more of the viewer's options.
    """

    name: str
    title: str
    about: str
    code: str
    seconds: float
    at: float
    cam: str
    source: str = ""
    needs: str = ""
    options: str = ""
