"""Arrays of a Batch in other libraries without a copy: the DLPack protocol and NumPy's own."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest
import stiction
from stiction import Batch

WRITABLE = ["q", "v", "torque", "position_target", "velocity_target"]
TO_READ = ["time", "certificate", "contacts", "scalar_steps", "status", "lane_exit"]
N = 5


def batch_of(n: int = N) -> Batch:
    batch = Batch(stiction.load("solo12"), n, configuration="standing")
    batch.step(3)
    return batch


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    )  # fmt: skip


def read(capsule: object) -> Versioned:
    """What another library sees in a capsule."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Versioned.from_address(pointer(capsule, b"dltensor_versioned"))


CPU, READ_ONLY, COPIED = 1, 1, 2
CODES = {"i": 0, "u": 1, "f": 2}


@pytest.mark.parametrize("name", [*WRITABLE, *TO_READ])
def test_a_capsule_is_the_batchs_memory(name: str) -> None:
    batch = batch_of()
    array = getattr(batch, name)
    assert array.__dlpack_device__() == (CPU, 0)
    capsule = array.__dlpack__(max_version=(1, 0))
    seen = read(capsule)
    tensor = seen.tensor
    assert tensor.data == array.ctypes.data and tensor.offset == 0 and tensor.device == CPU
    assert tuple(tensor.shape[: tensor.ndim]) == array.shape
    strides = [s // array.itemsize for s in array.strides]
    assert [tensor.strides[k] for k in range(tensor.ndim)] == strides
    assert (tensor.code, tensor.bits) == (CODES[array.dtype.kind], 8 * array.itemsize)
    assert not seen.flags & COPIED
    assert bool(seen.flags & READ_ONLY) == (name in TO_READ)


@pytest.mark.parametrize("name", WRITABLE)
def test_what_another_library_writes_is_stepped(name: str) -> None:
    batch, plain = batch_of(), batch_of()
    other = np.from_dlpack(getattr(batch, name))
    assert np.shares_memory(other, getattr(batch, name)) and other.flags.writeable
    change = 0.01 * np.arange(other.size).reshape(other.shape) / other.size
    if name == "q":
        change[:, 3:7] = 0.0
    np.add(other, change, out=other)
    getattr(plain, name)[:] += change
    for b in (batch, plain):
        b.step(4)
    assert batch.q.tobytes() == plain.q.tobytes()
    if name in ("q", "v"):
        assert other.tobytes() == getattr(batch, name).tobytes()  # shows the present state


@pytest.mark.parametrize("name", TO_READ)
def test_arrays_to_be_read_stay_so(name: str) -> None:
    batch = batch_of()
    other = np.from_dlpack(getattr(batch, name))
    assert np.shares_memory(other, getattr(batch, name)) and not other.flags.writeable
    with pytest.raises(BufferError, match="readonly"):
        getattr(batch, name).__dlpack__()  # a consumer that could not know that it is
    own = np.from_dlpack(getattr(batch, name), copy=True)
    own[:] = 1  # a copy may be written


def test_wrenches_too() -> None:
    batch = batch_of()
    push = np.from_dlpack(batch.wrench("base_link"))
    push[:, 2] = 100.0
    batch.step(20)
    assert (batch.v[:, 2] > 0.2).all()


def test_views_keep_the_batch() -> None:
    for take in (np.from_dlpack, np.asarray, lambda x: x[1:]):
        batch = batch_of()
        gone = weakref.ref(batch)
        view = take(batch.q)
        expected = batch.q.copy()[-len(view) :]
        del batch
        gc.collect()
        assert gone() is not None
        assert view.tobytes() == expected.tobytes()
        view[:] = 0.0
        del view
        gc.collect()
        assert gone() is None  # the last one lets go
    batch = batch_of()
    gone = weakref.ref(batch)
    capsule = batch.q.__dlpack__(max_version=(1, 0))  # never consumed
    del batch
    gc.collect()
    assert gone() is not None and read(capsule).tensor.ndim == 2
    del capsule
    gc.collect()
    assert gone() is None


def test_observers_do_not_keep_the_batch() -> None:
    batch = batch_of()
    seen = batch.observe(["q", "imu"], imu="base_link")
    gone = weakref.ref(batch)
    del batch
    gc.collect()
    assert gone() is None and np.isfinite(seen).all()


def test_while_it_steps_arrays_are_to_be_read() -> None:
    batch = batch_of(64)
    batch.step_async(3000)
    during = batch.q
    with pytest.raises(ValueError, match="read-only"):
        during[:] = 0.0
    assert read(during.__dlpack__(max_version=(1, 0))).flags & READ_ONLY
    batch.wait()
    assert np.from_dlpack(batch.q).flags.writeable
