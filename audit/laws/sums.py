"""The distribution of an operation on independent random numbers, such as a difference of two exponentials.

A `Table` cuts a lazy number into strips of its values, and bounds its distribution function where they meet. That of a
uniform is exact. Of an operation on two numbers, F(v) = Σ P(strip of the first) · P(the second is such that the result
is below v): the strips' ends that lead to the largest results bound it from below, the others from above, and the
bounds lie as far apart as a strip is likely. Sums of weights are taken by parts, so that their error is that of F
times the variation of the weights, and not one error for each strip. That variation is 1 in F, where there are up to
2^17 strips, and about the number of constraints in a tree, where there are some 2^10.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.laws.exponentials import difference_of
from subnormal.audit.laws.kinds import INTEGERS
from subnormal.audit.laws.path import Box
from subnormal.audit.laws.points import Points, Strips, keep

if TYPE_CHECKING:
    from subnormal.audit.laws.lazy import Lazy

ROUNDED = 2.0**-50  # n·s times this is more than the roundings of a sum of n floats whose sizes add up to s
FIRST, SECOND = 8, 64  # times as many strips of the two numbers as of the result
SUMS, FINEST = 1 << 10, 1 << 17  # strips of a result and of a uniform, at most
SAMPLED = 128  # numbers of each kind, whose results tell where the strips of a result are
VALUES = 1 << 10  # values of an integer that are told apart
WHOLE = 1 << 52  # integers below, and their sums, are floats
UNSURE = 2.0**-20  # of a share
CORRECTED = 64  # steps from a guess before it is given up
TABLES, EDGES, CHANCES = 64, 1 << 14, 1 << 10  # kept at a time

Array = NDArray[Any]
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A number in strips of its values, rising. near, far: the ends of each, shape (n,). low, high: bounds on the
    probability of the values before each strip, and of all, shape (n + 1,)."""

    near: Array
    far: Array
    low: Array
    high: Array

    def falling(self) -> Table:
        """Return the table of a function that falls with the number, before the function is applied."""
        return Table(self.far[::-1], self.near[::-1], 1.0 - self.high[::-1], 1.0 - self.low[::-1])

    def middle(self, low: Any, high: Any) -> float:
        """Return a value in the middle of the probability between two values, about."""
        values, before = self.points()
        return float(np.interp(sum(np.interp([float(low), float(high)], values, before)) / 2, before, values))

    def share(self, low: Any, cut: Any, high: Any) -> float:
        """Return about how likely values below a cut are among those from low to high."""
        least, middle, most = np.interp([float(low), float(cut), float(high)], *self.points()).tolist()
        share = float((middle - least + UNSURE) / (most - least + 2 * UNSURE))
        return share if 0.0 < share < 1.0 else 0.5  # of values so near 0 that no float is the slope between them

    def points(self) -> tuple[Array, Array]:
        """Return the ends of the strips, rising, and about the probability below each of them."""
        return np.append(self.near, self.far[-1]).astype(np.float64), (self.low + self.high) / 2

    def total(self, weights: Array, first: Array, end: Array, *, least: bool) -> Array:
        """Return a bound on the sum of weight · probability over the strips [first, end), for each of many ranges."""
        below, above = (self.low, self.high) if least else (self.high, self.low)
        change = weights[:-1] - weights[1:]
        parts = np.where(change > 0, change * below[1:-1], change * above[1:-1])
        sums = np.concatenate([[0.0], np.cumsum(parts)])
        inside, last = end > first, np.maximum(end, 1) - 1
        begin = np.minimum(first, len(weights) - 1)
        found = weights[last] * below[end] - weights[begin] * above[begin] + sums[last] - sums[np.minimum(begin, last)]
        slack = ROUNDED * (len(weights) + 4) * (float(np.abs(parts).sum()) + 2.0)
        return np.where(inside, np.clip(found + (-slack if least else slack), 0.0, 1.0), 0.0)


