"""What a strategy draws belongs to its domain, and the neighbours of what it draws are drawn at once."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subnormal.audit.check.adjacency import change_one, pairs, within
from subnormal.audit.check.domain import belongs
from subnormal.audit.check.search import search, written

KEYS = st.sampled_from("abc")
ROWS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), unique_by=itemgetter(0))
SAMPLED_ROWS = st.lists(st.tuples(KEYS, st.integers(1, 9)), unique_by=itemgetter(0))
STRATEGIES = (
    st.integers(0, 9),
    st.floats(0, 1) | st.none().filter(lambda _: True),
    st.lists(st.tuples(st.integers(), st.text()), min_size=1),
    st.lists(KEYS, unique=True),
    ROWS,
    SAMPLED_ROWS,
    st.dictionaries(KEYS, st.integers(1, 20)),
    st.dictionaries(st.integers(), st.floats()),
    st.dictionaries(st.tuples(KEYS, st.integers()), st.lists(st.integers())),
)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_what_a_strategy_draws_belongs_to_its_domain(strategy: st.SearchStrategy[Any]) -> None:
    @settings(max_examples=50, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def drawn(value: Any) -> None:
        assert belongs(strategy, value) is not False

    drawn()


@pytest.mark.parametrize(
    ("strategy", "outside"),
    [
        (st.dictionaries(KEYS, st.integers(1, 20)), {"a": 0}),
        (st.dictionaries(KEYS, st.integers(1, 20)), {"d": 1}),
        (ROWS, [(1, True), (1, False)]),
        (ROWS, [(1,)]),
        (ROWS, [()]),
        (ROWS, [1]),
    ],
)
def test_other_values_do_not_belong(strategy: st.SearchStrategy[Any], outside: Any) -> None:
    assert belongs(strategy, outside) is False


@pytest.mark.parametrize(
    ("strategy", "adjacent"),
    [(st.dictionaries(KEYS, st.integers(1, 20)), within(1, "l1")), (ROWS, change_one()), (SAMPLED_ROWS, change_one())],
    ids=repr,
)
def test_neighbours_in_the_domain_are_drawn_for_every_seed(strategy: st.SearchStrategy[Any], adjacent: Any) -> None:
    for seed in range(10):
        found = search(pairs(strategy, adjacent), lambda pair: float(len(pair[0])), seed=seed, seconds=60, examples=30)
        assert found.examples > 10
        assert found.ranked[0][0] > 1


def test_long_inputs_that_differ_in_the_middle_are_told_apart() -> None:
    """The repr of a long array leaves its middle out: such neighbours would be taken for one input."""
    one = np.random.default_rng(1).normal(size=2_000)
    other = one.copy()
    other[1_000] += 1
    assert repr(one) == repr(other)
    texts = written((one, other))
    assert texts[0] != texts[1]
    assert written((one.copy(), one)) == [texts[0], texts[0]]
