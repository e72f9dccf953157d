"""Perfectly rounded Laplace noise: each digit exactly, every string of digits, and the law that they make together."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.laplace import correctly_rounded
from subnormal.mechanisms.laplace.correctly_rounded import float16_law, magnitudes, noise, top_place
from tests.support.walks import law_of

AnyMechanism = Mechanism[Any, Any, Any]

ALPHA = 1e-6  # the false-alarm rate of each statistical test
SCALES = (Fraction(1), Fraction(10), Fraction(3, 7), Fraction(4096))
NOT_BELOW = np.uint64(2**64 - 1)  # a word that makes any event of probability below 1 not happen
DIGITS, LAST = 11, -24  # of a float16
WEIGHT_BITS = 256


def parameters_for(scale: Fraction) -> LaplaceParameters:
    return LaplaceParameters(epsilon=float(1 / scale))


class Strings:
    """Every string of digits that a float16 magnitude is read from, and the words that make the code draw them.

    One group for each place of the leading 1, with every string of the digits that follow; and the string without a 1.
    """

    def __init__(self, scale: Fraction) -> None:
        self.places = list(range(top_place(scale), LAST - 2, -1))
        self.count = 0
        self.digits: list[list[Any]] = [[] for _ in self.places]  # of each place, an array a group that reaches there
        self.weights: list[tuple[int, int]] = []  # bounds on the probability of each string, over 2^WEIGHT_BITS
        self.midpoints: list[float] = []  # of the real numbers whose digits begin with the string
        chances = [correctly_rounded.digit_bits(scale, place, WEIGHT_BITS) for place in self.places]
        self.certain = [correctly_rounded.digit_bits(scale, place, 64) > 0 for place in self.places]
        zeros = (1 << WEIGHT_BITS, 1 << WEIGHT_BITS)
        for at, place in enumerate(self.places):
            after = min(DIGITS, place - LAST + 1) if place >= LAST else 0
            weights = [times(zeros, chances[at], 1)]
            for chance in chances[at + 1 : at + 1 + after]:
                weights = [times(one, chance, digit) for one in weights for digit in (0, 1)]
            self._add(at, np.arange(1 << after, 2 << after), after, weights)
            zeros = times(zeros, chances[at], 0)
        self._add(len(self.places) - 1, np.array([0]), 0, [zeros])

    def _add(self, at: int, values: Any, after: int, weights: list[tuple[int, int]]) -> None:
        self.count += len(values)
        self.weights += weights
        self.midpoints += np.ldexp(2.0 * values + 1, self.places[at + after] - 1).tolist()
        for ahead in range(at + after + 1):
            self.digits[ahead].append(values >> (at + after - ahead) & 1)

    def bits(self, negative: bool) -> BitSource:
        """Return a source that makes one call draw all strings, in their order."""
        parts = [np.full(self.count, NOT_BELOW)]  # none lies beyond the top place
        for certain, digits in zip(self.certain, map(np.concatenate, self.digits), strict=True):
            parts.append(np.where(digits == 1, np.uint64(0), NOT_BELOW))
            if not certain:  # the word 0 agrees with a probability below 2^−64, and a second one decides
                parts.append(np.zeros(digits.sum(), dtype=np.uint64))
        parts.append(np.full(self.count, NOT_BELOW if negative else np.uint64(0)))
        stream, position = np.concatenate(parts), 0

        def draw(count: int) -> Any:
            nonlocal position
            position += count
            return stream[position - count : position]

        return BitSource(draw)


def times(weight: tuple[int, int], chance: int, digit: int) -> tuple[int, int]:
    low, high = (chance, chance + 1) if digit else ((1 << WEIGHT_BITS) - chance - 1, (1 << WEIGHT_BITS) - chance)
    return weight[0] * low >> WEIGHT_BITS, (weight[1] * high >> WEIGHT_BITS) + 1


def check_law(mechanism: AnyMechanism) -> None:
    """Every string of digits of the noise through `sample`, weighed by the code's own probabilities of a digit."""
    for scale, data in ((Fraction(1), 1.0), (Fraction(1), -0.0), (Fraction(4096), 60000.0)):
        strings = Strings(scale)
        law = law_of(mechanism, data, parameters_for(scale))
        low: Counter[int] = Counter()
        high: Counter[int] = Counter()
        for negative in (False, True):
            outcomes = mechanism.sample(data, parameters_for(scale), strings.bits(negative), strings.count)
            for outcome, weight in zip(np.asarray(outcomes).view(np.uint16).tolist(), strings.weights, strict=True):
                low[outcome] += weight[0]
                high[outcome] += weight[1]
        atoms = np.asarray(law.atoms).view(np.uint16).tolist()
        assert set(low) <= set(atoms)
        beyond = correctly_rounded.tail_bits(scale, top_place(scale) + 1, WEIGHT_BITS) + 1
        assert beyond < 2.0 ** (WEIGHT_BITS - 92)
        within, unit = (1 << WEIGHT_BITS) - beyond, 2 << WEIGHT_BITS  # both signs
        for atom, least, most in zip(atoms, law.low, law.high, strict=True):
            assert low[atom] * within * law.denominator <= most * unit << WEIGHT_BITS
            assert least * unit <= (high[atom] + 2 * beyond) * law.denominator


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_every_string_of_digits_is_rounded_to_the_nearest_float16(scale: Fraction) -> None:
    """A string stands for an interval of real numbers, all of which round to one float: that of its midpoint."""
    strings = Strings(scale)
    drawn = magnitudes(scale, strings.bits(False), strings.count, DIGITS, LAST)
    with np.errstate(over="ignore"):
        assert np.array_equal(drawn.astype(np.float16), np.array(strings.midpoints).astype(np.float16))
    assert 1 - Fraction(2) ** -92 < Fraction(sum(low for low, _ in strings.weights), 2**WEIGHT_BITS) < 1


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_probability_of_a_digit(scale: Fraction) -> None:
    """Against another library's exponential."""
    with localcontext(prec=450):
        for place in (-1074, -60, -24, -3, 0, top_place(scale)):
            exponent = Fraction(2) ** place / scale
            power = (Decimal(exponent.numerator) / exponent.denominator).exp()
            assert correctly_rounded.digit_bits(scale, place, 200) == int(2**200 / (1 + power))
            assert correctly_rounded.tail_bits(scale, place, 200) == int(2**200 / power)


