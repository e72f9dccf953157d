"""Certificates of followed functions: boxes of random numbers with their outcomes, for `audit/function_certificate.py`.

A path without constraints is one box. Where its constraints relate pairs of uniforms that form a forest, one uniform of
each tree is cut into strips, and each strip leaves ranges of the others in which the constraints surely hold: boxes
inside of the path's region, which leave O(1/strips) of it. Other paths have no boxes. What boxes leave may be any
outcome. So a claim with δ = 0 that HOLDS has a certificate only where all paths are boxes. Of a float that one input
alone leads to, there is one if all paths of the other input draw one uniform that matters, or end without a float.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

from subnormal.audit.certificate_checker import NotProvedError
from subnormal.audit.function_certificate import Box as Written
from subnormal.audit.function_certificate import decided, name_of, share
from subnormal.audit.laws.draws.sources import Source, replaced
from subnormal.audit.laws.floats import REST, one_world_only
from subnormal.audit.laws.followed import End, follow
from subnormal.audit.laws.forest import needed, parts
from subnormal.audit.laws.lazy import is_lazy
from subnormal.audit.laws.path import Box, Constraint, NotFollowedError, Path, StoppedError
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Claim, require_positive

STRIPS = (16, 64, 256, 1024)  # of a path with constraints, one after the other until the claim is decided
FEWEST, MOST = 16, 1 << 13  # boxes of a world
PRECISION = 128  # bits of e^ε
ROUNDED = 1e-9  # more than the roundings of sums of shares

Function = Callable[[Any], Any]


class NoCertificateError(Exception):
    """The boxes that were found do not decide the claim."""


def certificate(
    name: str, function: Function, data_in: Any, data_out: Any, claim: Claim, *, seconds: float, rest: float = 2.0**-40
) -> dict[str, Any]:
    """Return the certificate, in the form of JSON, of what a function's boxes prove of a claim on two inputs.

    name: of the function, as module:function. The inputs are values of JSON. seconds, rest: as for `decide`. Raises
    NotFollowedError as `law` does, and NoCertificateError where boxes do not decide the claim.
    """
    require_positive("seconds", seconds)
    started, pair = time.monotonic(), (data_in, data_out)
    followed = [follow(function, data, seconds / 2, rest, loops=False)[0] for data in pair]
    for strips in STRIPS:
        worlds = [_boxes_of(function, data, ends, strips) for data, ends in zip(pair, followed, strict=True)]
        found = _decided(name, pair, claim, worlds)
        if found is not None:
            return found
        if time.monotonic() > started + seconds or not any(end.path.constraints for ends in followed for end in ends):
            break
    raise NoCertificateError("the boxes of random numbers that were found do not decide the claim")


def of_float(
    name: str, function: Function, data_in: Any, data_out: Any, claim: Claim, *, seconds: float
) -> dict[str, Any]:
    """Return the certificate of a float that a function returns on one of two inputs alone, or hardly on the other one.

    Raises NoCertificateError as `certificate` does.
    """
    found = one_world_only(function, data_in, data_out, seconds=seconds / 2)
    if found is None:
        raise NoCertificateError("no float was found that one input alone leads to")
    if found.place:
        raise NoCertificateError("no certificate: boxes show an outcome that is a float, not a float in a part of one")
    pair = (data_in, data_out)[:: -1 if found.world else 1]
    one, other = (follow(function, data, seconds / 4, REST, floats=True)[0] for data in pair)
    event = name_of(found.outcome)
    sizes = next(end.path.sizes for end in one if _leads(end.path, found.numbers))
    first = [(event, [(size, k, k + 1) for size, k in zip(sizes, found.numbers, strict=True)])]
    second = [box for end in other for box in _beside(function, pair[1], end, found.outcome)]
    form = _form(name, pair, claim, "VIOLATED", [event], first, second)
    try:
        decided(form)
    except NotProvedError as error:
        raise NoCertificateError(str(error)) from None
    return form


def _leads(path: Path, numbers: tuple[int, ...]) -> bool:
    return len(path.sizes) == len(numbers) and all(
        low <= k < high for k, (low, high) in zip(numbers, path.boxes, strict=False)
    )


def _form(
    name: str,
    pair: Sequence[Any],
    claim: Claim,
    verdict: str,
    event: list[str],
    first: list[Written],
    second: list[Written],
) -> dict[str, Any]:
    def written(boxes: list[Written]) -> list[Any]:
        return [{"outcome": outcome, "draws": [list(map(hex, draw)) for draw in draws]} for outcome, draws in boxes]

    return {
        "function": name,
        "worlds": dict(zip(("first", "second"), map(json.dumps, pair), strict=True)),
        "claim": {"epsilon": str(Fraction(claim.epsilon)), "delta": str(Fraction(claim.delta))},
        "verdict": verdict,
        "event": event,
        "first": written(first),
        "second": written(second),
    }


def _decided(name: str, pair: Sequence[Any], claim: Claim, worlds: list[list[Written]]) -> dict[str, Any] | None:
    """Return the certificate with as few of the likeliest boxes as decide the claim; None where all do not."""
    _, factor = exp_bounds(Fraction(claim.epsilon), PRECISION)
    own, neighbour = worlds
    tried = [("HOLDS", pair, list[str](), own, neighbour)]
    for inputs, first, second in ((pair, own, neighbour), (pair[::-1], neighbour, own)):
        shares, others = _shares(first), _shares(second)
        event = [outcome for outcome, mass in shares.items() if mass > factor * others[outcome]]
        inside = [box for box in first if box[0] in event]
        tried.append(("VIOLATED", inputs, event, inside, [box for box in second if box[0] not in event]))
    largest = max(map(len, worlds))
    for count in (FEWEST << i for i in range(1 + (largest // FEWEST).bit_length())):
        for verdict, inputs, event, first, second in tried:
            if _may_decide(verdict, claim, first[:count], second[:count]):
                form = _form(name, inputs, claim, verdict, event, first[:count], second[:count])
                with suppress(NotProvedError):
                    decided(form)
                    return form
    return None


def _shares(boxes: list[Written]) -> defaultdict[str, Fraction]:
    """Return the probability of each outcome in boxes that are disjoint."""
    found = defaultdict[str, Fraction](Fraction)
    for outcome, draws in boxes:
        found[outcome] += share(draws)
    return found


def _may_decide(verdict: str, claim: Claim, first: list[Written], second: list[Written]) -> bool:
    """Return whether boxes may decide a claim, as far as floats tell: those of an event, and those beside it."""
    one, other = (sum(float(share(draws)) for _, draws in boxes) for boxes in (first, second))
    if verdict == "HOLDS":
        return 1 - min(one, other) <= claim.delta + ROUNDED
    return one + ROUNDED > math.exp(min(700.0, claim.epsilon)) * (1 - other - ROUNDED) + claim.delta


def _boxes_of(function: Function, data: Any, ends: list[End], strips: int) -> list[Written]:
    """Return boxes of all paths with the texts of their outcomes, the likeliest first."""
    found = list[Written]()
    with replaced(function) as source:
        for end in ends:
            boxes = list(_inside(end.path, strips))
            if boxes:
                outcome = name_of(_returned(source, function, data, boxes[0]))
                found += [(outcome, draws) for draws in boxes]
    return sorted(found, key=lambda box: -share(box[1]))[:MOST]


def _returned(source: Source, function: Function, data: Any, draws: list[tuple[int, int, int]]) -> Any:
    """Return what the function returns, or raises, for the numbers at the low ends of a box."""
    source.path, source.numbers = Path(), iter([(low, size) for size, low, _ in draws])
    try:
        return function(copy.deepcopy(data))
    except StoppedError:
        raise NotFollowedError(source.path.failed or "not followed: plain numbers lead elsewhere") from None
    except (Exception, SystemExit) as error:
        return error


def _inside(path: Path, strips: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield disjoint boxes inside of a path's region, about as many as strips. None where they are not known."""
    if path.near:
        raise NotFollowedError("numbers of numpy's ziggurats are followed up to 2^-40")
    trees = parts(needed(path.constraints))
    if not all(map(_is_tree, trees)):
        return
    forest = [_Tree(path.boxes, part) for part in trees]
    count = round(strips ** (1 / max(1, sum(tree.inner for tree in forest))))
    for chosen in itertools.product(*(tree.boxes(max(2, count)) for tree in forest)):
        ranges = dict(enumerate(path.boxes))
        for one in chosen:
            ranges |= one
        yield [(size, *ranges[at]) for at, size in enumerate(path.sizes)]


