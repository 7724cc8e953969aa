"""MuJoCo's compiler in a child process: what kills, hangs or bloats it is an error of the file.

The process is started by the first file (a quarter of a second, while this process imports mujoco),
serves all others, and ends with this one or when it was idle for five minutes. It gives back the
compiled model in MuJoCo's binary form, in a file in memory that both have open.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

__all__ = ["CompilerError", "compile_model", "seconds_for", "start"]

SCRIPT = Path(__file__).with_name("mjcf_compiler_process.py")
MEMORY, ADDRESSES = 2 << 30, 8 << 30
"""That the compiler may take, and may reserve [bytes]: a file's `njmax` and `nconmax` size an arena
of which it uses next to nothing, 3.4 GB for dm_control's rodent."""
MAY_TAKE = f" (it may take {MEMORY >> 30} GB)"
NO_MEMORY = ("allocate memory", "unknown exception", "bad_alloc")
"""MuJoCo's words when there is no more."""
SECONDS, SMALL, BYTES_PER_SECOND = 2.0, 100_000, 1e6
"""Processor time that files of up to so many bytes, meshes included, may take [s]; larger ones a
second more for each further BYTES_PER_SECOND. Of 238 files in five packages the slowest takes 1.2 s
for 25 MB."""
PATIENCE = 5.0
"""By the clock so many times as long: a busy machine is no fault of the file."""
STARTING = 60.0
"""The process may take to start, by the clock [s]."""
PERIOD = 0.05
"""Between two looks at its processor time and memory [s]."""


class CompilerError(Exception):
    """Why a file has no model, in one line."""


class _EndedError(Exception):
    """The process ended without an answer."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def seconds_for(size: int) -> float:
    """Limit of a file of this size with all that it refers to [bytes]."""
    return SECONDS + max(0, size - SMALL) / BYTES_PER_SECOND


def start() -> None:
    """Begin to start the process, without waiting for it."""
    with _lock:
        _running()


def compile_model(mujoco: Any, kind: str, given: str, seconds: float) -> tuple[Any, list[str]]:
    """The MjModel of a "path" or a "string", and the compiler's warnings.

    Raises CompilerError: it does not compile, or the process died, took longer or took more memory.
    """
    try:
        header, model = _ask(mujoco, kind, given, seconds)
    except _EndedError:
        # Once more: it may have ended for other reasons than this file, as when idle for too long.
        try:
            header, model = _ask(mujoco, kind, given, seconds)
        except _EndedError as error:
            raise CompilerError(_death(error.code)) from None
    if header["error"]:
        text = " ".join(header["error"].split()).removeprefix("Error: ")
        raise CompilerError(text + (MAY_TAKE if _out_of_memory(text) else ""))
    return model, header["said"]


def _ask(mujoco: Any, kind: str, given: str, seconds: float) -> tuple[dict[str, Any], Any]:
    with _lock:
        process = _running()
        try:
            header = process.ask(kind, given, seconds)
            if header["error"]:
                if _out_of_memory(header["error"]):
                    _end()  # MuJoCo hangs with the next file
                return header, None
            return header, process.model(mujoco)
        except EOFError:
            process.wait_for_end()
            raise _EndedError(_end()) from None
        except BaseException:  # an answer may be on its way
            _end()
            raise


def _out_of_memory(text: str) -> bool:
    return any(words in text for words in NO_MEMORY)


def _death(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"MuJoCo's compiler was killed by {signal.Signals(-code).name}"
    return f"MuJoCo's compiler ended with code {code}"


class _Process:
    """The child and its pipes."""

    def __init__(self) -> None:
        self._model = os.memfd_create("stiction-mjcf", os.MFD_CLOEXEC)
        argument = json.dumps({"path": sys.path, "memory": ADDRESSES, "model": self._model})
        # -I -S: what is on sys.path is given; nothing else is imported as it starts.
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SCRIPT), argument],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                pass_fds=(self._model,),
            )
        except (OSError, ValueError) as error:
            os.close(self._model)
            raise CompilerError(f"no process for MuJoCo's compiler: {error}") from None
        assert self._child.stdin is not None and self._child.stdout is not None
        self._requests, self._answers = self._child.stdin, self._child.stdout
        self._ready = False

    def alive(self) -> bool:
        """Whether it runs."""
        return self._child.poll() is None

    def ask(self, kind: str, given: str, seconds: float) -> dict[str, Any]:
        """The answer; `model` has the model if there is no error.

        Raises EOFError: it ended. CompilerError: it took too long.
        """
        if not self._ready:
            self._wait(STARTING)
            self._read(1)
            self._ready = True
        try:
            folder = os.getcwd()
        except OSError:
            folder = ""
        text = json.dumps({"folder": folder, "kind": kind, "given": given}).encode()
        try:
            _write(self._requests, struct.pack("<I", len(text)) + text)
        except BrokenPipeError:
            raise EOFError from None
        self._wait(seconds)
        answer: dict[str, Any] = json.loads(self._read(struct.unpack("<I", self._read(4))[0]))
        return answer

    def model(self, mujoco: Any) -> Any:
        """The MjModel of the last answer, once."""
        model = mujoco.MjModel.from_binary_path(f"/proc/self/fd/{self._model}")
        os.ftruncate(self._model, 0)
        return model

    def _wait(self, seconds: float) -> None:
        """Until it begins to answer."""
        begin, used = time.monotonic(), self._processor_time()
        while not select.select([self._answers], [], [], PERIOD)[0]:
            spent, busy = time.monotonic() - begin, self._processor_time() - used
            if spent > PATIENCE * seconds or min(spent, busy) > seconds:
                raise CompilerError(f"MuJoCo's compiler takes longer than {seconds:.3g} s")
            if self._memory() > MEMORY:
                raise CompilerError("MuJoCo's compiler takes too much memory" + MAY_TAKE)

    def _processor_time(self) -> float:
        """Of all its threads [s]."""
        text = Path(f"/proc/{self._child.pid}/stat").read_text(encoding="ascii")
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _memory(self) -> int:
        """That is its own, not reserved [bytes]."""
        text = Path(f"/proc/{self._child.pid}/statm").read_text(encoding="ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _read(self, size: int) -> bytes:
        parts = []
        while size > 0:
            part = self._answers.read(size)
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def wait_for_end(self) -> None:
        """It has closed its answers."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(1.0)

    def kill(self) -> int:
        """Ends it; how it ended."""
        self._child.kill()
        code = self._child.wait()
        self._close()
        return code

    def disown(self) -> None:
        """It is the process of a parent of this one."""
        self._child.returncode = 0
        self._close()

    def _close(self) -> None:
        self._requests.close()
        self._answers.close()
        os.close(self._model)


def _write(pipe: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[pipe.write(view) or 0 :]


_lock = threading.Lock()
_process: _Process | None = None


def _running() -> _Process:
    global _process
    if _process is None or not _process.alive():
        _end()
        _process = _Process()
    return _process


def _end() -> int:
    """Exit code of the process; 0 if there is none."""
    global _process
    process, _process = _process, None
    return 0 if process is None else process.kill()


def _after_fork() -> None:
    """The child of a fork starts a process of its own."""
    global _lock, _process
    if _process is not None:
        _process.disown()
    _lock, _process = threading.Lock(), None


atexit.register(_end)
os.register_at_fork(after_in_child=_after_fork)
