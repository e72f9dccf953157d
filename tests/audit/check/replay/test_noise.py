"""Noise remembers what it is added to: each sum and difference is a release, and any other use takes plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from subnormal.audit.check.replay.noise import NoiseArray, NoiseNumber, remembered


@dataclass
class Recorded:
    """A call that notes releases as (place, location, factor, released), and releases a number that no sum gives."""

    releases: list[tuple[int, float, float, float]] = field(default_factory=list)
    is_overwritten: bool = False

    def release(self, place: int, location: float, factor: float, noise: float, released: float) -> float:
        self.releases.append((place, location, factor, released))
        return 1000.0 + place


@pytest.mark.parametrize(
    ("use", "location", "factor", "released"),
    [
        (lambda n: 7 + n, 7.0, 1.0, 9.5),
        (lambda n: n + 7.0, 7.0, 1.0, 9.5),
        (lambda n: 7 - n, 7.0, -1.0, 4.5),
        (lambda n: n - 7, -7.0, 1.0, -4.5),
        (lambda n: 7 + 3 * n, 7.0, 3.0, 14.5),
        (lambda n: n * 3 + 7, 7.0, 3.0, 14.5),
        (lambda n: n / 2 + 7, 7.0, 0.5, 8.25),
        (lambda n: -n + 7, 7.0, -1.0, 4.5),
        (lambda n: -(n * 2) / 4 - 7, -7.0, -0.5, -8.25),
        (lambda n: 7 - -n, 7.0, 1.0, 9.5),
        (lambda n: np.float64(7) + n, 7.0, 1.0, 9.5),
        (lambda n: np.float64(7) - n, 7.0, -1.0, 4.5),
        (lambda n: n - np.float64(7), -7.0, 1.0, -4.5),
        (lambda n: np.float64(3) * n + 7, 7.0, 3.0, 14.5),
        (lambda n: n / np.float64(2) + 7, 7.0, 0.5, 8.25),
        (lambda n: np.int64(7) + n, 7.0, 1.0, 9.5),
        (lambda n: np.add(n, 7.0), 7.0, 1.0, 9.5),
        (lambda n: np.subtract(7.0, n), 7.0, -1.0, 4.5),
        (lambda n: np.subtract(n, 7.0), -7.0, 1.0, -4.5),
        (lambda n: np.divide(n, 2.0) + 7, 7.0, 0.5, 8.25),
        (lambda n: sum([7, n]), 7.0, 1.0, 9.5),
    ],
)
def test_a_sum_with_a_number_of_noise_is_a_release(
    use: Callable[[Any], Any], location: float, factor: float, released: float
) -> None:
    call = Recorded()
    assert use(NoiseNumber.of(2.5, call, 4)) == 1004.0
    assert call.releases == [(4, location, factor, released)]


@pytest.mark.parametrize(
    ("use", "plain"),
    [
        (lambda n: n + n, 5.0),
        (lambda n: n - n, 0.0),
        (lambda n: n * n, 6.25),
        (lambda n: n / n, 1.0),
        (lambda n: 5 / n, 2.0),
        (lambda n: n**2, 6.25),
        (abs, 2.5),
        (lambda n: n > 2, True),
        (round, 2),
        (math.exp, math.exp(2.5)),
        (np.exp, math.exp(2.5)),
        (lambda n: np.float64(5) / n, 2.0),
        (lambda n: n.tolist(), 2.5),
        (float, 2.5),
        (lambda n: np.maximum(n, 7.0), 7.0),
        (lambda n: np.add(n, 7.0, dtype=np.float32), 9.5),
        (lambda n: (np.ones(2) + n).tolist(), [3.5, 3.5]),
    ],
)
def test_any_other_use_takes_the_plain_number(use: Callable[[Any], Any], plain: Any) -> None:
    call = Recorded()
    used = use(NoiseNumber.of(2.5, call, 0))
    assert used == plain
    assert not isinstance(used, NoiseNumber)
    assert call.releases == []


def test_a_product_stays_noise() -> None:
    noise = 3 * NoiseNumber.of(2.5, Recorded(), 4) / -2
    assert (type(noise), float(noise), noise.place, noise.factor) == (NoiseNumber, -3.75, 4, -1.5)


DATA = np.array([10.0, 20.0, 30.0])


@pytest.mark.parametrize(
    ("use", "locations", "factors"),
    [
        (lambda n: DATA + n, [10, 20, 30], [1, 1, 1]),
        (lambda n: n + DATA, [10, 20, 30], [1, 1, 1]),
        (lambda n: DATA - n, [10, 20, 30], [-1, -1, -1]),
        (lambda n: n - DATA, [-10, -20, -30], [1, 1, 1]),
        (lambda n: 7 + n, [7, 7, 7], [1, 1, 1]),
        (lambda n: DATA + 2 * n, [10, 20, 30], [2, 2, 2]),
        (lambda n: DATA + n * np.array([1, 2, 4]), [10, 20, 30], [1, 2, 4]),
        (lambda n: DATA + n / 4, [10, 20, 30], [0.25, 0.25, 0.25]),
        (lambda n: DATA + -n, [10, 20, 30], [-1, -1, -1]),
        (lambda n: np.add([10, 20, 30], n), [10, 20, 30], [1, 1, 1]),
    ],
)
def test_a_sum_with_an_array_of_noise_is_a_release_of_each(
    use: Callable[[Any], Any], locations: list[float], factors: list[float]
) -> None:
    call = Recorded()
    noise = remembered(np.array([0.5, 1.5, 2.5]), call)
    assert use(noise).tolist() == [1000.0, 1001.0, 1002.0]
    assert [one[:3] for one in call.releases] == list(zip(range(3), locations, factors, strict=True))


def test_parts_of_an_array_keep_their_places() -> None:
    call = Recorded()
    noise = remembered(np.arange(6.0).reshape(2, 3), call)
    assert (10 + noise[1, 2], 10 + noise[0][1]) == (1005.0, 1001.0)
    assert (10 + noise[:, 1]).tolist() == [1001.0, 1004.0]
    assert [10 + one for row in noise for one in row] == [1000.0 + place for place in range(6)]
    assert [place for place, *_ in call.releases] == [5, 1, 1, 4, *range(6)]
    assert {released - location for _, location, _, released in call.releases} == set(range(6))


def test_a_sum_in_place_is_a_release() -> None:
    call, total = Recorded(), DATA.copy()
    total += remembered(np.array([0.5, 1.5, 2.5]), call)
    assert total.tolist() == [1000.0, 1001.0, 1002.0]
    assert [location for _, location, _, _ in call.releases] == [10, 20, 30]


@pytest.mark.parametrize(
    ("use", "plain"),
    [
        (lambda n: n + n, [1.0, 3.0, 5.0]),
        (lambda n: n.sum(), 4.5),
        (lambda n: n.mean() + 1, 2.5),
        (lambda n: np.exp(n).tolist(), [math.exp(one) for one in (0.5, 1.5, 2.5)]),
        (lambda n: n.copy() + 1, [1.5, 2.5, 3.5]),
        (lambda n: n.reshape(3, 1) + 1, [[1.5], [2.5], [3.5]]),
        (lambda n: np.eye(3) @ n, [0.5, 1.5, 2.5]),
        (lambda n: 1 / n, [2.0, 1 / 1.5, 0.4]),
        (lambda n: np.ones((2, 3)) * n, [[0.5, 1.5, 2.5]] * 2),
        (lambda n: np.ones((2, 3)) + n, [[1.5, 2.5, 3.5]] * 2),
        (lambda n: np.add(n, 1.0, where=[True] * 3, out=np.zeros(3)), [1.5, 2.5, 3.5]),
        (lambda n: n[0] + n, [1.0, 2.0, 3.0]),
        (lambda n: n + n[0], [1.0, 2.0, 3.0]),
        (lambda n: n[2] * n, [1.25, 3.75, 6.25]),
        (lambda n: np.maximum(n, 1), [1.0, 1.5, 2.5]),
        (lambda n: n * n, [0.25, 2.25, 6.25]),
        (lambda n: (n > 1).tolist(), [False, True, True]),
    ],
)
def test_any_other_use_takes_the_plain_array(use: Callable[[Any], Any], plain: Any) -> None:
    call = Recorded()
    used = use(remembered(np.array([0.5, 1.5, 2.5]), call))
    assert np.asarray(used).tolist() == plain
    assert call.releases == []
    assert not (isinstance(used, NoiseArray) and hasattr(used, "call"))


def test_what_is_no_float_is_returned_as_it_is() -> None:
    for drawn in (3, "a", None, [0.5], np.array([1, 2])):
        assert remembered(drawn, Recorded()) is drawn
    assert isinstance(remembered(np.float64(0.5), Recorded()), NoiseNumber)


@pytest.mark.parametrize("drawn", [np.float64(2.54321), np.array([2.54321])])
def test_a_number_that_numpy_gave_has_what_a_number_of_numpy_has(drawn: Any) -> None:
    call = Recorded()
    noise = remembered(drawn, call)
    noise = noise[0] if isinstance(drawn, np.ndarray) else noise
    assert (noise.round(2), noise.clip(0, 1), noise.astype(int), noise.dtype) == (2.54, 1.0, 2, np.float64)
    assert not hasattr(noise, "nothing")
    for made in (1 + noise, noise - 1, np.int64(1) + noise, 2 * noise + 1, -noise + 1, noise / 2 + 1):
        assert type(made) is np.float64
        assert made == 1000.0
    assert noise.item() + 1 == 1000.0
    assert type(noise.item() + 1) is float
    assert len(call.releases) == 8


def test_a_number_that_python_gave_has_no_more_than_one_of_python() -> None:
    noise = remembered(2.5, Recorded())
    assert not any(hasattr(noise, name) for name in ("round", "item", "astype"))
    assert type(noise + 1) is type(2 * noise + 1) is float
