"""Answers of students as data: they arrive as they are, and what has another form is refused."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from grader.answers import Other, decoded, encoded, shown, value_of
from grader.functions import DEPTH, Function
from grader.marks import LABS, parts_of


@pytest.mark.parametrize(
    "value",
    [None, True, 1, -(10**30), 0.1, "text", Fraction(1, 3), [1, [2.0, None]], frozenset({1, 2}), [], -math.inf],
    ids=repr,
)
def test_data_arrive_as_they_are(value: Any) -> None:
    assert decoded(json.loads(json.dumps(encoded(value), allow_nan=False))) == value


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", ">f8"])
def test_arrays_arrive_as_they_are(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    found = decoded(json.loads(json.dumps(encoded(array))))
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()


def test_what_is_no_data_arrives_as_its_name() -> None:
    for value in (object(), {"points": 1000}, Decimal("1e999999999"), np.array([object()]), b"bytes"):
        assert decoded(encoded(value)) == Other(type(value).__name__, shown(value))


@pytest.mark.parametrize(
    "line",
    [
        "1000",
        "[]",
        '{"points": 1000}',
        '{"value": 1, "points": 1000}',
        '{"value": {"points": 1000}}',
        '{"value": {"float": "1e999"}}',
        '{"value": {"fraction": "1/x"}}',
        '{"value": {"set": [[1]]}}',
        '{"value": {"set": [{"float": "nan"}]}}',
        '{"value": {"array": "AAAA", "dtype": "<f8", "shape": [1]}}',
        '{"value": {"array": "", "dtype": "|O8", "shape": [0]}}',
        '{"value": {"array": "", "dtype": "<f8", "shape": [-1]}}',
        '{"value": {"array": "?", "dtype": "<f8", "shape": [0]}}',
        '{"value": {"other": ["Result"]}}',
        '{"error": ["only a message"]}',
        '{"raised": 1}',
    ],
)
def test_a_reply_of_another_form_is_refused_and_gets_no_points(line: str) -> None:
    reply = json.loads(line)
    with pytest.raises(ValueError, match=r"form|array|literal|base64|buffer|Incorrect|bytes|shape"):
        value_of(reply)
    for part in (part for lab in LABS for part in parts_of(lab) if part.draws):
        assert part.grade(*(Function(lambda action, arguments: reply) for _ in part.answers)).points == 0


@pytest.mark.parametrize(
    "law",
    [[], [[], []], [[0, 1], [1 << DEPTH]], [[0, 0], [1, 1]], [[0], [(1 << DEPTH) + 1]], [[0.5], [1]], [[0, 1], [1, 0]]],
)
def test_a_law_of_another_form_gets_no_points(law: Any) -> None:
    noise = Function(lambda action, arguments: {"value": law})
    with pytest.raises(ValueError, match=r"^no law has the form|^a law has more than"):
        noise.law()
    assert parts_of("lab3_repair")[0].grade(noise).points == 0
