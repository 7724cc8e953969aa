"""Actuators of a compiled MuJoCo model as servos and torques.

MuJoCo's force of an actuator is clamp(g u + b0 + b1 l + b2 v), l and v the length and speed of its
transmission, and it pulls its joint with gear times that. On joints of one dof stiction's servo,
kp (q* - q) + kd (v* - v), says the same with

    kp = -gear^2 b1,   kd = -gear^2 b2,   kp q* = gear (g u + b0)

What has b1 = 0 moves v*, what has neither is torque. All of it acts implicitly in the step. Servos
on several dofs that nothing couples, and motors at sites of bodies with joints, are no numbers of a
scene and act in Mjcf.simulation().
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._stiction import Control, Scene
from .mjcf_activation import Activation, read_activation
from .mjcf_actuator_table import ActuatorTable, BatchCtrl, Ctrl, clipped, over
from .mjcf_source import Source
from .mjcf_transmission import on_one_dof, transmission
from .mjcf_trees import HINGE, SLIDE, Place, is_on_joint

__all__ = ["Actuation", "Drive", "MjcfActuator", "read_actuators"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MjcfActuator:
    """An actuator that acts.

    Attributes:
        name: as in the file; by number if it has none there.
        control: its number in ctrl.
        kind: "motor", "velocity" or "position": what its control moves; "shared": a servo on
            several dofs, "site": a motor at a site, which both act in Mjcf.simulation() only.
        pulls: names of its joints, or of its site.
        gear: (nv,) torque on each dof per unit of its force; of a servo on dofs that gears couple
            the same work on the first of them.
        arms: the same as the file has it, on all of them.
        scalar: whether its length is arms . positions and a constant.
        gain: force per unit of control.
        bias: its force at control 0, length 0 and speed 0.
        kp, kd: of its force over its length and speed.
        control_range, force_range: (2,), infinite where the file sets none.
        activation: what its control moves first; None: the control acts at once.
        site, push: of a "site", MuJoCo's number and (6,) force and torque in its axes per unit of
            the actuator's force.
    """

    name: str
    control: int
    kind: str
    pulls: tuple[str, ...]
    gear: Floats
    arms: Floats
    scalar: bool
    gain: float
    bias: float
    kp: float
    kd: float
    control_range: tuple[float, float]
    force_range: tuple[float, float]
    activation: Activation | None = None
    site: int = -1
    push: tuple[float, ...] = ()

    @property
    def of_scene(self) -> bool:
        """Whether a Simulator of the scene knows it."""
        return self.kind not in ("shared", "site")


@dataclass(frozen=True)
class Drive:
    """An actuator that a scene has no numbers for, and its force at length 0 and speed 0."""

    actuator: MjcfActuator
    force: float


@dataclass(frozen=True)
class Actuation:
    """What turns controls into stiction's, see Mjcf.control."""

    count: int
    actuators: tuple[MjcfActuator, ...]
    kp: Floats
    kd: Floats
    torque_limit: Floats  # of all actuators of a dof together

    def validate(self) -> None:
        """Raises ValueError naming what is not finite."""
        for actuator in self.actuators:
            numbers = [*actuator.gear, actuator.gain, actuator.bias, *actuator.control_range]
            if np.isnan(numbers).any() or not np.all(np.isfinite(numbers[:-2])):
                raise ValueError(f"actuator '{actuator.name}': a number is not finite")

    def ctrl(self, given: Ctrl | None, rest: Floats) -> Floats:
        """(nu,) of what a caller gives: MuJoCo's, or numbers by name of actuators, the others as in
        `rest`; None: that."""
        if given is None:
            return rest
        if not isinstance(given, Mapping):
            return self._numbers(given)
        ctrl = rest.copy()
        for name, value in given.items():
            number = self._table.number(name)
            try:
                ctrl[number] = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"ctrl[{name!r}] = {value!r}: must be a number") from None
        return ctrl

    @staticmethod
    def _numbers(given: Any) -> Floats:
        try:
            return np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"ctrl = {given!r}: must be numbers, or by name") from None

    @cached_property
    def _table(self) -> ActuatorTable:
        return ActuatorTable.of(self.actuators)

    def control(
        self,
        given: ArrayLike | None,
        q_dofs: Floats | None,
        activation: Floats | None = None,
        dt: float = 0.0,
    ) -> Control:
        """Of MuJoCo's ctrl (nu,); where that is None, servos hold the positions `q_dofs` (nv,).

        activation: (na,) takes the place of the controls of actuators that have one, in a step of
        `dt`.
        """
        ctrl = np.zeros(self.count) if given is None else np.asarray(given, dtype=np.float64)
        if ctrl.shape != (self.count,):
            raise ValueError(f"ctrl has shape {ctrl.shape}: the file has {self.count} controls")
        if not np.isfinite(ctrl).all():
            self._refuse(ctrl)
        nv, table = len(self.kp), self._table
        control = Control(nv)
        torque, position, velocity = self._commands(table.forces(ctrl, activation, dt))
        if given is None and q_dofs is not None:
            position = over(table.springs.sums(table.kp, nv) * q_dofs, self.kp)
        control.torque, control.position_target = torque, position
        control.velocity_target = velocity
        return control

    def _refuse(self, ctrl: Floats) -> None:
        k = int(np.flatnonzero(~np.isfinite(ctrl))[0])
        names = [repr(actuator.name) for actuator in self.actuators if actuator.control == k]
        of = f" of actuator {names[0]}" if names else ""
        raise ValueError(f"ctrl[{k}] = {ctrl[k]}{of}: must be finite")

    def _commands(self, force: Floats) -> tuple[Floats, Floats, Floats]:
        """Torques, positions and velocities of targets, (..., nv) each, of forces (..., n) at
        length 0 and speed 0."""
        nv, table = len(self.kp), self._table
        torque = table.motors.sums(clipped(force, *table.force_range), nv)
        return (
            clipped(torque, -self.torque_limit, self.torque_limit),
            over(table.servos.sums(force, nv), self.kp),
            over(table.dampers.sums(force, nv), self.kd),
        )

    def controls(self, given: BatchCtrl, worlds: int) -> tuple[Floats, Floats, Floats]:
        """_commands() of ctrl for each world, see Mjcf.write."""
        if isinstance(given, Mapping):
            ctrl = np.zeros((worlds, self.count))
            for name, values in given.items():
                column, number = self._numbers(values), self._table.number(name)
                if column.shape not in ((), (worlds,)):
                    shape = f"ctrl[{name!r}] has shape {column.shape}"
                    raise ValueError(f"{shape}: must be () or ({worlds},)")
                ctrl[:, number] = column
        else:
            ctrl = self._numbers(given)
        if ctrl.shape not in ((self.count,), (worlds, self.count)):
            shapes = f"({self.count},) or ({worlds}, {self.count})"
            raise ValueError(f"ctrl has shape {ctrl.shape}: must be {shapes}")
        return self._commands(self._table.forces(ctrl, None))

    def drives(self, ctrl: Floats, activation: Floats, dt: float) -> list[Drive]:
        """Of what a scene has no numbers for."""
        apart = self._table.apart
        if not apart:
            return []
        force = self._table.forces(ctrl, activation, dt)
        return [Drive(self.actuators[k], float(force[k])) for k in apart]

    def next_activation(self, given: Floats, activation: Floats, dt: float) -> Floats:
        """(na,) after a step of dt with MuJoCo's ctrl."""
        if not self._table.activated:
            return activation
        after, u = activation.copy(), self._table.bounded(given)
        for k, a in self._table.activated:
            after[a.number] = a.next(float(activation[a.number]), float(u[k]), dt)
        return after

    def forces(
        self, given: Floats, activation: Floats, q_dofs: Floats, v: Floats, dt: float
    ) -> dict[str, float]:
        """Force of each actuator by name, at positions and velocities of dofs (nv,)."""
        found = {}
        at_rest = self._table.forces(given, activation, dt)
        for actuator, force in zip(self.actuators, at_rest, strict=True):
            length, speed = float(actuator.gear @ q_dofs), float(actuator.gear @ v)
            pull = float(force) - (actuator.kp * length + actuator.kd * speed)
            found[actuator.name] = min(max(pull, actuator.force_range[0]), actuator.force_range[1])
        return found


