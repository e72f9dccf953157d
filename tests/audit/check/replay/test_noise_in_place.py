"""Noise that the function changes in place has the scale that it has when it is added to something."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal import Claim
from tests.support.replays import accused, shown

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
    assert accused(function, Claim(0.499), (0.0, 1.0))


def test_a_location_that_is_written_into_a_part_is_seen() -> None:
    """The scale is 2, so ε = 1/2."""

    def function(x: float) -> list[float]:
        noise = RNG.laplace(0.0, 1.0, 2) * 2.0
        noise[:1] += x
        noise[1] += 5.0
        return noise.tolist()  # type: ignore[no-any-return]  # of numpy

    assert not accused(function, Claim(0.5), (0.0, 1.0))
    assert accused(function, Claim(0.499), (0.0, 1.0))


def test_noise_that_is_changed_for_one_input_only_is_noted() -> None:
    def function(x: float) -> float:
        noise = RNG.laplace(0.0, 1.0, 1) * 1.0
        if x:
            noise[0] *= 6
        return float(x + noise[0])

    replay = shown(function, Claim(0.25), (0.0, 1.0))
    assert replay.evidence is None
    assert replay.notes[0].startswith("the use of noise depends on the data")
