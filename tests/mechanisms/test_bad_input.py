"""Bad input of functions is refused by name: data, the number of draws, scales, grids and bounds."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.catalogue import attacks
from subnormal.mechanisms.additive.family import exact_values
from subnormal.mechanisms.bits import scripted_bits, seeded_bits, system_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.exponential import base2, permute_and_flip, randomized_rounding, score_functions
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.families import FAMILIES, member, members
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.gaussian import low_precision, ziggurat
from subnormal.mechanisms.gaussian import naive as gaussian_naive
from subnormal.mechanisms.laplace import correctly_rounded
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.numerics.grid import to_steps
from subnormal.mechanisms.numerics.mpfr import InexactError
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.partitions.bounds import around, by_total, weight_beyond, weight_outside, within_distance
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.private_selection import naive as private_selection_naive
from subnormal.mechanisms.randomized_response import exact as randomized_response_exact
from subnormal.mechanisms.randomized_response import naive as randomized_response_naive
from subnormal.mechanisms.samplers import discrete_gaussian, discrete_laplace, normalized, wide_noise
from subnormal.mechanisms.samplers.float_normals import INVERSE_BFLOAT16
from subnormal.mechanisms.sparse_vector.exact import EXACT as SPARSE_VECTOR
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.mechanisms.sparse_vector.lazy_threshold import lazy_threshold
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

HALF = Eta(1, 1)
MEMBERS = [one for of in FAMILIES for one in members(of) if one.package in ("", "ml_dtypes")]
ANY: Any = None


@pytest.mark.parametrize("mechanism", MEMBERS, ids=lambda one: one.name)
def test_no_member_takes_a_negative_number_of_draws(mechanism: AnyMechanism) -> None:
    of = next(one for one in attacks() if one.family == mechanism.family)
    with pytest.raises(ValueError, match="n must not be negative, got -1"):
        mechanism.sample(of.worlds()[0], of.parameters, seeded_bits(1), -1)


def base2_of(utilities: Any, limits: Limits = Limits(0, 4, 3), **options: Any) -> Any:  # noqa: B008
    return base2.sample(utilities, HALF, seeded_bits(1), 1, limits=limits, **options)


def exponential_of(utilities: Any, rate: Any = 1.0, **options: Any) -> Any:
    return exponential_exact.sample(utilities, rate, seeded_bits(1), 1, **options)


def laplace_of(value: Any = 0.0, scale: Any = 1.0, **options: Any) -> Any:
    return laplace_exact.sample(value, scale, seeded_bits(1), 1, **options)


def naive_of(scale: float, **options: Any) -> Any:
    return laplace_naive.sample(0.0, scale, seeded_bits(1), 1, **options)


def partition_of(data: Any, lower: Any = (0, 0), upper: Any = (3, 2)) -> Any:
    return partitions_exact.sample(data, HALF, seeded_bits(1), 1, lower=lower, upper=upper)


def threshold_of(value: Any, values: Any) -> Any:
    return threshold_exact.sample({"a": value}, ThresholdParameters("laplace", 1.0, 3, values), seeded_bits(1), 1)


def filled(out: Any, sigma: float = 1.0, **options: Any) -> None:
    gaussian_exact.fill(out, sigma, **options)


WHOLE = np.empty((4, 4), dtype=np.int64)

CASES: list[tuple[Callable[[], Any], str]] = [
    *((lambda data=data: exact_values(data, "value"), "data must be a finite number") for data in (True, "1", None)),
    *((lambda data=data: exact_values(data, "value"), "data must be a finite number") for data in (math.nan, math.inf)),
    (lambda: base2_of([0.0, np.nan]), r"utilities must be finite, got utilities\[1\] = nan"),
    (lambda: base2_of([np.inf]), r"utilities must be finite, got utilities\[0\] = inf"),
    (lambda: base2_of([]), r"utilities must not be empty, got shape \(0,\)"),
    (lambda: base2_of([[1, 2]]), r"utilities must be a vector, got shape \(1, 2\)"),
    (lambda: base2_of(["1"]), "utilities must be 64-bit integers or floats"),
    (lambda: base2_of([2**63]), "utilities must fit a signed 64-bit integer, got 9223372036854775808"),
    (lambda: base2_of([2**70]), "utilities must be 64-bit integers or floats"),
    (lambda: base2_of([1, 2, 3, 4]), "max_outcomes = 3, got 4 utilities"),
    (lambda: base2_of([0.5, 1.5], Limits(0, 1, 1)), "max_outcomes = 1, got 2 utilities"),  # many draws at once
    (lambda: base2_of([0.5], Limits(0, 2**54, 1)), "with float utilities they lie within"),
    (lambda: base2_of([0.5], Limits(2**53, 2**53 + 1, 1)), "with float utilities they lie within"),
    (lambda: base2_of([1], Limits(0, 10**9, 2)), "bits of working precision"),
    (lambda: base2_of([1], sampler="x"), "sampler must be one of all-bits, bit-by-bit, .*, got 'x'"),
    (lambda: base2_of([1], precision_method="x"), "precision_method must be"),
    (lambda: base2_of(np.array([1], np.longdouble)), "must be 64-bit integers or floats"),
    (lambda: base2.law([1e300, 1.0], HALF), r"float utilities must lie within ±2\^53, got 1e\+300"),
    (lambda: base2.law(np.full(13, 0.5), HALF), "up to 12 fractional utilities, got 13"),
    (lambda: randomized_rounding.thresholds(np.array([0.5]), 65), "precision must be between 1 and 64, got 65"),
    (lambda: randomized_rounding.bounds([0.0, 1e15], HALF), r"from 0.0 to 1000000000000000.0 have weights beyond"),
    (lambda: exponential_of([0.5], HALF), "utilities must be integers with an Eta"),
    (lambda: exponential_of([np.nan]), r"utilities must be finite, got utilities\[0\]"),
    (lambda: exponential_of([-(2**63) - 1]), "utilities must be 64-bit integers"),
    (lambda: exponential_of([1], 0.0), "epsilon must be positive and finite, got 0.0"),
    (lambda: exponential_of([1], sensitivity=-1), "sensitivity must be positive"),
    (lambda: exponential_of([1], 1e-310), "rate = 1e-310 at sensitivity = 1.0 lies outside"),
    (lambda: exponential_of([1], 1e300, sensitivity=1e-300), "lies outside"),
    (lambda: exponential_exact.law([1], 1.0, precision=2), "precision must be at least 8 bits, got 2"),
    (lambda: permute_and_flip.sample([0.5], HALF, ANY, 1), "utilities must be integers with an Eta"),
    (lambda: permute_and_flip.law([], HALF), "utilities must not be empty"),
    (lambda: score_functions.median([1, 2], [1]), "a median needs an odd number of records, got 2"),
    (lambda: score_functions.quantile([1, 2], [1], 3), "rank must be an integer from 1 to 2, got 3"),
    (lambda: score_functions.quantile([1, 2], [1], True), "rank must be an integer from 1 to 2, got True"),
    (lambda: score_functions.median([], [1]), r"records must not be empty, got shape \(0,\)"),
    (lambda: score_functions.median([1.0, np.nan, 2.0], [1]), r"records must be finite, got records\[1\] = nan"),
    (lambda: score_functions.median([True], [1]), "records must be 64-bit integers or floats, got bool"),
    (lambda: score_functions.median(["a"], [1]), "records and candidates must both be numbers or both strings"),
    (lambda: score_functions.median([2**60, 1, 2], [0.5]), r"records beside floats must lie within ±2\^53"),
    (lambda: score_functions.mode(["a"], ["b", "a", "b"]), "categories must be distinct, got 'b' twice"),
    (lambda: score_functions.count(1.5, [1]), "counted must be an integer of 64 bits, got 1.5"),  # type: ignore[arg-type]
    (lambda: score_functions.count(2**62, [-(2**62)]), "lies more than 63 bits from the candidates"),
    (lambda: score_functions.count(1, [0.5]), "candidates must be integers, got float64"),
    (lambda: score_functions.price([1], [-1]), "prices must not be negative, got -1"),
    (lambda: score_functions.price([1, 2], [2**62]), "for 2 bids do not fit a signed 64-bit integer"),
    (lambda: score_functions.price([1], [2**63]), "prices must fit a signed 64-bit integer, got 9223372036854775808"),
    (lambda: laplace_of(math.nan), "value must be a finite number, got nan"),
    (lambda: laplace_of(scale=0.0), "scale must be positive and finite, got 0"),
    (lambda: laplace_of(lower=2, upper=1), "lower = 2 must not be above upper = 1"),
    (lambda: laplace_of(grid=0.5), "grid must be an integer, got 0.5"),
    (lambda: laplace_of(rounding="half-even"), "rounding must be 'down' or 'half-up', got 'half-even'"),
    (lambda: to_steps(Fraction(1), 0, "even"), "rounding must be 'down' or 'half-up', got 'even'"),  # type: ignore[arg-type]
    (lambda: laplace_of(scale=1e300), "choose a coarser grid"),
    (lambda: naive_of(0.0), "scale must be positive and finite, got 0.0"),
    (lambda: naive_of(1e-60, float_type=np.float32), "scale must be positive and finite in float32, got 1e-60"),
    (lambda: naive_of(1e60, float_type=np.float32), r"scale must be positive and finite in float32, got 1e\+60"),
    (lambda: naive_of(1.0, uniform_bits=54), "uniform_bits must be between 1 and 53, got 54"),
    (lambda: correctly_rounded.noise(Fraction(0), ANY, 1), "scale must be positive, got 0"),
    (lambda: gaussian_exact.sample(0, 0.0, ANY, 1), "sigma must be positive and finite, got 0"),
    (lambda: gaussian_exact.sample(0, 1e300, ANY, 1), "choose a coarser grid"),
    (lambda: filled(WHOLE, grid=-1), "out must be C-contiguous, of type float64 for grid = -1, got int64"),
    (lambda: filled(np.empty(4, dtype=np.float32)), "of type int64 for grid = 0, got float32"),
    (lambda: filled(WHOLE[:, 0]), "out must be C-contiguous"),
    (lambda: gaussian_exact.fill(WHOLE, 1.0, []), "sources must not be empty"),
    (lambda: filled(WHOLE, 2.0**62, grid=30), "sigma must be at most 2"),  # else some draws would wrap around
    (lambda: gaussian_naive.sample(0.0, 0.0, ANY, 1), "sigma must be positive and finite, got 0"),
    (lambda: low_precision.law(0.0, 0.0, normal=INVERSE_BFLOAT16), "sigma must be positive"),
    (lambda: ziggurat.law(2.0**22, -1.0), "sigma must be positive"),
    (lambda: discrete_laplace.laplace(Fraction(1, 2**51)), "choose a coarser grid"),
    (lambda: discrete_gaussian.gaussian(Fraction(2**101)), "choose a coarser grid"),
    (lambda: discrete_gaussian.gaussian(Fraction(0)), "variance must be positive, got 0"),
    (lambda: wide_noise.sampler(discrete_gaussian.Bell(Fraction(0))), "variance must be positive, got 0"),
    (lambda: wide_noise.sampler(discrete_gaussian.Bell(Fraction(1 << 102))), "choose a coarser grid"),
    (lambda: wide_noise.sampler(discrete_laplace.Decay(Fraction(1, 1 << 51))), "choose a coarser grid"),
    (lambda: normalized.all_bits([1], ANY, 4, 1, minimum_tries=0), "minimum_tries must be at least 1, got 0"),
    (lambda: normalized.all_bits([1], ANY, 0, 1), "precision must be at least 1 bit, got 0"),
    (lambda: around([1], 0), "width must be at least 1, got 0"),
    (lambda: around([1, 2], 4), "reference must not increase"),
    (lambda: by_total(-1, 3), "total must lie between 0 and 1099511627776, got -1"),
    (lambda: by_total(3, 0), "rows must be at least 1, got 0"),
    (lambda: within_distance([1], -1), "distance must lie between 0 and 1099511627776, got -1"),
    (lambda: within_distance([5] * 8, 2**61), "distance must lie between 0 and 1099511627776, got 23058430"),
    (lambda: weight_beyond(-1, HALF, 1), "total and distance must not be negative, got -1 and 1"),
    (lambda: weight_outside([1], HALF, by_total(2, 1), by_total(1, 1)), "the inner bounds must lie between"),
    (lambda: partition_of([1, 2]), r"frequencies must not increase, got frequencies\[0\] = 1 before 2"),
    (lambda: partition_of([2, -1]), "frequencies must lie between 0 and 1099511627776, got -1 to 2"),
    (lambda: partition_of([2.5, 1.0]), "frequencies must be integers, got float64"),
    (lambda: partition_of([2]), "frequencies must be as long as the bounds, 2, got 1"),
    (lambda: partition_of([2, 1], [1]), "equally long, got 1 and 2"),
    (lambda: partition_of([2, 1], upper=[2, 3]), "upper must not increase"),
    (lambda: partition_of([2, 1], [4, 0]), r"lower\[0\] = 4 must not be above upper\[0\] = 3"),
    (lambda: private_selection_naive.sample([0], 1.0, ANY, 1, stop=Fraction(1, 3), steps=2), "stop must be a multiple"),
    (lambda: randomized_response_naive.sample(3, 1.0, ANY, 1, categories=3), "category must be .* 0 to 2, got 3"),
    (lambda: randomized_response_exact.law(-1, 1.0, categories=3), "category must be .* from 0 to 2, got -1"),
    (
        lambda: randomized_response_naive.law(0, 1.0, categories=70_000, float_type=np.float16),
        "categories must be at most 65504 in float16, got 70000",
    ),
    (lambda: SPARSE_VECTOR.sample(np.zeros(0), SparseVectorParameters(epsilon=1.0), ANY, 1), "data must not be empty"),
    (lambda: lazy_threshold(HALF, 1 << 16), "reach = 65536 steps take region sums"),
    (lambda: threshold_of(math.nan, "float64"), "value must be a finite number, got nan"),
    (lambda: threshold_of(math.inf, "float32"), "value must be a finite number, got inf"),
    (lambda: threshold_of(1.5, "int64"), "value must be an integer for int64 values, got 1.5"),
    (lambda: threshold_of(True, "int32"), "value must be a finite number, got True"),
    (lambda: threshold_of(Fraction(1, 1 << 1075), "float64"), "value must be a multiple of 2"),
    (lambda: threshold_of(Fraction(1, 3), "float32"), "as every float is, got Fraction"),
    (
        lambda: member("dp-sgd-exact").sample(np.zeros((1, 1), int), DpSgdParameters(multiplier=1.0), ANY, 1),
        r"data must be a float64 array of shape \(records, coordinates\), got int64",
    ),
    (lambda: scripted_bits("012"), "script must consist of 0s and 1s"),
    (lambda: system_bits(65), "word_bits must be between 1 and 64, got 65"),
    (lambda: system_bits().words(1, 0), "width must be between 1 and 64, got 0"),
    (lambda: system_bits().take(-1), "count must not be negative, got -1"),
    (lambda: scripted_bits("").words(-1), "count must not be negative, got -1"),
]


@pytest.mark.parametrize(("call", "message"), CASES, ids=range(len(CASES)))
def test_bad_input_is_named_with_its_value(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_too_small_a_precision_raises_a_named_error() -> None:
    with pytest.raises(InexactError, match="working precision of 4 bits"):
        base2.weights(np.array([9]), Eta(3, 2, 1), 4)
