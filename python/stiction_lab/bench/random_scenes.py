"""Random scenes by seed, in two kinds, for tests and for the bench of worst steps.

`mild` is what a user means: masses within 10 : 1, friction up to 1, nothing overlaps, dt = 1 ms.
`hard` is what a user may bring by accident: masses from 1e-6 to 1e6 kg, friction up to 10, bodies
that overlap and closures that are open at the start, joint limits that lock, gains over eleven
decades, dt from 1e-5 to 1e-2 s. Equal arguments give equal scenes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from stiction import (
    Box,
    Capsule,
    Cone,
    Control,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    ExternalWrench,
    HeightField,
    LoadWarning,
    Material,
    Scene,
    Shape,
    Simulator,
    Sphere,
    StartWarning,
    State,
    TriangleMesh,
    bounding_radius,
)

from .random_robots import RandomRobot, random_robot

KINDS = ("mild", "hard")
FLOORS = ("plane", "planes", "height-field", "mesh", "box", "none")
SHAPES = ("sphere", "capsule", "box", "cylinder", "cone", "ellipsoid", "hull", "mesh")
MAX_ROWS = 300
"""Steps with more rows are outside of what these scenes are for; consumers leave them out."""
GRAVITY = 9.81
_PENDULUM = 0.02
"""dt in parts of sqrt(size / g), at most, where there are joints: Coriolis forces are explicit."""
_LARGEST_TURN = 0.02
"""[rad] a joint turns in a step at most, at first and by its torque over the run, likewise."""
_RUN = 200
"""Steps that torques are made for."""

Floats = NDArray[np.float64]


@dataclass
class RandomScene:
    """A scene, how it starts and what drives it.

    Attributes:
        features: what is in it, to tell classes of failures apart.
        v: (nv,) velocity at the start.
        torque: (nv,) held all the time [N m or N].
        wrenches: (body, force [N], moment [N m]) likewise.
        poses: (4, 4) of the loose bodies, which are the first of the scene.
    """

    kind: str
    seed: int
    scene: Scene
    dt: float
    features: dict[str, str | int | float | bool | list[str]] = field(default_factory=dict)
    robots: list[RandomRobot] = field(default_factory=list)
    v: Floats = field(default_factory=lambda: np.zeros(0))
    torque: Floats = field(default_factory=lambda: np.zeros(0))
    wrenches: list[tuple[int, Floats, Floats]] = field(default_factory=list)
    poses: list[Floats] = field(default_factory=list)

    def start(self) -> tuple[Simulator, State, Control]:
        """A fresh simulator with default settings, the initial state and the control. Overlaps are
        what is tried, and no step is to be slower for them."""
        sim = Simulator(self.scene, dt=self.dt)
        sim._start_checked = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StartWarning)
            state, control = sim.initial_state(), sim.hold()
        state.v = self.v
        control.torque = self.torque
        control.wrenches = [ExternalWrench(b, f, m) for b, f, m in self.wrenches]
        return sim, state, control


def random_scene(kind: str, seed: int) -> RandomScene:
    """The scene of that kind and seed.

    Raises:
        ValueError: the kind is unknown.
    """
    if kind not in KINDS:
        raise ValueError(f"kind = {kind!r}: must be one of {', '.join(KINDS)}")
    with warnings.catch_warnings():  # links that overlap are part of what is tried
        warnings.simplefilter("ignore", LoadWarning)
        return _Builder(kind, seed).build()


def rotation(rng: np.random.Generator) -> Floats:
    """A random rotation matrix (3, 3), uniform."""
    w, x, y, z = (lambda q: q / np.linalg.norm(q))(rng.normal(size=4))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose(R: Floats, p: Floats) -> Floats:
    """(4, 4) of a rotation and a position."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


