"""What a world of a Batch takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_MEMORY = """
import gc
import os
import numpy as np
import stiction

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

scene, worlds, rng = stiction.load("solo12"), 16384, np.random.default_rng(0)
stiction.Batch(scene, 64, dt=1e-3, threads=1).step()
before = resident()
batch = stiction.Batch(scene, worlds, dt=1e-3, threads=1, configuration="standing")
for field in ("friction", "mass_scale", "kp", "kd"):
    batch.assign(field, rng.uniform(0.5, 1.0, worlds))
batch.step()
gc.collect()
print((resident() - before) / worlds)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux' /proc")
def test_worlds_with_friction_masses_and_gains_of_their_own_take_six_kilobytes() -> None:
    out = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, check=True)
    assert 2000.0 < float(out.stdout) < 100e6 / 16384
