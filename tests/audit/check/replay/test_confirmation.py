"""A replay cannot be told from other runs, and what it says is held against runs that it did not record.

False alarms: each of these functions is accused with a probability of at most ALPHA = 1e-6.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diffprivlib import mechanisms
from hypothesis import strategies as st
from scipy import stats

from subnormal import Claim, Verdict, add_or_remove, check
from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.replay import search
from subnormal.audit.check.replay.proof import SHARE, runs_needed
from subnormal.audit.check.replay.search import ReplaySearch
from subnormal.audit.check.state import Check
from tests.support.replays import accused, laplace, shown, suspected

pytestmark = pytest.mark.usefixtures("own_clock")

ALPHA = 1e-6
RNG, OLDER = np.random.default_rng(5), np.random.RandomState(6)
HELD = [np.random.default_rng(5)]
SCALES: dict[Any, float] = {np.random.laplace: 1.0}
KIND = type(np.random.laplace)
DRAWS = {"laplace": np.random.laplace}
ASKING: dict[str, Callable[[float], float]] = {  # the noise has scale 1 where all is as it should be, else 1/10
    "generator": lambda x: x + RNG.laplace(0.0, 1.0 if type(RNG) is np.random.Generator else 0.1),
    "older generator": lambda x: x + OLDER.laplace(0.0, 1.0 if type(OLDER) is np.random.RandomState else 0.1),
    "key": lambda x: x + SCALES.get(np.random.laplace, 0.1) * laplace(),
    "held function": lambda x: x + (laplace() if DRAWS["laplace"] is np.random.laplace else laplace(0.1)),
    "kind of the function": lambda x: x + laplace(1.0 if type(np.random.laplace) is KIND else 0.1),
}


@pytest.mark.parametrize("name", ASKING)
def test_who_asks_for_the_source_of_noise_is_not_accused(name: str) -> None:
    result = check(ASKING[name], pairs=[(0.0, 1.0)], claim=Claim(1.0), seconds=0.3, runs=64, alpha=ALPHA)
    assert "modelled" not in result.evidence


SOURCES: dict[str, Callable[[float], Any]] = {
    "made in the run": lambda x: x + np.random.default_rng().laplace(0.0, 0.5),
    "spawned": lambda x: x + np.random.default_rng().spawn(1)[0].laplace(0.0, 0.5),
    "secrets": lambda x: x + secrets.SystemRandom().gauss(0.0, 0.5),
    "module": lambda x: x + HELD[0].laplace(0.0, 0.5) if x > 9 else x + RNG.laplace(0.0, 0.5),
    "older generator": lambda x: x + OLDER.normal(0.0, 0.5),
    "scipy": lambda x: x + stats.laplace.rvs(scale=0.5),
    "scipy with a generator": lambda x: x + float(stats.norm.rvs(scale=0.5, random_state=RNG)),
    "diffprivlib": lambda x: mechanisms.Laplace(epsilon=2.0, sensitivity=1.0).randomise(x),
}


@pytest.mark.parametrize("source", SOURCES)
def test_noise_of_every_kind_of_source_convicts(source: str) -> None:
    """Right evidence is dropped with a probability of at most 10^-6."""
    assert accused(SOURCES[source], Claim(0.0, 0.3), (0.0, 1.0), range(1))


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


def begun(function: Callable[[Any], Any], seconds: float = 4.0) -> Check:
    audited = Function(function, "function")
    return Check(audited, st.just((0.0, 1.0)), lambda *_: Claim(1.0), seconds, None, ALPHA, 1, lambda _: None)


def test_evidence_that_runs_drop_is_not_tried_again_and_costs_half_of_alpha() -> None:
    check = begun(ASKING["generator"])
    with isolated(1):
        replaying = ReplaySearch(check)
        for _ in range(2):
            result, hints = replaying.search(0.5)
            assert result is None
            assert (0.0, 1.0) in [pair for _, pair in hints]
    assert check.alpha == ALPHA / 4  # one event of a replay, and one that it proposes


@pytest.mark.parametrize(("runs", "share"), [(2000, SHARE), (300, 0.05)])
def test_the_runs_that_confirm_see_the_share_that_the_event_leaves(
    monkeypatch: pytest.MonkeyPatch, runs: int, share: float
) -> None:
    """Two shares, of the event in the one world and of all runs in the other, have half of what is spent each."""
    asked, confirmed = list[float](), list[tuple[float, int]]()

    def affordable(function: Function, alpha: float, seconds: float) -> tuple[int, float]:
        asked.append(alpha)
        return runs, share

    def is_confirmed(function: Function, pair: Any, beyond: Any, runs: int) -> bool:
        confirmed.append((beyond.share, runs))
        return False

    monkeypatch.setattr(search, "affordable", affordable)
    monkeypatch.setattr(search, "is_confirmed", is_confirmed)
    check = begun(lambda x: x + laplace(0.1))
    replaying, replayed = ReplaySearch(check), shown(lambda x: x + laplace(0.1), (0.0, 1.0))
    assert replayed is not None
    convict: Any = replaying._conviction((0.0, 1.0), replayed)
    assert convict() is None
    assert asked == [ALPHA / 4] * 2  # a half is spent
    assert check.alpha == ALPHA / 2
    assert confirmed == [(share, runs)]
    monkeypatch.setattr(search, "affordable", lambda *_: (runs, share + 0.001))  # the time has become less
    assert convict() is None
    assert len(confirmed) == 1


def test_an_event_that_replay_proposes_is_judged_by_runs() -> None:
    """What 1 % of the runs may hide, times e^1, is more than the excess: the loss is 1.06."""
    check = begun(lambda x: x + laplace(1 / 1.06), seconds=60.0)  # of which it takes some four
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
