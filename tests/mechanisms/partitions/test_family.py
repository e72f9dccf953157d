"""The cases of the family `partitions` for the tests of all families."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from subnormal.mechanisms.partitions.family import PartitionParameters
from tests.mechanisms.partitions import test_exact, test_naive
from tests.support.family_cases import EPSILON, FamilyCases


def bounds(parameters: Any, data: Any) -> dict[str, bool]:
    return {"lower ≤ counts ≤ upper": (parameters.lower <= data).all() and (data <= parameters.upper).all()}


CASES = {
    "partitions": FamilyCases(
        laws={
            "partitions-exact": test_exact.check_law,
            "partitions-naive-float16": test_naive.check_law,
            "partitions-naive-float32": test_naive.check_law,
            "partitions-naive-float64": test_naive.check_law,
        },
        bounds=bounds,
        parameters=PartitionParameters(1.0, (0, 0), (4, 4)),
        data=st.lists(st.integers(0, 4), min_size=2, max_size=2).map(lambda data: np.array(sorted(data, reverse=True))),
        noiseless=lambda data: data,
        domain="frequencies@most=4,rows=3,sensitivity=2",
        options={
            "most": st.integers(2, 8),
            "rows": st.integers(2, 3),
            "epsilon": EPSILON,
            "sensitivity": st.integers(1, 6),
        },
        tight={"most": 4, "rows": 2, "sensitivity": 1},
    )
}
