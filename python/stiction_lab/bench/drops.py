"""Piles that fall and stacks that are kicked: every step timed and judged, ours beside MuJoCo's.

Unlike `step`, nothing has settled here: each engine goes from the same start through all impacts.
Its trajectories part from MuJoCo's after the first of them, so the mean number of contacts is told
beside the times. A step's time is thread CPU time, the least of the repetitions.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray
from stiction import Box, Material, Scene, Simulator, load

from . import machine
from .agreement import compare_facts, require
from .measure import Tick, sideways_kicks
from .peer_models import CONES, PeerVariant, box_stack, compile_variant
from .work_budget import work_used
from .worlds import BenchError, Facts, Kick

Floats = NDArray[np.float64]
START = 0.2
"""[s] Overlap is judged from then on: piles start with some."""
OVERLAP = 2e-3
"""[m] An overlap that counts as small."""
_HALF, _MASS = 0.05, 1.0
"""Half edge [m] and mass [kg] of the boxes of a pile."""


@dataclass(frozen=True)
class DropScene:
    """A scene of boxes from its first step on.

    Attributes:
        build: our scene.
        half, friction: half edge of the boxes [m], coefficient of all surfaces.
        dt, seconds: time step and length of the run [s].
        kick, kicks: sideways impulse on one body after the other [N s], how many, at equal
            intervals.
        settle: seconds before the run, not measured.
        reps: repetitions of the timing.
    """

    name: str
    build: Callable[[], Scene]
    half: float
    friction: float
    dt: float
    seconds: float
    kick: float = 0.0
    kicks: int = 0
    settle: float = 0.0
    reps: int = 3

    def steps(self, share: float) -> int:
        """Of the run, or of that share of it."""
        return max(2, round(share * self.seconds / self.dt))

    def kick_at(self, count: int, bodies: int) -> dict[int, Kick]:
        """Which impulse comes before which of `count` steps."""
        whole = round(self.seconds / self.dt)
        chosen = sideways_kicks(bodies, self.kicks, self.kick) if self.kicks else []
        every = whole // max(1, self.kicks)
        return {k * every: kick for k, kick in enumerate(chosen) if k * every < count}


def pile(count: int, seed: int = 0) -> Scene:
    """Loose boxes of 0.1 m, five by five a layer, a little out of place and turned, above a plane.

    Neighbours overlap by up to some centimetres at the start: noise of 10 mm on gaps of 40 mm.
    """
    rng = np.random.default_rng(seed)
    scene, material = Scene(name=f"pile-drop-{count}"), Material(friction=0.5)
    scene.add_ground(material)
    for k in range(count):
        layer, i, j = k // 25, (k % 25) // 5, k % 5
        x, y = (0.14 * (n - 2) + 0.01 * rng.standard_normal() for n in (i, j))
        w, *xyz = (lambda q: q / np.linalg.norm(q))(np.r_[1, 0.1 * rng.standard_normal(3)])
        X = np.eye(4)
        X[:3, :3] = _rotation(w, np.array(xyz))
        X[:3, 3] = x, y, 0.08 + 0.14 * layer
        scene.add_body(f"box{k}", Box([_HALF] * 3), _MASS, X, material)
    return scene


def _rotation(w: float, xyz: Floats) -> Floats:
    """Matrix of a unit quaternion."""
    cross = np.cross(np.eye(3), xyz)
    return np.asarray(np.eye(3) - 2 * w * cross + 2 * cross @ cross)


def _stack(count: int) -> Callable[[], Scene]:
    return lambda: load(f"box-stack({count})")


SCENES = (
    DropScene("pile-drop-100", lambda: pile(100), _HALF, 0.5, 2e-3, 1.0),
    DropScene("pile-drop-500", lambda: pile(500), _HALF, 0.5, 2e-3, 1.0, reps=1),
    DropScene("pile-drop-2000", lambda: pile(2000), _HALF, 0.5, 2e-3, 0.7, reps=1),
    DropScene("stack-kick-10", _stack(10), 0.1, 0.7, 1e-3, 1.2, kick=1.0, kicks=12, settle=0.5),
    DropScene("stack-kick-30", _stack(30), 0.1, 0.7, 1e-3, 1.2, kick=1.0, kicks=12, settle=0.5),
)


class Engine(Protocol):
    """One engine with the scene at the start of the run."""

    label: str

    def facts(self) -> Facts:
        """Of the scene as built."""
        ...

    def restart(self) -> None:
        """To the start of the run."""
        ...

    def kick(self, kick: Kick) -> None:
        """Changes the velocity of a body."""
        ...

    def step(self) -> None:
        """One step, what is timed."""
        ...

    def observe(self, trace: Trace) -> None:
        """Of the step just taken."""
        ...


@dataclass
class Trace:
    """Per step: overlap at its start [m], contacts, largest speeds after it [m/s, rad/s]."""

    overlap: list[float] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    linear: list[float] = field(default_factory=list)
    angular: list[float] = field(default_factory=list)
    status: list[str] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    safe: list[bool] = field(default_factory=list)


class Ours:
    """stiction with default settings."""

    label = "stiction"

    def __init__(self, scene: DropScene) -> None:
        self._scene = scene.build()
        self._sim = Simulator(self._scene, dt=scene.dt)
        self._state = self._sim.initial_state()
        self._control = self._sim.hold()
        self.poses = [np.asarray(X.homogeneous) for X in self._sim.body_poses(self._state)]
        self._friction = float(np.max(self._sim.parameters.friction))
        self._sim.run(self._state, self._control, round(scene.settle / scene.dt))
        self._start = self._state.copy()

    def facts(self) -> Facts:
        mass = np.asarray(self._sim.parameters.mass)
        height = float(mass @ [X[2, 3] for X in self.poses] / mass.sum())
        return Facts(float(mass.sum()), int(self._scene.nv), height, self._friction, 0.0, 0.0)

    def restart(self) -> None:
        self._state = self._start.copy()

    def kick(self, kick: Kick) -> None:
        rotation = self._sim.body_poses(self._state)[kick.body].rotation
        first, mass = 6 * kick.body, float(self._sim.parameters.mass[kick.body])
        self._state.v[first : first + 3] += rotation.T @ np.array(kick.impulse) / mass

    def step(self) -> None:
        self._report = self._sim.step(self._state, self._control)

    def observe(self, trace: Trace) -> None:
        v = np.asarray(self._state.v).reshape(-1, 6)
        trace.overlap.append(float(self._report.penetration))
        trace.contacts.append(int(self._report.num_contacts))
        trace.status.append(str(self._report.solver_status))
        trace.residual.append(float(self._report.residuals.relative))
        trace.safe.append(bool(self._report.safe_islands))
        trace.work.append(work_used(self._sim, self._report))
        _speeds(trace, v[:, :3], v[:, 3:])


class Mujoco:
    """The same boxes at the same poses in MuJoCo, with its default tolerances."""

    def __init__(self, scene: DropScene, poses: list[Floats], variant: PeerVariant) -> None:
        self.label = f"mujoco {variant.label}"
        spec = box_stack(len(poses), scene.friction)
        for body, X in zip(spec.bodies[1:], poses, strict=True):
            body.pos = X[:3, 3]
            body.quat = _quaternion(X[:3, :3])
            body.geoms[0].size = [scene.half] * 3
        spec.memory = 1 << 30
        self._model = compile_variant(spec, variant, scene.dt)
        self._data = mujoco.MjData(self._model)
        if scene.settle > 0:
            mujoco.mj_step(self._model, self._data, nstep=round(scene.settle / scene.dt))
        self._start = self._saved()

    def facts(self) -> Facts:
        model, data = self._model, mujoco.MjData(self._model)
        mujoco.mj_forward(model, data)
        mass = float(model.body_mass[1:].sum())
        height = float(data.xipos[1:, 2] @ model.body_mass[1:]) / mass
        return Facts(mass, model.nv, height, float(model.geom_friction[:, 0].max()), 0.0, 0.0)

    def restart(self) -> None:
        mujoco.mj_setState(
            self._model, self._data, self._start, mujoco.mjtState.mjSTATE_INTEGRATION
        )

    def kick(self, kick: Kick) -> None:
        dof = int(self._model.body_dofadr[kick.body + 1])
        mass = self._model.body_mass[kick.body + 1]
        self._data.qvel[dof : dof + 3] += np.array(kick.impulse) / mass

    def step(self) -> None:
        mujoco.mj_step(self._model, self._data)

    def observe(self, trace: Trace) -> None:
        data = self._data
        v = np.asarray(data.qvel).reshape(-1, 6)
        trace.overlap.append(max(0.0, -float(np.min(data.contact.dist, initial=0.0))))
        trace.contacts.append(int(data.ncon))
        _speeds(trace, v[:, :3], v[:, 3:])

    def _saved(self) -> Floats:
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.zeros(mujoco.mj_stateSize(self._model, kind))
        mujoco.mj_getState(self._model, self._data, state, kind)
        return state


def _quaternion(R: Floats) -> Floats:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).ravel())
    return quaternion


def _speeds(trace: Trace, linear: Floats, angular: Floats) -> None:
    trace.linear.append(float(np.linalg.norm(linear, axis=1).max()))
    trace.angular.append(float(np.linalg.norm(angular, axis=1).max()))


def bench_drops(
    names: Sequence[str] = (), share: float = 1.0, tick: Tick | None = None
) -> dict[str, Any]:
    """A row per scene; no names: all of them.

    Raises:
        BenchError: a name is unknown, or the engines do not hold the same scene.
    """
    known = {scene.name: scene for scene in SCENES}
    for name in names:
        if name not in known:
            raise BenchError(f"scene {name!r} is unknown; there are: {', '.join(known)}")
    chosen = [known[name] for name in names or known]
    rows = [bench_drop(scene, share, tick) for scene in chosen]
    return {"rows": rows, "machine": machine.describe()}


def bench_drop(scene: DropScene, share: float = 1.0, tick: Tick | None = None) -> dict[str, Any]:
    """One row: the scene's facts and every engine's numbers; share < 1 only for trying out.

    Raises:
        BenchError: the engines do not hold the same scene.
    """
    say = tick or (lambda line: None)
    ours = Ours(scene)
    engines: list[Engine] = [ours]
    engines += [
        Mujoco(scene, ours.poses, PeerVariant(solver, cone, integrator))
        for cone in CONES
        for solver in ("newton", "cg")
        for integrator in ("implicitfast", "euler")
    ]
    measured = {}
    for engine in engines:
        require(scene.name, engine.label, compare_facts(ours.facts(), engine.facts()))
        say(f"{scene.name}: {engine.label}")
        measured[engine.label] = _measure(scene, engine, len(ours.poses), share)
    return {
        "scene": scene.name,
        "dt": scene.dt,
        "steps": scene.steps(share),
        "kick": scene.kick,
        "facts": asdict(ours.facts()),
        "engines": measured,
    }


def _measure(scene: DropScene, engine: Engine, bodies: int, share: float) -> dict[str, Any]:
    count = scene.steps(share)
    kicks = scene.kick_at(count, bodies)
    seconds = np.full(count, np.inf)
    trace = Trace()
    for _ in range(scene.reps):
        engine.restart()
        trace = Trace()
        for k in range(count):
            if k in kicks:
                engine.kick(kicks[k])
            begin = time.thread_time()
            engine.step()
            seconds[k] = min(seconds[k], time.thread_time() - begin)
            engine.observe(trace)
    return _summary(scene, seconds, trace)


def _summary(scene: DropScene, seconds: Floats, trace: Trace) -> dict[str, Any]:
    late = np.array(trace.overlap[round(START / scene.dt) :] or trace.overlap)
    out: dict[str, Any] = {
        "ms": spread(seconds * 1e3),
        "contacts": float(np.mean(trace.contacts)),
        "linear_speed": float(np.max(trace.linear)),
        "angular_speed": float(np.max(trace.angular)),
        "overlap_small": float(np.mean(late <= OVERLAP)),
        "overlap_p99": float(np.percentile(late, 99)),
        "overlap_max": float(late.max()),
        "overlap_start": trace.overlap[0],
    }
    if trace.status:
        out["status"] = dict(Counter(trace.status))
        out["safe"] = float(np.mean(trace.safe))
        out["residual_max"] = float(np.max(trace.residual))
        out["work_max"] = float(np.max(trace.work))
    return out


def spread(values: Floats) -> dict[str, float]:
    """Mean, p50, p99 and largest."""
    return {
        "mean": float(values.mean()),
        "p50": float(np.median(values)),
        "p99": float(np.percentile(values, 99)),
        "max": float(values.max()),
    }
