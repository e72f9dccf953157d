"""The published samplers have the laws that the vectors state, on every string of bits up to a depth."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from scipy.stats import binom

from subnormal.audit.evidence import exhaustive
from subnormal.audit.vectors import algorithms, laws, samplers
from subnormal.mechanisms.laplace import snapping as laplace_snapping
from subnormal.mechanisms.laplace.snapping_bounds import Snapping
from subnormal.mechanisms.numerics.interval import interval

DEPTH = 14
WALKED: list[tuple[str, dict[str, Any]]] = [
    ("bernoulli-exp", {"gamma": "1/2"}),
    ("bernoulli-exp", {"gamma": "7/3"}),
    ("discrete-laplace", {"scale": "1/2"}),
    ("discrete-laplace", {"scale": "3/2"}),
    ("discrete-gaussian", {"variance": "1/4"}),
    ("randomized-response", {"categories": 3, "truth": 1, "probability": "1/2"}),
    ("exponential-base2", {"utilities": [5, 3, 4], "x": 3, "y": 2, "z": 1, "precision": 10}),
    ("permute-and-flip", {"scores": [1, 0], "rate": "1/2"}),
]


@pytest.mark.parametrize(("name", "parameters"), WALKED, ids=lambda value: str(value))
def test_every_string_of_bits_leads_where_the_law_says(name: str, parameters: dict[str, Any]) -> None:
    given = samplers.arguments(parameters)
    sampler, at_least = (getattr(module, name.replace("-", "_")) for module in (algorithms, laws))
    walked = exhaustive.law(lambda bits: int(sampler(**given, take=bits.take)), depth=DEPTH)
    tail = at_least(**given)
    assert walked.rest < Fraction(99, 100)  # the published rejections take most strings of so few bits
    named = [atom for atom in walked.atoms if isinstance(atom, int)]
    top = {"discrete-laplace": math.inf, "discrete-gaussian": math.inf}.get(name, max(named))
    for outcome in named:
        low, high = walked.probability(outcome)
        stated = interval(tail(outcome)) - (0 if outcome == top else interval(tail(outcome + 1)))
        least, most = stated.floats()
        assert float(low) <= most * (1 + 1e-12)
        assert least <= float(high) * (1 + 1e-12), (outcome, low, high, stated)


@pytest.mark.parametrize(("value", "scale", "bound"), [(0.0, 1.0, 8.0), (0.5, 1.0, 8.0), (0.25, 3.0, 20.0)])
def test_the_law_of_snapping_is_that_of_the_house(value: float, scale: float, bound: float) -> None:
    law = laplace_snapping.law(Fraction(value), Snapping(scale, bound))
    tail, step = laws.snapping(value, scale, bound), algorithms.power_at_least(scale)
    for place in range(math.floor(-bound / step) + 1, math.floor(bound / step) + 1):
        atoms = [atom for atom in law.atoms if isinstance(atom, float) and atom >= place * step]
        exact = sum((law.probability(atom)[0] for atom in atoms), Fraction(0))
        low, high = interval(tail(place * step)).floats()
        assert low <= float(exact) <= high


@pytest.mark.parametrize("probability", [0.0, 1e-9, 1e-3, 0.3, 0.5, 1.0])
def test_a_count_leaves_its_range_with_the_stated_chance_and_the_range_is_tight(probability: float) -> None:
    least, most = laws.count_range(interval(probability), samplers.DRAWS)
    beyond = partial(binom.sf, n=samplers.DRAWS, p=probability)
    assert beyond(most) <= laws.ALPHA / 2
    assert binom.cdf(least - 1, samplers.DRAWS, probability) <= laws.ALPHA / 2
    assert least <= probability * samplers.DRAWS <= most
    if 0 < probability < 1:  # Chernoff's bound is at most some forty times the tail here
        assert beyond(most - 1 - most // 100) > laws.ALPHA / 1e3


def test_a_stream_uses_all_of_its_bits_and_no_more() -> None:
    for test in samplers.tests():
        if test["kind"] == "stream":
            assert len(test["bits"]) == -(-test["consumed"] // 4)
            break


def test_a_stream_that_hangs_on_the_last_bit_of_a_logarithm_is_left_out() -> None:
    significand = round(math.exp(-0.5) * 2**53)  # ln U is −1/2 up to a unit, and 1 + ln U lies at the tie
    bits = iter(f"0{significand - 2**52:052b}1")
    with pytest.raises(algorithms.LastBitError):
        algorithms.snapping(1.0, 1.0, 8.0, lambda k: int("".join(next(bits) for _ in range(k)), 2))
