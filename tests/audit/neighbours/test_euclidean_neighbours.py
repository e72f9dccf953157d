"""`within(…, norm="l2")` is the Euclidean distance: a pair on the boundary is tried, one beyond it never."""

import pytest
from hypothesis import strategies as st

from subnormal import Claim, check, within
from subnormal.audit.model import Verdict


@pytest.mark.parametrize(("point", "distance"), [([3, 4], 5), ([2, 2], 3), ([1, 0], 1)])
def test_points_within_the_distance_are_neighbours(point: list[int], distance: float) -> None:
    data = st.sampled_from([[0, 0], point])
    found = check(lambda at: at == point, data=data, adjacent=within(distance, norm="l2"), claim=Claim(1.0))
    assert found.verdict is Verdict.VIOLATED
    assert found.worlds is not None
    assert sorted(found.worlds) == [[0, 0], point]


@pytest.mark.parametrize(("point", "distance"), [([3, 4], 4.99), ([2, 2], 2), ([1, 1], 1.4)])
def test_points_beyond_it_are_none_although_no_coordinate_is(point: list[int], distance: float) -> None:
    """The function tells them apart, and is accused of nothing: there is no pair to try."""
    data = st.sampled_from([[0, 0], point])
    with pytest.raises(ValueError, match="no pair of neighbouring inputs"):
        check(lambda at: at == point, data=data, adjacent=within(distance, norm="l2"), claim=Claim(1.0))
