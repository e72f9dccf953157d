"""Outcomes whose numbers are independent, such as a vector of noisy counts: a law for each number, not one for all.

Where one path has almost all of the probability, and a function returns numbers of different uniforms on it, each
number is independent of the others. A number whose law is equal on both inputs cancels. The laws of the others are
followed one by one.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from subnormal.audit.laws.cells import Place, is_row, numbers_of
from subnormal.audit.laws.draws.sources import Source
from subnormal.audit.laws.followed import FollowedLaw, Walk, lazy_outcome, walks_of
from subnormal.audit.laws.lazy import Lazy, is_lazy
from subnormal.audit.laws.path import Box
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.core.product_law import Product

REST = 2.0**-50  # of one number, that need not be followed
RARE = 2.0**-30  # probability of all paths but the likeliest one, at most
FIRST = 1 / 3  # of the time, for the first path of an input


@dataclass(frozen=True, slots=True)
class Numbers:
    """What an outcome has at some places: its values, with their places."""

    places: Sequence[Place]

    def __call__(self, outcome: Any) -> Any:
        """Return the values of an outcome."""
        return tuple((place, _at(outcome, place)) for place in self.places)

    def of(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a function whose outcomes are the values."""
        return lambda data: self(lazy_outcome(function(data)))

    def between(self, outcomes: Sequence[Any]) -> None:
        """Return None: no interval of one number tells these outcomes."""


@dataclass(frozen=True, slots=True)
class _Independent:
    """The random numbers of an outcome by their places, the boxes in which they are independent, what else the outcome
    is, and a bound on the probability that a uniform is not in its box, or stands for no number of its law."""

    numbers: Mapping[Place, Lazy]
    boxes: Sequence[Box]
    others: Hashable
    rare: Fraction


def laws_of_numbers(
    source: Source, function: Callable[[Any], Any], inputs: Sequence[Any], seconds: float
) -> tuple[Numbers, list[FollowedLaw]] | None:
    """Return the places of the numbers whose laws differ between inputs, and the laws of these numbers together; None
    where the numbers are not known to be independent, or have too many values together.

    source: where the function draws from while this lasts. Raises NotFollowedError as `law` does.
    """
    started = time.monotonic()
    with walks_of(function, inputs, REST, floats=True, most=1) as walks:
        for walk in walks:
            walk.follow(source, FIRST * seconds)
        found = [one for one in map(_independent, walks) if one is not None]
    if len(found) < len(inputs) or len({one.others for one in found}) > 1:
        return None
    keys = [{place: _same(number, one.boxes) for place, number in one.numbers.items()} for one in found]
    places = sorted(place for place in keys[0] if len({own[place] for own in keys}) > 1)
    laws: dict[Hashable, FollowedLaw] = {}
    worlds = list(zip(inputs, keys, found, strict=True))
    wanted = {own[place]: (data, place, one) for data, own, one in worlds for place in places}
    for key, (data, place, one) in wanted.items():
        left = (started + seconds - time.monotonic()) / (len(wanted) - len(laws))
        laws[key] = _law(source, function, data, place, one.boxes, left)
    paths = sum(law.paths for law in laws.values())
    try:
        together = [
            _with_rare(Product({place: laws[own[place]].law for place in places}).on(places), one.rare, len(places))
            for _, own, one in worlds
        ]
    except NoLawError:
        return None
    return Numbers(places), [FollowedLaw(law, paths, not law.rest, time.monotonic() - started) for law in together]


def _independent(walk: Walk) -> _Independent | None:
    """Return several numbers of different uniforms, on a path that has almost all of the probability; else None."""
    if not walk.ends or walk.ends[0].path.constraints:
        return None
    (end, *_), path = walk.ends, walk.ends[0].path
    boxes, rare = path.boxes[: len(path.sizes)], 1 - path.mass() + path.slack
    if rare > RARE or any(boxes[at] != (0, path.sizes[at]) for at in path.near):
        return None
    numbers = {place: one for place, one in numbers_of(end.outcome) if is_lazy(one)}
    uniforms = [at for one in numbers.values() for at in one.signs]
    if len(numbers) < 2 or len(uniforms) > len(set(uniforms)):
        return None
    return _Independent(numbers, boxes, _without(end.outcome), rare)


def _with_rare(law: Law[Any], rare: Fraction, count: int) -> Law[Any]:
    """Return the law of independent numbers together, from the product of so many laws.

    Each is the law of P(number = v, all uniforms in their boxes) = p / c, if p is the probability of v and of its
    own boxes, and c that of all boxes of other numbers. So a product has the factor c more than once, and what
    happens outside of the boxes may be any outcome.
    """
    if not rare:
        return law
    bits = (rare.denominator // rare.numerator).bit_length() - 1  # rare ≤ 2^−bits
    low = [one - (one >> bits) - 1 if one else 0 for one in map(int, law.low)]
    added, left = (law.denominator >> bits) + 2, law.denominator - sum(low)
    high = [
        min(one + (2 * count * one >> bits) + added, least + left)
        for one, least in zip(map(int, law.high), low, strict=True)
    ]
    return Law(law.atoms, law.ends, low, high, law.denominator, min(Fraction(1), law.rest + rare))


def _without(value: Any) -> Hashable:
    """Return what is equal for outcomes that differ in random numbers alone."""
    if is_row(value):
        return type(value), tuple(map(_without, value))
    return Lazy if is_lazy(value) else identity(value)


def _same(number: Lazy, boxes: Sequence[Box]) -> Hashable:
    """Return a key that is equal for numbers with equal laws in these boxes."""
    return number.key, number.kind, tuple(boxes[at] for at in number.signs)


def _law(
    source: Source, function: Callable[[Any], Any], data: Any, place: Place, boxes: Sequence[Box], seconds: float
) -> FollowedLaw:
    """Return the law of one number of an outcome, where all uniforms are in their boxes. What else happens is not
    followed."""

    def one(given: Any) -> Any:
        number = _at(lazy_outcome(function(given)), place)
        if is_lazy(number):
            near = number.path.near  # that of others is in `rare`
            number.path.near = {at: apart for at, apart in near.items() if at in number.signs}
        return number

    with walks_of(one, [data], REST) as (walk,):
        walk.finish(source, seconds)
        return walk.law(boxes)


def _at(outcome: Any, place: Place) -> Any:
    return functools.reduce(operator.getitem, place, outcome)