@pytest.mark.parametrize("word_bits", [1, 2, 3, 6])
@pytest.mark.parametrize("place", [-20, 0, 3])
def test_a_digit_by_every_string_of_bits(word_bits: int, place: int) -> None:
    """All but the one string of 12 bits that agrees with the probability itself decide, and rightly."""
    scale = Fraction(1)

    def draw(bits: BitSource) -> bool:
        return bool(
            correctly_rounded._bernoulli(lambda count: correctly_rounded.digit_bits(scale, place, count), bits, 1)
        )

    walked = exhaustive.law(draw, depth=12, word_bits=word_bits)
    assert walked.rest == Fraction(1, 1 << 12)
    assert walked.probability(True)[0] == Fraction(correctly_rounded.digit_bits(scale, place, 12), 1 << 12)


def test_a_word_that_agrees_with_the_probability_is_followed_by_more() -> None:
    def expansion(count: int) -> int:
        return correctly_rounded.digit_bits(Fraction(1), 0, count)

    agree, first, second = expansion(64), expansion(128) % 2**64, expansion(192) % 2**64
    for tail, expected in (
        ([first - 1], True),
        ([first + 1], False),
        ([first, second - 1], True),
        ([first, second + 1], False),
    ):
        bits = scripted_bits("".join(f"{word:064b}" for word in [agree - 1, agree, agree + 1, *tail]))
        assert correctly_rounded._bernoulli(expansion, bits, 3).tolist() == [True, expected, False]
        assert bits.consumed == 64 * (3 + len(tail))


def test_the_whole_lengths_by_every_string_of_bits() -> None:
    """With lengths of 1 and a scale of 1 there are N of them with probability e^−N·(1 − e^−1)."""

    def draw(bits: BitSource) -> int:
        return int(correctly_rounded._whole_lengths(Fraction(1), -1, bits, 1)[0])

    walked = exhaustive.law(draw, depth=13, word_bits=1)
    assert walked.rest <= Fraction(1, 64)
    with localcontext(prec=40):
        for lengths in range(4):
            expected = Fraction((-Decimal(lengths)).exp() * (1 - Decimal(-1).exp()))
            assert walked.probability(lengths)[0] <= expected <= walked.probability(lengths)[0] + walked.rest


def test_what_lies_beyond_the_top_place_is_counted_and_rounded_too() -> None:
    """Five lengths of 2^(top+1) are 101 in binary: at two digits it is a tie but for what follows, so 110."""
    scale, top = Fraction(1), top_place(Fraction(1))
    again = [0, 0] * 5 + [NOT_BELOW]  # a probability below 2^−64: the first word agrees, the second decides
    bits = scripted_bits("".join(f"{word:064b}" for word in again))
    assert magnitudes(scale, bits, 1, 2, -3).tolist() == [6 * 2.0 ** (top + 1)]


def test_float64_noise_is_laplace_to_its_last_digit() -> None:
    """The distribution function, and the 20 lowest digits of the significand: each test fails with ALPHA."""
    drawn = noise(Fraction(10), seeded_bits(5), 100_000)
    ordered = np.sort(drawn)
    ideal = np.where(ordered < 0, np.exp(ordered / 10) / 2, 1 - np.exp(-ordered / 10) / 2)
    assert np.abs(ideal - np.arange(100_000) / 100_000).max() <= np.sqrt(np.log(2 / ALPHA) / 200_000) + 1e-5
    significand = np.ldexp(np.frexp(np.abs(drawn))[0], 53).astype(np.int64)
    ones = (significand[:, np.newaxis] >> np.arange(20) & 1).sum(axis=0)
    assert np.abs(ones - 50_000).max() <= np.sqrt(np.log(2 * 20 / ALPHA) * 100_000 / 2)  # Hoeffding


def test_zeros_and_infinities_are_outcomes() -> None:
    tiny, huge = Fraction(1, 1 << 40), Fraction(1 << 40)
    assert float16_law(0.0, tiny).probability(0.0)[0] > Fraction(99, 100)  # 0.0 + −0.0 is 0.0
    assert float16_law(-0.0, tiny).probability(-0.0)[0] > Fraction(49, 100)
    assert float16_law(0.0, huge).probability(-np.inf)[0] > Fraction(49, 100)
    assert set(noise(tiny, seeded_bits(1), 100, np.float16).tolist()) == {0.0}
    assert set(noise(huge, seeded_bits(1), 100, np.float16).tolist()) == {-np.inf, np.inf}
    assert set(np.abs(noise(Fraction(2) ** 1100, seeded_bits(1), 100)).tolist()) == {np.inf}
    assert set(np.abs(noise(Fraction(2) ** -1200, seeded_bits(1), 100)).tolist()) == {0.0}
