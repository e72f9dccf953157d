"""A world's data as text: what is pasted is the data, bit for bit."""

import datetime
import enum
import math
import zoneinfo
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn_numpy
from hypothesis.extra import pandas as drawn_pandas

from subnormal.attacks.catalogue import attacks
from subnormal.audit.values.literal import LONGEST, expression, literal

HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)


@dataclass(frozen=True)
class Place:
    """A dataclass."""

    name: str
    at: Any


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1
    BLUE = "b"


class Size(NamedTuple):
    """A named tuple."""

    wide: float
    high: Any


@dataclass
class Changed:
    """A dataclass that changes what it is given."""

    number: int

    def __post_init__(self) -> None:
        self.number += 1


def pasted(data: Any) -> Any:
    """Return what the expression for the data evaluates to, with the imports that it states and nothing else."""
    found = expression(data)
    assert found is not None, data
    names: dict[str, Any] = {}
    exec("\n".join(found.imports), names)
    return eval(found.text, names)


def bits(array: Any) -> bytes:
    """Return the bits of an array; one NaN stands for all of them, which Python writes alike."""
    if array.dtype.kind == "c":
        return bits(array.real) + bits(array.imag)
    alike = np.where(np.isnan(array), array.dtype.type(np.nan), array) if array.dtype.kind == "f" else array
    return bytes(alike.tobytes())


def same(one: Any, other: Any) -> bool:
    """Whether data are of the same type and bits; ==, which takes 0.0 for -0.0 and NaN for no NaN, is not enough."""
    if type(one) is not type(other):
        return False
    if isinstance(one, pd.DataFrame):
        return (
            one.shape == other.shape
            and all(same(a, b) for a, b in ((one.index, other.index), (one.columns, other.columns)))
            and all(same(one.iloc[:, place], other.iloc[:, place]) for place in range(one.shape[1]))
        )
    if isinstance(one, pd.Series):
        return same(one.name, other.name) and same(one.index, other.index) and same(one.array, other.array)
    if isinstance(one, pd.MultiIndex):
        levels = ((one.get_level_values(at), other.get_level_values(at)) for at in range(one.nlevels))
        return same(list(one.names), list(other.names)) and all(same(*level) for level in levels)
    if isinstance(one, pd.Index):
        return (
            same(one.name, other.name)
            and getattr(one, "freq", 0) == getattr(other, "freq", 0)
            and (same(one.array, other.array))
        )
    if isinstance(one, pd.Categorical):
        return (
            same(one.dtype.categories, other.dtype.categories)
            and one.ordered == other.ordered
            and (same(one.codes, other.codes))
        )
    if isinstance(one, pd.api.extensions.ExtensionArray):
        return one.dtype == other.dtype and same(list(one), list(other))
    if isinstance(one, Place):
        return same((one.name, one.at), (other.name, other.at))
    if isinstance(one, set | frozenset):
        return same(sorted(one, key=repr), sorted(other, key=repr))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return one.shape == other.shape and same(one.tolist(), other.tolist())
    if isinstance(one, np.ndarray | np.generic):
        return (one.dtype, one.shape, bits(one)) == (other.dtype, other.shape, bits(other))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_the_worlds_of_every_attack_can_be_pasted(attack: Any) -> None:
    for data in attack.worlds():
        text: Any = literal(data)
        assert len(text) < 300
        assert same(pasted(data), data)


DATA = [  # what is seldom drawn below
    np.full(1000, 37),
    np.array([0] + 999 * [37]),
    np.array([*range(100)]),
    np.array([], dtype=np.float32),
    np.array([0.0, -0.0] * 50),
    np.array([-0.0] * 50),
    np.array([math.nan, math.inf, -math.inf, 5e-324, -0.0]),
    np.full(100, math.nan),
    np.full(100, 0.1, dtype=np.float32),
    np.array([0.1, 1 / 3], dtype=np.float16),
    np.array([2**64 - 1, 0] * 3, dtype=np.uint64),
    np.ones((20, 3)),
    np.arange(6).reshape(2, 3),
    np.zeros((0, 3)),
    np.arange(100)[::-2],
    np.float32(0.1),
    np.int64(-3),
    np.float64(math.inf),
    "Alice's\n\u202e",
    b"\x00",
    [0] + 999 * [37],
    [0.0, -0.0] * 20,
    [[1, 2]] * 50,
    [1, True] * 20,
    {"b": [1, 2.5], 3: {"a": None}, (1, 2): -math.inf},
    {"b", "a", 1, None},
    bytearray(b"a"),
    range(3),
    complex(-0.0, math.nan),
    Counter("abca"),
    OrderedDict(b=1, a=2),
    deque([1, 2], 5),
    UUID(int=1),
    datetime.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")),
    datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    Place("a", {"b": (Place("c", math.inf), Colour.BLUE)}),
    Size(1.0, np.float32(0.1)),
    np.array([1, None, "a", Fraction(1, 2)]),
    np.array([1, 2], dtype=">i4"),
    np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
    np.array([1, -(2**63)], dtype="timedelta64[ns]"),
    np.array([complex(0.0, -0.0)] * 40),
    np.datetime64("2024-01-01", "ns"),
    np.timedelta64(3, "h"),
    np.str_("a"),
    pd.DataFrame(),
    pd.DataFrame({"a": []}),
    pd.DataFrame(index=["x", "y"]),
    pd.DataFrame({"age": [1, 2], "name": ["a", "b"], "paid": [0.5, math.nan], "is": [True, False]}),
    pd.DataFrame({"a": [1], "b": [2]}, index=pd.Index([7], name="who"), dtype="int8"),
    pd.DataFrame([[1, 2.0, "x"]], columns=["a", "a", "b"]),
    pd.DataFrame(np.zeros((2, 3))),
    pd.DataFrame({1: [1], "b": [None]}),
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array(["x", None], dtype="string")}),
    pd.DataFrame({"a": pd.Series(["x", None, [1]], dtype=object), "b": pd.Series(["x", "y", "z"], dtype=object)}),
    pd.DataFrame({"a": pd.Categorical(["x", None], categories=["y", "x"], ordered=True)}),
    pd.DataFrame({"a": pd.to_datetime(["2024-01-01", None]), "b": pd.to_datetime(["2024-01-01"] * 2, utc=True)}),
    pd.DataFrame({("a", 1): [1], ("a", 2): [2]}, index=pd.MultiIndex.from_tuples([("x", 1)], names=["k", None])),
    pd.Series([1.0, -0.0], name="x"),
    pd.Series([], dtype="float32"),
    pd.Series([1], index=pd.date_range("2024-01-01", periods=1, freq="D", tz="Europe/Paris")),
    pd.Series([3, 4], index=pd.RangeIndex(2, 6, 2)),
    pd.Timestamp("2024-01-01"),
    pd.NaT,
    pd.NA,
    [pd.DataFrame({"a": [1]}), {"b": np.array([1.5])}],
]


