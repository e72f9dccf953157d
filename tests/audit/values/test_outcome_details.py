"""What an array, series or frame shows beside its values is part of the outcome, and hides no number from an event."""

import array
import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from subnormal import NotPrivateError, assert_private
from subnormal.audit.check.trial import Watched
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.core.outcome_identity import identity


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
