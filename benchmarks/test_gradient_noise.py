"""Exact Gaussian noise for the coordinates of a gradient, over normals of array libraries and exact noise of OpenDP.

Processor time, all threads added up: a share of the array is filled by each processor.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.conftest import Record
from benchmarks.memory import allocated
from benchmarks.results import Floor, Row
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.families import installed
from subnormal.mechanisms.gaussian import exact as gaussian_exact

pytestmark = pytest.mark.benchmark(timer=interleave.clock, disable_gc=True)

COORDINATES = 10**8
OF_LIBRARIES = {"jax": 10**7, "jax-privacy": 10**7, "opendp": 10**5}  # OpenDP takes about 10 µs for each
ROUNDS = 3  # each takes seconds
PROCESSORS = gaussian_exact.processors()


SOURCES = [system_bits() for _ in range(PROCESSORS)]


def filled(sigma: float, n: int = COORDINATES) -> Callable[[], object]:
    """Return what fills an array of n coordinates with exact noise."""
    return partial(gaussian_exact.fill, np.zeros(n, dtype=np.int64), sigma, SOURCES)


def floor_of(fill: Callable[[], object], n: int) -> Floor:
    """Return the bytes and the bits of a call that fills n coordinates."""
    before = sum(source.consumed for source in SOURCES)
    fill()
    return Floor(moved=8 * n, bits=sum(source.consumed for source in SOURCES) - before)


def normals(kind: Any) -> Callable[[], object]:
    """Return what fills an array of the type with numpy's normals, in as many threads."""
    shares = np.array_split(np.zeros(COORDINATES, dtype=kind), PROCESSORS)
    generators = [np.random.default_rng(seed) for seed in range(PROCESSORS)]

    def fill() -> object:
        with ThreadPoolExecutor(PROCESSORS) as threads:
            return list(threads.map(lambda one, share: one.standard_normal(out=share, dtype=kind), generators, shares))

    return fill


def seconds(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of a call of each, turn by turn, after one that is not timed."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS + 1):
        for name, call in calls.items():
            started = interleave.clock()
            call()
            if turn:
                taken[name].append(interleave.clock() - started)
    return {name: median(times) for name, times in taken.items()}


@pytest.mark.parametrize("sigma", [1.0, 1_000.0, 2.0**40])
def test_a_gradient(sigma: float, record: Record, benchmark: BenchmarkFixture) -> None:
    """Memory beyond the array, as Python counts it, must not grow with it."""
    ours = filled(sigma)
    taken = seconds({"ours": ours, "float64": normals(np.float64), "float32": normals(np.float32)})
    name = f"10^8 coordinates, Gaussian, σ = {sigma:g}, {PROCESSORS} threads"
    floor = floor_of(ours, COORDINATES)
    record(Row(name, "s", taken["ours"], taken["float64"], 1.5, rival="numpy float64", floor=floor))
    record(Row(name, "s", taken["ours"], taken["float32"], rival="numpy float32"))
    record(Row(f"memory allocated: {name}", "MiB", allocated(ours), None, 16.0 * PROCESSORS))
    interleave.into_own_table(benchmark, filled(sigma, 10**6))


@pytest.mark.parametrize("library", OF_LIBRARIES)
def test_beside_a_library(library: str, record: Record, benchmark: BenchmarkFixture) -> None:
    """Float32 normals of JAX and of JAX Privacy, which are not exact, and OpenDP's discrete Gaussian, which is."""
    if installed(library) is None:
        pytest.skip(f"{library} is not installed")
    n = OF_LIBRARIES[library]
    rival = {"jax": jax_normals, "jax-privacy": jax_privacy_noise, "opendp": opendp_noise}[library](n)
    ours = filled(1_000.0, n)
    taken, name = seconds({"ours": ours, "rival": rival}), f"{n:,} coordinates, Gaussian, σ = 1000"
    record(Row(name, "s", taken["ours"], taken["rival"], rival=library, floor=floor_of(ours, n)))
    interleave.into_own_table(benchmark, filled(1_000.0, n))


def jax_normals(n: int) -> Callable[[], object]:
    """Return what draws n float32 normals by JAX."""
    import jax

    key = jax.random.key(1)
    return lambda: jax.random.normal(key, (n,), "float32").block_until_ready()


def jax_privacy_noise(n: int) -> Callable[[], object]:
    """Return what adds the noise of JAX Privacy to a gradient of n float32 zeros. It has no discrete Gaussian."""
    import jax
    from jax_privacy import noise_addition

    privatizer = noise_addition.gaussian_privatizer(stddev=1_000.0, prng_key=jax.random.key(1))
    zeros = jax.numpy.zeros(n, "float32")
    state = privatizer.init(zeros)
    return lambda: privatizer.update(zeros, state)[0].block_until_ready()


def opendp_noise(n: int) -> Callable[[], object]:
    """Return what adds OpenDP's discrete Gaussian noise to n integers."""
    from opendp import prelude

    prelude.enable_features("contrib")
    domain, metric = prelude.vector_domain(prelude.atom_domain(T="i64")), prelude.l2_distance(T="i64")
    measurement, zeros = prelude.m.make_gaussian(domain, metric, scale=1_000.0), [0] * n
    return lambda: measurement(zeros)
