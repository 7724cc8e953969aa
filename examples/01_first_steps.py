"""A robot stands for a second: who touches whom with which force, and how exact is it?"""

import stiction

sim = stiction.Simulator(stiction.load("solo12"), dt=1e-3)
state, control = sim.initial_state("standing"), sim.hold("standing")
for _ in range(1000):
    report = sim.step(state, control)
for contact in sim.contacts():
    print(contact.body_a_name, "pushes", contact.body_b_name, contact.force_on_b_world, "N")
print("residual", report.residuals.relative, "penetration", report.penetration, "m")
