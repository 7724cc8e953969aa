"""Collision queries alone: distance, warm starts, contact points, a height scan. Nothing moves.

SI units; where a pose is asked for, a 4 x 4 array, a pinocchio.SE3 or None (identity) will do.
"""

import numpy as np
import stiction


def at(x, y, z, angle=0.0):
    """A pose [m]: turned about z by an angle [rad], then moved."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


# A convex mesh is the hull of its points, here 200 on an ellipsoid.
k = np.arange(200)
z = 1 - (2 * k + 1) / 200
angle, r = k * np.pi * (3 - np.sqrt(5)), np.sqrt(1 - z * z)
points = np.column_stack([r * np.cos(angle), r * np.sin(angle), z]) * [0.12, 0.08, 0.05]
stone, brick = stiction.ConvexMesh(points), stiction.Box([0.1, 0.05, 0.03])  # half extents

# Signed distance, the normal from A to B, and the closest point of each shape, in the world.
apart = stiction.distance(stone, None, brick, at(0.3, 0.05, 0.02, 0.4))
inside = stiction.distance(stone, None, brick, at(0.2, 0.05, 0.02, 0.4))
for result in (apart, inside):
    print(f"{result.status}: {result.distance:.6f} m, normal {result.normal.round(4) + 0.0}")
    defect = result.witness_b - result.witness_a - result.distance * result.normal
    print("  witness points lie along the normal:", np.abs(defect).max() < 1e-12)

# The brick turns past the stone. What the last query found is where the next one begins.
cold = warm = 0
last = None
for angle in np.linspace(0.4, 0.6, 200):
    pose = at(0.3, 0.05, 0.02, angle)
    cold += stiction.distance(stone, None, brick, pose).iterations
    last = stiction.distance(stone, None, brick, pose, warm_start=last and last.warm_start)
    warm += last.iterations
print("iterations of 200 queries, without and with warm starts:", cold, warm)

# Contact points of two bricks, the upper one 0.1 mm inside; `feature` names a point over time.
for point in stiction.contact_manifold(brick, None, brick, at(0.05, 0.01, 0.0599, 0.3)):
    print(f"contact at {point.position.round(4)}, gap {point.gap:.6f} m, feature {point.feature}")

# Terrain, and the heights around a robot as a policy would see them. Its own body is not seen.
scene = stiction.Scene()
hills = stiction.height_field(
    lambda x, y: 0.1 * np.sin(2 * x) * np.cos(3 * y), size=(4, 4), cell_size=0.05
)
scene.add_geometry("hills", "world", hills)
scene.add_body("robot", brick, 1.0, at(0, 0, 0.4))
scene.add_body("stone", stone, 1.0, at(0.3, 0, 0.4))
x, y = (a.ravel() for a in np.meshgrid([-0.6, -0.3, 0.0, 0.3, 0.6], [-0.2, 0.0, 0.2]))
origins = np.column_stack([x, y, np.full(x.size, 1.0)])
down = np.tile([0.0, 0.0, -1.0], (x.size, 1))
hits = stiction.ray_cast(scene, scene.default_q, origins, down, ignored=["robot"])
print("height scan [m]:")
print((1.0 - hits.distances).reshape(3, 5).round(4) + 0.0)
print("the stone was hit by", int((hits.geometries == scene.geometry("stone")).sum()), "rays")

# All pairs of a scene that are closer than half a metre.
for pair in scene.distances(scene.default_q, max_distance=0.5):
    a, b = (scene.geometries[g].name for g in (pair.geometry_a, pair.geometry_b))
    print(f"{a} and {b} are {pair.distance:.4f} m apart")
