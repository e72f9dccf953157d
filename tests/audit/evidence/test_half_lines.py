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


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_a_band_has_the_largest_excess_of_each_world(one: list[int], other: list[int]) -> None:
    """Of all bands, by trying each."""
    cuts = half_lines.cut((np.array(one, dtype=float), np.array(other, dtype=float)))
    if cuts is None:
        return
    values = sorted({*one, *other})
    shares = [
        [sum(world.count(v) for v in values[i : j + 1]) / len(world) for world in (one, other)]
        for i in range(len(values))
        for j in range(i, len(values))
    ]
    for place, sign in ((-2, 1), (-1, -1)):
        counts = [of[place] / len(world) for of, world in zip(cuts.counts, (one, other), strict=True)]
        assert sign * (counts[0] - counts[1]) == pytest.approx(max(sign * (first - second) for first, second in shares))


def test_a_band_is_proposed_where_no_half_line_tells_the_worlds_apart() -> None:
    rng = np.random.default_rng(1)

    def drawn(n: int) -> list[np.ndarray]:
        return [rng.normal(0.0, 4.0, n), rng.normal(0.0, 1.0, n) + rng.choice([-4.0, 4.0], n)]

    first, second = drawn(200)
    band = list(half_lines.best(TERMS, half_lines.cut((first, second)), Claim(0.5)))[-1]
    assert -4 < band.low < -1 < 1 < band.high < 4
    shares = [((band.low <= world) & (world <= band.high)).mean() for world in drawn(10_000)]
    assert shares[0] > 4 * shares[1]
    moved = half_lines.best(TERMS, half_lines.cut((first, first + 9)), Claim(0.5))
    assert all(np.isinf(one.low) or np.isinf(one.high) for one in moved)


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
