"""The lines that go to a program and come back: no number loses a bit, and what is missing is noticed."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from subnormal.audit.targets import json_lines
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.outcome_notes import event_notes, outcome_notes
from subnormal.audit.targets.program import decoded
from subnormal.mechanisms.core.mechanism import Refused
from tests.support.paths import ROOT

SCHEMA = json.loads((ROOT / "docs" / "protocol.schema.json").read_text())
LINES = Draft202012Validator(SCHEMA)
NUMBERS = [0, -1, (1 << 53) + 1, -(1 << 62), 0.1, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53, 1e22]


def test_the_schema_is_one_and_describes_what_is_sent() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for data in (1, 0.5, (1 << 60) + 129, NUMBERS, "text", None, True, {"a": [1, "b"]}):
        line = json.loads(json_lines.question(data, {"epsilon": 1.0, "delta": 0.0}) + "5}")
        assert list(line) == ["data", "parameters", "runs"]
        LINES.validate(line)
    assert json.loads(json_lines.question([0.1, 5e-324], {}) + "1}")["data"] == [0.1, 5e-324]
    LINES.validate(json.loads(json_lines.hello()))
    for line in ({"data": 1, "runs": 5}, {"data": 1, "parameters": {}, "runs": 0}, {"outcomes": 0.5}, {"protocol": 2}):
        assert not LINES.is_valid(line)


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_come_back_as_they_went_out(value: int | float) -> None:
    sent = json.loads(json_lines.question(value, {}) + "1}")["data"]
    back = int(sent) if isinstance(sent, str) else decoded(sent)
    assert type(back) is type(value)
    assert back == value
    assert np.signbit(float(back)) == np.signbit(float(value))


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ("0x1.8p+1", 3.0),
        ("-0x0p+0", -0.0),
        ("0x.8p1", 1.0),
        ("0X1.8P-1074", 2 * 5e-324),
        ((1 << 60) + 129, (1 << 60) + 129),
        ([1, "0x1p-1", "text", None, True], [1, 0.5, "text", None, True]),
        ({"b": 1, "a": {"c": ["0x1p-1"]}}, {"b": 1, "a": {"c": [0.5]}}),
        ({}, {}),
        ("0xp1", "0xp1"),
        ("error: ValueError: empty", Refused("ValueError: empty")),
        ("error:", Refused("")),
    ],
)
def test_outcomes_are_read_exactly(given: Any, outcome: Any) -> None:
    LINES.validate({"outcomes": [given]})
    assert decoded(given) == outcome
    assert repr(decoded(given)) == repr(outcome)


@pytest.mark.parametrize("given", ["0x1p+1024", [{"a": "-0x1p+1024"}], json.loads("1e999"), [json.loads("-1e999")]])
def test_what_no_float_holds_is_not_finite(given: Any) -> None:
    with pytest.raises(TargetError, match="answered with an outcome that is not finite"):
        decoded(given)


def test_gathering_changes_no_outcome() -> None:
    large = (1 << 53) + 1
    every: list[list[Any]] = [
        *([1, large], [0.5, large], [1, 0.5], [1 << 63, 0], [0.5, 2.0], []),
        *([(1, 0.5), (2, 0.25)], [(1, 0.5), (2,)], [(1, large)], [(1.0, 0.5), (2.0, 0.25)], [(1, 2)], [(), ()]),
        *([Refused("x"), 1], [(("a", 0.5),), (("a", 1.5),)]),
    ]
    for outcomes in every:
        found: Any = json_lines.as_outcomes(list(outcomes))
        flat = found.tolist() if isinstance(found, np.ndarray) else found
        assert [tuple(one) if isinstance(one, list) else one for one in flat] == outcomes
        assert [repr(tuple(one) if isinstance(one, list) else one) for one in flat] == list(map(repr, outcomes))


def warned(outcomes: list[Any]) -> bool:
    return bool(outcome_notes(outcomes))


def test_digits_are_missed_where_they_are_missing() -> None:
    noise = np.random.default_rng(1).laplace(size=(1_000, 16))
    assert not any(warned(values) for values in noise.tolist())  # chance of a false one below 10^−7 in all
    for form in ("%g", "%.6f", "%.15g"):
        assert warned([float(form % value) for value in noise.ravel()])
    assert warned([float(f"{abs(20 * value) + 50:g}") for value in noise.ravel()])  # at most 4 decimals, of 6 digits
    assert warned([(float(f"{value:g}"), 1) for value in noise.ravel()])


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e5])
@pytest.mark.parametrize("shown", [lambda x, digits: round(x, digits), lambda x, digits: float(f"{x:.{digits}g}")])
def test_who_rounds_to_a_few_digits_is_not_warned(shown: Callable[[float, int], float], scale: float) -> None:
    """To look for other flaws than last bits."""
    noise = scale * np.random.default_rng(1).laplace(size=128)
    for digits in range(1, 6):
        assert not warned([shown(value, digits) for value in noise.tolist()])
        assert not warned([(shown(value, digits), shown(value / 1_000, 2)) for value in noise.tolist()])


def test_one_outcome_in_all_runs_is_told_of() -> None:
    """A program that misreads its data may return a constant, which no attack refutes."""
    for constant in (0.0, 3, "a", (), (1.5, 2.0)):
        assert warned([constant] * 100)
        assert not warned([constant] * 3)
        assert not outcome_notes([constant] * 100, others_differ=True)
    assert not warned([0.0] * 99 + [1.0])
    assert not warned([0.0, -0.0] * 50)
    assert not warned([Refused("no")] * 100)  # it has an error, or leaks


def test_one_error_of_each_type_is_named() -> None:
    errors = ["KeyError: 'b'", "KeyError: 'a'", "OverflowError: too large", "x" * 500]
    (note,) = event_notes({"kind": "refuses"}, [1.0, *map(Refused, errors)])
    assert "KeyError: 'b'" in note
    assert "KeyError: 'a'" not in note
    assert "OverflowError" in note
    assert len(note) < 300
    assert event_notes({"kind": "refuses"}, [1.0]) == []
    assert event_notes({"kind": "between"}, [1.0, Refused("no")]) == ["some of the runs raise 'no'"]


@pytest.mark.parametrize(
    "event", [{"kind": "between"}, {"kind": "learned", "terms": ()}, {"kind": "learned", "all-of": ()}]
)
def test_truth_values_among_the_numbers_of_an_event_are_named(event: Any) -> None:
    (note,) = event_notes(event, [0.5, (1, (True,))])
    assert note == "where the event names numbers, True is 1 and False is 0"
    assert event_notes(event, [0.5, (1, "True")]) == event_notes({"kind": "one-of"}, [True]) == []


def test_few_digits_that_are_natural_bring_no_note() -> None:
    assert not warned(list(range(1_000)))
    assert not warned([count / 1024 for count in range(-5_000, 5_000)])  # a dyadic of few bits is its decimal
    assert not warned([count * 2.0**-30 for count in range(1, 1 << 30, 12_345)])
    assert not warned([0.1, 0.2, 0.3])  # too few to tell