class _Builder:
    """One scene in the making; every number comes from its own generator."""

    def __init__(self, kind: str, seed: int) -> None:
        self.rng = np.random.default_rng([KINDS.index(kind), seed])
        self.hard = kind == "hard"
        crowded = np.random.default_rng([KINDS.index(kind), seed, 1])
        self.crowd = int(crowded.integers(5, 20)) if crowded.random() < 0.15 else 0
        self.bouncy = bool(crowded.random() < 0.3)
        self.size = float(10 ** self.rng.uniform(-1.3, 0.5)) if self.hard else 0.2
        self.decades = float(self.rng.choice([0.5, 3.0, 6.0])) if self.hard else 0.5
        self.articulated = bool(self.rng.random() < 0.4)
        dt = float(10 ** self.rng.uniform(-5, -2)) if self.hard else 1e-3
        if self.articulated:
            dt = min(dt, _PENDULUM * float(np.sqrt(self.size / GRAVITY)))
        self.out = RandomScene(kind, seed, Scene(name=f"{kind}-{seed}"), dt)
        self.planes: list[Floats] = []
        self.top = 0.0  # [m] what is placed next without overlap lies above

    def build(self) -> RandomScene:
        out, rng = self.out, self.rng
        floor = str(rng.choice(FLOORS if self.hard else FLOORS[:-1]))
        overlapping = self.hard and rng.random() < 0.35
        out.features.update(
            floor=floor, size=self.size, decades=self.decades, dt=out.dt, overlapping=overlapping
        )
        self.add_floor(floor)
        self.add_bodies(int(rng.integers(1, 11)) + self.crowd, overlapping)
        if self.articulated:
            self.add_robot(overlapping)
        if rng.random() < 0.25 and len(self.out.poses) >= 2:
            self.add_closure()
        self.drive()
        restitution = np.asarray(out.scene.parameters.restitution)
        out.features["restitution"] = float(np.max(restitution, initial=0.0))
        return out

    def length(self, count: int | None = None) -> Floats:
        """Half an extent of a body [m], within 5 : 1 of the scene's size."""
        return np.asarray(self.size * 10 ** self.rng.uniform(-0.7, 0.0, size=count))

    def material(self) -> Material:
        rng = self.rng
        if not self.hard:
            return Material(friction=float(rng.choice([0.0, rng.uniform(0, 1)], p=[0.1, 0.9])))
        friction = rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 10)])
        restitution = rng.choice([0.0, rng.uniform(0, 1), 1.0], p=[0.7, 0.2, 0.1])
        return Material(float(friction), float(restitution) if self.bouncy else 0.0)

    def shape(self, kind: str) -> Shape:
        rng = self.rng
        if kind == "sphere":
            return Sphere(float(self.length()))
        if kind == "box":
            return Box(self.length(3))
        if kind == "ellipsoid":
            return Ellipsoid(self.length(3))
        if kind == "hull":
            return ConvexMesh(rng.normal(size=(int(rng.integers(6, 30)), 3)) * 0.6 * self.length(3))
        if kind == "mesh":
            return TriangleMesh(*bipyramid(self.length(3), int(rng.integers(3, 9))))
        maker = {"capsule": Capsule, "cylinder": Cylinder, "cone": Cone}[kind]
        return maker(float(self.length()), float(self.length()))

    def add_floor(self, floor: str) -> None:
        scene, rng, size, material = self.out.scene, self.rng, self.size, self.material()
        if floor == "plane":
            scene.add_ground(material)
        elif floor == "planes":
            for i in range(4):
                normal = rng.normal(size=3)
                normal[2] = abs(normal[2]) + (0.3 if self.hard else 1.0)
                normal /= np.linalg.norm(normal)
                self.planes.append(normal)
                scene.add_half_space(f"plane{i}", np.zeros(3), normal, material)
        elif floor == "height-field":
            heights = rng.normal(size=(9, 9)) * 0.3 * size
            self.top = float(heights.max())
            field_shape = HeightField(heights, [1.3 * size, 1.3 * size], depth=2 * size)
            scene.add_geometry("floor", -1, field_shape, None, material)
        elif floor == "mesh":
            scene.add_geometry("floor", -1, self.rough_mesh(8), None, material)
        elif floor == "box":
            plate = pose(np.eye(3), np.array([0.0, 0.0, -size]))
            scene.add_geometry("floor", -1, Box([8 * size, 8 * size, size]), plate, material)

    def rough_mesh(self, count: int) -> Shape:
        """An open triangle mesh over a square grid with random heights."""
        axis = np.linspace(-6 * self.size, 6 * self.size, count)
        x, y = np.meshgrid(axis, axis, indexing="ij")
        heights = self.rng.normal(size=count * count) * 0.3 * self.size
        self.top = float(heights.max())
        corner = np.add.outer(np.arange(count - 1) * count, np.arange(count - 1)).ravel()
        lower = np.stack([corner, corner + count, corner + 1], 1)
        upper = np.stack([corner + 1, corner + count, corner + count + 1], 1)
        vertices = np.stack([x.ravel(), y.ravel(), heights], 1)
        return TriangleMesh(vertices, np.vstack([lower, upper]))

    def place(self, radius: float, overlapping: bool) -> Floats:
        """A pose (4, 4) for a ball of that radius [m]: above all others, or among them."""
        p = np.zeros(3)
        if overlapping:
            p = self.rng.uniform([-1, -1, -0.3], [1, 1, 3]) * self.size
        else:
            p[:2] = self.rng.uniform(-0.3, 0.3, size=2) * radius
            heights = [(radius - n[:2] @ p[:2]) / n[2] for n in self.planes]
            p[2] = max([self.top + radius, *heights]) + 0.02 * self.size
            self.top = p[2] + radius
        return pose(rotation(self.rng), p)

    def add_bodies(self, count: int, overlapping: bool) -> None:
        rng, kinds = self.rng, []
        for i in range(count):
            kinds.append(str(rng.choice(SHAPES)))
            shape = self.shape(kinds[-1])
            X = self.place(float(bounding_radius(shape)), overlapping)
            mass = float(10 ** rng.uniform(-self.decades, self.decades))
            self.out.scene.add_body(f"body{i}", shape, mass, X, self.material())
            self.out.poses.append(X)
        self.out.features["shapes"] = kinds

    def add_robot(self, overlapping: bool) -> None:
        X = self.place(2.0 * self.size, overlapping)
        robot = random_robot(
            self.rng, self.out.scene, X, self.size, self.out.dt, self.hard, self.material()
        )
        self.out.robots.append(robot)
        self.out.features.update(robot.features)

    def add_closure(self) -> None:
        """Between the first two bodies; in hard scenes every second one is open at the start."""
        scene, rng = self.out.scene, self.rng
        scene.disable_pair("body0", "body1")
        X_A, X_B = self.out.poses[:2]
        at_A = pose(rotation(rng), rng.normal(size=3) * self.size)
        at_B = np.linalg.inv(X_B) @ X_A @ at_A
        is_open = bool(self.hard and rng.random() < 0.5)
        if is_open:
            at_B = pose(rotation(rng), rng.normal(size=3) * self.size)
        weld = bool(rng.random() < 0.5)
        if weld:
            scene.add_weld("weld", "body0", at_A, "body1", at_B)
        else:
            scene.add_point_closure("hinge", "body0", at_A[:3, 3], "body1", at_B[:3, 3])
        self.out.features.update(closure="weld" if weld else "point", closure_open=is_open)

    def drive(self) -> None:
        """Velocities at the start, torques and wrenches."""
        out, rng = self.out, self.rng
        nv, first = out.scene.nv, 6 * len(self.out.poses)
        speed = float(rng.choice([0.0, 1.0, 10.0])) if self.hard else 0.3
        # In 200 short steps bodies would not reach each other by their weight.
        fall = min(10.0, 0.01 * self.size / out.dt) * rng.uniform()
        out.v = rng.normal(size=nv) * speed
        for body, X in enumerate(self.out.poses):
            out.v[6 * body : 6 * body + 3] -= X[2, :3] * fall
        turn = _LARGEST_TURN / out.dt
        out.v[first:] = np.clip(out.v[first:], -turn, turn)
        out.torque = np.zeros(nv)
        if out.robots and rng.random() < 0.5:
            share = float(10 ** rng.uniform(-2, 0))
            robot = out.robots[0]
            joints = slice(robot.v_offset + robot.first_joint, robot.v_offset + robot.nv)
            rate = share * turn / (_RUN * out.dt)
            out.torque[joints] = rate * robot.joint_inertia * rng.normal(size=len(out.v[joints]))
            out.features["torque"] = share
        masses = np.asarray(out.scene.parameters.mass)
        for body in range(len(self.out.poses)):
            if rng.random() < 0.1:
                force = rng.normal(size=3) * GRAVITY * masses[body] * 10 ** rng.uniform(-1, 1)
                moment = 0.1 * self.size * rng.permutation(force)
                out.wrenches.append((body, force, moment))


def bipyramid(half: Floats, sides: int) -> tuple[Floats, NDArray[np.int32]]:
    """Vertices and outward triangles of a closed double pyramid, half (3,) its half axes [m]."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(sides)], 1)
    vertices = np.vstack([ring, [[0, 0, 1], [0, 0, -1]]]) * half
    i, j = np.arange(sides), np.roll(np.arange(sides), -1)
    top = np.stack([i, j, np.full(sides, sides)], 1)
    bottom = np.stack([j, i, np.full(sides, sides + 1)], 1)
    return vertices, np.vstack([top, bottom]).astype(np.int32)
