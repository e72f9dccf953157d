"""The bound from one training run: against all mechanisms by linear programs, rationals, and its coverage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.stats import binom

from subnormal.audit.statistics.one_run import OneRun, audit_one_run, least_epsilon, p_value

FALSE_ALARM = 1e-6  # chance that a test of coverage fails though the bound has its coverage
ALPHA = 0.05


def most_correct(canaries: int, guesses: int, correct: int, epsilon: float, delta: float, *, both: bool) -> float:
    """Return the largest P(W ≥ correct) of all (ε, δ)-DP mechanisms that guess so many canaries, by a linear program.

    both: guesses are "in" or "out"; else "in" alone. A mechanism is a law of the guesses for each of 2^canaries inputs.
    """
    inputs = list(itertools.product([0, 1], repeat=canaries))
    outputs = [
        dict(zip(chosen, said, strict=True))
        for chosen in itertools.combinations(range(canaries), guesses)
        for said in itertools.product([0, 1] if both else [1], repeat=guesses)
    ]
    pairs = [(i, j) for i, a in enumerate(inputs) for j, b in enumerate(inputs) if sum(map(int.__ne__, a, b)) == 1]
    laws, width = len(inputs) * len(outputs), len(outputs)
    gain = np.zeros(laws + len(pairs) * width)
    for i, one in enumerate(inputs):
        for k, output in enumerate(outputs):
            gain[i * width + k] = (sum(one[j] == said for j, said in output.items()) >= correct) / len(inputs)
    above: Any = lil_matrix((len(pairs) * (width + 1), len(gain)))
    limits = np.zeros(len(pairs) * (width + 1))
    for n, (i, j) in enumerate(pairs):
        for k in range(width):  # P(output | i) − e^ε·P(output | j) is at most a part of δ
            part, row = laws + n * width + k, n * (width + 1) + k
            above[row, i * width + k], above[row, j * width + k], above[row, part] = 1, -math.exp(epsilon), -1
            above[n * (width + 1) + width, part] = 1
        limits[n * (width + 1) + width] = delta
    total: Any = lil_matrix((len(inputs), len(gain)))
    for i in range(len(inputs)):
        total[i, i * width : (i + 1) * width] = 1
    found: Any = linprog(
        -gain, above.tocsr(), limits, total.tocsr(), np.ones(len(inputs)), bounds=(0, 1), method="highs"
    )
    return -float(found.fun)


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize(("canaries", "guesses"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)])
def test_no_mechanism_exceeds_the_bound_and_one_attains_it(
    canaries: int, guesses: int, epsilon: float, delta: float
) -> None:
    for correct in range(1, guesses + 1):
        bound = p_value(correct, guesses, canaries * delta, epsilon)
        most = most_correct(canaries, guesses, correct, epsilon, delta, both=True)
        assert most <= bound + 1e-9
        if correct > guesses / (1 + math.exp(-epsilon)):
            assert bound == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize(("canaries", "guesses"), [(3, 1), (3, 2), (5, 1)])
def test_guesses_of_one_side_need_half_of_delta_and_no_less(canaries: int, guesses: int) -> None:
    epsilon, delta = 0.5, 0.1
    most = most_correct(canaries, guesses, guesses, epsilon, delta, both=False)
    assert most <= p_value(guesses, guesses, canaries * delta / 2, epsilon)
    if (canaries, guesses) == (5, 1):
        assert most > p_value(guesses, guesses, canaries * delta / 4, epsilon)


@pytest.mark.parametrize("leaked", [0.0, 0.03, 0.7])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_the_closed_form_is_the_optimum_of_its_constraint(epsilon: float, leaked: float) -> None:
    tries, odds = 24, math.exp(epsilon)
    counts = tries + 1
    for correct in range(math.floor(tries * odds / (1 + odds)) + 1, counts):
        above = np.zeros((tries + 1, counts + tries))
        for w in range(1, counts):  # p_0 … p_24, then the parts of D
            above[w - 1, [w, w - 1, counts + w - 1]] = w, -odds * (tries - w + 1), -1
        above[tries, counts:] = 1
        gain = -1.0 * ((np.arange(counts + tries) >= correct) & (np.arange(counts + tries) < counts))
        limits = [0.0] * tries + [leaked]
        equal = (np.arange(counts + tries) < counts)[None, :]
        found: Any = linprog(gain, above, limits, equal.astype(float), [1.0], method="highs")
        assert p_value(correct, tries, leaked, epsilon) == pytest.approx(-float(found.fun), rel=1e-5, abs=1e-9)


def test_without_delta_it_is_the_binomial_tail() -> None:
    share = Fraction(3, 4)  # ε = ln 3
    for correct, guesses in itertools.combinations_with_replacement(range(1, 14), 2):
        if correct > guesses * share:
            tail = sum(
                math.comb(guesses, w) * share**w * (1 - share) ** (guesses - w) for w in range(correct, guesses + 1)
            )
            assert p_value(correct, guesses, 0.0, math.log(3)) == pytest.approx(float(tail), rel=1e-8)


def test_tails_too_small_for_a_float_still_count_what_delta_adds() -> None:
    assert p_value(50_000, 50_000, 0.5, 0.0) == pytest.approx(0.5 / 50_000)  # f/b = 1
    assert 0.5 / 45_000 < p_value(45_000, 50_000, 0.5, 0.0) < 0.5 / 45_000 / (1 - 1 / 8)
    values = [p_value(620, 1000, 0.2, epsilon / 50) for epsilon in range(60)]
    assert values == sorted(values)


Mechanism = Callable[[NDArray[np.int64], np.random.Generator], NDArray[np.float64]]


def response(epsilon: float) -> Mechanism:
    def scores(included: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
        true = random.random(len(included)) < 1 / (1 + math.exp(-epsilon))
        return np.where(true, included, 1 - included) + random.random(len(included)) / 2

    return scores


def leaking(epsilon: float, delta: float, at_once: int) -> Mechanism:
    """Randomized response; with probability δ·canaries/at_once so many random canaries are told for certain."""

    def scores(included: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
        noisy = response(epsilon)(included, random)
        if random.random() < delta * len(included) / at_once:
            told = random.permutation(len(included))[:at_once]
            noisy[told] = 10.0 * (2 * included[told] - 1)
        return noisy

    return scores


def gaussian(shift: float) -> Mechanism:
    return lambda included, random: random.normal(size=len(included)) + shift * included


def of_two(high: ArrayLike, low: ArrayLike, **options: Any) -> OneRun:
    """Return the audit of included and other canaries in a random order."""
    scores = np.concatenate([np.asarray(high, dtype=float), np.asarray(low, dtype=float)])
    order = np.random.default_rng(2).permutation(len(scores))
    return audit_one_run(scores[order], (np.arange(len(scores)) < np.size(high))[order], **options)


def coins(included: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
    """Two values that tell nothing."""
    return random.integers(0, 2, len(included)).astype(np.float64)


def bounds(mechanism: Mechanism, runs: int, canaries: int, delta: float, guesses: int | None) -> NDArray[np.float64]:
    random, found = np.random.default_rng(1), []
    for _ in range(runs):
        included = random.integers(0, 2, canaries)
        scores = mechanism(included, random)
        found.append(audit_one_run(scores, included, delta=delta, alpha=ALPHA, guesses=guesses).epsilon_lower)
    return np.array(found)


CASES = [
    (response(1.0), 0.0, 60, 60),
    (response(1.0), 0.0, 100, None),
    (leaking(1.0, 2e-3, 1), 2e-3, 60, 60),
    (leaking(1.0, 2e-3, 20), 2e-3, 60, 60),
    (leaking(1.0, 2e-3, 20), 2e-3, 100, None),
]


def assert_covered(runs: int, case: tuple[Mechanism, float, int, int | None]) -> None:
    mechanism, delta, canaries, guesses = case
    false = int((bounds(mechanism, runs, canaries, delta, guesses) > 1.0).sum())
    assert binom.sf(false - 1, runs, ALPHA) > FALSE_ALARM
    if guesses is not None and delta == 0:  # the law that attains the bound: no more than discreteness is lost
        assert binom.cdf(false, runs, 0.02) > FALSE_ALARM


@pytest.mark.parametrize("case", CASES)
def test_the_bound_has_its_coverage(case: tuple[Mechanism, float, int, int | None]) -> None:
    assert_covered(200, case)


@pytest.mark.parametrize("case", CASES)
def test_the_bound_has_its_coverage_in_ten_thousand_runs(case: tuple[Mechanism, float, int, int | None]) -> None:
    assert_covered(10_000, case)


def test_the_bound_is_near_the_truth() -> None:
    assert np.median(bounds(response(3.0), 9, 20_000, 1e-5, None)) > 2.85
    assert np.median(bounds(gaussian(1.0), 9, 20_000, 1e-5, None)) > 2.0  # the truth is 4.38
    assert np.median(bounds(response(1.0), 9, 20_000, 0.0, 20_000)) > 0.95


def test_equal_scores_tell_nothing() -> None:
    """The coins of other audits would be other ones: their order must not be one pattern. False alarms: FALSE_ALARM."""
    for scores in (coins, lambda included, random: np.ones(len(included))):
        false = int((bounds(scores, 100, 300, 0.0, None) > 0).sum())
        assert binom.sf(false - 1, 100, ALPHA) > FALSE_ALARM
    assert of_two([1.0] * 40, [0.0] * 40).epsilon_lower > 2.0
    assert of_two([1.0] * 600 + [0.0] * 400, [1.0] * 200 + [0.0] * 800).epsilon_lower > 0.6


def test_canaries_that_are_sorted_by_inclusion_are_shuffled() -> None:
    assert audit_one_run([1.0] * 2_000, [False] * 1_000 + [True] * 1_000).epsilon_lower < 0.3


def test_a_bound_names_the_test_that_shows_it() -> None:
    found = of_two([3.0, 4.0, 5.0, 6.0], [0.0, 1.0, 2.0], guesses=6)
    assert (found.guesses, found.correct, found.canaries, found.tests) == (6, 6, 7, 1)
    assert p_value(6, 6, 0.0, found.epsilon_lower) == pytest.approx(0.05)
    assert of_two([0.0] * 30, [1.0] * 30).epsilon_lower == 0.0


def test_each_test_has_its_share_of_alpha_and_the_delta_of_the_canaries() -> None:
    random = np.random.default_rng(3)
    fixed = of_two(random.normal(2, 1, 50), random.normal(size=50), delta=1e-3, guesses=60)
    assert fixed.epsilon_lower == least_epsilon(fixed.correct, 60, 100 * 1e-3, 0.05)
    several = of_two(random.normal(2, 1, 500), random.normal(size=500), delta=1e-4)
    assert several.guesses % 2 == 0  # of both sides
    assert several.epsilon_lower == least_epsilon(several.correct, several.guesses, 1000 * 1e-4, 0.05 / several.tests)
    top = random.normal(size=1000) + 9 * np.repeat([1.0, 0.0], [50, 950])
    one_side = of_two(top[:500], top[500:], delta=1e-4)
    assert one_side.guesses == one_side.correct == 46
    assert one_side.epsilon_lower == least_epsilon(46, 46, 1000 * 1e-4 / 2, 0.05 / one_side.tests)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("NaN at 1", {"scores": [0.0, math.nan, 1.0]}),
        (r"shapes \(3,\) and \(1,\)", {"included": [True]}),
        ("delta must be at least 0 and below 1, got 1", {"delta": 1}),
        ("alpha must be between 0 and 1/2, got 0.5", {"alpha": 0.5}),
        ("two canaries are needed, got 1", {"scores": [0.0], "included": [True]}),
        ("from 2 to the 3 canaries, got 4", {"guesses": 4}),
        ("must be even", {"guesses": 3}),
    ],
)
def test_bad_input_is_named(message: str, arguments: dict[str, object]) -> None:
    call: dict[str, object] = {"scores": [0.0, 1.0, 0.0], "included": [True, True, False], **arguments}
    with pytest.raises(ValueError, match=message):
        audit_one_run(**call)  # type: ignore[arg-type]
