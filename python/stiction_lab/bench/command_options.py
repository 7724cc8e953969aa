"""What commands of the bench share."""

from __future__ import annotations

from typing import Annotated

import typer

from .worlds import BenchError

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables.")
]


def names_of(text: str) -> list[str]:
    """Of a comma-separated option."""
    return [name.strip() for name in text.split(",") if name.strip()]


def require_peer(peer: str) -> None:
    """Raise BenchError unless the peer is known and installed."""
    if peer != "mujoco":
        raise BenchError(f"--peer {peer!r} is unknown; there is: mujoco")
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise BenchError(
            "the peer is not installed: pip install mujoco==4.0.0, or make bench"
        ) from error