@functools.lru_cache(maxsize=CHANCES)
@np.errstate(all="ignore")
def below(first: Table, second: Table) -> float:
    """Return about how likely the first number is below the second one, as if they were independent."""
    values, before = first.points()
    above = 1.0 - np.interp(values[:-1] / 2 + values[1:] / 2, *second.points())
    share = (float(np.diff(before) @ above) + UNSURE) / (1.0 + 2 * UNSURE)
    return share if 0.0 < share < 1.0 else 0.5  # of values that have no middle


@np.errstate(all="ignore")
def table(lazy: Lazy, boxes: Sequence[Box], count: int, cuts: tuple[Any, ...] = (), finer: float = 1) -> Table | None:
    """Return the table of a lazy number with about so many strips, which meet at the cuts, too; None where an operation
    is not known, or has two numbers that depend on each other.

    boxes: of its uniforms, in their order. finer: how many times finer the numbers are cut from which it is made;
    less than 1 for rough bounds.
    """
    key = (lazy.key, tuple(boxes), count, cuts, finer)
    if key not in _tables:
        keep(_tables, TABLES, key, _table(lazy, boxes, count, cuts, finer))
    return _tables[key]


_tables: dict[Hashable, Table | None] = {}


def _table(lazy: Lazy, boxes: Sequence[Box], count: int, cuts: tuple[Any, ...], finer: float) -> Table | None:
    if len(lazy.signs) == 1:
        return _of_uniform(lazy, boxes[0], count)
    if lazy.parts is not None:
        return _of_operation(lazy, boxes, min(count, SUMS), cuts, finer)
    if lazy.inner is None:
        return None
    function, inner = lazy.inner
    known = table(inner, boxes, count, (), min(finer, 1))
    if known is None:
        return None
    at = next(iter(lazy.signs))
    known = known if lazy.signs[at] == inner.signs[at] else known.falling()
    return Table(function(known.near), function(known.far), known.low, known.high)


def _of_uniform(lazy: Lazy, box: Box, count: int) -> Table:
    ((at, sign),) = lazy.signs.items()
    size = box[1] - box[0]
    low, high = sorted(lazy.f({at: number}) for number in (box[0], box[1] - 1))
    if isinstance(low, int) and high - low < min(VALUES, size):
        return _of_integers(lazy, box, low, high)
    strips = Strips(*box, min(count, size))
    values = Points({(at,): strips}, None).values(lazy)
    ends = strips.ends()
    before = np.append((ends[: strips.count] - box[0]) / size, 1.0)
    found = Table(values[: strips.count], values[strips.count :], before, before)
    return found if sign > 0 else found.falling()


def _of_integers(lazy: Lazy, box: Box, low: int, high: int) -> Table:
    """Return the table of an integer number of one uniform: where each value begins is found by bisection."""
    values = np.array(range(low, high + 1), dtype=object)
    shares = _shares(_starts(lazy, box, low, high), box)
    before = np.concatenate([[0.0], shares if next(iter(lazy.signs.values())) > 0 else 1.0 - shares, [1.0]])
    return Table(values, values, before, before)


def _starts(lazy: Lazy, box: Box, low: int, high: int) -> Array:
    """Return for each value but the least the first number with at least that value, or with less where it falls."""
    ((at, sign),) = lazy.signs.items()
    values = np.array(range(low + 1, high + 1), dtype=object)
    left, right = (np.full(len(values), end, dtype=np.int64) for end in box)
    for _ in range((box[1] - box[0]).bit_length()):
        middle = (left + right) // 2
        reached = (np.asarray(lazy.f({at: middle})) >= values) == (sign > 0)
        active = left < right
        left, right = np.where(active & ~reached, middle + 1, left), np.where(active & reached, middle, right)
    return left


def _shares(numbers: Array, box: Box) -> Array:
    """Return the probability of the numbers below each one."""
    return np.array([(int(number) - box[0]) / (box[1] - box[0]) for number in numbers])


