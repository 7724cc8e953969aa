"""Contact with a stiffness in N/m: a box that rests at m g / k, a ball that bounces by its damper.

SI units. The box: 5 kg on a surface of 1e6 N/m in steps of 5 ms, a third of the period of the
contact, 2 pi sqrt(m / k) = 14 ms. The ball: its damper decides how high it bounces; contact ends
where spring and damper would pull, and the ratio of the speeds follows from the damping ratio
zeta = d / (2 sqrt(k m)) alone.
"""

import numpy as np
import stiction

GRAVITY = 9.81


def simulator(shape, mass, height, stiffness, damping, dt, integrator):
    """One body `height` above the ground [m]; k and d belong to the pair."""
    scene = stiction.Scene()
    ground = stiction.Material(friction=0.6)  # rigid: the body's spring is that of the pair
    soft = stiction.Material(friction=0.6, stiffness=stiffness, damping=damping)
    scene.add_ground(ground)
    pose = np.eye(4)
    pose[2, 3] = height
    scene.add_body("body", shape, mass=mass, X_W=pose, material=soft)
    return stiction.Simulator(scene, dt=dt, integrator=integrator)


print("5 kg dropped 2 mm on 1e6 N/m and 2e3 N s/m, 1 s in steps of 5 ms")
rest = -5.0 * GRAVITY / 1e6
print(f"  at rest m g / k below the surface: {rest * 1e6:.3f} um")
for integrator in ("semi-implicit-euler", "implicit-euler", "exponential"):
    sim = simulator(stiction.Box([0.1, 0.1, 0.1]), 5.0, 0.102, 1e6, 2e3, 5e-3, integrator)
    state = sim.initial_state()
    lowest = 0.0
    for _ in range(200):
        sim.step(state)
        lowest = min(lowest, state.q[2] - 0.1)
    depth = state.q[2] - 0.1
    print(f"  {integrator:20s} {depth * 1e6:9.3f} um, deepest {lowest * 1e6:9.2f} um")
    assert abs(depth - rest) < 1e-9

print("a ball of 0.1 kg on 1e5 N/m: speed after over speed before a bounce, by the damping ratio")
k, m, speed = 1e5, 0.1, 2.0
for zeta in (0.02, 0.1, 0.3):
    d = 2.0 * zeta * np.sqrt(k * m)
    sim = simulator(stiction.Sphere(0.05), m, 0.06, k, d, 1e-3, "exponential")
    state = sim.initial_state()
    state.v[2] = -speed
    touched, previous = False, state.v[2]
    for _ in range(60):
        sim.step(state)
        touched = touched or state.v[2] > 0.0
        if touched and state.q[2] > 0.05:
            break
    fall = np.sqrt(speed**2 + 2.0 * GRAVITY * 0.01)
    rise = np.sqrt(state.v[2] ** 2 + 2.0 * GRAVITY * (state.q[2] - 0.05))
    # Contact ends where the spring and damper would pull, k z + d z' = 0.
    root = np.sqrt(1.0 - zeta**2)
    expected = np.exp(-zeta / root * np.arctan2(2.0 * zeta * root, 2.0 * zeta**2 - 1.0))
    print(f"  zeta {zeta:4.2f}: {rise / fall:.4f}, without gravity {expected:.4f}")
    assert abs(rise / fall - expected) < 0.01
