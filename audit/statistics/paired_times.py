"""Tests of timings, one pure function for each. Each docstring states whether timings may depend on each other.

Arguments: nanoseconds (int64) and is_in (bool), each of shape (measurements,), in the order of the measurements.
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
EXACT_SIGNS = 1_000  # for more signs the normal approximation errs by less than one sign
ERROR = 0.05  # largest probability that an attacker sees a difference where there is none, or misses one

Nanoseconds = NDArray[np.int64]
IsIn = NDArray[np.bool_]


def signs(nanoseconds: Nanoseconds, is_in: IsIn) -> tuple[int, int, int]:
    """Return three counts of successive pairs: with `in` slower, without a tie, and of different worlds."""
    even = len(is_in) // 2 * 2
    first, second = nanoseconds[:even].reshape(-1, 2).T
    in_first, in_second = is_in[:even].reshape(-1, 2).T
    differing = in_first != in_second
    excess = np.where(in_first, first - second, second - first)[differing]
    return int((excess > 0).sum()), int((excess != 0).sum()), int(differing.sum())


def sign_test(slower: int, untied: int) -> float:
    """Return the exact two-sided p-value of the sign test."""
    from scipy.special import bdtr  # scipy.stats takes half a second to import

    return min(1.0, 2 * float(bdtr(min(slower, untied - slower), untied, 0.5))) if untied else 1.0


def needed(slower: int, untied: int, pairs: int) -> Interval:
    """Return the number of measurements that show an attacker the difference, as bounds at 95 %.

    The attacker measures both worlds in turn and uses a sign test that errs with probability at most `ERROR` in either
    direction. The bounds are those for the ends of the interval of the share of signs. They are ∞ if the interval
    contains 1/2: the measurements then do not show that the worlds differ.
    """
    if not untied:
        return math.inf, math.inf
    low, high = binomial.clopper_pearson(slower, untied, (1 - CONFIDENCE) / 2)
    nearest = 0.5 if low <= 0.5 <= high else min(low, high, key=lambda share: abs(share - 0.5))
    farthest = max(low, high, key=lambda share: abs(share - 0.5))
    each = 2 * pairs / untied  # measurements for a pair that is no tie
    return math.floor(each * signs_needed(farthest)), each * signs_needed(nearest)


def signs_needed(share: float) -> float:
    """Return the number of signs at which a sign test of level `ERROR` misses this share with at most that probability.

    n = ((z₁/2 + z₂·√(q(1−q)))/(q − 1/2))², with normal quantiles z₁ at 1 − ERROR/2 and z₂ at 1 − ERROR.
    Small numbers are exact. The test is two-sided.
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

    least = int((bdtr(np.arange(signs), signs, 0.5) <= level / 2).sum())  # the test rejects fewer signs of one side
    return float(bdtr(signs - least, signs, share) - (bdtr(least - 1, signs, share) if least else 0))


def welch(nanoseconds: Nanoseconds, is_in: IsIn) -> tuple[float, float]:
    """Return the t of largest size, and its p-value times the number of tests (at most 1). Assumes independent timings.

    The tests compare the means of all measurements, the means below each quantile of `CROPS`, where noise is
    less, and the means of the squared distances from the world's mean, which show a difference in spread.
    """
    from scipy.special import stdtr

    values = nanoseconds.astype(np.float64)
    means = np.where(is_in, values[is_in].mean(), values[~is_in].mean())
    tests = [(values, is_in), ((values - means) ** 2, is_in)]
    for limit in np.quantile(values, CROPS):
        below = values <= limit
        tests.append((values[below], is_in[below]))
    statistics = [welch_t(one[of_in], one[~of_in]) for one, of_in in tests]
    p, _, t = min((2 * float(stdtr(freedom, -abs(t))), -abs(t), t) for t, freedom in statistics)
    return t, min(1.0, len(statistics) * p)


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

    Percentiles over resamples of blocks of successive measurements, where the end is joined to the beginning. Timings
    may depend on each other over less than a block. Source: Künsch 1989; Politis, Romano 1992 (circular blocks).
    """
    count = len(is_in)
    length = block_length(count)
    random = np.random.default_rng(seed)
    resampled = np.empty((RESAMPLES, 2))
    for resample in resampled:
        starts = random.integers(count, size=-(-count // length))
        chosen = ((starts[:, np.newaxis] + np.arange(length)) % count).ravel()[:count]
        resample[:] = medians(nanoseconds[chosen], is_in[chosen])
    tails = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    ticks = np.maximum(resampled, 1)  # no ratio of times that the clock measures as 0
    spread = np.column_stack([resampled[:, 0] - resampled[:, 1], ticks[:, 0] / ticks[:, 1]])
    low, high = np.quantile(spread, tails, axis=0).tolist()
    return (low[0], high[0]), (low[1], high[1])


def block_length(count: int) -> int:
    """Return √n, rounded up: both the size and the number of blocks grow with the series."""
    return math.ceil(math.sqrt(count))


def medians(nanoseconds: Nanoseconds, is_in: IsIn) -> tuple[float, float]:
    """Return the median of each world: in, out."""
    return float(np.median(nanoseconds[is_in])), float(np.median(nanoseconds[~is_in]))
