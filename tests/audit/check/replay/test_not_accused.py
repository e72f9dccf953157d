"""Sound functions are not accused by a replay, whatever they do with noise before it is released, or beside it.

Each keeps a claim smaller than the losses of its noise, so that one loss too many would convict it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law

from subnormal import Claim, Gdp
from tests.support.replays import Pair, accused, laplace

RNG = np.random.default_rng(5)
OLDER = np.random.RandomState(6)


def sampled_sum(x: list[float]) -> float:
    return sum(one for one in x if random.random() < 0.9) + laplace()


def sampled_by_noise(x: list[float]) -> float:
    return sum(one for one in x if random.gauss(0.0, 1.0) > -2) + laplace()


def sampled_by_a_release(x: list[float]) -> float:
    kept = [one for one in x if 1 + laplace() > -3]
    return sum(kept) + laplace()


def shuffled_first(x: list[float]) -> float:
    order = list(x)
    random.shuffle(order)
    return order[0] + laplace()


def released_or_noise(x: list[float]) -> float:
    noisy = sum(x) + laplace()
    return noisy if random.random() < 0.99 else laplace(50.0)


def noise_shares(x: list[float]) -> float:
    return sum(x) + laplace() + laplace(20.0)


def sum_of_shares(x: list[float]) -> float:
    return sum(x) + sum([laplace(), laplace(20.0)])


def shares_in_place(x: list[float]) -> float:
    total = np.zeros(2)
    total += np.random.laplace(0.0, 1.0, 2)
    total += sum(x)
    return float(total.sum() + 20 * laplace())


def noise_twice(x: list[float]) -> tuple[float, float]:
    noise = laplace()
    return sum(x) + noise, sum(x) + noise  # one release, written twice


def noisy_maximum(x: list[float]) -> int:
    return int(np.argmax(np.array(x) + RNG.laplace(0.0, 1.0, len(x))))


def noisy_maximum_of_floats(x: list[float]) -> int:
    noisy = [one + laplace() for one in x]
    return noisy.index(max(noisy))


def gumbel_maximum(x: list[float]) -> int:
    return int(np.argmax(np.array(x) + RNG.gumbel(0.0, 1.0, len(x))))


def maximum(x: list[float]) -> float:
    return max(one + laplace() for one in x)


def threshold(x: list[float]) -> bool:
    return sum(x) > 2.5 + laplace()


def sparse_vector(x: list[float]) -> int:
    limit = 2.0 + laplace()
    return next((place for place, one in enumerate(x) if one + laplace() > limit), -1)


def rejected_until_large(x: list[float]) -> float:
    """The tail of Laplace noise is the same from everywhere: perfectly private."""
    while (noisy := sum(x) + laplace()) < 4:
        pass
    return noisy


def clamped_gaussian(x: list[float]) -> float:
    return min(1.0, max(0.0, sum(x) + random.gauss(0.0, 100.0)))


def rounded(x: list[float]) -> float:
    return round((sum(x) + random.gauss(0.0, 100.0)) / 1_000)


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


def prefix_sums(x: list[float]) -> list[float]:
    first, second = x[0] + laplace(20.0), x[2] + laplace(1.0)
    return [first, first + second + laplace(20.0)]


def bit_of_the_release(x: list[float]) -> float:
    noisy = sum(x) + random.gauss(0.0, 1e6)
    return math.floor(noisy) % 2


def sampled_by_an_older_generator(x: list[float]) -> float:
    return sum(one for one in x if OLDER.uniform() < 0.99) + laplace()


def sampled_by_a_rare_tail(x: list[float]) -> float:
    return sum(one for one in x if RNG.standard_t(3) < 5) + laplace()


def replaced_in_a_window(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < random.gauss(0.0, 1.0) < 0.6 else sum(x) + laplace()


def replaced_in_a_window_of_a_release(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < 0.1 + laplace() < 0.6 else sum(x) + laplace()


def replaced_in_a_window_of_a_moved_release(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < sum(x) - 2 + laplace() < 0.6 else sum(x) + laplace()


@pytest.mark.parametrize(
    "function",
    [
        sampled_sum,
        replaced_in_a_window_of_a_moved_release,
        sampled_by_an_older_generator,
        sampled_by_a_rare_tail,
        replaced_in_a_window,
        replaced_in_a_window_of_a_release,
        sampled_by_noise,
        sampled_by_a_release,
        shuffled_first,
        released_or_noise,
        noise_shares,
        sum_of_shares,
        shares_in_place,
        noisy_maximum,
        noisy_maximum_of_floats,
        gumbel_maximum,
        maximum,
        threshold,
        sparse_vector,
        rejected_until_large,
        clamped_gaussian,
        rounded,
        released_if_large,
        data_taken_away_again,
        data_taken_away_from_their_noise,
        arrays_taken_away_from_their_noise,
        scaled_and_back,
        prefix_sums,
        bit_of_the_release,
    ],
)
def test_a_loss_that_an_observer_may_not_see_convicts_nobody(function: Callable[[Any], Any]) -> None:
    assert not accused(function)


def test_noise_that_is_used_for_two_releases_counts_for_none() -> None:
    """Both releases hold the same noise and move alike: the loss is 1, and not 2."""
    assert not accused(noise_twice, Claim(1.5))


def places_of_two(x: float) -> float:
    noise = np.random.laplace(0.0, 1.0, 2)
    return x + noise[0]  # type: ignore[no-any-return]  # of numpy


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


def scaled_by_a_release(x: float) -> list[float]:
    one = 1.0 + laplace()
    return [one, x + abs(one) * laplace()]


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
        places_of_two,
        twice,
        released_and_used,
        beside_a_release,
        after_a_release,
        again_for_a_release,
        scaled_by_a_release,
        lambda x: [x + laplace(), np.random.random() < 0.5],
        lambda x: (math.inf if x else 0.0) + laplace(),
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


def by_out(noise: Any) -> None:
    np.multiply(noise, 10, out=noise)


def by_entries(noise: Any) -> None:
    for place in range(len(noise)):
        noise[place] *= 10


def by_a_slice(noise: Any) -> None:
    noise[0:1] *= 10
    noise[1:] *= 10


def as_a_whole(noise: Any) -> None:
    noise[:] = noise * 10


def by_rows(noise: Any) -> None:
    for row in noise.reshape(2, 1):
        row *= 10


def by_a_view(noise: Any) -> None:
    noise.ravel()[:] *= 10


def by_another_view(noise: Any) -> None:
    view = noise.view()
    view *= 10


def in_a_function(noise: Any) -> None:
    noise *= 10


@pytest.mark.parametrize(
    "scale_in_place",
    [by_out, by_entries, by_a_slice, as_a_whole, by_rows, by_a_view, by_another_view, in_a_function],
)
@pytest.mark.parametrize("add", [lambda x, noise: np.array(x) + noise, lambda x, noise: [x[0] + noise[0], x[1]]])
def test_noise_that_is_changed_in_place_has_no_scale_that_is_too_small(
    scale_in_place: Callable[[Any], None], add: Callable[[Any, Any], Any]
) -> None:
    def function(x: list[float]) -> Any:
        noise = RNG.laplace(0.0, 1.0, 2)
        scale_in_place(noise)
        return [float(one) for one in add(x, noise)]

    assert not accused(function, Claim(0.1), ([0.0, 0.0], [1.0, 0.0]))


def test_noise_that_is_multiplied_by_a_statement_has_its_new_scale() -> None:
    def function(x: list[float]) -> list[float]:
        noise = RNG.laplace(0.0, 1.0, 2)
        noise *= 10
        return list(np.array(x) + noise)

    assert not accused(function, Claim(0.1), ([0.0, 0.0], [1.0, 0.0]))
    assert accused(function, Claim(0.05), ([0.0, 0.0], [1.0, 0.0]))


def as_negated(noise: Any) -> Any:
    return -noise


def as_chosen(noise: Any) -> Any:
    return noise[[0, 1]]


def as_copied(noise: Any) -> Any:
    return noise[:].copy()


def as_shaped(noise: Any) -> Any:
    return noise.reshape(2, 1)[:, 0]


def as_sliced_twice(noise: Any) -> Any:
    return (noise * 1.0)[:][:2]


def as_divided(noise: Any) -> Any:
    return noise / 1.0


def as_written_elsewhere(noise: Any) -> Any:
    return np.multiply(noise, 1.0, out=np.empty(2))


def one_entry(noise: Any) -> None:
    noise[0] *= 6


def a_slice(noise: Any) -> None:
    noise[:1] *= 6


def a_view_of_a_view(noise: Any) -> None:
    view = noise[:][:1]
    view *= 6


def by_put(noise: Any) -> None:
    noise.put([0], 6 * noise[0])


def by_flat(noise: Any) -> None:
    noise.flat[0] *= 6


def by_copyto(noise: Any) -> None:
    np.copyto(noise, 6 * np.asarray(noise), where=[True, False])


def by_out_in_part(noise: Any) -> None:
    np.multiply(noise, 6, out=noise, where=[True, False])


def by_other_noise(noise: Any) -> None:
    noise += RNG.laplace(0.0, 6.0, 2)


DERIVED = [as_negated, as_chosen, as_copied, as_shaped, as_sliced_twice, as_divided, as_written_elsewhere]
WRITTEN = [one_entry, a_slice, a_view_of_a_view, by_put, by_flat, by_copyto, by_out_in_part, by_other_noise]


@pytest.mark.parametrize("derive", DERIVED)
@pytest.mark.parametrize("write", WRITTEN)
def test_noise_that_is_derived_and_then_changed_has_no_scale_that_is_too_small(
    derive: Callable[[Any], Any], write: Callable[[Any], None]
) -> None:
    """The first number, which alone is added to data, gets noise of scale 6, or the sum of scales 1 and 6: ε ≤ 1/6."""

    def function(x: float) -> list[float]:
        noise = derive(RNG.laplace(0.0, 1.0, 2))
        write(noise)
        return [float(one) for one in np.array([x, 5.0]) + noise]

    assert not accused(function, Claim(0.25), (0.0, 1.0))


def test_noise_that_is_changed_through_a_mask_has_no_scale_that_is_too_small() -> None:
    """The mask holds everywhere: the scale is 6, so ε = 1/6."""

    def function(x: float) -> float:
        noise = RNG.laplace(0.0, 1.0, 2) * 1.0
        noise[abs(noise) >= 0] *= 6
        return float(x + noise[0])

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


def test_noise_that_is_filled_with_other_noise_has_the_scale_of_that() -> None:
    """The number that is added has scale 6, so ε = 1/6."""

    def function(x: float) -> list[float]:
        noise, other = RNG.laplace(0.0, 1.0, 2) * 1.0, RNG.laplace(0.0, 6.0)
        noise.fill(float(other))
        return [float(one) for one in np.array([x, 5.0]) + noise]

    assert not accused(function, Claim(0.25), (0.0, 1.0))


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

Bits = tuple[int, ...]


def noises(scale: float, size: int) -> Any:
    return np.random.laplace(0.0, scale, size)


def named_first(bits: Sequence[int]) -> dict[str, bool]:
    """Name one item at most: the first whose noisy count exceeds 5."""
    named = [place for place, one in enumerate(np.array(bits, float) + noises(1.0, len(bits))) if one > 5][:1]
    return {f"item{place}": place in named for place in range(len(bits))}


def named_last(bits: Sequence[int]) -> dict[str, bool]:
    named = [place for place, one in enumerate(np.array(bits, float) + noises(1.0, len(bits))) if one > 5][-1:]
    return {f"item{place}": place in named for place in range(len(bits))}


def law_of_first(bits: Sequence[int]) -> list[float]:
    """Return the probability that each item is named, and that none is."""
    law, none_before = [], 1.0
    for bit in bits:
        above = math.exp(bit - 5) / 2
        law.append(none_before * above)
        none_before *= 1 - above
    return [*law, none_before]


def loss_of_first(pair: tuple[Sequence[int], Sequence[int]]) -> float:
    return max(abs(math.log(one / other)) for one, other in zip(*map(law_of_first, pair), strict=True))


def pairs_of(size: int) -> list[tuple[Bits, Bits]]:
    zeros, ones, turns = (0,) * size, (1,) * size, tuple(place % 2 for place in range(size))
    return [(zeros, ones), (ones, zeros), (turns, tuple(1 - bit for bit in turns))]


@pytest.mark.parametrize("pair", [pair for size in (2, 4) for pair in pairs_of(size)])
def test_of_items_of_which_one_is_named_the_losses_do_not_add(pair: tuple[Bits, Bits]) -> None:
    assert 1 < loss_of_first(pair) * BOUND < 1.07
    for function, worlds in ((named_first, pair), (named_last, (pair[0][::-1], pair[1][::-1]))):
        assert not accused(function, Claim(loss_of_first(pair) * BOUND), worlds)


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


def hidden_by_three(x: float) -> list[bool]:
    one, two, three = (0.0 + laplace() > 0.5 for _ in range(3))
    return [one, two, three, x + laplace() > 0.5 and not (one and not two and not three)]


@pytest.mark.parametrize(
    ("function", "rare"),
    [
        (moved_elsewhere, ABOVE**2),
        (drawn_otherwise, ABOVE**2),
        (drawn_once_more, ABOVE**2),
        (hidden_by_three, ABOVE * (1 - ABOVE) ** 2),
    ],
)
@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_a_release_that_several_others_decide_together_does_not_count(
    function: Callable[[Any], Any], rare: float, pair: Pair
) -> None:
    best = 1 - math.exp(-1 / 4)  # δ(1/2) of all events, which is attained at 3/4
    assert not accused(function, Claim(0.5, best * (1 - rare) * BOUND), pair)


def majority(x: list[float]) -> bool:
    return sum(x) + laplace(5.0) > len(x) / 2


def taken_away_from_its_release(x: list[float]) -> bool:
    return (sum(x) + laplace()) - sum(x) > 3


def steps_from_the_data(x: list[float]) -> int:
    return round((sum(x) + laplace() - sum(x)) / 5)


def clamped_mean(x: list[float]) -> float:
    return min(1.05, max(0.95, round((sum(x) + laplace(10.0)) / len(x), 2)))


ONES = [1.0] * 6, [1.0] * 7


@pytest.mark.parametrize(
    ("function", "pair", "kept"),
    [
        (majority, ONES, Claim(0.1)),  # sum − n/2 moves by 1/2
        (taken_away_from_its_release, ONES, Claim(0.0, 1e-12)),
        (steps_from_the_data, ONES, Claim(0.0, 1e-12)),
        (clamped_mean, ([1.0] * 400, [1.0] * 399), Claim(0.09)),
        (lambda x: sum(x) + laplace(5.0) > 3.5, ONES, Claim(0.2)),
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


def other_noise_in_a_window(x: float) -> bool:
    """The loss is 0.50: ln (0.184 + 0.1·0.816) / (0.068 + 0.1·0.932), and not 1, that of a threshold at −1."""
    noisy = x + np.random.laplace()
    return random.random() < 0.9 if -1 < noisy < 20 else noisy >= 20


def elsewhere_in_a_window(x: float) -> list[float]:
    """δ(1) is 0.116, the probability of 0.184 below −1 times 1 − e^−1, and not the 0.39 of the second release alone."""
    first = x + np.random.laplace()
    return [first, (0.0 if -1 < first < 20 else x) + np.random.laplace(0, 0.5)]


@pytest.mark.parametrize(
    ("function", "claim"), [(other_noise_in_a_window, Claim(0.7)), (elsewhere_in_a_window, Claim(1.0, 0.3))]
)
def test_noise_is_the_same_wherever_a_release_is_looked_at(function: Callable[[Any], Any], claim: Claim) -> None:
    """With another value of the release there is other noise, or it lies elsewhere."""
    assert not accused(function, claim, (0.0, 1.0), range(5))


def at_most_half(x: float) -> float:
    """A sample: x counts with probability 1/2, so the loss is smaller than that of the noise."""
    return (x if random.random() < 1 / 2 else 0.0) + laplace()


def flat_between(x: float) -> float:
    noisy = x + random.gauss(0, 2.0)
    return 0.5 if -0.2 < noisy < 1.2 else noisy


@pytest.mark.parametrize(
    ("function", "pair"),
    [
        (lambda x: abs(x + laplace(0.5)), (-1.0, 1.0)),
        (lambda x: (x + laplace(0.5)) % 1.0, (0.0, 1.0)),
        (lambda x: x + laplace(0.5) + laplace(0.5), (0.0, 1.0)),
        (lambda x: int(np.argmax([x + laplace(0.5), laplace(0.5)])), (0.0, 1.0)),
        (lambda x: "many" if x + laplace(0.5) > 0.3 else "few", (0.0, 1.0)),
        (lambda x: x + laplace(0.5) > 1e9, (0.0, 1.0)),
        (lambda x: x + laplace(0.5) + random.choice((0.0, 0.1)), (0.0, 1.0)),
        (at_most_half, (0.0, 1.0)),
        (at_most_half, (1.0, 0.0)),
        (flat_between, (0.0, 1.0)),
        (lambda x: min(max(20 * x + laplace(), 1.0), 8.0), (0.0, 1.0)),
    ],
)
def test_what_the_outcome_does_not_show_is_no_loss(function: Callable[[Any], Any], pair: Pair) -> None:
    assert not accused(function, Claim(0.1), pair)
