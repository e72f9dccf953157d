"""Outcomes that can be told apart are told apart: in laws, in walks, and by the events that are learned."""

import math
from collections import namedtuple
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from subnormal import Claim, Verdict
from subnormal.attacks.core.events import OneOf
from subnormal.attacks.core.outcome_paths import paths
from subnormal.audit.evidence import event_search, exact, exhaustive
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, Powers, exact_law
from subnormal.mechanisms.core.law_alignment import pair
from subnormal.mechanisms.core.mechanism import Refused, Trace
from subnormal.mechanisms.core.outcome_identity import identity


class Answer(IntEnum):
    YES = 1


class Reply(IntEnum):
    YES = 1


@dataclass(frozen=True)
class Released:
    value: Any


@dataclass(frozen=True)
class Kept:
    value: Any


Point = namedtuple("Point", "x")
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)

DIFFERENT: tuple[Any, ...] = (
    *(1, 1.0, True, Fraction(1), Decimal(1), Decimal("1.0"), Decimal("1.00"), 1 + 0j, "1", b"1", Answer.YES, Reply.YES),
    *(0, 0.0, -0.0, False, Fraction(0), Decimal(0), Decimal("-0"), 0j, -0j, complex(-0.0, 0.0), None, "", b"", ()),
    *((1,), (1.0,), (True,), (-0.0,), (0.0,), ((1,),), Point(1), Point(1.0), (None,), ("float", "0x0.0p+0")),
    *(frozenset(), frozenset({0.0}), frozenset({-0.0}), frozenset({1}), frozenset({True}), frozenset({(1.0,)})),
    *(
        Released(1),
        Released(1.0),
        Released(Released(0.0)),
        Released(Released(-0.0)),
        Kept(1),
        Refused("1"),
        Refused(""),
    ),
    *(Trace(1, 2, 3), Trace(1, 2, 4), range(0), range(3, 3), float("nan"), Decimal("nan"), Decimal("sNaN")),
    *(np.str_("a\0"), "a", np.bytes_(b"a\0"), b"a", frozenset({float("nan")}), frozenset({math.nan, -math.nan})),
    *(NOON, NOON.astimezone(timezone(timedelta(hours=1))), NOON.astimezone(ZoneInfo("UTC")), NOON.date(), NOON.time()),
    timedelta(1),
)


@pytest.mark.parametrize("wrapped", [lambda one: one, lambda one: (0, one), lambda one: Released((one,))])
def test_no_two_of_these_outcomes_are_one(wrapped: Any) -> None:
    assert len({identity(wrapped(one)) for one in DIFFERENT}) == len(DIFFERENT)


def test_a_numpy_number_is_the_number_that_it_holds() -> None:
    kind: Any
    for kind in (np.int8, np.uint8, np.int64, np.uint64):
        assert identity(kind(1)) == identity(1)
    for kind in (np.float16, np.float32, np.float64):
        assert identity(kind(0.5)) == identity(0.5) != identity(kind(1))
        assert identity(kind("nan")) == identity(float("nan")) == identity(-float("nan"))
        assert identity(kind("-0.0")) == identity(-0.0) != identity(0.0)
    assert identity(np.float32(0.1)) != identity(0.1)
    assert identity(np.bool_(True)) == identity(True)
    assert identity(np.str_("a")) == identity("a")
    assert identity(np.complex64(1)) == identity(1 + 0j)
    assert identity(Bearer(1)) == identity(Bearer(np.int8(1))) != identity(Point(1))


class Named(float):
    """A float with a name that no comparison sees."""


class Extended(Released):
    """A dataclass's child, whose own attributes are no fields."""


class Bearer(namedtuple("Bearer", "x")):
    """A named tuple whose attributes no comparison sees."""


@dataclass(init=False)
class Counted(int):
    """A dataclass that is a number, too."""

    label: str


class Slotted:
    __slots__ = ("hidden",)


@dataclass
class OfSlots(Slotted):
    value: int


class Zone(tzinfo):
    """A time zone whose name does not say all of it."""

    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(hours=1)

    def dst(self, when: datetime | None) -> None:
        return None

    def tzname(self, when: datetime | None) -> None:
        return None

    def __repr__(self) -> str:
        return "Zone()"


def bearing(outcome: Any) -> Any:
    """Return it with an attribute that none of its fields names."""
    object.__setattr__(outcome, "hidden", 1)
    return outcome


