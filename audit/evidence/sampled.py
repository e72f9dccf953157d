"""Evidence from runs, with confidence. The event is fixed before the runs that decide the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.evidence import exact
from subnormal.audit.evidence.batches import Counts
from subnormal.audit.model import Fit, KolmogorovSmirnov, Pair, SampledEvidence, Sketch, Verdict
from subnormal.audit.statistics import binomial, curve_band
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import Law, block_ends, integers
from subnormal.mechanisms.core.mechanism import AnyMechanism, Refused
from subnormal.mechanisms.privacy import Claim

CURVE_POINTS = 33  # of the chart of δ(ε)
BINS = 4096  # at most; binning is post-processing, so distances over bins stay sound lower bounds
MANY = 1 << 23  # atoms; from here on an even part of them fixes the bins
PART = 1 << 20  # atoms of that part, and whose statistic is computed at a time
PILOT = 4096  # largest number of runs that fix the bins where there is no law
PILOT_SHARE = 1 / 8  # largest share of the requested runs for the pilot
REFUSALS = 100  # runs of each world; a pilot of at least so many that all raise is an error

Laws = tuple[Law[Any], Law[Any]]


def sketch(
    mechanism: AnyMechanism,
    attack: AnyAttack,
    worlds: tuple[Any, Any],
    claim: Claim,
    laws: Laws | None,
    seed: int,
    runs: int,
) -> Sketch:
    """Return the data of a row's charts before its runs are counted: the bins (see `bin_edges`), and the laws' masses.

    Raises as `bin_edges` does.
    """
    edges, axis = bin_edges(mechanism, attack, worlds, laws, seed, runs), attack.axis or attack.channel or "outcome"
    if laws is None:
        return Sketch(edges, None, None, None, axis)
    masses, points = (bin_masses(laws[0], attack, edges), bin_masses(laws[1], attack, edges)), _epsilons(claim)
    return Sketch(edges, None, masses, (points, exact.curve(*laws, points.tolist())[0]), axis)


def law_masses(attack: AnyAttack, laws: Laws) -> Pair:
    """Return the masses of two laws in the order of the attack's statistic, over the bins of `bin_edges`."""
    edges = _edges([attack.statistic(_part(law.atoms)) for law in _distinct(laws)])
    return bin_masses(laws[0], attack, edges), bin_masses(laws[1], attack, edges)


def add_counts(sketch: Sketch, counts: tuple[Counts, Counts], claim: Claim, alpha: float) -> Sketch:
    """Return the sketch with the counts and their confidence band of the curve."""
    shares = counts[0].bins / counts[0].runs, counts[1].bins / counts[1].runs
    points = _epsilons(claim).tolist()
    band = curve_band.chart_band((counts[0].bins, counts[1].bins), points, alpha, sketch.law)
    return replace(sketch, sampled=shares, band=band)


def _epsilons(claim: Claim) -> NDArray[np.float64]:
    """Return the ε at which the curve δ(ε) is computed, shape (CURVE_POINTS,)."""
    return np.linspace(0, 2 * claim.epsilon or 1.0, CURVE_POINTS)


def pilot(runs: int) -> int:
    """Return the number of requested runs that only fix the bins, at least one."""
    return max(1, min(PILOT, int(PILOT_SHARE * runs)))


def bin_edges(
    mechanism: AnyMechanism, attack: AnyAttack, worlds: tuple[Any, Any], laws: Laws | None, seed: int, runs: int
) -> NDArray[np.float64]:
    """Return the largest value of each bin of the attack's statistic, ascending, at most `BINS` of them.

    The last bin also holds all larger values. The bins follow from the atoms of the laws; without laws, from pilot runs
    of each world, which judge nothing (see `pilot`). Raises ValueError if all of at least `REFUSALS` pilot runs raised.
    """
    if laws is None:
        drawn = []
        for world, data in zip(("pilot-in", "pilot-out"), worlds, strict=True):
            bits = seeded_bits(seed, attack.name, mechanism.name, world)
            drawn.append(mechanism.sample(data, attack.parameters, bits, runs))
        if runs >= REFUSALS and all(isinstance(one, Refused) for outcomes in drawn for one in outcomes):
            raise ValueError(f"all of the first {runs:,} runs of both worlds raised, the last {drawn[1][-1].error!r}")
        values = [attack.statistic(outcomes) for outcomes in drawn]
    else:
        values = [attack.statistic(_part(law.atoms)) for law in _distinct(laws)]
    return _edges(values)


def _edges(values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    distinct = np.sort(np.concatenate(values), kind="stable")
    distinct = distinct[block_ends(distinct) - 1]
    if len(distinct) > BINS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, BINS + 1).round().astype(np.int64)[1:]]
    return distinct


