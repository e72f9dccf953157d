"""Functions that keep state: one that stops answering has an error, and `fresh=` calls a new one each time.

False alarms: at most ALPHA for each sound function, by its own bounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal import Claim, NotPrivateError, Verdict, add_or_remove, assert_private, check, stability
from subnormal.audit.check.regression import as_test

ALPHA = 1e-6
RECORDS = st.lists(st.integers(0, 1), max_size=3)
PAIRS: list[tuple[list[int], list[int]]] = [([1], [])]
ONE = Claim(1.0)


class BudgetExceededError(Exception):
    """The budget is spent."""


class Accountant:
    """Counts records with noise of a scale, so often as its budget allows."""

    def __init__(self, budget: float, scale: float = 1.0) -> None:
        self.budget, self.scale, self.spent = budget, scale, 0

    def spend(self) -> None:
        if self.spent >= self.budget:
            raise BudgetExceededError(f"{self.spent} of {self.budget} are spent")
        self.spent += 1

    def count(self, records: list[int]) -> float:
        self.spend()
        return round(len(records) + random.expovariate(1 / self.scale) - random.expovariate(1 / self.scale), 2)

    def total(self, records: list[int]) -> int:
        self.spend()
        return 2 * len(records)


def sound() -> Callable[[list[int]], float]:
    return Accountant(1).count


def naive() -> Callable[[list[int]], float]:
    return Accountant(1, scale=0.1).count


def doubled() -> Callable[[list[int]], int]:
    return Accountant(1).total


@pytest.mark.usefixtures("own_clock")
@pytest.mark.parametrize("budget", [1, 10, 500])
def test_a_function_that_stops_answering_has_an_error(budget: int) -> None:
    """Whatever its noise: of the calls that are left, both inputs show refusals alone."""
    result = check(Accountant(budget).count, pairs=PAIRS, claim=ONE, seconds=2)
    assert result.verdict is None
    calls = "1 call" if budget == 1 else f"{budget} calls"
    assert result.error == (
        f"the function stopped answering after {calls}, the last: BudgetExceededError: {budget} of {budget} are spent; "
        "it keeps state: pass fresh=, a function of no arguments that returns the function to call once"
    )


def test_a_small_budget_is_seen_in_the_first_calls() -> None:
    result = check(Accountant(10).count, RECORDS, add_or_remove(), ONE)
    assert (result.verdict, result.stage, result.runs < 200) == (None, "first call", True)


@pytest.mark.usefixtures("own_clock")
@pytest.mark.parametrize("budget", [1, 500])
def test_an_assertion_does_not_pass_where_the_release_stops_answering(budget: int) -> None:
    message = f"the function stopped answering after {budget:,} call"
    with pytest.raises(ValueError, match=message):
        assert_private(Accountant(budget).count, [1], [], epsilon=1.0, runs=20_000)
    with pytest.raises(ValueError, match=f"^no verdict: {message}"):
        assert_private(Accountant(budget).count, adjacent=PAIRS, epsilon=1.0, seconds=2)


@pytest.mark.usefixtures("own_clock")
@pytest.mark.parametrize("release", [lambda x: 1 / (x > 2), lambda x: 1 / (random.random() < 0.1)])
def test_a_function_that_refuses_some_inputs_or_some_runs_has_a_verdict(release: Callable[[Any], Any]) -> None:
    """Both inputs of the pair that is judged may refuse in all runs, and a run in ten may answer."""
    result = check(release, pairs=[(3, 4), (1, 2)], claim=ONE, runs=2_000, seconds=1)
    assert (result.verdict, result.error) == (Verdict.NOT_REFUTED, None)
    assert_private(lambda x: 1 / (random.random() < 0.001), 1, 0, epsilon=1.0, runs=4_000)


@pytest.mark.usefixtures("own_clock")
def test_fresh_functions_are_judged() -> None:
    assert check(None, pairs=PAIRS, claim=ONE, fresh=sound, seconds=1).verdict is Verdict.NOT_REFUTED
    result = check(data=RECORDS, adjacent=add_or_remove(), claim=ONE, fresh=naive)
    assert result.verdict is Verdict.VIOLATED
    assert result.function == "Accountant.count"
    assert_private(data_in=[1], data_out=[], epsilon=1.0, fresh=sound, runs=2_000, alpha=ALPHA)
    with pytest.raises(NotPrivateError):
        assert_private(data_in=[1], data_out=[], epsilon=1.0, fresh=naive, runs=2_000, alpha=ALPHA)
    with pytest.raises(NotPrivateError):
        assert_private(adjacent=PAIRS, epsilon=1.0, fresh=naive)


def test_fresh_functions_take_batches() -> None:
    def fresh() -> Callable[[list[int], int], list[float]]:
        return lambda records, runs: [Accountant(1, scale=0.1).count(records) for _ in range(runs)]

    result = check(None, pairs=PAIRS, claim=ONE, fresh=fresh, batch=True)
    assert result.verdict is Verdict.VIOLATED
    test: Any = as_test(result)
    assert "assert_private(fresh=lambda: lambda data: fresh()(data, 1)[0], adjacent=" in test


@pytest.mark.usefixtures("own_clock")
def test_fresh_transformations_are_measured() -> None:
    bound = {"adjacent": add_or_remove(), "distance": "l1"}
    result = stability(None, RECORDS, bound=1, fresh=doubled, seconds=1, **bound)  # type: ignore[arg-type]
    assert result.verdict is Verdict.VIOLATED
    test: Any = as_test(result)
    assert "stability(fresh=doubled, pairs=" in test
    for budget in (9, 10):  # an answer is followed by a refusal in one pair, or not
        with pytest.raises(ValueError, match=r"must be deterministic.*pass fresh="):
            stability(Accountant(budget).total, RECORDS, bound=2, seconds=2, **bound)  # type: ignore[arg-type]


def test_the_test_to_paste_carries_what_makes_the_function() -> None:
    test: Any = as_test(check(None, pairs=PAIRS, claim=ONE, fresh=naive))
    assert "import naive\n" in test
    assert "assert_private(fresh=naive, adjacent=[(data_in, data_out)]" in test
    names: dict[str, Any] = {}
    exec(test, names)
    with pytest.raises(NotPrivateError):
        names["test_naive_keeps_its_claim"]()
    unnamed: Any = as_test(check(None, pairs=PAIRS, claim=ONE, fresh=lambda: naive()))
    assert "# fresh must be imported or defined here\n" in unnamed
    assert "assert_private(fresh=fresh, " in unnamed


@pytest.mark.parametrize(
    ("function", "fresh", "message"),
    [
        (len, sound, "fresh must be a function of no arguments .* in its place, got .* and '<built-in"),
        (None, 3, "fresh must be a function of no arguments .*, got fresh = '3'"),
        (None, lambda: 3, "function must be callable, got '3'"),
        (None, lambda: lambda: 3, "is called as function\\(data\\)"),
        (None, None, "function must be callable, got 'None'"),
    ],
)
def test_what_is_no_function_and_makes_none_is_an_error(function: Any, fresh: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check(function, RECORDS, add_or_remove(), ONE, fresh=fresh)
    with pytest.raises(TypeError, match=message):
        assert_private(function, 1, 0, epsilon=1.0, fresh=fresh)
    with pytest.raises(TypeError, match=message):
        stability(function, RECORDS, add_or_remove(), fresh=fresh)
