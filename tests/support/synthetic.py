"""Mechanisms whose law is known by construction, to audit the auditor with, and clocks."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack, index_statistic, number_statistic
from subnormal.attacks.core.events import Between, OneOf
from subnormal.audit.evidence.timing import Times
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Family, Mechanism
from subnormal.mechanisms.privacy import Claim

FAMILY: Family[int, None] = Family(
    name="synthetic",
    parameters=type(None),
    adjacent=lambda parameters, data_in, data_out: {data_in, data_out} <= {0, 1},  # one bit, told or not
    claim=lambda parameters, data_in, data_out: Claim(1.0),
    members=(),
)


def randomized_response(name: str, spent: float, claimed: Claim) -> Mechanism[int, None, int]:
    """Tell the world truly with probability e^spent/(1+e^spent): a loss of exactly `spent` nats, δ = 0."""
    truth = math.exp(spent) / (1 + math.exp(spent))

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> Any:
        lied = np.ldexp(bits.words(n, 53).astype(np.float64), -53) >= truth
        return (data ^ lied).astype(np.int64)

    return Mechanism(name, "synthetic", sample, lambda parameters, data_in, data_out: claimed)


def spread_response(name: str, spent: float, claimed: Claim) -> Mechanism[int, None, float]:
    """Tell the world as `randomized_response` does, somewhere in [told, told + 1): as many distances as outcomes."""
    told = randomized_response(name, spent, claimed)

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> Any:
        place = np.ldexp(bits.words(n, 53).astype(np.float64), -53)
        return told.sample(data, parameters, bits, n) + place

    return Mechanism(name, "synthetic", sample, told.claim)


def leaking(name: str, leak: float, claimed: Claim) -> Mechanism[int, None, int]:
    """Answer 0, and 1 with probability `leak` where the data is 1: (0, leak)-private and no better."""

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> Any:
        leaked = np.ldexp(bits.words(n, 53).astype(np.float64), -53) < leak
        return (data & leaked).astype(np.int64)

    return Mechanism(name, "synthetic", sample, lambda parameters, data_in, data_out: claimed)


def attack_on_one_bit(worlds: Callable[[], tuple[int, int]] = lambda: (1, 0)) -> Attack[int, None, int]:
    return Attack(
        name="one-bit",
        family="synthetic",
        worlds=worlds,
        parameters=None,
        event=OneOf((1,)),
        statistic=index_statistic,
        breaks=(),
        source="by construction",
        description="one bit",
    )


def attack_that_misses() -> Attack[int, None, float]:
    """Return an attack whose event never happens: only the distance of the worlds can tell them apart."""
    event, told = Between(7.0, 8.0), "an event that no world shows"
    return Attack(
        name="missed",
        family="synthetic",
        worlds=lambda: (1, 0),
        parameters=None,
        event=event,
        statistic=number_statistic,
        breaks=(),
        source="by construction",
        description=told,
    )


def clocked(seed: int, measurements: int, extra: float = 0.0, slow: float = 0.0, period: int = 0) -> Times:
    """Return the times of a busy machine: speed that drifts and remembers, and interruptions.

    extra: what a draw of `in` takes longer, in units of one of `out`. slow: how much longer every period-th takes.
    """
    random = np.random.default_rng(seed)
    speed = np.exp(autoregressive(random, measurements, 0.95, 0.2))
    drift = 1 + 0.3 * np.linspace(0, 1, measurements) ** 2
    interrupted = np.where(random.random(measurements) < 0.01, 1 + random.pareto(1.5, measurements), 1.0)
    regular = np.ones(measurements)
    if period:
        regular[::period] += slow
    is_in = random.random(measurements) < 0.5
    noise = 10_000 * speed * drift * interrupted * regular
    return Times((noise * np.where(is_in, 1 + extra, 1.0)).astype(np.int64), is_in)


def autoregressive(random: np.random.Generator, count: int, memory: float, spread: float) -> NDArray[np.float64]:
    """Return an AR(1) series in its stationary law: mean 0, standard deviation `spread`."""
    from scipy.signal import lfilter

    shocks = random.normal(0, spread * math.sqrt(1 - memory**2), count)
    shocks[0] = random.normal(0, spread)
    series: NDArray[np.float64] = lfilter([1.0], [1.0, -memory], shocks)
    return series
