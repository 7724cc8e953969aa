"""Contacts of MuJoCo as springs of N/m and dampers of N s/m, and its local errors.

Constant impedance d0 and direct solref (−k (1 − d0) Â, −d (1 − d0) Â), Â the contact's approximate
inverse inertia, give f = k r + d v up to the factor d0. Friction is MuJoCo's, viscous inside the
elliptic cone. `refsafe` is off: it would soften springs that are stiff for the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...bench.peer_models import CONES, INTEGRATORS, SOLVERS, TORSION
from ...bench.peer_models import solo12 as solo12_spec
from . import scenes_beside_mujoco as setting

Floats = NDArray[np.float64]

IMPEDANCE = 1e-4
KINDS = INTEGRATORS | {"RK4": mujoco.mjtIntegrator.mjINT_RK4}
FINE = 1e-3 / 64
"""Step of MuJoCo's own reference [s]."""


def solo12(urdf: Path, integrator: str, dt: float) -> mujoco.MjModel:
    """Solo-12 with servos, four sphere feet on springs."""
    spec = solo12_spec(urdf, setting.FRICTION)
    feet = [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_SPHERE]
    return _on_springs(spec, feet, integrator, dt)


def point(integrator: str, dt: float) -> mujoco.MjModel:
    """A ball that does not turn."""
    spec = mujoco.MjSpec()
    ground = spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE)
    ground.size = [0, 0, 1]
    body = spec.worldbody.add_body(name="point")
    body.mass, body.inertia = setting.POINT_MASS, [1e-3] * 3
    body.explicitinertial = True
    for k, axis in enumerate(np.eye(3)):
        body.add_joint(name=f"slide{k}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    ball = body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[setting.POINT_RADIUS, 0, 0])
    ball.mass = 0
    return _on_springs(spec, [ball], integrator, dt)


def _on_springs(
    spec: mujoco.MjSpec, feet: Sequence[mujoco.MjsGeom], integrator: str, dt: float
) -> mujoco.MjModel:
    mu = setting.FRICTION
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    option = spec.option
    option.timestep, option.integrator = dt, KINDS[integrator]
    option.solver, option.cone = SOLVERS["newton"], CONES["elliptic"]
    option.tolerance, option.iterations, option.ls_tolerance = 1e-12, 200, 1e-4
    disable = mujoco.mjtDisableBit
    option.disableflags |= disable.mjDSBL_AUTORESET | disable.mjDSBL_REFSAFE
    pairs = []
    for k, foot in enumerate(feet):
        foot.name = f"foot{k}"
        friction = [mu, mu, TORSION, 1e-4, 1e-4]
        pairs.append(
            spec.add_pair(
                name=f"pair{k}",
                geomname1="ground",
                geomname2=foot.name,
                condim=3,
                friction=friction,
            )
        )
    model = spec.compile()
    for pair, foot in zip(pairs, feet, strict=True):
        inverse = model.body_invweight0[model.geom_bodyid[model.geom(foot.name).id], 0]
        share = (1.0 - IMPEDANCE) * inverse
        pair.solref = [-setting.STIFFNESS * share, -setting.DAMPING * share]
        pair.solreffriction = [0, 0]
        pair.solimp = [IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2]
    return spec.compile()


@dataclass(frozen=True)
class Driven:
    """A model by integrator and step, where it starts, and its servo targets (T, servos).

    Attributes:
        held: torques are those of the servos at the start of a period and held through it.
    """

    build: Callable[[str, float], mujoco.MjModel]
    start: Callable[[mujoco.MjData], None]
    targets: Floats
    held: bool = False


State = tuple[Floats, Floats, Floats]


def local_errors(driven: Driven, integrator: str, steps: Sequence[int]) -> dict[int, Floats]:
    """By number of steps per period: the largest difference of each period (T,); inf: blew up.

    Every period starts from a state of a run of the same integrator at the step `FINE`, servos at
    work, and ends where that integrator ends at that step.
    """
    fine = driven.build(integrator, FINE)
    per_period = round(setting.PERIOD / FINE)
    data = mujoco.MjData(fine)
    driven.start(data)
    starts = [_saved(data)]
    for target in driven.targets:
        data.ctrl[:] = target
        mujoco.mj_step(fine, data, nstep=per_period)
        starts.append(_saved(data))
    ends = _ends(driven, fine, starts[:-1], per_period) if driven.held else starts[1:]
    errors = {}
    for n in steps:
        model = driven.build(integrator, setting.PERIOD / n)
        errors[n] = _differences(model, _ends(driven, model, starts[:-1], n), ends)
    return errors


def _saved(data: mujoco.MjData) -> State:
    return data.qpos.copy(), data.qvel.copy(), data.qacc_warmstart.copy()


def _ends(
    driven: Driven, model: mujoco.MjModel, starts: Sequence[State], steps: int
) -> list[State]:
    """After each period, from its start."""
    data = mujoco.MjData(model)
    ends = []
    if driven.held:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    for target, (q, v, warm) in zip(driven.targets, starts, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = q, v, warm
        data.ctrl[:] = target
        if driven.held:
            kp, kd = model.actuator_gainprm[:, 0], -model.actuator_biasprm[:, 2]
            data.qfrc_applied[6:] = kp * (target - q[7:]) - kd * v[6:]
        mujoco.mj_step(model, data, nstep=steps)
        ends.append(_saved(data))
    return ends


def _differences(
    model: mujoco.MjModel, ends: Sequence[State], references: Sequence[State]
) -> Floats:
    errors = np.full(len(ends), np.inf)
    moved = np.zeros(model.nv)
    for k, ((q, v, _), (q_exact, v_exact, _)) in enumerate(zip(ends, references, strict=True)):
        mujoco.mj_differentiatePos(model, moved, 1.0, q_exact, q)
        worst = max(np.abs(moved).max(), np.abs(v - v_exact).max())
        if np.isfinite(worst):
            errors[k] = worst
    return errors


def bounce(integrator: str, dt: float, duration: float) -> Floats:
    """Heights of the point over the ground (T + 1,) of a free run, and its start [m]."""
    model = point(integrator, dt)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = setting.POINT_START, setting.POINT_SPEED
    heights = [data.qpos[2]]
    for _ in range(round(duration / dt)):
        mujoco.mj_step(model, data)
        heights.append(data.qpos[2])
    return np.array(heights) - setting.POINT_RADIUS


def effective_stiffness(integrator: str) -> float:
    """m g over the depth at which the point rests [N/m]."""
    model = point(integrator, 2.5e-4)
    data = mujoco.MjData(model)
    data.qpos[2] = setting.POINT_RADIUS
    mujoco.mj_step(model, data, nstep=8000)
    depth = setting.POINT_RADIUS - data.qpos[2]
    return float(setting.POINT_MASS * -model.opt.gravity[2] / depth)
