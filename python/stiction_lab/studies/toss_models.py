"""What predicts a toss: every solver of the registry, and MuJoCo. Each has three parameters.

Stiction: friction, restitution, height of the board. MuJoCo: friction, damping ratio of its
contacts (`solref[1]`, which takes the place of restitution), height of the board.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from stiction import Box, Material, Scene, SimulationError, Simulator, make_state
from stiction.pages.experiment import StudyError

from .contact_models.solvers import NAMES
from .tosses import GRAVITY, INERTIA, MASS, RATE, SIDE, Floats, Toss, lowest

STEPS = 5
"""Of a simulator, per frame: dt = 1.35 ms."""
DT = 1.0 / (RATE * STEPS)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model, and where it is searched."""

    name: str
    start: float
    low: float
    high: float
    step: float


@dataclass(frozen=True)
class Prediction:
    """Poses at the frames of a toss (F, 7), the deepest corner over all steps [m], and the number
    of steps whose contact problem was not solved to the tolerance (MuJoCo does not say)."""

    poses: Floats
    depth: float
    unsolved: int = 0


Predict = Callable[[Toss, int], Prediction]


@dataclass(frozen=True)
class Model:
    """A contact model: three parameters, and what makes a predictor of their values."""

    name: str
    parameters: tuple[Parameter, Parameter, Parameter]
    prepare: Callable[[Floats], Predict]


FRICTION = Parameter("friction", 0.18, 0.01, 1.0, 0.06)
RESTITUTION = Parameter("restitution", 0.125, 0.0, 0.9, 0.1)
DAMPING_RATIO = Parameter("damping ratio", 1.0, 0.02, 3.0, 0.3)


def models(board: float) -> dict[str, Model]:
    """Every model; the search for the board starts at the measured height [m]."""
    height = Parameter("board [m]", board, board - 0.004, board + 0.004, 0.0008)
    found = {
        name: Model(name, (FRICTION, RESTITUTION, height), _stiction(name))
        for name in sorted(NAMES)
    }
    for name, constant in MUJOCO.items():
        found[name] = Model(name, (FRICTION, DAMPING_RATIO, height), _mujoco(*constant))
    return found


# --- stiction -----------------------------------------------------------------------------------


def _stiction(solver: str) -> Callable[[Floats], Predict]:
    def prepare(values: Floats) -> Predict:
        friction, restitution, board = values.tolist()
        sim = Simulator(cube_scene(friction, restitution), dt=DT, solver=solver)

        def predict(toss: Toss, frames: int) -> Prediction:
            q = toss.q - np.array([0.0, 0.0, board, 0.0, 0.0, 0.0, 0.0])
            v = np.concatenate([_turned_back(toss.q[3:], toss.v[:3]), toss.v[3:]])
            state = make_state(sim.scene, q, v)
            try:
                log = sim.rollout(state, steps=STEPS * frames, record=("q", "converged"))
            except SimulationError:
                return _failed(frames)
            return _prediction(np.asarray(log.q), board, int(np.sum(~np.asarray(log.converged))))

        return predict

    return prepare


def cube_scene(friction: float, restitution: float) -> Scene:
    """The measured cube above the ground z = 0."""
    scene = Scene(name="toss")
    body = scene.add_body("cube", Box([0.5 * SIDE] * 3), MASS)
    scene.add_ground()
    scene.parameters.set_inertia(body, INERTIA * np.eye(3))
    scene.parameters.gravity = [0.0, 0.0, -GRAVITY]
    names = [geometry.name for geometry in scene.geometries]
    scene.set_pair_material(names[0], names[1], Material(friction, restitution))
    return scene


def _turned_back(quaternion: Floats, v: Floats) -> Floats:
    """A world vector in the body frame: Rᵀ v."""
    u, w = -quaternion[:3], quaternion[3]
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)


def _prediction(path: Floats, board: float, unsolved: int = 0) -> Prediction:
    """Of poses at every step above a board at 0."""
    poses = path[::STEPS].copy()
    poses[:, 2] += board
    return Prediction(poses, max(0.0, -float(np.min(lowest(path)))), unsolved)


def _failed(frames: int) -> Prediction:
    return Prediction(np.full((frames + 1, 7), np.nan), float("nan"))


# --- MuJoCo -------------------------------------------------------------------------------------

SOFT, STIFF = (0.02, "0.9 0.95 0.001 0.5 2"), (2.0 * DT, "0.99 0.999 0.001 0.5 2")
"""Time constant of contacts [s] and `solimp`: the defaults; the shortest that MuJoCo admits, two
time steps, with nearly rigid impedance."""
MUJOCO: dict[str, tuple[float, str, str]] = {
    "mujoco": (*SOFT, "pyramidal"),
    "mujoco-elliptic": (*SOFT, "elliptic"),
    "mujoco-stiff": (*STIFF, "pyramidal"),
    "mujoco-stiff-elliptic": (*STIFF, "elliptic"),
}
"""Time constant, `solimp`, cone; the first is MuJoCo's default."""
MJCF = """<mujoco>
  <option timestep="{dt!r}" gravity="0 0 {gravity!r}" cone="{cone}"/>
  <default><geom friction="{friction!r} 0 0" solref="{constant!r} {ratio!r}" solimp="{solimp}"/>
  </default>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body><freejoint/><inertial pos="0 0 0" mass="{mass!r}" diaginertia="{i!r} {i!r} {i!r}"/>
      <geom type="box" size="{h!r} {h!r} {h!r}"/></body>
  </worldbody>
</mujoco>"""


def require_mujoco() -> None:
    """Raise StudyError with the way out if it is missing."""
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise StudyError("needs MuJoCo: pip install mujoco==4.0.0") from error


def _mujoco(constant: float, solimp: str, cone: str) -> Callable[[Floats], Predict]:
    def prepare(values: Floats) -> Predict:
        import mujoco
        from mujoco.rollout import rollout

        friction, ratio, board = values.tolist()
        xml = MJCF.format(
            dt=DT,
            gravity=-GRAVITY,
            friction=friction,
            constant=constant,
            ratio=ratio,
            solimp=solimp,
            cone=cone,
            mass=MASS,
            i=INERTIA,
            h=0.5 * SIDE,
        )
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)

        def predict(toss: Toss, frames: int) -> Prediction:
            start = np.concatenate([[0.0], _to_mujoco(toss.q, toss.v)])
            start[3] -= board
            found, _ = rollout(model, data, start[None, :], nstep=STEPS * frames)
            path = np.concatenate([start[None, 1:8], found[0, :, 1:8]])
            path = path[:, [0, 1, 2, 4, 5, 6, 3]]
            return _prediction(path, board) if np.isfinite(path).all() else _failed(frames)

        return predict

    return prepare


def _to_mujoco(q: Floats, v: Floats) -> Any:
    """qpos with quaternion w x y z, qvel linear in the world, angular in the body."""
    return np.concatenate([q[[0, 1, 2, 6, 3, 4, 5]], v])
