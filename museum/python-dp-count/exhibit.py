"""How many records there are."""

from hypothesis import strategies as st
from pydp.algorithms.laplacian import Count

from subnormal import Claim, add_or_remove

claim = Claim(epsilon=1.0)


def function(records: list[int]) -> int:
    return Count(epsilon=claim.epsilon, dtype="int").quick_result(records)


data = st.lists(st.integers(-100, 100), max_size=50)
adjacent = add_or_remove()
