"""What Python code releases becomes an outcome exactly, or is refused: no object is a new one at each run."""

import array
import math
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subnormal import NotPrivateError, assert_private
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

RUNS = 300


class Tensor:
    """Like a tensor of other people's: no array, never equal to another one, and shortened where it is printed."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> Any:
        raise TypeError("ambiguous")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "tensor([...])"

    def tolist(self) -> Any:
        return self.parts


class OnlyArray(Tensor):
    tolist = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.parts)


class Series(Tensor):
    """Not a mapping: an index may come twice, and its order is seen."""

    tolist = None  # type: ignore[assignment]

    def items(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.parts)


class ToNumpy(Tensor):
    tolist = None  # type: ignore[assignment]

    def to_numpy(self) -> Any:
        return np.array(self.parts)


class Model:
    """Of a class of one's own, with the hash of its address."""

    def __init__(self, weight: float) -> None:
        self.weight = weight


class Value(Model):
    """Equal to others by a part of what can be seen."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value)

    def __hash__(self) -> int:
        return 1


class Frame(Tensor):
    """Of a library whose frames have columns, and no items."""

    columns = ("a", "b")

    def __getitem__(self, label: str) -> Any:
        return self.parts[label]

    tolist = None  # type: ignore[assignment]


class Located(OnlyArray):
    """An array with coordinates, which its numbers do not tell."""

    dims, coords = ("x",), (7,)


class Quantity(np.ndarray[Any, Any]):
    """An array with a unit."""

    unit: str


class Broken(Tensor):
    def tolist(self) -> Any:
        raise RuntimeError("on another device")


class Integer:
    def __index__(self) -> int:
        return 7


class Named(float):
    pass


class Colour(Enum):
    RED = object()


@dataclass
class Fit:
    weights: Any
    intercept: float


@dataclass
class Other:
    weights: Any
    intercept: float


@dataclass(frozen=True)
class Plain:
    pass


class Undecorated(Plain):
    def __init__(self, hidden: int) -> None:
        object.__setattr__(self, "hidden", hidden)


class Filled(dict[str, int]):
    """A mapping that is made a dataclass below: its items are none of its fields."""


@dataclass(init=False)
class Mapped(Filled):
    """Fields of a mapping that no field names."""  # without it early releases of Python 3.11 ask for a signature

    name: str = "a"


def quantity() -> Any:
    made = np.array([1.0]).view(Quantity)
    made.unit = "m"
    return made


def bearing(released: Any) -> Any:
    """Return it with an attribute that none of its fields names."""
    released.hidden = 1
    return released


MASKED = (("__data__", (1, 2)), ("__mask__", (False, True)), ("__fill__", 7))

CONVERTED: tuple[tuple[Any, Any], ...] = (
    *((released, released) for released in (1, 0.5, True, None, "a", b"a", 1j, Decimal("1.0"), Fraction(1, 3))),
    *((released, released) for released in (date(2024, 1, 1), Refused("no"), Colour.RED)),
    *(([1, (2.0, {3})], (1, (2.0, (3,)))), (deque([1]), (1,)), (range(2), (0, 1)), (bytearray(b"x"), b"x")),
    *((np.float32(0.1), float(np.float32(0.1))), (np.array(1.5), 1.5), (np.array([[1], [2]]), ((1,), (2,)))),
    *((np.array([1, [2.0]], dtype=object), (1, (2.0,))), (array.array("d", [0.5]), (0.5,)), (memoryview(b"a"), (97,))),
    *((Tensor([1.0, 2.0]), (1.0, 2.0)), (Tensor(0.5), 0.5), (OnlyArray([1, 2]), (1, 2)), (ToNumpy([1, 2]), (1, 2))),
    *((Series([(1, Tensor([0.5])), (0, 1)]), ((1, (0.5,)), (0, 1))), (Integer(), 7), (Integer, TypeError)),
    (OrderedDict(b=Tensor([1]), a=np.float64(2.0)), (("a", 2.0), ("b", (1,)))),
    (Fit(np.array([1.0]), 2.0), (("__class__", "Fit"), ("intercept", 2.0), ("weights", (1.0,)))),
    *((ValueError("no"), Refused("ValueError: no")), ({}.keys(), ()), ({"a": 1}.keys(), ("a",))),
    (pd.DataFrame({"b": [1, 2], "a": [0.5, 1.5]}), (("b", ((0, 1), (1, 2))), ("a", ((0, 0.5), (1, 1.5))))),
    (pd.Series([1, 2], index=["y", "x"], name="n"), (("y", 1), ("x", 2), ("__name__", "n"))),
    (Frame({"a": [1], "b": np.array([2.0])}), (("a", (1,)), ("b", (2.0,)))),
    (np.array([0.5, 1.0], dtype=np.float32), (0.5, 1.0, ("__dtype__", "float32"))),
    (np.ma.array([1, 2], mask=[False, True], fill_value=7), (1, None, *MASKED)),
    *((np.ma.masked, None), (np.array(0.5, dtype=np.float32), 0.5), (np.array(["a"]), ("a",))),
    *((pd.Series([1, 2], index=["y", "x"]), (("y", 1), ("x", 2))), (pd.Index([1, 2]), (1, 2))),
)


@pytest.mark.parametrize(("released", "outcome"), CONVERTED, ids=lambda one: type(one).__name__)
def test_what_says_all_of_itself_is_converted(released: Any, outcome: Any) -> None:
    if outcome is TypeError:
        with pytest.raises(TypeError, match="cannot be told apart"):
            as_outcome(released)
    else:
        assert identity(as_outcome(released)) == identity(outcome)


REFUSED: tuple[Any, ...] = (
    *(bearing(Fit([1], 1.0)), Mapped(b=1), Located([1]), quantity()),
    *(Model(1.0), Value(1.0), Broken([1]), Named(1.0), Undecorated(1), object(), iter([1]), (x for x in (1, 2))),
    *(map(abs, [1]), {}.values(), lambda: 1, Model, np, np.longdouble(1), pd.NA),
)


@pytest.mark.parametrize("wrapped", [lambda one: one, lambda one: [one], lambda one: {"a": (one,)}], ids=range(3))
@pytest.mark.parametrize("released", REFUSED, ids=lambda one: type(one).__name__)
def test_the_rest_is_refused_by_the_name_of_its_type(released: Any, wrapped: Callable[[Any], Any]) -> None:
    name = f"{type(released).__module__}.{type(released).__qualname__}"
    with pytest.raises(TypeError, match=f"outcomes of type {name} cannot be (told apart|converted)") as caught:
        as_outcome(wrapped(released))
    if isinstance(released, Broken):
        assert "(RuntimeError: on another device)" in str(caught.value)


LONG = np.zeros(1_500)  # numpy abbreviates what it prints of so many

WITHOUT_NOISE: dict[str, Callable[[float], Any]] = {
    "a tensor": lambda data: Tensor([data, 0.0]),
    "a scalar tensor": lambda data: Tensor(data),
    "what only has an array": lambda data: OnlyArray([data]),
    "a long array": lambda data: np.where(np.arange(1_500) == 750, data, LONG),
    "a frame whose row 50 differs": lambda data: pd.DataFrame({"a": np.where(np.arange(100) == 50, data, LONG[:100])}),
    "a series": lambda data: pd.Series([0.0, data]),
    "the order of a series": lambda data: pd.Series([1.0, 2.0], index=[0, 1] if data else [1, 0]).sort_values(),
    "a state dict": lambda data: OrderedDict(weight=Tensor([data])),
    "a dataclass": lambda data: Fit(Tensor([data]), 0.0),
    "the name of a dataclass": lambda data: (Fit if data else Other)(0, 0.0),
    "an exception that is returned": lambda data: ValueError(data),
}


@pytest.mark.parametrize("name", WITHOUT_NOISE)
def test_releases_of_one_input_are_equal_and_those_of_two_are_not(name: str) -> None:
    one, again, other = (identity(as_outcome(WITHOUT_NOISE[name](data))) for data in (1.0, 1.0, 0.0))
    assert one == again != other


def test_a_tensor_of_one_float_is_convicted_as_the_float_is() -> None:
    rng = np.random.default_rng(1)

    def release(wrapped: Callable[[float], Any], data: float) -> Any:
        return wrapped(float(data + rng.laplace()))

    for wrapped in (float, Tensor, OnlyArray):
        with pytest.raises(NotPrivateError):
            assert_private(partial(release, wrapped), 1.0, 0.0, epsilon=1.0, runs=4_000)


def test_the_order_of_a_mapping_is_audited_where_its_items_are_released() -> None:
    """As the table in docs/check_in_full.md says: the dictionary alone is one outcome in every order of its keys."""

    def ordered(counts: dict[str, int]) -> dict[str, int]:
        return {key: random.getrandbits(1) for key in sorted(counts, key=counts.__getitem__)}

    worlds = {"a": 1, "b": 2}, {"a": 2, "b": 1}
    assert_private(ordered, *worlds, epsilon=1.0, runs=RUNS)
    with pytest.raises(NotPrivateError):
        assert_private(lambda counts: list(ordered(counts).items()), *worlds, epsilon=1.0, runs=RUNS)


@given(st.dictionaries(st.text() | st.sampled_from([math.nan, float("-nan"), 1, None]), st.integers(0, 3)))
def test_items_of_a_mapping_lie_in_the_order_of_their_words(released: dict[Any, int]) -> None:
    assert as_outcome(released) == tuple(sorted(released.items(), key=repr))
    again = as_outcome(dict(reversed(released.items())))
    assert identity(again) == identity(as_outcome(released))


def test_a_type_error_of_the_release_itself_stays_an_outcome() -> None:
    def release(data: float) -> float:
        if data and random.random() < 0.5:
            raise TypeError("no")
        return 0.0

    with pytest.raises(NotPrivateError):
        assert_private(release, 1.0, 0.0, epsilon=1.0, runs=RUNS)
