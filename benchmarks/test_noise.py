"""Time of exact noise, over numpy's, and of the attack that inverts naive noise."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.conftest import Duel, Record
from benchmarks.results import Row
from subnormal.attacks.additive.least_significant_bits import least_significant_bits
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.privacy import Eta

pytestmark = pytest.mark.benchmark(timer=interleave.clock, disable_gc=True)

BITS = system_bits()
MILLION = 1_000_000
BOUND = 10
JUDGED = 20_000  # outputs that the attack must judge in a second


@pytest.mark.parametrize(
    ("rate", "described"),
    [(Eta.from_epsilon(1 / 16), "base 2"), (1.0, "base e")],
    ids=["base-2", "base-e"],
)
def test_clamped_laplace(rate: Eta | float, described: str, duel: Duel) -> None:
    """Scale 1 on [−10, 10] at γ = 2^−4; the rival adds numpy's noise and clips it."""
    generator = np.random.default_rng(2)
    exact = partial(laplace_exact.sample, 0.0, rate, BITS, MILLION, grid=-4, lower=-BOUND, upper=BOUND)
    name = f"{MILLION:,} draws, Laplace on [−10, 10], γ = 2^−4, {described}"
    duel(name, exact, lambda: np.clip(generator.laplace(size=MILLION), -BOUND, BOUND), 0.5, "numpy laplace, clip", BITS)


@pytest.mark.parametrize("scale", [1_000.0, 2.0**40])
def test_wide_laplace(scale: float, duel: Duel) -> None:
    """Unclamped integers."""
    generator = np.random.default_rng(2)
    exact = partial(laplace_exact.sample, 0, scale, BITS, MILLION)
    rival = partial(generator.laplace, scale=scale, size=MILLION)
    duel(f"{MILLION:,} draws, Laplace, scale {scale:g}", exact, rival, 1.2, "numpy laplace", BITS)


@pytest.mark.parametrize(("sigma", "bound"), [(1.0, 1.2), (20.0, 1.2), (1_000.0, 1.2), (2.0**30, 1.5)])
def test_gaussian(sigma: float, bound: float, duel: Duel) -> None:
    """The discrete Gaussian on the integers; the rival is numpy's ziggurat."""
    generator = np.random.default_rng(2)
    exact = partial(gaussian_exact.sample, 0, sigma, BITS, MILLION)
    rival = partial(generator.normal, 0, sigma, MILLION)
    duel(f"{MILLION:,} draws, Gaussian, σ = {sigma:g}", exact, rival, bound, "numpy normal", BITS)


@pytest.mark.parametrize("epsilon", [1.0, 0.01])
def test_least_significant_bits(epsilon: float, record: Record, benchmark: BenchmarkFixture) -> None:
    """Half of the outputs from either world."""
    attack = least_significant_bits(epsilon)
    assert attack.event is not None
    drawn = [laplace_naive.FLOAT64.sample(data, attack.parameters, BITS, JUDGED // 2) for data in attack.worlds()]
    outputs = np.concatenate([np.asarray(one) for one in drawn])
    judge = partial(attack.event, outputs)
    taken = interleave.medians({"judge": judge})
    record(Row(f"{JUDGED:,} float64 outputs judged by their bits, ε = {epsilon:g}", "s", taken["judge"], None, 1))
    interleave.into_own_table(benchmark, judge)
