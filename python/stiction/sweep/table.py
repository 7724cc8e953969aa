"""Columns as a folder of Parquet files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__

__all__ = ["Folder", "read"]

MANIFEST = "sweep.json"
Columns = dict[str, NDArray[Any]]


class Folder:
    """`out` of a sweep: sweep.json says what is in it, part-<chunk>.parquet each chunk. A part
    gets its name when it is whole, so that one that stands there was written once.

    Raises:
        ValueError: the folder holds other runs.
    """

    def __init__(
        self, path: str | os.PathLike[str], what: dict[str, Any], worlds: int, chunk: int
    ) -> None:
        self.path = Path(path)
        _arrow()
        told = {"stiction": __version__, "runs": what, "worlds": worlds, "chunk": chunk}
        text = json.dumps(told, indent=1) + "\n"
        self.path.mkdir(parents=True, exist_ok=True)
        manifest = self.path / MANIFEST
        if not manifest.exists():
            if any(not x.name.startswith(".") for x in self.path.iterdir()):
                raise ValueError(f"{self.path}: is not empty and holds no {MANIFEST}")
            _whole(manifest, lambda at: at.write_text(text, encoding="utf-8"))
        there = json.loads(manifest.read_text(encoding="utf-8"))
        if there != json.loads(text):
            differs = [name for name in told if there.get(name) != json.loads(text)[name]]
            raise ValueError(
                f"{self.path}: holds results of other runs ({', '.join(differs)} in {MANIFEST} "
                "differ): choose another folder, or remove it"
            )

    def has(self, chunk: int) -> bool:
        """Whether its results are there."""
        return self._part(chunk).exists()

    def write(self, chunk: int, columns: Columns) -> None:
        """The results of a chunk, at once."""
        arrow = _arrow()
        parquet = arrow.parquet
        made = arrow.table({name: _column(arrow, x) for name, x in columns.items()})
        _whole(self._part(chunk), lambda at: parquet.write_table(made, at, compression="zstd"))

    def _part(self, chunk: int) -> Path:
        return self.path / f"part-{chunk:06d}.parquet"


def read(path: str | os.PathLike[str]) -> Columns:
    """Columns of a folder that run() wrote, in the order of the worlds. pandas, Polars and DuckDB
    read its *.parquet files themselves.

    Raises:
        ValueError: it is none, or chunks are missing: the same run() goes on with it.
    """
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        raise ValueError(f"{folder}: no {MANIFEST}: not the folder of a sweep")
    told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    chunks = -(-told["worlds"] // told["chunk"])
    parts = sorted(folder.glob("part-*.parquet"))
    if len(parts) != chunks:
        raise ValueError(f"{folder}: {len(parts)} of {chunks} chunks are done: run() it again")
    arrow = _arrow()
    whole = arrow.concat_tables([arrow.parquet.read_table(part) for part in parts])
    return {name: _numbers(arrow, whole[name].combine_chunks()) for name in whole.column_names}


def _column(arrow: Any, x: NDArray[Any]) -> Any:
    """(rows,) as they are, (rows, m) as lists of m."""
    if x.ndim == 1:
        return arrow.array(x)
    if x.ndim != 2:
        raise ValueError(f"a column has shape {x.shape}: must be (rows,) or (rows, m)")
    flat = arrow.array(np.ascontiguousarray(x).reshape(-1))
    return arrow.FixedSizeListArray.from_arrays(flat, x.shape[1])


def _numbers(arrow: Any, column: Any) -> NDArray[Any]:
    if not arrow.types.is_fixed_size_list(column.type):
        x = np.asarray(column.to_numpy(zero_copy_only=False))
        return x.astype(str) if arrow.types.is_string(column.type) else x
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat).reshape(len(column), column.type.list_size)


def _whole(path: Path, write: Any) -> None:
    """Under another name until it is written."""
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    write(begun)
    os.replace(begun, path)


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Parquet files need pyarrow: pip install pyarrow; without `out` results stay in memory",
            name="pyarrow",
        ) from error
    return pyarrow
