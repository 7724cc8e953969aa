"""MuJoCo's compiler in a process of its own, see mjcf_compiler.py; run by path, with the package
mujoco alone.

Argument: JSON with "path" (sys.path), "memory" (bytes that it may reserve besides what it begins
with) and "model", a file descriptor. One byte on what was the standard output says that it is
ready. Then one request after the other on the standard input: four bytes of length, JSON with
"folder" to work in, "kind" ("path" or "string") and "given". Each answer: four bytes of length,
JSON with "error" or null and "said", the compiler's warnings; the model is in the file "model", in
MuJoCo's binary form.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import sys
from typing import Any, BinaryIO

IDLE = 300.0
"""Ends after so long without a request [s]."""


def main() -> None:
    """Answer until the standard input ends."""
    # Whatever C code prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given = json.loads(sys.argv[1])
    sys.path[:] = given["path"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import mujoco

    _limit_memory(int(given["memory"]))
    answers.write(b"+")
    answers.flush()
    requests = os.fdopen(0, "rb", buffering=0)
    while select.select([requests], [], [], IDLE)[0]:
        head = _read(requests, 4)
        if len(head) < 4:
            return
        request = json.loads(_read(requests, struct.unpack("<I", head)[0]))
        text = json.dumps(_answer(mujoco, request, int(given["model"]))).encode()
        answers.write(struct.pack("<I", len(text)) + text)
        answers.flush()


def _read(file: BinaryIO, size: int) -> bytes:
    parts = []
    while size > 0:
        part = file.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _limit_memory(most: int) -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            most += int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        return


def _answer(mujoco: Any, request: dict[str, str], model_file: int) -> dict[str, Any]:
    said: list[str] = []
    mujoco.set_mju_user_warning(said.append)
    if request["folder"]:
        os.chdir(request["folder"])
    compiler = getattr(mujoco.MjModel, f"from_xml_{request['kind']}")
    try:
        mujoco.mj_saveModel(compiler(request["given"]), f"/proc/self/fd/{model_file}")
    except MemoryError:
        return {"error": "cannot allocate memory", "said": said}
    except Exception as error:
        return {"error": str(error) or repr(error), "said": said}
    return {"error": None, "said": said}


if __name__ == "__main__":
    main()
