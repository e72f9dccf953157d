"""Functions that a replay does not accuse, whatever they do with noise before it is released, or beside it.

Each keeps its claim, which is smaller than the losses of its noise, so that one loss too many would convict it. A few
are broken, and no replay may say so. False alarms: each is accused with a probability of at most 1e-6.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law

from subnormal import Claim, Gdp
from tests.support.replays import PAIR, TINY, accused, laplace, suspected

RNG, OLDER = np.random.default_rng(5), np.random.RandomState(6)
HELD = [np.random.default_rng(5)]
NONCES = itertools.count(1)
ABOVE = laplace_law.sf(0.5)  # the probability that noise exceeds 1/2
TOGETHER = Claim(0.5, (1 - math.exp(-1 / 4)) * (1 - ABOVE**2) * 1.001)  # δ(1/2) where two numbers of noise are above it
FORTH, BACK = (0.0, 1.0), (1.0, 0.0)


def of_sampling(share: float) -> Claim:
    return Claim(math.log1p(share * math.expm1(1.0)))


def released_if_large(x: list[float]) -> float | None:
    noisy = sum(x) + random.gauss(0.0, 100.0)
    return noisy if 0 < noisy < 1 else None


def rejected_until_large(x: list[float]) -> float:
    """The tail of Laplace noise is the same from everywhere: perfectly private."""
    while (noisy := sum(x) + laplace()) < 4:
        pass
    return noisy


def calls_more_for_large_noise(x: float) -> float:
    released = x + (noise := laplace())
    if noise > 25:
        np.random.random()
    return released


def drawn_once_more(x: float) -> list[float]:
    released = [0.0 + laplace(), 0.0 + laplace(), x + laplace()]
    if min(released[:2]) > 0.5:
        np.random.random()
    return released


def public_coin(x: float) -> list[float]:
    """The record is left out in a band of the coin, whose probability is 0.0441. δ(0) is 0.9559 times 0.3829."""
    coin, noise = 0.0 + random.gauss(0.0, 1.0), random.gauss(0.0, 1.0)
    return [coin, (0.0 if 1.5 < coin < 2 else x) + noise]


def elsewhere_in_one_world(x: float) -> float:
    """One world draws from a location that is not the one of the other, in one run of thirty."""
    return (0.0 if x > 0 and HELD[0].random() < 1 / 30 else x) + laplace()


def coin_of(draw: Callable[[], float]) -> Callable[[float], float]:
    """Return randomized response with a little noise that hides nothing: it keeps 9.02, and few runs see the coin."""
    return lambda x: (1 - x if draw() < 1 / 8192 else x) + np.random.laplace(0.0, 0.05)


class Uniform(np.random.RandomState):
    """A library's own subclass: the name of its method says Laplace noise, and the numbers are drawn otherwise."""

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.uniform(-9, 9)


def restored(x: float) -> list[float]:
    state = random.getstate()
    one = x + random.gauss()
    random.setstate(state)
    return [one, x + random.gauss()]


def twice_of_one_seed(x: float) -> list[float]:
    seed = next(NONCES)
    return [x + np.random.default_rng(seed).laplace() for _ in range(2)]


def in_window(low: float, high: float, scale: float = 1.0) -> Callable[[float], float]:
    """Within the window the release is 0: the loss of what is seen there is at most that of all other outcomes."""
    return lambda x: 0.0 if low < (noisy := x + laplace(scale)) < high else noisy


