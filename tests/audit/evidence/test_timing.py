"""What a clock shows: nothing of equal code, a leak of a stated size, and no violation where a claim allows the leak.

No test reads a real clock. Statistical ones have seeds, and a false-alarm rate of ALPHA each.
"""

import gc
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal.attacks.side_channels.geometric_trials import geometric_trials
from subnormal.audit.evidence import timing
from subnormal.audit.evidence.timing import Times
from subnormal.audit.model import TimingEvidence, Verdict
from subnormal.audit.statistics import paired_times
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.privacy import Claim
from tests.support.synthetic import autoregressive, clocked

ALPHA = 1e-6
SERIES = 50
NOTHING = Claim(0.0)  # allows no difference at all: whatever can be told apart is above it


class Machine:
    """A clock that stands still but for draws, which take what the data say."""

    def __init__(self, cost: Callable[[int, int], int]) -> None:
        self.now = self.calls = 0
        self.cost = cost
        self.collecting: list[bool] = []

    def draw(self, data: NDArray[np.int64]) -> None:
        self.now += self.cost(int(data[0]), self.calls)
        self.calls += 1
        self.collecting.append(gc.isenabled())

    def measured(self, measurements: int, seconds: float = math.inf, seed: int = 1) -> Times:
        worlds = np.array([7]), np.array([3])
        return timing.measure(self.draw, worlds, seeded_bits(seed), measurements, seconds, lambda: self.now)


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that look at many series, and at no interval."""
    monkeypatch.setattr(paired_times, "RESAMPLES", 9)


def judged(times: Times, claim: Claim = NOTHING, alpha: float = 0.05) -> TimingEvidence:
    return timing.judge(times, claim, alpha, seed=1)


def at_most(level: float, count: int = SERIES) -> int:
    return int(stats.binom.ppf(1 - ALPHA, count, level))


def test_each_measurement_is_of_the_world_that_its_coin_chose() -> None:
    machine = Machine(lambda data, call: data)
    times = machine.measured(1_000)
    assert (times.nanoseconds == np.where(times.is_in, 7, 3)).all()
    assert (times.is_in == seeded_bits(1).words(1_000, 1).astype(bool)).all()
    assert times.is_in[:32].tolist() != [True, False] * 16


def test_the_warm_up_is_discarded_and_the_collector_is_off_until_the_end() -> None:
    machine = Machine(lambda data, call: 10**9 if call < 2 * timing.BATCH else data)
    assert gc.isenabled()
    times = machine.measured(100)
    assert machine.calls == 100 + 2 * timing.BATCH
    assert times.nanoseconds.max() == 7
    assert not any(machine.collecting)
    assert gc.isenabled()


def test_the_collector_is_on_again_after_a_draw_that_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        Machine(lambda data, call: call // 0).measured(100)
    assert gc.isenabled()


def test_there_are_as_many_measurements_as_fit_into_the_seconds() -> None:
    assert len(Machine(lambda data, call: 1_000).measured(10_000, seconds=1e-3).is_in) == 1_000
    assert len(Machine(lambda data, call: 1_000).measured(500, seconds=1e-3).is_in) == 500
    assert len(Machine(lambda data, call: 1_000).measured(500, seconds=1e-9).is_in) == timing.LEAST


def test_a_draw_gets_a_copy_and_never_the_data_themselves() -> None:
    seen: list[NDArray[np.int64]] = []
    worlds = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    timing.measure(seen.append, worlds, scripted_bits("10" * 16), 32, clock=lambda: 0)
    assert not any(np.shares_memory(one, world) for one in seen for world in worlds)
    assert [one[0] for one in seen[-4:]] == [0, 1, 0, 1]


@pytest.mark.parametrize("measurements", [0, 31])
def test_too_few_measurements_are_refused(measurements: int) -> None:
    with pytest.raises(ValueError, match=f"measurements must be at least 32, got {measurements}"):
        Machine(lambda data, call: 1).measured(measurements)
    with pytest.raises(ValueError, match=f"measurements must be at least 32, got {measurements}"):
        judged(Times(np.ones(measurements, dtype=np.int64), np.ones(measurements, dtype=bool)))


def test_alpha_is_a_probability() -> None:
    with pytest.raises(ValueError, match="alpha must be between 0 and 1, got 1"):
        judged(clocked(1, 100), alpha=1)


# Equal code is not accused.


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_equal_code_is_accused_no_more_often_than_alpha_on_a_busy_machine(alpha: float) -> None:
    found = [judged(clocked(seed, 600), alpha=alpha) for seed in range(SERIES)]
    assert sum(one.verdict is Verdict.VIOLATED for one in found) <= at_most(alpha)
    assert sum(one.detected for one in found) <= at_most(alpha)
    assert sum(one.advantage_lower > 0 for one in found) <= at_most(alpha)


@pytest.mark.usefixtures("few_resamples")
def test_a_clock_that_remembers_the_last_world_is_detected_and_accuses_nobody() -> None:
    """A call is slow after one of the world `in`, whatever its own world: the pair (outcome, time) is as claimed."""
    rng, found = np.random.default_rng(8), []
    for seed in range(20):
        is_in = rng.integers(2, size=2_000).astype(bool)
        nanoseconds = (rng.normal(1_000, 30, len(is_in)) + 400 * np.roll(is_in, 1)).astype(np.int64)
        found.append(timing.judge(Times(nanoseconds, is_in), Claim(0.1), ALPHA, seed))
    assert all(one.detected for one in found)
    assert all(one.verdict is not Verdict.VIOLATED for one in found)


def response(seed: int, truth: float, other: float) -> Times:
    """Return times that are long with probability `truth` in and `other` out, on a machine with two moods."""
    random = np.random.default_rng(seed)
    is_in = random.random(1_000) < 0.5
    patient = np.arange(1_000) // 50 % 2 == 0  # then nothing takes long
    long = ~patient & (random.random(1_000) < np.where(is_in, truth, other))
    return Times(np.where(long, 20_000, 10_000), is_in)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize("alpha", [0.05, 0.5])
@pytest.mark.parametrize(("claim", "truth", "other"), [(Claim(1.0), 0.6, 0.6 / math.e), (Claim(0.0, 0.2), 0.5, 0.3)])
def test_what_a_claim_allows_is_detected_and_not_accused(
    claim: Claim, truth: float, other: float, alpha: float
) -> None:
    found = [judged(response(seed, truth, other), claim, alpha) for seed in range(SERIES)]
    assert sum(one.verdict is Verdict.VIOLATED for one in found) <= at_most(alpha)
    mean = (truth - other) * 8 / 15  # of the advantage, over the moments that judge: 7 of 15 are patient
    assert sum(one.advantage_lower > mean for one in found) <= at_most(alpha)
    assert sum(one.detected for one in found) > SERIES / 2


@pytest.mark.usefixtures("few_resamples")
def test_twice_what_a_claim_allows_is_accused() -> None:
    found = [judged(response(seed, 0.9, 0.9 / math.e**2), Claim(1.0)) for seed in range(SERIES)]
    assert sum(one.verdict is Verdict.VIOLATED for one in found) > SERIES / 2


def quick_or_slow(seed: int, slow_in: float, slow_out: float) -> Times:
    """Return independent times of two lengths."""
    random = np.random.default_rng(seed)
    is_in = random.random(1_000) < 0.5
    return Times(np.where(random.random(1_000) < np.where(is_in, slow_in, slow_out), 20_000, 10_000), is_in)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize(("delta", "accused"), [(0.8, False), (0.5, True)])
def test_a_delta_is_what_the_worlds_may_differ_by(delta: float, accused: bool) -> None:
    """Slow with probability 0.9 and 0.1: exactly (0, 0.8)-private."""
    found = [judged(quick_or_slow(seed, 0.9, 0.1), Claim(0.0, delta)) for seed in range(SERIES)]
    violated = sum(one.verdict is Verdict.VIOLATED for one in found)
    assert violated == SERIES if accused else violated <= at_most(0.05)


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize(("slow_in", "slow_out"), [(0.7, 1.0), (1.0, 0.7), (0.3, 0.0), (0.0, 0.3)])
def test_what_only_one_world_shows_is_found_whichever_it_is(slow_in: float, slow_out: float) -> None:
    found = [judged(quick_or_slow(seed, slow_in, slow_out), Claim(1.5)) for seed in range(10)]
    assert all(one.verdict is Verdict.VIOLATED for one in found)


# What leaks is found.


def test_a_leak_of_three_to_one_violates_a_claim_of_one_nat() -> None:
    evidence = judged(clocked(1, 1_000, extra=2.0), Claim(1.0), alpha=1e-3)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.detected
    assert evidence.ratio[0] < 3 < evidence.ratio[1]
    assert evidence.difference[0] < 2 * evidence.median_out < evidence.difference[1]
    assert evidence.median_in / evidence.median_out == pytest.approx(3, rel=0.1)
    assert evidence.event_in > 0.9
    assert evidence.event_out < 0.1
    assert 0.5 < evidence.advantage_lower < evidence.event_in - evidence.event_out
    assert evidence.needed[0] >= 12
    assert evidence.needed[1] < 100


def test_the_worlds_exchanged_give_the_evidence_exchanged() -> None:
    times = clocked(1, 1_000, extra=2.0)
    one, other = judged(times, Claim(1.0)), judged(Times(times.nanoseconds, ~times.is_in), Claim(1.0))
    assert (one.median_in, one.median_out) == (other.median_out, other.median_in)
    assert (one.sign_p, one.needed) == (other.sign_p, other.needed)
    assert (one.welch_t, one.welch_p) == (-other.welch_t, other.welch_p)
    assert (one.slower_in, other.slower_in) == (pytest.approx(1 - other.slower_in), pytest.approx(1 - one.slower_in))
    assert one.log_e_value == pytest.approx(other.log_e_value)
    assert other.advantage_lower == pytest.approx(one.advantage_lower)


@pytest.mark.usefixtures("few_resamples")
def test_a_leak_of_a_twentieth_is_detected_and_allowed_by_one_nat() -> None:
    found = [judged(clocked(seed, 4_000, extra=0.05), Claim(1.0)) for seed in range(10)]
    assert all(one.detected and one.verdict is Verdict.NOT_REFUTED for one in found)


@pytest.mark.parametrize(("measurements", "epsilon"), [(40, 1.0), (40, 5.0), (1_000, 10.0)])
def test_so_few_measurements_could_convict_nobody(measurements: int, epsilon: float) -> None:
    evidence = judged(clocked(1, measurements, extra=1_000.0), Claim(epsilon))
    assert evidence.verdict is Verdict.UNDERPOWERED
    assert evidence.event_in == 1


def test_a_clock_with_one_tick_shows_nothing() -> None:
    evidence = judged(Times(np.full(100, 15), np.arange(100) % 3 == 0))
    assert (evidence.verdict, evidence.detected, evidence.sign_p) == (Verdict.NOT_REFUTED, False, 1.0)
    assert evidence.needed == (math.inf, math.inf)
    assert (evidence.welch_t, evidence.welch_p) == (0, 1)
    assert evidence.ratio == (1, 1)


# One formula each.


def test_signs_are_of_neighbours_with_different_worlds() -> None:
    # Pairs: in slower, out slower, a tie, two of one world, in (second) slower; the last measurement has no partner.
    nanoseconds = np.array([9, 5, 4, 8, 6, 6, 1, 2, 3, 7, 100])
    is_in = np.array([1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1], dtype=bool)
    assert paired_times.signs(nanoseconds, is_in) == (2, 3, 4)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_the_level_of_the_sign_test_is_exact(level: float) -> None:
    """Over all coins for one series of times: no more than the level, and as much as the binomial's steps allow."""
    rejected = [paired_times.sign_test(slower, 40) <= level for slower in range(41)]
    attained = stats.binom.pmf(np.arange(41), 40, 0.5)[rejected].sum()
    inside = min(abs(2 * slower - 40) for slower in range(41) if rejected[slower])
    assert attained <= level
    assert attained + 2 * stats.binom.pmf((40 - inside + 2) // 2, 40, 0.5) > level


def test_every_coin_of_a_pair_is_as_likely_to_show_it_slower() -> None:
    """By exhaustion: over all 2^8 coins of eight measurements the signs are those of fair, independent coins."""
    nanoseconds = np.array([5, 9, 9, 5, 1, 2, 2, 7])
    found: dict[int, list[int]] = {}
    for word in range(1 << 8):
        is_in = (word >> np.arange(8)) & 1 == 1
        slower, untied, _ = paired_times.signs(nanoseconds, is_in)
        found.setdefault(untied, [0] * (untied + 1))[slower] += 1
    for untied, counts in found.items():
        assert counts == [math.comb(untied, slower) * sum(counts) >> untied for slower in range(untied + 1)]


@pytest.mark.parametrize("share", [0.51, 0.55, 0.7, 0.9, 1.0, 0.1])
def test_as_many_signs_as_needed_err_as_often_as_stated(share: float) -> None:
    signs = int(paired_times.signs_needed(share))

    def missed(count: int) -> float:
        counts = np.arange(count // 2 + 1)
        kept = counts[2 * stats.binom.cdf(counts, count, 0.5) > paired_times.ERROR][0]
        return float(stats.binom.cdf(count - kept, count, share) - stats.binom.cdf(kept - 1, count, share))

    assert missed(signs) <= paired_times.ERROR * (1 if signs < paired_times.EXACT_SIGNS else 1.05)
    assert missed(int(0.8 * signs)) > paired_times.ERROR


def test_measurements_needed_contain_the_truth_and_say_when_they_cannot() -> None:
    low, high = paired_times.needed(600, 1_000, 1_250)  # a fifth of the pairs are ties
    assert low < 2.5 * paired_times.signs_needed(0.6) < high
    assert low == math.floor(2.5 * paired_times.signs_needed(stats.beta.ppf(0.975, 601, 400)))
    assert high == 2.5 * paired_times.signs_needed(stats.beta.ppf(0.025, 600, 401))
    assert paired_times.needed(400, 1_000, 1_250) == pytest.approx((low, high))
    assert paired_times.needed(510, 1_000, 1_000)[1] == math.inf
    assert 0 < paired_times.needed(510, 1_000, 1_000)[0] < math.inf


@pytest.mark.parametrize("seed", range(3))
def test_t_is_scipys(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = random.normal(1, 2, 50), random.exponential(3, 80)
    expected = stats.ttest_ind(first, second, equal_var=False)
    t, freedom = paired_times.welch_t(first, second)
    assert (t, freedom) == (pytest.approx(expected.statistic), pytest.approx(expected.df))


def test_t_of_what_cannot_be_compared() -> None:
    constant, other = np.full(5, 2.0), np.full(4, 1.0)
    assert paired_times.welch_t(constant, constant) == (0, 1)
    assert paired_times.welch_t(other, constant) == (-math.inf, 1)
    assert paired_times.welch_t(constant, other[:1]) == (0, 1)


def coverage(interval: Callable[[Times, int], tuple[float, float]], truth: float, trials: int) -> int:
    found = [interval(drifting(seed), seed) for seed in range(trials)]
    return sum(low <= truth <= high for low, high in found)


def drifting(seed: int) -> Times:
    """Return times of 1 and 2 ms on a machine whose speed is AR(1), with a median of 1."""
    random = np.random.default_rng(seed)
    is_in = random.random(4_000) < 0.5
    speed = np.exp(autoregressive(random, 4_000, 0.97, 0.2))
    return Times((speed * np.where(is_in, 2_000_000, 1_000_000)).astype(np.int64), is_in)


def resampled(place: int, times: Times, seed: int) -> tuple[float, float]:
    return paired_times.bootstrap(times.nanoseconds, times.is_in, seed)[place]


def test_blocks_keep_the_dependence_in_and_single_measurements_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = 60
    monkeypatch.setattr(paired_times, "RESAMPLES", 99)
    difference, ratio = partial(resampled, 0), partial(resampled, 1)
    least = stats.binom.ppf(ALPHA, trials, paired_times.CONFIDENCE)
    assert coverage(difference, 1e6, trials) >= least
    assert coverage(ratio, 2, trials) >= least
    monkeypatch.setattr(paired_times, "block_length", lambda count: 1)
    assert coverage(difference, 1e6, trials) < least


def test_the_coins_of_the_order_are_none_of_the_draws_bits() -> None:
    drawn: list[int] = []

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> list[int]:
        drawn.append(bits.take(64))
        return drawn[-1:]

    mechanism: Mechanism[Any, Any, Any] = Mechanism("clocked", "none", sample, lambda *given: Claim(1.0))
    attack = replace(geometric_trials(), worlds=lambda: (1, 0))
    times = timing.observe(mechanism, attack, seed=1, measurements=200)
    coins = seeded_bits(1, attack.name, "clocked", "coins")
    assert times.is_in.tolist() == coins.words(200, 1).astype(bool).tolist()
    bits = seeded_bits(1, attack.name, "clocked", "time")
    assert drawn == [bits.take(64) for _ in drawn]


def test_welch_is_two_sided_and_pays_for_each_of_its_tests() -> None:
    times = clocked(3, 400, extra=0.3)
    values = times.nanoseconds.astype(float)
    squares = (values - np.where(times.is_in, values[times.is_in].mean(), values[~times.is_in].mean())) ** 2
    tried = [(values, times.is_in), (squares, times.is_in)]
    for limit in np.quantile(values, paired_times.CROPS):
        tried.append((values[values <= limit], times.is_in[values <= limit]))
    least = min(stats.ttest_ind(one[of_in], one[~of_in], equal_var=False).pvalue for one, of_in in tried)
    found = paired_times.welch(times.nanoseconds, times.is_in)[1]
    assert 0 < found < 1
    assert found == pytest.approx(len(tried) * least, rel=1e-9, abs=0)


def test_intervals_of_the_bootstrap_leave_a_fortieth_on_each_side_and_blocks_go_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[NDArray[np.int64]] = []

    def ranked(nanoseconds: NDArray[np.int64], is_in: NDArray[np.bool_]) -> tuple[float, float]:
        seen.append(nanoseconds)
        return float(len(seen) - 1), 0.0

    monkeypatch.setattr(paired_times, "medians", ranked)
    difference, ratio = paired_times.bootstrap(np.arange(100), np.arange(100) % 2 == 0, 1)
    last = paired_times.RESAMPLES - 1
    assert difference == ratio == (pytest.approx(last * 0.025, abs=0.1), pytest.approx(last * 0.975, abs=0.1))
    assert set(np.concatenate(seen).tolist()) == set(range(100))
    assert any((np.diff(one) == -99).any() for one in seen)


def test_a_leak_below_rare_noise_is_seen_by_a_crop() -> None:
    random = np.random.default_rng(1)
    is_in = random.random(4_000) < 0.5
    rare = np.where(random.random(4_000) < 0.02, random.integers(0, 10**7, 4_000), 0)
    nanoseconds = 1_000 + random.integers(0, 100, 4_000) + 10 * is_in + rare
    assert abs(paired_times.welch_t(nanoseconds[is_in], nanoseconds[~is_in])[0]) < 4.5
    assert paired_times.welch(nanoseconds, is_in)[0] > 4.5
