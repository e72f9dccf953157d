"""A replay cannot be told from other runs, and what it says is held against runs that it did not record.

False alarms: each of these functions is accused with a probability of at most ALPHA = 1e-6.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import os
import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diffprivlib import mechanisms
from hypothesis import strategies as st
from scipy import stats

from subnormal import Claim, Gdp, add_or_remove, check
from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.replay.proof import SHARE, runs_needed
from subnormal.audit.check.replay.search import ReplaySearch
from subnormal.audit.check.result import Result
from subnormal.audit.check.state import Check
from subnormal.audit.model import Verdict
from tests.support.replays import accused, laplace, suspected

pytestmark = pytest.mark.usefixtures("own_clock")

ALPHA = 1e-6
RNG, OLDER = np.random.default_rng(5), np.random.RandomState(6)
HELD = [np.random.default_rng(5)]
NONCES = itertools.count(1)
SCALES: dict[Any, float] = {np.random.laplace: 1.0}
KIND = type(np.random.laplace)
DRAWS = {"laplace": np.random.laplace}


def checked(function: Callable[[Any], Any], claim: Any, pair: tuple[Any, Any] = (0.0, 1.0)) -> Result:
    return check(function, pairs=[pair], claim=claim, seconds=0.3, runs=64, alpha=ALPHA)


def generator(x: float) -> float:
    return x + RNG.laplace(0.0, 1.0 if type(RNG) is np.random.Generator else 0.1)


def older_generator(x: float) -> float:
    return x + OLDER.laplace(0.0, 1.0 if type(OLDER) is np.random.RandomState else 0.1)


def keyed(x: float) -> float:
    return x + SCALES.get(np.random.laplace, 0.1) * laplace()


def held_function(x: float) -> float:
    return x + (laplace() if DRAWS["laplace"] is np.random.laplace else laplace(0.1))


def kind_of_the_function(x: float) -> float:
    return x + laplace(1.0 if type(np.random.laplace) is KIND else 0.1)


@pytest.mark.parametrize(
    "function",
    [
        generator,
        older_generator,
        keyed,
        held_function,
        kind_of_the_function,
    ],
)
def test_who_asks_for_the_source_of_noise_is_not_accused(function: Callable[[Any], Any]) -> None:
    """The noise has scale 1 where all is as it should be, else 1/10."""
    assert "modelled" not in checked(function, Claim(1.0)).evidence


def public_coin(x: float) -> list[float]:
    """The record is left out in a band of the coin, whose probability is 0.0441. δ(0) is 0.9559 times 0.3829."""
    coin, noise = 0.0 + random.gauss(0.0, 1.0), random.gauss(0.0, 1.0)
    return [coin, (0.0 if 1.5 < coin < 2 else x) + noise]


def modulo(x: float) -> float:
    """The density is that of a cosine: ln (cosh 6.6 / cosh 5.6) is 1 − 1.2·10^−5."""
    return (x + laplace() + 6.6) % 13.2 - 6.6


def modulo_of_much(x: float) -> float:
    return (x + laplace() + 1e3) % 2e3 - 1e3


def sampled(share: float, coin: Callable[[], float]) -> Callable[[float], float]:
    return lambda x: (x if coin() < share else 0.0) + laplace()


def of_the_system() -> float:
    return int.from_bytes(os.getrandom(7)) / 2.0**56


def of_sampling(share: float) -> float:
    return math.log1p(share * math.expm1(1.0))


def by_default(rng: Any = np.random.default_rng(5)) -> float:  # noqa: B008  # as people write it
    return float(rng.random())


COINS: dict[str, Callable[[], float]] = {
    "system": of_the_system,
    "held": lambda: HELD[0].random(),
    "method": HELD[0].random,
    "default": by_default,
    "legacy-method": OLDER.random_sample,
    "partial": functools.partial(np.random.default_rng(5).uniform, 0.0, 1.0),
}


@pytest.mark.parametrize("name", COINS)
@pytest.mark.parametrize(("share", "pair"), [(0.95, (0.0, 1.0)), (0.97, (1.0, 0.0))])
def test_a_sample_whose_coins_nobody_sees_is_not_accused(name: str, share: float, pair: tuple[float, float]) -> None:
    assert not accused(sampled(share, COINS[name]), Claim(of_sampling(share)), pair)


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (public_coin, Claim(0.0, 0.3661)),
        (modulo, Claim(1 - 1.15e-5)),
        (modulo_of_much, Claim(1.0)),
    ],
)
def test_structure_between_the_shifts_convicts_nobody(
    function: Callable[[Any], Any], claim: Claim, pair: tuple[float, float]
) -> None:
    assert "modelled" not in checked(function, claim, pair).evidence
    assert not accused(function, claim, pair)


@pytest.mark.parametrize(("low", "high"), [(3.2, 3.5), (-0.31, -0.29), (6.0, 6.5)])
@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_a_window_of_the_release_that_shows_something_else_is_no_way_to_an_accusation(
    low: float, high: float, pair: tuple[float, float]
) -> None:
    """Within the window the release is 0: with probability p of it in the one world and p e in the other, at most.

    The loss of all other outcomes is 1, so that a claim of 1 is kept.
    """

    def function(x: float) -> float:
        noisy = x + laplace()
        return 0.0 if low < noisy < high else noisy

    assert not accused(function, Claim(1.0), pair)


def test_a_release_elsewhere_in_one_world_convicts_nobody() -> None:
    """One world draws from a location that is not the one of the other, in one run of thirty: q = 0.967."""

    def function(x: float) -> float:
        left_out = x > 0 and HELD[0].random() < 1 / 30
        return (0.0 if left_out else x) + laplace()

    for pair in ((0.0, 1.0), (1.0, 0.0)):
        assert not accused(function, Claim(of_sampling(29 / 30)), pair)


def far_in_one_world(x: float) -> float:
    noisy = x + laplace()
    return noisy - 1.0 if x > 0 and noisy > 1.5 else noisy


def far_in_the_other(x: float) -> float:
    noisy = x + laplace()
    return noisy + 1.0 if x == 0 and noisy > 1.5 else noisy


@pytest.mark.parametrize("function", [far_in_one_world, far_in_the_other])
@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_a_release_that_lies_elsewhere_for_one_input_where_the_event_holds_is_not_modelled(
    function: Callable[[Any], Any], pair: tuple[float, float]
) -> None:
    assert not accused(function, Claim(0.5), pair)


def noise_of_one_seed(x: float) -> float:
    return x + np.random.default_rng(7).laplace(0.0, 0.5)


def noise_of_few_seeds(x: float) -> float:
    return x + np.random.default_rng(next(NONCES) % 9).laplace(0.0, 0.5)


def noise_of_its_own(x: float) -> float:
    """The name says Laplace noise, and the numbers are drawn otherwise: a library's own subclass."""
    return float(x + Uniform().laplace(0.0, 1.0))


