"""Float types of accelerators: the naive mechanism rounds each step to the type, and the attacks break it."""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.catalogue import attack
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.model import Verdict
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.families import installed, member
from subnormal.mechanisms.libraries.ml_dtypes import PACKAGE
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.samplers.float_uniforms import running_sums

TYPES = list(float_types.ACCELERATORS)
NAMES = [f"exponential-naive-{float_type}" for float_type in TYPES]

needs_ml_dtypes = pytest.mark.skipif(
    installed(PACKAGE) is None, reason="ml_dtypes is not installed: pip install -e '.[accelerators]'"
)


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
        row = examine(Crossing(made, member(mechanism)), seed=1, runs=0, alpha=0.05)
        assert row.error is None
        assert row.exact is not None
        assert (row.exact.verdict, row.exact.event_verdict) == (verdict, verdict)
        assert row.package == (None if mechanism == "exponential-base2" else f"ml_dtypes {installed(PACKAGE)}")
        if verdict is Verdict.VIOLATED:
            assert row.exhaustive == row.exact  # every string of its 8, 4 or 3 bits
            assert row.exact.epsilon == math.inf


@needs_ml_dtypes
def test_a_utility_that_the_type_cannot_hold_is_no_zero_weight() -> None:
    """float8_e4m3fn has no infinity: beyond 464 its numbers are NaN."""
    with pytest.raises(ValueError, match=r"epsilon = 0.01 has no boundary near utility 1386 in float8_e4m3fn"):
        attack("zero-rounding", epsilon=0.01, float_type="float8_e4m3fn")
    takes: Any = member("exponential-naive-float8_e4m3fn").takes
    parameters = attack("zero-rounding").parameters
    assert takes(np.array([448]), parameters)
    assert not takes(np.array([500]), parameters)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.longdouble, "float_type must be one of float64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2"),
        ("int32", "got int32"),
        ("float12", "got 'float12'"),
    ],
)
def test_other_types_are_refused_by_name(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attack("zero-rounding", float_type=given)


def test_without_ml_dtypes_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ValueError, match="float_type = bfloat16 needs ml_dtypes: pip install ml_dtypes"):
        attack("zero-rounding", float_type="bfloat16")


@needs_ml_dtypes
@pytest.mark.parametrize("float_type", float_types.FORMATS)
def test_formats_are_those_of_the_types(float_type: str) -> None:
    finfo = np.finfo if float_type not in TYPES else __import__("ml_dtypes").finfo
    told = finfo(float_types.of(float_type))
    assert float_types.digits(float_type) == told.nmant + 1
    assert 2.0 ** float_types.least_exponent(float_type) == float(told.smallest_normal)
    assert 2.0 ** float_types.least_positive_exponent(float_type) == float(told.smallest_subnormal)
