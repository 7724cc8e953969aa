"""One scene against the peer: agreement first, then time, then certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import machine
from .agreement import compare_contacts, compare_facts, require
from .catalogue import BenchScene
from .measure import (
    Observation,
    Tick,
    affordable_reps,
    medians,
    observe,
    sideways_kicks,
    time_chunks,
    time_noise,
    white_noise,
)
from .ours import StictionWorld
from .worlds import BenchError, Facts, Kick, World

OURS = StictionWorld.label
CHUNK = 20
"""Steps per timed call."""
NOISY_CONTACTS = 0.25
"""Tolerance of `compare_contacts` where noise makes feet lift at different moments."""
KICK_EVERY, KICKS = 0.1, 12
"""Time between two kicks [s], and how many there are."""
KICKED_CONTACTS = 0.35
"""Tolerance of `compare_contacts` where a soft stack that was kicked rocks on fewer corners."""
BUDGET = 60.0
"""About the longest timing of one scene [s]; repetitions are cut to fit, chunks never."""


@dataclass(frozen=True)
class Effort:
    """Share of the planned measurement that is done; tests and smoke runs ask for less."""

    chunks: float = 1.0
    reps: float = 1.0
    settle: float = 1.0

    def scaled(self, scene: BenchScene) -> tuple[int, int, float]:
        """Chunks, repetitions, seconds of settling."""
        chunks = max(2, round(scene.chunks * self.chunks))
        return chunks, max(1, round(scene.reps * self.reps)), scene.settle * self.settle


@dataclass
class Trial:
    """One way to drive a scene (held targets, noise, kicks): times and what each engine did.

    A variant whose number of contacts is not ours (it lost the ball, say) does other work: it keeps
    its time, but no ratio is formed with it.

    Attributes:
        times: time per step by label, ours included [us].
        observations: certificate, iterations, contacts by label, ours included.
        tolerance: of `compare_contacts`.
        by_pairs: pairs in contact are compared, not points: how many points stand for a face is
            the engine's choice.
        means: over the chunks, where the few after a kick cost more than the median one [us].
    """

    times: dict[str, float]
    observations: dict[str, Observation]
    tolerance: float
    by_pairs: bool = False
    means: dict[str, float] = field(default_factory=dict)

    @property
    def ours(self) -> Observation:
        """What we did."""
        return self.observations[OURS]

    def refused(self) -> dict[str, str]:
        """Variants that do other work, with the reason."""
        reasons = {}
        for label, seen in self.observations.items():
            ours = self.ours
            numbers = (ours.contacts, ours.loaded, seen.contacts)
            if self.by_pairs:
                numbers = (ours.pairs, ours.loaded_pairs, seen.pairs)
            what = "pairs in contact" if self.by_pairs else "contacts"
            found = compare_contacts(*numbers, self.tolerance, what)
            if found:
                reasons[label] = "; ".join(str(item) for item in found)
        return reasons

    def fastest(self, cone: str) -> str | None:
        """The peer's fastest variant of that cone that does our work, if there is one."""
        refused = self.refused()
        times = {k: us for k, us in self.times.items() if f"-{cone}-" in k and k not in refused}
        return min(times, key=times.__getitem__) if times else None

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; ratios are ours over the peer, None where there is no peer."""
        peer, pyramidal = self.fastest("elliptic"), self.fastest("pyramidal")
        return {
            "ours_us": self.times[OURS],
            "peer_us": self._time(peer),
            "peer": peer,
            "ratio": self._ratio(peer),
            "pyramidal_us": self._time(pyramidal),
            "pyramidal": pyramidal,
            "ratio_to_pyramidal": self._ratio(pyramidal),
            "means_us": self.means,
            "variants_us": {label: us for label, us in self.times.items() if label != OURS},
            "variants_contacts": {k: o.certificate.contacts for k, o in self.observations.items()},
            "variants_refused": self.refused(),
            "certificate_ours": self.ours.certificate.as_dict(),
            "certificate_peer": self._certificate(peer),
            "certificate_pyramidal": self._certificate(pyramidal),
            "sweeps": self.ours.iterations_mean,
            "sweeps_max": self.ours.iterations_max,
            "residual": self.ours.residual_max,
            "residual_median": self.ours.residual_median,
            "other_tolerances": self._beside(OURS),
            "other_engines": self._beside("drake-"),
            "penetration": self.ours.certificate.maximum["penetration"],
            "contacts": self.ours.certificate.contacts,
            "contacts_peer": self.observations[peer].certificate.contacts if peer else None,
            "variants_pairs": {k: _mean(o.pairs) for k, o in self.observations.items()},
        }

    def _beside(self, prefix: str) -> dict[str, dict[str, Any]]:
        """What is measured besides ours and the peer's variants, by label."""
        return {
            label: {
                "us": self.times[label],
                "residual": seen.residual_max,
                "residual_median": seen.residual_median,
                "sweeps": seen.iterations_mean,
                "contacts": seen.certificate.contacts,
                "certificate": seen.certificate.as_dict(),
            }
            for label, seen in self.observations.items()
            if label.startswith(prefix) and label != OURS
        }

    def _time(self, label: str | None) -> float | None:
        return self.times[label] if label else None

    def _ratio(self, label: str | None) -> float | None:
        return self.times[OURS] / self.times[label] if label else None

    def _certificate(self, label: str | None) -> dict[str, Any] | None:
        return self.observations[label].certificate.as_dict() if label else None