def steps(lazy: Lazy, box: Box) -> Table | None:
    """Return the table of a uniform whose strips are the steps of an integer number; None where it is none, or has many
    values."""
    key = (steps, lazy.key, box)
    if lazy.kind in INTEGERS and key not in _tables:
        keep(_tables, TABLES, key, _steps(lazy, box))
    return _tables.get(key)


def _steps(lazy: Lazy, box: Box) -> Table | None:
    (at,) = lazy.signs
    low, high = sorted(lazy.f({at: number}) for number in (box[0], box[1] - 1))
    if high - low >= min(VALUES, box[1] - box[0]):
        return None
    starts = np.unique(np.concatenate([[box[0]], _starts(lazy, box, low, high)]))
    before = np.append(_shares(starts, box), 1.0)
    return Table(starts, np.append(starts[1:], box[1]) - 1, before, before)


def _of_operation(lazy: Lazy, boxes: Sequence[Box], count: int, cuts: tuple[Any, ...], finer: float) -> Table | None:
    """Return the table of the result of an operation on two numbers of different uniforms."""
    assert lazy.parts is not None
    operation, left, sign, right, other_sign = lazy.parts
    own, others = boxes[: len(left.signs)], boxes[len(left.signs) :]
    whole = isinstance(lazy.ends()[0], int)
    if whole and operation not in (operator.add, operator.sub):
        return None
    if whole and (known := _convolved(operation, table(left, own, 1), sign, table(right, others, 1), other_sign)):
        return known
    exponentials = difference_of(lazy, (*own, *others))
    times = (FIRST, FIRST) if exponentials else (FIRST * finer, SECOND * finer)  # for a closed form, the ends matter
    first, second = (min(int(one * count), FINEST) for one in times)
    one = _rising(table(left, own, first, (), min(finer, 1)), sign)
    other = _rising(table(right, others, second, (), min(finer, 1)), other_sign)
    if one is None or other is None:
        return None
    edges = _edges(operation, one, other, count, cuts, whole=whole)
    bounds = [(0.0, 0.0)]
    for edge in edges[1:-1].tolist():
        key = (lazy.key, tuple(boxes), finer * count, edge)
        if key not in _edges_known:
            found = exponentials.below(edge) if exponentials else _below(operation, one, other, edge)
            keep(_edges_known, EDGES, key, found)
        bounds.append(_edges_known[key])
    low, high = np.array([*bounds, (1.0, 1.0)]).T
    near, far = edges[:-1], edges[1:] - 1.0 if whole else np.nextafter(edges[1:], -np.inf)
    if whole:
        near, far = (np.array([int(value) for value in ends], dtype=object) for ends in (near, far))
    return Table(near, far, low, high)


_edges_known: dict[Hashable, Bounds] = {}


def _convolved(
    operation: Callable[[Any, Any], Any], first: Table | None, sign: int, second: Table | None, other_sign: int
) -> Table | None:
    """Return the table of the sum or the difference of two integers, with each value as a strip; None where they have
    too many values."""
    left, right = _rising(first, sign), _rising(second, other_sign)
    if left is None or right is None:
        return None
    for one in (left, right):
        if len(one.near) > VALUES or (one.near != one.far).any() or (np.abs(np.diff(one.near)) != 1.0).any():
            return None
    shares, others = (np.diff((one.low + one.high) / 2) for one in (left, right))
    before = np.concatenate([[0.0], np.cumsum(np.convolve(shares, others))])
    apart = sum(float((one.high - one.low).max()) for one in (left, right)) + ROUNDED * len(before)
    low, high = np.clip(before - apart, 0.0, 1.0), np.clip(before + apart, 0.0, 1.0)
    least = int(operation(left.near[0], right.near[0]))
    values = np.array(range(least, least + len(before) - 1), dtype=object)
    return Table(values, values, low, high)


