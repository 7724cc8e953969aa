"""The collision part of a step on piles, beside the peer's."""

from __future__ import annotations

import pytest
import stiction


def test_pile_rows_measure_both_engines() -> None:
    pytest.importorskip("mujoco")
    from stiction_lab.bench.pile_collision import pile_row, pile_rows
    from stiction_lab.bench.worlds import BenchError

    row = pile_rows(counts=(6,), steps=3, reps=2, settle=1.0)[0]
    assert row.bodies == 6
    assert row.us > 0
    assert row.peer_us > 0
    assert row.ratio == pytest.approx(row.us / row.peer_us)
    assert row.contacts >= 6
    assert row.peer_contacts >= 3
    assert row.tested_pairs > 0
    assert row.peer_margin == pytest.approx(row.margin)
    assert row.as_dict()["us_per_contact"] == pytest.approx(row.us / row.contacts)
    with pytest.raises(BenchError, match="reps = 0"):
        pile_row(3, reps=0)


def test_peer_looks_as_far_ahead_as_we_do() -> None:
    """MuJoCo adds the margins of two geoms; the margin of a contact is ours, of the pair."""
    mujoco = pytest.importorskip("mujoco")
    from stiction_lab.bench.pile_collision import MARGIN, _Pile

    assert stiction.SimulatorSettings().margin == MARGIN
    pile = _Pile(6, 1.0)
    model = pile.peer()
    data = mujoco.MjData(model)
    data.qpos[:] = pile.next_states(1)[1][0]
    mujoco.mj_forward(model, data)
    assert data.ncon >= 6
    assert data.contact.includemargin == pytest.approx(MARGIN)
