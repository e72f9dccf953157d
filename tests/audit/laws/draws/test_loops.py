"""Functions that draw often and return one of few numbers, compared with walks through all that they may draw."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any
from unittest.mock import Mock, patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subnormal import Claim, Verdict, law
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.draws import joined, loops, sources
from subnormal.audit.laws.draws.loops import Loop
from subnormal.audit.laws.followed import follow
from subnormal.audit.laws.path import Constraint, NotFollowedError, Path, StoppedError
from tests.audit.laws.draws import helpers
from tests.audit.laws.draws.test_joined import agree, followed, walked
from tests.audit.laws.short_uniforms import made

HELPER = """
def number(s):
    count = {first}
    for place in range(2):
        if random.random() {condition}:
            {change}
    return {last}


def run(data):
    x, y = number(1), number(data)
    return {release}
"""
PROGRAMS = st.builds(
    lambda **parts: HELPER.format(**parts),
    first=st.sampled_from(["0", "s", "2", "-1"]),
    condition=st.sampled_from(["< 0.3", "< 0.5", ">= 0.8", "== 0.5", "!= s", "< count"]),
    change=st.sampled_from(
        ["return place", "count += 1", "count -= s", "count = -count", "return count", "return 's'", "count *= 2"]
    ),
    last=st.sampled_from(["count", "count + 1", "3 * count", "math.log(count)", "-count", "2.5"]),
    release=st.sampled_from(
        ["x + y", "x < y", "(x, y)", "x - 2 * x < 0.1", "x == y", "[x, y, x]", "max(x, y)", "x > 0", "round(x + y)"]
    ),
)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS)
def test_the_law_is_that_of_all_numbers(text: str) -> None:
    function = made(text)
    try:
        with patch.object(loops, "FEW", 1):
            found = followed(function)
    except NotFollowedError:
        return
    agree(found, walked(function, 4))


def test_many_programs_have_loops() -> None:
    count, used, drawn = 0, 0, Loop.drawn

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(PROGRAMS)
    def tried(text: str) -> None:
        nonlocal count, used
        mock = Mock()
        noted = patch.object(Loop, "drawn", lambda *given: (mock(), drawn(*given))[1])
        with patch.object(loops, "FEW", 1), noted:
            try:
                followed(made(text))
            except NotFollowedError:
                return
        count += 1
        used += mock.called

    tried()
    assert used >= 0.3 * count


@pytest.mark.parametrize("each", [math.exp(-1), 0.75])
def test_a_difference_of_geometric_numbers_has_its_law(each: float) -> None:
    found, ratio = law(partial(helpers.two_geometric, ratio=each), 3, seconds=60.0), Fraction(each)
    for distance in range(-12, 13):
        low, high = found.probability(3 + distance)
        assert low <= (1 - ratio) / (1 + ratio) * ratio ** abs(distance) <= high
        assert high - low < 2**-36
    assert found.rest < 2**-36


def test_twenty_of_them_are_decided() -> None:
    pair = [1] * 20, [1] * 19 + [2]
    assert decide(helpers.histogram, *pair, Claim(1.0 + 1e-9, 1e-9), seconds=60.0).verdict is Verdict.HOLDS
    assert decide(helpers.histogram, *pair, Claim(0.99), seconds=60.0).verdict is Verdict.VIOLATED


def test_calls_with_a_random_number_are_followed_as_they_are() -> None:
    """With plain numbers, they have the arguments of a call that was followed alone."""
    found = law(helpers.of_a_random_number, None, seconds=20.0)
    for outcome in range(5):
        low, high = found.probability(outcome)
        assert low <= Fraction(outcome + 1, 1 << outcome + 2) <= high < low + 2**-36


@pytest.mark.parametrize(
    "helper",
    [
        helpers.text,
        helpers.raises,
        helpers.float_of_all_digits,
        helpers.of_two_types,
        helpers.keeps_a_number,
        helpers.of_a_draw_of_its_own,
        helpers.never_ends,
        helpers.draws_nothing,
        helpers.compares_two,
        helpers.of_two_normals,
        helpers.has_some_digits,
    ],
)
def test_other_calls_are_followed_as_they_are(helper: Callable[[float], Any]) -> None:
    found: list[Any] = []
    whole = loops.loop

    def asked(source: Any, call: Any) -> Any:
        made = whole(source, call)
        found.append((call.func.__name__, made))
        return made

    with patch.object(joined, "loop", asked), patch.object(sources, "DRAWS", 1_000), suppress(NotFollowedError):
        follow(helpers.calls(helper), 0.5, 1.0, 2.0**-10, most=3)
    assert [one for name, one in found if name == helper.__name__][:1] == [None]


def test_what_leads_elsewhere_with_plain_numbers_is_refused() -> None:
    whole = loops.loop

    def wrong(source: Any, call: Any) -> Any:
        found = whole(source, call)
        assert found is not None
        return replace(found, values=[value + 1 for value in found.values])

    with patch.object(joined, "loop", wrong), pytest.raises(NotFollowedError, match="the same random numbers"):
        law(helpers.two_geometric, 3, seconds=20.0)


def test_a_call_that_is_followed_as_it_is_stays_so() -> None:
    """Paths that begin later come to the same questions."""
    whole, found = loops.loop, list[Loop | None]()

    def once_too_long(source: Any, call: Any) -> Any:
        made = whole(source, call)
        found.append(None if not found else made)
        return found[-1]

    with patch.object(joined, "loop", once_too_long):
        halves = law(helpers.tries_twice, 20, seconds=20.0)
    assert len(found) == 1
    assert halves.probability(1)[0] == Fraction(1, 4)


def test_the_law_of_few_paths_is_exact() -> None:
    found = law(helpers.tries_twice, 2, seconds=20.0)
    assert [found.probability(outcome) for outcome in (0, 2)] == [(Fraction(1, 4),) * 2, (Fraction(5, 16),) * 2]
    assert found.rest == 0
    assert law(helpers.tries_twice, 20, seconds=20.0).paths < 100


def test_a_call_with_too_many_draws_is_followed_as_it_is() -> None:
    found = list[Loop | None]()
    whole = loops.loop

    def noted(source: Any, call: Any) -> Any:
        found.append(whole(source, call))
        return found[-1]

    with patch.object(joined, "loop", noted), patch.object(sources, "DRAWS", 1_000):
        for ratio in (0.1, 0.9, 0.99999):
            follow(partial(helpers.two_geometric, ratio=ratio), 1, 0.5, 2.0**-20, most=2)
    assert [one is None for one in found] == [False, True, True]


@pytest.mark.parametrize("draws", [0, -1])  # calls that are followed in a call take from what is left, too
def test_a_path_draws_nothing_where_nothing_is_left(draws: int) -> None:
    with pytest.raises(StoppedError):
        Path(draws=draws).draw(8)


@pytest.mark.parametrize("answers", [{0: True}, {0: (0, 9)}, {0: (5, 5)}])
def test_other_answers_than_a_question_has_are_refused(answers: dict[int, Any]) -> None:
    path = Path([], answers)
    at = path.draw(8)
    with pytest.raises(StoppedError):
        path.is_split(at)
    assert path.failed is not None
    path = Path([], {0: (0, 4)})
    question = Constraint({path.draw(8): True}, bool)
    with pytest.raises(StoppedError):
        path.ask(question, question)
