"""Functions of arrays of bits and of dice, and their laws: what numpy makes of each array that there may be."""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from subnormal.audit.values.outcomes import as_outcome

RNG = np.random.default_rng()
Truth = dict[Any, float]
WEIGHTS = np.array([0.1, 0.7, 0.3, 0.2, 0.6, 0.9])  # whose sums depend on their order


def of_bits(count: int, function: Callable[[Any], Any]) -> tuple[Any, Truth]:
    """Return a function of so many bits, and its law: numpy's own outcomes for all of them."""
    outcomes = [as_outcome(function(np.array(bits))) for bits in itertools.product((0, 1), repeat=count)]
    truth = {outcome: many / len(outcomes) for outcome, many in Counter(outcomes).items()}
    return lambda _: function(RNG.integers(0, 2, size=count)), truth


def of_dice(name: str, offsets: tuple[int, ...], sides: int = 4) -> tuple[Any, Truth]:
    """Return the place of the largest or smallest of dice, whose faces may be equal, and its law."""
    place = getattr(np, name)
    every = itertools.product(range(sides), repeat=len(offsets))
    places = [int(place(np.array(faces) + np.array(offsets))) for faces in every]
    truth = {at: many / len(places) for at, many in Counter(places).items()}
    return lambda _: int(place(np.floor(sides * RNG.random(len(offsets))) + np.array(offsets))), truth


def roots() -> Any:
    """Return three numbers, of which each is NaN with probability 1/2."""
    return np.sqrt(RNG.random(3) - 0.5)


def in_order(values: Any) -> Any:
    values.sort()
    return values


ARRAYS: dict[str, tuple[Any, Truth]] = {
    **{
        f"{name} of dice from {offsets}": of_dice(name, offsets)
        for name in ("argmax", "argmin")
        for offsets in ((0, 0, 0), (0, 3, 0), (3, 0, 0), (0, 0, 3), (0, -3, 0), (0, 1, 2), (2, 1, 0), (0, -3, 3))
    },
    "the largest, or what is no number": (lambda _: int(np.argmax(roots())), {0: 13 / 24, 1: 7 / 24, 2: 4 / 24}),
    "the smallest, or what is no number": (lambda _: int(roots().argmin()), {0: 13 / 24, 1: 7 / 24, 2: 4 / 24}),
    "the maximum, or no number": (lambda _: math.isnan(roots().max()), {True: 7 / 8}),
    "the minimum, or no number": (lambda _: math.isnan(np.min(roots())), {True: 7 / 8}),
    "the larger, or no number": (lambda _: math.isnan(np.maximum(roots(), 0.5)[0]), {True: 1 / 2}),
    "the smaller, or no number": (lambda _: math.isnan(np.minimum(0.5, roots())[0]), {True: 1 / 2}),
    "clipped, or no number": (lambda _: math.isnan(np.clip(roots(), 0.1, 0.2)[0]), {True: 1 / 2}),
    "sorted before what is no number": (lambda _: math.isnan(in_order(roots())[0]), {True: 1 / 8}),
    "sorted": of_bits(3, lambda bits: in_order(bits).tolist()),
    "the size of integers": of_bits(2, lambda bits: repr(np.fabs(bits)[0])),
    "bounds in the wrong order": of_bits(2, lambda bits: np.clip(bits, 2, -1).tolist()),
    "bounds of floats": of_bits(2, lambda bits: np.clip(bits * 0.5, 0.25, 0.375).tolist()),
    "running products": of_bits(3, lambda bits: np.multiply.accumulate(bits + 1).tolist()),
    "running sums of rows": of_bits(4, lambda bits: np.add.accumulate(bits.reshape(2, 2)).tolist()),
    "running sums": of_bits(3, lambda bits: np.cumsum(bits).tolist()),
    "a type for the sum": of_bits(2, lambda bits: repr(np.add(bits, bits, dtype=float).tolist())),
    "tens": of_bits(2, lambda bits: np.round(bits * 12, -1).tolist()),
    "one rounded to tens": of_bits(2, lambda bits: int(np.round(bits[0] * 12, -1))),
    "one rounded": of_bits(2, lambda bits: repr(np.round(bits[0]))),
    "an item": of_bits(2, lambda bits: repr(bits.item(0))),
    "an item of floats": of_bits(2, lambda bits: repr((bits * 0.5).item(0))),
    "a sum of columns": of_bits(6, lambda bits: bool((bits * WEIGHTS).reshape(2, 3).T.sum() > 1.2)),
    "a sum of rows": of_bits(6, lambda bits: bool((bits * WEIGHTS).reshape(2, 3).sum() > 1.2)),
    "a trace": of_bits(4, lambda bits: int(np.trace(bits.reshape(2, 2)))),
    "a trace by its method": of_bits(4, lambda bits: int(bits.reshape(2, 2).trace())),
    "a partition": of_bits(3, lambda bits: np.partition(bits, 1).tolist()),
    "places of a partition": of_bits(3, lambda bits: [int(np.sort(bits[bits.argpartition(1)])[1])]),
    "a place in order": of_bits(2, lambda bits: int(np.searchsorted(bits[:1], 1))),
    "a place by its method": of_bits(2, lambda bits: int(bits[:1].searchsorted(1))),
    "a comparison": of_bits(2, lambda bits: repr((bits > 0)[0])),
    "beside a large integer": of_bits(1, lambda bits: float(np.append(bits, 2**63 - 1).max())),
    "joined to a larger integer": of_bits(1, lambda bits: repr(np.array([int(bits[0]), 2**64]))),
    "of floats": of_bits(1, lambda bits: repr(bits.astype(float)[0])),
}
