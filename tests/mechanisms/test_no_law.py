"""Where there is no law, the code says so, and why: for data of such a kind, or because it would be too large.

That it would be too large, an estimate of its work decides before it is computed, never the clock. Each of the last
ones took minutes or gigabytes; here a few seconds and some memory are all that there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from benchmarks.row_limits import limited
from subnormal import Eta, member
from subnormal.mechanisms.additive import clamped_noise
from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.exponential import base2, base2_side_channels, gumbel_max_naive
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.enclosed_law import enclosed_law
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.laplace import bernoulli_trials
from subnormal.mechanisms.laplace.snapping import law as snapping_law
from subnormal.mechanisms.laplace.snapping_bounds import Snapping
from subnormal.mechanisms.partitions.family import PartitionParameters
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.samplers import discrete_gaussian, discrete_laplace
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold import naive as threshold_naive
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

HALF, ONE = Eta(1, 1), np.zeros((1, 1))
LONG_WEIGHTS = [(np.array([0, 1 << 62]), "2 utilities from 0.0 to 4.61"), (np.arange(100_000), "100000 utilities from")]


def law_of(name: str, data: Any, parameters: Any) -> Any:
    return member(name).law(data, parameters)  # type: ignore[misc]


def gumbel(utilities: Any, epsilon: float = 1.0, **options: Any) -> Any:
    return gumbel_max_naive.law(utilities, epsilon, **{"float_type": np.float32} | options)


def trials(eta: Eta, most: int) -> Any:
    return bernoulli_trials.trace_law(0, eta, lower=-most, upper=most)


def sparse(name: str, queries: int, positives: int = 2) -> Any:
    return law_of(f"sparse-vector-{name}", np.zeros(queries), SparseVectorParameters(epsilon=1.0, positives=positives))


def steps(gradients: Any = ONE, name: str = "exact", **options: Any) -> Any:
    return law_of(f"dp-sgd-{name}", gradients, DpSgdParameters(multiplier=1.0, **options))


def threshold(noise: Any, scale: float, *given: Any, **options: Any) -> Any:
    return threshold_exact.law({"a": 1}, ThresholdParameters(noise, scale, *given, **options))


CASES: list[tuple[Callable[[], Any], str]] = [
    *((lambda u=u: enclosed_law(u, HALF), f"{message}.* bits each, more than 67108864") for u, message in LONG_WEIGHTS),
    *((lambda u=u: enclosed_law(u, Fraction(1, 2)), message) for u, message in LONG_WEIGHTS),
    *((lambda u=u: base2.law(u, HALF), message) for u, message in LONG_WEIGHTS),
    (lambda: enclosed_law(np.array([0.0, 1e300]), Fraction(1, 2)), r"2 utilities from 0.0 to 1e\+300 need"),
    (lambda: base2_side_channels.trace_law(np.array([0.5, 1.0]), HALF, limits=Limits(0, 1, 2)), "integer utilities"),
    (  # running sums 2^−40, 2^−39, …, 1: 32 bits of a draw do not tell the first two apart
        lambda: base2_side_channels.trace_law_on_demand([40, *range(40, 0, -1)], HALF, limits=Limits(0, 40, 41)),
        "32 bits need not decide",
    ),
    (lambda: exponential_exact.trace_law(exponential_exact.law(np.zeros((1 << 17) + 1, int), HALF)), "131072 outcomes"),
    (lambda: gumbel(np.zeros(100, int)), "100 outcomes: the maximum may lie on"),
    (lambda: gumbel(np.zeros(2, int), float_type=np.float64), r"2\^53 uniforms for every outcome"),
    (lambda: gumbel(np.append(0, np.full(1 << 22, 33272)), 1e-3), r"the maximum may lie on 1\d{7} points"),
    (lambda: gumbel(np.append(0, np.full(1 << 22, 10))), r"the maximum may lie on \d{5} points of the lattice"),
    (lambda: gumbel(np.arange(1 << 20) % 2), "1152 points"),  # for each of a million groups of equal neighbours
    (lambda: gumbel([0, 1 << 62], 1e30, uniform_bits=4), "scores beyond the largest float"),
    (lambda: clamped_noise.trace_law(0, discrete_laplace.laplace(Fraction(1, 300)), lower=-9, upper=9), "in parts"),
    (lambda: clamped_noise.trace_law(0, discrete_gaussian.gaussian(Fraction(10**6)), lower=-9, upper=9), "in parts"),
    (lambda: law_of("laplace-exact", 0, LaplaceParameters(epsilon=1.0, grid=-12)), "steps of"),
    (lambda: law_of("laplace-exact-base-e", 0, LaplaceParameters(epsilon=1.0, grid=-12)), "steps of"),
    (lambda: law_of("laplace-naive-float64", 1.0, LaplaceParameters(epsilon=1.0)), r"2\^53 strings of bits"),
    (lambda: trials(Eta(255, 8), 30_000), "magnitudes up to 60000"),
    (lambda: trials(Eta(15, 4), 1_000), "probabilities of"),
    (lambda: trials(Eta(2**40 - 1, 40), 1), "magnitudes up to"),
    (lambda: trials(HALF, 2**60), "a law has"),
    (lambda: snapping_law(Fraction(0), Snapping(1.0, 2.0**20)), "more than 4096 steps of 1.0"),
    (lambda: gaussian_exact.law(0, 1.0, grid=-40, lower=-1, upper=1), r"steps of 2\^-40"),
    (
        lambda: law_of("gaussian-ziggurat-float32", 1.0, GaussianParameters(sigma=1.0, delta=1e-6)),
        "more than 2048 floats",
    ),
    (lambda: steps(np.zeros((1, 4))), "4 released numbers have more than 65536 outcomes together"),
    (lambda: steps(steps=4), "4 steps have more than 65536 outcomes together"),
    (lambda: steps(np.linspace(-1, 1, 16)[:, None] * 2.0 ** -np.arange(8), rate=0.5, grid=-20), "4096 different sums"),
    (lambda: steps(name="bfloat16", rate=0.5), "one coordinate and a rate of 1"),
    (lambda: steps(name="bfloat16", steps=2), "written down for one step"),
    (lambda: sparse("exact-gap", 8, 8), "8 queries have more than 16384 outcomes"),
    (lambda: sparse("algorithm-3", 4), "4 queries have more than 16384 outcomes"),
    (lambda: sparse("algorithm-6", 15), "15 queries have more than 16384 outcomes"),
    (lambda: threshold("gaussian", 1e18, 20, limit=30), "more than 512 steps"),
    (lambda: threshold("laplace", 1.0, 3), "values of a key from the threshold to the limit, more than 4096"),
    (lambda: threshold("laplace", 1.0, 2**24 - 9, "float32", grid=0, limit=2**24 + 9), "rounded to float32"),
    (lambda: threshold("laplace", 1.0, 13.0, "float64"), "more than 4096"),
    (
        lambda: threshold_naive.law(
            {"a": 1.0}, ThresholdParameters("gaussian", 1.0, 2.0, "float64"), float_type=np.float32
        ),
        "gaussian noise in float32",
    ),
]


@pytest.mark.parametrize(("call", "message"), CASES, ids=range(len(CASES)))
def test_it_is_said_why_there_is_no_law(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(NoLawError, match=message):
        call()


MEMORY, SECONDS = 3 << 29, 30


def streams(queries: int, **options: Any) -> tuple[Any, SparseVectorParameters]:
    return np.arange(queries) - queries // 2, SparseVectorParameters(**options)


def selection(utilities: Any) -> tuple[Any, ExponentialParameters]:
    return utilities, ExponentialParameters(0.5, Limits(0, int(utilities.max()), len(utilities)))


def partitions(rows: int, most: int) -> tuple[Any, PartitionParameters]:
    return np.full(rows, most), PartitionParameters(1.0, (0,) * rows, (most,) * rows)


TOO_LARGE: list[tuple[str, tuple[Any, Any], str]] = [
    ("sparse-vector-exact", streams(13, epsilon=1e-3, positives=3), "13 queries take too many products of 2926 bits"),
    ("sparse-vector-exact-gap", streams(5, epsilon=1e-3, positives=3), "5 queries take too many products"),
    ("sparse-vector-clamped-noise", streams(2000, epsilon=1.0), "2000 queries take too many products of 256 bits"),
    ("sparse-vector-algorithm-3", streams(1, epsilon=30.0, grid=-10), "4369 positive answers and 4371 values of noise"),
    ("sparse-vector-algorithm-5", streams(20, epsilon=30.0), "20 queries have more than 16384 outcomes"),
    ("private-selection-exact", (np.arange(1000), PrivateSelectionParameters(3.0, -1000, 1000)), "2001000 outcomes of"),
    ("partitions-exact", partitions(1, 100_000), "100001 weights of 3200000 bits take more than 1073741824 bits"),
    ("partitions-naive-float64", partitions(1 << 16, 1), "lists of 65536 counts between the bounds have more than"),
    (
        "threshold-naive-float32",
        ({"a": 5}, ThresholdParameters("laplace", 1e4, 20, "float64", (1, 1, 1), -10, 50.0)),
        r"noise of scale 10000.0 leads to \d{8} numbers, more than 2097152",
    ),
    (
        "randomized-response-naive-float32",
        (1, RandomizedResponseParameters(1.0, 10**8)),
        "100000000 categories are more",
    ),
    ("randomized-response-exact", (1, RandomizedResponseParameters(1.0, 10**8)), "10{8} categories are more"),
    (
        "dp-sgd-microbatch-noise",
        (np.full((6, 1), 0.5), DpSgdParameters(multiplier=2.0**-8, batch_size=3, grid=-20)),
        "1 released numbers have more than 65536 outcomes together",
    ),
    (
        "dp-sgd-microbatch-noise",
        (np.full((8, 1), 0.5), DpSgdParameters(multiplier=2.0**-3, batch_size=1, grid=-11)),
        "the noise of 8 draws, of 2570 steps each, takes more than 268435456 products",
    ),
    (
        "dp-sgd-norm-float16",
        (np.full((3000, 1), 0.5), DpSgdParameters(multiplier=2.0**-8, rate=0.1)),
        r"\d+ probabilities of 165001 bits are more than 16777216 bits",
    ),
    (
        "dp-sgd-exact",
        (2.0 ** -np.arange(1, 13)[:, None], DpSgdParameters(multiplier=0.25, rate=0.5, grid=-12)),
        "4096 states of all batches have more than 2097152 outcomes, one by one",
    ),
    ("permute-and-flip", selection(1_000_000 * np.arange(64)), "64 outcomes on 64 levels of utility, 63000000 apart"),
    ("exponential-exact", selection(1000 * np.arange(2000)), "2000 utilities from 0.0 to 1999000.0 need"),
]


@pytest.mark.parametrize(
    ("name", "of", "message"), TOO_LARGE, ids=[f"{name} {at}" for at, (name, _, _) in enumerate(TOO_LARGE)]
)
def test_a_law_that_is_too_large_is_refused(name: str, of: tuple[Any, Any], message: str) -> None:
    def said() -> str:
        try:
            member(name).law(*of)  # type: ignore[misc]
        except (NoLawError, MemoryError) as error:
            return f"{type(error).__name__}: {error}"
        return "it has a law"

    assert re.match(f"NoLawError: .*{message}", limited(said, MEMORY, SECONDS))
