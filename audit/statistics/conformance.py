"""An e-process against a stated distribution: events fixed beforehand, and how often each of them has occurred.

For one event of probability p, the likelihood of the counts under a mixture of all chances, with the density of
Jeffreys (the Beta distribution of 1/2 and 1/2), over their likelihood under p is a martingale if p is true: its mean is
1 at any time. Where p is known within bounds, the largest likelihood within them makes it smaller. The mean over all
events is an e-process too, so it reaches 1/α at some time with probability α at most (Ville's inequality).
Source: Krichevsky, Trofimov 1981; Robbins 1970; Ramdas, Grünwald, Vovk, Shafer 2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Chances = tuple[float, float]  # low ≤ probability ≤ high


def log_e_values(chances: Sequence[Chances], seen: Sequence[int], runs: int) -> list[float]:
    """Return ln of the wealth of each event that was seen so often in so many runs; ∞ where it cannot be seen."""
    return [_log_e_value(chance, count, runs) for chance, count in zip(chances, seen, strict=True)]


def log_mean(logs: Sequence[float]) -> float:
    """Return the logarithm of the mean wealth.

    >>> log_mean([0.0, 0.0]), log_mean([0.0, math.inf])
    (0.0, inf)
    """
    top = max(logs)
    if not math.isfinite(top):
        return top
    return top + math.log(sum(math.exp(one - top) for one in logs) / len(logs))


def _log_e_value(chance: Chances, count: int, runs: int) -> float:
    if not runs:
        return 0.0
    nearest = min(max(count / runs, chance[0]), chance[1])
    stated = _log_power(nearest, count) + _log_power(1 - nearest, runs - count)
    mixed = math.lgamma(count + 0.5) + math.lgamma(runs - count + 0.5) - math.lgamma(runs + 1) - math.log(math.pi)
    return mixed - stated


def _log_power(chance: float, count: int) -> float:
    """Return ln chance^count; 0^0 is 1."""
    if not count:
        return 0.0
    return count * math.log(chance) if chance > 0 else -math.inf
