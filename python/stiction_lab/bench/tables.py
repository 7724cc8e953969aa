"""The benchmark's results for eyes."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from stiction.certificate import QUANTITIES, UNITS
from stiction.fitted_table import FittedTable

FASTER = "below 1: ours is faster"
"""Of every ratio of times: ours over the peer's."""
# Those that begin with a blank stay beside the one before.
COLUMNS = (
    "scene",
    "ours [µs]",
    "peer, elliptic cones [µs]",
    " by",
    " time, ours / peer's",
    "peer, pyramidal [µs]",
    " time, ours / peer's",
    "deepest overlap [m]: ours",
    " peer",
    "fastest creep [m/s]: ours",
    " peer",
    "contacts, mean: ours",
    " peer",
    "our sweeps, mean",
    "our residual, largest",
)
LEFT = ("scene", " by")


def all_table(results: list[dict[str, Any]]) -> FittedTable:
    """A row per scene, more for another tolerance, noise, kicks; of `StepResult.as_dict()`s."""
    table = FittedTable(
        "One step, one core: ours and MuJoCo's best solver with elliptic and with pyramidal cones; "
        f"ratios {FASTER}"
    )
    for name in COLUMNS:
        side = "left" if name in LEFT else "right"
        table.add_column(name.strip(), justify=side, joined=name.startswith(" "))
    for result in results:
        table.add_row(result["scene"], *_time_cells(result), *_quality_cells(result))
        for label, other in result["other_tolerances"].items():
            same = _with_tolerance(result, other)
            table.add_row(f"  {label}", *_time_cells(same), *_quality_cells(same))
        noise = result["noise"]
        if noise:
            name = f"  noise {noise['sigma_rad']:g} rad"
            table.add_row(name, *_time_cells(noise), *_quality_cells(noise))
        kicks = result["kicks"]
        if kicks:
            name = f"  kicks {kicks['impulse']:g} N s"
            table.add_row(name, *_time_cells(kicks), *_quality_cells(kicks))
    return table


def step_tables(result: dict[str, Any]) -> Group:
    """Times of every variant, certificates side by side, and the machine."""
    tables = [_variant_table(result), _certificate_table(result, "held targets")]
    if result["noise"]:
        tables.append(_certificate_table(result["noise"], "with noise"))
    if result["kicks"]:
        tables.append(_certificate_table(result["kicks"], "with kicks"))
    return Group(*tables, _footer(result))


def _variant_table(result: dict[str, Any]) -> FittedTable:
    drives = {"held targets": result}
    if result["noise"]:
        drives[f"noise {result['noise']['sigma_rad']:g} rad"] = result["noise"]
    if result["kicks"]:
        drives[f"kicks {result['kicks']['impulse']:g} N s"] = result["kicks"]
    table = FittedTable(
        f"{result['scene']}, dt {result['dt'] * 1e3:g} ms, µs per step; ratios {FASTER}"
    )
    table.add_column("engine")
    for name in drives:
        for heading in (f"{name} [µs]", "time, ours / its", "contacts"):
            table.add_column(heading, justify="right", joined=not heading.startswith(name))
    if result["kicks"]:
        table.add_column("with kicks, mean [µs]", justify="right")
    for label in sorted(["stiction", *result["variants_us"]], key=lambda x: _time(result, x)):
        cells = [cell for drive in drives.values() for cell in _variant_cells(drive, label)]
        if result["kicks"]:
            cells.append(f"{result['kicks']['means_us'][label]:.2f}")
        style = "bold" if label in ("stiction", result["peer"]) else None
        table.add_row(label, *cells, style=style)
    return table


def _variant_cells(drive: dict[str, Any], label: str) -> list[str]:
    us, contacts = _time(drive, label), drive["variants_contacts"][label]
    other_work = label in drive["variants_refused"]
    ratio = "other work" if other_work else _ratio(drive["ours_us"] / us)
    return [f"{us:.2f}", ratio, f"{contacts:.1f}"]


