"""Questions that a path answers: comparisons of random numbers, of which one box, or both answers, is followed."""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

from subnormal.audit.laws.path import Constraint, Path
from subnormal.audit.laws.points import first_float
from subnormal.audit.laws.sums import Table, below, table

if TYPE_CHECKING:
    from subnormal.audit.laws.lazy import Lazy

CHANGES = 1 << 14  # of tests, that are remembered
LARGEST = 1 << 62  # numbers of a uniform that are searched
COARSE, ROUGH = 64, 1 / 8  # strips of a sum, which tell what is likely, and how much finer its numbers are cut
TRIED = 8  # numbers beside a change that bisection finds, where the functions must be monotone


def corners(path: Path, signs: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the numbers of the boxes with the least and the largest value of a function with these signs."""
    low = {at: path.boxes[at][0] if sign > 0 else path.boxes[at][1] - 1 for at, sign in signs.items()}
    high = {at: path.boxes[at][1] - 1 if sign > 0 else path.boxes[at][0] for at, sign in signs.items()}
    return low, high


def decide(
    path: Path,
    signs: Mapping[int, int],
    test: Callable[[Any], Any],
    sides: tuple[Lazy, ...],
    order: Any = None,
    name: Hashable = None,
    ends: tuple[bool, bool] | None = None,
) -> bool:
    """Return the answer to a test of numbers drawn that changes once, at most, from the low corner to the high one.

    sides: the lazy numbers that it compares: of several uniforms, the first one is to be below the second. ends: the
    answers at the two corners, where they are known.
    """
    path.go_on()
    first, last = ends or (bool(test(corner)) for corner in corners(path, signs))
    if len(signs) == 1:
        return first if first == last else _split(path, signs, test, name)
    if first == last:
        return path.decided(first)
    rising = {at: (sign > 0) == last for at, sign in signs.items()}
    falling = {at: not one for at, one in rising.items()}
    told, opposite = order or (None, None)
    question = Constraint(rising, lambda numbers: test(numbers), told, name, sides)
    negated = Constraint(falling, lambda numbers: _negated(test(numbers)), opposite, name, sides)
    return path.ask(question, negated, _chance(*sides))


def _chance(x: Lazy, y: Lazy) -> float:
    """Return about how likely x is below y, as if they were independent."""
    first, second = coarse(x), coarse(y)
    return 0.5 if first is None or second is None else below(first, second)


def change_of(test: Callable[[Any], bool], low: Any, high: Any, name: Hashable) -> Any:
    """Return the first value above `low`, and `high` at most, where a test differs from what it says of `low`.

    The test changes once. name: equal for equal tests; the change is remembered, except for None.
    """
    key = (name, low, high)  # the test changes once between these alone, as that of a remainder does
    if name and key in _changes:
        return _changes[key]
    if isinstance(low, float):
        change: Any = first_float(low, high, test)
    else:
        first = test(low)
        change = low + bisect.bisect_left(range(low, high), True, key=lambda value: test(value) != first)
    if name:
        _remember(key, change)
    return change


def is_below(x: Lazy, low: Any, high: Any, cut: Any) -> bool:
    """Return the answer to x < cut, where x lies between low and high."""
    path, f = x.path, x.at
    path.go_on()
    rising = {at: sign < 0 for at, sign in x.signs.items()}
    falling = {at: not one for at, one in rising.items()}
    name = (x.name, cut)
    question = Constraint(rising, lambda numbers: f(numbers) < cut, None, name, (x,), cut)
    opposite = Constraint(falling, lambda numbers: f(numbers) >= cut, None, name, (x,), cut)
    known = coarse(x)
    below = path.ask(question, opposite, 0.5 if known is None else known.share(low, cut, high))
    *others, last = path.constraints
    path.constraints[:] = [one for one in others if not _is_wider(one, last)] + [last]
    last_below = cut - 1 if isinstance(cut, int) else math.nextafter(cut, -math.inf)
    path.ranges[x.name] = (low, last_below) if below else (cut, high)
    return below


def _is_wider(one: Constraint, nearer: Constraint) -> bool:
    """Return whether a constraint compares the number of a nearer cut in the same way."""
    is_same = one.cut is not None and one.sides[0].name == nearer.sides[0].name
    return is_same and one.rising == nearer.rising


def takes_negative_zero(x: Lazy) -> bool:
    """Return whether a number may be −0.0, which is no less than 0.0 and may lead elsewhere."""
    low, high = x.corner_values()
    if isinstance(low, int) or low > 0 or high < 0:
        return False
    if len(x.signs) > 1:
        operation, left, _, right, _ = x.parts or (None, x, 1, x, 1)
        if operation is operator.add:
            return takes_negative_zero(left) and takes_negative_zero(right)
        return operation is not operator.sub or takes_negative_zero(left)
    ((at, sign),) = x.signs.items()
    box = range(*x.path.boxes[at])[::sign]
    if abs(box.stop - box.start) > LARGEST:
        return True

    def value(number: int) -> Any:
        return x.f({at: number})

    places = bisect.bisect_left(box, 0, key=value), bisect.bisect_right(box, 0, key=value) - 1
    return places[0] <= places[1] and any(math.copysign(1.0, value(box[place])) < 0 for place in places)


def coarse(x: Lazy) -> Table | None:
    """Return the law of a number of several uniforms, roughly; None where it is not known."""
    boxes = [x.path.boxes[at] for at in x.signs]
    return None if any(high > LARGEST for _, high in boxes) else table(x, boxes, COARSE, (), ROUGH)


def _split(path: Path, signs: Mapping[int, int], test: Callable[[Any], Any], name: Hashable) -> bool:
    """Split the box of one uniform where a test changes, and return the answer in the part that is kept."""
    (at,) = signs
    if not path.is_split(at):
        split(path, at, test, name)
    return bool(test({at: path.boxes[at][0]}))


def split(path: Path, at: int, test: Callable[[Any], Any], name: Hashable, *, further: bool = False) -> None:
    """Split the box of one uniform where a test changes. further: as for `Path.split`."""
    low, high = path.boxes[at]
    key = (name, low, high)
    change = _changes.get(key) if name else None
    if change is None:
        change = _change(path, lambda number: bool(test({at: number})), low, high)
        if name:
            _remember(key, change)
    path.split(at, change, further=further)


_changes: dict[Hashable, Any] = {}


def _remember(name: Hashable, change: Any) -> None:
    if len(_changes) >= CHANGES:
        _changes.clear()
    _changes[name] = change


def _change(path: Path, test: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number of a box where a test changes."""
    left, right, first = low, high - 1, test(low)
    while right - left > 1:
        middle = (left + right) // 2
        if test(middle) == first:
            left = middle
        else:
            right = middle
    before, after = range(max(low, right - TRIED), right), range(right, min(high, right + TRIED))
    if any(test(one) != first for one in before) or any(test(one) == first for one in after):
        path.refuse("a function that is not monotone in its last bits")
    return right


def _negated(answer: Any) -> Any:
    return not answer if isinstance(answer, bool) else ~answer