CASES: dict[str, tuple[Callable[[Any], Any], Any, tuple[Any, ...]]] = {
    # Losses that an observer does not see.
    "sampled by noise": (lambda x: sum(one for one in x if random.gauss() > -2) + laplace(), TINY, (PAIR,)),
    "sampled by a release": (lambda x: sum(one for one in x if 1 + laplace() > -3) + laplace(), TINY, (PAIR,)),
    "rejected until it is large": (rejected_until_large, TINY, (PAIR,)),
    "released if it is large": (released_if_large, TINY, (PAIR,)),
    "data taken away again": (lambda x: sum(x) + laplace() - sum(x), TINY, (PAIR,)),
    "data taken away from their noise": (lambda x: sum(x) - np.random.laplace(sum(x), 1.0), TINY, (PAIR,)),
    "arrays taken away from it": (lambda x: (np.array(x) - RNG.laplace(x, 1.0)).tolist(), TINY, (PAIR,)),
    "scaled and back": (lambda x: (5 * (1 + sum(x)) + (1 + sum(x)) * laplace()) / (1 + sum(x)), TINY, (PAIR,)),
    "replaced by a coin": (lambda x: laplace(50) if 0.3 < random.gauss() < 0.6 else sum(x) + laplace(), TINY, (PAIR,)),
    "replaced by a release": (lambda x: laplace(50.0) if 0.3 < laplace() < 0.6 else sum(x) + laplace(), TINY, (PAIR,)),
    "replaced by a moved release": (
        lambda x: laplace(50.0) if 0.3 < sum(x) - 2 + laplace() < 0.6 else sum(x) + laplace(), TINY, (PAIR,)
    ),
    # Two losses that are one, or that are more than one: what is more than one is left to the runs.
    "noise twice": (lambda x: (sum(x) + (noise := laplace()), sum(x) + noise), Claim(1.5), (PAIR,)),
    "twice": (lambda x: [x + (noise := laplace()), x + noise], Claim(1.0), (FORTH,)),
    "of an array, twice": (lambda x: [x + (noise := RNG.laplace(size=2))[0], x + noise[0]], Claim(1.0), (FORTH,)),
    "released and used": (lambda x: [x + (noise := laplace()), float(noise > 0)], Claim(1.0), (FORTH,)),
    "beside a release": (lambda x: (x + laplace()) - x, Claim(1.0), (FORTH,)),
    "after a release": (lambda x: [one := 1.0 + laplace(), min(one, 50.0) * x + laplace()], Claim(1.0), (FORTH,)),
    "again for a release": (lambda x: x + laplace() if x + laplace() > 2 else -1.0, Claim(1.0), (FORTH,)),
    "large in one world": (lambda x: [x + (noise := laplace()), float(noise > 25 and x > 0)], Claim(1.0), (FORTH,)),
    "calls more for large noise": (calls_more_for_large_noise, Claim(1.0), (FORTH,)),
    "two releases": (lambda x: [x + laplace(), x + laplace()], Claim(1.0), (FORTH,)),
    "two releases of one seed": (twice_of_one_seed, Claim(1.0), (FORTH,)),
    "two releases of one state": (restored, Gdp(1.0), (FORTH,)),
    # Locations that another release decides: the first moves its second one with a probability of e^-20/2, less than δ.
    "location of a release": (
        lambda x: [one := 1.0 + laplace(1000.0), (5.0 * x if one > 20_000 else 0.0) + laplace()],
        Claim(0.05, 1e-8),
        (FORTH,),
    ),
    "left out by a release": (
        lambda x: [one := 1.0 + laplace(), (noise := RNG.laplace(size=2))[0], x + noise[1] if one < 20 else 0.0],
        Claim(1.0),
        (FORTH,),
    ),
    "moved by two others": (
        lambda x: [a := laplace(), b := laplace(), (0.0 if a > 0.5 and b > 0.5 else x) + laplace()],
        TOGETHER,
        (FORTH, BACK),
    ),
    "drawn otherwise for two others": (
        lambda x: [a := laplace(), b := laplace(), np.random.normal() if a > 0.5 and b > 0.5 else x + laplace()],
        TOGETHER,
        (FORTH, BACK),
    ),
    "drawn once more for two others": (drawn_once_more, TOGETHER, (FORTH, BACK)),
    # δ(1) is 0.116, the probability of 0.184 below −1 times 1 − e^−1, and not the 0.39 of the second release alone.
    "elsewhere in a window": (
        lambda x: [first := x + laplace(), (0.0 if -1 < first < 20 else x) + laplace(0.5)],
        Claim(1.0, 0.3),
        (FORTH,),
    ),
    "a public coin": (public_coin, Claim(0.0, 0.3661), (FORTH, BACK)),
    # What lies between the shifts. The density of the first is a cosine: ln (cosh 6.6 / cosh 5.6) is 1 − 1.2e-5.
    "modulo": (lambda x: (x + laplace() + 6.6) % 13.2 - 6.6, Claim(1 - 1.15e-5), (FORTH, BACK)),
    "modulo of much": (lambda x: (x + laplace() + 1e3) % 2e3 - 1e3, Claim(1.0), (FORTH, BACK)),
    "flat between": (
        lambda x: 0.5 if -0.2 < (noisy := x + random.gauss(0, 2.0)) < 1.2 else noisy, Claim(0.1), (FORTH, BACK)
    ),
    "0 from 3.2 to 3.5": (in_window(3.2, 3.5), Claim(1.0), (FORTH, BACK)),
    "0 around -0.3": (in_window(-0.31, -0.29), Claim(1.0), (FORTH, BACK)),
    "0 from 6 to 6.5": (in_window(6.0, 6.5), Claim(1.0), (FORTH, BACK)),
    "elsewhere in one world": (elsewhere_in_one_world, of_sampling(29 / 30), (FORTH, BACK)),
    "far in one world": (lambda x: (one := x + laplace()) - (x > 0 and one > 1.5), Claim(0.5), (FORTH, BACK)),
    "far in the other": (lambda x: (one := x + laplace()) + (x == 0 and one > 1.5), Claim(0.5), (FORTH, BACK)),
    # Rounding and clamping move with the data.
    "rounded Gaussian": (lambda x: round(x + random.gauss(0.0, -10.0), 1), Gdp(0.1), (FORTH,)),
    "rounded Laplace": (lambda x: round(x - laplace(10.0), 1), Claim(0.1), (FORTH,)),
    "clamped": (lambda x: min(5.0, max(-5.0, x + random.gauss(0.0, 1.0))), Claim(0.052), ((0.0, 0.01),)),
    "clipped": (lambda x: float(np.float64(x + laplace(0.5)).clip(-9, 9)), Claim(2.0), (FORTH,)),
    # Numbers that do not follow the law of the noise.
    "of one seed": (lambda x: x + np.random.default_rng(7).laplace(0.0, 0.5), Claim(1.0), (FORTH,)),
    "of few seeds": (lambda x: x + np.random.default_rng(next(NONCES) % 9).laplace(0.0, 0.5), Claim(1.0), (FORTH,)),
    "of a class of its own": (lambda x: float(x + Uniform().laplace(0.0, 1.0)), Claim(1.0), (FORTH,)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "pair"), [(name, pair) for name, (_, _, pairs) in CASES.items() for pair in pairs], ids=str
)
def test_nobody_is_accused(name: str, pair: Any) -> None:
    function, claim, _ = CASES[name]
    assert not accused(function, claim, pair)