def _time(drive: dict[str, Any], label: str) -> float:
    us = drive["ours_us"] if label == "stiction" else drive["variants_us"][label]
    return float(us)


def _certificate_table(result: dict[str, Any], drive: str) -> FittedTable:
    table = FittedTable(
        f"Certificate, {drive}; worst contact of each step: median / maximum over the steps"
    )
    table.add_column("quantity")
    others = result["other_tolerances"]
    engines = {"stiction": result["certificate_ours"]}
    engines |= {label: other["certificate"] for label, other in others.items()}
    further = {label: other["certificate"] for label, other in result["other_engines"].items()}
    for label, certificate in (
        ("peer", "certificate_peer"),
        ("pyramidal", "certificate_pyramidal"),
    ):
        if result[label]:
            engines[result[label]] = result[certificate]
    engines |= further
    for label in engines:
        table.add_column(label, justify="right")
    for name in QUANTITIES:
        cells = [f"{c['median'][name]:.1e} / {c['maximum'][name]:.1e}" for c in engines.values()]
        table.add_row(f"{name} [{UNITS[name]}]", *cells)
    table.add_row("contacts, mean", *[f"{c['contacts']:.1f}" for c in engines.values()])
    table.add_row("loaded, mean", *[f"{c['loaded']:.1f}" for c in engines.values()])
    table.add_row("sliding, mean", *[f"{c['sliding']:.1f}" for c in engines.values()])
    ours = [result, *others.values()]
    table.add_row("sweeps, mean", *[f"{row['sweeps']:.1f}" for row in ours])
    residuals = [f"{row['residual_median']:.1e} / {row['residual']:.1e}" for row in ours]
    table.add_row("relative residual, median / max", *residuals)
    left_out = [
        f"{c['steps_left_out']} of {c['steps'] + c['steps_left_out']}" for c in engines.values()
    ]
    table.add_row("steps with restitution, left out", *left_out)
    return table


def _footer(result: dict[str, Any]) -> str:
    machine, settings = result["machine"], result["settings"]
    versions = ", ".join(
        f"{name} {version}" for name, version in machine["versions"].items() if version
    )
    chosen = ", ".join(f"{name} {value}" for name, value in settings.items())
    return (
        f"{chosen}\n"
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}, "
        f"{machine['date']}; {versions}"
    )


def _with_tolerance(result: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The result as if another tolerance of ours were ours."""

    def ratio(peer: float | None) -> float | None:
        return other["us"] / peer if peer else None

    changed = {name: other[name] for name in ("sweeps", "residual", "contacts")}
    changed |= {"ours_us": other["us"], "certificate_ours": other["certificate"]}
    changed |= {"ratio": ratio(result["peer_us"])}
    return result | changed | {"ratio_to_pyramidal": ratio(result["pyramidal_us"])}


def _time_cells(result: dict[str, Any]) -> list[str]:
    return [
        f"{result['ours_us']:.2f}",
        _number(result["peer_us"], ".2f"),
        (result["peer"] or "none does our work").replace("-elliptic", ""),
        _ratio(result["ratio"]),
        _number(result["pyramidal_us"], ".2f"),
        _ratio(result["ratio_to_pyramidal"]),
    ]


def _quality_cells(result: dict[str, Any]) -> list[str]:
    ours = result["certificate_ours"]["maximum"]
    peer = (result["certificate_peer"] or {"maximum": {}})["maximum"]
    return [
        f"{ours['penetration']:.0e}",
        _number(peer.get("penetration"), ".0e"),
        f"{ours['creep']:.0e}",
        _number(peer.get("creep"), ".0e"),
        f"{result['contacts']:.1f}",
        _number(result["contacts_peer"], ".1f"),
        f"{result['sweeps']:.1f}",
        f"{result['residual']:.0e}",
    ]


def _number(value: float | None, form: str) -> str:
    """The number, or a dash where there is none."""
    return "-" if value is None else f"{value:{form}}"


def _ratio(value: float | None) -> str:
    """Two decimals, or two digits where those would hide it; a dash where there is none."""
    return "-" if value is None else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
