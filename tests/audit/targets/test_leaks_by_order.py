"""A loss in the order of what is released, or in one of two parts of the same name, is found quickly; the same outcome
in an order that says nothing is not accused. The order of a mapping's keys is no part of the outcome.

False alarms: ALPHA for each sound case.
"""

import json
import random
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from subnormal import Claim, assert_private, check
from subnormal.attacks.core.event_words import in_words
from subnormal.attacks.core.events import Category, Learned, OneOf, Term
from subnormal.audit.check.assertion import NotPrivateError
from subnormal.audit.model import Verdict
from subnormal.audit.targets.outcomes import as_outcome

ALPHA = 1e-6
RUNS = 2_000
TIE, MORE = ["a", "a", "b", "b"], ["a", "a", "b", "b", "b"]
COUNTS = {"a": 2, "b": 3}


def noise() -> float:
    """Return Laplace noise of scale 1, on a grid."""
    return round((random.expovariate(1.0) - random.expovariate(1.0)) * 2**20) / 2**20


def frame(order: list[str]) -> pd.DataFrame:
    return pd.DataFrame({name: [noise(), noise()] for name in "ab"}, index=["a", "b"])


ORDERS: dict[str, Callable[[list[str]], Any]] = {  # what is released, from labels in an order
    "list of items": lambda order: [(one, noise()) for one in order],
    "list of nested items": lambda order: {"all": [(one, (1, noise())) for one in order]},
    "list of items with texts": lambda order: [(one, f"{noise():.3f}") for one in order],
    "series": lambda order: pd.Series({one: noise() for one in order}),
    "rows": lambda order: frame(order).loc[order],
    "columns": lambda order: frame(order)[order],
}
SECOND: dict[str, Callable[[float], Any]] = {  # a number beside noise of the same name
    "first of two equal keys": lambda x: [("user", x), ("user", noise())],
    "series with repeated labels": lambda x: pd.Series([x, noise()], index=["user", "user"]),
    "columns with repeated labels": lambda x: pd.DataFrame([[x, noise()]], columns=["user", "user"]),
}


def by_count(records: list[str]) -> list[str]:
    return sorted("ab", key=lambda one: -records.count(one))


def is_convicted(release: Callable[[Any], Any], data_in: Any, data_out: Any) -> bool:
    try:
        assert_private(release, data_in, data_out, epsilon=2.0, runs=RUNS, alpha=ALPHA)
    except NotPrivateError:
        return True
    return False


@pytest.mark.parametrize("kind", ORDERS)
def test_an_order_by_exact_counts_is_found(kind: str) -> None:
    assert is_convicted(lambda records: ORDERS[kind](by_count(records)), TIE, MORE)


@pytest.mark.parametrize("kind", ORDERS)
def test_an_order_by_chance_is_not_accused(kind: str) -> None:
    assert not is_convicted(lambda records: ORDERS[kind](random.sample("ab", 2)), TIE, MORE)


@pytest.mark.parametrize("kind", SECOND)
def test_the_first_of_two_parts_of_one_name_is_seen(kind: str) -> None:
    assert is_convicted(lambda x: SECOND[kind](20 * x + noise()), 0, 1)
    assert not is_convicted(lambda x: SECOND[kind](x + noise()), 0, 1)


@pytest.mark.parametrize(
    "release",
    [
        lambda records: pd.Series(records).value_counts() + noise(),
        lambda records: list({one: records.count(one) + noise() for one in by_count(records)}.items()),
    ],
    ids=["value_counts", "items of a dictionary"],
)
def test_check_finds_an_order_by_exact_counts(release: Callable[[list[str]], Any]) -> None:
    result = check(release, pairs=[(TIE, MORE)], claim=Claim(2.0), runs=RUNS, seconds=60)
    assert result.verdict is Verdict.VIOLATED


def test_a_mapping_in_another_order_is_the_same_outcome() -> None:
    assert not is_convicted(lambda records: {one: noise() for one in by_count(records)}, TIE, MORE)


def test_a_key_of_items_in_any_order_is_seen() -> None:
    """The value of one key is told, wherever it stands."""

    def shuffled(x: float) -> list[tuple[str, float]]:
        items = [("a", 20 * x + noise()), *((name, 40 * random.random() - 10) for name in "bcd")]
        return random.sample(items, len(items))

    with pytest.raises(NotPrivateError, match="the value for 'a' of the outcome"):
        assert_private(shuffled, 0, 1, epsilon=2.0, runs=RUNS, alpha=ALPHA)


def test_events_of_keys_survive_json() -> None:
    """An event of a mapping is written by its key, and reads the same key of a list of items."""
    outcomes = [as_outcome({"b": 2, "a": 1.5}), (("b", 2), ("a", 1.5)), (("a", 0.5),), (("b", 1),)]
    event = Learned((Term("value", ("a",)),), 1.0, 2.0)
    assert event(outcomes).tolist() == [True, True, False, False]
    described = json.loads(json.dumps(event.to_json()))
    assert described["terms"][0]["path"] == ["a"]
    assert in_words(described) == "learned on other runs: the value for 'a' of the outcome is from 1 to 2"
    word = Category(("a",), OneOf(("yes",), by_type=True))
    assert word([(("a", "yes"),), (("b", 1), ("a", "yes")), (("a", "no"),)]).tolist() == [True, True, False]
    assert json.loads(json.dumps(word.to_json()))["path"] == ["a"]
