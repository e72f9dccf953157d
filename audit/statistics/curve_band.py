"""A confidence band for the whole curve δ(ε) from sampled runs, valid for all ε at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.model import CurveEvidence, Pair
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.privacy import Claim

GROUPS = 64  # of bins, for the band of a chart: its margin grows with their number


def band(bins: tuple[NDArray[np.int64], NDArray[np.int64]], epsilons: Sequence[float], alpha: float) -> CurveEvidence:
    """Return a confidence band for the curve δ(ε) of both directions, from counts over bins fixed in advance.

    If the bins are in the order of their likelihood ratios, half-lines attain δ(ε).
    lower: P(S) − e^ε·Q(S) over the half-lines S and their complements, by Clopper-Pearson bounds that hold together
    (tails of α/2 are shared by the four bounds of each half-line, for all ε).
    upper: the observed curve, plus t·(1 + e^ε) where by Hoeffding's inequality over all 2^bins events no share
    differs from its probability by more than t (the other half of α).
    Raises ValueError for an α not between 0 and 1, no runs, different numbers of runs or bins in the worlds, or
    a negative ε.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    runs, points = int(bins[0].sum()), np.asarray(epsilons, dtype=np.float64)
    if runs != bins[1].sum() or len(bins[0]) != len(bins[1]):
        raise ValueError(f"as many runs and bins in each world, got {runs} and {bins[1].sum()} runs")
    if runs < 1:
        raise ValueError("runs must be at least 1, got 0")
    if len(points) == 0 or not (np.isfinite(points) & (points >= 0)).all():
        raise ValueError(f"epsilons must be finite and not negative, got {epsilons}")
    with np.errstate(over="ignore"):
        ratios = np.exp(points) * (1 + 1e-15)  # rounded up, so that no sound claim is accused
    lower, observed = _shown(bins, runs, ratios, alpha / 2), _observed(bins, runs, ratios)
    # 2^bins events and two worlds; one side is enough, because the complement of an event is an event
    margin = np.sqrt((len(bins[0]) * np.log(2) + np.log(4 / alpha)) / (2 * runs))
    return CurveEvidence(
        runs=runs,
        confidence=1 - alpha,
        epsilons=points,
        lower=lower,
        observed=observed,
        upper=np.minimum(1.0, observed + margin * (1 + ratios)),
    )


def chart_band(
    bins: tuple[NDArray[np.int64], NDArray[np.int64]], epsilons: Sequence[float], alpha: float, law: Pair | None
) -> CurveEvidence:
    """Return the band over `groups` of the bins: a few milliseconds, and sound, because merging is post-processing."""
    merged = groups(len(bins[0]), law)
    first, second = (np.bincount(merged, weights=world).astype(np.int64) for world in bins)
    return band((first, second), epsilons, alpha)


def groups(bins: int, law: Pair | None) -> NDArray[np.int64]:
    """Return the group of each bin, of `GROUPS` groups, shape (bins,). Groups are fixed before any run that judges.

    With the law's masses (in, out), bins of equal likelihood ratio form a group, groups are in ascending order of the
    ratio, and bins that only one world reaches stay separate. Too many ratios are merged to groups of equal mass.
    Without a law the groups follow the order of the bins.
    """
    if law is None:
        return np.arange(bins) * GROUPS // max(bins, GROUPS)
    possible = law[0] + law[1] > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(possible, np.log(law[0]) - np.log(law[1]), 0.0)
    distinct, ranks = np.unique(np.round(ratios, 9), return_inverse=True)
    if len(distinct) <= GROUPS:
        return ranks.astype(np.int64)
    masses = np.bincount(ranks, weights=law[0] + law[1])
    parts = 1 + ((np.cumsum(masses) - masses / 2) / masses.sum() * (GROUPS - 2)).astype(np.int64)
    parts[np.isneginf(distinct)], parts[np.isposinf(distinct)] = 0, GROUPS - 1
    return np.unique(parts[ranks], return_inverse=True)[1].astype(np.int64)


def promised(claim: Claim, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the δ(ε) that a claim allows, shape (epsilons,)."""
    return np.array([claim.implied_delta(epsilon) for epsilon in epsilons.tolist()])


def _shown(
    bins: tuple[NDArray[np.int64], NDArray[np.int64]], runs: int, ratios: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """Return the largest P(S) − e^ε·Q(S) that simultaneous bounds prove, over half-lines and complements."""
    until = [np.cumsum(world)[:-1] for world in bins]
    shown = np.zeros(len(ratios))
    if len(until[0]) == 0:
        return shown
    tail = alpha / (4 * len(until[0]))
    (low_in, high_in), (low_out, high_out) = (binomial.clopper_pearson_all(world, runs, tail) for world in until)
    pairs = ((low_in, high_out), (low_out, high_in), (1 - high_in, 1 - low_out), (1 - high_out, 1 - low_in))
    for gain, cost in pairs:
        with np.errstate(invalid="ignore"):  # ∞·0
            proved = np.nan_to_num(gain - np.multiply.outer(ratios, cost), nan=-1.0)
        np.maximum(shown, proved.max(axis=1), out=shown)
    return shown


def _observed(
    bins: tuple[NDArray[np.int64], NDArray[np.int64]], runs: int, ratios: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Σ(p − e^ε·q)₊ over the bins, the larger of the two directions."""
    first, second = bins[0] / runs, bins[1] / runs
    with np.errstate(invalid="ignore"):
        directions = [
            np.nan_to_num(np.maximum(0.0, one - np.multiply.outer(ratios, other)), nan=0.0).sum(axis=1)
            for one, other in ((first, second), (second, first))
        ]
    observed: NDArray[np.float64] = np.max(directions, axis=0)
    return observed