def read_actuators(source: Source, scene: Scene, places: list[Place]) -> Actuation:
    """Sets the scene's gains and effort limits."""
    m = source.model
    found = []
    if not source.disabled("actuation"):
        given = (_actuator(source, places, i) for i in range(int(m.nactuator)))
        found = [actuator for actuator in given if actuator is not None]
    kp, kd = np.zeros(int(m.nv)), np.zeros(int(m.nv))
    known = [actuator for actuator in found if actuator.of_scene]
    for actuator in known:
        kp += actuator.gear**2 * actuator.kp
        kd += actuator.gear**2 * actuator.kd
    p = scene.parameters
    p.kp, p.kd = kp, kd
    total = _joint_force_limits(m)
    p.effort_limit = _effort_limits(source, known, total)
    _say_of_sides(source, known)
    _say_of_limits_apart(source, [a for a in found if not a.of_scene], total)
    return Actuation(int(m.nu), tuple(found), kp, kd, total)


# --- actuators ----------------------------------------------------------------------------------


def _actuator(source: Source, places: list[Place], i: int) -> MjcfActuator | None:
    """Number i, or None and a message if stiction cannot do what it does."""
    m = source.model
    why = _refusal(source, i)
    pulls = why or transmission(source, places, i)
    if isinstance(pulls, str):
        source.unused("actuator", i, f"does not act: {pulls}")
        return None
    bias = np.zeros(3)
    if source.is_one_of(m.actuator_biastype[i], "mjtBias", ["mjBIAS_AFFINE"]):
        bias = np.array(m.actuator_biasprm[i, :3])
    arms, scalar = pulls.gear, pulls.scalar
    kp, kd = 0.0 - float(bias[1]), 0.0 - float(bias[2])
    kind = "position" if kp else "velocity" if kd else "site" if pulls.site >= 0 else "motor"
    if kp or kd:
        servo = on_one_dof(source, pulls)
        if kp < 0 or kd < 0 or not (servo or pulls.scalar):
            reason = "its gain is not stable" if kp < 0 or kd < 0 else "it is a servo there"
            source.unused("actuator", i, f"does not act: {reason}")
            return None
        kind, pulls = (kind, servo) if servo else ("shared", pulls)
    activation = read_activation(source, i)
    _say_of_dynamics(source, i)
    address = int(m.actuator_ctrladr[i])
    limited = bool(m.actuator_ctrllimited[address]) and not source.disabled("clampctrl")
    return MjcfActuator(
        name=source.name("actuator", i),
        control=address,
        kind=kind,
        pulls=pulls.what,
        gear=pulls.gear,
        arms=arms,
        scalar=scalar,
        gain=float(m.actuator_gainprm[i, 0]),
        bias=float(bias[0]) - kp * pulls.length,
        kp=kp,
        kd=kd,
        control_range=_range(m.actuator_ctrlrange[address], limited),
        force_range=_range(m.actuator_forcerange[i], bool(m.actuator_forcelimited[i])),
        activation=activation,
        site=pulls.site,
        push=pulls.push,
    )


