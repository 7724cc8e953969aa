"""On exponential integration of stiff contact by Hammoud et al."""

from __future__ import annotations

from .ruling import Kind, Ruling

_BEATS = "Expo outperforms the others: greater accuracy for equal computing time"
_SUDDEN = "the error of Eul-exp and RK4 increases suddenly for large steps"
_PRODUCTS = "versions with fewer matrix products outperform the full exponential"
_STEP = "study|experiments|table3|tables|Time of a step [us]"


def _error(motion: str, step: str, *methods: str) -> dict[str, str]:
    table = f"study|experiments|{motion}|tables|Local error by step, {motion}"
    return {m.replace("-", "_"): f"{table}|{step}|{m}" for m in methods}


def _beats(motion: str, step: str) -> Ruling:
    return Ruling(
        motion,
        _BEATS,
        Kind.PAPER,
        "The paper's RK4 is no better than explicit Euler; one of order four wins at small steps.",
        f"the table below: at {step} ms rk4 errs {{rk4}} where exponential-published errs "
        "{exponential_published}, and a step of it takes {slow} µs where that takes {fast}.",
        _error(motion, step, "rk4", "exponential-published")
        | {"slow": f"{_STEP}|rk4|here", "fast": f"{_STEP}|exponential-published|here"},
    )


def _products(motion: str) -> Ruling:
    return Ruling(
        motion,
        _PRODUCTS,
        Kind.OURS,
        "Our full exponential is so cheap that little is to be gained; and the paper says "
        "“in general”, where we ask for all steps.",
        "Table 3: without products a step takes {none} µs in place of {full}, where the paper's "
        "takes {theirs_none} in place of {theirs_full}.",
        {
            "none": f"{_STEP}|published, 0 products|here",
            "full": f"{_STEP}|exponential-published, unbalanced|here",
            "theirs_none": f"{_STEP}|published, 0 products|paper",
            "theirs_full": f"{_STEP}|exponential-published, unbalanced|paper",
        },
    )


_JUMP = 'study|experiments|reference|tables|Local error by step, authors\' jump, law "continuous"'
_WALK = "deciding|explicit walk|steps"
_ROMEO = "deciding|walk of Romeo|steps"
_GROUND = "deciding|stiff ground|grounds"

RULINGS = (
    _beats("squat", "0.1562"),
    Ruling(
        "trot",
        _SUDDEN,
        Kind.OURS,
        "We ask that the error grow a hundred times when the step doubles; explicit Euler needs "
        "two doublings.",
        "the table below: from {small} at 0.0625 ms to {large} at 0.25 ms.",
        {
            "small": _error("trot", "0.0625", "explicit-euler")["explicit_euler"],
            "large": _error("trot", "0.25", "explicit-euler")["explicit_euler"],
        },
    ),
    _products("trot"),
    Ruling(
        "jump",
        "Eul-imp is a bit worse than Expo in the jump for large steps",
        Kind.OURS,
        "Our jump has one landing, in two of its 110 periods.",
        "the authors' motion in our simulator, see their motions below: implicit-euler errs "
        "{implicit_10} where exponential-published errs {expo_10} at 10 ms, {implicit_5} and "
        "{expo_5} at 5 ms.",
        {
            "implicit_10": f"{_JUMP}|10|implicit-euler",
            "expo_10": f"{_JUMP}|10|exponential-published",
            "implicit_5": f"{_JUMP}|5|implicit-euler",
            "expo_5": f"{_JUMP}|5|exponential-published",
        },
    ),
    _beats("jump", "0.1562"),
    Ruling(
        "walk",
        "Eul-imp is a bit worse than Expo in the walk, but only for large steps",
        Kind.UNDECIDED,
        "Talos walks here, under the continuous law. The same plan with the paper's robot, Romeo, "
        "and the published law has implicit-euler over exponential-published at {r40:.2f} at "
        "40 ms, as the paper says, but at {r20:.2f} at 20 ms, {r10:.2f} at 10 ms, {r5:.2f} at 5 ms "
        "and {r2:.2f} at 2.5 ms; a few touch-downs decide.",
        "many walks of Romeo whose touch-downs fall anywhere in a step.",
        {
            f"r{step}": f"{_ROMEO}|{address} ms|ratio"
            for step, address in (
                ("40", "40"),
                ("20", "20"),
                ("10", "10"),
                ("5", "5"),
                ("2", "2.5"),
            )
        },
    ),
    Ruling(
        "walk",
        _SUDDEN,
        Kind.OURS,
        "The explicit methods were tried from 1.25 ms on, where rk4 is stable.",
        "larger steps of the same walk: rk4 errs {small:.1e} at 1.25 ms, {middle:.1e} at 2.5 ms "
        "and {large:.1e} at 5 ms.",
        {
            "small": f"{_WALK}|1.25 ms|rk4",
            "middle": f"{_WALK}|2.5 ms|rk4",
            "large": f"{_WALK}|5 ms|rk4",
        },
    ),
    _beats("walk", "1.25"),
    _products("walk"),
    Ruling(
        "fig4",
        "Eul-imp is slightly better than Expo except for K >= 1e6 N/m, where it is worse",
        Kind.PAPER,
        "On stiff ground the paper's Newton iteration “sometimes failed to converge”; one that "
        "converges is not worse there.",
        "the same trot under the paper's law: implicit-euler errs {implicit_6:.1e} where "
        "exponential-published errs {expo_6:.1e} at 1e6 N/m, {implicit_8:.1e} and {expo_8:.1e} at "
        "1e8 N/m.",
        {
            f"{short}_{k}": f"{_GROUND}|1e+0{k} N/m|{method}"
            for k in (6, 8)
            for short, method in (
                ("implicit", "implicit-euler"),
                ("expo", "exponential-published"),
            )
        },
    ),
    Ruling(
        "table3",
        "without matrix products a step takes 39 us in place of 94",
        Kind.OURS,
        "Our full exponential is cheap: the rest of a step costs more than its products.",
        "the table below: the full one takes {full} µs, the paper's {theirs}.",
        {
            "full": f"{_STEP}|exponential-published, unbalanced|here",
            "theirs": f"{_STEP}|exponential-published, unbalanced|paper",
        },
    ),
)
