"""Tests of timings, one pure function each. Each docstring states if timings may depend on each other.

Everywhere: nanoseconds, int64, and is_in, bool, each of shape (measurements,), in the order in which they were made.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.model import Interval
from subnormal.audit.statistics import binomial

CROPS = tuple(1 - 2.0**-power for power in range(1, 11))  # every tenth of dudect's percentiles
RESAMPLES = 399  # of the bootstrap
CONFIDENCE = 0.95  # of the bootstrap's intervals, and of the interval behind `needed`
EXACT_SIGNS = 1_000  # beyond, the normal approximation errs by less than a step
ERROR = 0.05  # an attacker's, at the most: to see a difference where there is none, or to miss it

Nanoseconds = NDArray[np.int64]
IsIn = NDArray[np.bool_]


def signs(nanoseconds: Nanoseconds, is_in: IsIn) -> tuple[int, int, int]:
    """Return how many pairs of measurements in a row have `in` slower, are no tie, and have different worlds."""
    even = len(is_in) // 2 * 2
    first, second = nanoseconds[:even].reshape(-1, 2).T
    in_first, in_second = is_in[:even].reshape(-1, 2).T
    differing = in_first != in_second
    excess = np.where(in_first, first - second, second - first)[differing]
    return int((excess > 0).sum()), int((excess != 0).sum()), int(differing.sum())


def sign_test(slower: int, untied: int) -> float:
    """Return the exact two-sided p-value of so many signs among fair ones."""
    from scipy.stats import binomtest

    return float(binomtest(slower, untied).pvalue) if untied else 1.0


def needed(slower: int, untied: int, pairs: int) -> Interval:
    """Return how many measurements show an attacker the difference, one of each world in turn: bounds at 95 %.

    By a sign test that errs with probability at most `ERROR` in either direction, for the ends of the interval of the
    share of signs. ∞ where the interval holds 1/2: then the measurements taken do not say that it can be seen at all.
    """
    if not untied:
        return math.inf, math.inf
    low, high = binomial.clopper_pearson(slower, untied, (1 - CONFIDENCE) / 2)
    nearest = 0.5 if low <= 0.5 <= high else min(low, high, key=lambda share: abs(share - 0.5))
    farthest = max(low, high, key=lambda share: abs(share - 0.5))
    each = 2 * pairs / untied  # measurements for a pair that is no tie
    return math.floor(each * signs_needed(farthest)), each * signs_needed(nearest)


def signs_needed(share: float) -> float:
    """Return how many signs a two-sided sign test of level `ERROR` needs to miss this share with probability `ERROR`.

    n = ((z₁/2 + z₂·√(q(1−q)))/(q − 1/2))², z₁ and z₂ normal quantiles at 1 − ERROR/2 and 1 − ERROR; few signs exactly.
    """
    from scipy.special import ndtri

    if share == 0.5:
        return math.inf
    spread = -ndtri(ERROR / 2) / 2 - ndtri(ERROR) * math.sqrt(share * (1 - share))
    signs = math.ceil((spread / (share - 0.5)) ** 2)
    while signs < EXACT_SIGNS and _missed(signs, share, ERROR) > ERROR:
        signs += 1
    return float(signs)


def _missed(signs: int, share: float, level: float) -> float:
    """Return the probability that a sign test of that level does not reject."""
    from scipy.special import bdtr

    kept = int((bdtr(np.arange(signs), signs, 0.5) <= level / 2).sum())  # it rejects fewer signs of one side than that
    return float(bdtr(signs - kept, signs, share) - (bdtr(kept - 1, signs, share) if kept else 0))


def welch(nanoseconds: Nanoseconds, is_in: IsIn) -> tuple[float, float]:
    """Return the t of largest size, and its p-value times the number of tests (at most 1), taken for independent.

    First order on all measurements and on those below each of `CROPS` of them, where noise from above is less; second
    order, which sees a difference in spread, on squared distances from the world's mean.
    """
    from scipy.special import stdtr

    values = nanoseconds.astype(np.float64)
    means = np.where(is_in, values[is_in].mean(), values[~is_in].mean())
    tests = [(values, is_in), ((values - means) ** 2, is_in)]
    for limit in np.quantile(values, CROPS):
        kept = values <= limit
        tests.append((values[kept], is_in[kept]))
    found = [welch_t(one[of_in], one[~of_in]) for one, of_in in tests]
    p, _, t = min((2 * float(stdtr(freedom, -abs(t))), -abs(t), t) for t, freedom in found)
    return t, min(1.0, len(found) * p)


def welch_t(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Return Welch's t of two samples, and its degrees of freedom; 0 and 1 where they cannot be compared.

    Not scipy's ttest_ind, which warns of constant samples: clocks have ticks.
    """
    if min(len(first), len(second)) < 2:
        return 0.0, 1.0
    error, other = first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)
    if error + other == 0:
        return (0.0 if first[0] == second[0] else math.copysign(math.inf, first[0] - second[0])), 1.0
    freedom = (error + other) ** 2 / (error**2 / (len(first) - 1) + other**2 / (len(second) - 1))
    return float((first.mean() - second.mean()) / math.sqrt(error + other)), float(freedom)


def bootstrap(nanoseconds: Nanoseconds, is_in: IsIn, seed: int) -> tuple[Interval, Interval]:
    """Return intervals of the difference (in − out, nanoseconds) and the ratio (in/out) of medians, at `CONFIDENCE`.

    Percentiles over resamples of blocks of measurements in a row, from anywhere, the end joined to the beginning: so
    dependence over shorter stretches is kept. Source: Künsch 1989; Politis, Romano 1992 (circular blocks).
    """
    count = len(is_in)
    length = block_length(count)
    random = np.random.default_rng(seed)
    found = np.empty((RESAMPLES, 2))
    for resample in found:
        starts = random.integers(count, size=-(-count // length))
        chosen = ((starts[:, np.newaxis] + np.arange(length)) % count).ravel()[:count]
        resample[:] = medians(nanoseconds[chosen], is_in[chosen])
    tails = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    ticks = np.maximum(found, 1)  # no ratio of times that the clock cannot tell from 0
    spread = np.column_stack([found[:, 0] - found[:, 1], ticks[:, 0] / ticks[:, 1]])
    low, high = np.quantile(spread, tails, axis=0).tolist()
    return (low[0], high[0]), (low[1], high[1])


def block_length(count: int) -> int:
    """Return √n, rounded up: blocks grow with the series, and so does their number."""
    return math.ceil(math.sqrt(count))


def medians(nanoseconds: Nanoseconds, is_in: IsIn) -> tuple[float, float]:
    """Return the median of each world: in, out."""
    return float(np.median(nanoseconds[is_in])), float(np.median(nanoseconds[~is_in]))
