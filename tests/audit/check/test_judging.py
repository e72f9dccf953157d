"""A pair is judged on runs that nothing else has seen, and equal outcomes alone convict nobody."""

import itertools
import math
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Verdict, Zcdp, check
from subnormal.attacks.core.events import Learned, OneOf
from subnormal.audit.check import judge as check_judge
from subnormal.audit.check.function import Function, isolated, reseed
from subnormal.audit.check.judge import certain, judge
from subnormal.audit.check.score import CONVICTING, Candidate, Runs
from subnormal.audit.clock import Clock
from subnormal.audit.evidence.sequential import FIRST
from subnormal.audit.statistics import e_process
from subnormal.mechanisms.curves import points
from tests.support.checks import sequential_of

pytestmark = pytest.mark.usefixtures("own_clock")


PAIR = [(0, 1)]


def randomized_response(bit: int, epsilon: float = 8.0) -> int:
    """Keeps ε exactly, and is right in 99.97 % of all runs."""
    return bit if random.random() < 1 / (1 + math.exp(-epsilon)) else 1 - bit


def by_default(bit: int, rng: Any = np.random.default_rng(5)) -> int:  # noqa: B008  # as people write it
    """Randomized response with the loss ln(10⁹ − 1) = 20.7: that runs all agree does not make it infinite."""
    return 1 - bit if rng.random() < 1e-9 else bit


def by_system_calls(bit: int) -> int:
    """Randomized response with the loss ln(2^30 − 1) = 20.8, from random bits that nobody watches."""
    return 1 - bit if int.from_bytes(os.getrandom(4)) < 4 else bit


def of_unseeded_generator(bit: int) -> int:
    """The same: it seeds a global generator, and draws from another."""
    np.random.seed(7)
    return 1 - bit if random.Random().random() < 2.0**-30 else bit


@pytest.mark.parametrize(
    "function",
    [lambda bit: bit, lambda bit: randomized_response(bit, 30.0), by_default, by_system_calls, of_unseeded_generator],
)
def test_no_loss_is_called_infinite_because_all_runs_agree(function: Callable[[int], int]) -> None:
    result = check(function, pairs=PAIR, claim=Claim(1.0), seconds=6)
    assert (result.verdict, result.stage, set(result.evidence)) == (Verdict.VIOLATED, "stability", {"sequential"})
    assert any("if the function has no noise, it keeps no finite epsilon" in note for note in result.notes)
    assert "infinite" not in str(result)
    assert sequential_of(result).alpha == 0.5e-6  # a later stage keeps the other half


def runs_of(function: Callable[..., Any], epsilon: float = 1.0, seconds: float = 60.0, **options: Any) -> Runs:
    own = Function(function, "function", deadline=time.monotonic() + seconds, **options)
    return Runs(own, lambda data_in, data_out: Claim(epsilon), 1)


def test_a_loss_below_the_claim_leads_the_search() -> None:
    """Neither pair convicts. Where both were worth nothing, nothing would lead from the one to the other."""
    with isolated(1):
        runs = runs_of(lambda place: randomized_response(int(place == 3), 1.5 if place > 1 else 0.0), 3.0)
        large, none = (runs.screened(pair, 1024)[0].expected_log_wealth for pair in ((2, 3), (0, 1)))
    assert -3.0 <= none < -2.5 < large < 0


def test_a_second_look_goes_on_while_its_wealth_grows() -> None:
    """128 runs of a loss of 2 against 1.7 show little; some thousands of them convict."""
    with isolated(1):
        runs = runs_of(lambda bit: randomized_response(bit, 2.0), 1.7)
        event = Candidate(Claim(1.7), OneOf((1,)), 0.004, 0.1)
        (stopped,) = runs.wealth((0, 1), [event], 128, 128)
        (decided,) = runs.wealth((0, 1), [event], 2048, 1e6)
        (honest,) = runs.wealth((0, 1), [replace(event, point=Claim(2.5))], 128, 1e6)
    assert stopped.seen.runs == 128
    assert decided.log_e_value >= CONVICTING > stopped.log_e_value
    assert decided.seen.runs > 2048
    assert honest.seen.runs < 1024


