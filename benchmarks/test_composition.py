"""Time of a 2^18-fold composition in 100,000 buckets, over the convolutions that it would take term by term."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.conftest import Record
from benchmarks.results import Row
from subnormal.mechanisms.composition.closed_forms import gaussian
from subnormal.mechanisms.composition.fft_convolution import Tilted, power, split

pytestmark = pytest.mark.benchmark(timer=interleave.clock, disable_gc=True)

COUNT = 100_000
RUNS = 1 << 18
SIGMA = 256.0  # μ = √r/σ = 2


def test_composition(record: Record, benchmark: BenchmarkFixture) -> None:
    """Both bounds at one ε, the buckets of a run included; and one power, over as many direct squarings."""

    def whole() -> tuple[float, float]:
        return gaussian(SIGMA, count=COUNT).compose(RUNS).delta(4.0)

    low, up = whole()
    assert 0 < low <= up < 1.001 * low
    one = gaussian(SIGMA, count=COUNT).one
    base = Tilted(0.0, one.width, one.first, one.upper[None, :], np.zeros(1))
    calls: dict[str, Callable[[], object]] = {
        "whole": whole,
        "power": partial(power, base, RUNS, COUNT, split),
    }
    taken = {name: _seconds(call) for name, call in calls.items()}
    direct = (RUNS.bit_length() - 1) * _seconds(partial(np.convolve, one.upper, one.upper), rounds=1)
    name = f"2^{RUNS.bit_length() - 1} runs in {COUNT:,} buckets"
    record(Row(f"{name}: both bounds on δ at one ε", "s", taken["whole"], None, 20))
    record(Row(f"{name}: a power", "s", taken["power"], direct, 0.1, rival="18 times np.convolve"))
    interleave.into_own_table(benchmark, calls["power"])


def _seconds(call: Callable[[], object], rounds: int = 3) -> float:
    """Return the median processor time of a call that takes long."""
    times = []
    for _ in range(rounds):
        started = interleave.clock()
        call()
        times.append(interleave.clock() - started)
    return float(np.median(times))
