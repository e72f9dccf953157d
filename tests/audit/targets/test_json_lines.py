"""The lines that go to a program and come back: no number loses a bit, and what is missing is noticed."""

import json
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from subnormal.audit.targets import json_lines
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.families import family
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from tests.support.paths import ROOT

SCHEMA = json.loads((ROOT / "docs" / "protocol.schema.json").read_text())
LINES = Draft202012Validator(SCHEMA)
NUMBERS = [0, -1, (1 << 53) + 1, -(1 << 62), 0.1, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53, 1e22]


def test_the_schema_is_one_and_describes_what_is_sent() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for data in (1, 0.5, (1 << 60) + 129, NUMBERS):
        line = json.loads(json_lines.question(data, {"epsilon": 1.0, "query": "value"}) + "5}")
        assert list(line) == ["data", "parameters", "runs"]
        LINES.validate(line)
    LINES.validate(json.loads(json_lines.hello()))


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_come_back_as_they_went_out(value: int | float) -> None:
    sent = json.loads(json_lines.question(value, {}) + "1}")["data"]
    back = json_lines.decoded(sent)
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
        (1152921504606847200, 2.0**60 + 256),  # JavaScript's 2^60 + 256: a JSON number is a binary64
        ("1152921504606847105", (1 << 60) + 129),
        ([1, "0x1p-1"], (1, 0.5)),
        ({"b": 1, "a": "0x1p-1"}, (("a", 0.5), ("b", 1))),
        ({}, ()),
        ("error: ValueError: empty", Refused("ValueError: empty")),
        ("error:", Refused("")),
    ],
)
def test_outcomes_are_read_exactly(given: Any, outcome: Any) -> None:
    LINES.validate({"outcomes": [given]})
    assert json_lines.decoded(given) == outcome
    assert type(json_lines.decoded(given)) is type(outcome)


@pytest.mark.parametrize(
    "given",
    [True, None, {"a": {}}, {"a": "error: x"}, [], [[1]], ["error: x"], "", "inf", "nan", "0.5", "0xp1", "1" * 301],
)
def test_what_is_no_outcome_is_refused(given: Any) -> None:
    assert not LINES.is_valid({"outcomes": [given]})
    with pytest.raises(TargetError, match="answered with the outcome"):
        json_lines.decoded(given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([1, True], "answered with the outcome true, which is no number: write 1 or 0"),
        (
            None,
            "answered with the outcome null, which is neither a number, a list or an object of numbers, "
            "nor a text that begins with 'error:'",
        ),
    ],
)
def test_what_is_no_outcome_is_told_with_what_would_be_one(given: Any, told: str) -> None:
    with pytest.raises(TargetError, match=f"^{told}$"):
        json_lines.decoded(given)


@pytest.mark.parametrize("given", ["0x1p+1024", 10**400])
def test_what_no_float_holds_is_not_finite(given: Any) -> None:
    with pytest.raises(TargetError, match="not finite"):
        json_lines.decoded(given)


def test_an_index_beyond_the_last_is_refused() -> None:
    with pytest.raises(TargetError, match="indices go from 0 to 2"):  # a language that counts from 1
        json_lines.answered({"outcomes": [1, 2, 3]}, family("exponential"), np.zeros(3), 3, None)
    with pytest.raises(TargetError, match="the index 2: indices go from 0 to 1"):
        json_lines.answered(
            {"outcomes": [0, 1, 2]}, family("randomized-response"), 0, 3, RandomizedResponseParameters(1.0, 2)
        )
    with pytest.raises(TargetError, match="the index 2: indices go from 0 to 1"):
        json_lines.answered({"outcomes": [[0, 5], [2, 5]]}, family("private-selection"), np.zeros(2), 2, None)


def test_gathering_changes_no_outcome() -> None:
    large = (1 << 53) + 1
    every: list[list[Any]] = [
        *([1, large], [0.5, large], [1, 0.5], [1 << 63, 0], [0.5, 2.0], []),
        *([(1, 0.5), (2, 0.25)], [(1, 0.5), (2,)], [(1, large)], [(1.0, 0.5), (2.0, 0.25)], [(1, 2)], [(), ()]),
        *([Refused("x"), 1], [(("a", 0.5),), (("a", 1.5),)]),
    ]
    for outcomes in every:
        found: Any = json_lines.gathered(list(outcomes))
        flat = found.tolist() if isinstance(found, np.ndarray) else found
        assert [tuple(one) if isinstance(one, list) else one for one in flat] == outcomes
        assert [repr(tuple(one) if isinstance(one, list) else one) for one in flat] == list(map(repr, outcomes))


def warned(outcomes: list[Any]) -> bool:
    monitor = OutcomeMonitor()
    monitor.see(outcomes)
    return bool(monitor.warnings())


def test_digits_are_missed_where_they_are_missing() -> None:
    noise = np.random.default_rng(1).laplace(size=(1_000, 16))
    assert not any(warned(values) for values in noise.tolist())  # chance of a false one below 10^−7 in all
    for form in ("%g", "%.6f", "%.15g"):
        assert warned([float(form % value) for value in noise.ravel()])
    assert warned([(float(f"{value:g}"), 1) for value in noise.ravel()])


def test_one_number_in_all_runs_is_told_of() -> None:
    """A target that misreads its data may return a constant, which no attack refutes."""
    assert warned([0.0] * 100)
    assert not warned([0.0] * 99 + [1.0])
    assert not warned([3] * 100)  # an index may be all but certain
    assert not warned([0.0] * 3)


def test_few_digits_that_are_natural_bring_no_warning() -> None:
    assert not warned(list(range(1_000)))
    assert not warned([count / 1024 for count in range(-5_000, 5_000)])  # a dyadic of few bits is its decimal
    assert not warned([count * 2.0**-30 for count in range(1, 1 << 30, 12_345)])
    assert not warned([0.1, 0.2, 0.3])  # too few to tell


def test_a_million_records_go_out_exactly() -> None:
    records = np.linspace(0, 1, 1_000_000)
    line = json_lines.question(records.tolist(), {"query": "sum"}) + "1}"
    assert np.array_equal(np.array(json.loads(line)["data"]), records)
