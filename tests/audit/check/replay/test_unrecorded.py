"""A function that draws from a generator which no replay records is convicted by no replay, and a note says why.

`told` tells the truth about x + noise > 6, and answers by a coin in one run of a hundred. On 0 and 2 its answers are
yes with probability 0.99 e^-6 / 2 + 0.005 and 0.99 e^-4 / 2 + 0.005: a loss of 0.815. Where the coins are not
recorded, the noise alone shows: a loss of 2.
"""

import copy
import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Gdp, add_or_remove, check
from subnormal.audit.check.result import Result
from subnormal.audit.model import Verdict

pytestmark = pytest.mark.usefixtures("own_clock")

CLAIM = Claim(1.0)
ALPHA = 1e-6  # the chance that runs accuse one of the sound functions below


def told(x: float, coins: Callable[[], float]) -> int:
    noisy = x + np.random.laplace()
    coin, lie = coins(), coins()
    return int(lie < 0.5) if coin < 0.01 else int(noisy > 6)


def drawn_first(x: float) -> int:
    return told(x, iter([HELD[0].random(), HELD[0].random()]).__next__)


class Slot:
    __slots__ = ("rng",)

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)


HELD = [np.random.default_rng(5)]
SLOT = Slot()
METHOD = np.random.default_rng(5).random
LEGACY = np.random.RandomState(5).random_sample
PYTHON = random.Random(5).random
RECORDED = np.random.default_rng(5)


def by_default(x: float, rng: Any = np.random.default_rng(5)) -> int:  # noqa: B008  # as people write it
    return told(x, rng.random)


def by_partial(x: float, rng: Any) -> int:
    return told(x, rng.random)


UNRECORDED: dict[str, Callable[[float], int]] = {
    "default": by_default,
    "partial": functools.partial(by_partial, rng=np.random.default_rng(5)),
    "list": lambda x: told(x, HELD[0].random),
    "drawn-first": drawn_first,
    "slot": lambda x: told(x, SLOT.rng.random),
    "method": lambda x: told(x, METHOD),
    "legacy-method": lambda x: told(x, LEGACY),
    "python-method": lambda x: told(x, PYTHON),
}


def checked(function: Callable[[float], Any], claim: Claim = CLAIM) -> Result:
    return check(function, pairs=[(0, 2)], claim=claim, seconds=1, alpha=ALPHA)


@pytest.mark.parametrize("name", UNRECORDED)
def test_unrecorded_draws_let_no_replay_convict(name: str) -> None:
    result = checked(UNRECORDED[name])
    assert result.verdict is not Verdict.VIOLATED
    assert any("that no replay records" in note for note in result.notes)


def test_recorded_draws_need_no_note() -> None:
    result = checked(lambda x: told(x, RECORDED.random))
    assert result.verdict is not Verdict.VIOLATED
    assert not any("that no replay records" in note for note in result.notes)


@pytest.mark.parametrize("draw", [np.random.laplace, RECORDED.laplace])
def test_noise_that_is_recorded_convicts(draw: Callable[[], float]) -> None:
    result = checked(lambda x: round(x + (RECORDED if draw == RECORDED.laplace else np.random).laplace(), 1))
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, "replay")


def test_the_pair_that_is_shown_draws_nothing_unrecorded_either() -> None:
    """Inputs of a sum below 2 alone draw coins. A pair of larger ones convicts first, and is made smaller."""

    def little(records: list[int]) -> int:
        return told(2.0 * sum(records), HELD[0].random if sum(records) < 2 else lambda: 0.5)

    result = check(little, st.lists(st.integers(0, 9)), add_or_remove(), CLAIM, seconds=10, alpha=ALPHA)
    assert result.stage == "runs"
    assert any("that no replay records" in note for note in result.notes)


def of_a_generator_of_its_own(x: float, bits: Callable[[Any], Any] = lambda rng: None) -> float:
    """Gaussian noise of deviation 0.97: μ = 1/0.97 on 1 and 0."""
    rng = np.random.default_rng()
    bits(rng)
    return round(x + rng.normal(0.0, 0.97), 3)


@pytest.mark.parametrize(
    "function", [of_a_generator_of_its_own, lambda x: x + np.random.default_rng().spawn(1)[0].normal(0.0, 0.97)]
)
def test_a_generator_that_a_run_makes_is_recorded(function: Callable[[float], float]) -> None:
    result = check(function, pairs=[(1, 0)], claim=Gdp(1.0), seconds=1, alpha=ALPHA)
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, "replay")


@pytest.mark.parametrize(
    "bits",
    [
        lambda rng: rng.bit_generator.random_raw(),
        lambda rng: np.random.Generator(rng.bit_generator).normal(),
        lambda rng: copy.deepcopy(rng).normal(),
    ],
)
def test_who_asks_a_generator_for_its_bits_may_draw_unrecorded(bits: Callable[[Any], Any]) -> None:
    result = check(functools.partial(of_a_generator_of_its_own, bits=bits), pairs=[(1, 0)], claim=Gdp(1.0), seconds=1)
    assert result.stage != "replay"
