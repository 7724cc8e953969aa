"""MuJoCo at equal stiffness and equal steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import Control, Scene, State
from stiction.pages.experiment import Effort, Experiment, StudyError, Table, Tick
from stiction.simulator import Simulator

from . import scenes_beside_mujoco as setting
from .curves import Panel, draw
from .integrators import IMPLICIT, METHODS, OURS
from .windows import Run, errors_of, follow, part, with_torques_held

if TYPE_CHECKING:
    from . import mujoco_springs as springs

Floats = NDArray[np.float64]
Errors = dict[str, dict[int, Floats]]
"""Integrator -> steps per period -> error of each period."""

STEPS = (1, 2, 5, 10, 20)
PEER = {"discrete": "#d55e00", "implicitfast": "#e69f00", "RK4": "#cc79a7"}
COMPARED = ("discrete", "RK4")
"""Whose errors over ours are in the tables: MuJoCo's best on Solo-12 and on the point."""
SETUP = (
    "Contacts of 1e5 N/m and 300 N s/m in both; servo targets held for 10 ms; every period starts "
    "from a state of the engine's own reference run. MuJoCo: its Newton solver at 1e-12 with an "
    "elliptic cone, constant impedance and direct solref, which make its contact that spring and "
    "damper; each integrator is judged by itself at 1/64 ms. Ours: judged by rk4 with steps halved "
    "until two runs agree. The law of friction differs: a viscous one in MuJoCo, a spring and a "
    "damper here, which is stiffer."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment.

    Raises:
        StudyError: mujoco is not installed.
    """
    try:
        from . import mujoco_springs
    except ImportError:
        hint = "pip install mujoco==4.0.0"
        raise StudyError(f"MuJoCo is not installed: {hint}") from None
    experiment = Experiment("mujoco", "MuJoCo at equal stiffness", SETUP)
    periods = effort.count(100, least=10)
    found = {
        **_solo12(periods, part(tick, 0.0, 0.9, "solo12: ")),
        "point": _point(periods, part(tick, 0.9, 1.0, "point: ")),
    }
    for scene, (ours, errors) in found.items():
        _add_rows(experiment, scene, errors)
        experiment.tables.append(_table(scene, ours, errors))
    errors_by_scene = {scene: errors for scene, (_, errors) in found.items()}
    experiment.figures.append((_CAPTION, _figure(errors_by_scene)))
    experiment.figures.append((_PICTURE, picture(errors_by_scene["solo12, torques held"])))
    stiffness = {name: mujoco_springs.effective_stiffness(name) for name in PEER}
    experiment.explanation = _EXPLANATION + ", ".join(
        f"{name} {k:.6g} N/m" for name, k in stiffness.items()
    )
    return experiment


def _solo12(periods: int, tick: Tick) -> dict[str, tuple[Run, Errors]]:
    """With servos at work, and with torques held."""
    from . import mujoco_springs as springs

    scene = setting.solo12()
    state, hold = _standing(scene)
    targets = np.array([setting.gait(k * setting.PERIOD, hold[6:]) for k in range(periods)])
    servos = follow(scene, state, _controls(scene, targets), setting.PERIOD, part(tick, 0.0, 0.3))
    runs = {
        "solo12": servos,
        "solo12, torques held": with_torques_held(servos, part(tick, 0.3, 0.6)),
    }
    urdf = Path(scene.robots[0].description.path)
    q = np.asarray(state.q)

    def start(data: Any) -> None:
        data.qpos[:3], data.qpos[3:7], data.qpos[7:] = q[:3], np.roll(q[3:7], 1), q[7:]

    def build(integrator: str, dt: float) -> Any:
        return springs.solo12(urdf, integrator, dt)

    found = {}
    for name, run in runs.items():
        driven = springs.Driven(build, start, targets, held=run is not servos)
        found[name] = run, _errors(run, driven, part(tick, 0.6, 1.0))
    return found


def _errors(run: Run, driven: springs.Driven, tick: Tick) -> Errors:
    from . import mujoco_springs as springs

    errors: Errors = {}
    for k, name in enumerate((OURS, IMPLICIT)):
        tick(name, 0.25 * k)
        errors[name] = {n: errors_of(run, name, n) for n in STEPS}
    for k, name in enumerate(PEER):
        tick(f"MuJoCo {name}", 0.5 + 0.5 * k / len(PEER))
        errors[name] = springs.local_errors(driven, name, STEPS)
    return errors


def _standing(scene: Scene) -> tuple[State, Floats]:
    """Just above the ground, and the servo targets of standing (nv,)."""
    sim = Simulator(scene, integrator=OURS)
    state = sim.initial_state("standing")
    state.q[2] += setting.LIFTED
    return state, np.asarray(sim.hold("standing").position_target)


def _controls(scene: Scene, targets: Floats) -> list[Control]:
    controls = []
    for row in targets:
        control = Control(scene.nv)
        control.position_target[6:] = row
        controls.append(control)
    return controls


def _point(periods: int, tick: Tick) -> tuple[Run, Errors]:
    from . import mujoco_springs as springs

    scene = setting.point()
    state = Simulator(scene, integrator=OURS).initial_state()
    state.q[:], state.v[:] = setting.POINT_START, setting.POINT_SPEED
    controls = [Control(scene.nv)] * periods
    run = follow(scene, state, controls, setting.PERIOD, part(tick, 0.0, 0.5))

    def start(data: Any) -> None:
        data.qpos[:], data.qvel[:] = setting.POINT_START, setting.POINT_SPEED

    driven = springs.Driven(springs.point, start, np.zeros((periods, 0)))
    return run, _errors(run, driven, part(tick, 0.5, 1.0))


def _add_rows(experiment: Experiment, scene: str, errors: Errors) -> None:
    for name, by_steps in errors.items():
        for n, values in by_steps.items():
            experiment.add_rows(
                scene=scene,
                integrator=name,
                step=setting.PERIOD / n,
                period=np.arange(len(values)),
                error=values,
            )


def mean(values: Floats) -> float:
    """inf if one blew up."""
    return float(values.mean())


def _table(scene: str, ours: Run, errors: Errors) -> Table:
    table = Table(
        f"Mean local error by step, {scene}",
        ["step [ms]", *errors, *(f"{name} / exponential" for name in COMPARED)],
        note=f"Over {len(ours.windows)} periods of 10 ms. Our reference is known to "
        f"{ours.left.mean():.0e} in the mean.",
    )
    for n in STEPS:
        cells = [f"{mean(by_steps[n]):.1e}" for by_steps in errors.values()]
        gains = [f"{mean(errors[name][n]) / mean(errors[OURS][n]):.0f}" for name in COMPARED]
        table.rows.append([f"{1e3 * setting.PERIOD / n:g}", *cells, *gains])
    return table


def picture(errors: Errors) -> str:
    """What a step of 10 ms makes of a bounce; errors of Solo-12 beside it."""
    from . import mujoco_springs as springs

    drawn = Panel("a bounce in steps of 10 ms", "time [ms]", "height over the ground [mm]", log="")
    runs = {"truth": ("rk4", 1e-5), IMPLICIT: (IMPLICIT, SHOWN), OURS: (OURS, SHOWN)}
    for name, (integrator, dt) in runs.items():
        drawn.curves[name] = _part_of(_bounce(integrator, dt), dt)
    discrete = springs.bounce("discrete", SHOWN, UNTIL)
    drawn.curves[MUJOCO] = _part_of(discrete, SHOWN)
    panel = Panel(
        "Solo-12, torques held", "step [ms]", "local error over 10 ms [m, rad, m/s, rad/s]"
    )
    for name, label in ((IMPLICIT, IMPLICIT), (OURS, OURS), ("discrete", MUJOCO)):
        x = [1e3 * setting.PERIOD / n for n in errors[name]]
        panel.curves[label] = x, [mean(values) for values in errors[name].values()]
    colors = {name: METHODS[name].color for name in (OURS, IMPLICIT)}
    return draw([drawn, panel], {**colors, MUJOCO: PEER["discrete"], "truth": "#888888"}, ["truth"])


MUJOCO = "MuJoCo, discrete"
SHOWN, SINCE, UNTIL = 10e-3, 0.06, 0.2
"""Step, begin and end of the bounce that is drawn [s]."""


def _bounce(integrator: str, dt: float) -> Floats:
    """Heights over the ground (T + 1,) [m]."""
    sim = Simulator(setting.point(), dt=dt, integrator=integrator)
    state = sim.initial_state()
    state.q[:], state.v[:] = setting.POINT_START, setting.POINT_SPEED
    log = sim.rollout(state, steps=round(UNTIL / dt), record=("q",))
    assert log.q is not None
    return np.asarray(log.q[:, 2]) - setting.POINT_RADIUS


def _part_of(heights: Floats, dt: float) -> tuple[Floats, Floats]:
    """Times [ms] and heights [mm] of what is drawn."""
    times: Floats = dt * np.arange(len(heights), dtype=np.float64)
    shown = times >= SINCE - 1e-9
    return 1e3 * times[shown], 1e3 * heights[shown]


_PICTURE = (
    "A point of 1 kg falls on 1e5 N/m and 300 N s/m, where it would swing with a period of 20 ms: "
    "MuJoCo, implicit Euler and ours in steps of 10 ms. Beside it the mean local error of Solo-12."
)
_EXPLANATION = (
    "With servos the error holds that of their own stiff dynamics, 0.1 N m s/rad on the inertia of "
    "a light leg; with torques held it is that of contact and rigid bodies alone. The point rests "
    "at m g / k in MuJoCo too: "
)
_CAPTION = (
    "Mean local error over 10 ms against the step: MuJoCo's integrators (discrete, implicitfast, "
    "RK4) and ours, all on contacts of 1e5 N/m and 300 N s/m."
)


def _figure(found: dict[str, Errors]) -> str:
    panels = []
    for scene, errors in found.items():
        panel = Panel(scene, "step [ms]", "local error [m, rad, m/s, rad/s]")
        for name, by_steps in errors.items():
            x = [1e3 * setting.PERIOD / n for n in by_steps]
            panel.curves[name] = x, [mean(values) for values in by_steps.values()]
        panels.append(panel)
    colors = {name: METHODS[name].color for name in (OURS, IMPLICIT)}
    return draw(panels, {**colors, **PEER})
