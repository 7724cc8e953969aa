"""Gains and motors against the inertia that they move and the time step.

Of one joint of inertia M, semi-implicit steps of dt with a torque -kp q - kd v that is computed
before the step are stable if and only if kd > 0 and dt^2 kp + 2 dt kd < 4 M (Jury's criterion). In
a robot M_ii takes the place of M: where this fails for one joint, 4 M - dt^2 Kp - 2 dt Kd is not
positive definite, and the whole is unstable.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .case import Case
from .finding import Finding

__all__ = ["check_servos"]

STABLE = 4.0
FASTEST = {"rad/s": 200.0, "m/s": 20.0}
"""What a motor at its effort limit may add to a joint's speed in one step."""


def check_servos(case: Case) -> Iterator[Finding]:
    """Of every joint with one dof."""
    p, M, dt = case.scene.parameters, case.inertia_of_dofs, case.dt
    for joint in case.scene.joints:
        i = joint.v_index
        if joint.nv != 1 or not np.isfinite(M[i]) or M[i] <= 0.0:
            continue
        file, line = case.place("joint", joint.name)
        linear = joint.type == "prismatic"
        unit = "kg" if linear else "kg m^2"
        kp, kd, inertia = float(p.kp[i]), float(p.kd[i]), float(M[i])
        number = (dt * dt * kp + 2.0 * dt * kd) / inertia
        if number > STABLE:
            least = inertia * (number / STABLE - 1.0)
            text = (
                f"joint '{joint.name}': (dt^2 kp + 2 dt kd) / M = {number:.3g} at kp {kp:.4g}, kd "
                f"{kd:.4g}, M {inertia:.3g} {unit}, dt {dt:g} s: above 4 a servo whose torque you "
                "compute yourself shakes itself apart; the simulator's own is implicit and holds"
            )
            fix = f"add armature of {least:.2g} {unit}, or lower the gains by {number / STABLE:.3g}"
            yield Finding("note", "gains", text, fix, file, line, number)
        effort, speed_unit = float(p.effort_limit[i]), "m/s" if linear else "rad/s"
        gain = dt * effort / inertia
        if np.isfinite(effort) and gain > FASTEST[speed_unit]:
            least = dt * effort / FASTEST[speed_unit] - inertia
            text = (
                f"joint '{joint.name}': its full effort, {effort:g} {'N' if linear else 'N m'}, "
                f"turns M = {inertia:.3g} {unit} by {gain:.3g} {speed_unit} in one step of {dt:g} s"
            )
            if linear:
                text = text.replace("turns", "moves")
            fix = f"its true effort, or the armature of motor and gear, from {least:.2g} {unit} on"
            yield Finding("note", "armature", text, fix, file, line, gain)
