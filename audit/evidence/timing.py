"""Evidence from a clock, after dudect, for timings that depend on each other.

Design. The two worlds are interleaved: a fair coin chooses the world of each measurement, independently of the clock
and of all earlier measurements. Each measurement times one draw from a copy of the data. Copies are made in batches, so
the address of a copy depends on its turn and not on its world. The garbage collector is off.

Three results are sound for any drift of the timings:

- *The sign test.* The hypothesis is that no time depends on a world, its own or an earlier one. (A call that slows down
  the next one is therefore detected as well.) Under it the times are independent of the coins. In two consecutive
  measurements with different coins, either order of the worlds then has probability 1/2. The number of such pairs in
  which `in` was slower is binomial with 1/2 given all times, without ties. The level is exact.
- *The bet.* A claim about outcomes says nothing about time. The row tests whether it would hold for the pair
  (outcome, time): whether, in every state of the machine, Pr[time > θ] in one world is at most e^ε times that in the
  other, plus δ. θ and the stakes are fixed on the first quarter of the measurements, which do not judge. Let W be the
  coin. Given the past, {W = in, time ∈ S} and {W = out, time ∈ S} are the halves of such a pair, and mixing both with
  the same nothing keeps them (ε, δ/2)-indistinguishable. The bets of `e_process` are against this, for S = {time > θ}
  and for its complement. The mean of their wealth is the e-value, and VIOLATED means that it reached 1/α.
- *The advantage.* Let s = ±1 be the coin. Given the past, the mean of s·(2·1{time > θ} − 1) is the advantage of the
  event at that moment, so by Azuma and Hoeffding the mean of n of them is within √(2·ln(2/α)/n) of the mean advantage.

Worlds that differ are `detected`, which is no violation: a sound mechanism may differ by as much as it claims. Welch's
t is reported as in dudect. It assumes independent measurements, so no verdict depends on it.

Sources: Reparaz, Balasch, Verbauwhede 2017 (dudect); Waudby-Smith, Ramdas 2024 (betting); Künsch 1989 (blocks).
"""

from __future__ import annotations

import copy
import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.model import Sketch, TimingEvidence, Verdict
from subnormal.audit.statistics import binomial, e_process, paired_times
from subnormal.audit.statistics.e_process import PairCounts, State, update
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.privacy import Claim

SECONDS = 2.2  # for all timing rows of a report; the two that should break get 0.88 each, as they need 100 draws or so
BATCH = 16  # measurements prepared at a time; two batches are the warm-up
LEAST = 32  # fewest measurements
TRAINING = 4  # the first of this many parts of the measurements fixes the event
BINS, TAIL = 60, 0.01  # of a chart, and the share of the times beyond either end
THRESHOLDS = 64  # candidates are quantiles that divide the training times into this many parts

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Measurements in the order in which they were made, each of shape (measurements,)."""

    nanoseconds: NDArray[np.int64]
    is_in: NDArray[np.bool_]  # the world of each


def observe(
    mechanism: AnyMechanism, attack: AnyAttack, *, seed: int, measurements: int, seconds: float = math.inf
) -> Times:
    """Return the times of single draws. The seed determines the coins and the draws, and not the times."""
    bits = seeded_bits(seed, attack.name, mechanism.name, "time")
    coins = seeded_bits(seed, attack.name, mechanism.name, "coins")

    def draw(data: Any) -> object:
        return mechanism.sample(data, attack.parameters, bits, 1)

    return measure(draw, attack.worlds(), coins, measurements, seconds)


def measure(
    draw: Callable[[Any], object],
    worlds: tuple[Any, Any],
    coins: BitSource,
    measurements: int,
    seconds: float = math.inf,
    clock: Clock = time.perf_counter_ns,
) -> Times:
    """Return the times of draw(data), the data of a world that a coin chooses for each.

    The second half of the warm-up, which is discarded, says how many fit into the seconds: before the first coin.
    Raises ValueError for fewer than `LEAST` measurements.
    """
    if measurements < LEAST:
        raise ValueError(f"measurements must be at least {LEAST}, got {measurements}")
    with _undisturbed():
        alternating = np.arange(BATCH) % 2 == 0
        _timed(draw, worlds, alternating, clock)
        began = clock()
        _timed(draw, worlds, alternating, clock)
        each = max(1, clock() - began) / BATCH / 1e9
        is_in = coins.words(int(min(measurements, max(LEAST, seconds / each))), 1).astype(bool)
        batches = [is_in[start : start + BATCH] for start in range(0, len(is_in), BATCH)]
        taken = [_timed(draw, worlds, batch, clock) for batch in batches]
    return Times(np.concatenate(taken), is_in)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Disable the garbage collector during the block."""
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _timed(
    draw: Callable[[Any], object], worlds: tuple[Any, Any], is_in: NDArray[np.bool_], clock: Clock
) -> NDArray[np.int64]:
    """Return the times of a batch. All data are copied first, so an address depends on the turn, not the world."""
    prepared = [copy.copy(worlds[0 if chosen else 1]) for chosen in is_in.tolist()]
    taken = np.empty(len(prepared), dtype=np.int64)
    for turn, data in enumerate(prepared):
        began = clock()
        draw(data)
        taken[turn] = clock() - began
    return taken


