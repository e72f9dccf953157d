"""Bounds on the probability that constraints of a path hold, given its boxes.

Where each constraint relates two uniforms, and these pairs form a forest, the uniforms are eliminated one after the
other. Each is cut into m strips. A strip of one uniform and a constraint leave, of the other one, strips where it
surely holds and strips where it may hold: two ranges, because the constraint is monotone. Sums over ranges are
differences of prefix sums. The bounds lie O(1/m) apart. Where constraints form a circle, or relate more uniforms, boxes
are halved until the constraints are decided in them, or there are too many.

Prefix sums are integers, over 2^44. Products are floats, and each is moved by `ROUNDED`, which is more than the
roundings that made it: all bounds are certified.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.laws.path import Box, Constraint, follows
from subnormal.audit.laws.points import Points, Strips

BITS = 44  # of the probability of a strip: 2^17 strips of them are added in 62 bits
ROUNDED = 2.0**-49  # the roundings of a product of three factors are below 2^−50 of it
BOXES = 1 << 13  # that are halved at most
CHANGES = 128  # of constraints along strips, that are kept; a new one makes the oldest go
LARGEST = 1 << 62  # numbers of a uniform that fit numpy's integers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bounds = tuple[Fraction, Fraction]


def bounds(boxes: list[Box], constraints: list[Constraint], strips: int) -> Bounds:
    """Return bounds on the probability that the constraints hold, for uniforms on the boxes."""
    low = high = Fraction(1)
    for part in _parts(_needed(constraints)):
        uniforms = {at for one in part for at in one.rising}
        if any(boxes[at][1] > LARGEST for at in uniforms):
            found = Fraction(0), Fraction(1)
        elif _is_tree(part, uniforms):
            found = _Tree(boxes, part, strips).bounds()
        else:
            found = _by_boxes(boxes, part, sorted(uniforms))
        low, high = low * found[0], high * found[1]
    return low, high


def _needed(constraints: list[Constraint]) -> list[Constraint]:
    """Return the constraints that do not follow from the others."""
    left = constraints.copy()
    for one in constraints:
        others = [other for other in left if other is not one]
        if one.order is not None and follows(one.order, others):
            left = others
    return left


def _parts(constraints: list[Constraint]) -> list[list[Constraint]]:
    """Return the constraints in parts that have no uniform in common."""
    parts: list[tuple[set[int], list[Constraint]]] = []
    for one in constraints:
        uniforms, joined = set(one.rising), [one]
        apart = []
        for others, part in parts:
            if others & uniforms:
                uniforms, joined = uniforms | others, part + joined
            else:
                apart.append((others, part))
        parts = [*apart, (uniforms, joined)]
    return [part for _, part in parts]


def _is_tree(part: list[Constraint], uniforms: set[int]) -> bool:
    pairs = {frozenset(one.rising) for one in part}
    return all(len(pair) == 2 for pair in pairs) and len(pairs) == len(uniforms) - 1


class _Tree:
    """Constraints of pairs of uniforms that form a tree."""

    def __init__(self, boxes: list[Box], part: list[Constraint], strips: int) -> None:
        self.between: dict[tuple[int, int], list[Constraint]] = {}
        for one in part:
            first, second = one.rising
            self.between.setdefault((min(first, second), max(first, second)), []).append(one)
        uniforms = {at for pair in self.between for at in pair}
        self.strips = {at: Strips(*boxes[at], min(strips, boxes[at][1] - boxes[at][0])) for at in uniforms}
        degree = {at: sum(at in pair for pair in self.between) for at in uniforms}
        self.root = max(uniforms, key=lambda at: (degree[at], -at))

    def bounds(self) -> Bounds:
        least, most, root = *self._message(self.root, None), self.strips[self.root]
        (narrow, wide), size = root.widths, root.high - root.low
        low, high = int(_scaled_down(least).sum()) * narrow, int(_scaled_up(most).sum()) * wide
        return Fraction(low, size << BITS), min(Fraction(1), Fraction(high, size << BITS))

    def _message(self, at: int, parent: int | None) -> tuple[Floats, Floats]:
        """Return bounds on the probability that the constraints beyond a uniform hold, for each of its strips."""
        count = self.strips[at].count
        low, high = np.ones(count), np.ones(count)
        for pair in self.between:
            child = pair[1] if pair[0] == at else pair[0] if pair[1] == at else None
            if child is None or child == parent:
                continue
            strips = self.strips[child]
            size = strips.high - strips.low
            narrow, wide = strips.widths
            least, most = self._message(child, at)
            sure, possible = (self._ranges(at, child, self.between[pair], worst=worst) for worst in (True, False))
            low *= _in_ranges(_scaled_down(least), *sure) * (narrow / size / 2.0**BITS) * (1 - ROUNDED)
            high *= _in_ranges(_scaled_up(most), *possible) * (wide / size / 2.0**BITS) * (1 + ROUNDED)
        return low, np.minimum(high, 1.0)

    def _ranges(
        self, at: int, child: int, constraints: Iterable[Constraint], *, worst: bool
    ) -> tuple[Integers, Integers]:
        """Return the strips [first, end) of the child that keep the constraints with each strip of a uniform: surely,
        at the worst ends of both, or possibly, at the best ones."""
        count, others = self.strips[at].count, self.strips[child].count
        first, end = np.zeros(count, dtype=np.int64), np.full(count, others, dtype=np.int64)
        for one in constraints:
            at_low, child_low = one.rising[at] == worst, one.rising[child] == worst
            key = _same(one, at, self.strips[at], self.strips[child], at_low, child_low)
            change: Any = _changes.get(key)
            if change is None:
                mine = np.arange(count) + (0 if at_low else count)
                change = self._change(one, at, mine, child, 0 if child_low else others)
                if key is not None:
                    _keep(key, change)
            if one.rising[child]:
                np.maximum(first, change, out=first)
            else:
                np.minimum(end, change, out=end)
        return first, end

    def _change(self, one: Constraint, at: int, mine: Integers, child: int, offset: int) -> Integers:
        """Return the first strip of the child where the constraint changes, by bisection for all strips at once."""
        others, rises = self.strips[child].count, one.rising[child]
        left, right = np.zeros(len(mine), dtype=np.int64), np.full(len(mine), others, dtype=np.int64)
        strips = {at: self.strips[at], child: self.strips[child]}
        for _ in range(others.bit_length()):
            middle = np.minimum((left + right) // 2, others - 1)
            holds = np.asarray(one.test(Points(strips, {at: mine, child: middle + offset})), dtype=np.bool_)
            active, changed = left < right, holds == rises
            right = np.where(active & changed, middle, right)
            left = np.where(active & ~changed, middle + 1, left)
        return left


_changes: dict[Hashable, NDArray[np.int32]] = {}


def _same(one: Constraint, at: int, *others: Hashable) -> Hashable:
    """Return a key that is equal for constraints which change at the same places of two uniforms with equal strips, as
    a < b and b ≤ a do; None where a constraint does not tell."""
    order: Any = one.order
    if order is None:
        return one.name and (one.name, at, others)
    (left, left_key), (right, right_key) = order[:2] if order[2] else order[1::-1]
    return (left == (at,), left_key, right_key, others) if len(left) == len(right) == 1 else None


def _keep(key: Hashable, change: Integers) -> None:
    if len(_changes) >= CHANGES:
        _changes.pop(next(iter(_changes)))
    _changes[key] = change.astype(np.int32)


def _scaled_down(values: Floats) -> Integers:
    scaled: Integers = np.floor(values * 2.0**BITS).astype(np.int64)
    return scaled


def _scaled_up(values: Floats) -> Integers:
    scaled: Integers = np.ceil(values * 2.0**BITS).astype(np.int64)
    return scaled


def _in_ranges(values: Integers, first: Integers, end: Integers) -> Floats:
    sums = np.concatenate([[0], np.cumsum(values)])
    inside: Floats = np.where(end > first, sums[np.maximum(end, first)] - sums[first], 0).astype(np.float64)
    return inside


def _by_boxes(boxes: list[Box], part: list[Constraint], uniforms: list[int]) -> Bounds:
    """Return bounds from boxes that are halved in each uniform in turn."""
    size = {at: boxes[at][1] - boxes[at][0] for at in uniforms}
    low = {at: np.array([boxes[at][0]], dtype=np.int64) for at in uniforms}
    high = {at: np.array([boxes[at][1]], dtype=np.int64) for at in uniforms}
    sure = open_mass = 0.0
    for turn in range(64 * len(uniforms)):
        surely, possibly = (_hold(part, low, high, worst=worst) for worst in (True, False))
        masses = np.prod([(high[at] - low[at]) / size[at] for at in uniforms], axis=0)
        sure += float(masses[surely].sum())
        left = possibly & ~surely
        open_mass = float(masses[left].sum())
        low, high = ({at: ends[at][left] for at in uniforms} for ends in (low, high))
        if not left.any() or left.sum() > BOXES:
            break
        at = uniforms[turn % len(uniforms)]
        low, high = _halved(low, high, at)
    slack = 1e-9  # more than the roundings of 2^20 sums and products of floats below 1
    return max(Fraction(0), Fraction(sure * (1 - slack))), min(Fraction(1), Fraction((sure + open_mass) * (1 + slack)))


def _halved(low: dict[int, Any], high: dict[int, Any], at: int) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return both halves of each box along one uniform; of a box with one number, that box alone."""
    middle = (low[at] + high[at]) // 2
    upper = middle > low[at]
    lows = {one: np.concatenate([low[one], (middle if one == at else low[one])[upper]]) for one in low}
    ends = np.where(upper, middle, high[at])
    highs = {one: np.concatenate([ends if one == at else high[one], high[one][upper]]) for one in high}
    return lows, highs


def _hold(part: list[Constraint], low: dict[int, Any], high: dict[int, Any], *, worst: bool) -> NDArray[np.bool_]:
    """Return for each box whether all constraints hold at its worst corner, or at its best one."""
    held = np.ones(len(next(iter(low.values()))), dtype=np.bool_)
    for one in part:
        corner = {at: low[at] if rises == worst else high[at] - 1 for at, rises in one.rising.items()}
        held &= np.asarray(one.test(corner), dtype=np.bool_)
    return held
