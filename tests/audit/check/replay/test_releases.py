"""A release is a part of the outcome that is a value plus a number of noise: behind anything else nothing is sought."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.check.replay.releases import Seen
from tests.support.replays import PAIR, Pair, laplace, shown

RNG = np.random.default_rng(5)


def seen(function: Callable[[Any], Any], pair: Pair = (0.0, 1.0)) -> Seen:
    result = shown(function, pair)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("function", "locations", "scales"),
    [
        (lambda x: x + laplace(), [(0, 1)], [1]),
        (lambda x: 7 - laplace(2.0) - x, [(7, 6)], [2]),
        (lambda x: 3 * (x + 2 * laplace(0.5)), [(0, 3)], [3]),
        (lambda x: {"sum": x + laplace() / 2, "of": 3}, [(0, 1)], [0.5]),
        (lambda x: [x + laplace(), 2 * x + random.gauss(0.0, 3.0)], [(0, 1), (0, 2)], [1, 3]),
        (lambda x: x + random.gauss(0.0, -3.0), [(0, 1)], [3]),
        (lambda x: np.random.normal([x, 2.0], [1.0, 3.0]), [(0, 1), (2, 2)], [1, 3]),
        (lambda x: 5 - 2 * np.random.laplace(x + 1, 0.5), [(3, 1)], [1]),
        (lambda x: [x + one for row in RNG.laplace(0.0, 1.0, (2, 2)) for one in row], [(0, 1)] * 4, [1] * 4),
        (lambda x: np.add(total := np.array([x, 5.0]), 2 * RNG.laplace(size=2), out=total), [(0, 1), (5, 5)], [2, 2]),
        (lambda x: float(stats.norm(2.0, 3.0).rvs()) + x, [(2, 3)], [3]),
        (lambda x: round(x + laplace(), 3), [(0, 1)], [1]),
        (lambda x: [x + (noise := laplace()), x - noise], [(0, 1), (0, 1)], [1, 1]),
        (lambda x: np.float32(x + laplace()), [(0, 1)], [1]),
    ],
)
def test_a_value_plus_noise_is_a_release(
    function: Callable[[Any], Any], locations: list[tuple[float, float]], scales: list[float]
) -> None:
    releases = seen(function).countable()
    assert [one.locations for one in releases] == [pytest.approx(one, abs=0.005) for one in locations]
    assert [one.scales[0] for one in releases] == pytest.approx(scales, rel=1e-3)


def test_of_a_sample_the_noise_is_replayed_and_proves_nothing() -> None:
    """The sample is another one for each input. What the sum of it loses guides the search, and runs judge."""

    def sum_of_a_sample(records: list[float]) -> list[float]:
        kept = RNG.permutation(records)[:3]
        return [float(kept.sum() + RNG.laplace(0.0, 2.0)), len(kept) + laplace()]

    found = seen(sum_of_a_sample, ([1.0] * 5, [1.0]))
    assert found.loss == pytest.approx(1.0 + 2.0)
    assert (found.runs, found.countable()) == (None, ())
    assert len(found.releases) == 2
    assert any("permutation depends on the data" in note for note in found.notes)


def test_other_noise_of_the_two_inputs_is_no_release() -> None:
    assert seen(lambda records: [one + laplace() for one in records], ([1.0] * 5, [1.0])).releases == ()


def test_a_number_of_noise_that_shows_in_two_parts_counts_once() -> None:
    assert seen(lambda x: [x + (noise := laplace()), 2 * x + 2 * noise, x + laplace()]).loss == pytest.approx(2.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: max(0.5, x + laplace()),
        lambda x: min(2.0, max(-3.0, x + laplace())),
        lambda x: x + laplace() > 0.5,
        lambda x: abs(x + laplace()),
        lambda x: (x + laplace()) % 5.0,
        lambda x: x + laplace() + laplace(),
        lambda x: x + sum([laplace(), laplace()]),
        lambda x: math.exp(x + laplace()),
        lambda x: round(x + laplace()),
        lambda x: str(x + laplace()),
        lambda x: max(x + laplace(), laplace()),
        lambda x: [x + laplace(), max(0.0, laplace())],  # the outcome hides some noise
        lambda x: float(x + np.random.laplace(0.0, 1.0, 2)[0]),
        lambda x: [x + laplace(), float(random.random() < 0.5)],
        lambda x: [first := laplace(20.0), first + x + laplace()],
        lambda x: [one := 1.0 + laplace(), x + abs(one) * laplace()],
        lambda x: [one := 1.0 + laplace(), x + laplace(abs(one))],
        lambda x: (math.inf if x else 0.0) + laplace(),
        lambda x: x + 0.0 * laplace(),
    ],
)
def test_behind_anything_else_nothing_is_sought(function: Callable[[Any], Any]) -> None:
    for seed in range(5):
        replayed = shown(function, (0.0, 1.0), seed)
        assert replayed is None or replayed.countable() == ()


def test_noise_that_is_shown_roughly_alone_is_not_released() -> None:
    found = [shown(lambda x: [x + laplace(), round(laplace(), 1)], (0.0, 1.0), seed) for seed in range(5)]
    rough = [one for one in found if one is not None and not all(release.is_seen for release in one.releases)]
    assert rough
    assert all(one.countable() == () for one in rough)


@pytest.mark.parametrize(
    ("function", "loss"),
    [
        (lambda x: x + laplace(2.0), 0.5),
        (lambda x: x + laplace(0.0), math.inf),
        (lambda x: round(x + laplace(), 1), 1.0),  # roughly, to guide the search
        (lambda x: x + laplace(1.0 + x), 0.5),  # over the larger scale
        (lambda x: max(-9.0, x) + laplace(), 1.0),
    ],
)
def test_the_loss_is_the_distance_over_the_larger_scale(function: Callable[[Any], Any], loss: float) -> None:
    for pair in ((0.0, 1.0), (1.0, 0.0)):
        assert sum(one.loss for one in seen(function, pair).releases) == pytest.approx(loss, rel=0.1)


def test_a_release_is_shown_where_the_part_is_its_location_and_its_noise() -> None:
    (release,) = seen(lambda x: [3, x - 2 * laplace()]).countable()
    for world in (0, 1):
        assert release.is_shown((3, world - 2 * 0.25), world, 0.25)
        assert not release.is_shown((3, world - 2 * 0.25 + 1e-9), world, 0.25)
        assert not release.is_shown((3, 1 - world - 2 * 0.25), world, 0.25)
    for other in ((3,), (3, None), (3, True), "x"):
        assert not release.is_shown(other, 0, -0.5)


@pytest.mark.parametrize(
    ("function", "is_without"),
    [
        (lambda x: [x + laplace(), x], True),
        (lambda x: [x + laplace(), 0], False),
        (lambda x: {"a": laplace()} | ({"b": 1} if x else {}), True),
        (lambda x: x + laplace(), False),
    ],
)
def test_a_part_that_differs_and_that_no_noise_changes_is_seen(
    function: Callable[[Any], Any], is_without: bool
) -> None:
    assert seen(function).without_noise is is_without


def test_a_scale_that_depends_on_the_data_is_noted_with_its_places() -> None:
    (note,) = seen(lambda x: x + laplace(1 + x)).notes
    assert note.startswith("the scale of numpy.random.laplace depends on the data: 1 at replays.py:")


def test_draws_that_depend_on_the_data_are_noted_and_there_is_no_release() -> None:
    replayed = seen(lambda x: x + laplace() if x else x + laplace() + laplace())
    assert replayed.releases == ()
    assert replayed.notes[0].startswith("the number of draws from numpy.random.laplace depends on the data: 2 at ")


def test_without_a_known_primitive_nothing_is_said() -> None:
    assert shown(lambda x: x) is None


def test_a_run_that_cannot_be_repeated_says_nothing() -> None:
    calls = iter(range(100))
    assert shown(lambda x: [x[0] + laplace(), next(calls)]) is None
    hidden = np.random.RandomState(3).uniform
    assert shown(lambda x: (x[0] if hidden() < 0.5 else 0.0) + laplace() + hidden(), PAIR) is None
