"""Random small samplers, whose laws are compared with a walk through all strings of short words, by `==` where one
uniform decides, and by bounds that are 1e-9 wide where several do."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subnormal.audit.evidence import exhaustive
from subnormal.audit.laws.draws import sources
from subnormal.audit.laws.followed import FollowedLaw, law
from subnormal.audit.laws.path import NotFollowedError
from tests.audit.laws.short_uniforms import short_uniforms

BITS, DRAWS = 3, 4
SIZE = 1 << BITS

CONSTANTS = st.sampled_from([-1.5, -0.5, 0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0])
NUMBERS = st.integers(0, 3)

NEW_NUMBERS: dict[str, Callable[[Any, float], Any]] = {
    "plus": lambda x, constant: x + constant,
    "times": lambda x, constant: x * constant,
    "minus": lambda x, constant: x - constant,
    "from": lambda x, constant: constant - x,
    "over": lambda x, constant: x / constant,
    "into": lambda x, constant: constant / x,
    "remainder": lambda x, constant: x % constant,
    "negative": lambda x, _: -x,
    "absolute": lambda x, _: abs(x),
    "square": lambda x, _: x * x,
    "power": lambda x, _: x**2,
    "exponential": lambda x, _: math.exp(x),
    "logarithm": lambda x, _: math.log(x),
    "cosine": lambda x, _: math.cos(x),
    "digits": lambda x, _: round(x, 1),
}
NUMBERS_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "larger": max,
    "smaller": min,
    "choose": lambda x, y: x if y < 0.5 else -x,
}
NUMBERS_OF_ALL: dict[str, Callable[[list[Any], int], Any]] = {
    "largest": lambda numbers, _: max(numbers),
    "least": lambda numbers, _: min(numbers, key=lambda x: x),
    "sorted": lambda numbers, place: sorted(numbers)[place % len(numbers)],
}
RELEASES: dict[str, Callable[[Any, float], Any]] = {
    "below": lambda x, constant: x < constant,
    "above": lambda x, constant: "above" if x >= constant else "not above",
    "equal": lambda x, constant: x == constant,
    "round": lambda x, _: round(4 * x),
    "floor": lambda x, _: math.floor(3 * x),
    "whole": lambda x, _: int(3 * x),
    "quotient": lambda x, _: x // 0.5,
    "rounded": lambda x, _: round(x, 1),
    "not a number": lambda x, _: (x < math.nan, x >= math.nan, x + math.nan > 0),
    "sign": lambda x, _: math.copysign(1.0, x),
    "rest": lambda x, constant: (8 * x) % 3 < constant,
}
RELEASES_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "less": lambda x, y: x < y,
    "at most": lambda x, y: x <= y,
}
STEPS = st.one_of(
    st.tuples(st.sampled_from(["draw", "place"]), st.just(0), st.just(0.0)),
    st.tuples(st.sampled_from(["loop", "bits", "range"]), st.integers(1, 3), CONSTANTS),
    st.tuples(st.sampled_from([*NEW_NUMBERS]), NUMBERS, CONSTANTS),
    st.tuples(st.sampled_from([*RELEASES]), NUMBERS, CONSTANTS),
    st.tuples(st.sampled_from([*NUMBERS_OF_TWO, *RELEASES_OF_TWO, *NUMBERS_OF_ALL]), NUMBERS, NUMBERS),
)
PROGRAMS = st.lists(STEPS, min_size=2, max_size=9)


class _TooLongError(Exception):
    """The program draws more words than are walked."""


def interpreted(program: list[Any], draw: Callable[[], Any], integer: Callable[[int], Any]) -> tuple[Any, ...]:
    """Return what a program releases. Its numbers are the uniforms that it has drawn, and what it made of them."""
    left = DRAWS

    def drawn(source: Callable[[], Any]) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLongError
        return source()

    numbers: list[Any] = [drawn(draw)]
    released: list[Any] = []
    for name, first, second in program:
        x = numbers[first % len(numbers)]
        if name in NEW_NUMBERS:
            numbers.append(NEW_NUMBERS[name](x, second))
        elif name in NUMBERS_OF_TWO:
            numbers.append(NUMBERS_OF_TWO[name](x, numbers[second % len(numbers)]))
        elif name in NUMBERS_OF_ALL:
            numbers.append(NUMBERS_OF_ALL[name](numbers, second))
        elif name in RELEASES:
            released.append(RELEASES[name](x, second))
        elif name in RELEASES_OF_TWO:
            released.append(RELEASES_OF_TWO[name](x, numbers[second % len(numbers)]))
        elif name == "place":
            released.append(max(range(len(numbers)), key=numbers.__getitem__))
        elif name == "draw":
            numbers.append(drawn(draw))
        elif name == "range":
            numbers.append(drawn(lambda: integer(BITS)))
        elif name == "bits":
            released.append(drawn(lambda: integer(BITS)) >> first)
        else:
            assert name == "loop"
            while drawn(draw) < second:
                released.append("again")
    return tuple(released)


def followed(program: list[Any]) -> FollowedLaw:
    import random

    with (
        short_uniforms(SIZE),
        patch.object(sources, "alive", list),  # they are the same, and take time to read
    ):
        return law(lambda data: interpreted(program, random.random, random.getrandbits), None, seconds=60.0, width=1e-8)


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS)
def test_the_law_is_that_of_all_strings_of_words(program: list[Any]) -> None:
    try:
        found = followed(program)
    except NotFollowedError:
        return
    walked = exhaustive.law(
        lambda bits: interpreted(program, lambda: bits.take(BITS) / SIZE, bits.take), depth=BITS * DRAWS
    )
    assert walked.rest == 0
    for outcome in {*walked.atoms, *found.law.atoms}:
        (truth, _), (low, high) = walked.probability(outcome), found.law.probability(outcome)
        assert low <= truth <= high, (outcome, float(truth), float(low), float(high))
    if found.complete:
        assert found.rest == 0


def test_most_programs_are_followed_to_the_end() -> None:
    complete = exact = count = 0

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(PROGRAMS)
    def tried(program: list[Any]) -> None:
        nonlocal complete, exact, count
        count += 1
        try:
            found = followed(program)
        except NotFollowedError:
            return
        complete += found.complete
        apart = [high - low for low, high in map(found.law.probability, found.law.atoms)]
        exact += max(apart) < Fraction(1, 10**9)

    tried()
    assert complete >= 0.7 * count
    assert exact >= 0.6 * count


@pytest.mark.parametrize("compare", ["less", "at most"])
def test_two_uniforms_are_compared_at_their_ends(compare: str) -> None:
    found = followed([("draw", 0, 0.0), (compare, 0, 1)])
    low, high = found.probability((True,))
    pairs = SIZE * (SIZE - 1) // 2 + (SIZE if compare == "at most" else 0)
    assert low <= Fraction(pairs, SIZE * SIZE) <= high
    assert high - low < Fraction(1, 10**9)
