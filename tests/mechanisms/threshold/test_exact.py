"""Exact thresholded noise: its laws by every string of bits, its rounding, and the ends of number formats."""

import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal import Claim, Eta, Verdict, member
from subnormal.audit.evidence import exact, exhaustive
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.samplers import discrete_gaussian, discrete_laplace, lazy_digits
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold import family as threshold_family
from subnormal.mechanisms.threshold.parameters import ThresholdParameters
from subnormal.mechanisms.threshold.release import Rounded
from tests.support.walks import assert_between, assert_within_the_law, one_draw

AnyMechanism = Mechanism[Any, Any, Any]

ALPHA = 1e-6


def check_law(mechanism: AnyMechanism) -> None:
    for scale, threshold, value in ((1.0, 2, 1), (Eta(3, 2), 1, 3), (0.5, -1, 0), (2.0, 3, -1)):
        given = ThresholdParameters("laplace", scale, threshold, "int32", limit=4)
        assert_within_the_law(mechanism, {"a": value}, given, rest=0.02)
    given = ThresholdParameters("gaussian", 1.0, 2, "int64", limit=4)
    assert_within_the_law(mechanism, {"a": 1}, given, rest=0.02)
    floats = ThresholdParameters("laplace", 1.0, 0.75, "float32", grid=-1, limit=2.0)
    assert_within_the_law(mechanism, {"a": 0.5}, floats, rest=0.02)
    assert_within_the_law(mechanism, {"a": 1, "b": 2}, ThresholdParameters("laplace", 0.5, 2, limit=3), rest=0.2)
    assert_within_the_law(mechanism, {}, floats, rest=0)


