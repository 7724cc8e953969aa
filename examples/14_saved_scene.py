"""A scene in one file: composed or loaded once, then read by Python and C++ alike.

python 14_saved_scene.py                 saves a scene, reads it back, and steps both
python 14_saved_scene.py ant.stiction    reads what load("ant.xml").save("ant.stiction") wrote
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pinocchio
import stiction


def run(scene):
    """The state after half a second of servos that hold the start."""
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, sim.hold(), 500)
    return state


def describe(scene):
    """Its name and size."""
    print(
        f"{scene.name}: {scene.num_bodies} bodies, {scene.nv} dofs, "
        f"{len(scene.geometries)} geometries"
    )


if len(sys.argv) > 1:
    scene = stiction.load(Path(sys.argv[1]))
    describe(scene)
    state = run(scene)
    print(f"after {state.time:.3f} s: q[2] = {state.q[2]:.6f}")
else:
    scene = stiction.load("solo12")
    at = pinocchio.SE3(np.eye(3), np.array([0.6, 0.0, 0.1]))
    scene.add_body("ball", stiction.Sphere(0.1), mass=1.0, X_W=at)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "14.stiction"
        scene.save(path)
        print(f"{path.name}: {path.stat().st_size} bytes")
        other = stiction.load(path)
    describe(other)
    same = run(other).save() == run(scene).save()
    print("steps with the same bits:", "yes" if same else "no")
