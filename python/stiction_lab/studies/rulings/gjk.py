"""On GJK++ by Montaut et al."""

from __future__ import annotations

from .ruling import Kind, Ruling

_PRINTED = (
    "The momentum that the paper prints is not that of the authors' published code, with which the "
    "statement holds: Polyak's weight is 1/(k + 1) there, normalized Nesterov's (k + 2)/(k + 3), "
    "and Nesterov's as printed, but the gradient of ‖y‖² lacks its factor 2."
)
_BOTH = "the same problems with both, in the table of statements above."
_CASES = "deciding|schedules|cases"


def _misprint(experiment: str, statement: str) -> Ruling:
    return Ruling(experiment, statement, Kind.MISPRINT, _PRINTED, _BOTH)


def _table_one(mode: str) -> Ruling:
    """Of the spread, which even the code's momentum lessens for Nesterov only."""
    return Ruling(
        "table1_vertex_counts",
        f"{mode}, close or shallow: Polyak and Nesterov spread their times less than GJK",
        Kind.UNDECIDED,
        "With the code's momentum it holds of Nesterov and not of Polyak. Our support function "
        "looks candidates up and does not climb from the last vertex, so that momentum saves "
        "iterations only; their deviations over those of GJK are Polyak {p_printed:.2f} and "
        "Nesterov {n_printed:.2f} as printed, {p_code:.2f} and {n_code:.2f} with the code's.",
        "times with the hill climbing of the authors' code.",
        {
            f"{short}_{name}": f"{_CASES}|{mode}, {schedule}|{method}, spread"
            for short, method in (("p", "Polyak"), ("n", "Nesterov"))
            for name, schedule in (
                ("printed", "as printed"),
                ("code", "as in the authors' code"),
            )
        },
    )


_SIZES = "deciding|sizes|cases"
_WARM = "deciding|warm starts|cases"


def _ellipsoids(category: str) -> Ruling:
    return Ruling(
        "table3_frank_wolfe",
        f"ellipsoids, {category}: GJK and Nesterov need at least 3 times fewer iterations",
        Kind.UNDECIDED,
        "The answer depends on the ellipsoids, which the paper does not give, and on the smoothing "
        "of NESMINO, whose schedule it does not print: ours restarts its momentum.",
        "its shapes and its NESMINO. Medians of FW, NESMINO, GJK and Nesterov here: {f1:g}, "
        "{s1:g}, {g1:g}, {n1:g} with aspects of up to 1.5, {f5:g}, {s5:g}, {g5:g}, {n5:g} with "
        "aspects of up to 5.",
        {
            f"{short}{size[0]}": f"{_SIZES}|ellipsoids, aspect {size}, {category}|{method}"
            for size in ("1.5", "5")
            for short, method in (
                ("f", "FW"),
                ("s", "NESMINO"),
                ("g", "GJK"),
                ("n", "Nesterov"),
            )
        },
    )


def _cubes(category: str) -> Ruling:
    return Ruling(
        "table3_frank_wolfe",
        f"cubes, {category}: FW needs more than NESMINO, NESMINO 100 times GJK's",
        Kind.UNDECIDED,
        "In the mean FW needs more than NESMINO here too. NESMINO needs fewer than the paper's, "
        "which prints neither its schedule nor the cubes.",
        "its cubes and its NESMINO. No size of cubes gives 100 times GJK's: medians of FW, NESMINO "
        "and GJK are {f_small:g}, {s_small:g}, {g_small:g} for half sides of 1 cm and {f_large:g}, "
        "{s_large:g}, {g_large:g} for 1 m; 20000 is the cap of these runs.",
        {
            f"{short}_{name}": f"{_SIZES}|cubes, half side {size} m, {category}|{method}"
            for name, size in (("small", "0.01"), ("large", "1"))
            for short, method in (("f", "FW"), ("s", "NESMINO"), ("g", "GJK"))
        },
    )


RULINGS = (
    _misprint(
        "fig7_ellipsoids",
        "distance, close: Nesterov, then Polyak, take fewer iterations than GJK",
    ),
    _misprint(
        "fig7_ellipsoids", "boolean, close: Nesterov, then Polyak, take fewer iterations than GJK"
    ),
    _misprint(
        "fig7_ellipsoids",
        "distance, 1 m: Nesterov is detrimental, Polyak competitive with GJK (to 30 %)",
    ),
    _misprint("fig8_to_11_meshes", "distance, close: normalization lowers Nesterov's iterations"),
    _misprint("fig8_to_11_meshes", "boolean, close: normalization lowers Nesterov's iterations"),
    _table_one("distance"),
    _misprint(
        "table1_vertex_counts", "boolean, close or shallow: Polyak and Nesterov are faster than GJK"
    ),
    _table_one("boolean"),
    _ellipsoids("overlapping"),
    _ellipsoids("close"),
    _cubes("overlapping"),
    _cubes("close"),
    _cubes("distant"),
    Ruling(
        "fig12_funnel",
        "Nesterov from the box centres beats vanilla GJK with its best start",
        Kind.UNDECIDED,
        "It is not the momentum: in mean iterations GJK's best start needs {apart:.1f} apart and "
        "{inside:.1f} overlapping, Nesterov {printed_apart:.1f} and {printed_inside:.1f} as "
        "printed, {code_apart:.1f} and {code_inside:.1f} with the code's.",
        "the paper's own trajectories, whose objects and single contact points we have not.",
        {
            "apart": f"{_WARM}|apart|GJK, best start",
            "inside": f"{_WARM}|overlapping|GJK, best start",
            "printed_apart": f"{_WARM}|apart|Nesterov, as printed",
            "printed_inside": f"{_WARM}|overlapping|Nesterov, as printed",
            "code_apart": f"{_WARM}|apart|Nesterov, as in the authors' code",
            "code_inside": f"{_WARM}|overlapping|Nesterov, as in the authors' code",
        },
    ),
)