@pytest.mark.parametrize(
    "outcome",
    [
        *(bearing(Released(1)), bearing(Bearer(1)), bearing(OfSlots(1)), bearing(Counted(1)), Counted(1)),
        *(NOON.replace(tzinfo=Zone()), NOON.timetz().replace(tzinfo=Zone())),
        *(object(), [1], {1}, {"a": 1}, lambda: 1, Named(1.0), Extended(1), np.longdouble(1), np.datetime64("NaT")),
        *(np.array([1]), iter(()), (1, object()), frozenset({object()}), Released([1])),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
def test_what_cannot_be_told_apart_is_refused_by_the_name_of_its_type(outcome: Any) -> None:
    with pytest.raises(TypeError, match=r"outcomes of type .*\.\w+ cannot be told apart"):
        identity(outcome)
    with pytest.raises(TypeError, match="cannot be told apart"):
        exhaustive.law(lambda bits: outcome, depth=0)


def releasing(outcome: Any, bits: BitSource) -> Any:
    bits.take(1)
    return outcome


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("1.0"), Decimal("1.00")),
        (0j, -0j),
        (Fraction(1), 1),
        (frozenset({0.0}), frozenset({-0.0})),
        (Released(0.0), Released(-0.0)),
        (Answer.YES, 1),
        ((1, (True,)), (1, (1,))),
    ],
)
def test_a_walk_convicts_a_sampler_that_releases_equal_outcomes_that_differ(one: Any, other: Any) -> None:
    law_in, law_out = (exhaustive.law(partial(releasing, outcome), depth=1) for outcome in (one, other))
    assert exact.compare(law_in, law_out, Claim(1.0)).verdict is Verdict.VIOLATED
    assert law_in.probability(other) == (0, 0)
    assert pair(law_in, law_out).count.tolist() == [1, 1]
    assert exact.compare(law_in, law_in, Claim(1.0)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("kind", [np.float64, np.int32, list])
def test_losses_that_are_attained_are_those_of_the_same_outcomes(kind: Any) -> None:
    """Laws with one rate and the same exponents lose nothing, unless their atoms are others that are equal."""
    powers = Powers(Fraction(1), np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64))
    law_in = Law([-0.0, 1.0], [2], [1], [1], 2, Fraction(0), powers)
    others: Any = [0.0, 1.0] if kind is list else np.array([0, 1], dtype=kind)
    law_out: Law[Any] = Law(others, [2], [1], [1], 2, Fraction(0), powers)
    found, same = (exact.compare(law_in, other, Claim(0.5)) for other in (law_out, law_in))
    assert (found.verdict, found.epsilon) == (Verdict.VIOLATED, math.inf)
    assert (same.verdict, same.epsilon) == (Verdict.HOLDS, 0.0)


@pytest.mark.parametrize("position", range(len(DIFFERENT) - 1))
def test_the_event_that_is_learned_tells_equal_outcomes_apart(position: int) -> None:
    one, other = DIFFERENT[position], DIFFERENT[position + 1]
    outcomes = [one] * 400, [other] * 400
    event = event_search.learn(outcomes, Claim(1.0))
    assert {int(event(world).sum()) for world in outcomes} == {0, 400}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64])
def test_an_event_by_type_means_the_same_of_arrays_and_of_lists(kind: Any) -> None:
    wanted = OneOf(
        (1, 1.0, True, -0.0, float("nan"), float("inf"), 10**400, 2**53 + 1, 300, "a", 0.1, -1), by_type=True
    )
    infinite = [float("nan"), float("inf"), -0.0] if np.dtype(kind).kind == "f" else []
    array = np.array([0, 1, 2, 44, *infinite], dtype=kind)
    assert wanted(array).tolist() == wanted(array.tolist()).tolist() == wanted([*array.tolist(), None]).tolist()[:-1]
    assert wanted(range(-1, 2)).tolist() == [True, False, True]


def test_numbers_of_an_event_that_a_person_names_are_compared_by_value() -> None:
    for wanted in (OneOf((1,)), OneOf((1.0,)), OneOf((True,))):
        for outcomes in ([1, 2], [1.0, 2.0], [True, False], np.array([1.0, 2.0]), np.array([1, 2])):
            assert wanted(outcomes).tolist() == [True, False]
    assert OneOf((10**400, float("inf")))(np.array([np.inf, 1.0])).tolist() == [True, False]


def test_outcomes_that_no_hash_holds_have_parts_all_the_same() -> None:
    assert paths([Decimal("sNaN"), (1, 2)]) == ((), (0,), (1,))


def test_an_atom_of_a_law_may_have_an_equal_beside_it() -> None:
    law = exact_law([1, 1.0, True, Fraction(1)], [1, 2, 3, 4], [1, 2, 3, 4], 10)
    assert [law.probability(atom)[0] for atom in (1, 1.0, True, Fraction(1))] == [Fraction(n, 10) for n in (1, 2, 3, 4)]