def _is_tree(part: list[Constraint]) -> bool:
    pairs, uniforms = {frozenset(one.rising) for one in part}, {at for one in part for at in one.rising}
    return all(len(pair) == 2 for pair in pairs) and len(pairs) == len(uniforms) - 1


class _Tree:
    """Constraints of pairs of uniforms that form a tree."""

    def __init__(self, boxes: list[Box], part: list[Constraint]) -> None:
        self.ranges, self.beside = boxes, dict[int, dict[int, list[Constraint]]]()
        for one in part:
            for at, other in itertools.permutations(one.rising):
                self.beside.setdefault(at, {}).setdefault(other, []).append(one)
        self.root = max(self.beside, key=lambda at: len(self.beside[at]))
        self.inner = sum(at == self.root or len(others) > 1 for at, others in self.beside.items())

    def boxes(self, count: int) -> list[dict[int, Box]]:
        """Return boxes in which the constraints hold; each uniform that is no leaf is cut into so many strips."""
        return self._below(self.root, None, self.ranges[self.root], count)

    def _below(self, at: int, parent: int | None, box: Box, count: int) -> list[dict[int, Box]]:
        children = [child for child in self.beside[at] if child != parent]
        if not children:
            return [{at: box}]
        found, (low, high) = list[dict[int, Box]](), box
        count = min(count, high - low)
        cuts = [low + (high - low) * i // count for i in range(count + 1)]
        for strip in itertools.pairwise(cuts):
            kept = [self._kept(at, strip, child) for child in children]
            if all(first < end for first, end in kept):
                below = (self._below(child, at, left, count) for child, left in zip(children, kept, strict=True))
                for chosen in itertools.product(*below):
                    merged: dict[int, Box] = {at: strip}
                    for one in chosen:
                        merged |= one
                    found.append(merged)
        return found

    def _kept(self, at: int, strip: Box, child: int) -> Box:
        """Return the range of a child in which the constraints hold with all of a strip."""
        low, end = self.ranges[child]
        for one in self.beside[at][child]:
            changes = partial(_is_above, one, at, strip[0] if one.rising[at] else strip[1] - 1, child)
            change = low + bisect_left(range(low, max(low, end)), True, key=changes)
            low, end = (change, end) if one.rising[child] else (low, change)
        return low, end


def _is_above(one: Constraint, at: int, number: int, child: int, k: int) -> bool:
    """Return whether k is beyond the place along the child where a constraint changes, for a number of a uniform."""
    return bool(one.test({at: number, child: k})) == one.rising[child]


def _beside(function: Function, data: Any, end: End, outcome: float) -> list[Written]:
    """Return the boxes of a path, whose outcomes are others than a float: the path's own, or one on each side."""
    path, lazy = end.path, end.outcome
    draws = [(size, *box) for size, box in zip(path.sizes, path.boxes, strict=False)]
    if path.constraints or (is_lazy(lazy) and len(lazy.signs) != 1):
        raise NoCertificateError(
            "no certificate: a float of several random numbers has no boxes that show where it is not"
        )
    if not is_lazy(lazy):
        with replaced(function) as source:
            return [(name_of(_returned(source, function, data, draws)), draws)]
    ((at, sign),) = lazy.signs.items()
    low, high = path.boxes[at]
    cut = low + bisect_left(range(low, high), True, key=lambda k: (lazy.f({at: k}) >= outcome) == (sign > 0))
    sides = ("<", ">") if sign > 0 else (">", "<")
    found = [(f"{sides[0]} {outcome!r}", (low, cut)), (f"{sides[1]} {outcome!r}", (cut, high))]
    return [(text, [*draws[:at], (draws[at][0], *box), *draws[at + 1 :]]) for text, box in found if box[0] < box[1]]