def by_default(rng: Any = np.random.default_rng(5)) -> float:  # noqa: B008  # as people write it
    return float(rng.random())


COINS: dict[str, Callable[[], float]] = {
    "system": lambda: int.from_bytes(os.getrandom(7)) / 2.0**56,
    "held": lambda: HELD[0].random(),
    "method": HELD[0].random,
    "default": by_default,
    "legacy-method": OLDER.random_sample,
    "partial": functools.partial(np.random.default_rng(5).uniform, 0.0, 1.0),
}


@pytest.mark.parametrize("name", COINS)
@pytest.mark.parametrize(("share", "pair"), [(0.95, FORTH), (0.97, BACK)])
def test_a_sample_whose_coins_nobody_sees_is_not_accused(name: str, share: float, pair: tuple[float, float]) -> None:
    def sampled(x: float) -> float:
        return (x if COINS[name]() < share else 0.0) + laplace()

    assert not accused(sampled, of_sampling(share), pair)


def elsewhere_beside_the_event(x: float) -> float:
    return 5.0 if 1.8 < (noisy := x + laplace()) < 2.2 and x == 0 else noisy


def elsewhere_in_a_rare_event(x: float) -> float:
    return 0.0 if 2.3 < abs((noisy := x + random.gauss(0.0, 0.4845)) - 0.5) < 2.45 else noisy


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (lambda x: x + RNG.laplace(0.0, 1.0 if type(RNG) is np.random.Generator else 0.98), Claim(0.5)),
        (elsewhere_beside_the_event, Claim(0.5)),
        (elsewhere_in_a_rare_event, Claim(10.0, 1e-5)),
    ],
)
def test_what_frequencies_do_not_show_is_seen_in_each_run(function: Callable[[Any], Any], claim: Claim) -> None:
    """The first differs unrecorded, the second in 3 % of the recorded runs, the third only where the event holds."""
    assert any(suspected(function, claim, FORTH, seed) is not None for seed in range(3))
    assert not accused(function, claim, FORTH)


