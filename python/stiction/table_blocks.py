"""Columns of a table by blocks that fit beside each other; plain text, without rich."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

__all__ = ["aligned", "blocks", "head_lines", "head_width"]

HEAD_LINES = 3
"""Lines that a heading may take so that its column is no wider than its numbers."""


def blocks(
    widths: Sequence[int], keys: int, room: int, gap: int, joined: Sequence[bool] = ()
) -> Iterator[list[int]]:
    """Columns by block, each of them begun by the first `keys` ones; as many as fit into `room`,
    and one at least. Those joined to the one before stay with it where a block has room for all."""

    def wide(columns: Sequence[int]) -> int:
        return sum(widths[k] + gap for k in columns)

    units: list[list[int]] = []
    for k in range(keys, len(widths)):
        if units and k < len(joined) and joined[k]:
            units[-1].append(k)
        else:
            units.append([k])
    first = list(range(keys))
    part = list(first)
    for unit in units:
        pieces = [unit] if wide(first + unit) <= room else [[k] for k in unit]
        for piece in pieces:
            if len(part) > keys and wide(part + piece) > room:
                yield part
                part = list(first)
            part += piece
    yield part


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> str:
    """Plain text, the first column in every block; columns as wide as their widest cell."""
    widths = [
        max([head_width(head), *(len(row[k]) for row in rows)]) for k, head in enumerate(heads)
    ]
    found = []
    for part in blocks(widths, 1, room + 2, 2):
        wrapped = [head_lines(heads[k], widths[k]) for k in part]
        lines = list(zip_longest(*wrapped, fillvalue=""))
        lines += [tuple(row[k] for k in part) for row in rows]
        found.append("\n".join(_line(cells, [widths[k] for k in part]) for cells in lines))
    return "\n\n".join(found)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def head_lines(head: str, width: int) -> list[str]:
    """Wrapped, but for units: "[N s]" stays whole."""
    whole = re.sub(r"\[[^]]*\]", lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), head)
    lines = textwrap.wrap(whole, max(width, 1), break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def head_width(head: str) -> int:
    """The least in which a heading takes HEAD_LINES lines."""
    width = max(map(len, head_lines(head, 1)), default=0)
    while len(head_lines(head, width)) > HEAD_LINES:
        width += 1
    return width
