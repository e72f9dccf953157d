"""Bounds on the probability that constraints of a path hold, given its boxes.

Where each constraint relates two uniforms, and these pairs form a forest, the uniforms are eliminated one after the
other. Each is cut into m strips. A strip of one uniform and a constraint leave, of the other one, strips where it
surely holds and strips where it may hold: two ranges, because the constraint is monotone. Sums over ranges are
differences of prefix sums. The bounds lie O(1/m) apart. Where constraints form a circle, or relate more uniforms, boxes
are halved until the constraints are decided in them, or there are too many.

A number that is made of several uniforms, such as a difference of two exponentials, takes the place of one of them
where its uniforms occur in no other way (`sums`). Where one of two numbers occurs in another constraint, too, as a
threshold does, a constraint on their difference relates these two.

Prefix sums are integers, over 2^44. Products are floats, and each is moved by `ROUNDED`, which is more than the
roundings that made it: all bounds are certified.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.laws.path import Box, Constraint, follows
from subnormal.audit.laws.points import ROUNDED, Points, Strips, keep
from subnormal.audit.laws.sums import Table, steps, table

BOXES = 1 << 13  # that are halved at most
CHANGES, MESSAGES = 128, 32  # of constraints along strips, and of numbers, that are kept; a new one makes the oldest go
LARGEST = 1 << 62  # numbers of a uniform that fit numpy's integers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bounds = tuple[Fraction, Fraction]


@np.errstate(all="ignore")
def bounds(boxes: list[Box], constraints: list[Constraint], strips: int) -> Bounds:
    """Return bounds on the probability that the constraints hold, for uniforms on the boxes."""
    low = high = Fraction(1)
    for part in parts(needed(constraints)):
        uniforms = {at for one in part for at in one.rising}
        if any(boxes[at][1] > LARGEST for at in uniforms):
            found = Fraction(0), Fraction(1)
        else:
            is_few = math.prod(boxes[at][1] - boxes[at][0] for at in uniforms) <= BOXES  # which boxes tell apart
            apart = part if is_few else _apart(part)
            nodes = _nodes(boxes, apart, strips)
            found = _by_boxes(boxes, part, sorted(uniforms)) if nodes is None else _Tree(nodes, apart).bounds()
        low, high = low * found[0], high * found[1]
    return low, high


def needed(constraints: list[Constraint]) -> list[Constraint]:
    """Return the constraints that do not follow from the others."""
    left = constraints.copy()
    for one in constraints:
        others = [other for other in left if other is not one]
        if one.order is not None and follows(one.order, others):
            left = others
    return left


def parts(constraints: list[Constraint]) -> list[list[Constraint]]:
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


@dataclass(frozen=True, slots=True)
class Sum:
    """Strips of a number that is made of several uniforms. key: equal for equal strips of equal numbers."""

    key: Hashable
    table: Table = field(compare=False)

    @property
    def count(self) -> int:
        """How many strips there are."""
        return len(self.table.near)

    def ends(self) -> NDArray[Any]:
        """Return the least value of each strip and then the largest one of each, shape (2 · count,)."""
        return np.concatenate([self.table.near, self.table.far])

    def total(self, weights: Floats, first: Integers, end: Integers, *, least: bool) -> Floats:
        """Return a bound on the sum of weight · probability over the strips [first, end), for each of many ranges."""
        return self.table.total(weights, first, end, least=least)


Node = tuple[int, ...]  # the uniforms of a number


def _apart(part: list[Constraint]) -> list[Constraint]:
    """Return the constraints with each one on an operation of two numbers as one between these, where another
    constraint is on one of them."""
    while any(len(one.sides) == 1 < len(one.rising) for one in part):
        nodes = {frozenset(side.signs) for one in part for side in one.sides}
        made = [_between(one) if any(node < {*one.rising} for node in nodes) else one for one in part]
        if all(map(operator.is_, made, part)):
            break
        part = made
    return part


def _between(one: Constraint) -> Constraint:
    made = one.sides[0].base()[0].parts if len(one.sides) == 1 else None
    return one if made is None else replace(one, sides=(made[1], made[3]))


def _nodes(boxes: list[Box], part: list[Constraint], strips: int) -> dict[Node, Strips | Sum] | None:
    """Return the numbers that the constraints of a part relate, with their strips; None where they form no tree."""
    numbers: dict[Node, Any] = {tuple(side.signs): side.base()[0] for one in part for side in one.sides}
    made_of: dict[Node, dict[Hashable, Any]] = {node: {} for node in numbers}
    for one in part:
        for side in one.sides:
            node = tuple(side.signs)
            made_of[node][side.key] = side
            if len(node) > 1 and side.base()[0].name != numbers[node].name:
                return None
        if len(one.sides) > 1 and len(one.rising) > 1 and len({tuple(side.signs) for side in one.sides}) == 1:
            return None  # g(x) < h(x) changes inside of a strip
    pairs = {frozenset(tuple(side.signs) for side in one.sides) for one in part}
    is_tree = sum(len(pair) == 2 for pair in pairs) == len(numbers) - 1
    if not is_tree or sum(map(len, numbers)) > len({at for node in numbers for at in node}):
        return None
    found: dict[Node, Strips | Sum] = {}
    for node, number in numbers.items():
        if len(node) == 1:
            found[node] = _strips(boxes[node[0]], [*made_of[node].values()], strips)
            continue
        own = [boxes[at] for at in node]
        cuts = tuple(sorted({one.cut for one in part if one.cut is not None and tuple(one.sides[0].signs) == node}))
        count, finer = (strips, 1) if len(numbers) > 1 else (1, strips)
        made = table(number, own, count, cuts, finer)
        if made is None:
            return None
        found[node] = Sum((number.key, tuple(own), count, cuts), made)
    return found


def _strips(box: Box, made: list[Any], strips: int) -> Strips | Sum:
    """Return the strips of a uniform: the steps of the number that is made of it, where that is one integer with few
    values."""
    if len(made) == 1 and (known := steps(made[0], box)) is not None:
        return Sum((made[0].key, box), known)
    return Strips(*box, min(strips, box[1] - box[0]))


class _Tree:
    """Constraints of pairs of numbers that form a tree, and of single ones."""

    def __init__(self, nodes: dict[Node, Strips | Sum], part: list[Constraint]) -> None:
        self.strips = nodes
        self.between: dict[tuple[Node, Node], list[Constraint]] = {}
        self.alone: dict[Node, list[Constraint]] = {}
        for one in part:
            ends = sorted({tuple(side.signs) for side in one.sides})
            if len(ends) == 1:
                self.alone.setdefault(ends[0], []).append(one)
            else:
                self.between.setdefault((ends[0], ends[1]), []).append(one)
        degree = {node: sum(node in pair for pair in self.between) for node in nodes}
        self.root = max(nodes, key=lambda node: (degree[node], [-at for at in node]))

    def bounds(self) -> Bounds:
        root, every = self.strips[self.root], (np.array([0]), np.array([self.strips[self.root].count]))
        low, high = (
            float(root.total(weights, *every, least=least)[0])
            for weights, least in zip(self._message(self.root, None), (True, False), strict=True)
        )
        return Fraction(low), min(Fraction(1), Fraction(high))

    def _message(self, at: Node, parent: Node | None) -> tuple[Floats, Floats]:
        """Return bounds on the probability that the constraints beyond a number hold, for each of its strips."""
        low, high = self._alone(at), self._alone(at)
        for pair, constraints in self.between.items():
            child = pair[1] if pair[0] == at else pair[0] if pair[1] == at else None
            if child is None or child == parent:
                continue
            key = self._key(at, child, constraints)
            found = _messages.get(key)
            if found is None:
                least, most = self._message(child, at)
                sure, possible = (self._ranges(at, child, constraints, worst=worst) for worst in (True, False))
                found = (
                    self.strips[child].total(least, *sure, least=True) * (1 - ROUNDED),
                    self.strips[child].total(most, *possible, least=False) * (1 + ROUNDED),
                )
                if key is not None:
                    keep(_messages, MESSAGES, key, found)
            low *= found[0]
            high *= found[1]
        return low, np.minimum(high, 1.0)

    def _key(self, at: Node, child: Node, constraints: Iterable[Constraint]) -> Hashable:
        """Return a key that is equal where a child adds the same; None where more depends on the child, or a constraint
        does not tell. The paths of a function often have the same few constraints on one number."""
        if child in self.alone or sum(child in pair for pair in self.between) > 1:
            return None
        strips = self.strips[at], self.strips[child]
        keys = [(_same(one, at, *strips), _rises(one, at), _rises(one, child)) for one in constraints]
        return None if any(same is None for same, *_ in keys) else tuple(keys)

    def _alone(self, at: Node) -> Floats:
        """Return for each strip of a number 1 where its own constraints hold: strips meet at the cuts of these."""
        count = self.strips[at].count
        held = np.ones(count, dtype=np.bool_)
        for one in self.alone.get(at, ()):
            held &= np.asarray(one.test(Points(self.strips, {at: np.arange(count)})), dtype=np.bool_)
        return held.astype(np.float64)

    def _ranges(
        self, at: Node, child: Node, constraints: Iterable[Constraint], *, worst: bool
    ) -> tuple[Integers, Integers]:
        """Return the strips [first, end) of the child that keep the constraints with each strip of a number: surely,
        at the worst ends of both, or possibly, at the best ones."""
        count, others = self.strips[at].count, self.strips[child].count
        first, end = np.zeros(count, dtype=np.int64), np.full(count, others, dtype=np.int64)
        for one in constraints:
            mine_rises, child_rises = (_rises(one, node) for node in (at, child))
            at_low, child_low = mine_rises == worst, child_rises == worst
            key = _same(one, at, self.strips[at], self.strips[child], at_low, child_low)
            change: Any = _changes.get(key)
            if change is None:
                mine = np.arange(count) + (0 if at_low else count)
                change = self._change(one, at, mine, child, child_rises, 0 if child_low else others)
                if key is not None:
                    keep(_changes, CHANGES, key, change.astype(np.int32))
            if child_rises:
                np.maximum(first, change, out=first)
            else:
                np.minimum(end, change, out=end)
        return first, end

    def _change(self, one: Constraint, at: Node, mine: Integers, child: Node, rises: bool, offset: int) -> Integers:
        """Return the first strip of the child where the constraint changes, by bisection for all strips at once."""
        others = self.strips[child].count
        left, right = np.zeros(len(mine), dtype=np.int64), np.full(len(mine), others, dtype=np.int64)
        strips = {at: self.strips[at], child: self.strips[child]}
        for _ in range(others.bit_length()):
            middle = np.minimum((left + right) // 2, others - 1)
            holds = np.asarray(one.test(Points(strips, {at: mine, child: middle + offset})), dtype=np.bool_)
            active, changed = left < right, holds == rises
            right = np.where(active & changed, middle, right)
            left = np.where(active & ~changed, middle + 1, left)
        return left


def _rises(one: Constraint, node: Node) -> bool:
    """Return whether a constraint rises with a number, whose strips are in the order of its values, or of a uniform."""
    rises = bool(one.rising[node[0]])
    if len(node) == 1:
        return rises
    side = next(side for side in one.sides if tuple(side.signs) == node)
    return bool(rises == (side.base()[0].signs[node[0]] > 0))


_changes: dict[Hashable, NDArray[np.int32]] = {}
_messages: dict[Hashable, tuple[Floats, Floats]] = {}


def _same(one: Constraint, at: Node, *others: Hashable) -> Hashable:
    """Return a key that is equal for constraints which change at the same places of two uniforms with equal strips, as
    a < b and b ≤ a do; None where a constraint does not tell."""
    order: Any = one.order
    if order is None:
        return one.name and (one.name, at, others)
    (left, left_key), (_, right_key) = order[:2] if order[2] else order[1::-1]
    return left == at, left_key, right_key, others


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
