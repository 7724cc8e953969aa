"""Columns of Batch.observe that come from frames, accelerations and contacts; all of them; history.

References are Pinocchio's kinematics and NumPy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction import Batch, HeightScan

URDF = Path(stiction.__file__).parent / "robots" / "solo12" / "solo12.urdf"
FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
N = 7


def solo(name: str = "solo12") -> stiction.Scene:
    scene = stiction.load(name)
    for dof in range(6, scene.nv):
        scene.set_gains(dof, 20.0, 0.3)
    return scene


def driven(scene: stiction.Scene | None = None, **options: object) -> Batch:
    """Solo-12 that moves its legs."""
    batch = Batch(scene or solo(), N, configuration="standing", **options)  # type: ignore[arg-type]
    batch.position_target += np.random.default_rng(1).uniform(-0.3, 0.3, batch.v.shape)
    batch.v[:] = np.random.default_rng(2).uniform(-0.5, 0.5, batch.v.shape)
    return batch


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


class Kinematics:
    """Pinocchio's of the robot of a scene."""

    def __init__(self, scene: stiction.Scene) -> None:
        self.model = pinocchio.buildModelFromUrdf(str(URDF), pinocchio.JointModelFreeFlyer())
        assert list(self.model.names)[2:] == [j.name for j in scene.joints][1:]
        self.data = self.model.createData()

    def at(self, frame: str, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> int:
        pinocchio.forwardKinematics(self.model, self.data, q, v, a)
        pinocchio.updateFramePlacements(self.model, self.data)
        return int(self.model.getFrameId(frame))

    def specific_force(
        self, frame: str, q: np.ndarray, v: np.ndarray, a: np.ndarray, gravity: np.ndarray
    ) -> np.ndarray:
        f = self.at(frame, q, v, a)
        local = pinocchio.ReferenceFrame.LOCAL
        classical = pinocchio.getFrameClassicalAcceleration(self.model, self.data, f, local)
        return np.asarray(classical.linear - self.data.oMf[f].rotation.T @ gravity)

    def velocity(self, frame: str, q: np.ndarray, v: np.ndarray, where: object) -> np.ndarray:
        f = self.at(frame, q, v, 0 * v)
        return np.asarray(pinocchio.getFrameVelocity(self.model, self.data, f, where).vector)

    def pose(self, frame: str, q: np.ndarray) -> pinocchio.SE3:
        f = self.at(frame, q, np.zeros(self.model.nv), np.zeros(self.model.nv))
        return pinocchio.SE3(self.data.oMf[f])


def mean_rate(q: np.ndarray, v: np.ndarray, q1: np.ndarray, v1: np.ndarray) -> np.ndarray:
    """Of v over a step of 1 ms, as Pinocchio has accelerations: the base's velocity in the world
    changes evenly, and its components too because their axes turn."""
    a: np.ndarray = (v1 - v) / 1e-3
    R, R1 = (pinocchio.Quaternion(x[3:7]).toRotationMatrix() for x in (q, q1))
    a[:3] = (R.T @ R1 @ v1[:3] - v[:3]) / 1e-3 - np.cross(v[3:6], v[:3])
    return a


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("frame", ["base_link", "FL_FOOT", "HR_LOWER_LEG"])
def test_an_imu_reads_the_last_steps_mean_acceleration(lanes: bool, frame: str) -> None:
    batch = driven(lanes=lanes)
    gravity = np.zeros((N, 3))
    gravity[:, 2] = -9.0 - 0.1 * np.arange(N)
    gravity[:, 0] = 0.5
    batch.assign("gravity", gravity, mask=np.arange(N) > 2)
    gravity[:3] = batch.scene.parameters.gravity
    pin = Kinematics(batch.scene)
    local = pinocchio.ReferenceFrame.LOCAL
    first = batch.observe(["imu"], imu=frame)  # no step yet: the base does not change its speed
    for w in range(N):
        q, v = batch.q[w], batch.v[w]
        expected = pin.specific_force(frame, q, v, mean_rate(q, v, q, v), gravity[w])
        assert first[w, :3] == pytest.approx(expected, abs=1e-9)
    for substeps in (1, 4, 7, 30):
        if substeps > 1:
            batch.step(substeps - 1)
        q, v = batch.q.copy(), batch.v.copy()
        batch.step()
        seen = batch.observe(["imu"], imu=frame)
        for w in range(N):
            a = mean_rate(q[w], v[w], batch.q[w], batch.v[w])
            expected = pin.specific_force(frame, q[w], v[w], a, gravity[w])
            assert seen[w, :3] == pytest.approx(expected, rel=1e-9, abs=1e-8)
            turn = pin.velocity(frame, batch.q[w], batch.v[w], local)[3:]
            assert seen[w, 3:] == pytest.approx(turn, abs=1e-11)
        kept = seen.copy()
        batch.v[:] += 0.0
        batch.v[0] += 1.0  # a push from outside is none of the step
        assert same_bits(batch.observe(["imu"], imu=frame)[:, :3], kept[:, :3])
        batch.v[0] -= 1.0


def test_an_imu_at_rest_and_in_flight() -> None:
    scene = stiction.Scene(name="drop")
    scene.add_ground()
    ball = scene.add_body("ball", stiction.Sphere(0.1), 1.0)
    batch = Batch(scene, 2)
    batch.q[:, 2] = [0.1, 3.0]
    batch.v[1, 3:] = [0.0, 4.0, 1.0]
    batch.observe(["imu"], imu="ball")
    batch.step(200)
    seen = batch.observe(["imu"], imu=ball)
    assert seen[0] == pytest.approx([0, 0, 9.81, 0, 0, 0], abs=1e-6)
    assert seen[1] == pytest.approx([0, 0, 0, 0, 4, 1], abs=1e-6)


@pytest.mark.parametrize("lanes", [True, False])
def test_sub_steps_masks_and_resets(lanes: bool) -> None:
    one, many = driven(lanes=lanes), driven(lanes=lanes)
    names = ["imu", "force"]
    for batch in (one, many):
        batch.observe(names, FEET, imu="base_link")
    for _ in range(12):
        one.step()
    many.step(12)
    now = one.observe(names, FEET, imu="base_link")
    assert same_bits(now, many.observe(names, FEET, imu="base_link"))
    assert np.abs(now[:, 6:]).max() > 1.0
    mask = np.arange(N) == 3
    many.step(5, mask)
    many.step(2, ~mask)
    many.step(3, ~mask)
    one.step(5)
    assert same_bits(
        one.observe(names, FEET, imu="base_link"), many.observe(names, FEET, imu="base_link")
    )
    many.reset(mask)
    fresh = many.observe(names, FEET, imu="base_link")
    assert same_bits(fresh[~mask], one.observe(names, FEET, imu="base_link")[~mask])
    assert fresh[3] == pytest.approx([0, 0, 9.81] + [0] * 15, abs=1e-12)


@pytest.mark.parametrize("lanes", [True, False])
def test_forces_are_those_of_the_reports(lanes: bool) -> None:
    batch = driven(lanes=lanes)
    batch.observe(["force"], FEET)
    pushes = 0
    for _ in range(30):
        batch.step(3)
        before = [batch.state(w) for w in range(N)]
        batch.step()
        seen = batch.observe(["force", "contact"], FEET)
        sizes = batch.contact_forces(FEET)
        for w in range(N):
            sim = batch.simulator(w)
            sim.step(before[w], batch.control(w))
            for k, foot in enumerate(FEET):
                expected = np.zeros(3)
                for c in sim.contacts():
                    if c.geometry_b_name == foot:
                        expected += c.force_on_b_world
                    if c.geometry_a_name == foot:
                        expected -= c.force_on_b_world
                force = seen[w, 3 * k : 3 * k + 3]
                assert force == pytest.approx(expected, abs=1e-4)
                assert np.linalg.norm(force) == pytest.approx(sizes[w, k], rel=1e-12)
                assert seen[w, 12 + k] == (sizes[w, k] > 0)
                pushes += expected[2] > 1.0
    assert pushes > 100


def test_poses_and_velocities_of_frames() -> None:
    batch = driven()
    batch.step(50)
    pin = Kinematics(batch.scene)
    frames = ["FL_FOOT", "HR_LOWER_LEG"]
    world = batch.observe(["pose", "velocity"], frames=frames)
    body = batch.observe(["velocity", "pose"], frames=frames, reference="base_link")
    assert world.shape == body.shape == (N, 26)
    for w in range(N):
        q, v = batch.q[w], batch.v[w]
        base = pin.pose("base_link", q)
        for k, frame in enumerate(frames):
            for at, X in (
                (world[w, 7 * k : 7 * k + 7], pin.pose(frame, q)),
                (body[w, 12 + 7 * k : 19 + 7 * k], base.actInv(pin.pose(frame, q))),
            ):
                assert at[:3] == pytest.approx(X.translation, abs=1e-12)
                rotation = pinocchio.Quaternion(at[3:]).toRotationMatrix()
                assert rotation == pytest.approx(X.rotation, abs=1e-12)
                assert at[6] >= 0.0
            aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
            speed = pin.velocity(frame, q, v, aligned)
            assert world[w, 14 + 6 * k : 20 + 6 * k] == pytest.approx(speed, abs=1e-11)
            turned = np.hstack((base.rotation.T @ speed[:3], base.rotation.T @ speed[3:]))
            assert body[w, 6 * k : 6 * k + 6] == pytest.approx(turned, abs=1e-11)


def test_frames_of_any_scene_are_those_of_its_motion() -> None:
    for name in ("allegro-ball", "four-bar", "box-stack", "cartpole"):
        scene = stiction.load(name)
        batch = Batch(scene, 3)
        batch.v[:] = np.random.default_rng(0).uniform(-0.2, 0.2, batch.v.shape)
        batch.step(7)
        bodies = list(range(scene.num_bodies))
        seen = batch.observe(["pose", "velocity"], frames=bodies)
        for w in range(3):
            motion = stiction.SceneMotion(scene, batch.state(w))
            for b in bodies:
                X = motion.pose(b)
                place, speed = seen[w, 7 * b : 7 * b + 7], seen[w, 7 * len(bodies) + 6 * b :][:6]
                assert place[:3] == pytest.approx(X.translation, abs=1e-12)
                rotation = pinocchio.Quaternion(place[3:]).toRotationMatrix()
                assert rotation == pytest.approx(X.rotation, abs=1e-12)
                assert speed == pytest.approx(motion.velocity(b), abs=1e-12)


# --- of all of them -------------------------------------------------------------------------------

ALL = ["v_body", "w_body", "gravity", "height", "joint_q", "joint_v", "q", "v", "target", "contact",
       "force", "imu", "pose", "velocity", "heights"]  # fmt: skip


def everything(batch: Batch, out: np.ndarray | None = None) -> np.ndarray:
    scan = HeightScan.grid([-0.2, 0.0, 0.2], [-0.1, 0.1])
    return batch.observe(
        ALL, FEET, out, frames=["FL_FOOT"], reference="base_link", imu="base_link", scan=scan
    )


@pytest.mark.parametrize("name", ["solo12", "solo12-rough"])
def test_threads_and_places_change_no_bit(name: str) -> None:
    batches = [driven(solo(name), threads=t) for t in (1, 2, 3, 4)]
    seen = []
    for batch in batches:
        everything(batch)
        batch.step(40)
        seen.append(everything(batch))
    assert all(same_bits(seen[0], x) for x in seen[1:])
    assert np.isfinite(seen[0]).all()
    one = Batch(batches[0].scene, 1, width=1)
    everything(one)
    state = batches[0].state(4)
    one.set_state(0, state)
    one.position_target[0] = batches[0].position_target[4]
    for batch in (one, batches[0]):
        batch.step(3)
    assert same_bits(everything(one)[0], everything(batches[0])[4])


def test_out_may_be_any_floats() -> None:
    batch = driven()
    batch.step(20)
    wanted = everything(batch)
    n = wanted.shape[1]
    for dtype in (np.float64, np.float32, np.float16):
        out = np.zeros((N, n), dtype)
        assert everything(batch, out) is out
        assert same_bits(out, wanted.astype(dtype))
    wide = np.full((N, n + 5), 7.0, np.float32)
    everything(batch, wide[:, 2 : 2 + n])  # between other columns
    assert same_bits(wide[:, 2 : 2 + n].copy(), wanted.astype(np.float32))
    assert (wide[:, [0, 1, -1]] == 7.0).all()
    across = np.zeros((n, N)).T
    everything(batch, across)
    assert (across == wanted).all()
    reversed_ = np.zeros((N, n))[::-1]
    everything(batch, reversed_)
    assert (reversed_ == wanted).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_world_that_is_not_finite_stays_alone(bad: float) -> None:
    good, batch = driven(solo("solo12-rough")), driven(solo("solo12-rough"))
    for b in (good, batch):
        everything(b)
        b.step(3)
    batch.q[2, 0] = batch.v[2, 4] = bad
    batch.step()
    good.step()
    seen, wanted = everything(batch), everything(good)
    others = np.arange(N) != 2
    assert batch.frozen[2] and same_bits(seen[others], wanted[others])
    assert np.isnan(seen[2, -6:]).all()  # heights under nowhere


def test_wrong_arguments_are_named() -> None:
    batch = driven()
    scan = HeightScan([[0.0, 0.0]])
    for call, text in (
        (lambda: batch.observe(["imu"]), "'imu' needs imu, the name of a frame"),
        (lambda: batch.observe(["pose"]), "'pose' needs frames, names of frames"),
        (lambda: batch.observe(["velocity"]), "'velocity' needs frames"),
        (lambda: batch.observe(["force"]), "'force' needs feet"),
        (lambda: batch.observe(["heights"]), "'heights' needs scan, a HeightScan"),
        (lambda: batch.observe(["imu"], imu="nose"), "nose"),
        (lambda: batch.observe(["pose"], frames=[99]), "99"),
        (lambda: batch.observe(["pose"], frames=["base_link"], reference="nose"), "nose"),
        (lambda: batch.observe(["contact"], ["FL_FOOT", "FL_FOOT"]), "given twice"),
        (lambda: HeightScan([0.0, 0.0]), r"points has shape \(2,\)"),
        (lambda: HeightScan([[0.0, np.nan]]), r"points\[0, 1\] = nan"),
        (lambda: HeightScan([[0.0, 0.0]], ground=[]), "ground is empty"),
        (lambda: batch.observe(["heights"], scan=HeightScan([[0, 0]], above=-1.0)),
         r"scan.above = -1: must be >= 0"),
        (lambda: batch.observe(["heights"], scan=HeightScan([[0, 0]], ground=["FL_FOOT"])),
         "is none of the world"),
        (lambda: batch.observe(["heights"], scan=HeightScan([[0, 0]], frame="nose")), "nose"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="scan"):
        batch.observe(["heights"], scan=[[0.0, 0.0]])  # type: ignore[arg-type]
    out = np.zeros((N, 1))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        batch.observe(["heights"], out=out, scan=scan)
    batch.step_async(2000)
    with pytest.raises(stiction.StictionError, match="wait"):
        batch.observe(["q"])
    batch.wait()
    for _ in range(40):  # more sets of arguments than are kept
        batch.observe(["heights"], scan=HeightScan(np.random.default_rng().uniform(size=(2, 2))))
    assert len(batch._observers) <= 16


# --- history --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_history_rolls(dtype: type) -> None:
    rng = np.random.default_rng(0)
    for threads in (1, 3):
        batch = driven(threads=threads)
        history: np.ndarray = np.zeros((N, 4, 5), dtype)
        expected = history.copy()
        for step in range(9):
            row: np.ndarray = rng.normal(size=(N, 5)).astype(dtype)
            begun = rng.random(N) < 0.2 if step % 2 else None
            expected = np.concatenate((expected[:, 1:], row[:, None]), axis=1)
            if begun is not None:
                expected[begun] = row[begun, None]
            assert batch.roll(history, row, begun) is history
            assert same_bits(history, np.ascontiguousarray(expected))
    short: np.ndarray = np.zeros((N, 1, 2), dtype)
    assert (batch.roll(short, np.ones((N, 2)))[:, 0] == 1.0).all()


def test_wrong_histories_are_named() -> None:
    batch = driven()
    good, row = np.zeros((N, 3, 2)), np.zeros((N, 2))
    for call, text in (
        (lambda: batch.roll(good[:, ::2], row), "C-contiguous"),
        (lambda: batch.roll(good.astype(int), row), "float32 or float64"),
        (lambda: batch.roll(np.zeros((N, 0, 2)), row), "k >= 1"),
        (lambda: batch.roll(good[:3], row), r"array \(7, k"),
        (lambda: batch.roll(good, row[:, :1]), r"newest has shape \(7, 1\): must be \(7, 2\)"),
        (lambda: batch.roll(good, row, np.zeros(3, bool)), r"begun has shape \(3,\)"),
    ):
        with pytest.raises(ValueError, match=text):
            call()  # type: ignore[no-untyped-call]
    with pytest.raises(TypeError, match="begun has dtype"):
        batch.roll(good, row, np.zeros(N))
