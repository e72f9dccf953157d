"""Sound functions are not accused by a replay, whatever they do with noise before it is released, or beside it.

Each keeps a claim smaller than the losses of its noise, so that one loss too many would convict it. Where a part is no
release by its form, as behind a clamp, or where anything else draws, `test_releases` shows that nothing counts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law

from subnormal import Claim, Gdp
from tests.support.replays import Pair, accused, laplace

RNG = np.random.default_rng(5)
OLDER = np.random.RandomState(6)


def sampled_by_noise(x: list[float]) -> float:
    return sum(one for one in x if random.gauss(0.0, 1.0) > -2) + laplace()


def sampled_by_a_release(x: list[float]) -> float:
    kept = [one for one in x if 1 + laplace() > -3]
    return sum(kept) + laplace()


def noise_twice(x: list[float]) -> tuple[float, float]:
    noise = laplace()
    return sum(x) + noise, sum(x) + noise  # one release, written twice


def rejected_until_large(x: list[float]) -> float:
    """The tail of Laplace noise is the same from everywhere: perfectly private."""
    while (noisy := sum(x) + laplace()) < 4:
        pass
    return noisy


def released_if_large(x: list[float]) -> float | None:
    noisy = sum(x) + random.gauss(0.0, 100.0)
    return noisy if 0 < noisy < 1 else None


def data_taken_away_again(x: list[float]) -> float:
    return sum(x) + laplace() - sum(x)


def data_taken_away_from_their_noise(x: list[float]) -> float:
    return sum(x) - np.random.laplace(sum(x), 1.0)


def arrays_taken_away_from_their_noise(x: list[float]) -> list[float]:
    return [float(one) for one in np.array(x) - RNG.laplace(x, 1.0)]


def scaled_and_back(x: list[float]) -> float:
    size = 1 + sum(x)
    return (5 * size + size * laplace()) / size


def replaced_in_a_window(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < random.gauss(0.0, 1.0) < 0.6 else sum(x) + laplace()


def replaced_in_a_window_of_a_release(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < 0.1 + laplace() < 0.6 else sum(x) + laplace()


def replaced_in_a_window_of_a_moved_release(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < sum(x) - 2 + laplace() < 0.6 else sum(x) + laplace()


@pytest.mark.parametrize(
    "function",
    [
        replaced_in_a_window_of_a_moved_release,
        replaced_in_a_window,
        replaced_in_a_window_of_a_release,
        sampled_by_noise,
        sampled_by_a_release,
        rejected_until_large,
        released_if_large,
        data_taken_away_again,
        data_taken_away_from_their_noise,
        arrays_taken_away_from_their_noise,
        scaled_and_back,
    ],
)
def test_a_loss_that_an_observer_may_not_see_convicts_nobody(function: Callable[[Any], Any]) -> None:
    assert not accused(function)


def test_noise_that_is_used_for_two_releases_counts_for_none() -> None:
    """Both releases hold the same noise and move alike: the loss is 1, and not 2."""
    assert not accused(noise_twice, Claim(1.5))


def twice(x: float) -> list[float]:
    noise = laplace()
    return [x + noise, x + noise]


def released_and_used(x: float) -> list[float]:
    noise = laplace()
    return [x + noise, float(noise > 0)]


def beside_a_release(x: float) -> float:
    return (x + laplace()) - x


def after_a_release(x: float) -> list[float]:
    one = 1.0 + laplace()
    return [one, min(one, 50.0) * x + laplace()]


def again_for_a_release(x: float) -> float:
    return x + laplace() if x + laplace() > 2 else -1.0


def one_of_two_twice(x: float) -> list[float]:
    noise = np.random.laplace(0.0, 1.0, 2)
    return [float(x + noise[0]), float(x + noise[0])]


def calls_more_for_large_noise(x: float) -> float:
    noise = laplace()
    released = x + noise
    if noise > 25:
        np.random.random()
    return released


def shows_large_noise_of_one_input(x: float) -> list[float]:
    noise = laplace()
    return [x + noise, float(noise > 25 and x > 0)]


@pytest.mark.parametrize(
    "function",
    [
        one_of_two_twice,
        calls_more_for_large_noise,
        shows_large_noise_of_one_input,
        twice,
        released_and_used,
        beside_a_release,
        after_a_release,
        again_for_a_release,
    ],
)
def test_nothing_counts_above_the_loss_of_one_release(function: Callable[[Any], Any]) -> None:
    """Their losses are 1 or more: what is more than 1 is left to the runs."""
    assert not accused(function, Claim(1.0), (0.0, 1.0))


def location_of_a_release(x: float) -> list[float]:
    one = 1.0 + laplace(1000.0)
    return [one, (5.0 * x if one > 20_000 else 0.0) + laplace()]


def left_out_by_a_release(x: float) -> list[float]:
    one, noise = 1.0 + laplace(), np.random.laplace(0.0, 1.0, 2)
    return [one, float(0.0 + noise[0]), float(x + noise[1]) if one < 20 else 0.0]


@pytest.mark.parametrize(
    ("function", "claim"), [(location_of_a_release, Claim(0.05, 1e-8)), (left_out_by_a_release, Claim(1.0))]
)
def test_a_location_that_another_release_decides_convicts_nobody(function: Callable[[Any], Any], claim: Claim) -> None:
    """The first of them moves its second release with a probability of e^-20/2, which is less than δ."""
    assert not accused(function, claim, (0.0, 1.0))


def test_noise_that_is_multiplied_by_a_statement_has_its_new_scale() -> None:
    def function(x: list[float]) -> list[float]:
        noise = RNG.laplace(0.0, 1.0, 2)
        noise *= 10
        return list(np.array(x) + noise)

    assert not accused(function, Claim(0.1), ([0.0, 0.0], [1.0, 0.0]))
    assert accused(function, Claim(0.05), ([0.0, 0.0], [1.0, 0.0]))


def by_out(noise: Any) -> None:
    np.multiply(noise, 6, out=noise)


def by_a_view_of_a_view(noise: Any) -> None:
    view = noise[:][:1]
    view *= 6


def by_a_mask(noise: Any) -> None:
    noise[abs(noise) >= 0] *= 6


def by_copyto(noise: Any) -> None:
    np.copyto(noise, 6 * np.asarray(noise), where=[True, False])


def by_other_noise(noise: Any) -> None:
    noise += RNG.laplace(0.0, 6.0, 2)


def by_fill(noise: Any) -> None:
    noise.fill(RNG.laplace(0.0, 6.0))


@pytest.mark.parametrize("derive", [lambda noise: noise, lambda noise: -noise.reshape(2, 1)[:, 0]])
@pytest.mark.parametrize("write", [by_out, by_a_view_of_a_view, by_a_mask, by_copyto, by_other_noise, by_fill])
def test_noise_that_is_changed_in_place_has_no_scale_that_is_too_small(
    derive: Callable[[Any], Any], write: Callable[[Any], None]
) -> None:
    """The first number, which alone is added to data, gets noise of scale 6, or the sum of scales 1 and 6: ε ≤ 1/6."""

    def function(x: float) -> list[float]:
        noise = derive(RNG.laplace(0.0, 1.0, 2))
        write(noise)
        return [float(one) for one in np.array([x, 5.0]) + noise]

    assert not accused(function, Claim(0.25), (0.0, 1.0))


@pytest.mark.parametrize("rearrange", [lambda noise: noise.sort(), lambda noise: noise.partition(0)])
def test_noise_that_is_sorted_in_place_has_no_loss_that_counts(rearrange: Callable[[Any], None]) -> None:
    """Half of all runs draw in order, so that nothing moves. Yet the larger of two has the law F², not F.

    The two releases keep their order, so that the true loss is infinite; but losses of scale 1 do not say so.
    """

    def function(x: float) -> list[float]:
        noise = RNG.laplace(0.0, 1.0, 2) * 1.0
        rearrange(noise)
        return [float(x + noise[1]), float(5 + noise[0])]

    assert not accused(function, Claim(0.9), (0.0, 1.0))


@pytest.mark.parametrize(
    "add",
    [
        lambda x, noise: [float(noise[0] + x), float(noise[1] + 5)],
        lambda x, noise: np.add(noise, [x, 5.0], out=noise).tolist(),
        lambda x, noise: (np.array([x, 5.0]) - noise).tolist(),
    ],
)
def test_derived_noise_that_is_written_over_by_its_release_keeps_its_scale(add: Callable[[Any, Any], Any]) -> None:
    """The scale is 2, so ε = 1/2."""

    def function(x: float) -> Any:
        return add(x, RNG.laplace(0.0, 1.0, 2) * 2.0)

    assert not accused(function, Claim(0.5), (0.0, 1.0))
    assert accused(function, Claim(0.4), (0.0, 1.0))


BOUND = 1.001  # relative: a claim so much larger than the loss is kept
ABOVE = laplace_law.sf(0.5)  # the probability that noise exceeds 1/2


def moved_elsewhere(x: float) -> list[float]:
    first, second = 0.0 + laplace(), 0.0 + laplace()
    return [first, second, (0.0 if first > 0.5 and second > 0.5 else x) + laplace()]


def drawn_otherwise(x: float) -> list[float]:
    first, second = 0.0 + laplace(), 0.0 + laplace()
    return [first, second, 0.0 + np.random.normal() if first > 0.5 and second > 0.5 else x + laplace()]


def drawn_once_more(x: float) -> list[float]:
    released = [0.0 + laplace(), 0.0 + laplace(), x + laplace()]
    if min(released[:2]) > 0.5:
        np.random.random()
    return released


@pytest.mark.parametrize("function", [moved_elsewhere, drawn_otherwise, drawn_once_more])
@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_a_release_that_several_others_decide_together_does_not_count(
    function: Callable[[Any], Any], pair: Pair
) -> None:
    best = 1 - math.exp(-1 / 4)  # δ(1/2) of all events, which is attained at 3/4
    assert not accused(function, Claim(0.5, best * (1 - ABOVE**2) * BOUND), pair)


@pytest.mark.parametrize(
    ("function", "pair", "kept"),
    [
        (lambda x: round(x + random.gauss(0.0, -10.0), 1), (0.0, 1.0), Gdp(0.1)),
        (lambda x: round(x - laplace(10.0), 1), (0.0, 1.0), Claim(0.1)),
        (lambda x: min(5.0, max(-5.0, x + random.gauss(0.0, 1.0))), (0.0, 0.01), Claim(0.052)),
        (lambda x: float(np.float64(x + laplace(0.5)).clip(-9, 9)), (0.0, 1.0), Claim(2.0)),
    ],
)
def test_data_that_a_function_looks_at_again_move_its_thresholds(
    function: Callable[[Any], Any], pair: Pair, kept: Claim
) -> None:
    assert not accused(function, kept, pair)


def elsewhere_in_a_window(x: float) -> list[float]:
    """δ(1) is 0.116, the probability of 0.184 below −1 times 1 − e^−1, and not the 0.39 of the second release alone."""
    first = x + np.random.laplace()
    return [first, (0.0 if -1 < first < 20 else x) + np.random.laplace(0, 0.5)]


def test_a_release_that_another_one_moves_does_not_count() -> None:
    assert not accused(elsewhere_in_a_window, Claim(1.0, 0.3), (0.0, 1.0), range(5))


def flat_between(x: float) -> float:
    noisy = x + random.gauss(0, 2.0)
    return 0.5 if -0.2 < noisy < 1.2 else noisy


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_what_the_outcome_does_not_show_is_no_loss(pair: Pair) -> None:
    assert not accused(flat_between, Claim(0.1), pair)
