"""Correct loops whose noise moves the outcome by what is not the length alone: none is accused of a divisor."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal import check_training
from subnormal.audit.training import lengths
from subnormal.audit.training.result import Result
from tests.audit.training.loops import CLIP, FEATURES, MULTIPLIER, RATE, RECORDS, clipped, data, gradients, poisson

ALPHA = 1e-6  # that a correct loop is accused, in each check of this file


def looped(step: Callable[..., Any], count: Callable[[Any, int], float] | None = None) -> Callable[..., Any]:
    """Return a loop whose steps are step(generator, theta, x, y, divisor). count: of the records, noisy."""

    def train(data: Any, steps: int) -> Any:
        x, y = data
        generator, theta = np.random.default_rng(), np.zeros(x.shape[1])
        records = RECORDS if count is None else max(20.0, count(generator, len(x)))
        for number in range(steps):
            chosen = poisson(generator, len(x), number)
            theta = step(generator, theta, x[chosen], y[chosen], RATE * records)
        return theta

    return train


def plain(generator: Any, theta: Any, x: Any, y: Any, divisor: float, *, kept: Any = 1.0, rate: float = 0.1) -> Any:
    summed = clipped(gradients(theta, x, y) * kept).sum(axis=0)
    return theta - rate / divisor * (summed + kept * generator.normal(0.0, MULTIPLIER * CLIP, len(theta)))


def some_coordinates(generator: Any, theta: Any, *given: Any) -> Any:
    return plain(generator, theta, *given, kept=generator.permutation(len(theta)) < 3)


def one_of_two_rates(generator: Any, *given: Any) -> Any:
    return plain(generator, *given, rate=0.1 * (1 + generator.integers(2)))


def divided_by_the_batch(generator: Any, theta: Any, x: Any, y: Any, divisor: float) -> Any:
    return plain(generator, theta, x, y, max(1, len(y)))


def random_rate(generator: Any, *given: Any) -> Any:
    return plain(generator, *given, rate=0.1 * 2 ** generator.uniform(-1, 1))


def within_a_ball(radius: float) -> Callable[..., Any]:
    def step(*given: Any) -> Any:
        moved = plain(*given)
        return moved / max(1.0, float(np.linalg.norm(moved)) / radius)

    return step


def noise_of_its_sum(generator: Any, theta: Any, x: Any, y: Any, divisor: float) -> Any:
    """Return a step whose noise grows with the sum."""
    summed = clipped(gradients(theta, x, y)).sum(axis=0)
    grown = 1 + float(np.linalg.norm(summed)) / 5
    return theta - 0.1 / divisor * (summed + grown * generator.normal(0.0, MULTIPLIER * CLIP, len(theta)))


def elsewhere(train: Callable[..., Any]) -> Callable[..., Any]:
    """Return the loop with an outcome that is shifted by what the length sets: batches of two sizes do not compare."""
    return lambda data, steps: train(data, steps) + 0.01 * np.sin(len(data[0]) * np.arange(1.0, FEATURES + 1))


def checked(train: Callable[..., Any], seed: int = 1) -> Result:
    given: dict[str, Any] = {"sample_rate": RATE, "steps": 1000, "alpha": ALPHA, "runs": 12, "seed": seed}
    return check_training(train, data(), clip=CLIP, noise_multiplier=MULTIPLIER, **given)


CORRECT = {
    "some coordinates in each step": looped(some_coordinates),
    "a random learning rate": looped(random_rate),
    "one of two learning rates": looped(one_of_two_rates),
    "a bound that is reached by more records": looped(within_a_ball(0.25)),
    "a bound that is reached by larger batches": looped(within_a_ball(0.15)),
    "a count with Laplace noise divides": looped(plain, lambda generator, n: n + generator.laplace(0.0, 10.0)),
    "a count with Gaussian noise divides": looped(plain, lambda generator, n: n + generator.normal(0.0, 10.0)),
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_scale_that_is_set_by_chance_or_by_a_bound_is_not_that_of_the_length(name: str) -> None:
    """Each is correct with add-or-remove: bounds are post-processing, and a noisy count is paid for apart.

    No matter of chance, but for the sampling, and for coordinates, rates and counts, which must not agree eight times.
    """
    result = checked(CORRECT[name])
    assert result.violated == (), result
    assert any("could not be told" in line for line in result.stage("aggregation").said)


@pytest.mark.parametrize(
    "train",
    [
        looped(plain, lambda generator, n: n),
        elsewhere(looped(plain, lambda generator, n: n)),
        looped(noise_of_its_sum),
        elsewhere(looped(noise_of_its_sum)),
        elsewhere(looped(divided_by_the_batch)),
    ],
)
def test_a_scale_that_follows_the_records_is_still_blamed(train: Callable[..., Any]) -> None:
    assert "aggregation" in checked(train).violated


def test_a_bound_that_is_just_reached_is_seen() -> None:
    """By less than what is blamed, between runs of which each is compared with another one."""
    assert checked(looped(within_a_ball(0.23)), seed=9).violated == ()


def test_seeds_that_read_batches_of_new_sizes_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "SEEDS", lengths.SAME)
    assert checked(looped(plain, lambda generator, n: n)).violated == ()