def _rising(known: Table | None, sign: int) -> Table | None:
    """Return the table in the order in which the result of an operation rises, as floats; None where they are none."""
    if known is None:
        return None
    for values in (known.near, known.far):
        if values.dtype == object and not all(isinstance(one, int) and abs(one) < WHOLE for one in values):
            return None
    near, far = known.near.astype(np.float64), known.far.astype(np.float64)
    if not (np.isfinite(near).all() and np.isfinite(far).all()):
        return None
    made = Table(near, far, known.low, known.high)
    return made if sign > 0 else made.falling()


def _edges(
    operation: Callable[[Any, Any], Any], left: Table, right: Table, count: int, cuts: tuple[Any, ...], *, whole: bool
) -> Array:
    """Return the least result, values where strips meet, and what is above the largest result."""
    least, most = operation(left.near[0], right.near[0]), operation(left.far[-1], right.far[-1])
    inner = np.array(sorted(cuts), dtype=np.float64)
    if count > 1:
        results = np.unique(operation(*np.meshgrid(_sampled(left), _sampled(right))))
        chosen = results[np.linspace(0, len(results) - 1, min(count, len(results))).astype(np.int64)]
        inner = np.unique(np.concatenate([chosen, inner]))
    inner = inner[(inner > least) & (inner <= most)]
    return np.array([least, *inner, most + 1.0 if whole else np.nextafter(most, np.inf)])


def _sampled(known: Table) -> Array:
    """Return some values of a number: equally likely ones, and more towards both ends, which may lie far out."""
    last = len(known.near) - 1
    steps = 1 << np.arange(last.bit_length())
    places = np.concatenate([np.linspace(0, last, SAMPLED).astype(np.int64), steps[steps < last], last - steps])
    return np.concatenate([known.near[np.unique(places[places >= 0])], known.far[[0, -1]]])


def _below(operation: Callable[[Any, Any], Any], left: Table, right: Table, value: float) -> Bounds:
    """Return bounds on the probability that the result of an operation is below a value."""
    bounds = []
    for least in (True, False):
        own, others = (left.far, right.far) if least else (left.near, right.near)
        chances = (right.low if least else right.high)[_counts(operation, own, others, value)]
        every = np.array([0]), np.array([len(chances)])
        bounds.append(float(left.total(chances, *every, least=least)[0]))
    return bounds[0], bounds[1]


def _counts(operation: Callable[[Any, Any], Any], own: Array, others: Array, value: float) -> Array:
    """Return for each number how many of the others, in whose order the result rises, lead to one below a value."""
    end = len(others)
    if operation is operator.add:
        counts = np.searchsorted(others, value - own)
    elif operation is operator.sub:
        counts = np.searchsorted(-others, value - own)
    elif operation is operator.mul:
        rise = 1.0 if others[-1] >= others[0] else -1.0
        counts = np.searchsorted(rise * others, np.where(own == 0, np.copysign(np.inf, value), rise * value / own))
    else:
        return _bisected(operation, own, others, value)
    for _ in range(CORRECTED):
        more = (counts < end) & (operation(own, others[np.minimum(counts, end - 1)]) < value)
        fewer = (counts > 0) & ~(operation(own, others[np.maximum(counts, 1) - 1]) < value)
        if not (more.any() or fewer.any()):
            return counts
        counts = counts + more - (fewer & ~more)
    return _bisected(operation, own, others, value)


def _bisected(operation: Callable[[Any, Any], Any], own: Array, others: Array, value: float) -> Array:
    left, right = np.zeros(len(own), dtype=np.int64), np.full(len(own), len(others), dtype=np.int64)
    for _ in range(len(others).bit_length()):
        middle = np.minimum((left + right) // 2, len(others) - 1)
        active, is_below = left < right, operation(own, others[middle]) < value
        left = np.where(active & is_below, middle + 1, left)
        right = np.where(active & ~is_below, middle, right)
    return left