def test_a_look_ends_where_all_wealth_falls_behind() -> None:
    """One event of two was promised 13 nats by 128 runs, and shows nothing: the other one decides."""
    with isolated(1):
        runs = runs_of(lambda bit: randomized_response(bit, 3.0), 1.0)
        one, other = (Candidate(Claim(1.0), OneOf((outcome,)), 0.2, 0.1) for outcome in (7, 1))
        states = runs.wealth((0, 1), [one, other], 1024, 1024)
        (alone,) = runs.wealth((0, 1), [one], 1024, 1024)
    assert states[1].log_e_value >= CONVICTING
    assert alone.seen.runs == 128


def test_a_first_look_keeps_the_regression_beside_the_strongest_event() -> None:
    """Ten parts with a loss of .7 each: of 64 runs, chance makes some single part look stronger."""

    def ten(bit: int) -> list[float]:
        return [round(0.7 * bit + random.expovariate(1.0) - random.expovariate(1.0), 2) for _ in range(10)]

    with isolated(1):
        runs = runs_of(ten)
        looks = [runs.screened((0, 1), 64) for _ in range(10)]
    last = [look[-1].event for look in looks]
    assert all(isinstance(event, Learned) and len(event.terms) > 1 for event in last)
    assert sum(look[-1].growth > 0 for look in looks) >= 6
    assert sum(len(look) > 1 for look in looks) >= 2


