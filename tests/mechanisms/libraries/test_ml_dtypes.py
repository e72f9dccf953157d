"""Float types of accelerators: the naive mechanism rounds each step to the type, and the attacks break it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Verdict, attack
from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.engine.row import examine
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.families import installed, member
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.libraries.ml_dtypes import PACKAGE
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.samplers.float_uniforms import running_sums
from tests.mechanisms.laplace.test_naive import by_every_string

TYPES = list(float_types.ACCELERATORS)
LAPLACE_NAMES = [f"laplace-naive-{float_type}" for float_type in TYPES]
NAMES = [f"exponential-naive-{float_type}" for float_type in TYPES]

needs_ml_dtypes = pytest.mark.skipif(
    installed(PACKAGE) is None, reason="ml_dtypes is not installed: pip install -e '.[accelerators]'"
)


def check_laplace_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of bits, on numbers of the type; the law has no other atoms."""
    width = float_types.digits(mechanism.name.removeprefix("laplace-naive-")) + 1
    for epsilon in (0.5, 1.0, 3.0):
        for data in (0.0, 1.0, -3.5, 48.0):
            by_every_string(mechanism, data, LaplaceParameters(epsilon=epsilon), width)
    records = np.array([1.0, 0.25, 0.5])
    by_every_string(mechanism, records, LaplaceParameters(epsilon=1.0, query="sum"), width)


def rounded(value: Fraction, float_type: str) -> Fraction:
    """Return the nearest number of the type, ties to even, without ml_dtypes. Too large numbers are not meant."""
    digits, least = float_types.ACCELERATORS[float_type]
    if value == 0:
        return value
    exponent = math.frexp(float(value))[1] - 1
    unit = Fraction(2) ** (max(exponent, least) - digits + 1)
    return round(value / unit) * unit


@needs_ml_dtypes
@pytest.mark.parametrize("float_type", TYPES)
def test_weights_and_sums_are_rounded_at_each_step(float_type: str) -> None:
    utilities = np.array([0, 1, 3, 3, 7, 2, 2, 9] * 4)
    weight = exponential_naive.weights(utilities, 0.7, float_type=float_type)
    assert weight.dtype == float_types.of(float_type)
    rate = rounded(Fraction(0.35), float_type)
    product = [rounded(rate * rounded(Fraction(int(u)), float_type), float_type) for u in utilities]
    near = [float(rounded(Fraction(math.exp(-float(one))), float_type)) for one in product]
    np.testing.assert_array_equal(weight.astype(np.float64), near)  # none of these is near the middle of two floats
    total, sums = Fraction(0), []
    for one in weight.astype(np.float64):
        total = rounded(total + Fraction(float(one)), float_type)
        sums.append(total)
    expected = [float(rounded(one / total, float_type)) for one in sums]
    np.testing.assert_array_equal(running_sums(weight), expected)


@needs_ml_dtypes
@pytest.mark.parametrize("float_type", TYPES)
@pytest.mark.parametrize("name", ["zero-rounding", "zero-rounding-two-outcomes", "truncated-addition@epsilon=4"])
def test_attacks_break_it_and_not_the_exact_twin(name: str, float_type: str) -> None:
    made: Any = attack(name, float_type=float_type)
    assert made.breaks == (f"exponential-naive-{float_type}",)
    for mechanism, verdict in ((made.breaks[0], Verdict.VIOLATED), ("exponential-base2", Verdict.HOLDS)):
        row: Any = examine(Crossing(made, member(mechanism)), seed=1, runs=0, alpha=0.05)
        assert row.error is None
        assert (row.exact.verdict, row.exact.event_verdict) == (verdict, verdict)
        assert row.package == (None if mechanism == "exponential-base2" else f"ml_dtypes {installed(PACKAGE)}")
        if verdict is Verdict.VIOLATED:
            assert row.exhaustive == row.exact  # every string of its 8, 4 or 3 bits
            assert row.exact.epsilon == math.inf