def judge(times: Times, claim: Claim, alpha: float, seed: int) -> TimingEvidence:
    """Return the evidence of measurements. The verdict, the sign test and the advantage hold each at 1 − α.

    VIOLATED: some threshold on the time has probabilities that the claim does not allow for the pair (outcome, time).
    UNDERPOWERED: so few measurements could not have shown it. Else NOT REFUTED. seed: of the bootstrap's resamples.
    Raises ValueError for an α that is not between 0 and 1, or fewer than `LEAST` measurements.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    if len(times.is_in) < LEAST:
        raise ValueError(f"measurements must be at least {LEAST}, got {len(times.is_in)}")
    bet = _bet(times, claim)
    if bet.log_e_value >= -math.log(alpha):
        verdict = Verdict.VIOLATED
    elif e_process.reachable(bet.judged // 2, claim) - math.log(4) < -math.log(
        alpha
    ):  # one in eight, not two in four bets
        verdict = Verdict.UNDERPOWERED
    else:
        verdict = Verdict.NOT_REFUTED
    slower, untied, pairs = paired_times.signs(times.nanoseconds, times.is_in)
    sign_p = paired_times.sign_test(slower, untied)
    t, p = paired_times.welch(times.nanoseconds, times.is_in)
    median_in, median_out = paired_times.medians(times.nanoseconds, times.is_in)
    difference, ratio = paired_times.bootstrap(times.nanoseconds, times.is_in, seed)
    return TimingEvidence(
        verdict=verdict,
        confidence=1 - alpha,
        measurements=len(times.is_in),
        median_in=median_in / 1e9,
        median_out=median_out / 1e9,
        difference=(difference[0] / 1e9, difference[1] / 1e9),
        ratio=ratio,
        detected=sign_p <= alpha,
        sign_p=sign_p,
        slower_in=slower / untied if untied else 0.5,
        needed=paired_times.needed(slower, untied, pairs),
        welch_t=t,
        welch_p=p,
        threshold=bet.threshold / 1e9,
        event_in=bet.event_in,
        event_out=bet.event_out,
        advantage_lower=max(0.0, abs(bet.advantage) - math.sqrt(2 * math.log(2 / alpha) / bet.judged)),
        log_e_value=bet.log_e_value,
    )


@dataclass(frozen=True, slots=True)
class _Bet:
    """A threshold on the time, how often the judging measurements exceeded it, and the e-value of the bet."""

    threshold: float  # nanoseconds
    judged: int
    event_in: float
    event_out: float
    advantage: float  # the mean of s·(2·1{time > θ} − 1)
    log_e_value: float


def _bet(times: Times, claim: Claim) -> _Bet:
    trained = len(times.is_in) // TRAINING
    threshold = _threshold(times.nanoseconds[:trained], times.is_in[:trained], claim)
    above, is_in = times.nanoseconds > threshold, times.is_in
    halved = Claim(claim.epsilon, claim.delta / 2)
    wealth = []
    for event in (above, ~above):
        training = update(State(halved), _counts(event[:trained], is_in[:trained]))  # nothing is staked yet
        wealth.append(update(training, _counts(event[trained:], is_in[trained:])).log_e_value)
    above, is_in = above[trained:], is_in[trained:]
    return _Bet(
        threshold=threshold,
        judged=len(is_in),
        event_in=float(above[is_in].mean()),
        event_out=float(above[~is_in].mean()),
        advantage=float(np.where(above == is_in, 1, -1).mean()),
        log_e_value=float(np.logaddexp(wealth[0], wealth[1])) - math.log(2),
    )


def _counts(event: NDArray[np.bool_], is_in: NDArray[np.bool_]) -> PairCounts:
    only_in, only_out = int((event & is_in).sum()), int((event & ~is_in).sum())
    return PairCounts(0, only_in, only_out, len(event) - only_in - only_out)


def _threshold(nanoseconds: NDArray[np.int64], is_in: NDArray[np.bool_], claim: Claim) -> float:
    """Return the threshold that exceeds the claim by most standard errors on these measurements."""
    limits = np.unique(np.quantile(nanoseconds, np.arange(1, THRESHOLDS) / THRESHOLDS))
    slow_in, slow_out = _above(nanoseconds[is_in], limits), _above(nanoseconds[~is_in], limits)
    sizes = max(1, int(is_in.sum())), max(1, int((~is_in).sum()))
    return float(limits[np.argmax(binomial.standard_errors_beyond(slow_in, slow_out, sizes, claim))])


def _above(nanoseconds: NDArray[np.int64], limits: NDArray[np.float64]) -> NDArray[np.int64]:
    return len(nanoseconds) - np.searchsorted(np.sort(nanoseconds).astype(np.float64), limits, side="right")


def sketch(times: Times) -> Sketch:
    """Return the sketch of the times: shares in bins of equal width (ms), the tails in the outermost bins."""
    low, high = np.quantile(times.nanoseconds, (TAIL, 1 - TAIL)) / 1e6
    edges = np.linspace(low, max(high, low + 1e-6), BINS)
    found = np.minimum(np.searchsorted(edges, times.nanoseconds / 1e6), BINS - 1)
    counts = [np.bincount(found[chosen], minlength=BINS) for chosen in (times.is_in, ~times.is_in)]
    return Sketch(edges, (counts[0] / max(1, counts[0].sum()), counts[1] / max(1, counts[1].sum())), None, None)
