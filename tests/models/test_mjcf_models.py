"""Every MJCF file of five packages: `make test-models` fetches them.

What MuJoCo compiles loads, has its mass matrix, bias and acceleration where the stored table says
so, and takes ten steps; what it refuses is refused in its words, with the file and its line.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import Beside, worst_differences

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "build" / "models"
FILES = sorted(MODELS.rglob("*.xml"))
TABLE = {
    (model["package"], model["file"]): model
    for model in json.loads((ROOT / "benchmarks/results/mjcf-models.json").read_text())["models"]
}
COMPILED, REFUSED, MOVING = 238, 119, 180
"""Of MuJoCo 4.0."""


def name_of(file: Path) -> str:
    return str(file.relative_to(MODELS))


def compiled(file: Path) -> mujoco.MjModel | ValueError:
    """MuJoCo's model, or its error."""
    try:
        return mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        return error


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_file(file: Path) -> None:
    model = compiled(file)
    package, _, path = name_of(file).partition("/")
    assert isinstance(model, ValueError) == ((package, path) not in TABLE)
    if isinstance(model, ValueError):
        refused_in_words(file, str(model))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = stiction.load_mjcf(file)
    stored = TABLE[package, path]
    assert sum(m.kind == "unused" for m in loaded.messages) == stored["unused"]
    if model.nv == 0:
        return
    differences = worst_differences(
        Beside(file, equalities=False), np.random.default_rng(0), states=1
    )
    for key, difference in differences.items():
        assert difference < 1e-9 or key in stored["differences"], (key, difference)
    sim = loaded.simulation()
    ok = sum(sim.step().status == "ok" for _ in range(10))
    assert 10 - ok <= stored["steps"] - stored["ok"]


def refused_in_words(file: Path, words: str) -> None:
    """MuJoCo's error, by its file and with a line wherever it has one."""
    with pytest.raises(stiction.StictionError) as caught:
        stiction.load_mjcf(file)
    ours = str(caught.value)
    assert ours.startswith(f"{file}: ")
    first = " ".join(words.split("\n")[0].removeprefix("Error: ").split())
    assert first.removeprefix("XML Error: ")[:60] in ours
    if re.search(r"line [1-9]", words) or "Error opening file" in words:
        assert re.search(r"line [1-9]", ours)


def test_none_is_missing() -> None:
    assert len(FILES) == COMPILED + REFUSED
    assert len(TABLE) == COMPILED
    assert sum(model["dofs"] > 0 for model in TABLE.values()) == MOVING
