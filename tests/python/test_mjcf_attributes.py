"""Every attribute of MuJoCo's schema stands in a class, and does what its class says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import mujoco
import pytest
import stiction
from mjcf_changes import CHANGES, NOT_COMPARED, quantities
from mjcf_minimal_files import FILES, MARK, NO_FILE

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import mjcf_attributes as table

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
OWN = [(e, a) for e, names in table.schema().items() for a in names if not e.startswith("default/")]


@pytest.fixture(autouse=True)
def quiet_mujoco() -> Iterator[None]:
    """Without a file of warnings in the working directory."""
    mujoco.set_mju_user_warning(lambda _: None)
    yield
    mujoco.set_mju_user_warning(None)


def of_class(kind: str) -> list[tuple[str, str]]:
    given = table.rules()
    return [(e, a) for e, a in OWN if table.classes(e, a, given) == {kind}]


def fits(pattern: str, element: str) -> bool:
    return pattern == "**" or table._fits(pattern, element)


def test_every_attribute_stands_in_one_class() -> None:
    given, known = table.rules(), table.schema()
    assert sum(map(len, known.values())) > 1500
    unsettled = {
        (element, attribute): found
        for element, names in known.items()
        for attribute in names
        if len(found := table.classes(element, attribute, given)) != 1
    }
    assert not unsettled
    # And nothing else: an element or attribute that the schema has no more.
    for rule in given:
        for pattern in rule.elements:
            assert any(fits(pattern, element) for element in known), pattern
        reached = {a for e, names in known.items() for a in names if rule.names(e, a)}
        assert set(rule.attributes) <= reached | {"*"}, rule


def test_the_page_is_that_of_the_table() -> None:
    assert table.PAGE.read_text() == table.page(), "python tools/mjcf_attributes.py"


def test_every_attribute_that_is_not_honoured_has_a_file() -> None:
    covered = [*FILES, *NO_FILE]
    for element, attribute in of_class("unsupported"):
        assert any(fits(e, element) and a in (attribute, "*") for e, a in covered), (
            element, attribute,
        )  # fmt: skip


@pytest.mark.parametrize("name", FILES, ids=lambda name: f"{name[0]} {name[1]}")
def test_what_is_not_honoured_is_said_with_its_line(name: tuple[str, str]) -> None:
    xml = FILES[name]
    line = 1 + next(i for i, text in enumerate(xml.splitlines()) if MARK in text)
    unused = [m for m in stiction.load_mjcf(xml).messages if m.kind == "unused"]
    assert line in [m.line for m in unused], [str(m) for m in unused]
    with pytest.raises(stiction.StictionError, match=f"MJCF string:{line}: "):
        stiction.load_mjcf(xml, strict=True)


def test_every_attribute_that_is_physics_is_looked_at() -> None:
    """In a file that it changes, or where NOT_COMPARED says."""
    for element, attribute in of_class("physics"):
        listed = any(
            fits(e, element) and (attribute in names.split() or names == "*")
            for e, names, _ in NOT_COMPARED
        )
        assert listed or (element, attribute) in CHANGES, (element, attribute)
    known = set(OWN)
    assert not set(CHANGES) - known


@pytest.mark.parametrize("name", CHANGES, ids=lambda name: f"{name[0]} {name[1]}")
def test_what_is_physics_changes_something(name: tuple[str, str]) -> None:
    without, given, quantity = CHANGES[name]
    one, two = quantities(without), quantities(given)
    assert one.keys() == two.keys()
    changed = [key for key in one if one[key] != two[key]]
    assert quantity in changed, changed