@dataclass
class StepResult:
    """Everything one scene gave."""

    scene: BenchScene
    effort: Effort
    reps: int
    facts: Facts
    settings: dict[str, Any]
    quiet: Trial
    noise: Trial | None
    kicks: Trial | None

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of `stiction bench step`."""
        noise = {"sigma_rad": self.scene.noise} | self.noise.as_dict() if self.noise else {}
        kicks = {"impulse": self.scene.kick} | self.kicks.as_dict() if self.kicks else {}
        return {
            "scene": self.scene.name,
            "dt": self.scene.dt,
            **self.quiet.as_dict(),
            "noise": noise,
            "kicks": kicks,
            "facts": vars(self.facts),
            "settings": self.settings,
            "effort": vars(self.effort),
            "reps": self.reps,
            "machine": machine.describe(),
        }


def bench_step(
    scene: BenchScene, effort: Effort | None = None, tick: Tick | None = None
) -> StepResult:
    """Measure one scene.

    Raises:
        BenchError: the engines do not do the same work; the message names each difference.
    """
    effort = effort or Effort()
    say = tick or (lambda line: None)
    chunks, reps, settle = effort.scaled(scene)
    ours, peers = _settled(scene, settle, say)
    worlds = [ours, *peers]
    if scene.compared:
        worlds.insert(1, ours.with_tolerance(scene.compared))
    reps = affordable_reps(worlds, chunks, CHUNK, reps, BUDGET * effort.reps)
    times = medians(time_chunks(worlds, chunks, CHUNK, reps, tick))
    rows = np.zeros((chunks * CHUNK, len(ours.joints)))
    quiet = _trial(scene, worlds, times, rows, say)
    if quiet.fastest("elliptic") is None:
        reasons = "; ".join(f"{label}: {why}" for label, why in quiet.refused().items())
        raise BenchError(f"scene {scene.name!r} is not the same work in any variant: {reasons}")
    noise = None
    if scene.noise > 0:
        rows = white_noise(chunks * CHUNK, len(ours.joints), scene.noise)
        noise = _trial(scene, worlds, time_noise(worlds, rows, reps, tick), rows, say)
    kicks = _kicked(scene, worlds, ours.num_bodies, effort, reps, say) if scene.kick > 0 else None
    facts = peers[0].facts()
    return StepResult(scene, effort, reps, facts, ours.settings(), quiet, noise, kicks)


def _kicked(
    scene: BenchScene, worlds: Sequence[World], bodies: int, effort: Effort, reps: int, say: Tick
) -> Trial:
    """The same impulses on the same bodies in every engine."""
    count = max(2, round(KICKS * effort.chunks))
    kicks = sideways_kicks(bodies, count, scene.kick)
    chunks = count * round(KICK_EVERY / scene.dt / CHUNK)
    times = time_chunks(worlds, chunks, CHUNK, reps, say, kicks)
    trial = _trial(scene, worlds, medians(times), np.zeros((chunks * CHUNK, 0)), say, kicks)
    trial.means = {label: float(us.mean()) for label, us in times.items()}
    return trial


def _settled(scene: BenchScene, settle: float, say: Tick) -> tuple[StictionWorld, list[World]]:
    """All engines at the start of the measurement, the peer in all its variants.

    Every one is first proved to hold the same scene in the same pose.
    """
    say("building the scene")
    ours = scene.ours()
    facts = ours.facts()
    servos = bool(ours.joints)
    peers: list[World] = [scene.build_peer(ours, v) for v in scene.variants(servos)]
    peers += scene.build_others(ours)
    for peer in peers:
        require(scene.name, peer.label, compare_facts(facts, peer.facts()))
        say(f"settling {peer.label}")
        peer.settle(settle)
    say("settling ours")
    ours.settle(settle)
    return ours, peers


def _trial(
    scene: BenchScene,
    worlds: Sequence[World],
    times: dict[str, float],
    noise: NDArray[np.float64],
    say: Tick,
    kicks: Sequence[Kick] = (),
) -> Trial:
    """The times with what every engine does over the same steps."""
    observations = {}
    for world in worlds:
        say(f"certificate of {world.label}")
        observations[world.label] = observe(world, noise, kicks)
    tolerance = scene.contact_tolerance
    if noise.any():
        tolerance = max(tolerance, NOISY_CONTACTS)
    if kicks:
        tolerance = max(tolerance, KICKED_CONTACTS)
    return Trial(times, observations, tolerance, scene.by_pairs)


def _mean(numbers: Sequence[float]) -> float | None:
    return float(np.mean(numbers)) if len(numbers) else None