class Uniform(np.random.RandomState):
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.uniform(-9, 9)


@pytest.mark.parametrize("function", [noise_of_one_seed, noise_of_few_seeds, noise_of_its_own])
def test_outcomes_that_do_not_follow_the_law_of_the_noise_are_not_modelled(function: Callable[[Any], Any]) -> None:
    assert not accused(function, Claim(1.0), (0.0, 1.0))


def a_little_more_noise(x: float) -> float:
    return x + RNG.laplace(0.0, 1.0 if type(RNG) is np.random.Generator else 0.98)


def elsewhere_beside_the_event(x: float) -> float:
    noisy = x + laplace()
    return 5.0 if x == 0 and 1.8 < noisy < 2.2 else noisy


def elsewhere_in_a_rare_event(x: float) -> float:
    noisy = x + random.gauss(0.0, 0.4845)
    return 0.0 if 2.3 < abs(noisy - 0.5) < 2.45 else noisy


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (a_little_more_noise, Claim(0.5)),
        (elsewhere_beside_the_event, Claim(0.5)),
        (elsewhere_in_a_rare_event, Claim(10.0, 1e-5)),
    ],
)
def test_what_frequencies_do_not_show_is_seen_in_each_run(function: Callable[[Any], Any], claim: Claim) -> None:
    """The first differs unrecorded, the second in 3 % of the recorded runs, the third only where the event holds."""
    assert any(suspected(function, claim, (0.0, 1.0), seed) is not None for seed in range(3))
    assert not accused(function, claim, (0.0, 1.0))


def twice_of_one_seed(x: float) -> list[float]:
    seed = next(NONCES)
    return [x + np.random.default_rng(seed).laplace() for _ in range(2)]


