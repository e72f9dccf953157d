"""The one module that uses internals of Hypothesis, and what to do when they move.

Where this fails after an update of Hypothesis, mend `audit/neighbours/choices.py`: all choices of a strategy
must pass the five methods `draw_…` of `ConjectureData`, and its spans `start_span`
and `stop_span`; `choice_permitted` says what the constraints allow. Nothing else of the project knows of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import strategies as st

import subnormal.audit
from subnormal.audit.neighbours.choice_tree import choices_of, with_choices
from subnormal.audit.neighbours.choices import Choice, Source, follow
from tests.support.draws import drawn as examples

KINDS = {
    "boolean": st.booleans(),
    "integer": st.integers(-5, 5),
    "float": st.floats(),
    "string": st.text(),
    "bytes": st.binary(),
    "list": st.lists(st.integers(), max_size=4),
    "unique": st.lists(st.floats(0, 1), unique=True, max_size=4),
    "array": hnp.arrays(np.int8, 3),
    "filter": st.lists(st.integers(0, 9)).filter(lambda data: sum(data) % 3 == 0),
    "builds": st.builds(complex, st.floats(0, 1)),
}


@pytest.mark.parametrize("name", KINDS)
def test_recorded_choices_make_the_value_again_without_any_other(name: str) -> None:
    def call() -> None:
        drawn = follow(KINDS[name], None, Source())
        if drawn is not None:
            again: Any = follow(KINDS[name], drawn.tree, None)
            assert repr(again.value) == repr(drawn.value)

    examples(st.builds(call), 30)


@pytest.mark.parametrize("name", ["boolean", "integer", "float", "string", "bytes"])
def test_each_kind_of_choice_is_seen(name: str) -> None:
    def call() -> None:
        drawn: Any = follow(KINDS[name], None, Source())
        assert [choice.kind for _, choice in choices_of(drawn.tree)] == [name]

    examples(st.builds(call), 30)


def test_a_choice_outside_the_bounds_of_the_strategy_is_drawn_anew() -> None:
    def call() -> None:
        drawn: Any = follow(st.integers(-5, 5), None, source := Source())
        ((path, choice),) = choices_of(drawn.tree)
        tree = with_choices(drawn.tree, {path: Choice("integer", 6, choice.constraints)})
        assert follow(st.integers(-5, 5), tree, None) is None
        other: Any = follow(st.integers(-5, 5), tree, source)
        assert -5 <= other.value <= 5

    examples(st.builds(call), 30)


def test_no_other_module_imports_internals_of_hypothesis() -> None:
    folder = Path(next(iter(subnormal.audit.__path__)))
    using = [path.name for path in folder.rglob("*.py") if "hypothesis.internal" in path.read_text("utf-8")]
    assert using == ["choices.py"]
