"""Calls of a Batch that end early: by Ctrl-C, and in a process that was forked."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import stiction
from stiction import Batch


def walking(n: int, **options: object) -> Batch:
    scene = stiction.load("solo12")
    for dof in range(6, scene.nv):
        scene.set_gains(dof, 20.0, 0.3)
    return Batch(scene, n, configuration="standing", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("lanes", [True, False])
def test_ctrl_c_ends_a_long_call(lanes: bool) -> None:
    batch = walking(16, threads=2, lanes=lanes)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        batch.step(substeps=2**29)
    assert time.monotonic() - begin < 20.0
    assert (batch.time > 0).any()
    assert batch.time / 1e-3 == pytest.approx(np.round(batch.time / 1e-3), abs=1e-4)
    batch.step(2)
    assert (batch.status == 0).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_ctrl_c_ends_a_call_after_a_refused_one() -> None:
    batch = walking(4, threads=1)
    batch.step_async()
    batch.wait()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            batch.step_async()  # its thread is in the other process
            code = 2
        except stiction.StictionError:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            threading.Timer(20.0, os._exit, (3,)).start()
            try:
                batch.step(2**29)
            except KeyboardInterrupt:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_says_what_to_do() -> None:
    batch = walking(40, threads=2)
    assert batch.threads == 2
    batch.step_derivatives()  # on threads of their own
    batch.step_async()
    batch.wait()  # that one is there
    batch.step_async(1000)

    def refused(call: Callable[[], object]) -> bool:
        try:
            call()
        except stiction.StictionError as error:
            return "forked" in str(error)
        return False

    child = os.fork()
    if child == 0:
        code = 0 if refused(batch.wait) else 1  # of what never ends here
        del batch
        gc.collect()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    batch.wait()
    child = os.fork()
    if child == 0:
        code = 0 if refused(batch.step) and refused(batch.step_async) else 1
        del batch
        gc.collect()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    batch.step()
