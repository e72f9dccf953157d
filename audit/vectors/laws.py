"""The probabilities that the published samplers have, in intervals, and the counts of draws that they allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from subnormal.audit.vectors.algorithms import power_at_least
from subnormal.mechanisms.numerics.interval import Interval, divergence, exp, hull, interval, log
from subnormal.mechanisms.samplers.discrete_gaussian import bell, bell_tail, gaussian_reach, normaliser

ALPHA = 1e-12  # the chance, at most, that a count of a sound sampler lies outside its range
BITS = 160  # of sums of weights
LOGARITHM = 1e-12  # what rounding adds to snapping's noise over its scale: some hundred units of 2^−53

Chance = Interval | Fraction
Tail = Callable[[float], Chance]  # the probability of an outcome ≥ a


def bernoulli_exp(gamma: Fraction) -> Tail:
    """Return the law of a trial of probability e^−gamma."""
    one = exp(-interval(gamma))
    return _of_atoms([1 - one, one])


def randomized_response(categories: int, truth: int, probability: Fraction) -> Tail:
    """Return the law of randomized response, whose lies are alike."""
    lie = (1 - probability) / (categories - 1)
    return _of_atoms([probability if one == truth else lie for one in range(categories)])


def exponential_base2(utilities: Sequence[int], x: int, y: int, z: int, precision: int) -> Tail:
    """Return the law of selection with weights (x/2^y)^(z·u)."""
    weights = [Fraction(x, 1 << y) ** (z * (utility - min(utilities))) for utility in utilities]
    return _of_atoms([weight / sum(weights) for weight in weights])


def permute_and_flip(scores: Sequence[int], rate: Fraction) -> Tail:
    """Return the law: each of the coins that are heads is as likely, because the order does not depend on them."""
    heads = [exp(-interval(rate * (max(scores) - score))) for score in scores]
    shares = [interval(0)] * len(scores)
    for shown in product((False, True), repeat=len(scores)):
        chance = prod((p if up else 1 - p for p, up in zip(heads, shown, strict=True)), start=interval(1))
        shares = [share + chance / sum(shown) if up else share for share, up in zip(shares, shown, strict=True)]
    return _of_atoms(shares)


def discrete_laplace(scale: Fraction) -> Tail:
    """Return the law P(z) = (1 − q)/(1 + q)·q^|z| with q = e^(−1/scale)."""
    normal = 1 + exp(-interval(1 / scale))
    return _symmetric(lambda least: exp(-interval(least / scale)) / normal)


def discrete_gaussian(variance: Fraction) -> Tail:
    """Return the law P(z) ∝ e^(−z²/(2·variance))."""
    whole, last = normaliser(variance, BITS), gaussian_reach(variance, BITS)
    weights = [bell(variance, z, BITS) for z in range(last + 1)]
    rest = bell_tail(variance, last, weights[-1][1])

    def tail(least: int) -> Interval:
        low, high = (sum(weight[end] for weight in weights[least:]) for end in (0, 1))
        return hull(Fraction(low, whole[1]), Fraction(high + rest, whole[0]))

    return _symmetric(tail)


def snapping(value: float, scale: float, bound: float) -> Tail:
    """Return the law for multiples of the step above −bound and up to it: Laplace noise, and what rounding adds."""
    centre = Fraction(max(-bound, min(bound, value)))

    def at_least(least: float) -> Interval:
        distance = (Fraction(least) - Fraction(power_at_least(scale)) / 2 - centre) / Fraction(scale)
        tail = exp(hull(-LOGARITHM, LOGARITHM) - abs(distance)) / 2
        return tail if distance >= 0 else 1 - tail

    return at_least


def _of_atoms(chances: Sequence[Chance]) -> Tail:
    return lambda least: sum(chances[int(least) + 1 :], start=chances[int(least)])


def _symmetric(tail: Callable[[int], Interval]) -> Tail:
    return lambda least: tail(int(least)) if least > 0 else 1 - tail(1 - int(least))


def clipped(probability: Chance) -> tuple[float, float]:
    """Return the bounds of a probability as floats, between 0 and 1."""
    low, high = interval(probability).floats()
    return max(0.0, low), min(1.0, high)


def count_range(probability: Chance, draws: int) -> tuple[int, int]:
    """Return the least and the most draws of an event of this probability that `ALPHA` allows.

    Chernoff's bound: a share of s or farther from p has a probability of at most e^(−draws·KL(s, p)) on each side.
    """
    high, missed = (clipped(one)[1] for one in (probability, 1 - probability))
    return draws - _farthest(missed, draws), _farthest(high, draws)


def _farthest(probability: float, draws: int) -> int:
    """Return the largest count that is not excluded above this probability."""
    allowed, excluded = int(probability * draws), draws + 1
    while excluded - allowed > 1:
        middle = (allowed + excluded) // 2
        if (draws * divergence(Fraction(middle, draws), probability) + log(ALPHA / 2)).low >= 0:
            excluded = middle
        else:
            allowed = middle
    return allowed
