"""An e-process that tests a claim and may be inspected after any run.

*The bet.* X_t and Y_t are the t-th outcomes in the two worlds, and S is an event. Wealth begins at 1 and becomes

    W_t = W_{t−1}·(1 + λ_t·(1{X_t ∈ S} − e^ε·1{Y_t ∈ S} − δ)),    0 ≤ λ_t < 1/(e^ε + δ),

where λ_t and S are predictable: functions of the runs before t (and of randomness independent of the runs from t on).

*Fairness.* Let the claim hold, and let P and Q be the laws of the t-th outcomes given the past. The least factor
is 1 − λ_t(e^ε + δ) > 0, so wealth stays positive. Given the runs before t, λ_t and S are fixed, so by linearity

    E[factor | before t] = 1 + λ_t·(P(S) − e^ε·Q(S) − δ) ≤ 1,

because (ε, δ)-privacy means P(S) ≤ e^ε·Q(S) + δ for every S. X_t and Y_t may depend on each other. So W is a
non-negative supermartingale with E[W_t] ≤ 1 for every t, and by Ville's inequality the probability that it ever
reaches 1/α is at most α, for any number of inspections. The claim on the pair has four such bets: S and its complement,
each in both directions. The mean of supermartingales with the same past is a supermartingale. The mean of the
four wealths, W̄_t, is therefore the e-value, and the claim is VIOLATED when W̄_t ≥ 1/α. Four bets do not divide α.

*The choice of λ.* λ changes only at the ends of batches. It maximizes the growth of wealth on the runs of earlier
batches (half a run is added to each of the four combinations of 1{X ∈ S}, 1{Y ∈ S}). Within a batch the product then
depends only on the counts of these combinations, so any number of workers may run batches, which are added in order.
Source: Waudby-Smith, Ramdas 2024 (JRSS-B) for betting; Grünwald, de Heide, Koolen 2024 for e-processes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up
from subnormal.mechanisms.privacy import Claim

EPSILON_MAX = 700.0  # beyond it e^ε is no float, and no run could refute the claim

Bets = tuple[float, ...]  # a number for each of four bets, or for each of four combinations


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The numbers of pairs of runs with the event in both worlds, in the first only, in the second only, in none."""

    both: int
    only_in: int
    only_out: int
    neither: int

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(
            self.both + other.both,
            self.only_in + other.only_in,
            self.only_out + other.only_out,
            self.neither + other.neither,
        )

    @property
    def runs(self) -> int:
        """The runs of each world."""
        return self.both + self.only_in + self.only_out + self.neither

    def of_bets(self) -> tuple[Bets, ...]:
        """Return (both, gain, loss, neither) as each bet sees it: S and its complement, each in both directions."""
        both, only_in, only_out, neither = map(float, (self.both, self.only_in, self.only_out, self.neither))
        return (
            (both, only_in, only_out, neither),
            (both, only_out, only_in, neither),
            (neither, only_out, only_in, both),
            (neither, only_in, only_out, both),
        )


@dataclass(frozen=True, slots=True)
class State:
    """The four bets at the end of a batch. bets: the λ of each for the next batch, fixed by the earlier ones."""

    claim: Claim
    seen: PairCounts = PairCounts(0, 0, 0, 0)
    log_wealth: Bets = (0.0, 0.0, 0.0, 0.0)
    bets: Bets = (0.0, 0.0, 0.0, 0.0)

    @property
    def log_e_value(self) -> float:
        """The logarithm of the mean wealth of the four bets."""
        largest = max(self.log_wealth)
        return largest + math.log(sum(math.exp(one - largest) for one in self.log_wealth) / 4)


def update(state: State, counts: PairCounts) -> State:
    """Return the state after one more batch: its wealth from the bets fixed before it, and the bets for the next."""
    factors, seen = _factors(state.claim), state.seen + counts
    grown = [_growth(bet, batch, factors) for bet, batch in zip(state.bets, counts.of_bets(), strict=True)]
    log_wealth = tuple(before + gain for before, gain in zip(state.log_wealth, grown, strict=True))
    return State(state.claim, seen, log_wealth, tuple(_best_bet(total, factors) for total in seen.of_bets()))


def _factors(claim: Claim) -> Bets | None:
    """Return 1{X ∈ S} − e^ε·1{Y ∈ S} − δ of the four combinations, e^ε rounded up, which favours the claim."""
    if claim.epsilon > EPSILON_MAX:
        return None
    ratio = float_up(exp_bounds(Fraction(claim.epsilon))[1])
    return 1 - ratio - claim.delta, 1 - claim.delta, -ratio - claim.delta, -claim.delta


def _growth(bet: float, counts: Bets, factors: Bets | None) -> float:
    if bet == 0 or factors is None:
        return 0.0
    return sum(count * math.log1p(bet * factor) for count, factor in zip(counts, factors, strict=True))


def _smoothed(counts: Bets) -> Bets:
    return tuple(count + 0.5 for count in counts)


def _best_bet(counts: Bets, factors: Bets | None) -> float:
    """Return the λ that maximizes the growth on the counts, with half a run added to each: a concave problem."""
    if factors is None:
        return 0.0
    smoothed = _smoothed(counts)

    def slope(bet: float) -> float:
        return sum(count * factor / (1 + bet * factor) for count, factor in zip(smoothed, factors, strict=True))

    if slope(0.0) <= 0:
        return 0.0
    low, high = 0.0, -1 / factors[2]  # 1/(e^ε + δ): there the factor of a loss is 0, and the slope −∞
    for _ in range(32):  # any λ is sound; this is the best one to nine digits
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


def growth(claim: Claim, counts: PairCounts) -> float:
    """Return how fast the best of the four bets would have grown on these counts, in nats a run: to choose by.

    Half a run is added to each combination, so that few runs promise little.
    """
    factors = _factors(claim)
    best = max(_growth(_best_bet(one, factors), _smoothed(one), factors) for one in counts.of_bets())
    return best / counts.runs


def mean_growth(claim: Claim, likelier: float, other: float) -> float:
    """Return how fast the best bet on an event grows in the mean, in nats a run, by its probabilities in both worlds.

    >>> mean_growth(Claim(1.0), 0.5, 0.5)
    0.0
    """
    factors = _factors(claim)
    shares = (likelier * other, likelier * (1 - other), (1 - likelier) * other, (1 - likelier) * (1 - other))
    many = 1e9  # runs, of which the half that smoothing adds is no matter
    counts = tuple(many * share for share in shares)
    return _growth(_best_bet(counts, factors), counts, factors) / many


def reachable(betting: int, claim: Claim) -> float:
    """Return the largest ln W̄ that so many runs with bets can show: a perfect distinguisher's, with the largest λ.

    An event in every run of one world and in none of the other grows two of four bets.
    """
    factors = _factors(claim)
    if factors is None or betting <= 0 or claim.delta >= 1:
        return 0.0
    return max(0.0, betting * math.log1p(-factors[1] / factors[2]) - math.log(2))


def betting_needed(log_e_value: float, claim: Claim) -> float:
    """Return the fewest runs with bets that can show such a positive ln W̄, see `reachable`; ∞ where none can.

    >>> claim = Claim(1.0)
    >>> betting_needed(13.8, claim), reachable(46, claim) < 13.8 < reachable(47, claim)
    (47, True)
    """
    factors = _factors(claim)
    if factors is None or claim.delta >= 1:
        return math.inf
    return max(1, math.ceil((log_e_value + math.log(2)) / math.log1p(-factors[1] / factors[2])))
