"""Laws as enclosures, against rationals: near and far utilities."""

from fractions import Fraction
from random import Random

import numpy as np

from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.enclosed_law import enclosed_law
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds

ETAS = (Eta(1, 1, 1), Eta(3, 2, 1), Eta(200, 8, 3), Eta(0xFFFFFFF1, 32, 1))


def test_bounds_on_a_weight_are_near_and_hold_it() -> None:
    random = Random(1)
    for _ in range(300):
        eta, distance, precision = random.choice(ETAS), random.randrange(800), random.choice((8, 64, 700, 4000))
        low, high = weight_bounds(eta, Fraction(distance), precision)
        assert low <= eta.base**distance * (1 << precision) <= high <= low + 2


def test_enclosures_hold_the_exact_law() -> None:
    random = Random(2)
    for _ in range(100):
        eta, most = random.choice(ETAS), random.choice((3, 30, 300))
        utilities = np.array([random.randint(-most, most) for _ in range(random.randint(1, 6))])
        exact, enclosed = base2.law(utilities, eta), enclosed_law(utilities, eta)
        for outcome in range(len(utilities)):
            low, high = enclosed.probability(outcome)
            probability = exact.probability(outcome)[0]
            assert low <= probability <= high <= probability * (1 + Fraction(1, 1 << 120))
            assert low >= probability * (1 - Fraction(1, 1 << 120))


def test_the_law_of_utilities_far_apart_is_an_enclosure() -> None:
    """Written with whole weights, it would have 32 million bits for each outcome."""
    far = 10**6
    law = base2.law(np.array([0, far, far + 1]), Eta(0xFFFFFFF1, 32, 1))
    near = base2.law(np.array([0, 0, 1]), Eta(0xFFFFFFF1, 32, 1))
    (low, high), (next_low, next_high) = law.probability(1), law.probability(2)
    ratio = near.probability(2)[0] / near.probability(1)[0]
    assert next_low / high <= ratio <= next_high / low
    assert 0 < low < high < low * (1 + Fraction(1, 1 << 120))


def test_the_law_of_many_long_weights_is_an_enclosure() -> None:
    """Ten thousand weights of 320,000 bits would take 400 MB, and minutes."""
    utilities, eta = np.arange(10_000), Eta(0xFFFFFF00, 32, 1)
    law = base2.law(utilities, eta)
    assert law.denominator.bit_length() < 1_000
    low, high = law.probability(7)
    assert high < low * (1 + Fraction(1, 1 << 120))
    first = law.probability(0)
    assert first[0] * eta.base**7 <= high
    assert low <= first[1] * eta.base**7
    few = base2.law(utilities[:100], eta)
    assert few.low is few.high  # in rationals
