"""The cases of the family `sparse-vector` for the tests of all families."""

from typing import Any

from hypothesis import strategies as st

from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from tests.mechanisms.sparse_vector import test_exact, test_naive, test_published_variants
from tests.support.family_cases import EPSILON, VECTORS, FamilyCases


def bounds(parameters: Any, data: Any) -> dict[str, bool]:
    kept = all(parameters.lower <= query - parameters.threshold <= parameters.upper for query in data.tolist())
    return {"lower ≤ query − threshold ≤ upper": kept}


CASES = {
    "sparse-vector": FamilyCases(
        laws={
            "sparse-vector-naive": test_naive.check_law,
            "sparse-vector-exact": test_exact.check_law,
            "sparse-vector-exact-gap": test_exact.check_law,
            "sparse-vector-unclamped": test_exact.check_law,
            **dict.fromkeys(test_published_variants.NAMES, test_published_variants.check_law),
        },
        bounds=bounds,
        parameters=SparseVectorParameters(epsilon=1.0),
        data=VECTORS,
        noiseless=lambda data: tuple(data >= 1),
        domain="streams@most=1,queries=3,positives=2,width=2",
        options={
            "most": st.integers(1, 2),
            "queries": st.integers(1, 3),
            "epsilon": EPSILON,
            "sensitivity": st.integers(1, 2),
            "positives": st.integers(1, 2),
            "width": st.integers(1, 6),
        },
        tight={"most": 1, "queries": 2},
    )
}