@needs_ml_dtypes
@pytest.mark.parametrize("float_type", TYPES)
def test_the_last_bits_of_noise_tell_the_value(float_type: str) -> None:
    made: Any = attack("least-significant-bits", float_type=float_type)
    assert made.name == f"least-significant-bits@float_type={float_type}"
    assert attack(made.name).name == made.name
    for mechanism, verdict in ((made.breaks[0], Verdict.VIOLATED), ("laplace-exact", Verdict.HOLDS)):
        row: Any = examine(Crossing(made, member(mechanism)), seed=1, runs=2_000, alpha=0.05)
        assert row.error is None
        assert (row.exact.verdict, row.exact.event_verdict) == (verdict, verdict)
        if verdict is Verdict.VIOLATED:
            assert row.exact.event_in == (1, 1)  # the true value is never excluded
            assert row.exact.epsilon == math.inf
            assert row.sampled.event_in[1] == 1


@needs_ml_dtypes
@pytest.mark.parametrize("float_type", TYPES)
def test_noise_and_sums_are_rounded_at_each_step(float_type: str) -> None:
    digits = float_types.digits(float_type)
    drawn = laplace_naive.outputs(np.arange(2 << digits), 1.0, 1.5, float_type=float_type, uniform_bits=digits)
    expected = []
    for count in range(1, (1 << digits) + 1):
        logarithm = rounded(Fraction(abs(math.log(count / (1 << digits)))), float_type)
        size = rounded(Fraction(1.5) * logarithm, float_type)
        expected += [float(rounded(1 + sign * size, float_type)) for sign in (-1, 1)]
    np.testing.assert_array_equal(drawn, sorted(expected))


@needs_ml_dtypes
def test_a_utility_that_the_type_cannot_hold_is_no_zero_weight() -> None:
    """float8_e4m3fn has no infinity: beyond 464 its numbers are NaN."""
    with pytest.raises(ValueError, match=r"epsilon = 0.01 has no boundary near utility 1386 in float8_e4m3fn"):
        attack("zero-rounding", epsilon=0.01, float_type="float8_e4m3fn")
    takes: Any = member("exponential-naive-float8_e4m3fn").takes
    parameters = attack("zero-rounding").parameters
    assert takes(np.array([448]), parameters)
    assert not takes(np.array([500]), parameters)


@needs_ml_dtypes
def test_sums_that_the_type_cannot_hold_have_no_law() -> None:
    with pytest.raises(NoLawError, match=r"value = 448\.0 and its noise are beyond the largest float8_e4m3fn"):
        laplace_naive.law(448.0, 6.5, float_type="float8_e4m3fn")
    assert laplace_naive.law(57344.0, 800.0, float_type="float8_e5m2").atoms[-1] == 57344.0
    takes: Any = member("laplace-naive-bfloat16").takes
    assert takes(256.0, LaplaceParameters(epsilon=1.0))
    assert not takes(257.0, LaplaceParameters(epsilon=1.0))


@needs_ml_dtypes
@pytest.mark.parametrize("float_type", float_types.FORMATS)
def test_formats_are_those_of_the_types(float_type: str) -> None:
    finfo = np.finfo if float_type not in TYPES else __import__("ml_dtypes").finfo
    told = finfo(float_types.of(float_type))
    assert float_types.digits(float_type) == told.nmant + 1
    assert 2.0 ** float_types.least_exponent(float_type) == float(told.smallest_normal)
    assert 2.0 ** float_types.least_positive_exponent(float_type) == float(told.smallest_subnormal)


@needs_ml_dtypes
def test_noise_that_the_type_cannot_hold_makes_no_row() -> None:
    """In 8 bits the largest number is 448, and 64·λ bounds all noise: at ε = 0.1 it is 640."""
    met = [
        [one.mechanism.name for one in crossings([grid_precision(epsilon=epsilon)], everything=True)]
        for epsilon in (1.0, 0.1)
    ]
    assert ["laplace-naive-float8_e4m3fn" in names for names in met] == [True, False]
    assert all("laplace-naive-float8_e5m2" in names for names in met)
