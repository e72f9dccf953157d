"""A lower bound on ε from one training run that includes each of many canaries by the toss of a fair coin.

Let M be (ε, δ)-DP when one canary is included or left out, and m canaries be included by independent fair coins. From
the output alone exactly r canaries are guessed, each to be in or to be out; W guesses are correct. Let p_w = P(W = w),
q = e^ε/(1 + e^ε), b for the probabilities of a binomial variable B of r tries with q, f(v) = P(B ≥ v).

For a set A of counts and a canary i, let the event be "i is guessed to be in, and of the other guesses a number in A is
correct". It is an event of the output and of the other coins, which are independent of coin i. So its probability where
i is in is at most e^ε times that where i is out, plus δ; and the same with in and out exchanged. Summed over the m
canaries, with A the counts at which the term is positive:

    Σ_w (w·p_w − e^ε·(r − w + 1)·p_{w−1})₊ ≤ D, with D = m·δ, or m·δ/2 where all guesses are "in".

The binomial law satisfies w·b_w = e^ε·(r − w + 1)·b_{w−1}. With p = b·h it says Σ w·b_w·(h_w − h_{w−1})₊ ≤ D. Under it
P(W ≥ v) is largest where h has one step up, at v: F(v−1)/(v·b_v) and v·b_v/f(v) grow with v, as b is log-concave. So

    P(W ≥ v) ≤ f(v) + D·f(v)·(1 − f(v))/(v·b_v).

At δ = 0 this is the bound of Steinke, Nasr, Jagielski 2023, "Privacy auditing with one (1) training run", Theorem 5.2.
At δ > 0 it is sharper than theirs where it is small, and the least bound there is: for few canaries a linear program
over all mechanisms attains it. The constraint is that of Mahloujifar, Melis, Chaudhuri 2024, "Auditing f-differential
privacy in one run", with all sets of counts in place of the half-lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST = 8  # guesses of one side, of the smallest test
SHRINK = 1.6  # factor between the sizes of the tests
ROUNDING = 1e-9  # relative error of a p-value
HALVINGS = 40  # of the interval around ε
SHUFFLE = 1  # a seed
TINY = 1e-250  # below which a tail is not divided by a probability


@dataclass(frozen=True, slots=True)
class OneRun:
    """What one training run shows: with probability `confidence`, it is not (ε, delta)-DP for any ε < epsilon_lower.

    Of the test that shows most: guesses, and how many are correct. canaries: all of them. tests: how many shared 1 −
    confidence.
    """

    epsilon_lower: float
    delta: float
    confidence: float
    guesses: int
    correct: int
    canaries: int
    tests: int


@dataclass(frozen=True, slots=True)
class _Test:
    """So many guesses, of which some are correct. leaked: D, the sum of the δ of all canaries that may be guessed."""

    guesses: int
    correct: int
    leaked: float


def audit_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    *,
    delta: float = 0.0,
    alpha: float = 0.05,
    guesses: int | None = None,
) -> OneRun:
    """Return a lower bound on the ε of a training run, from the scores of canaries, some of which it included.

    What must hold: each canary was included by a fair coin of its own, independent of all others and of everything
    else; a score depends on the output of training and on the canary, but on no coin. Scores may depend on each other
    in any way. Then the bound is false with probability alpha at most, for every mechanism: it exceeds the least ε at
    which training is (ε, delta)-DP. Neighbours are datasets with one canary more or less; or with the canary and what
    took its place, if something did.

    The canaries with the highest scores are guessed to be in, and also those with the lowest to be out. This is tried
    for several numbers of guesses, fixed by the number of canaries, which share alpha equally.

    Args:
        scores: of the canaries, shape (canaries,). A higher score says "included". They are in an order that no coin
            decides, such as that of the data: it is used where scores are equal, so included ones must not come first.
        included: whether the coin included each of them, shape (canaries,).
        delta: the δ at which ε is bounded.
        alpha: largest probability that the bound is false, below 1/2.
        guesses: an even number of guesses, fixed before any score was seen, which then has all of alpha: half of them
            "in" for the highest scores, half "out" for the lowest. None: several numbers.

    Returns:
        The bound, 0.0 where nothing is shown.

    Raises:
        ValueError: a number is out of range, a score is NaN, the shapes differ, or there are fewer than two canaries.

    Source: Steinke, Nasr, Jagielski 2023; the bound at δ > 0 is derived above.

    >>> audit_one_run([0.3, 2.1] * 500, [False, True] * 500, delta=1e-5).guesses
    1000
    """
    ordered = _in_order(np.asarray(scores, dtype=np.float64), np.asarray(included, dtype=np.bool_))
    canaries = len(ordered)
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta}")
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha must be between 0 and 1/2, got {alpha}")
    if canaries < 2:
        raise ValueError(f"at least two canaries are needed, got {canaries}")
    if guesses is not None and not (2 <= guesses <= canaries and guesses % 2 == 0):
        raise ValueError(f"guesses must be even and from 2 to the {canaries} canaries, got {guesses}")
    each = list(_tests(ordered, delta, guesses))
    bounds = [least_epsilon(one.correct, one.guesses, one.leaked, alpha / len(each)) for one in each]
    best = int(np.argmax(bounds))
    return OneRun(bounds[best], delta, 1 - alpha, each[best].guesses, each[best].correct, canaries, len(each))


def _in_order(scores: NDArray[np.float64], included: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which canaries were included, by ascending score; equal scores in an order that is fixed beforehand."""
    if scores.ndim != 1 or scores.shape != included.shape:
        raise ValueError(f"scores and included must be (canaries,), got the shapes {scores.shape} and {included.shape}")
    if np.isnan(scores).any():
        raise ValueError(f"scores must be numbers, got NaN at {int(np.isnan(scores).argmax())}")
    shuffled = np.random.default_rng(SHUFFLE).permutation(len(scores))  # should they be sorted by inclusion after all
    ordered: NDArray[np.bool_] = included[shuffled[np.argsort(scores[shuffled], kind="stable")]]
    return ordered


