"""A world's data as text: what is pasted is the data, bit for bit."""

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.catalogue import attacks
from subnormal.audit.literal import LONGEST, literal
from subnormal.mechanisms.exponential.family import Limits

NAMES = {"np": np, "math": math, "Fraction": Fraction, "Decimal": Decimal}


def same(one: Any, other: Any) -> bool:
    """Whether data are of the same type and bits; ==, which takes 0.0 for -0.0 and NaN for no NaN, is not enough."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_the_worlds_of_every_attack_can_be_pasted(attack: Any) -> None:
    for data in attack.worlds():
        text = literal(data)
        assert text is not None
        assert len(text) < 300
        assert same(eval(text, dict(NAMES)), data)


DATA = [
    np.full(1000, 37),
    np.array([0] + 999 * [37]),
    np.array([*range(100)]),
    np.array([], dtype=np.int64),
    np.array([], dtype=np.float32),
    np.array([0.0, -0.0] * 50),
    np.array([-0.0] * 50),
    np.array([math.nan, math.inf, -math.inf, 5e-324, -0.0]),
    np.full(100, math.nan),
    np.full(100, 0.1, dtype=np.float32),
    np.array([0.1, 1 / 3], dtype=np.float16),
    np.array([1, 255], dtype=np.uint8),
    np.array([2**64 - 1, 0] * 3, dtype=np.uint64),
    np.array([-(2**63), 2**63 - 1]),
    np.array([True, False]),
    np.ones((20, 3)),
    np.arange(6).reshape(2, 3),
    np.zeros((0, 3)),
    np.arange(100)[::-2],
    np.float32(0.1),
    np.int64(-3),
    np.float64(math.inf),
    0.1,
    -0.0,
    math.nan,
    2**80,
    True,
    None,
    "Alice's\n\u202e",
    b"\x00",
    Fraction(1, 3),
    Decimal("1.00"),
    (),
    (1,),
    [],
    [1, [2.0, (3, "x")]],
    [0] + 999 * [37],
    [0.0, -0.0] * 20,
    [[1, 2]] * 50,
    [1, True] * 20,
    {"b": [1, 2.5], 3: {"a": None}, (1, 2): -math.inf},
]


@pytest.mark.parametrize("data", DATA, ids=lambda data: repr(data)[:30])
def test_what_is_pasted_is_the_data(data: Any) -> None:
    text = literal(data)
    assert text is not None
    assert same(eval(text, dict(NAMES)), data)
    assert literal(data) == text


def test_many_equal_elements_are_short() -> None:
    assert literal(np.full(10**6, 37)) == "np.full(1000000, 37)"
    assert literal([0] + 999 * [37]) == "[0] + 999 * [37]"


@pytest.mark.parametrize(
    "data",
    [
        object(),
        Limits(0, 1, 2),
        {1, 2},
        [object()],
        np.array([1, None]),
        np.array(["a"]),
        np.array(1),
        np.array([1], dtype=">i4"),
        np.random.default_rng(1).random(LONGEST),
    ],
    ids=[
        "an object",
        "limits",
        "a set",
        "a list of objects",
        "objects",
        "strings",
        "a scalar",
        "bytes swapped",
        "too long",
    ],
)
def test_what_has_no_short_expression_has_none(data: Any) -> None:
    assert literal(data) is None
