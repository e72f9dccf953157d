"""Bounds on what runs cost: below and above the exact value, always, and as near to it as they promise."""

import itertools
import math
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from audit import composition, exact
from audit.closed_forms import gaussian, laplace, randomized_response, subsampled_gaussian
from audit.composition import Composition, buckets
from mechanisms.arithmetic import exp_bounds
from mechanisms.law import Law, exact_law
from mechanisms.privacy import Claim

A, B = [0.6, 0.3, 0.1], [0.3, 0.5, 0.2]
PAIRS = 500


def types(p: list[Fraction], q: list[Fraction], runs: int) -> list[tuple[Fraction, Fraction]]:
    """The probabilities of every type of `runs` outcomes (how often each atom came up) in both worlds."""
    found = []
    for bars in itertools.combinations(range(runs + len(p) - 1), len(p) - 1):
        counts = [right - left - 1 for left, right in itertools.pairwise((-1, *bars, runs + len(p) - 1))]
        ways = math.factorial(runs) // math.prod(map(math.factorial, counts))
        found.append(tuple(ways * math.prod(x**n for x, n in zip(world, counts, strict=True)) for world in (p, q)))
    return found


def exact_delta(p: list[Fraction], q: list[Fraction], runs: int, epsilon: float) -> tuple[Fraction, Fraction]:
    """δ(ε) by enumeration of types: bounds that differ by those of e^ε alone, 2^-128."""
    low, high = exp_bounds(Fraction(epsilon))
    both = types(p, q, runs)
    return tuple(sum((max(a - ratio * b, Fraction(0)) for a, b in both), Fraction(0)) for ratio in (high, low))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of N(μ, 1) against N(0, 1). Source: Balle, Wang 2018, Theorem 8."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)))


@pytest.mark.parametrize(
    ("runs", "epsilon", "value", "within"),
    [(1, 0.5, 0.1053836188, 5e-3), (4, 0.5, 0.33720203, 2e-3), (8, 0.0, 0.63222525, 1e-4)],
)
def test_three_atoms_to_the_digits_known(runs: int, epsilon: float, value: float, within: float) -> None:
    low, up = buckets(A, B, count=1_000, factor=1.01).compose(runs).delta(epsilon)
    exactly = exact_delta([Fraction(x) for x in A], [Fraction(x) for x in B], runs, epsilon)
    assert float(exactly[0]) == pytest.approx(value, abs=1e-8)
    assert low <= exactly[1]
    assert up >= exactly[0]
    assert value - low <= within
    assert up - value <= within


def random_pair(rng: random.Random) -> tuple[list[Fraction], list[Fraction]]:
    """Up to 6 atoms of small integer weights, some impossible in one world, some very rare."""
    while True:
        atoms = rng.randint(1, 6)
        p, q = ([rng.choice((0, 1, 1, 2, 3, 5, 8, 1000)) for _ in range(atoms)] for _ in range(2))
        if sum(p) and sum(q):
            return [Fraction(x, sum(p)) for x in p], [Fraction(x, sum(q)) for x in q]


@pytest.mark.parametrize(("count", "factor"), [(4_000, None), (1_000, 1.01), (40, None), (16, 1.3)])
def test_the_exact_value_lies_between(count: int, factor: float | None) -> None:
    """With many buckets the factor stays, with few it is squared again and again, and mass lies beyond the last."""
    rng, squared = random.Random(7), 0
    for _ in range(PAIRS // 4):
        p, q = random_pair(rng)
        one, runs = buckets(p, q, count=count, factor=factor), rng.randint(1, 8)
        for epsilon in (0.0, 0.1, 1.0, rng.uniform(0, 8)):
            low, up = one.compose(runs).delta(epsilon)
            least, most = exact_delta(p, q, runs, epsilon)
            assert low <= most, (p, q, runs, epsilon)
            assert up >= least, (p, q, runs, epsilon)
    assert squared == 0
