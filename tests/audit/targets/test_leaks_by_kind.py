"""A loss is found in outcomes of every kind, even where no outcome occurs twice; the same outcome with enough noise is
not accused. False alarms: ALPHA for each sound case."""

import json
import random
import struct
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from subnormal import Claim, assert_private, check
from subnormal.audit.check.assertion import NotPrivateError
from subnormal.audit.model import Verdict

ALPHA = 1e-6
RUNS = 2_000
GRID = 2**20  # multiples of 1/GRID: an integer plus noise on a grid is that sum rounded, and has no last bits that tell


def noise() -> float:
    """Return Laplace noise of scale 1, rounded to a grid."""
    return round((random.expovariate(1.0) - random.expovariate(1.0)) * GRID) / GRID


def raises_half(value: float) -> None:
    if random.random() < 0.5:
        raise ValueError(f"{value} is out of range")


KINDS: dict[str, Callable[[float], Any]] = {
    "text": lambda value: f"{value:.6f}",
    "text of bits": lambda value: value.hex(),
    "json": lambda value: json.dumps({"noise": noise(), "count": value}),
    "ascii bytes": lambda value: f"{value:.6f}".encode(),
    "bytes": lambda value: struct.pack(">d", value),
    "complex": lambda value: complex(value, 0.0),
    "real and imaginary": lambda value: complex(noise(), value),
    "date": lambda value: date(2020, 1, 1) + timedelta(days=round(1_000 * value)),
    "datetime": lambda value: datetime(2020, 1, 1) + timedelta(days=value),
    "time": lambda value: (datetime(2020, 1, 1, 12) + timedelta(minutes=value)).time(),
    "timedelta": lambda value: timedelta(days=value),
    "error": raises_half,
    "value of a new key": lambda value: {f"user{random.getrandbits(40)}": value},
    "key": lambda value: {f"user {value}": 1},
}
SHARES: dict[str, Callable[[bool], Any]] = {  # of which a bit is told by the probability of a word
    "word and noise in a text": lambda bit: f"{'yes' if bit else 'no!'} {noise()}",
    "word and noise": lambda bit: (noise(), "yes" if bit else "no!"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_is_told_in_any_form_is_found(kind: str) -> None:
    with pytest.raises(NotPrivateError):
        assert_private(lambda x: KINDS[kind](10 * x + noise()), 1, 0, epsilon=1.0, runs=RUNS, alpha=ALPHA)
    assert_private(lambda x: KINDS[kind](x + noise()), 1, 0, epsilon=1.0, runs=RUNS, alpha=ALPHA)


@pytest.mark.parametrize("kind", SHARES)
def test_a_word_beside_noise_is_found(kind: str) -> None:
    def answers(share: float) -> Callable[[int], Any]:
        return lambda bit: SHARES[kind](bool(bit) == (random.random() < share))

    with pytest.raises(NotPrivateError):
        assert_private(answers(0.95), 1, 0, epsilon=1.0, runs=RUNS, alpha=ALPHA)
    assert_private(answers(0.7), 1, 0, epsilon=1.0, runs=RUNS, alpha=ALPHA)  # ε = ln(0.7/0.3) = 0.85


def test_parts_that_are_equal_in_one_world_are_found() -> None:
    """Each part has one distribution in both worlds."""

    def twice(sign: int, share: float) -> tuple[float, float]:
        value = random.gauss(0.0, 1.0)
        return (value, value) if (sign == 1) == (random.random() < share) else (value, -value)

    with pytest.raises(NotPrivateError, match=r"the size of the (sum|difference)"):
        assert_private(lambda sign: twice(sign, 0.95), 1, 0, epsilon=1.0, runs=RUNS, alpha=ALPHA)
    assert_private(lambda sign: twice(sign, 0.7), 1, 0, epsilon=1.0, runs=RUNS, alpha=ALPHA)


def test_check_finds_a_number_in_a_text() -> None:
    result = check(lambda x: f"{10 * x + noise():.6f}", None, [(1, 0)], Claim(1.0), seconds=20, runs=RUNS, seed=1)
    assert result.verdict is Verdict.VIOLATED
    assert result.event is not None
    assert result.event["terms"][0]["path"] == [["number at place 0 in the text"]]
