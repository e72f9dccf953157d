"""The functions of benchmarks/adversary: their optimal events have the probabilities that are stated."""

from __future__ import annotations

import random
from collections.abc import Hashable
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.adversary.functions import PROBLEMS
from benchmarks.adversary.laws import FIRST, growth, optimal, runs_needed
from subnormal.audit.statistics.e_process import PairCounts, State, update
from subnormal.mechanisms.privacy import Claim

RUNS = 4_000  # a probability of .5 that is wrong by .05 is found, and one of .01 by .01
ALPHA = 1e-6 / (4 * len(PROBLEMS))  # of each tail of each probability: all of them are accused with probability 10^−6


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimal_event_has_its_probabilities(name: str) -> None:
    """False alarms: ALPHA for each of four tails."""
    problem = PROBLEMS[name]
    best = problem.optimum
    random.seed(1)
    np.random.seed(1)
    for value, stated in zip(problem.pair, (best.first, best.second), strict=True):
        count = sum(problem.run(value) in best.values for _ in range(RUNS))
        low, high = max(0.0, stated - problem.error - 1e-12), min(1.0, stated + problem.error + 1e-12)
        assert binom.sf(count - 1, RUNS, high) > ALPHA
        assert binom.cdf(count, RUNS, low) > ALPHA


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_pair_is_one_of_neighbours_and_its_laws_are_laws(name: str) -> None:
    problem = PROBLEMS[name]
    assert problem.adjacent.holds(*problem.pair)
    for law in problem.laws():
        assert abs(sum(law.values()) - 1) < 1e-9
        assert min(law.values()) >= 0


def test_no_event_of_a_small_law_is_better() -> None:
    claim = Claim(0.5, 0.01)
    first, second = dict(enumerate((0.1, 0.2, 0.3, 0.4))), dict(enumerate((0.4, 0.1, 0.1, 0.4)))
    events = chain.from_iterable(combinations(range(4), size) for size in range(5))
    speeds = [growth(claim, *(sum(law[one] for one in event) for law in (first, second))) for event in events]
    best = optimal(claim, first, second)
    assert growth(claim, best.first, best.second) == pytest.approx(max(speeds))


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize(("first", "second"), [(0.8, 0.1), (0.1, 0.001), (0.99, 0.5)])
def test_the_sequential_test_needs_as_many_runs_as_is_said(first: float, second: float, epsilon: float) -> None:
    """The mean of 60 tests is at least the bound, less their deviation (4 standard errors: 6e-5), and near it."""
    claim, generator = Claim(epsilon), np.random.default_rng(1)
    taken = np.array([_runs(claim, first, second, generator) for _ in range(60)])
    needed = runs_needed(claim, first, second)
    assert needed - 4 * taken.std() / 60**0.5 < taken.mean() < 2 * needed


def _runs(claim: Claim, first: float, second: float, generator: Any) -> int:
    """Return how many runs a sequential test takes that knows the event, in batches of 1/16 of those before."""
    shares = [first * second, first * (1 - second), (1 - first) * second, (1 - first) * (1 - second)]
    state = State(claim)
    while state.log_e_value < -np.log(1e-6):
        size = FIRST if not state.seen.runs else max(8, state.seen.runs // 16)
        state = update(state, PairCounts(*generator.multinomial(size, shares).tolist()))
    return state.seen.runs


def test_sound_twins_have_functions_of_their_own() -> None:
    """A twin that is the function itself would show nothing."""
    pairs: list[tuple[Hashable, Hashable]] = [(one.function, one.sound) for one in PROBLEMS.values() if one.sound]
    assert len(pairs) >= 50
    assert all(function is not sound for function, sound in pairs)