def _tests(included: NDArray[np.bool_], delta: float, guesses: int | None) -> Iterator[_Test]:
    """Yield the tests. Their numbers of guesses depend on the number of canaries alone."""
    canaries = len(included)
    until = np.concatenate([[0], np.cumsum(included)])
    side = canaries // 2 if guesses is None else guesses // 2
    while True:
        top, bottom = int(until[-1] - until[canaries - side]), side - int(until[side])
        yield _Test(2 * side, top + bottom, canaries * delta)
        if guesses is not None:
            return
        yield _Test(side, top, canaries * delta / 2)
        side = int(side / SHRINK)
        if side < LEAST:
            return


def least_epsilon(correct: int, guesses: int, leaked: float, alpha: float) -> float:
    """Return the largest ε that so many correct guesses refute, and all below it; 0.0 where they refute none."""
    if p_value(correct, guesses, leaked, 0.0) > alpha:
        return 0.0
    low, high = 0.0, 1.0
    while p_value(correct, guesses, leaked, high) <= alpha:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(correct, guesses, leaked, middle) <= alpha else (low, middle)
    return low


def p_value(correct: int, guesses: int, leaked: float, epsilon: float) -> float:
    """Return the largest probability of at least so many correct guesses under (ε, δ)-DP, rounded up, or 1.

    leaked: D, which is δ times the number of canaries, and half of that where all guesses are "in". The result grows
    with ε, as it is the largest one over a set of laws that grows; where no more than the expected number is correct,
    it is taken as 1. Source: derived above.
    """
    from scipy.special import betainc, gammaln

    odds = math.exp(epsilon)
    if correct * (1 + odds) <= guesses * odds:
        return 1.0
    missed = guesses - correct
    share = odds / (1 + odds)
    tail = float(betainc(correct, missed + 1, share))
    over = missed * odds / (correct + 1)  # b_{v+1}/b_v, which bounds all later ratios: f(v)/b_v ≤ 1/(1 − over)
    heaviness = 1 / (1 - over) if over < 1 else math.inf
    if tail > TINY:
        ways = gammaln(guesses + 1) - gammaln(correct + 1) - gammaln(missed + 1)
        heaviness = min(heaviness, tail / math.exp(ways + correct * math.log(share) - missed * math.log1p(odds)))
    added = leaked * (1 - tail) * heaviness / correct if leaked else 0.0
    return min(1.0, (tail + added) * (1 + ROUNDING))
