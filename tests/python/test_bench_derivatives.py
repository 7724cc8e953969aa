"""Times of derivatives beside the peer's: the document holds what the table prints."""

from __future__ import annotations

import pytest


def test_derivatives_are_timed_beside_the_peers() -> None:
    pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")
    from stiction_lab.bench.derivatives import bench_derivatives, derivative_table

    document = bench_derivatives(("cube-slide",), rounds=1)
    (row,) = document["rows"]
    assert (row["nv"], row["columns"], row["peer_columns"]) == (6, 18, 12)
    for name in ("step", "matrices", "gradient", "peer_step", "peer_forward", "peer_centered"):
        assert row[name] > 0
    assert row["matrices_over_step"] == row["matrices"] / row["step"]
    assert row["peer_forward_over_matrices"] == row["peer_forward"] / row["matrices"]
    ours = row["step"] + row["matrices"]
    assert row["peer_forward_over_ours"] == row["peer_forward"] / ours
    assert row["peer_centered_over_ours"] == row["peer_centered"] / ours
    assert derivative_table(document).renderables[0].row_count == 14
    assert "columns" in document["setup"] and document["machine"]["load"] is not None
