"""Table III and Fig. 14: how much the slide depends on the time step."""

from __future__ import annotations

from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import consistency, paper, solvers
from .consistency import Slide
from .lines import Panel, draw

TIME_STEPS = (1e-3, 1e-2, 1e-1)  # [s]
REFERENCE = 1e-4  # [s]
TOLERANCE = 1e-9
SIMILAR = 0.25  # errors of two solvers within this share of each other are called similar
LINEAR = 0.2  # a tenfold step gives ten times the error within this share


def run(effort: Effort, tick: Tick) -> Experiment:
    """Every solver at 1, 10 and 100 ms against itself at 0.1 ms."""
    experiment = Experiment(
        "table3_time_steps", "Table III and figure 14: self-consistency in the time step", SETUP
    )
    names = solvers.NAMES if effort.share >= 1.0 else (*paper.TABLE_3, "ncp-newton")
    slides: dict[str, list[Slide]] = {}
    for k, name in enumerate(names):
        tick(name, k / len(names))
        slides[name] = [consistency.slide(name, dt, TOLERANCE) for dt in (REFERENCE, *TIME_STEPS)]
    errors = {n: [consistency.distance(s, own[0]) for s in own[1:]] for n, own in slides.items()}
    experiment.tables.append(_table(slides, errors))
    experiment.claims += _claims(slides, errors)
    experiment.figures.append((CAPTION, _figure(slides)))
    for name, own in slides.items():
        for dt, s in zip((REFERENCE, *TIME_STEPS), own, strict=True):
            every = max(1, len(s.time) // 1000)
            experiment.add_rows(
                solver=name,
                dt=dt,
                time=s.time[::every],
                y=s.position[::every, 1],
                z=s.position[::every, 2],
                energy=s.energy[::every],
            )
    return experiment


SETUP = (
    f"A cube (friction {consistency.FRICTION:g}) slides on a plane from {consistency.SPEED:g} m/s "
    f"to rest along a tangent axis, where a pyramid is as wide as the cone, "
    f"{consistency.DURATION:g} s in all, solver tolerance {TOLERANCE:g} on the relative "
    "residual of its own model. The error is the integral over time of the distance between the "
    "cube's centre and that of the same solver at 0.1 ms. The paper prints neither the formula nor "
    "the start speed and the duration; its numbers differ from ours by a constant factor, and only "
    "their ratios can be compared. The row 'scheme' is the closed form: the time stepping with the "
    "exact friction force, without any contact solver."
)
CAPTION = (
    "Fig. 14: energy of the sliding cube at 1, 10 and 100 ms; grey: 1/2 m (v - mu g t)^2. "
    "Below zero at 100 ms: ccp-newton's regularisation lets the cube sink"
)


def _table(slides: dict[str, list[Slide]], errors: dict[str, list[float]]) -> Table:
    columns = ["solver"]
    for dt in TIME_STEPS:
        columns += [f"{1e3 * dt:g} ms [m s]", "paper"]
    table = Table("Integral consistency error", [*columns, "energy defect at 1, 10, 100 ms"])
    exact = [consistency.of_the_scheme(dt) for dt in (REFERENCE, *TIME_STEPS)]
    rows = errors | {"scheme": [consistency.distance(s, exact[0]) for s in exact[1:]]}
    for name, row in rows.items():
        cells = [name]
        for k, error in enumerate(row):
            printed = paper.TABLE_3.get(name)
            cells += [f"{error:.2e}", f"{printed[k]:.1e}" if printed else ""]
        own = slides.get(name, exact)[1:]
        cells.append(", ".join(f"{consistency.energy_defect(s):.1e}" for s in own))
        table.rows.append(cells)
    table.note = consistency.reach_note(
        {
            f"{n} at {1e3 * dt:g} ms": s
            for n, own in slides.items()
            for dt, s in zip((REFERENCE, *TIME_STEPS), own, strict=True)
        }
    )
    return table


def _claims(slides: dict[str, list[Slide]], errors: dict[str, list[float]]) -> list[Claim]:
    ratios = [
        max(column) / min(column)
        for column in zip(*(errors[n] for n in paper.TABLE_3), strict=True)
    ]
    steps = [row[k + 1] / row[k] for row in errors.values() for k in (0, 1)]
    defect = {n: max(consistency.energy_defect(s) for s in own[1:]) for n, own in slides.items()}
    ncp = max(defect[n] for n in slides if solvers.model_of(n) == "NCP")
    raised = max(s.position[:, 2].max() - s.position[0, 2] for s in slides["ccp-pgs"][1:])
    return [
        Claim(
            "the sensitivities to the time step are similar for the various solvers",
            "largest over smallest error of CCP/PGS, RaiSim, NCP/PGS: "
            + ", ".join(f"{r:.2f}" for r in ratios),
            max(ratios) <= 1.0 + SIMILAR,
        ),
        Claim(
            "ten times the step, ten times the error (Table III)",
            f"factors from {min(steps):.1f} to {max(steps):.1f}, all solvers",
            min(steps) >= 10.0 * (1 - LINEAR) and max(steps) <= 10.0 * (1 + LINEAR),
        ),
        Claim(
            "with NCP and RaiSim the energy is only a little affected by the step",
            f"largest defect NCP {ncp:.1e}, RaiSim {defect['raisim']:.1e} of the start's",
            max(ncp, defect["raisim"]) <= 0.02,
        ),
        Claim(
            "the CCP makes the cube take off and its energy nonphysical",
            f"it rises by {1e3 * raised:.1f} mm; energy defect {defect['ccp-pgs']:.2f}",
            raised > 1e-3 and defect["ccp-pgs"] > 10.0 * max(ncp, defect["raisim"]),
        ),
    ]


def _figure(slides: dict[str, list[Slide]]) -> str:
    panels = []
    for k, dt in enumerate(TIME_STEPS):
        panel = Panel(f"dt = {1e3 * dt:g} ms", "time [s]", "energy [J]")
        panel.curves["exact"] = consistency.exact_energy()
        for name, own in slides.items():
            panel.curves[name] = own[k + 1].time, own[k + 1].energy
        panels.append(panel)
    return draw(panels, {"exact": "#bbbbbb"})
