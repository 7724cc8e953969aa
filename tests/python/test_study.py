"""The study of GJK: its problems are what they claim, the quick run gives a complete report."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.pages.experiment import QUICK, Claim, Effort, Experiment, StudyError, Table, less
from stiction.pages.report import write_report
from stiction_lab.studies import funnel, objects, problems, quadratic_programs
from stiction_lab.studies.gjk import EXPERIMENTS, run_study
from stiction_lab.studies.study import Study


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("study")
    return run_study(folder, Effort(QUICK))


# --- problems -----------------------------------------------------------------------------------


def test_pairs_are_moved_to_their_distance() -> None:
    generator = np.random.default_rng(1)
    shapes = [objects.ycb_hull("FoamBrick"), *objects.random_ellipsoids(2, generator)]
    base = problems.separated(shapes, problems.all_pairs(3), 20, generator)
    assert (base.distance > 0.0).all()
    for distance in (1e-4, 1e-2, 0.5):
        moved = problems.moved_to(base, distance)
        assert np.abs(moved.distance - distance).max() < 1e-9
    shallow = problems.moved_to(base, -1e-4)
    assert (shallow.distance < 0.0).all() and shallow.distance.min() >= -1e-4 - 1e-9


def test_start_is_the_difference_of_the_box_centres() -> None:
    X = np.eye(4)
    X[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    X[:3, 3] = [1.0, 2.0, 3.0]
    corners = np.array([[x, y, z] for x in (0.0, 0.2) for y in (0.0, 0.4) for z in (0.0, 0.6)])
    shapes = [stiction.Sphere(0.1), stiction.ConvexMesh(corners)]
    problem = problems.Problems(shapes, np.array([[0, 1]]), X[None], np.zeros(1))
    expected = -np.array([1.0 - 0.2, 2.0 + 0.1, 3.0 + 0.3])
    assert np.allclose(problems.box_centres(problem), expected)


def test_sampled_hulls_have_the_papers_vertex_counts() -> None:
    for count, shape in objects.table_one_hulls().items():
        assert shape.vertices is not None and len(shape.vertices) == count
    assert len(objects.household()) == 10


def test_random_rotations_are_rotations() -> None:
    R = problems.random_rotations(100, np.random.default_rng(0))
    assert np.allclose(R @ np.swapaxes(R, 1, 2), np.eye(3))
    assert np.allclose(np.linalg.det(R), 1.0)
    assert np.abs(R.mean(axis=0)).max() < 0.3


def test_facets_hold_their_shape() -> None:
    box = stiction.Box([0.1, 0.2, 0.3])
    normals, offsets = quadratic_programs.facets(box)
    assert sorted(offsets) == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]
    mesh = objects.superquadric(np.array([0.1, 0.2, 0.3]), 3.0, 250)
    normals, offsets = quadratic_programs.facets(mesh)
    assert mesh.vertices is not None
    heights = normals @ mesh.vertices.T - offsets[:, None]
    assert heights.max() < 1e-7 and (heights.max(axis=1) > -1e-7).all()
    assert 400 < len(normals) <= 496


# --- the funnel ---------------------------------------------------------------------------------


def test_boxes_overlap_as_their_distance_says() -> None:
    generator = np.random.default_rng(5)
    shapes = [stiction.Box(half) for half in generator.uniform(0.02, 0.2, (10, 3))]
    chosen = generator.integers(0, 10, (500, 2))
    X = np.tile(np.eye(4), (500, 1, 1))
    X[:, :3, :3] = problems.random_rotations(500, generator)
    X[:, :3, 3] = generator.normal(size=(500, 3)) * 0.15
    found = funnel.boxes_overlap(shapes, chosen, X)
    truth = [
        stiction.distance(shapes[a], None, shapes[b], pose).distance <= 0.0
        for (a, b), pose in zip(chosen, X, strict=True)
    ]
    assert 150 < sum(truth) < 450
    assert np.array_equal(found, truth)


def test_objects_fall_into_the_funnel_and_meet() -> None:
    moving = funnel.simulate(8, np.random.default_rng(2))
    assert moving.X_WA.shape == (8, 121, 4, 4)
    assert (moving.X_WA[:, -1, 2, 3] < moving.X_WA[:, 0, 2, 3]).all()
    queried, starts = funnel.queries(moving)
    assert 0 < len(queried) < 8 * 121
    assert set(starts) == set(funnel.STARTS)
    assert all(np.isfinite(x).all() and len(x) == len(queried) for x in starts.values())
    # Objects that hardly move between steps keep their separation vector: most previous starts are
    # close to the solution, the box centres are not.
    found = problems.exact(queried)
    x = found["witness_a"] - found["witness_b"]
    previous, centres = (
        np.median(np.linalg.norm(starts[name] - x, axis=1)) for name in ("previous", "box centres")
    )
    assert previous < 0.5 * centres


# --- the report ---------------------------------------------------------------------------------


def test_every_experiment_is_there_or_says_why_not(quick: Study) -> None:
    study = quick
    assert len(study.experiments) + len(study.left_out) == len(EXPERIMENTS)
    assert set(study.left_out) <= {"table2"}  # where ProxQP is not installed
    for experiment in study.experiments:
        assert experiment.tables and experiment.claims and experiment.columns
        for table in experiment.tables:
            assert all(len(row) == len(table.columns) for row in table.rows)


def test_report_needs_no_other_file(quick: Study) -> None:
    page = quick.page
    assert page is not None
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"<(?:script|link)\b|src='(?!data:)", text)
    for experiment in quick.experiments:
        assert f"id='{experiment.name}'" in text
        assert text.count("<figure>") >= len(experiment.figures)
        with (page.parent / f"{experiment.name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(next(iter(experiment.columns.values()))) > 0


def test_methods_differ_and_stop_at_the_same_distance() -> None:
    """The counts of the report are those of different algorithms, not one under many names."""
    generator = np.random.default_rng(3)
    shapes = objects.random_ellipsoids(40, generator)
    base = problems.separated(shapes, np.arange(40).reshape(-1, 2), 5, generator)
    near = problems.moved_to(base, 1e-2)
    means = {}
    for method in ("gjk", "polyak", "nesterov", "frank-wolfe"):
        found = problems.solve(near, method, max_iterations=20_000)
        assert np.abs(found["distance"] - 1e-2).max() < 1e-4, method
        means[method] = found["iterations"].mean()
    assert len({round(x, 6) for x in means.values()}) == 4
    assert means["nesterov"] < means["gjk"] < means["frank-wolfe"]


def test_the_default_needs_fewest_iterations_where_ellipsoids_nearly_touch() -> None:
    """What docs/narrow_phase.md says about `auto`, `nesterov` and `gjk`."""
    generator = np.random.default_rng(1)
    shapes = objects.random_ellipsoids(600, generator)
    base = problems.separated(shapes, np.arange(600).reshape(-1, 2), 1, generator)
    near = problems.moved_to(base, 1e-3)
    means = {}
    for method in ("auto", "nesterov", "gjk"):
        found = stiction.time_distances(near.shapes, near.pairs, near.X_AB, method=method)
        assert np.abs(found["distance"] - 1e-3).max() < 1e-12, method
        means[method] = found["iterations"].mean()
    assert means["auto"] < 10.0 and 15.0 < means["nesterov"] < 30.0 < means["gjk"]


def test_counts_are_functions_of_the_seed(tmp_path: Path) -> None:
    def counts(seed: int, folder: str) -> list[list[str]]:
        study = run_study(tmp_path / folder, Effort(QUICK, seed), ["fig7"])
        return [row for table in study.experiments[0].tables for row in table.rows]

    assert counts(1, "a") == counts(1, "b")
    assert counts(2, "c") != counts(1, "a")
    assert (tmp_path / "a" / "fig7_ellipsoids_1.svg").read_bytes() == (
        tmp_path / "b" / "fig7_ellipsoids_1.svg"
    ).read_bytes()


def test_claims_that_fail_are_shown_as_such(tmp_path: Path) -> None:
    experiment = Experiment("x", "X <1>", "setup", columns={"a": [1]})
    experiment.tables.append(Table("T", ["a", "b"], [["1", "<b>"]]))
    experiment.claims += [Claim("yes", "1", True), Claim("no", "2", False), Claim("?", "3", None)]
    page = write_report(tmp_path, "R", "I", [experiment], {"y": "not here"}, {"cpu": "c"})
    text = page.read_text(encoding="utf-8")
    assert "1 of 3 statements" in text and "does not" in text and "&lt;b&gt;" in text
    assert "1 cannot be told from noise" in text and "within noise" in text
    assert "y was not run: not here" in text


def test_times_closer_than_noise_decide_nothing() -> None:
    assert less(1.0, 1.2) is True and less(1.2, 1.0) is False
    assert less(1.0, 1.04) is None and less(1.04, 1.0) is None


def test_notes_of_tables_reach_the_document(quick: Study) -> None:
    """Means that count runs stopped at the limit are not to be read without their note."""
    assert quick.page is not None
    document = json.loads((quick.page.parent / "study.json").read_text())
    [table3] = [e for e in document["experiments"] if e["name"].startswith("table3")]
    assert all("the most allowed" in table["note"] for table in table3["tables"])
    assert {c["verdict"] for e in document["experiments"] for c in e["claims"]} <= {
        "holds",
        "does not",
        "within noise",
    }


# --- refusals -----------------------------------------------------------------------------------


def test_an_unknown_experiment_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="'fig99' is no experiment; there are: fig7"):
        run_study(tmp_path, Effort(QUICK), ["fig99"])


def test_missing_matplotlib_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(StudyError, match="pip install"):
        run_study(tmp_path, Effort(QUICK), ["fig7"])


def test_missing_proxqp_leaves_one_experiment_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "proxsuite", None)
    with pytest.raises(StudyError, match="ProxQP"):
        run_study(tmp_path, Effort(QUICK), ["table2"])
    study = run_study(tmp_path, Effort(QUICK), ["table1", "table2"])
    assert len(study.experiments) == 1 and "ProxQP" in study.left_out["table2"]
    assert study.page is not None and "was not run" in study.page.read_text(encoding="utf-8")


def test_command_prints_json(tmp_path: Path) -> None:
    from stiction.cli import app
    from typer.testing import CliRunner

    arguments = ["study", "gjk", "--quick", "--only", "fig7", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["experiments"][0]["name"] == "fig7_ellipsoids"
    assert Path(document["report"]).is_file()
