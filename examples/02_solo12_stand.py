"""Solo-12 stands and is pushed; the record is one HTML page.

Usage: 02_solo12_stand.py [replay.html]
"""

import sys

import numpy as np
import stiction
from stiction.record import Recorder
from stiction.replay import write_replay

scene = stiction.load("solo12")
sim = stiction.Simulator(scene, dt=1e-3, solver="ncp-newton", tolerance=1e-8)
state = sim.initial_state("standing")
stand = sim.hold("standing")  # servo targets; add to stand.torque for a torque of your own

push = sim.hold("standing")
push.wrenches = [
    stiction.ExternalWrench(scene.body("base_link"), force=[0, 15.0, 0])
]  # world axes [N]

recorder = Recorder(sim, title="Solo-12 is pushed with 15 N")
recorder.capture(state)
worst = 0.0
for step in range(4000):
    report = sim.step(state, push if 1000 <= step < 1200 else stand)
    recorder.after_step(state)
    worst = max(worst, report.residuals.relative)

weight = -scene.parameters.gravity[2] * scene.parameters.mass.sum()
carried = sum(contact.force_on_b_world[2] for contact in sim.contacts())
print(f"the feet carry {carried:.4f} N, the robot weighs {weight:.4f} N")
print(f"worst relative residual of 4000 steps: {worst:.1e}")
print(
    f"base moved by {np.linalg.norm(state.q[:2]) * 1e3:.1f} mm and stands {state.q[2]:.4f} m high"
)
if len(sys.argv) > 1:
    print(write_replay(sys.argv[1], recorder.replay()))
