"""Events in words: every kind has some, and what they say is what the event looks for."""

import math
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.catalogue import attacks
from subnormal.attacks.core.event_words import in_words
from subnormal.attacks.core.events import (
    AllOf,
    Between,
    CountedDistance,
    Largest,
    Learned,
    OffGrid,
    OneOf,
    Part,
    Refuses,
    Releases,
    Term,
)
from subnormal.attacks.core.outcome_features import BEYOND, FEATURES, Kind
from subnormal.audit.check.assertion import Predicate

INF = math.inf


def learned(feature: str, low: float, high: float, path: tuple[int | str, ...] = ()) -> str:
    told = in_words(Learned((Term(feature, path),), low, high).to_json())
    return told.removeprefix("learned on other runs: ")


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_every_event_of_the_catalogue_has_words(attack: Any) -> None:
    told = in_words(None if attack.event is None else attack.event.to_json())
    assert "portable" not in told
    assert "{" not in told


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (OneOf((1, 2)), "the outcome is one of 1, 2"),
        (OneOf((1,)), "the outcome is 1"),
        (OneOf(tuple(range(1_000))), "learned on other runs: the outcome is one of 1,000"),
        (Refuses(), "the mechanism refuses: it raises an error instead of answering"),
        (Releases("Alice's"), 'the key "Alice\'s" is released, with whatever value'),
        (Between(0.5, INF), "the outcome is at least 0.5"),
        (Between(-INF, 3), "the outcome is at most 3"),
        (Between(-1, 3), "the outcome is from -1 to 3"),
        (Largest(2.5), "the largest number of the outcome is at least 2.5"),
        (OffGrid(-10), "the outcome is no multiple of 2^−10"),
        (CountedDistance(0.0, 0.5), "the outcome lies exactly (count − 1)·0.5 from 0"),
        (Part(1, Between(2, INF)), "the count is at least 2"),
        (Part(0, OneOf((7,))), "of the outcome's part 0: the outcome is 7"),
        (Predicate(math.isnan), "isnan is true of the outcome"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_event_has_words(event: Any, told: str) -> None:
    assert in_words(event.to_json()) == told


@pytest.mark.parametrize(
    ("feature", "low", "high", "told"),
    [
        ("grid", -54, -54, "the last bit of the outcome is 2^−54"),
        ("grid", -54, -52, "the last bit of the outcome is from 2^−54 to 2^−52"),
        ("grid", -10, INF, "the outcome is a multiple of 2^−10"),
        ("grid", -10, BEYOND, "the outcome is a multiple of 2^−10"),
        ("grid", BEYOND, BEYOND, "the outcome is 0"),
        ("trailing-zeros", 3, 3, "the outcome, written with all its bits, ends in 3 zero bits"),
        ("trailing-zeros", 3, INF, "the outcome, written with all its bits, ends in at least 3 zero bits"),
        ("trailing-zeros", -INF, 3, "the outcome, written with all its bits, ends in at most 3 zero bits"),
        ("trailing-zeros", BEYOND, INF, "the outcome is 0"),
        ("exponent", -3, -3, "the size of the outcome is at least 2^−3 and below 2^−2"),
        ("exponent", 4, INF, "the size of the outcome is at least 2^4"),
        ("exponent", -INF, 4, "the size of the outcome is below 2^5"),
        ("exponent", -BEYOND, -BEYOND, "the size of the outcome is 0"),
        ("sign", 1, 1, "the sign bit of the outcome is set"),
        ("sign", -INF, 0, "the sign bit of the outcome is not set"),
        ("length", 2, INF, "the length of the outcome is at least 2"),
        ("bit-0", 1, INF, "the last bit of the outcome, written with all its bits, is 1"),
        ("bit-2", 0, 0, "bit 2, counted from the last, of the outcome, written with all its bits, is 0"),
        ("kind", Kind.NAN, Kind.NAN, "the outcome is NaN"),
        ("kind", Kind.REFUSED, INF, "the outcome is a refusal or something that is no number or missing"),
    ],
)
def test_a_learned_event_says_what_it_looks_for(feature: str, low: float, high: float, told: str) -> None:
    assert learned(feature, low, high) == told


OUTCOMES = np.concatenate(
    [np.ldexp(np.arange(-9.0, 10.0), place) for place in range(-3, 4)] + [[0.0, -0.0, 0.1, 1e300, 5e-324]]
)


@pytest.mark.parametrize("exponent", range(-6, 6))
def test_the_words_about_bits_are_true_of_the_outcomes_that_are_marked(exponent: int) -> None:
    """By an independent reading of the sentences: multiples by fmod, sizes by comparison."""
    step, size = 2.0**exponent, np.abs(OUTCOMES)
    multiple, finer = np.fmod(OUTCOMES, step) == 0, np.fmod(OUTCOMES, 2 * step) == 0
    readings = {
        f"the last bit of the outcome is 2^{exponent}": (("grid", exponent, exponent), multiple & ~finer),
        f"the outcome is a multiple of 2^{exponent}": (("grid", exponent, INF), multiple),
        f"the size of the outcome is at least 2^{exponent}": (("exponent", exponent, INF), size >= step),
        f"the size of the outcome is below 2^{exponent + 1}": (("exponent", -INF, exponent), size < 2 * step),
    }
    for told, ((feature, low, high), marked) in readings.items():
        assert learned(feature, low, high) == told.replace("-", "−")
        assert Learned((Term(feature),), low, high)(OUTCOMES).tolist() == marked.tolist()


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_has_words_alone_and_in_a_sum(feature: str) -> None:
    for low, high in ((0, 0), (1, INF), (-INF, 0), (-INF, INF)):
        told = learned(feature, low, high, (2, "age"))
        assert "inf" not in told
        assert "[" not in told
        assert "the value for 'age' of part 2 of the outcome" in told
    total = Learned((Term(feature), Term("value", weight=2.0)), 0.0, INF)
    assert "2·(the outcome) is at least 0" in in_words(total.to_json())


def test_both_of_two_events_are_told() -> None:
    low, long = Learned((Term("least"),), -INF, 0.5), Learned((Term("length"),), 4.0, INF)
    told = in_words(AllOf((low, long)).to_json())
    assert told.endswith(
        ": the smallest number of the outcome is at most 0.5 and the length of the outcome is at least 4"
    )
    positive = Learned((Term("value"),), 0.0, INF)  # alone, it is an interval
    assert in_words(AllOf((positive, long)).to_json()).endswith(
        ": the outcome is at least 0 and the length of the outcome is at least 4"
    )


def test_no_event_is_learned() -> None:
    assert in_words(None).startswith("none is named")
