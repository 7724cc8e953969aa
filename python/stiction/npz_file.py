"""Arrays of an .npz file that may be damaged: sizes are checked before memory is taken."""

from __future__ import annotations

import math
import os
import stat
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ._stiction import StictionError

__all__ = ["LARGEST", "ArrayFile", "read_bytes", "require_file", "require_path"]

LARGEST = 2 << 30
"""Bytes that one file may hold, unpacked."""
INT_MAX = 2**31 - 1


def require_path(path: str | os.PathLike[str]) -> str:
    """The path as a string.

    Raises:
        TypeError: it is none.
        StictionError: it holds a zero byte, where the system would end it.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{_shown(path)} is no path: must be a str or an os.PathLike")
    name = os.fspath(path)
    if "\0" in name:
        shown = name.replace("\0", "\\0")
        raise StictionError(f"{shown}: the path holds a zero byte")
    return name


def _shown(value: Any, most: int = 60) -> str:
    """Its repr, or the start of a long one."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def require_file(path: str | os.PathLike[str], largest: int = LARGEST) -> str:
    """The path of a regular file of at most so many bytes.

    Raises:
        StictionError: it is none; the message names the path.
    """
    name = require_path(path)
    try:
        found = os.stat(name)
    except OSError as error:
        raise StictionError(f"{_shown_path(name)}: {_reason(error)}") from None
    if not stat.S_ISREG(found.st_mode):
        raise StictionError(f"{name}: is no regular file")
    if found.st_size > largest:
        raise StictionError(f"{name}: has {found.st_size} bytes, more than the {largest} allowed")
    return name


def read_bytes(path: str | os.PathLike[str], largest: int = LARGEST) -> bytes:
    """What a regular file of at most so many bytes holds.

    Raises:
        StictionError: it is none, or cannot be read; the message names the path.
    """
    name = require_file(path, largest)
    try:
        with open(name, "rb") as file:
            return file.read(largest)
    except OSError as error:
        raise StictionError(f"{_shown_path(name)}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)


def _shown_path(name: str, most: int = 300) -> str:
    """The path, or both ends of a long one."""
    return name if len(name) <= most else f"{name[: most // 2]}...{name[-most // 2 :]}"


@dataclass(frozen=True)
class ArrayFile:
    """The arrays of one file, by name; every error names file and field."""

    path: str
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def read(cls, path: str | os.PathLike[str], what: str, largest: int | None = None) -> ArrayFile:
        """All arrays of the file.

        Args:
            path: of the file.
            what: the file is, for messages.
            largest: bytes that it may hold, unpacked; None: LARGEST.

        Raises:
            StictionError: it is no whole .npz file, or unpacks to more than `largest` bytes.
        """
        most = LARGEST if largest is None else largest
        name = require_file(path)
        try:
            with zipfile.ZipFile(name) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > most:
                    raise StictionError(f"{name}: unpacks to more than {most} bytes")
                arrays = {
                    member.filename.removesuffix(".npy"): _read_array(archive, member)
                    for member in members
                }
        except _DamagedError as error:
            raise StictionError(f"{name} is no whole {what}: {error}") from None
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
            raise StictionError(f"{name} is no whole {what}: {_line(error)}") from None
        except (ValueError, NotImplementedError, RuntimeError, LookupError) as error:
            if isinstance(error, StictionError):
                raise
            raise StictionError(f"{name} is no whole {what}: {_line(error)}") from None
        return cls(name, arrays)

    def __contains__(self, field: str) -> bool:
        return field in self.arrays

    def fail(self, field: str, text: str) -> StictionError:
        """To be raised."""
        return StictionError(f"{self.path}: {field} {text}")

    def integers(self, field: str, ndim: int = 1, least: int = 0) -> NDArray[np.int64]:
        """An array of whole numbers that fit into 32 bits, none below `least`."""
        array = self._array(field, ndim, "iu", "whole numbers")
        if array.size and not (array.min() >= least and array.max() <= INT_MAX):
            raise self.fail(field, f"has an entry outside {least} ... {INT_MAX}")
        return array.astype(np.int64)

    def numbers(self, field: str, ndim: int = 1, finite: bool = True) -> NDArray[np.float64]:
        """An array of numbers; finite, or at least not NaN."""
        array = self._array(field, ndim, "f", "floating-point numbers").astype(np.float64)
        if not np.all(np.isfinite(array) if finite else ~np.isnan(array)):
            raise self.fail(field, "has an entry that is not finite" if finite else "has a NaN")
        return np.ascontiguousarray(array)

    def _array(self, field: str, ndim: int, kinds: str, words: str) -> NDArray[Any]:
        if field not in self.arrays:
            raise self.fail(field, "is missing")
        array = self.arrays[field]
        if array.dtype.kind not in kinds:
            raise self.fail(field, f"holds {array.dtype}, not {words}")
        if array.ndim != ndim:
            raise self.fail(field, f"has {array.ndim} dimensions, not {ndim}")
        return array


class _DamagedError(Exception):
    """A member that is no array, in words."""


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        shape, in_columns, dtype, header = _read_header(file, member.filename)
        size = math.prod(shape) * dtype.itemsize
        if header + size != member.file_size:
            raise _DamagedError(
                f"{member.filename} has {member.file_size} bytes, its header says {header + size}"
            )
        data = file.read(size + 1)
        if len(data) != size:
            raise _DamagedError(f"{member.filename} is truncated")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if in_columns else "C")


def _read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether it is stored by columns, type, and the bytes before the data."""
    try:
        version = npy.read_magic(file)
        reader = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, in_columns, dtype = reader(file)
    except Exception as error:
        # NumPy parses the header as Python: what it raises has no end of kinds.
        raise _DamagedError(f"{name} is no array ({_line(error)})") from None
    if dtype.kind not in "iuf" or any(n < 0 for n in shape):
        raise _DamagedError(f"{name} is no array of numbers ({dtype})")
    return shape, in_columns, dtype, file.tell()


def _line(error: Exception) -> str:
    """The first line of its message."""
    return (str(error) or type(error).__name__).splitlines()[0][:200]
