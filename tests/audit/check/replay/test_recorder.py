"""A replay hands back what was drawn and released, shifts it where asked to, and says where the calls are others."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.recorder import Recorder


@contextmanager
def recording(function: Callable[[Any], Any]) -> Iterator[Recorder]:
    recorder = Recorder(Function(function, "function"))
    with intercepted(function, recorder.intercept):
        yield recorder


def replayed(function: Callable[[Any], Any], data: tuple[Any, Any] = (0.0, 1.0), **changes: Any) -> tuple[Any, Any]:
    with recording(function) as recorder:
        first = recorder.run(data[0])
        return first, recorder.run(data[1], first, **changes)


def test_a_release_is_the_same_and_its_locations_are_noted() -> None:
    first, second = replayed(lambda x: 3 * (x + 2 * np.random.laplace(0.0, 0.5)))
    assert second.outcome == first.outcome
    assert second.difference is None
    (release,), (other,) = first.calls[0].releases, second.calls[0].releases
    assert (release.location, other.location, release.scale, other.scale) == (0.0, 1.0, 1.0, 1.0)
    assert release.released == other.released == pytest.approx(first.outcome / 3)


def test_the_location_of_a_release_is_that_of_the_noise_with_what_it_is_added_to() -> None:
    first, second = replayed(lambda x: 5 - 2 * np.random.laplace(x + 1, 0.5))
    assert [run.calls[0].releases[0].location for run in (first, second)] == [3.0, 1.0]
    assert [run.calls[0].releases[0].scale for run in (first, second)] == [1.0, 1.0]


def test_a_scale_has_no_sign() -> None:
    for function in (lambda x: x + random.gauss(0, -3.0), lambda x: random.gauss(x, -3.0)):
        assert [run.calls[0].located()[0].scale for run in replayed(function)] == [3.0, 3.0]


def test_noise_that_is_added_to_nothing_comes_with_its_location() -> None:
    first, second = replayed(lambda x: np.random.normal([x, 2.0], [1.0, 3.0]).tolist())
    assert [(one.place, one.location, one.scale) for one in second.calls[0].located()] == [(0, 1.0, 1.0), (1, 2.0, 3.0)]
    assert tuple(one.released for one in first.calls[0].located()) == first.outcome == second.outcome
    assert replayed(lambda x: random.random())[0].calls[0].located() == []


LAPLACE, GAUSS = "numpy.random.laplace", "random.gauss"


@pytest.mark.parametrize(
    ("function", "what", "shown"),
    [
        (lambda x: [random.random() for _ in range(2 + int(x))], "the number of draws from random.random", "23"),
        (lambda x: [random.random() for _ in range(2 - int(x))], "the number of draws from random.random", "21"),
        (lambda x: np.random.laplace(np.zeros(2 + int(x)), 1.0), f"the number of draws from {LAPLACE}", "23"),
        (lambda x: np.random.laplace(size=2 + int(x)), f"the number of draws from {LAPLACE}", "23"),
        (lambda x: random.choices("ab", k=2 + int(x)), "the number of draws from random.choices", "23"),
        (lambda x: os.urandom(2 + int(x)), "the number of draws from os.urandom", "23"),
        (
            lambda x: [random.random() for _ in range(int(x))] + [random.gauss()],
            "the number of draws from random.random",
            ["none", 1],
        ),
        (lambda x: random.gauss() if x else np.random.laplace(), "the kind of noise", [LAPLACE, GAUSS]),
        (
            lambda x: [random.gauss(), np.random.laplace()] if x else [np.random.laplace(), random.gauss()],
            "the order of draws",
            [LAPLACE, GAUSS],
        ),
        (lambda x: (lambda n: n[int(x)] + 1)(np.random.laplace(size=2)), "the use of noise", [LAPLACE, LAPLACE]),
        (lambda x: (lambda n: n + 1 + (n + 2 if x else 0))(random.gauss()), "the use of noise", [GAUSS, GAUSS]),
    ],
)
def test_noise_that_is_not_as_before_is_a_difference_with_both_places(
    function: Callable[[Any], Any], what: str, shown: Sequence[object]
) -> None:
    first, second = replayed(function)
    assert first.difference is None
    each = [str(one) if one == "none" else rf"{one} at test_recorder\.py:\d+" for one in shown]
    assert re.fullmatch(f"{what} depends on the data: {', '.join(each)}", second.difference)
    assert replayed(function, (0.0, 0.0))[1].difference is None


def test_a_choice_among_lists_of_different_lengths_is_replayed() -> None:
    """What is chosen has another length each time, and the number of draws is the same."""
    records = [[1], [1, 2], [1, [2, 3]]]
    for _ in range(20):
        first, second = replayed(lambda x: (random.sample(records, 3), random.choice(records)))
        assert first.outcome == second.outcome
        assert second.difference is None


def test_a_shift_moves_one_release_and_a_raw_shift_the_noise_itself() -> None:
    def function(x: float) -> list[float]:
        noise = np.random.laplace(0.0, 2.0)
        return [x + noise, x + random.gauss(0.0, 3.0), float(noise)]

    first, shifted = replayed(function, (1.0, 1.0), shifts={(1, 0): 0.5})
    assert shifted.outcome == (first.outcome[0], first.outcome[1] + 0.5, first.outcome[2])
    first, raw = replayed(function, (1.0, 1.0), raw=10.0)
    assert raw.outcome == (*first.outcome[:2], first.outcome[2] + 20.0)


@pytest.mark.parametrize(("shift", "moved"), [(0.5, 1), (-0.5, -1), (2.0, 2)])
def test_integers_are_shifted_by_integers(shift: float, moved: int) -> None:
    from diffprivlib.mechanisms import Geometric

    mechanism = Geometric(epsilon=1.0, sensitivity=1)
    first, second = replayed(lambda x: mechanism.randomise(int(x)), (3.0, 3.0), shifts={(0, 0): shift})
    assert second.outcome == first.outcome + moved
    assert type(second.outcome) is int


def test_an_entry_of_an_array_that_is_added_to_nothing_is_shifted_alone() -> None:
    first, second = replayed(lambda x: np.random.laplace(0.0, 1.0, (2, 2)).tolist(), shifts={(0, 2): 7.0})
    moved = np.array(second.outcome) - np.array(first.outcome)
    assert moved.ravel().tolist() == pytest.approx([0.0, 0.0, 7.0, 0.0])


def test_what_a_primitive_calls_is_its_own() -> None:
    first, _ = replayed(lambda x: x + stats.laplace.rvs(scale=2.0))
    assert [str(call.primitive) for call in first.calls] == ["scipy.stats._continuous_distns.laplace_gen.rvs"]


def test_calls_outside_a_run_are_passed_on() -> None:
    with recording(lambda x: x) as recorder:
        assert isinstance(random.random(), float)
        assert recorder.run(1.0).calls == []
