"""A refusal holds what a traceback prints of an exception: its message, notes, parts, cause and context."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal import Verdict, conforms
from subnormal.audit.check.function import Function
from subnormal.audit.values.outcomes import refused
from subnormal.mechanisms.core.mechanism import Refused

pytestmark = pytest.mark.usefixtures("own_clock")


def in_a_group(record: int) -> None:
    raise ExceptionGroup("bad", [ExceptionGroup("worse", [ValueError(record), OSError("no")]), KeyError("a")])


def in_a_note(record: int) -> None:
    error = ValueError("bad")
    error.add_note(f"record {record}")
    error.add_note("of 2")
    raise error


def in_the_cause(record: int) -> None:
    try:
        in_the_context(record)
    except ValueError as error:
        raise ValueError("worse") from error


def in_the_context(record: int) -> None:
    try:
        raise KeyError(record)
    except KeyError:
        raise ValueError("bad")  # noqa: B904  # the context is what is tested


def in_what_is_suppressed(record: int) -> None:
    try:
        raise KeyError(record)
    except KeyError:
        raise ValueError("bad") from None


SAID: dict[Callable[[int], None], str] = {
    in_a_group: "ExceptionGroup: bad (2 sub-exceptions) (part: ExceptionGroup: worse (2 sub-exceptions)) "
    "(part: ValueError: 7) (part: OSError: no) (part: KeyError: 'a')",
    in_a_note: "ValueError: bad (note: record 7) (note: of 2)",
    in_the_cause: "ValueError: worse (cause: ValueError: bad) (context: KeyError: 7)",
    in_the_context: "ValueError: bad (context: KeyError: 7)",
    in_what_is_suppressed: "ValueError: bad",
}


def outcome(function: Callable[[int], None]) -> Any:
    return Function(function, "function").outcome(7)


@pytest.mark.parametrize("function", SAID, ids=lambda one: one.__name__)
def test_a_refusal_is_what_a_traceback_prints(function: Callable[[int], None]) -> None:
    assert outcome(function) == Refused(SAID[function])


@pytest.mark.parametrize("function", SAID, ids=lambda one: one.__name__)
def test_what_is_handled_around_a_check_is_no_part_of_a_refusal(function: Callable[[int], None]) -> None:
    try:
        raise OSError("of the caller")
    except OSError:
        assert outcome(function) == Refused(SAID[function])


def test_causes_that_lead_back_and_long_chains_end() -> None:
    class ToldError(Exception):
        def __init__(self, *texts: str) -> None:
            self.texts = iter(texts)

        def __str__(self) -> str:
            return next(self.texts)  # StopIteration, where it is told once more

    one, other = ToldError("one"), ToldError("other")
    one.__cause__, other.__cause__ = other, one
    assert refused(one) == Refused("ToldError: one (cause: ToldError: other)")
    last = ValueError("0")
    for number in range(1, 5_000):
        last, last.__context__ = ValueError(f"{number}"), last
    assert refused(last).error.endswith("(context: ValueError: 0)")


def test_a_walk_has_the_refusals_of_runs() -> None:
    def sampler(data: None, bits: Any) -> int:
        if bits.take(1):
            in_the_context(7)
        return 0

    law = dict.fromkeys([0, Refused(SAID[in_the_context])], Fraction(1, 2))
    found = conforms(sampler, st.none(), law=lambda data: law, seconds=1)
    assert (found.verdict, found.stage) == (Verdict.NOT_REFUTED, "walk")