def _refusal(source: Source, i: int) -> str:
    """Why an actuator's force is not one that stiction has; "" if it is."""
    m = source.model
    if int(m.opt.disableactuator) & (1 << int(m.actuator_group[i])):
        return "its group is disabled"
    if int(m.actuator_ctrlnum[i]) != 1:
        return f"it has {int(m.actuator_ctrlnum[i])} controls"
    gain = source.is_one_of(m.actuator_gaintype[i], "mjtGain", ["mjGAIN_FIXED", "mjGAIN_AFFINE"])
    bias = source.is_one_of(m.actuator_biastype[i], "mjtBias", ["mjBIAS_NONE", "mjBIAS_AFFINE"])
    if not (gain and bias):
        return "its force is not affine (muscle, dcmotor, pid, so3, user or a plugin)"
    affine = source.is_one_of(m.actuator_gaintype[i], "mjtGain", ["mjGAIN_AFFINE"])
    if affine and np.any(m.actuator_gainprm[i, 1:3] != 0):
        return "its gain depends on length or speed"
    return ""


def _say_of_dynamics(source: Source, i: int) -> None:
    m = source.model
    if float(m.actuator_delay[i]) != 0.0:
        source.unused("actuator", i, "its delay is not honoured")
    on_joint = is_on_joint(m, i)
    for word, given in (("armature", m.actuator_armature), ("damping", m.actuator_damping)):
        if given[i] != 0.0 and not on_joint:
            source.unused("actuator", i, f"its {word} is honoured on hinges and slides alone")
    if np.any(m.actuator_dampingpoly[i] != 0):
        source.unused("actuator", i, "damping of higher order than linear is not honoured")


