"""Datasets that differ in one record, or by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from subnormal.audit.neighbours.datasets import differ_by_one, differ_in_one

LONG, IN_THE_MIDDLE = np.arange(1100.0), np.where(np.arange(1100) == 500, 2, 1)  # whose repr leaves the middle out


def frame(labels: Any, values: Any = 0, **options: Any) -> pd.DataFrame:
    return pd.DataFrame({"v": values}, index=pd.Index(labels, **options))


def numbered(*values: int) -> pd.DataFrame:
    return pd.DataFrame({"v": list(values)})


@pytest.mark.parametrize(
    ("one", "other", "one_changed", "one_more"),
    [
        ([1, 2], [1, 3], True, False),
        ([1, 2], [1, 2], False, False),
        ([1, 2], [2, 1], False, False),
        ([1, 2], [1], False, True),
        ([2], [1, 2], False, True),
        ([1, 2, 3], [1, 3], False, True),
        ([1, 2, 3], [3, 1], False, False),
        ([1, 2, 3], [1], False, False),
        ([0.0], [-0.0], True, False),
        ([math.nan], [math.nan], False, False),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]), True, False),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1]}), False, True),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 3]}), False, False),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1]}), False, False),
        (pd.DataFrame(), pd.DataFrame({"b": [1]}), False, True),
        ([LONG, LONG], [LONG, LONG * IN_THE_MIDDLE], True, False),
        ([LONG, LONG], [LONG * IN_THE_MIDDLE, LONG * IN_THE_MIDDLE], False, False),
        ([np.array([0.1]), np.array([0.2])], [np.array([0.1 + 1e-12]), np.array([0.3])], False, False),
        ([(np.array([0.1]), 1)], [(np.array([0.1 + 1e-12]), 1)], True, False),
        # A row is its label and its entries.
        (frame([0, 68, 70]), frame([0, 49]), False, False),
        (frame([0, 68, 70]), frame([0, 70]), False, True),
        (frame([0, 68]), frame([0, 70]), True, False),
        (frame([0, 68], [1, 2]), frame([0, 68], [1, 3]), True, False),
        (frame([0, 68], [1, 2]), frame([5, 68], [1, 3]), False, False),
        (frame([4, 5, 6]), frame([4, 5]), False, True),
        (frame([4, 5, 6], range(3)), frame([4, 5], [0, 2]), False, False),
        (frame(["a", "b"]), frame(["a"], name="day"), False, False),
        (frame(["a", "b"]), frame(["a"]), False, True),
        (frame([0]), frame([0.0]), True, False),
        (numbered(1, 2, 3), numbered(1, 3), False, True),
        (numbered(1, 2, 3), numbered(1, 2, 3).drop(1), False, True),
        (numbered(1, 2, 3), frame([1, 2], [2, 3]), False, True),
        (numbered(1, 1), numbered(1, 2), True, False),
        (numbered(1, 2, 3).rename_axis("day"), numbered(1, 3).rename_axis("day"), False, False),
        (numbered(1, 1).set_axis(range(1, 3)), numbered(1, 2), False, False),
        (pd.DataFrame(index=range(3)), pd.DataFrame(index=range(2)), False, True),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame([[1, 3]], columns=["a", "a"]), True, False),
    ],
)
def test_datasets_that_differ_in_one_record(one: Any, other: Any, one_changed: bool, one_more: bool) -> None:
    assert (differ_in_one(one, other), differ_by_one(one, other)) == (one_changed, one_more)
    assert (differ_in_one(other, one), differ_by_one(other, one)) == (one_changed, one_more)
