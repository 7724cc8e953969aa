"""A ruling, and where its numbers are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any


class Kind(Enum):
    """Of the reasons for which a statement does not hold."""

    MISPRINT = "misprint: holds with the authors' code"
    PAPER = "the paper fails"
    OURS = "our experiment differs"
    UNDECIDED = "undecided"


class Stored:
    """The documents of one machine: `results` and the `study` of a page, and `deciding`."""

    def __init__(self, results: Path, study: str) -> None:
        self.paths = {
            "results": results,
            "deciding": results.with_name("deciding.json"),
            "study": results.with_name(f"{results.stem}-{study}-study.json"),
        }
        self._documents: dict[str, Any] = {}

    def document(self, name: str) -> Any:
        """One of them.

        Raises:
            KeyError: there is none of this machine.
        """
        if name not in self._documents:
            path = self.paths[name]
            if not path.is_file():
                raise KeyError(f"{path} is missing")
            self._documents[name] = json.loads(path.read_text(encoding="utf-8"))
        return self._documents[name]

    def find(self, address: str) -> Any:
        """What stands at `document|key|key|...`.

        In a list a key is the first value of one of its dicts (an experiment's name, a table's
        title, a solver); in a table the first cell of a row, and then the head of a column.

        Raises:
            KeyError: naming the file and the key that it lacks.
        """
        name, *keys = address.split("|")
        node = self.document(name)
        for key in keys:
            try:
                node = _child(node, key)
            except (KeyError, StopIteration):
                raise KeyError(f"{self.paths[name]} has no {key!r} of {address!r}") from None
        return node


def _child(node: Any, key: str) -> Any:
    if isinstance(node, list):
        return next(one for one in node if str(next(iter(one.values()))) == key)
    if key not in node and "rows" in node:
        row = next(row for row in node["rows"] if row[0] == key)
        return dict(zip(node["columns"], row, strict=True))
    return node[key]


@dataclass(frozen=True)
class Ruling:
    """Of one statement in one experiment.

    Attributes:
        experiment: its name in the stored document.
        statement: as printed, without a variant in brackets at its end.
        kind: the reason.
        why: in words; `{name}` stands for a number of `numbers`.
        decided: the experiment that decided it, or that would; with numbers too.
        numbers: name -> address in the stored documents, see `Stored.find`.
    """

    experiment: str
    statement: str
    kind: Kind
    why: str
    decided: str
    numbers: Mapping[str, str] = field(default_factory=dict)

    def text(self, stored: Stored) -> str:
        """The reason and what decided it, with the stored numbers."""
        found = {name: stored.find(address) for name, address in self.numbers.items()}
        opening = "Would decide it" if self.kind is Kind.UNDECIDED else "Decided by"
        return f"{self.why} {opening}: {self.decided}".format(**found)
