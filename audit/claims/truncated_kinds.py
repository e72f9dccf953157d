"""Claims about truncated Poisson sampling: of a Poisson sample that is larger than a batch, a random part is taken.

A record is removed from `records` of them, or added such that there are so many. Let C be how many of the others are
sampled, B the batch:

- Where C < B, nothing is truncated: the record takes part with probability q, and its gradient of norm 1 is added.
- Where C ≥ B, it takes part with probability q·B/(C + 1), in place of another one, so that the sum moves by 2 at most.
  The mean of this probability is r = B/n·P(Bin(n, q) > B)/P(C ≥ B), for n records.

From above, C ≥ B is revealed, with B records of which one may be replaced: a mixture of two steps of DP-SGD. From
below, the others' gradients are all 0, or all opposite to that of the record.
Source: Ganesh 2025, "Tighter Privacy Analysis for Truncated Poisson Sampling", whose bound takes the pair of a replaced
record where C ≥ B.
"""

from __future__ import annotations

import math

import numpy as np

from subnormal.audit.claims import sampling_kinds
from subnormal.audit.claims.composed import composed
from subnormal.audit.claims.kind import DELTA, STEPS, Bounds, Kind, decades
from subnormal.audit.claims.noise_kinds import gaussian_epsilon, mu_of
from subnormal.mechanisms.composition import closed_forms
from subnormal.mechanisms.composition.closed_forms import Direction
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.fft_convolution import UNIT
from subnormal.mechanisms.composition.privacy_buckets import NEGLIGIBLE, ROUNDING, Masses, fill_buckets
from subnormal.mechanisms.numerics.interval import Interval, exp, interval, log, log1p, log_factorial

CELLS = 3_000  # of a sum of opposite gradients, about


def _at_least(least: int, of: int, chance: float) -> Interval:
    """Return P(Bin(of, chance) ≥ least), for a chance above 0: the sum of the smaller tail.

    Away from the mean the terms fall ever faster, so that a geometric series bounds those that are left out.
    """
    if least <= 0 or least > of or chance == 1:
        return interval(int(least <= of))
    upward = least > of * chance
    place, odds = (least if upward else least - 1), interval(chance) / (1 - interval(chance))
    term, total = _term(place, of, chance), interval(0)
    while 0 <= place <= of:
        total = total + term
        ratio = (of - place) * odds / (place + 1) if upward else place / odds / (of - place + 1)
        term, place = term * ratio, place + (1 if upward else -1)
        if ratio.high < 1 and term.high <= total.low * 2.0**-80:
            total = Interval(total.low, (total + term / (1 - ratio)).high)
            break
    return total if upward else 1 - total


def _term(place: int, of: int, chance: float) -> Interval:
    """Return P(Bin(of, chance) = place)."""
    if chance == 1:
        return interval(int(place == of))
    ways = log_factorial(of) - log_factorial(place) - log_factorial(of - place)
    return exp(ways + place * log(chance) + (of - place) * log1p(-interval(chance)))


def chances(sampling: float, batch: int, records: int) -> tuple[Interval, Interval]:
    """Return P(C ≥ B), and the probability that this is so and the record takes part."""
    return _at_least(batch, records - 1, sampling), batch * _at_least(batch + 1, records, sampling) / records


def _truncated(sigma: float, sampling: float, batch: int, records: int, steps: int, delta: float) -> Bounds:
    """Bounds of steps, in the larger of both directions.

    Upper bounds too are noise without sampling, and a truncated batch as one that reveals all.
    """
    cut, taken = chances(sampling, batch, records)
    share = ((1 - cut) * sampling + taken).floats()
    up = gaussian_epsilon(mu_of(sigma / (2 if cut.high > 0 else 1), steps), delta)[1]
    low = sampling_kinds.gaussian(sigma, max(0.0, share[0]), steps, delta)[0]
    if cut.high == 0:
        return low, min(up, sampling_kinds.gaussian(sigma, sampling, steps, delta)[1])
    spare = (delta - steps * cut).floats()[0]
    if spare > 0:
        up = min(up, sampling_kinds.gaussian(sigma, sampling, steps, spare)[1])
    if sigma / 2 < closed_forms.LEAST_SCALE:
        return low, up
    part = min(sampling, (taken / cut).floats()[1])
    both: tuple[Direction, Direction] = ("in", "out")

    def above(count: int) -> list[Composition]:
        return [_mixture(sigma, sampling, part, cut, way, count) for way in both]

    def below(count: int) -> list[Composition]:
        worlds = _opposite(sigma, sampling, batch, records, cut, taken)
        return [Composition(fill_buckets(one, other, count)) for one, other in (worlds, worlds[::-1])]

    up = min(up, composed(above, steps, delta)[1])
    return max(low, composed(below, steps, delta)[0]), up


