"""The bounds of learned half-lines lie in gaps, and leave every outcome that was counted on its side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subnormal.attacks.core.events import Term
from subnormal.audit.evidence import half_lines
from subnormal.mechanisms.privacy import Claim

TERMS = (Term("value"),)
NUMBERS = st.one_of(st.integers(-5, 5).map(float), st.floats(allow_nan=False), st.sampled_from([0.1, 2.0, 3998.0]))


def bounds(*worlds: list[float]) -> list[tuple[float, float]]:
    """Return the ends of all half-lines and single values that these worlds give."""
    cuts = half_lines.cut((np.array(worlds[0]), np.array(worlds[1])))
    if cuts is None:
        return []
    events = [half_lines.event(TERMS, cuts, place) for place in range(len(cuts.counts[0]))]
    return [(event.low, event.high) for event in events]


@pytest.mark.parametrize(
    ("below", "above", "low", "high"),
    [
        (3001.7, 3998.0, 3500.0, 3500.0),
        (4.997, 5.0, 5.0, 4.998),
        (-3998.0, -3001.7, -3500.0, -3500.0),
        (3.0, 4.0, 4.0, 3.0),
        (0.0, 1.0, 1.0, 0.0),
        (2.0, 9.0, 6.0, 5.0),
        (0.0, 0.5, 0.2, 0.2),
        (1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 2.0), 1.0),
        (-np.inf, 7.0, 7.0, -np.inf),
        (7.0, np.inf, np.inf, 7.0),
        (-1.7e308, 1.7e308, 1.7e308, -1.7e308),
    ],
)
def test_a_bound_is_a_short_number_near_the_middle_of_its_gap(
    below: float, above: float, low: float, high: float
) -> None:
    found = bounds([below, below], [above, above])
    assert (low, np.inf) in found
    assert (-np.inf, high) in found


@given(st.lists(NUMBERS, min_size=1, max_size=90), st.lists(NUMBERS, min_size=1, max_size=90))
def test_every_outcome_stays_on_the_side_where_it_was_counted(one: list[float], other: list[float]) -> None:
    worlds = np.array(one), np.array(other)
    cuts = half_lines.cut(worlds)
    if cuts is None:
        return
    for place in range(len(cuts.counts[0])):
        event = half_lines.event(TERMS, cuts, place)
        for world, counts in zip(worlds, cuts.counts, strict=True):
            assert ((event.low <= world) & (world <= event.high)).sum() == counts[place]


def test_a_rare_clean_event_is_judged_without_the_tail_of_the_other_world() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 1000.0, (2, 4096))
    noise[0, :24] = rng.normal(9000.0, 100.0, 24)
    event = next(half_lines.best(TERMS, half_lines.cut((noise[0], noise[1])), Claim(1.0)))
    fresh = rng.normal(0.0, 1000.0, 1_000_000)
    inside = (event.low <= fresh) & (fresh <= event.high)
    assert inside.mean() in (0.0, 1.0)
    assert 5000.0 < max(event.low, -event.high if event.low > -np.inf else event.high) < 9000.0
