"""Steps have the same bits on any x86-64 processor, whichever instruction sets it has.

The hashes are of states and impulses of scenes that step for a while under kicks. They change where
the arithmetic of a step does: `python tests/python/test_same_bits.py` prints them anew.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import stiction

HASHES = {
    "solo12": "1dc058ab6a29122d",
    "talos": "269d460ca44f23d9",
    "allegro-ball": "086e186709fcfd10",
    "four-bar": "5f9cbd4c9db9834d",
    "box-stack": "da5dba439d8b6e98",
    "slope": "df88164fe0cf34d0",
    "cube-slide": "845840535f3289a0",
    "ycb-pile(10)": "dffad25f8804aec5",
    "solo12, exponential": "9112dd4777c142e3",
    "cube-slide, implicit-euler": "94d14b8f8b6d0dd1",
}
BATCHES = {"solo12": "811c8c6e21bf720a", "talos": "8ec15132b16a8839"}
"""Of worlds on lanes."""
STEPS = 150


def hash_of(name: str) -> str:
    """Of q, v, impulses after every step; kicks of whole numbers of mm/s, no library's random."""
    base, _, integrator = name.partition(", ")
    scene = stiction.load(base)
    if integrator:
        scene.parameters.stiffness[:] = 2e4
        scene.parameters.contact_damping[:] = 2e2
    sim = stiction.Simulator(scene, dt=2e-3, integrator=integrator or "semi-implicit-euler")
    state, control = sim.initial_state(), stiction.Control(scene.nv)
    digest = hashlib.sha256()
    for k in range(STEPS):
        if k % 30 == 0:
            state.v += 1e-3 * ((np.arange(scene.nv) * 7919 + k) % 1001 - 500.0)
        sim.step(state, control)
        for values in (state.q, state.v, sim.solution().impulse):
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("name", HASHES)
def test_steps_have_the_bits_that_they_have_elsewhere(name: str) -> None:
    assert hash_of(name) == HASHES[name]


def hash_of_batch(name: str, worlds: int = 16, **options: int) -> str:
    """Of q and v of its first worlds after every call; targets of whole numbers of mrad."""
    batch = stiction.Batch(stiction.load(name), worlds, configuration="standing", **options)
    assert batch.lanes
    held, digest = batch.position_target.copy(), hashlib.sha256()
    world, dof = np.ogrid[:worlds, : batch.scene.nv]
    batch.assign("friction", (300.0 + (np.arange(worlds) * 613) % 601) / 1000.0)
    for k in range(STEPS // 5):
        if k % 6 == 0:
            batch.position_target[:] = held + 1e-3 * ((world * 5 + dof * 7919 + k) % 401 - 200.0)
        batch.step(substeps=5)
        for values in (batch.q[:16], batch.v[:16], batch.certificate[:16]):
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("name", BATCHES)
def test_batches_have_the_bits_that_they_have_elsewhere(name: str) -> None:
    assert hash_of_batch(name) == BATCHES[name]
    assert hash_of_batch(name, worlds=53, threads=2, width=2) == BATCHES[name]


@pytest.mark.parametrize("widest", ["baseline", "avx2"])
def test_narrower_instruction_sets_give_the_same_bits(widest: str) -> None:
    """A pile, whose sweeps go in packs as wide as the processor has; rows of one world; worlds."""
    code = (
        "import test_same_bits as t; print(t.hash_of('ycb-pile(10)'));"
        "print(t.hash_of('talos')); print(t.hash_of_batch('solo12'))"
    )
    where = {
        "STICTION_MAX_ISA": widest,
        "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
    }
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | where,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == [HASHES["ycb-pile(10)"], HASHES["talos"], BATCHES["solo12"]]


def test_an_unknown_instruction_set_is_refused() -> None:
    code = "import stiction; stiction.Simulator(stiction.load('solo12'))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"STICTION_MAX_ISA": "sse9", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0
    assert "STICTION_MAX_ISA = 'sse9': must be baseline, avx2 or avx512" in run.stderr


if __name__ == "__main__":
    scenes = ("solo12", "talos", "allegro-ball", "four-bar", "box-stack", "slope", "cube-slide")
    for name in (*scenes, "ycb-pile(10)", "solo12, exponential", "cube-slide, implicit-euler"):
        print(f'    "{name}": "{hash_of(name)}",')
    for name in BATCHES:
        print(f'    "{name}": "{hash_of_batch(name)}",  # of BATCHES')
