"""Arrays of lazy numbers: with plain numbers in their place, each operation leads to the floats that numpy computes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subnormal.audit.laws.arrays import LazyArray, filled, of_lazies
from subnormal.audit.laws.followed import law, numbers_along, with_numbers
from subnormal.audit.laws.kinds import type_of
from subnormal.audit.laws.lazy import uniform
from subnormal.audit.laws.path import NotFollowedError, Path, StoppedError
from subnormal.audit.laws.points import as_float

SIZE = 3
CONSTANT = st.sampled_from([-1.5, -1.0, -0.1, 0.25, 0.3, 0.5, 1.0, 2.0, 3.0])
STEPS: dict[str, Any] = {
    "plus": lambda x, c: x + c,
    "from": lambda x, c: c - x,
    "times": lambda x, c: np.multiply(c, x),
    "over": lambda x, c: x / c,
    "row": lambda x, c: x * np.array([c, -c, 2 * c]),
    "float64": lambda x, c: np.float64(c) + x,
    "integers": lambda x, c: np.arange(3) - x,
    "negative": lambda x, c: -x,
    "absolute": lambda x, c: np.abs(x),
    "exp": lambda x, c: np.exp(x),
    "cosine": lambda x, c: np.cos(x),
    "sine": lambda x, c: np.sin(3 * x),
    "beside an element": lambda x, c: x[0] * np.array([c, 1.0, -c]),
    "below an array": lambda x, c: x * (x[0] <= np.array([0.25, 0.5, c])),
    "log": lambda x, c: np.log(np.abs(x) + 0.5),
    "clip": lambda x, c: np.clip(x, 0.25, 0.5),
    "maximum": lambda x, c: np.maximum(x, c),
    "minimum": lambda x, c: np.minimum(c, x),
    "cumsum": lambda x, c: np.cumsum(x),
    "reversed": lambda x, c: x[::-1],
    "in place": lambda x, c: np.add(x, c, out=x.copy()),
    "one": lambda x, c: (
        np.array([x[0], x[1], x[0]]) if not isinstance(x, LazyArray) else filled([x[0], x[1], x[0]], (3,))
    ),
    "stack": lambda x, c: np.stack([x, x])[1],
    "an integer is written": lambda x, c: _written(x, 0, 1),
    "integers are written": lambda x, c: _written(x, [0, 1], 1),
    "integers where": lambda x, c: np.where(x > c, 2, x),
    "an integer beside": lambda x, c: np.append(2, x)[:3],
}


def _written(x: Any, at: Any, value: int) -> Any:
    x = x.copy()
    x[at] = value
    return x


ENDS: dict[str, Any] = {
    "array": lambda x: x,
    "sum": lambda x: x.sum(),
    "mean": lambda x: np.mean(x),
    "rows": lambda x: np.stack([x, x]).sum(axis=1),
    "max": lambda x: x.max(),
    "least": lambda x: np.min(x),
    "argmax": lambda x: int(np.argmax(x)),
    "rint": lambda x: np.rint(x),
    "round": lambda x: np.round(x, 1),
    "rounded element": lambda x: round(x[1], 1),
    "numpy's rounded element": lambda x: np.round(x[1]),
    "floor": lambda x: np.floor(x),
    "ceiling": lambda x: np.ceil(x),
    "integers": lambda x: x.astype(int),
    "list": lambda x: x.tolist(),
    "item": lambda x: x[1].item() if not hasattr(x[1], "signs") else x[1],
    "above": lambda x: x > 0.5,
    "at most": lambda x: x >= 0.25,
    "any": lambda x: bool(np.any(x < 0)),
    "count": lambda x: int((x >= 0.5).sum()),
    "floats": lambda x: x.astype(float),
    "whole numbers": lambda x: (10 * x).astype(int),
}


def _evaluated(value: Any, numbers: dict[int, int]) -> Any:
    return value if isinstance(value, np.ndarray) and not isinstance(value, LazyArray) else with_numbers(value, numbers)


@settings(max_examples=400)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), CONSTANT), max_size=4), st.sampled_from(sorted(ENDS)))
def test_each_operation_is_that_of_numpy(steps: list[tuple[str, float]], end: str) -> None:
    def program(x: Any) -> Any:
        for name, constant in steps:
            x = STEPS[name](x, constant)
        return ENDS[end](x)

    path = Path()
    with np.errstate(all="ignore"):
        try:
            lazily = program(filled([uniform(path).of_kind(np.float64) for _ in range(SIZE)], (SIZE,)))
        except StoppedError:  # sums of uniforms have signs and digits that are not known
            assert path.failed is not None
            return
        numbers = numbers_along(path)
        if numbers is None:
            return
        expected = program(np.array(list(map(as_float, numbers))))
    found = _evaluated(lazily, dict(enumerate(numbers)))
    assert np.array_equal(np.signbit(np.asarray(found, dtype=float)), np.signbit(np.asarray(expected, dtype=float)))
    assert np.array_equal(found, expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_an_integer_that_is_written_beside_floats_becomes_one() -> None:
    path = Path()
    made: Any = of_lazies(np.array)([1, uniform(path), round(4 * uniform(path))])  # the last one is random, too
    assert all(type_of(one) is np.float64 for one in made)
    x: Any = filled([uniform(path).of_kind(np.float64) for _ in range(2)], (2,))
    x[1] = 1
    assert type(np.asarray(x)[1]) is np.float64
    assert np.where([True, True], 1, x).dtype == np.float64
    integers: Any = filled([round(4 * uniform(path)), 1], (2,))
    assert np.minimum(integers, -1).dtype == np.int64
    assert np.minimum(integers, -1.5).dtype == np.float64
    assert type_of(np.asarray(np.maximum(integers, -1.5))[0]) is np.float64
    integers[1] = 2
    assert type(np.asarray(integers)[1]) is np.int64
    with pytest.raises(StoppedError):
        integers[1] = 2.5


OTHERS: dict[str, Any] = {
    "sort": np.sort,
    "median": np.median,
    "norm": np.linalg.norm,
    "dot": lambda x: np.dot(x, x),
    "method dot": lambda x: x.dot(np.ones(SIZE)),
    "product of matrices": lambda x: x @ np.ones(SIZE),
    "argsort": lambda x: x.argsort(),
    "product": lambda x: x.prod(),
    "variance": lambda x: x.var(),
    "sum with a condition": lambda x: np.sum(x, where=np.array([True, False, True])),
    "an ordinary array as output": lambda x: np.add(x, 1.0, out=np.zeros(SIZE)),
    "complex numbers": lambda x: x + 1j,
    "one integer everywhere": lambda x: x.fill(0),
    "an integer at a place": lambda x: x.put(0, 1),
    "integers of what may be infinite": lambda x: np.log(x).astype(int),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_operations_are_refused(name: str) -> None:
    path = Path()
    x = filled([uniform(path).of_kind(np.float64) for _ in range(SIZE)], (SIZE,))
    with pytest.raises(StoppedError), np.errstate(all="ignore"):
        OTHERS[name](x)
    assert path.failed is not None
    assert "random numbers" in path.failed


def test_floats_are_rounded_to_digits_by_their_type() -> None:
    """0.15 is a float below it: Python rounds it down, and numpy rounds 1.5."""
    path = Path()
    number = 0.0 * uniform(path) + 0.15
    assert round(number, 1).f({0: 0}) == round(0.15, 1) == 0.1
    assert round(number.of_kind(np.float64), 1).f({0: 0}) == round(np.float64(0.15), 1) == 0.2


def test_a_sum_in_another_order_than_that_of_memory_is_refused() -> None:
    """numpy adds the numbers of a transposed array as they lie in memory."""

    def total(values: Any) -> bool:
        return bool(values.sum() > 1.2)

    table = np.array([[0.1, 0.7, 0.3], [0.2, 0.6, 0.9]])
    law(lambda _: total(table * np.random.randint(0, 2, size=(2, 3))), None)
    with pytest.raises(NotFollowedError, match="another order"):
        law(lambda _: total((table * np.random.randint(0, 2, size=(2, 3))).T), None)
