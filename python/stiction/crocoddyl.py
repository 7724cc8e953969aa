"""Steps as action models of Crocoddyl: the extra `stiction[crocoddyl]`.

    model = stiction.crocoddyl.ActionModel(sim, [residual])
    problem = crocoddyl.ShootingProblem(x0, [model] * T, last)

A state x is [q | v] of the scene, its tangents those of `step_derivatives`, which are Pinocchio's:
of a free-flyer the linear and angular parts in the axes of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from ._stiction import Control, Scene, State, make_state
from .simulator import Simulator

try:
    import crocoddyl
except ImportError as error:
    raise ImportError("stiction.crocoddyl needs Crocoddyl: pip install crocoddyl==3.2.1") from error

__all__ = ["ActionModel", "make_state_manifold", "tracking"]

Floats = NDArray[np.float64]
Residual = Callable[[Floats, Floats | None], tuple[Floats, Floats, Floats | None]]
"""(x (nq + nv,), u (nu,) or None at the end) -> r (m,), dr/dx (m, 2 nv), dr/du (m, nu) or None."""


def make_state_manifold(scene: Scene) -> crocoddyl.StateMultibody:
    """Of x = [q | v]. Crocoddyl knows it as a model that has the joints of `scene` and no masses:
    use it for states only."""
    kinds = {
        "free_flyer": pinocchio.JointModelFreeFlyer,
        "spherical": pinocchio.JointModelSpherical,
        "continuous": pinocchio.JointModelRUBX,
    }
    model = pinocchio.Model()
    for joint in sorted(scene.joints, key=lambda joint: joint.q_index):
        kind = kinds.get(joint.type, pinocchio.JointModelPX)()  # the others are flat
        index = model.addJoint(0, kind, pinocchio.SE3.Identity(), joint.name)
        if (model.idx_qs[index], model.idx_vs[index]) != (joint.q_index, joint.v_index):
            raise ValueError(f"scene: q and v of joint {joint.name!r} are not in one order")
    return crocoddyl.StateMultibody(model)


class ActionModel(crocoddyl.ActionModelAbstract):  # type: ignore[misc]
    """One step of `sim`, with the cost 1/2 |r|^2 of residuals, whose Hessian is Gauss and Newton's.

    Every step starts from the contacts of `start`: it is a function of x and u alone.

    Args:
        sim: with step derivatives; shared by action models, which are then of one thread.
        residuals: see `tracking` for one; called with u = None at the end of the horizon.
        dofs: (nu,) of the scene that u moves; None: all.
        wrt: what u is: "torque" [N m or N], added to that of `control`, or "position_target" [rad
            or m] of servos, in place of those of `control`.
        control: the rest of what moves the scene; None: `hold()`.
        start: contacts to warm start from; None: none.
        state: the manifold, where action models share one; None: `make_state_manifold`.

    Raises:
        ValueError: `wrt` or `dofs` is not known.
    """

    def __init__(
        self,
        sim: Simulator,
        residuals: Sequence[Residual],
        dofs: ArrayLike | None = None,
        wrt: str = "torque",
        control: Control | None = None,
        start: State | None = None,
        state: crocoddyl.StateMultibody | None = None,
    ) -> None:
        nv = sim.scene.nv
        if wrt not in ("torque", "position_target"):
            raise ValueError(f"wrt: {wrt!r} is unknown; there are: torque, position_target")
        self.dofs = np.arange(nv) if dofs is None else np.asarray(dofs, dtype=int)
        if self.dofs.ndim != 1 or np.any((self.dofs < 0) | (self.dofs >= nv)):
            raise ValueError(f"dofs = {dofs!r}: must be numbers from 0 to {nv - 1}")
        manifold = make_state_manifold(sim.scene) if state is None else state
        super().__init__(manifold, len(self.dofs), 0)
        self.sim, self.residuals, self.wrt = sim, tuple(residuals), wrt
        self._control = (sim.hold() if control is None else control).copy()
        given = self._control.torque if wrt == "torque" else self._control.position_target
        self._given = np.array(given)
        self._start = None if start is None else start.copy()

    def calc(self, data: Any, x: Floats, u: Floats | None = None) -> None:
        """The end of the step and the cost; without u the cost of the end of a horizon."""
        data.cost = sum(0.5 * float(r @ r) for r, _, _ in self._evaluate(x, u))
        if u is None:
            data.xnext = np.array(x)
            return
        end = self._state(x)
        self.sim.step(end, self._controls(u))
        data.xnext = np.concatenate([end.q, end.v])

    def calcDiff(self, data: Any, x: Floats, u: Floats | None = None) -> None:
        """Of the same step and cost."""
        Lx, Lxx = np.zeros(self.state.ndx), np.zeros((self.state.ndx, self.state.ndx))
        Lu, Luu, Lxu = np.zeros(self.nu), np.zeros((self.nu, self.nu)), np.zeros((len(Lx), self.nu))
        for r, Rx, Ru in self._evaluate(x, u):
            Lx, Lxx = Lx + Rx.T @ r, Lxx + Rx.T @ Rx
            if u is not None and Ru is not None:
                Lu, Luu, Lxu = Lu + Ru.T @ r, Luu + Ru.T @ Ru, Lxu + Rx.T @ Ru
        data.Lx, data.Lxx = Lx, Lxx
        if u is None:
            return
        data.Lu, data.Luu, data.Lxu = Lu, Luu, Lxu
        d = self.sim.step_derivatives(self._state(x), self._controls(u), wrt=self.wrt)
        data.Fx, data.Fu = d.A, d.by(self.wrt)[:, self.dofs]

    def _evaluate(self, x: Floats, u: Floats | None) -> list[Any]:
        return [residual(x, u) for residual in self.residuals]

    def _state(self, x: Floats) -> State:
        nq = self.sim.scene.nq
        if self._start is None:
            return make_state(self.sim.scene, x[:nq], x[nq:])
        state = self._start.copy()
        state.q, state.v = x[:nq], x[nq:]
        return state

    def _controls(self, u: Floats) -> Control:
        values = self._given.copy()
        if self.wrt == "torque":
            values[self.dofs] += u
            self._control.torque = values
        else:
            values[self.dofs] = u
            self._control.position_target = values
        return self._control


def tracking(
    state: crocoddyl.StateAbstract,
    reference: ArrayLike,
    weights: ArrayLike,
    u_reference: ArrayLike = 0.0,
    u_weight: float = 0.0,
) -> Residual:
    """Weighted differences from a state (nq + nv,) and from controls.

    Args:
        state: the manifold of the action model.
        reference: (nq + nv,).
        weights: (2 nv,) of the tangents, by which differences are multiplied.
        u_reference: (nu,) or one number.
        u_weight: one for all controls.
    """
    u_ref = np.asarray(u_reference, dtype=float)
    x_ref, w = np.array(reference, dtype=float), np.asarray(weights, dtype=float)
    if x_ref.shape != (state.nx,) or w.shape != (state.ndx,):
        raise ValueError(
            f"reference {x_ref.shape}, weights {w.shape}: must be ({state.nx},), ({state.ndx},)"
        )

    def residual(x: Floats, u: Floats | None) -> tuple[Floats, Floats, Floats | None]:
        r = w * state.diff(x_ref, x)
        both = state.Jdiff(x_ref, x)  # its entries are views that end with it
        Rx = w[:, None] * np.array(both[1])
        if u is None:
            return r, Rx, None
        nu = len(u)
        r = np.concatenate([r, u_weight * (u - u_ref)])
        Ru = np.vstack([np.zeros((len(Rx), nu)), u_weight * np.eye(nu)])
        return r, np.vstack([Rx, np.zeros((nu, Rx.shape[1]))]), Ru

    return residual