@pytest.mark.parametrize("order", [[(0, 1), (2, 3)], [(2, 3), (0, 1)]], ids=str)
def test_the_pair_that_convicts_decides_wherever_it_stands(order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs together keep α: each but the last spends half of what is left."""
    monkeypatch.setattr("subnormal.audit.check.check.search_by_laws", lambda *_: None)
    monkeypatch.setattr("subnormal.audit.check.check.prove_by_laws", lambda *_: None)
    monkeypatch.setattr(Runs, "screening_score", lambda *_, **__: 0.0)  # so that the search convicts none
    monkeypatch.setattr(Runs, "successive_halving", lambda self, pairs: order)
    result = check(
        lambda place: randomized_response(place == 3, 3.0 if place > 1 else 0.0),
        pairs=[(0, 1), (2, 3)],
        claim=Claim(1.0),
        seconds=4,
        runs=1 << 12,
    )
    assert (result.verdict, result.worlds) == (Verdict.VIOLATED, (2, 3))
    assert sequential_of(result).alpha == 0.5e-6


def test_successive_halving_ends_with_the_pair_that_breaks_its_claim() -> None:
    runs = runs_of(lambda place: randomized_response(int(place == 3), 1.5 if place > 1 else 0.0), seconds=600)
    with isolated(1):
        runs.function.outcomes(0, 64)  # so that it is known how long a run takes
        ranked = runs.successive_halving([*((0, 1) for _ in range(8)), (2, 3)])
    assert ranked[0] == (2, 3)
    assert len(ranked) < 9


def test_what_is_as_rare_as_delta_is_compared_on_runs_that_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys with three times the allowed probability were given up after 1,024 runs, which show five of them."""
    claim, looked = Claim(1.0, 0.005), list[int]()
    runs = Runs(Function(abs, "abs", deadline=time.monotonic() + 3600.0), lambda *_: claim, 1)

    def promise(self: Runs, pair: Any, many: int, seconds: float) -> float:
        looked.append(many)
        return float(pair[0])

    monkeypatch.setattr(Runs, "_expected_log_wealth", promise)
    with isolated(1):
        runs.function.outcomes(0, 64)  # so that it is known how long a run takes
    assert runs.successive_halving([(place, 9) for place in range(8)])[0] == (7, 9)
    assert looked == [4096] * 8 + [16_384] * 2
    claim = Claim(1.0, 1e-9)  # too rare to wait for
    looked.clear()
    runs.successive_halving([(0, 9), (1, 9)])
    assert looked[0] == 1024


def test_equal_outcomes_do_not_refute_what_runs_cannot_refute() -> None:
    result = check(lambda bit: bit, pairs=PAIR, claim=Claim(30.0), seconds=0.5)
    assert result.verdict == Verdict.UNDERPOWERED
    assert any("if the function is deterministic" in note for note in result.notes)


@pytest.mark.parametrize("seed", range(2))
def test_certain_outcomes_that_runs_do_not_confirm_convict_nobody(seed: int) -> None:
    """Most of these checks see 208 true answers before the first other one. They keep their claim exactly."""
    result = check(lambda bit: randomized_response(bit, 6.5), pairs=PAIR, claim=Claim(6.5), seconds=0.5, seed=seed)
    assert result.verdict is not Verdict.VIOLATED
    assert result.stage != "stability"  # the search goes on


def test_what_depends_on_the_number_of_calls_convicts_nobody() -> None:
    """Where one world were always called first, it would always see the even numbers."""
    calls = itertools.count()
    result = check(lambda bit: next(calls) % 2, pairs=PAIR, claim=Claim(1.0), seconds=1)
    assert result.verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("draw", [random.random, np.random.random])
def test_judging_draws_numbers_that_no_other_stage_has_seen(draw: Any) -> None:
    seen: list[float] = []
    judged: list[float] = []

    def function(bit: int) -> float:
        (judged if judging else seen).append(draw())
        return round((judged if judging else seen)[-1] + 0.2 * bit, 3)

    judging = False

    def watched(*arguments: Any, **options: Any) -> Any:
        nonlocal judging
        judging = True
        return judge(*arguments, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("subnormal.audit.check.check.search_by_laws", lambda *_: None)
        patched.setattr("subnormal.audit.check.check.prove_by_laws", lambda *_: None)
        patched.setattr(check_judge, "judge", watched)
        check(function, pairs=PAIR, claim=Claim(8.0), seconds=1, runs=2_000)
    assert len(seen) > 1_000
    assert len(judged) == 4_000
    assert len(set(judged)) == 4_000
    assert not set(judged) & set(seen)


def test_the_order_of_the_worlds_is_not_drawn_from_the_stream_of_the_function() -> None:
    with isolated(1):
        reseed(1)
        coin = runs_of(abs)._coin
        ours = [coin.getrandbits(32) for _ in range(8)]
        random.seed(1)
        assert ours != [random.getrandbits(32) for _ in range(8)]
        assert ours != [random.Random(1).getrandbits(32) for _ in range(8)]


def test_streams_of_other_names_are_other_streams() -> None:
    with isolated(1):
        drawn = []
        for stream in ((1, "search", 0), (1, "judge", 0), (2, "search", 0), (1,), (1, "search", 1)):
            reseed(*stream)
            drawn += [random.random(), np.random.random()]
        assert len(set(drawn)) == 10
        reseed(1)
        again = random.random(), np.random.random()
        assert again == (drawn[6], drawn[7])


def test_a_batch_that_raises_is_drawn_again_one_by_one_and_so_are_all_later_ones() -> None:
    """Drawing only the batch that raised again would let refusals of chance p be seen with chance p^2."""
    sizes: list[int] = []

    def function(bit: int, runs: int) -> list[int]:
        sizes.append(runs)
        if len(sizes) == 4:
            raise ValueError("one of the runs is refused")
        return [0] * runs

    evidence = judge(runs_of(function, batch=True), (0, 1), certain(Claim(1.0), 0), 1e-6, 0, most=200)
    assert evidence.runs == 200
    assert sizes[:4] == [64] * 4
    assert set(sizes[4:]) == {1}
    assert len(sizes) == 4 + 64 + 2 * 64 + 2 * 72


def test_wealth_begins_again_after_a_batch_that_raises() -> None:
    """Which batches raise may depend on their outcomes: those before it are no fair sample."""
    calls = 0

    def function(bit: int, runs: int) -> list[int]:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise ValueError("one of the runs is refused")
        return [bit if calls < 5 else 0] * runs

    evidence = judge(runs_of(function, batch=True), (0, 1), certain(Claim(1.0), 0), 1e-60, 0, most=256)
    (_, second), (_, third) = evidence.looks[2:4]
    assert second > 10
    assert third <= 0


def test_refusals_of_a_batch_convict_no_function_that_keeps_its_claim() -> None:
    """Each run is refused with chance 1/1000 or e/1000, which makes a batch of 1,000 raise."""

    def function(bit: int, runs: int) -> list[int]:
        if np.random.random(runs).min() < (1 + bit * (math.e - 1)) / 1_000:
            raise ValueError("refused")
        return [0] * runs

    result = check(function, pairs=PAIR, claim=Claim(1.0), batch=True, seconds=1)
    assert result.verdict != Verdict.VIOLATED


def test_the_wealth_of_a_batch_function_begins_at_a_half_before_and_after_a_batch_that_raises() -> None:
    calls = 0

    def function(bit: int, runs: int) -> list[int]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise ValueError("one of the runs is refused")
        return [0] * runs

    evidence = judge(runs_of(function, batch=True), (0, 1), Candidate(Claim(1.0), OneOf((1,)), 0.0), 1e-6, 0, most=128)
    assert calls > 3
    assert [round(math.exp(wealth), 9) for _, wealth in evidence.looks] == [0.5, 0.5, 0.5]


def test_a_batch_function_that_cannot_be_refuted_by_its_runs_is_underpowered() -> None:
    """The runs suffice for wealth that begins at 1, but not at 1/2, nor at 1/2 after a batch that raises."""
    event = Candidate(Claim(1.0), OneOf((1,)), 0.0)

    def verdict(function: Callable[..., Any], batch: bool, wealth: float) -> Verdict:
        return judge(runs_of(function, batch=batch), (0, 1), event, 1 / wealth, 0, most=256).verdict

    most = math.exp(e_process.reachable(256 - FIRST, Claim(1.0)) - 0.3)
    assert verdict(lambda bit: 0, False, most) is Verdict.NOT_REFUTED
    assert verdict(lambda bit, runs: [0] * runs, True, most) is Verdict.UNDERPOWERED
    assert verdict(lambda bit, runs: [0] * runs, True, most / 2) is Verdict.NOT_REFUTED

    calls = 0

    def raises_once(bit: int, runs: int) -> list[int]:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise ValueError("one of the runs is refused")
        return [0] * runs

    assert verdict(raises_once, True, most / 2) is Verdict.UNDERPOWERED


def test_a_batch_function_must_show_twice_the_wealth() -> None:
    def function(bit: int, runs: int) -> list[int]:
        return [bit] * runs

    single, batch = runs_of(lambda bit: bit), runs_of(function, batch=True)
    candidate = certain(Claim(1.0), 0)
    wealth = judge(single, (0, 1), candidate, 1e-6, 0).log_e_value
    alpha = 1.5 * math.exp(-wealth)  # the first look suffices for one of them
    looks = [len(judge(runs, (0, 1), candidate, alpha, 0).looks) for runs in (single, batch)]
    assert looks[0] < looks[1]


def test_wealth_is_looked_at_whenever_runs_have_grown_by_a_quarter() -> None:
    evidence = judge(runs_of(lambda bit: 0), (0, 1), Candidate(Claim(1.0), OneOf((1,)), 0.0), 1e-6, 0, most=1 << 16)
    runs = [seen for seen, _ in evidence.looks]
    assert runs[-1] == 1 << 16
    assert all(after - before <= max(FIRST, before / 4) for before, after in itertools.pairwise(runs))


@pytest.mark.parametrize("reserve", range(8))
def test_a_run_that_has_begun_is_followed_by_that_of_the_other_world(reserve: int) -> None:
    """A function may keep its claim and be slow for one outcome: leaving out the runs that a limit of time interrupts
    would leave out that outcome. Each run takes a second of eight."""
    clock = Clock(counts=True, a_run=1.0, end=8.0)
    sampler = Runs(Function(lambda bit: bit, "bit", deadline=8.0, clock=clock), lambda *pair: Claim(1.0), 5)
    drawn = sampler.draw((0, 1), 100, reserve=float(reserve))
    pairs = math.ceil((8 - reserve) / 2)
    assert [len(one) for one in drawn] == [pairs, pairs]
    assert sampler.function.runs == 2 * pairs


def test_a_hopeless_event_has_its_share_of_the_time_and_no_more() -> None:
    clock = Clock(counts=True, a_run=1.0, end=8000.0)
    sampler = Runs(Function(lambda bit: 0, "zero", deadline=8000.0, clock=clock), lambda *pair: Claim(1.0), 5)
    evidence = judge(sampler, (0, 1), Candidate(Claim(1.0), OneOf((1,)), 0.0), 1e-6, 0, share=1 / 4)
    assert evidence.runs == 1000


def test_the_point_that_a_certain_outcome_refutes_soonest_is_judged() -> None:
    point = certain(Zcdp(0.5), 0).point
    gains = [(1 - one.delta) / (math.exp(one.epsilon) + one.delta) for one in points(Zcdp(0.5))]
    assert (1 - point.delta) / (math.exp(point.epsilon) + point.delta) == max(gains) > 1.1 * min(gains)
    assert certain(Claim(2.0), 0).event(np.array([0, 1])).tolist() == [True, False]