@pytest.fixture
def _coarse_cells(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Cells of a quarter of the scale, so that a walk meets digits that are drawn only where they decide."""
    monkeypatch.setattr(lazy_digits, "LEADING_BITS", 2)
    monkeypatch.setattr(discrete_laplace, "COARSE", 1)
    monkeypatch.setattr(discrete_gaussian, "COARSE", 1)
    caches = (lazy_digits.laplace, lazy_digits.gaussian, discrete_laplace.laplace, discrete_gaussian.gaussian)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


LATE = pytest.mark.parametrize(("value", "threshold"), [(1.0, 2.0), (0.25, 0.5), (-1.25, -0.75)])


def late(noise: Any, threshold: float) -> ThresholdParameters:
    given = ThresholdParameters(noise, 1.0, threshold, "float64", grid=-3, limit=abs(threshold) + 1)
    drawn = lazy_digits.laplace(given.rate) if noise == "laplace" else lazy_digits.gaussian(given.sigma)
    assert drawn.base == 2
    return given


@pytest.mark.usefixtures("_coarse_cells")
@LATE
def test_digits_that_are_drawn_late_make_the_same_law(value: float, threshold: float) -> None:
    given = late("laplace", threshold)
    walked = exhaustive.law(partial(one_draw, member("threshold-exact"), {"a": value}, given), depth=14, word_bits=2)
    assert_between(walked, threshold_exact.law({"a": value}, given).on(["a"]), rest=0.25)


@pytest.mark.usefixtures("_coarse_cells")
@LATE
def test_a_gaussian_sample_with_late_digits_fits_its_law(value: float, threshold: float) -> None:
    given, runs = late("gaussian", threshold), 20_000
    law = threshold_exact.law({"a": value}, given).on(["a"])
    drawn: Counter[Any] = Counter(threshold_exact.sample({"a": value}, given, seeded_bits(1), runs))
    masses = np.array([float(law.probability(atom)[0]) for atom in law.atoms])
    counts = np.array([drawn[atom] for atom in law.atoms])
    assert counts.sum() == runs
    assert stats.chisquare(counts, runs * masses / masses.sum()).pvalue > ALPHA
    assert stats.chisquare(np.roll(counts, 1), runs * masses / masses.sum()).pvalue < ALPHA


@pytest.mark.parametrize(("noise", "values"), [("laplace", "float32"), ("gaussian", "float64")])
def test_a_real_sample_of_floats_fits_the_continuous_law(noise: Any, values: Any) -> None:
    given = ThresholdParameters(noise, 2.0, 1.5, values)
    drawn = threshold_exact.sample({"a": 1.0}, given, seeded_bits(1), 20_000)
    numbers = np.array([one[0][1] for one in drawn if one])
    ideal = stats.laplace(1, 2) if noise == "laplace" else stats.norm(1, 2)
    passed = float(ideal.sf(1.5))
    assert stats.binomtest(len(numbers), 20_000, passed).pvalue > ALPHA
    conditional = lambda x: (ideal.cdf(x) - (1 - passed)) / passed  # noqa: E731
    assert stats.kstest(numbers, conditional).pvalue > ALPHA
    assert stats.kstest(numbers * 1.1, conditional).pvalue < ALPHA
    assert (numbers == numbers.astype(values)).all()
    assert numbers.min() >= 1.5


@pytest.mark.parametrize("digits", [24, 53])
def test_rounding_is_to_the_nearest_even_once(digits: int) -> None:
    kind = np.float32 if digits == 24 else np.float64
    least = -149 if digits == 24 else -1074
    most = float(np.finfo(kind).max)
    rounded = Rounded(least - 60, digits, least, most)
    generator = np.random.default_rng(1)
    for size in (1, 60, 61, 62, 80, 140, 200):
        for _ in range(50):
            steps = int.from_bytes(generator.bytes(32), "big") >> (256 - size) | 1 << (size - 1)
            exact_value = Fraction(steps) * Fraction(2) ** (least - 60)
            found = rounded(steps)
            below, above = (float(np.nextafter(kind(found), kind(end))) for end in (-np.inf, np.inf))
            distance = abs(Fraction(found) - exact_value)
            assert all(distance <= abs(Fraction(near) - exact_value) for near in (below, above))
    tie = (1 << digits) + 1  # halfway between two floats: to the even one
    assert Rounded(0, digits, least, most)(tie) == 1 << digits
    assert Rounded(0, digits, least, most)(tie + 2) == (1 << digits) + 4
    assert Rounded(2000, digits, least, most)(1) == most == Rounded(900, digits, least, most)(1 << 200)


def test_released_integers_saturate_at_their_types_limits() -> None:
    for values, bits in (("int32", 31), ("int64", 63)):
        given: Any = ThresholdParameters("laplace", 3.0, 20, values)  # type: ignore[arg-type]
        drawn = threshold_exact.sample({"a": 2**bits - 1, "b": -(2**bits), "c": 2**70}, given, seeded_bits(1), 400)
        top = Counter(dict(one)["a"] for one in drawn)
        assert max(top) == 2**bits - 1
        assert stats.binomtest(top[2**bits - 1], 400, 1 / (1 + np.exp(-1 / 3))).pvalue > ALPHA
        assert all(set(dict(one)) == {"a", "c"} for one in drawn)
        down: Any = ThresholdParameters("laplace", 3.0, -20, values)  # type: ignore[arg-type]
        drawn = threshold_exact.sample({"b": -(2**bits)}, down, seeded_bits(1), 400)
        assert min(one[0][1] for one in drawn) == -(2**bits)
        # Far from the limit too, where sums are int64 and minus the least one is none.
        usual, mirrored = (
            threshold_exact.sample({"b": sign * 50}, one, seeded_bits(1), 400) for sign, one in ((1, given), (-1, down))
        )
        assert mirrored == [tuple((key, -number) for key, number in items) for items in usual]
        assert threshold_exact.sample({"b": 0}, ThresholdParameters("laplace", 3.0, 20, limit=25), seeded_bits(1), 9)


@pytest.mark.parametrize(
    ("eta", "threshold", "value"),
    [(Eta(2**32 - 12345, 32), 20, 0), (Eta(3, 2), 500, 0), (Eta(1, 1), 1200, 1), (Eta(5, 3, 7), 30, -9)],
)
def test_laws_in_base_2_are_exact_for_rates_and_tails_of_many_digits(eta: Eta, threshold: int, value: int) -> None:
    given, base = ThresholdParameters("laplace", eta, threshold, limit=threshold + 3), eta.base
    part = threshold_exact.law({"a": value}, given).part("a")
    expected: dict[Any, Fraction] = {
        threshold + more: (1 - base) * base ** (threshold + more - value) / (1 + base) for more in range(3)
    }
    expected[threshold + 3] = base ** (threshold + 3 - value) / (1 + base)
    expected[None] = 1 - sum(expected.values(), Fraction(0))
    assert {atom: part.probability(atom) for atom in part.atoms} == {
        atom: (probability, probability) for atom, probability in expected.items()
    }


def test_laws_of_rates_with_too_many_digits_are_enclosures() -> None:
    eta = Eta(2**32 - 12345, 32)
    given = ThresholdParameters("laplace", eta, 600, limit=601)
    part = threshold_exact.law({"a": 0}, given).part("a")
    (low, high), exact_tail = part.probability(601), eta.base**601 / (1 + eta.base)
    assert 0 <= exact_tail - low <= high - low < Fraction(1, 1 << 180)
    assert exact_tail <= high


def test_very_many_keys_that_pass_for_certain_are_claimed_at_once() -> None:
    claim = threshold_family.privacy(ThresholdParameters("laplace", 1e10, 20), (10**9, 1e9, 1))
    assert claim == Claim(0.1, 1.0)


def test_scales_beyond_64_bits() -> None:
    for noise, scale in (("laplace", 2.0**60), ("gaussian", 2.0**58), ("laplace", 2.0**1000)):
        given: Any = ThresholdParameters(noise, scale, 1, "int64")  # type: ignore[arg-type]
        drawn = threshold_exact.sample({"a": 0}, given, seeded_bits(1), 400)
        assert stats.binomtest(sum(map(bool, drawn)), 400, 0.5).pvalue > ALPHA
        assert all(0 < one[0][1] < 2**63 for one in drawn if one)


def test_noise_in_a_far_cell_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cells do not fit 64 bits they are Python's integers: the same numbers."""
    given = ThresholdParameters("laplace", 1000.0, 1500)
    usual = threshold_exact.sample({"a": 0, "b": 9}, given, seeded_bits(1), 500)
    monkeypatch.setattr(lazy_digits, "WIDE", 1)
    assert threshold_exact.sample({"a": 0, "b": 9}, given, seeded_bits(1), 500) == usual
    assert any(usual)


def test_a_value_many_cells_from_the_threshold_is_decided() -> None:
    """2^2097 cells of the noise: no int64 holds the cell of a sum that just passes."""
    given = ThresholdParameters("laplace", 5e-324, 1.0, "float64")
    assert threshold_exact.sample({"a": 1e308, "b": -1e308}, given, seeded_bits(1), 2) == 2 * [(("a", 1e308),)]


def test_the_order_of_the_keys_does_not_matter() -> None:
    given = ThresholdParameters("laplace", 2.0, 1)
    one, other = ({"b": 3, "a": 2, "c": 0}, {"c": 0, "a": 2, "b": 3})
    drawn = [threshold_exact.sample(data, given, seeded_bits(1), 50) for data in (one, other)]
    assert drawn[0] == drawn[1]
    assert all(list(outcome) == sorted(outcome) for outcome in drawn[0])


def test_a_million_keys_in_seconds() -> None:
    """0.6 s on an idle core; the limit is the one that is promised."""
    data = {f"key {number}": number % 50 for number in range(10**6)}
    given = ThresholdParameters("laplace", 2.0, 20)
    begin = time.process_time()
    ((outcome),) = threshold_exact.sample(data, given, seeded_bits(1), 1)
    assert time.process_time() - begin < 3
    expected = sum(20_000 * float(threshold_family.tail(given, 20 - value)[0]) for value in range(50))
    assert abs(len(outcome) - expected) < 5 * 500


def test_of_no_keys_nothing_is_released() -> None:
    given = ThresholdParameters("gaussian", 1.0, 3.5, "float64")
    assert threshold_exact.sample({}, given, seeded_bits(1), 2) == [(), ()]


def test_keys_that_do_not_change_cancel() -> None:
    """Fifty keys: the product is never multiplied out, and the verdict is that of the two that differ."""
    common = {f"key {number}": number for number in range(48)}
    given = ThresholdParameters("laplace", Eta(1, 1), 4, sensitivities=(2, 2, 1), limit=12)
    law_in, law_out = (threshold_exact.law(data, given) for data in (common | {"x": 1, "y": 1}, common))
    assert law_in.differing(law_out) == ["x", "y"]
    claim = threshold_family.claim(given, {}, {})
    evidence = exact.compare(law_in, law_out, claim)
    assert (evidence.verdict, evidence.within) == (Verdict.HOLDS, 0)
    assert evidence.delta == pytest.approx(claim.delta, rel=1e-15)
    less = Claim(claim.epsilon, claim.delta * (1 - 1e-12))
    assert exact.compare(law_in, law_out, less).verdict is Verdict.VIOLATED
    assert exact.curve(law_in, law_out, [0.0])[0][0] == pytest.approx(claim.delta)
