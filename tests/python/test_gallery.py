"""docs/gallery.md: every entry's code runs, its picture is there, its numbers are the table's."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from stiction.loading import has_example_robots

ROOT = Path(__file__).resolve().parents[2]
STEPS = 20
sys.path.insert(0, str(ROOT / "tools"))
gallery, pictures = import_module("gallery"), import_module("gallery_pictures")
NUMBERS = json.loads(gallery.NUMBERS.read_text())


@pytest.mark.parametrize("entry", gallery.ENTRIES, ids=lambda entry: entry.name)
def test_code_runs(entry: Any) -> None:
    pytest.importorskip("gymnasium")
    if entry.needs == "example_robot_data" and not has_example_robots():
        pytest.skip("needs example-robot-data")
    if entry.source.endswith(".xml"):
        pytest.importorskip("mujoco")
    names = gallery.prepare(entry)
    sim, state, control = names["sim"], names["state"], names["control"]
    for step in range(STEPS):
        assert sim.step(state, control).status == "ok"
        names.get("act", lambda step: None)(step + 1)
    assert np.isfinite(state.q).all() and np.isfinite(state.v).all()


def test_all_built_in_scenes_are_there() -> None:
    import stiction

    assert {entry.title.split("(")[0] for entry in gallery.BUILT_IN} == {
        scene.name.split("(")[0] for scene in stiction.scenes()
    }
    assert len(gallery.REAL) >= 10


@pytest.mark.parametrize("entry", gallery.ENTRIES, ids=lambda entry: entry.name)
def test_picture(entry: Any) -> None:
    path = gallery.PICTURES / f"{entry.name}.png"
    assert path.stat().st_size <= pictures.LIMIT
    with Image.open(path) as image:
        assert image.size == pictures.SIZE
        brightness = np.asarray(image.convert("L"))
    assert brightness.std() > 2.0, "an empty picture"


def test_no_picture_is_left_over() -> None:
    names = {path.stem for path in gallery.PICTURES.glob("*.png")}
    assert names == {entry.name for entry in gallery.ENTRIES}


def test_page_is_made_from_the_numbers() -> None:
    """Otherwise: python tools/gallery.py --page."""
    text = gallery.PAGE.read_text()
    assert gallery.rendered(text, NUMBERS) == text


def test_every_run_was_ok() -> None:
    for name, row in NUMBERS["entries"].items():
        assert row["ok"] == row["steps"], name