def _mixture(sigma: float, whole: float, part: float, cut: Interval, way: Direction, count: int) -> Composition:
    """Return a step whose truncation is revealed; only its upper bounds hold."""
    weighted = ((1 - cut).floats()[1], 1, whole), (cut.floats()[1], 2, part)
    kept = [weight for weight, _, _ in weighted if weight > 0]
    steps = [
        closed_forms.subsampled_gaussian(sigma / moved, rate, way, count=count).one
        for weight, moved, rate in weighted
        if weight > 0
    ]
    a, b = [np.array([sum(weight * one.infinite for weight, one in zip(kept, steps, strict=True))])], [np.zeros(1)]
    for weight, one in zip(kept, steps, strict=True):
        a.append(weight * one.upper)
        b.append(weight * one.upper * np.exp(-one.losses - one.excess))
    error = max(one.error for one in steps) + 4 * ROUNDING
    own, other = (Masses.near(np.concatenate(row), error) for row in (a, b))
    return Composition(fill_buckets(own, other, count))


def _opposite(
    sigma: float, sampling: float, batch: int, records: int, cut: Interval, taken: Interval
) -> tuple[Masses, Masses]:
    """Return the masses of a step with and without the record, in cells of the sum; all others' gradients are −1.

    Numbers of others whose probability is negligible are missing from the least masses, and added to all largest ones.
    """
    deviation = math.sqrt(records * sampling)
    fewest = max(0, math.floor(min(batch, records * sampling - 14 * deviation - 50)))
    most = min(batch, math.ceil(records * sampling + 14 * deviation + 50))
    each = max(1, math.ceil(min(8 / sigma, CELLS / (most - fewest + 3 + 24 * sigma))))  # cells of a gradient
    edges = np.arange(-math.ceil(12 * sigma * each), (most - fewest + 2) * each + math.ceil(12 * sigma * each)) / each
    own = closed_forms.normal_masses(edges[: len(edges) - (most - fewest + 2) * each] / sigma)
    with_it, without = (np.zeros((2, len(edges) + 1)) for _ in range(2))
    for others in range(fewest, most + 1):
        chance = _term(others, records - 1, sampling) if others < batch else cut
        joined = taken if others == batch else chance * sampling
        moved = 2 if others == batch else 1
        for rows, place, weight in (
            (without, most - others, chance),
            (with_it, most - others, chance - joined),
            (with_it, most - others + moved, joined),
        ):
            for row, masses, end in zip(rows, (own.low, own.high), weight.floats(), strict=True):
                row[place * each : place * each + len(masses)] += max(0.0, end) * masses
    # Edges that are shifted by integers differ by their rounding, as a share of a cell.
    crowd = ROUNDING * (most - fewest + 4) + 64 * UNIT * closed_forms.TAIL * (1 + each * sigma)
    left = 2 * NEGLIGIBLE
    made = [Masses(rows[0] * (1 - crowd), rows[1] * (1 + crowd) + left) for rows in (with_it, without)]
    return made[0], made[1]


OF_TRUNCATED = {
    "sigma": decades(-1, 2, 0.5, 1.0),
    "sampling": decades(-4, -0.1, 0.01, 0.5),
    "batch": decades(0, 3.5, 1.0, whole=True),
    "records": decades(0, 5, 1.0, whole=True),
    "steps": STEPS,
    "delta": DELTA,
}
TRUNCATED_KINDS = (Kind("truncated-sample-gaussian", "ε at δ", OF_TRUNCATED, _truncated),)
