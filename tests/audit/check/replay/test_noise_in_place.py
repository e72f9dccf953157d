"""Noise that the function changes in place has the scale that it has when it is added to something."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal import Claim
from tests.support.replays import accused

RNG = np.random.default_rng(5)


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
    assert accused(function, Claim(0.0999), ([0.0, 0.0], [1.0, 0.0]))
