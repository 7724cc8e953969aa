"""Tables that fit the terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

__all__ = ["FittedTable", "aligned", "blocks"]

HEAD_LINES = 3
"""Lines that a heading may take so that its column is no wider than its numbers."""
KEY_SHARE = 0.45
"""Of the terminal, for what says the row at most; longer texts are wrapped."""
FRAME = 3
"""Columns of the terminal that stand between two columns of a table."""


class FittedTable:
    """A table as of rich whose columns that do not fit beside each other follow in further blocks,
    under the same title, each with the first columns again.

    Args:
        title, caption: above the first block, below the last one.
        keys: how many columns say what a row is; each block has them.
    """

    def __init__(self, title: str = "", caption: str = "", keys: int = 1) -> None:
        self.title, self.caption, self.keys = title, caption, keys
        self._heads: list[str] = []
        self._left: list[bool] = []
        self._joined: list[bool] = []
        self._rows: list[tuple[tuple[str | Text, ...], str | None, bool]] = []

    @property
    def row_count(self) -> int:
        """Rows of a block."""
        return len(self._rows)

    def add_column(self, head: str, justify: str = "left", joined: bool = False) -> None:
        """To the right of the others; joined: in the block of the one before, if both fit."""
        self._heads.append(head)
        self._left.append(justify == "left")
        self._joined.append(joined)

    def add_row(self, *cells: str | Text, style: str | None = None, ends: bool = False) -> None:
        """Below the others; missing cells are empty. ends: a line is drawn under it."""
        self._rows.append((cells, style, ends))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        widths = [self._width(k, options.max_width) for k in range(len(self._heads))]
        parts = list(blocks(widths, self.keys, options.max_width - 1, FRAME, self._joined))
        for number, part in enumerate(parts):
            yield self._block(
                part,
                widths,
                self.title if number == 0 else None,
                self.caption if number == len(parts) - 1 else None,
            )

    def _width(self, k: int, room: int) -> int:
        cells = [cells[k] for cells, _, _ in self._rows if k < len(cells)]
        longest = max((_length(cell) for cell in cells), default=0)
        if k < self.keys:
            longest = min(longest, int(KEY_SHARE * room))
        return max(longest, _head_width(self._heads[k]))

    def _block(
        self, part: Sequence[int], widths: Sequence[int], title: str | None, caption: str | None
    ) -> Table:
        table = Table(title=title or None, caption=caption or None)
        for k in part:
            table.add_column(
                "\n".join(_head_lines(self._heads[k], widths[k])),
                justify="left" if self._left[k] else "right",
                width=widths[k] if len(part) > 1 else None,
                overflow="fold",
            )
        for cells, style, ends in self._rows:
            shown = [cells[k] if k < len(cells) else "" for k in part]
            table.add_row(*shown, style=style, end_section=ends)
        return table


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
        max([_head_width(head), *(len(row[k]) for row in rows)]) for k, head in enumerate(heads)
    ]
    found = []
    for part in blocks(widths, 1, room + 2, 2):
        wrapped = [_head_lines(heads[k], widths[k]) for k in part]
        lines = list(zip_longest(*wrapped, fillvalue=""))
        lines += [tuple(row[k] for k in part) for row in rows]
        found.append("\n".join(_line(cells, [widths[k] for k in part]) for cells in lines))
    return "\n\n".join(found)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def _length(cell: str | Text) -> int:
    """Of its longest line."""
    lines = (cell if isinstance(cell, Text) else Text(cell)).split("\n")
    return max((line.cell_len for line in lines), default=0)


def _head_lines(head: str, width: int) -> list[str]:
    """Wrapped, but for units: "[N s]" stays whole."""
    whole = re.sub(r"\[[^]]*\]", lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), head)
    return textwrap.wrap(whole, max(width, 1), break_long_words=False, break_on_hyphens=False)


def _head_width(head: str) -> int:
    """The least in which a heading takes HEAD_LINES lines."""
    width = max(map(len, _head_lines(head, 1)), default=0)
    while len(_head_lines(head, width)) > HEAD_LINES:
        width += 1
    return width
