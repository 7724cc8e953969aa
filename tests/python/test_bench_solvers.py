"""The solver benchmark on a few stored problems: the judge, the ladder, the peers, the command."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest
from stiction.cli import app
from stiction_lab.bench.problem_set import StoredProblem, load_set, thinned
from stiction_lab.bench.solver_engines import Answer, Start, engine
from stiction_lab.bench.solver_tables import solver_tables
from stiction_lab.bench.solvers import (
    OURS,
    OWN_ADMM,
    absolute,
    bench_solvers,
    count_solved,
    judge,
    reference_impulses,
    timing_rows,
)
from stiction_lab.bench.worlds import BenchError
from typer.testing import CliRunner

DATA = Path(__file__).parents[1] / "data" / "ncp_set.npz"


@pytest.fixture(scope="module")
def sample() -> list[StoredProblem]:
    """One easy problem in twenty, and one without solution."""
    return load_set(DATA, ("solo", "box", "infeas"), every=20, rows=40)


def test_set_has_the_published_sizes() -> None:
    problems = load_set(DATA)
    assert sum(p.feasible for p in problems) == 732
    assert sum(not p.feasible for p in problems) == 20
    assert all(np.array_equal(p.G, p.G.T) for p in problems)
    assert {group for p in problems for group in p.groups} >= {"stack", "stack20", "talos"}
    kept = thinned(problems, 6)
    assert sum(p.kind == "solo" for p in kept) == 14
    assert sum("stack20" in p.groups for p in kept) == 3
    with pytest.raises(BenchError, match="piles"):
        load_set(DATA, ("piles",))
    with pytest.raises(BenchError, match="not there"):
        load_set(DATA.with_name("missing.npz"))


def test_document(sample: list[StoredProblem]) -> None:
    feasible = [p for p in sample if p.feasible]
    assert feasible and len(feasible) < len(sample)
    timed = (OURS, OWN_ADMM, "pinocchio-admm", "pinocchio-pgs")
    document = bench_solvers(sample, (OURS, "ccp-pgs"), timed, 2000, effort_ms=0.1)
    cold = document["shares"][0]
    assert cold["engine"] == OURS and cold["start"] == "cold"
    assert cold["good"] == cold["tight"] == 1.0 and not cold["false_converged"]
    assert cold["met"] is True and cold["time_us"] > 0.0
    assert cold["infeasible"] == cold["infeasible_problems"] == len(sample) - len(feasible)
    relaxed = document["shares"][2]
    assert relaxed["engine"] == "ccp-pgs" and relaxed["good"] < relaxed["own"] == 1.0
    rows = {(r["engine"], r["group"], r["start"], r["accuracy"]): r for r in document["timings"]}
    for label in timed:
        row = rows[label, "all", "warm", "relative"]
        assert row["problems"] == len(feasible)
        assert row["reached"] >= 0.7 * len(feasible)
        assert 0.0 < row["median_us"] <= row["p90_us"]
        assert (row["ratio"] is None) == (label == OURS)
    solver_tables(document)


@pytest.mark.parametrize("label", ["pinocchio-admm", "pinocchio-admm-spectral", "pinocchio-pgs"])
def test_peers_solve_the_same_problem(sample: list[StoredProblem], label: str) -> None:
    """Their impulses pass our judge, so G, g, mu and the order of rows mean the same to them."""
    solver = engine(label, 5000)
    for stored in (p for p in sample if p.kind == "solo"):
        cold = solver.solve(stored, Start(False), 1e-11)
        assert cold.status == "converged"
        assert absolute(judge(stored, False, cold)) <= 1e-8
        assert not absolute(judge(stored, True, cold)) <= 1e-8  # g_warm is another problem
        warm = solver.solve(stored, Start(True, cold.impulse, cold.penalty), 1e-11)
        assert absolute(judge(stored, True, warm)) <= 1e-8


def test_times_and_ratios(sample: list[StoredProblem]) -> None:
    """A problem that was not solved counts as endless, and is left out of ratios."""
    names = [p.name for p in sample if p.kind == "solo"]
    assert len(names) >= 4
    keys = [
        (p.name, start, accuracy)
        for p in sample
        for start in ("cold", "warm")
        for accuracy in ("absolute", "relative")
    ]
    taken = {OURS: dict.fromkeys(keys, 2.0), "pinocchio-admm": dict.fromkeys(keys, 8.0)}
    taken["pinocchio-admm"][names[0], "warm", "absolute"] = inf
    rows = timing_rows(sample, taken)
    row = next(
        r
        for r in rows
        if (r.engine, r.group, r.start, r.accuracy)
        == ("pinocchio-admm", "solo", "warm", "absolute")
    )
    assert (row.reached, row.common) == (len(names) - 1, len(names) - 1)
    assert row.median_us == 8.0 and row.p90_us == inf
    assert row.ratio == 0.25 and row.met is False
    ours = next(
        r
        for r in rows
        if (r.engine, r.group, r.start, r.accuracy) == (OURS, "solo", "warm", "absolute")
    )
    assert ours.goal_us == 2.5 and ours.met is True


def test_a_liar_is_found(sample: list[StoredProblem]) -> None:
    class Liar:
        label = "liar"

        def solve(self, stored: StoredProblem, start: Start, tolerance: float) -> Answer:
            return Answer(np.zeros(len(stored.g)), "converged", 1, 0)

        def time(
            self, stored: StoredProblem, start: Start, tolerance: float, repeats: int
        ) -> np.ndarray:
            return np.ones(repeats)

    cold, _ = count_solved(Liar(), sample, reference_impulses(sample))
    assert cold.good < 1.0 and cold.false_converged == cold.failed
    assert cold.infeasible == -1 and cold.met is None


def test_command(tmp_path: Path) -> None:
    arguments = ["bench", "solvers", "--classes", "solo", "--every", "40", "--json"]
    arguments += ["--timed", OURS, "--results", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["shares"][0]["good"] == 1.0
    assert document["timings"][0]["median_us"] > 0.0
    (stored,) = tmp_path.glob("*.json")
    assert json.loads(stored.read_text())["solvers"]["timings"] == document["timings"]
    refused = CliRunner().invoke(app, ["bench", "solvers", "--timed", "magic", "--every", "200"])
    assert refused.exit_code == 1 and "magic" in refused.output
