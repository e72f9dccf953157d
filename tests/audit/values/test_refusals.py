"""A refusal holds what a traceback prints of it; an outcome, what an observer sees beside its values."""

from __future__ import annotations

import array
import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from subnormal import NotPrivateError, Verdict, assert_private, conforms
from subnormal.audit.check.function import Function
from subnormal.audit.check.trial import Watched
from subnormal.audit.values.outcomes import as_outcome, refused
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

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


def tagged(frame: Any, **attrs: Any) -> Any:
    frame.attrs.update(attrs)
    return frame


def categories(*names: str, ordered: bool = False) -> Any:
    return pd.Categorical(["a"], categories=list(names), ordered=ordered)


def levels(*names: str) -> Any:
    """Return an index of ("a", 1), whose levels may name more."""
    return pd.MultiIndex.from_tuples([(name, 1) for name in names])[:1]


FRAME = pd.DataFrame({"a": [1]})

TOLD_APART: dict[str, tuple[Any, Any]] = {
    "name of a series": (pd.Series([1], name="x"), pd.Series([1], name="y")),
    "a series without a name": (pd.Series([1], name="x"), pd.Series([1])),
    "type of a series": (pd.Series([1]), pd.Series([1], dtype="int8")),
    "objects in a series": (pd.Series([1]), pd.Series([1], dtype=object)),
    "texts in a series": (pd.Series(["a"]), pd.Series(["a"], dtype="category")),
    "type of an empty series": (pd.Series([], dtype="float64"), pd.Series([], dtype="int64")),
    "name of an index": (pd.Series([1], index=pd.Index([0], name="x")), pd.Series([1], index=pd.Index([0], name="y"))),
    "type of an index": (pd.Series([1]), pd.Series([1], index=pd.Index([0], dtype="int8"))),
    "levels of an index": (levels("a", "b"), levels("a")),
    "levels of the index of a frame": (pd.DataFrame({"a": [1]}, index=levels("a", "b")), FRAME.set_index(levels("a"))),
    "step of dates": (
        pd.date_range("2024-01-01", periods=1, freq="D"),
        pd.date_range("2024-01-01", periods=1, freq="h"),
    ),
    "time zone": (pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp("2024-01-01")),
    "name of the index of a frame": (FRAME, FRAME.rename_axis("x")),
    "name of the columns of a frame": (FRAME, FRAME.rename_axis("x", axis=1)),
    "rows of a frame without columns": (pd.DataFrame(index=[1]), pd.DataFrame(index=[2])),
    "attributes of a frame": (FRAME, tagged(FRAME.copy(), source=1)),
    "attributes of a series": (tagged(pd.Series([1]), source=1), tagged(pd.Series([1]), source=2)),
    "type of a column": (FRAME, FRAME.astype("int16")),
    "categories of a column": (pd.DataFrame({"a": categories("a", "b")}), pd.DataFrame({"a": categories("a")})),
    "categories": (categories("a", "b"), categories("a")),
    "order of the categories": (pd.Series(categories("a", "b")), pd.Series(categories("b", "a"))),
    "whether categories are ordered": (categories("a"), categories("a", ordered=True)),
    "type of an array": (np.array([1.0]), np.array([1.0], dtype=np.float32)),
    "type of a matrix": (np.eye(2, dtype=np.int64), np.eye(2, dtype=np.int8)),
    "objects in an array": (np.array([1]), np.array([1], dtype=object)),
    "width of texts": (np.array(["a"]), np.array(["a"], dtype="<U5")),
    "unit of times": (np.array([1], dtype="datetime64[ns]"), np.array([1])),
    "type of an empty array": (np.array([]), np.array([], dtype=np.int64)),
    "shape of an empty array": (np.zeros((0, 3)), np.zeros((0, 2))),
    "type of Python's array": (array.array("d", [1.0]), array.array("f", [1.0])),
    "data under a mask": (np.ma.array([1, 2], mask=[False, True]), np.ma.array([1, 3], mask=[False, True])),
    "mask": (np.ma.array([1, 2]), np.ma.array([1, 2], mask=[False, False])),
    "what fills a mask": (np.ma.array([1], fill_value=7), np.ma.array([1], fill_value=8)),
}


@pytest.mark.parametrize("name", TOLD_APART)
def test_what_an_observer_sees_beside_the_values_is_part_of_the_outcome(name: str) -> None:
    outcomes = [identity(as_outcome(one)) for one in TOLD_APART[name]]
    assert outcomes[0] != outcomes[1]
    assert outcomes == [identity(as_outcome(copy.deepcopy(one))) for one in TOLD_APART[name]]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda noisy: pd.Series(noisy, index=["x", "y"], name="count"),
        lambda noisy: pd.Series(noisy, index=pd.Index([7, 8], name="who"), dtype="float32"),
        lambda noisy: pd.DataFrame({"count": noisy}, dtype="float32").rename_axis("who"),
        lambda noisy: np.array(noisy, dtype=np.float32),
        lambda noisy: np.ma.array(noisy, mask=[False, True]),
    ],
    ids=["named series", "series", "frame", "array", "masked array"],
)
def test_numbers_beside_details_are_read_one_by_one(wrapped: Callable[[list[float]], Any]) -> None:
    """No outcome occurs twice, so that only a reading of the number that tells convicts."""
    rng = np.random.default_rng(1)

    def release(data: float) -> Any:
        return wrapped([float(rng.laplace()), float(data + rng.laplace())])

    watched = Watched(wrapped)
    masked = isinstance(watched([0.25, 0.5]), np.ma.MaskedArray)  # None stands for what is under the mask
    assert watched.only_floats is not masked
    with pytest.raises(NotPrivateError):
        assert_private(release, 4.0, 0.0, epsilon=0.5, runs=1_000)
