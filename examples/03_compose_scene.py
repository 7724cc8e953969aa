"""A scene of your own: a robot, boxes, a convex mesh, materials, filters.

Solo-12 stands on the ground while a box slides past it on a slippery patch, a wedge of any shape
falls on the box, and a ghost falls through everything but the ground.
"""

import numpy as np
import pinocchio
import stiction


def at(x, y, z):
    """A placement without rotation [m]."""
    return pinocchio.SE3(np.eye(3), np.array([x, y, z]))


robot = stiction.load("solo12").robots[0].description  # or stiction.load_urdf("my_robot.urdf")
rubber = stiction.Material(friction=0.9)
ice = stiction.Material(friction=0.05)

scene = stiction.Scene(name="composed")
ground = scene.add_ground(rubber)
scene.add_robot(robot, at(0, 0, 0.34), robot_name="solo12")  # on straight legs
for dof in range(6, scene.nv):
    scene.set_gains(dof, kp=5.0, kd=0.1)

box = scene.add_body(
    "box", stiction.Box([0.1, 0.1, 0.1]), mass=1.0, X_W=at(0.8, 0, 0.1), material=rubber
)
points = [[0, 0, 0], [0.15, 0, 0], [0, 0.1, 0], [0.15, 0.1, 0], [0, 0, 0.1], [0, 0.1, 0.1]]
wedge = scene.add_body("wedge", stiction.ConvexMesh(points), mass=0.3, X_W=at(0.75, -0.05, 0.4))
ghost = scene.add_body("ghost", stiction.Sphere(0.05), mass=0.1, X_W=at(0.8, 0, 0.6))

# Two materials meet by combine(); this pair has its own. Names or numbers, both do.
scene.set_pair_material("ground", "box", ice)
for other in range(len(scene.geometries)):
    if other != ground and scene.geometries[other].name != "ghost":
        scene.disable_pair("ghost", other)

sim = stiction.Simulator(scene, dt=1e-3)
state, control = sim.initial_state(), sim.hold()
slide = next(joint for joint in scene.joints if joint.body == box).v_index
state.v[slide + 1] = 0.5  # the box starts at 0.5 m/s along its y axis
sim.run(state, control, 1500)

poses = sim.body_poses(state)
for name in ("box", "wedge", "ghost"):
    print(name, "is at", poses[scene.body(name)].translation.round(3))
print(
    "contacts of the ghost:",
    [c.geometry_a for c in sim.contacts() if c.body_b == ghost],
    "ground:",
    ground,
)
print("force and moment on the box:", sim.wrench_on("box"))