@pytest.mark.parametrize("data", DATA, ids=lambda data: type(data).__name__)
def test_what_is_pasted_is_the_data(data: Any) -> None:
    text = literal(data)
    assert text is not None
    assert same(pasted(data), data)
    assert literal(data) == text


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.fractions()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.timedeltas()
    | st.sampled_from(Colour)
)
HASHABLE = st.none() | st.integers() | st.text() | st.dates() | st.fractions()
ARRAYS = drawn_numpy.arrays(
    drawn_numpy.scalar_dtypes() | drawn_numpy.byte_string_dtypes() | drawn_numpy.unicode_string_dtypes(),
    drawn_numpy.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
)
COLUMNS: Any = [
    drawn_pandas.column(name, dtype=dtype)
    for name, dtype in (
        ("a", np.int64),
        ("b", float),
        ("c", bool),
        ("d", "datetime64[ns]"),
        (3, np.uint8),
        ("e", "m8[ns]"),
    )
] + [
    drawn_pandas.column("f", elements=st.text(max_size=3), dtype=object),
    drawn_pandas.column("g", elements=SCALARS.filter(lambda one: not isinstance(one, Colour)), dtype=object),
]
INDICES: Any = drawn_pandas.range_indexes(max_size=3) | drawn_pandas.indexes(
    elements=st.integers(-3, 3) | st.text(max_size=2), dtype=object, max_size=3
)
FRAMES = st.lists(st.sampled_from(COLUMNS), unique_by=lambda column: str(column.name)).flatmap(
    lambda columns: drawn_pandas.data_frames(columns, index=INDICES)
)
NESTED = st.recursive(
    SCALARS | ARRAYS | FRAMES | st.sets(HASHABLE) | st.frozensets(HASHABLE),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.builds(Place, st.text(), inner)
        | st.builds(Size, st.floats(), inner)
    ),
    max_leaves=4,
)


@pytest.mark.parametrize("kind", [SCALARS, ARRAYS, FRAMES, NESTED], ids=["scalars", "arrays", "frames", "nested"])
def test_what_is_drawn_can_be_pasted(kind: st.SearchStrategy[Any]) -> None:
    @settings(max_examples=100, derandomize=True, deadline=None, database=None)
    @given(kind)
    def can_be_pasted(data: Any) -> None:
        assert same(pasted(data), data)

    can_be_pasted()


def test_a_class_that_cannot_be_imported_is_named_in_a_comment() -> None:
    @dataclass
    class Local:
        number: int

    found: Any = expression(Local(3))
    assert found.text == "Local(number=3)"
    assert found.imports[0].startswith("# Local must be imported")


def test_a_frame_is_written_as_a_user_would() -> None:
    assert literal(pd.DataFrame({"age": [31], "name": ["Ada"]})) == "pd.DataFrame({'age': [31], 'name': ['Ada']})"


def test_many_equal_elements_are_short() -> None:
    assert literal(np.full(10**6, 37)) == "np.full(1000000, 37)"
    assert literal([0] + 999 * [37]) == "[0] + 999 * [37]"


@pytest.mark.parametrize(
    "data",
    [
        object(),
        [object()],
        {"a": Changed(1)},
        np.array([[1, 2], None], dtype=object),
        np.ma.masked_array([1, 2], [True, False]),
        np.longdouble(1),
        np.zeros(2, dtype="i4, f8"),
        10**5_000,
        HOLDS_ITSELF,
        pd.Series([object()]),
        np.random.default_rng(1).random(LONGEST),
    ],
    ids=[
        "an object",
        "a list of objects",
        "a class that changes what it is given",
        "an array of lists",
        "a masked array",
        "a long double",
        "a record",
        "too many digits",
        "a list that holds itself",
        "a series of objects",
        "too long",
    ],
)
def test_what_has_no_short_expression_has_none(data: Any) -> None:
    assert literal(data) is None
