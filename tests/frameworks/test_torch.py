"""stiction.torch: values, gradcheck, an optimisation."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import numpy as np
import pytest
import stiction
from problems import PAIRS, moment, shapes

torch = pytest.importorskip("torch")

import stiction.torch as stt  # noqa: E402

SCENES = ["cartpole", "solo12"]


def tensors(given: tuple) -> tuple:
    return tuple(torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in given)


@pytest.mark.parametrize("name", SCENES)
def test_a_step(name: str) -> None:
    sim, given, state = moment(name)
    step = stt.make_step(sim, state)
    assert torch.autograd.gradcheck(step, tensors(given), eps=1e-8, rtol=1e-5, fast_mode=True)


@pytest.mark.parametrize("name", SCENES)
def test_a_rollout(name: str) -> None:
    sim, given, state = moment(name, rows=10)
    rollout = stt.make_rollout(sim, state)
    assert torch.autograd.gradcheck(rollout, tensors(given), eps=1e-7, rtol=1e-5, fast_mode=True)


def test_the_gradient_of_a_rollout_is_that_of_its_steps() -> None:
    sim, given, _ = moment("cartpole", rows=10)
    q, v, taus = tensors(given)
    step, rollout = stt.make_step(sim), stt.make_rollout(sim)
    found = torch.autograd.grad((rollout(q, v, taus)[1][-1] ** 3).sum(), taus)[0]
    for tau in taus:
        q, v = step(q, v, tau)
    expected = torch.autograd.grad((v**3).sum(), taus)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_single_precision_and_refusals() -> None:
    sim, given, _ = moment("cartpole")
    single = stt.make_step(sim)(*(torch.tensor(x, dtype=torch.float32) for x in given))
    assert single[0].dtype == torch.float32
    closed = stiction.Simulator(stiction.load("four-bar"), project_closures=True)
    nv = closed.scene.nv
    with pytest.raises(ValueError, match="project_closures moves the state"):
        q, v, taus = tensors((closed.initial_state().q, np.zeros(nv), np.zeros((3, nv))))
        stt.make_rollout(closed)(q, v, taus)[1].sum().backward()


@pytest.mark.parametrize("pair", PAIRS)
def test_a_distance(pair: str) -> None:
    a, b, poses = shapes(pair)
    assert torch.autograd.gradcheck(stt.make_distance(a, b), tensors(poses), eps=1e-5, rtol=1e-5)


def test_the_page_runs_as_written() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/derivatives.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python torch\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(block, {"__name__": "__main__"})


def test_arrays_of_a_batch_are_tensors_without_a_copy() -> None:
    batch, plain = (
        stiction.Batch(stiction.load("solo12"), 5, configuration="standing") for _ in range(2)
    )
    q, target = torch.from_dlpack(batch.q), torch.from_dlpack(batch.position_target)
    assert q.dtype == torch.float64 and q.data_ptr() == batch.q.ctypes.data
    target += 0.01
    plain.position_target += 0.01
    for b in (batch, plain):
        b.step(20)
    assert torch.equal(q, torch.from_numpy(plain.q.copy()))
    for name in ("time", "contacts", "status"):
        seen = torch.from_dlpack(getattr(batch, name))
        assert np.array_equal(seen.numpy(), getattr(batch, name))
    gone = weakref.ref(batch)
    del batch, b, target, seen
    gc.collect()
    assert gone() is not None and bool(torch.isfinite(q).all())
    del q
    gc.collect()
    assert gone() is None