WRITES: dict[str, Callable[[Any], Any]] = {  # each makes the scale of the first number 6, or the sum of 1 and 6
    "by out": lambda noise: np.multiply(noise, 6, out=noise),
    "by a view of a view": lambda noise: np.multiply(view := noise[:][:1], 6, out=view),
    "by a mask": lambda noise: np.put(noise, np.flatnonzero(abs(noise) >= 0), 6 * noise),
    "by copyto": lambda noise: np.copyto(noise, 6 * np.asarray(noise), where=[True, False]),
    "by other noise": lambda noise: np.add(noise, RNG.laplace(0.0, 6.0, 2), out=noise),
    "by fill": lambda noise: noise.fill(RNG.laplace(0.0, 6.0)),
}


@pytest.mark.parametrize("derive", [lambda noise: noise, lambda noise: -noise.reshape(2, 1)[:, 0]])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_noise_that_is_changed_in_place_has_no_scale_that_is_too_small(
    derive: Callable[[Any], Any], write: Callable[[Any], object]
) -> None:
    """The first number alone is added to data: ε ≤ 1/6."""

    def function(x: float) -> list[float]:
        write(noise := derive(RNG.laplace(0.0, 1.0, 2)))
        return [float(one) for one in np.array([x, 5.0]) + noise]

    assert not accused(function, Claim(0.25), FORTH)


@pytest.mark.parametrize("rearrange", [lambda noise: noise.sort(), lambda noise: noise.partition(0)])
def test_noise_that_is_sorted_in_place_has_no_loss_that_counts(rearrange: Callable[[Any], None]) -> None:
    """Half of all runs draw in order, so that nothing moves. Yet the larger of two has the law F², not F.

    The two releases keep their order, so that the true loss is infinite; but losses of scale 1 do not say so.
    """

    def function(x: float) -> list[float]:
        rearrange(noise := RNG.laplace(0.0, 1.0, 2) * 1.0)
        return [float(x + noise[1]), float(5 + noise[0])]

    assert not accused(function, Claim(0.9), FORTH)


@pytest.mark.parametrize(
    "add",
    [
        lambda x, noise: [float(noise[0] + x), float(noise[1] + 5)],
        lambda x, noise: np.add(noise, [x, 5.0], out=noise).tolist(),
        lambda x, noise: (np.array([x, 5.0]) - noise).tolist(),
    ],
)
def test_derived_noise_keeps_its_scale_where_its_release_is_written_over_it(add: Callable[[Any, Any], Any]) -> None:
    """The scale is 2, so ε = 1/2."""

    def function(x: float) -> Any:
        noise = RNG.laplace(0.0, 1.0, 2)
        noise *= 2
        return add(x, noise)

    assert not accused(function, Claim(0.5), FORTH)
    assert accused(function, Claim(0.4), FORTH)


DRAWS: list[Callable[[], float]] = [np.random.random, random.random]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: HELD[0].random(),
        lambda: DRAWS[0](),
        lambda: DRAWS[1](),
        lambda: 1 - HELD[0].bit_generator.random_raw() / 2**64,
    ],
)
def test_a_rare_coin_that_nobody_sees_is_not_left_out(draw: Callable[[], float]) -> None:
    assert suspected(coin_of(draw), Claim(9.05), FORTH) is not None
    assert not accused(coin_of(draw), Claim(9.05), FORTH, range(3))


def test_a_large_loss_without_a_coin_convicts() -> None:
    assert accused(coin_of(lambda: 1.0), Claim(9.05), FORTH, range(1))


@pytest.mark.parametrize("pair", [FORTH, BACK])
def test_noise_whose_scale_a_coin_turns_in_one_world_is_no_noise_of_that_scale(pair: Any) -> None:
    """Five runs in a hundred of one world are wide: its frequencies hardly differ, and the event is no rarer there."""

    def function(x: float) -> float:
        return x + np.random.laplace(0.0, 5.0 if x == 0 and HELD[0].random() < 0.05 else 0.5)

    assert not accused(function, Claim(1.8), pair, range(3))


def test_what_a_primitive_rounds_with_a_large_location_is_less_than_its_noise() -> None:
    """Noise of scale 1 is rounded to quarters. δ(5) is 0.0307 then, and 0.0323 of Gaussian noise."""
    base = 1.2e15

    def function(x: float) -> float:
        return float(np.random.normal(base + 2 * x, 1.0) - base)

    assert not accused(function, Claim(5.0, 0.0312), FORTH, range(3))
    assert suspected(function, Claim(1.0, 0.0312), FORTH) is not None
