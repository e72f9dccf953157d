"""A replay convicts by no loss that an observer of the outcome may not see.

Every sound mechanism keeps a claim smaller than the losses of its noise, so that one loss too many would convict it.
"""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Gdp, Verdict, check
from tests.support.replays import PAIR, accused, laplace, shown

pytestmark = pytest.mark.usefixtures("own_clock")

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


def test_steps_of_gaussian_noise_show_a_tail_that_no_finite_claim_allows() -> None:
    assert accused(rounded)
    assert not accused(rounded, Gdp(0.01))


def test_noise_that_is_used_for_two_releases_counts_for_none() -> None:
    """Both releases hold the same noise and move alike: the loss is 1, and not 2."""
    assert not accused(noise_twice, Claim(1.5))


@pytest.mark.parametrize("function", [threshold, sum_of_shares, data_taken_away_again, shares_in_place])
def test_a_difference_beside_equal_noise_is_a_suspicion_that_runs_do_not_confirm(
    function: Callable[[Any], Any],
) -> None:
    assert check(function, pairs=[PAIR], claim=Claim(1.0), seconds=1, runs=4_000).verdict != Verdict.VIOLATED


def test_a_coordinate_without_noise_is_convicted_by_its_replay_and_by_runs() -> None:
    def function(x: list[float]) -> list[float]:
        return [*(one + random.gauss(0.0, 5.0) for one in x[:2]), x[2]]

    result = check(function, pairs=[PAIR], claim=Claim(1.0, 1e-6), seconds=20)
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, "replay")
    assert set(result.evidence) == {"modelled", "sequential"}


def test_a_location_that_other_randomness_decides_convicts_nobody() -> None:
    """The registry does not know this generator: only other runs show that the location changes."""
    hidden = np.random.RandomState(3)

    def function(x: list[float]) -> float:
        return sum(one for one in x if hidden.uniform() < 0.5) + laplace()

    assert not accused(function)


def test_a_loss_that_depends_on_another_release_does_not_count() -> None:
    """Where the second release lies differs only near what the first one was."""
    last: list[float] = []

    def function(x: list[float]) -> list[float]:
        one = 0.0 + laplace()
        last.append(one) if not last else None
        return [one, (sum(x) if abs(one - last[0]) < 0.001 else 0.0) + laplace()]

    result = shown(function)
    assert result.loss == pytest.approx(1.0)
    assert result.evidence is None
