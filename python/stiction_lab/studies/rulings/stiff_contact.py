"""On exponential integration of stiff contact by Hammoud et al."""

from __future__ import annotations

from .ruling import Kind, Ruling

_BEATS = "Expo outperforms the others: greater accuracy for equal computing time"
_SUDDEN = "the error of Eul-exp and RK4 increases suddenly for large steps"
_PRODUCTS = "versions with fewer matrix products outperform the full exponential"
_STEP = "study|experiments|table3|tables|Time of a step [us]"
_SQUAT = "study|experiments|table3|tables|Time of a step of 10 ms of the squat [us]"
_THEIRS = "study|experiments|reference|tables"
_AGAIN = f"{_THEIRS}|The authors' code run again: local errors at the smallest steps"
_GROUND = f'{_THEIRS}|Local error at 2 ms by stiffness, authors\' trot, law "published"'


def _error(motion: str, step: str, *methods: str) -> dict[str, str]:
    table = f"study|experiments|{motion}|tables|Local error by step, {motion}"
    return {m.replace("-", "_"): f"{table}|{step}|{m}" for m in methods}


def _time(motion: str, step: str, method: str) -> str:
    return f"study|experiments|{motion}|tables|Time of a step [us], {motion}|{step}|{method}"


def _beats(motion: str, step: str) -> Ruling:
    return Ruling(
        motion,
        _BEATS,
        Kind.PAPER,
        "A true RK4 wins at small steps. The authors' reset adds the contact forces twice more "
        "before each period, which their RK4 takes into its first step; repaired, it wins too.",
        f"at {step} ms the authors' code, repaired and run again, errs {{their_rk4}} with RK4 and "
        "{their_expo} with its exponential, on their motion; here rk4 errs {rk4} where "
        "exponential-published errs {exponential_published}, and a step of it takes {slow} µs "
        "where that takes {fast}, on this motion (CSV file of times).",
        _error(motion, step, "rk4", "exponential-published")
        | {
            "slow": _time(motion, step, "rk4"),
            "fast": _time(motion, step, "exponential-published"),
            "their_rk4": f"{_AGAIN}|{motion}, {step} ms|RK4",
            "their_expo": f"{_AGAIN}|{motion}, {step} ms|exponential",
        },
    )


def _products(motion: str, step: str) -> Ruling:
    return Ruling(
        motion,
        _PRODUCTS,
        Kind.OURS,
        "Our full exponential is so cheap that little is to be gained; and the paper says "
        "“in general”, where we ask for all steps.",
        f"times of this motion: at {step} ms a step without products takes {{none}} µs in place of "
        "{full}; on the trot the paper's takes {theirs_none} in place of {theirs_full}.",
        {
            "none": _time(motion, step, "published, 0 products"),
            "full": _time(motion, step, "exponential-published"),
            "theirs_none": f"{_STEP}|published, 0 products|paper",
            "theirs_full": f"{_STEP}|exponential-published, unbalanced|paper",
        },
    )


_WALK = "deciding|explicit walk|steps"
_ROMEO = "deciding|walks of Romeo"

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
    _products("trot", "0.25"),
    _beats("jump", "0.1562"),
    _products("jump", "5"),
    Ruling(
        "walk",
        "Eul-imp is a bit worse than Expo in the walk, but only for large steps",
        Kind.UNDECIDED,
        "Talos walks here, under the continuous law. With the paper's robot, Romeo, and its law, "
        "in {walks} walks that begin anywhere in a step ({landings} landings), implicit-euler errs "
        "{r40:.2f} times as much as exponential-published at 40 ms, and more in {w40} of them, as "
        "the paper says; but {r20:.2f} times at 20 ms, {r10:.2f} at 10 ms, {r5:.2f} at 5 ms and "
        "{r2:.2f} at 2.5 ms, and more in {w20}, {w10}, {w5} and {w2} of them. So it is no matter "
        "of where touch-downs fall.",
        "the authors' walk, whose torques we have not.",
        {
            f"{short}{step}": f"{_ROMEO}|steps|{address} ms|{key}"
            for short, key in (("r", "ratio"), ("w", "worse"))
            for step, address in (
                ("40", "40"),
                ("20", "20"),
                ("10", "10"),
                ("5", "5"),
                ("2", "2.5"),
            )
        }
        | {key: f"{_ROMEO}|{key}" for key in ("walks", "landings")},
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
    _products("walk", "1.25"),
    Ruling(
        "reference",
        "Eul-imp is slightly better than Expo except for K >= 1e6 N/m, where it is worse",
        Kind.PAPER,
        "An implicit Euler whose Newton iteration converges is not worse on stiff ground. The "
        "paper's “sometimes failed to converge”, and each integrator is judged by itself there.",
        "the authors' trot under their law, both judged by rk4, steps of 2 ms: implicit-euler errs "
        "{implicit_6} where the exponential without products errs {expo_6} at 1e6 N/m, "
        "{implicit_8} and {expo_8} at 1e8 N/m; it does not converge in {failed_6} and {failed_8} "
        "of the periods.",
        {
            f"{short}_{k}": f"{_GROUND}|1e+0{k}|{method}"
            for k in (6, 8)
            for short, method in (
                ("implicit", "implicit-euler"),
                ("expo", "published, 0 products"),
                ("failed", "implicit-euler did not converge"),
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
    Ruling(
        "table3",
        "Expo is about ten times faster than Eul-imp (squat at 10 ms)",
        Kind.OURS,
        "Our implicit Euler is further ahead of the paper's than our exponential.",
        "times of a step of 10 ms of the squat: implicit-euler takes {implicit} µs where the "
        "paper's takes {theirs}; exponential-published takes {expo}, the paper's a tenth of its "
        "implicit Euler's.",
        {
            "implicit": f"{_SQUAT}|implicit-euler|here",
            "theirs": f"{_SQUAT}|implicit-euler|paper",
            "expo": f"{_SQUAT}|exponential-published|here",
        },
    ),
)