# --- limits -------------------------------------------------------------------------------------


def _range(given: Floats, limited: bool) -> tuple[float, float]:
    return (float(given[0]), float(given[1])) if limited else (-np.inf, np.inf)


def _joint_force_limits(m: Any) -> Floats:
    """(nv,) actuatorfrcrange, the larger side."""
    limit = np.full(int(m.nv), np.inf)
    for j in np.flatnonzero(m.jnt_actfrclimited):
        if m.jnt_type[j] in (SLIDE, HINGE):
            limit[m.jnt_dofadr[j]] = float(np.max(np.abs(m.jnt_actfrcrange[j])))
    return limit


def _effort_limits(source: Source, actuators: list[MjcfActuator], total: Floats) -> Floats:
    """(nv,) of torque and servo together; none where several actuators share the servo, which
    MuJoCo limits one by one."""
    m = source.model
    limit = total.copy()
    for dof in range(int(m.nv)):
        here = [a for a in actuators if a.gear[dof] != 0.0]
        largest = sum(abs(a.gear[dof]) * max(map(abs, a.force_range)) for a in here)
        servo = any(a.kind != "motor" for a in here)
        if here and (servo or len(here) == 1):
            limit[dof] = min(limit[dof], largest)
        if servo and len(here) > 1 and any(np.isfinite(a.force_range).any() for a in here):
            limit[dof] = total[dof]
            j = int(m.dof_jntid[dof])
            source.unused("joint", j, "limits of its actuators' force are not honoured in servos")
    return limit


def _say_of_limits_apart(source: Source, actuators: list[MjcfActuator], total: Floats) -> None:
    """What a scene has no numbers for acts as wrenches on bodies, which no joint's limit cuts."""
    m, cut = source.model, np.isfinite(total)
    for actuator in actuators:
        pulled = actuator.gear != 0.0
        if actuator.site >= 0:
            pulled = _dofs_above(m, int(m.site_bodyid[actuator.site]))
        joints = m.dof_jntid[np.flatnonzero(pulled & cut)]
        text = f"its actuatorfrcrange does not hold back actuator '{actuator.name}'"
        source.unused_of("joint", joints, text)


def _dofs_above(m: Any, body: int) -> NDArray[np.bool_]:
    """(nv,) those that move a body."""
    found = np.zeros(int(m.nv), dtype=bool)
    while body > 0:
        first = int(m.body_dofadr[body])
        found[first : first + int(m.body_dofnum[body])] = True
        body = int(m.body_parentid[body])
    return found


def _say_of_sides(source: Source, actuators: list[MjcfActuator]) -> None:
    m = source.model
    names = source.names("actuator")
    uneven = [
        names.index(a.name)
        for a in actuators
        if a.kind != "motor" and a.force_range[0] != -a.force_range[1]
    ]
    source.unused_of("actuator", uneven, "force limits differ by side: the larger acts on both")
    sides = np.array(m.jnt_actfrcrange)
    limited = np.array(m.jnt_actfrclimited, dtype=bool)
    source.unused_of(
        "joint",
        np.flatnonzero(limited & (sides[:, 0] != -sides[:, 1])),
        "actuatorfrcrange differs by side: the larger acts on both",
    )
