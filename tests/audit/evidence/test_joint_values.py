"""Events of the values that several parts have at once, which none of the parts shows alone."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal.attacks.core.events import Category
from subnormal.attacks.core.outcome_paths import PartValues, part
from subnormal.audit.evidence import event_search, joint_values
from subnormal.audit.evidence.joint_values import furthest_apart
from subnormal.mechanisms.privacy import Claim

CLAIM = Claim(1.0)


def coins(rng: np.random.Generator, n: int, world: int) -> list[Any]:
    """Return nine coins, of which three have the parity of the world with probability .9."""
    table = rng.integers(0, 2, (n, 9))
    table[:, 8] = (table[:, 1] + table[:, 4] + world + (rng.random(n) < 0.1)) % 2
    return list(map(tuple, table.tolist()))


def words(rng: np.random.Generator, n: int, world: int) -> list[Any]:
    """Return a text and a number that agree in one world more often."""
    text, number = rng.integers(0, 2, n), rng.integers(0, 2, n)
    number = np.where(rng.random(n) < 0.8, text ^ world, number)
    return [("yes" if one else "no", int(other), float(rng.random())) for one, other in zip(text, number, strict=True)]


def coarse(rng: np.random.Generator, n: int, world: int) -> NDArray[np.int64]:
    """Return numbers with noise, of which one is the world modulo 5 half of the time."""
    table = rng.integers(-40, 41, (n, 8))
    table[:, 3] += np.where(rng.random(n) < 0.5, (world - table[:, 3]) % 5, 0)
    return table


def sets(rng: np.random.Generator, n: int, item: int) -> list[Any]:
    """Return two sorted tuples of five of 20 items; with probability .3 both hold the given one."""
    keys = rng.random((n, 2, 20))
    keys[rng.random(n) < 0.3, :, item] = -1.0
    return [tuple(map(tuple, two)) for two in np.sort(np.argsort(keys, axis=2)[:, :, :5], axis=2).tolist()]


@pytest.mark.parametrize(
    ("make", "paths", "holds"),
    [
        (coins, {(1,), (4,), (8,)}, lambda one: sum(one) % 2 == 1),
        (words, {(0,), (1,)}, lambda one: ("no", "yes")[one[1]] != one[0]),
        (coarse, {(3,)}, lambda one: one % 5 == 1),
    ],
)
def test_what_no_part_shows_alone_is_found(make: Any, paths: Any, holds: Callable[[Any], bool]) -> None:
    rng = np.random.default_rng(1)
    both = make(rng, 1024, 1), make(rng, 1024, 0)
    event = event_search.learn(both, CLAIM)
    assert isinstance(event, Category)
    assert set(event.paths) == paths
    fresh = make(rng, 10_000, 1), make(rng, 10_000, 0)
    shares = [event(world).mean() for world in fresh]
    ideal = []
    for world in fresh:
        rows = list(zip(*(part(world, path).items.tolist() for path in event.paths), strict=True))
        ideal.append(np.mean([holds(row if len(row) > 1 else row[0]) for row in rows]))
    best = ideal[0] - ideal[1]
    assert max(shares[0] - shares[1], shares[1] - shares[0]) > 0.85 * abs(best)


def test_a_part_that_is_missing_counts_as_a_value() -> None:
    rng = np.random.default_rng(1)

    def made(n: int, world: int) -> list[Any]:
        a, b, wrong = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.random(n) < 0.1
        there = (a ^ b ^ world ^ wrong).astype(bool)
        return [
            (("a", int(one)), ("b", int(other)), *((("c", 1),) if is_there else ()), ("z", float(rng.random())))
            for one, other, is_there in zip(a, b, there, strict=True)
        ]

    event = event_search.learn((made(1024, 0), made(1024, 1)), CLAIM)
    assert isinstance(event, Category)
    shares = sorted(event(made(10_000, world)).mean() for world in (0, 1))
    assert shares == pytest.approx([0.1, 0.9], abs=0.03)


def test_an_empty_part_is_not_one_that_is_missing() -> None:
    rng = np.random.default_rng(1)

    def made(n: int, world: int) -> list[Any]:
        bits = rng.integers(0, 2, (n, 2))
        right = (bits.sum(axis=1) + world + (rng.random(n) < 0.1)) % 2
        return [
            (float(rng.random()), int(one), int(other), *(((),) if last else ()))
            for (one, other), last in zip(bits, right, strict=True)
        ]

    event = event_search.learn((made(1024, 0), made(1024, 1)), CLAIM)
    shares = sorted(event(made(10_000, world)).mean() for world in (0, 1))
    assert shares == pytest.approx([0.1, 0.9], abs=0.03)


def test_an_item_in_two_sets_is_found() -> None:
    rng = np.random.default_rng(1)
    event = event_search.learn((sets(rng, 4096, 3), sets(rng, 4096, 6)), CLAIM)
    shares = [event(sets(rng, 10_000, item)).mean() for item in (3, 6)]
    assert max(shares) > 4 * min(shares)
    assert event.to_json()["paths"][0][-1][0].startswith("count of")


@pytest.mark.parametrize("seed", range(20))
def test_the_statistic_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    many = rng.integers(2, 5, 4)
    tables = [np.stack([rng.integers(0, top, 40) for top in many], axis=1) for _ in range(2)]
    for size in (1, 2, 3):
        places = np.array(list(itertools.combinations(range(4), size)))
        beyond, deviation = joint_values._beyond_chance(tables, many, places)
        for at, one in enumerate(places.tolist()):
            values = sorted({tuple(row) for table in tables for row in table[:, one].tolist()})
            counted = [[list(map(tuple, table[:, one].tolist())).count(value) for value in values] for table in tables]
            found = stats.chi2_contingency(counted, correction=False)
            assert beyond[at] == pytest.approx(found.statistic - found.dof)
            assert deviation[at] == pytest.approx(np.sqrt(2 * found.dof))


def parts_of(worlds: tuple[Any, Any], width: int) -> list[tuple[tuple[int], tuple[PartValues, PartValues]]]:
    return [((place,), (part(worlds[0], (place,)), part(worlds[1], (place,)))) for place in range(width)]


def test_the_counts_are_those_of_all_runs() -> None:
    """And the events are the combinations whose shares are larger, by a factor that the claim allows or by any."""
    rng = np.random.default_rng(2)
    worlds = coins(rng, 5000, 0), coins(rng, 5000, 1)
    joint = next(one for one in furthest_apart(parts_of(worlds, 9)) if len(one.parts) == 3)
    for combination, values in enumerate(itertools.product((0, 1), repeat=3)):
        for world, counts in zip(worlds, joint.counts, strict=True):
            assert counts[combination] == sum((one[1], one[4], one[8]) == values for one in world)
    likelier, *beyond = [set(event.values.outcomes) for event in joint.events(Claim(1.0))]
    assert likelier == {values for values in itertools.product((0, 1), repeat=3) if sum(values) % 2 == 0}
    assert beyond == [set(itertools.product((0, 1), repeat=3)) - likelier]  # both break the claim
    (likelier_alone,) = joint.events(Claim(5000.0))
    assert set(likelier_alone.values.outcomes) == likelier


def test_nothing_is_taken_together_where_the_worlds_are_alike() -> None:
    """At three standard deviations, of so many sets that the largest of them is higher by chance at times: in most."""
    rng = np.random.default_rng(3)
    found = [len(furthest_apart(parts_of((coins(rng, 1024, 0), coins(rng, 1024, 0)), 9))) for _ in range(40)]
    assert sum(map(bool, found)) <= 20


def test_parts_that_add_nothing_are_not_taken_together_with_one_that_tells_all() -> None:
    rng = np.random.default_rng(5)
    worlds = [[(world, *row) for row in rng.integers(0, 2, (1024, 4)).tolist()] for world in (0, 1)]
    assert [[part.path for part in one.parts] for one in furthest_apart(parts_of((worlds[0], worlds[1]), 5))] == [
        [(0,)]
    ]


def test_parts_of_many_values_and_tables_are_left_out() -> None:
    rng = np.random.default_rng(4)
    worlds = rng.random((600, 2)), rng.random((600, 2))
    assert furthest_apart(parts_of(worlds, 2)) == []
    assert furthest_apart([((), (part(worlds[0], ()), part(worlds[1], ())))]) == []
    assert furthest_apart([]) == []
    undefined = [(math.nan,) if place % 2 else (1.0,) for place in range(600)]  # NaN is equal to nothing
    assert furthest_apart(parts_of((undefined, undefined[::2] * 2), 1)) == []
    apart = [(place // 2,) for place in range(600)], [(300 + place // 2,) for place in range(600)]
    assert furthest_apart(parts_of(apart, 1)) == []
    few = [(place % 100,) for place in range(600)], [(100 + place % 100,) for place in range(600)]
    assert len(furthest_apart(parts_of(few, 1))) == 1