def _part(atoms: Sequence[Any]) -> Sequence[Any]:
    return atoms if len(atoms) < MANY else atoms[:: len(atoms) // PART]


def _distinct(laws: Laws) -> Sequence[Law[Any]]:
    both_ranges = isinstance(laws[0].atoms, range) and isinstance(laws[1].atoms, range)
    return laws[:1] if both_ranges and laws[0].atoms == laws[1].atoms else laws


def bin_masses(law: Law[Any], attack: AnyAttack, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the law's mass in each bin as floats, for tests of fit and for charts only, shape (bins,)."""
    low, edges = integers(law.low), np.append(edges[:-1], np.inf)
    positions = _positions(law, attack, edges) if low.dtype == np.int64 and law.denominator < 1 << 62 else None
    if positions is not None:
        return np.diff(_mass_before(law, positions), prepend=0) / law.denominator
    values = attack.statistic(law.atoms)
    bins = np.minimum(np.searchsorted(edges, values), len(edges) - 1)  # a NaN falls into the last
    shares = low / law.denominator if low.dtype == np.int64 else np.array([mass / law.denominator for mass in law.low])
    return np.bincount(bins, weights=np.repeat(shares, law.counts()), minlength=len(edges)).astype(np.float64)


def _positions(law: Law[Any], attack: AnyAttack, edges: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return how many atoms lie at or below each edge, shape (edges,); None if the statistic decreases or is NaN."""
    positions, last = np.zeros(len(edges), dtype=np.int64), -np.inf
    for start in range(0, len(law.atoms), PART):
        values = attack.statistic(law.atoms[start : start + PART])
        if not (last <= values[0] and (values[1:] >= values[:-1]).all()):
            return None
        positions += np.searchsorted(values, edges, side="right")
        last = values[-1]
    return positions


def _mass_before(law: Law[Any], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the mass of the atoms before each position, over the denominator, shape (positions,). Exact."""
    low, counts = integers(law.low), law.counts()
    ends = np.append(0, np.cumsum(counts))
    masses = np.append(0, np.cumsum(counts * low))
    block = np.searchsorted(ends, positions, side="right") - 1
    inside: NDArray[np.int64] = masses[block] + (positions - ends[block]) * np.append(low, 0)[block]
    return inside


def judge(
    counts: tuple[Counts, Counts],
    claim: Claim,
    alpha: float,
    masses: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    seed: int,
) -> SampledEvidence:
    """Return the evidence of counts against a claim, at confidence 1 − α, shared as `binomial.parts` says.

    VIOLATED: the event, or its complement, is more likely in one world than the claim allows, by Clopper-Pearson bounds
    with a quarter of the event's α in each tail; or the Kolmogorov-Smirnov distance over the bins, less its margin,
    exceeds the largest advantage that the claim allows. The bins must be fixed before the counts.
    UNDERPOWERED: the runs are too few to show a violation. Otherwise NOT REFUTED.
    Raises ValueError for an α that is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    runs = counts[0].runs
    of_event, of_distance = binomial.parts(alpha, len(counts[0].bins))
    event_in, event_out = (binomial.clopper_pearson(world.event, runs, of_event / 4) for world in counts)
    by_event = binomial.epsilon_lower(event_in, event_out, claim.delta)
    apart = binomial.ks_distance(counts[0].bins / runs, counts[1].bins / runs)
    margin = binomial.dkw_margin(runs, of_distance) if of_distance else 0.0
    convicted_by: Literal["event", "distance"] | None = None
    if by_event > claim.epsilon:
        verdict, convicted_by = Verdict.VIOLATED, "event"
    elif apart - margin > claim.advantage_allowed:
        verdict, convicted_by = Verdict.VIOLATED, "distance"
    elif binomial.underpowered(runs, of_event, claim.epsilon, claim.delta):
        verdict = Verdict.UNDERPOWERED
    else:
        verdict = Verdict.NOT_REFUTED
    gap = max(event_in[0] - event_out[1], event_out[0] - event_in[1], 0.0)
    reach = max(event_in[1] - event_out[0], event_out[1] - event_in[0])
    fit = None
    if masses is not None:
        fit_in, p_in = binomial.monte_carlo_fit(counts[0].bins, masses[0], seed)
        fit_out, p_out = binomial.monte_carlo_fit(counts[1].bins, masses[1], seed + 1)
        fit = Fit(fit_in, p_in, fit_out, p_out)
    return SampledEvidence(
        verdict=verdict,
        runs=runs,
        confidence=1 - alpha,
        epsilon_lower=max(by_event, claim.budget_of(apart - margin)),
        event_in=event_in,
        event_out=event_out,
        advantage=(gap, reach),
        ks=KolmogorovSmirnov(apart, claim.advantage_allowed, margin),
        fit=fit,
        convicted_by=convicted_by,
    )


def row_seed(seed: int, attack: AnyAttack, mechanism: AnyMechanism) -> int:
    """Return the seed of a row's Monte Carlo tests. It does not depend on the other rows of the report."""
    return seeded_bits(seed, attack.name, mechanism.name, "fit").take(63)
