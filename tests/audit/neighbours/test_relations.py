"""Which datasets are neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from subnormal.audit.neighbours.datasets import differ_by_one, differ_in_one

LONG, IN_THE_MIDDLE = np.arange(1100.0), np.where(np.arange(1100) == 500, 2, 1)  # whose repr leaves the middle out


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
    ],
)
def test_datasets_that_differ_in_one_record(one: Any, other: Any, one_changed: bool, one_more: bool) -> None:
    assert (differ_in_one(one, other), differ_by_one(one, other)) == (one_changed, one_more)
    assert (differ_in_one(other, one), differ_by_one(other, one)) == (one_changed, one_more)