def restored(x: float) -> list[float]:
    state = random.getstate()
    one = x + random.gauss()
    random.setstate(state)
    return [one, x + random.gauss()]


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (twice_of_one_seed, Claim(1.0)),
        (restored, Gdp(1.0)),
        (lambda x: [x + laplace(), x + laplace()], Claim(1.0)),
    ],
)
def test_the_losses_of_several_releases_are_not_added(function: Callable[[Any], Any], claim: Any) -> None:
    assert not accused(function, claim, (0.0, 1.0))


def made_in_the_run(x: float) -> float:
    return x + np.random.default_rng().laplace(0.0, 0.5)


@pytest.mark.parametrize(
    "function",
    [
        made_in_the_run,
        lambda x: x + np.random.default_rng().spawn(1)[0].laplace(0.0, 0.5),
        lambda x: x + secrets.SystemRandom().gauss(0.0, 0.5),
        lambda x: x + HELD[0].laplace(0.0, 0.5) if x > 9 else x + RNG.laplace(0.0, 0.5),
        lambda x: x + OLDER.normal(0.0, 0.5),
        lambda x: x + stats.laplace.rvs(scale=0.5),
        lambda x: x + float(stats.norm.rvs(scale=0.5, random_state=RNG)),
        lambda x: mechanisms.Laplace(epsilon=2.0, sensitivity=1.0).randomise(x),
    ],
)
def test_noise_of_every_kind_of_source_convicts(function: Callable[[Any], Any]) -> None:
    """Right evidence is dropped with a probability of at most 10^-6."""
    assert accused(function, Claim(0.0, 0.3), (0.0, 1.0), range(1))


@pytest.mark.parametrize(
    "bits",
    [
        lambda rng: rng.bit_generator.random_raw(),
        lambda rng: np.random.Generator(rng.bit_generator).normal(),
        lambda rng: copy.deepcopy(rng).normal(),
    ],
)
def test_who_asks_a_generator_for_its_bits_may_draw_unrecorded(bits: Callable[[Any], Any]) -> None:
    def function(x: float) -> float:
        rng = np.random.default_rng()
        return float(x + rng.normal(0.0, 0.5) + 0.0 * bits(rng))

    assert suspected(function, Claim(1.0), (0.0, 1.0)) is None


def test_a_share_of_the_runs_is_seen() -> None:
    for alpha in (0.5, 1e-3, 1e-6):
        assert (1 - SHARE) ** runs_needed(alpha) <= alpha < (1 - SHARE) ** (runs_needed(alpha) - 1)


def begun(function: Callable[[Any], Any], claim: Any = Claim(1.0)) -> Check:  # noqa: B008  # it is frozen
    audited = Function(function, "function")
    return Check(audited, st.just((0.0, 1.0)), lambda *_: claim, 4.0, None, ALPHA, 1, lambda _: None)


def test_evidence_that_runs_drop_is_not_tried_again_and_costs_half_of_alpha() -> None:
    check = begun(generator)
    with isolated(1):
        replaying = ReplaySearch(check)
        for _ in range(2):
            result, hints = replaying.search(0.5)
            assert result is None
            assert (0.0, 1.0) in hints
    assert check.alpha == ALPHA / 4  # one event of a replay, and one that it proposes


def test_an_event_that_replay_proposes_is_judged_by_runs() -> None:
    """What 1 % of the runs may hide, times e^1, is more than the excess: the loss is 1.06."""
    check = begun(lambda x: x + laplace(1 / 1.06))
    with isolated(1):
        result, _ = ReplaySearch(check).search(0.5)
    assert result is not None
    assert (result.verdict, result.stage, set(result.evidence)) == (Verdict.VIOLATED, "runs", {"sequential"})


def test_a_pair_of_a_search_is_modelled() -> None:
    def noisy(records: list[int]) -> float:
        return 2 * len(records) + RNG.laplace()

    result = check(noisy, st.lists(st.integers(0, 9)), add_or_remove(), Claim(1.0), seconds=2, alpha=ALPHA)
    assert (result.verdict, result.stage, set(result.evidence)) == (Verdict.VIOLATED, "replay", {"modelled"})
    assert sorted(map(len, result.worlds or ())) == [0, 1]
