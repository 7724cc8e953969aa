"""Tables that fit the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

from .table_blocks import blocks, head_lines, head_width

__all__ = ["FittedTable"]

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
        return max(longest, head_width(self._heads[k]))

    def _block(
        self, part: Sequence[int], widths: Sequence[int], title: str | None, caption: str | None
    ) -> Table:
        table = Table(title=title or None, caption=caption or None)
        for k in part:
            table.add_column(
                "\n".join(head_lines(self._heads[k], widths[k])),
                justify="left" if self._left[k] else "right",
                width=widths[k] if len(part) > 1 else None,
                overflow="fold",
            )
        for cells, style, ends in self._rows:
            shown = [cells[k] if k < len(cells) else "" for k in part]
            table.add_row(*shown, style=style, end_section=ends)
        return table


def _length(cell: str | Text) -> int:
    """Of its longest line."""
    lines = (cell if isinstance(cell, Text) else Text(cell)).split("\n")
    return max((line.cell_len for line in lines), default=0)
