"""Counts of draws: of sound noise one answer in 10^10 says less than the bound; noise that is a little off is found.

The test of sound noise fails by chance with a probability of 1e-8 at most.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from subnormal.audit.claims.discrete_kinds import DRAWS, RARE
from subnormal.audit.claims.holding import Said, hold
from subnormal.audit.claims.kinds import kind

LAPLACE, GAUSSIAN = kind("discrete-laplace-draws"), kind("discrete-gaussian-draws")


def share(scale: float, place: int) -> float:
    p = math.exp(-1 / scale)
    return (1 - p) / (1 + p) * p**place * (2 if place else 1)


@pytest.mark.parametrize(("scale", "place"), [(3.0, 0), (3.0, 2), (1.0, 7), (20.0, 9), (1.0, 9)])
@pytest.mark.parametrize("others", [False, True])
def test_sound_noise_rarely_says_less(scale: float, place: int, others: bool) -> None:
    low, up = LAPLACE.bounds(scale=scale, place=place, others=others)
    chance = 1 - share(scale, place) if others else share(scale, place)
    assert up == math.inf
    assert stats.binom.cdf(low - 1, DRAWS, chance) <= RARE
    assert stats.binom.cdf(low + 2, DRAWS, chance) >= RARE / 200


def test_the_shares_of_discrete_gaussian_noise_are_its_own() -> None:
    terms = {x: math.exp(-(x**2) / 18) for x in range(-60, 61)}
    for place in (0, 4):
        chance = sum(term for x, term in terms.items() if abs(x) == place) / sum(terms.values())
        low = GAUSSIAN.bounds(sigma=3.0, place=place, others=False)[0]
        assert stats.binom.cdf(low + 2, DRAWS, chance) >= RARE / 200
        assert stats.binom.cdf(low - 1, DRAWS, chance) <= RARE


def judged(noise: Callable[[float], NDArray[np.int64]]) -> Said | None:
    def said(scale: float, place: int, others: bool) -> float:
        count = int((np.abs(noise(scale)) == place).sum())
        return DRAWS - count if others else count

    few = replace(LAPLACE, parameters={**LAPLACE.parameters, "scale": st.sampled_from([1.0, 3.0])})
    return hold("own", said, few, examples=40).violated


def test_noise_with_a_bias_is_found_and_without_is_not() -> None:
    """One draw in thirty is 2."""
    generator = np.random.default_rng(1)

    def sound(scale: float) -> NDArray[np.int64]:
        p = -math.expm1(-1 / scale)
        return generator.geometric(p, DRAWS) - generator.geometric(p, DRAWS)

    def biased(scale: float) -> NDArray[np.int64]:
        return np.where(generator.random(DRAWS) < 1 / 30, 2, sound(scale))

    assert judged(sound) is None
    found = judged(biased)
    assert found is not None
    assert (found.parameters["place"], found.parameters["others"]) == (2, True)
