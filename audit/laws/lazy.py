"""Numbers that are not drawn yet: functions of uniforms, monotone in each one.

Rounding is monotone, and so is a float operation with a constant: the float code is followed as it is, with its last
bits. Of the functions of `math`, that they are monotone as implemented is assumed. A comparison with a constant is
true for the low numbers of a uniform and false for the high ones, or the other way round: bisection finds the change.
Whatever needs the number itself, such as float(x), ends the path, and the function is not followed.

Values are computed as numbers of Python, and each number has the type that the code sees (`kinds`).
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Hashable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from subnormal.audit.laws.kinds import FLOATS, INTEGERS, KINDS, MOST, Kind, computed, kind_of, power_of, type_of
from subnormal.audit.laws.path import NEAR, Box, Path, follows
from subnormal.audit.laws.points import (
    UNIFORM,
    Points,
    as_float,
    as_integer,
    elementwise,
    reversed_div,
    reversed_sub,
)
from subnormal.audit.laws.questions import change_of, coarse, corners, decide, is_below, split, takes_negative_zero

BITS = 64  # of numpy's integers
VALUES = 1 << 16  # of an integer, that are told apart at most
LAYOUT = re.compile(r"[<>^]?[+ -]?0?\d*(\.\d+)?[fF]")  # of a number whose text rises with it

Value = Callable[[Any], Any]


class Lazy:
    """f(numbers drawn), monotone in each uniform: signs[i] is 1 where it rises in uniform i, and −1 where it falls.

    key: equal for equal functions, and does not tell of which uniforms. inner: (g, x) where this is g(x) for another
    lazy number x alone. parts: (operation, x, sign, y, sign) where this is an operation on two numbers of different
    uniforms, which rises with each for the sign 1, and falls for −1. kind: the type that the code sees. rounded:
    whether it rises in steps.
    """

    __slots__ = ("_boxes", "_corners", "f", "inner", "key", "kind", "parts", "path", "rounded", "signs")
    _boxes: list[Box]  # for which the values at the corners are known
    _corners: tuple[Any, Any]

    def __init__(
        self,
        path: Path,
        signs: Mapping[int, int],
        f: Value,
        key: Hashable,
        kind: Kind,
        inner: tuple[Value, Lazy] | None = None,
        parts: tuple[Callable[[Any, Any], Any], Lazy, int, Lazy, int] | None = None,
    ) -> None:
        self.path, self.signs, self.f, self.key, self.kind = path, signs, f, key, kind
        self.inner, self.parts, self._boxes = inner, parts, []
        self.rounded = False

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind

    def at(self, numbers: Any) -> Any:
        """Return the value for numbers drawn, or the values for points."""
        if isinstance(numbers, Points) and tuple(self.signs) in numbers.strips:
            return numbers.values(self)
        return self.f(numbers)

    def base(self) -> tuple[Lazy, Value]:
        """Return (x, g) where this is g(x), and x no function of another lazy number alone."""
        steps, x = list[Value](), self
        while x.inner is not None:
            step, x = x.inner
            steps.append(step)
        return x, lambda value: functools.reduce(lambda made, step: step(made), reversed(steps), value)

    @property
    def name(self) -> Hashable:
        """A key that tells the uniforms, too."""
        return (tuple(self.signs), self.key)

    def ends(self) -> tuple[Any, Any]:
        """Return the least and the largest value on the boxes of the path, as far as its answers tell."""
        if len(self.signs) > 1 and self.path.ranges:
            x, g = self.base()
            if x.name in self.path.ranges:
                at = next(iter(self.signs))
                first, last = map(g, self.path.ranges[x.name])
                return (first, last) if self.signs[at] == x.signs[at] else (last, first)
        return self.corner_values()

    def corner_values(self) -> tuple[Any, Any]:
        """Return the least and the largest value on the boxes of the path, whatever its answers tell."""
        boxes = [self.path.boxes[at] for at in self.signs]
        if boxes != self._boxes:
            try:
                self._boxes, self._corners = boxes, self._computed_corners()
            except Exception as error:  # where answers forbid these numbers, it is none of the function
                self.path.refuse(f"a random number that raises {type(error).__name__} for some uniforms")
        return self._corners

    def _computed_corners(self) -> tuple[Any, Any]:
        """Return the values at the corners: where those of the numbers that this is made of are known, one operation on
        them."""
        if self.inner is not None and self.inner[1].is_known():
            step, x = self.inner
            first, last = map(step, x.corner_values())
            at = next(iter(self.signs))
            return (first, last) if self.signs[at] == x.signs[at] else (last, first)
        if self.parts is not None and self.parts[1].is_known() and self.parts[3].is_known():
            operation, x, sign, y, other_sign = self.parts
            one, other = x.corner_values()[::sign], y.corner_values()[::other_sign]
            return operation(one[0], other[0]), operation(one[1], other[1])
        least, most = corners(self.path, self.signs)
        return self.f(least), self.f(most)

    def is_known(self) -> bool:
        """Return whether the values at the corners of these boxes were computed before."""
        return self._boxes == [self.path.boxes[at] for at in self.signs]

    def _with(self, other: Any, operation: Callable[[Any, Any], Any], sign: int = 1, other_sign: int = 1) -> Any:
        """Return operation(self, other), which rises with each for the sign 1, and falls for −1."""
        kind = self._kind(operation, self.kind, type_of(other))
        x = self.computed_as(kind)
        if not is_lazy(other):
            constant = x._constant(other, kind)
            if constant != constant and operation in (operator.add, operator.sub):
                return kind(constant)
            x._stays_a_number(operation, constant)
            key: Hashable = (operation, type(constant), repr(constant))
            return _applied(x, lambda value: operation(value, constant), sign, key, kind)
        y = other.computed_as(kind)
        f, g, signs = x.at, y.at, x._joined(y, sign, other_sign)
        if any(abs(end) == math.inf for one in (x, y) for end in one.corner_values()):
            self.path.refuse("an operation of two random numbers that may be infinite")
        parts = None if x.signs.keys() & y.signs.keys() else (operation, x, sign, y, other_sign)
        is_told = parts is not None or len(signs) == 1  # by the uniforms in their order, which ones are whose
        key = (operation, x.key, y.key) if is_told else (operation, x.name, y.name)
        made = Lazy(self.path, signs, lambda numbers: operation(f(numbers), g(numbers)), key, kind, None, parts)
        if operation is operator.sub and follows((y.name, x.name, False), self.path.constraints):
            low, high = made.ends()  # the first number is no less than the second one, as answers tell
            self.path.ranges[made.name] = (min(max(low, type(low)(0)), high), high)
        return made.in_range()

    def _kind(self, operation: Callable[..., Any], *kinds: type) -> Kind:
        """Return the type of what an operation makes of numbers of these types."""
        made = kind_of(operation, *kinds) if computed.issuperset(kinds) else None
        if made not in KINDS:
            self.path.refuse(f"arithmetic with numbers of the types {', '.join(kind.__name__ for kind in kinds)}")
        return made

    def computed_as(self, kind: Kind) -> Lazy:
        """Return this number as an operation takes it whose result has a type: numpy's operations take floats for
        floats, and integers of 64 bits for integers."""
        return self.of_kind(kind) if kind in (np.int64, np.float64) else self

    def of_kind(self, kind: Kind) -> Lazy:
        """Return this number as one of a type. Refuse integers beyond those of numpy as such."""
        if kind is self.kind:
            return self
        if kind in FLOATS and self.kind in INTEGERS:
            return _applied(self, elementwise(float), 1, float, kind)
        if kind in INTEGERS and self.kind in FLOATS:
            self.path.refuse("a random float as an integer")
        made = Lazy(self.path, self.signs, self.f, self.key, kind, self.inner, self.parts)
        made.rounded = self.rounded
        return made.in_range()

    def _stays_a_number(self, operation: Callable[[Any, Any], Any], constant: Any) -> None:
        """Refuse an operation with a constant whose result may be none, or an integer that no float can be."""
        for end in self.corner_values():
            try:
                made = operation(end, constant)
            except OverflowError:
                made = math.nan
            if made != made:
                self.path.refuse("an operation of a random number whose result may be no number")

    def in_range(self) -> Lazy:
        """Return this number. Refuse an integer that those of numpy do not hold."""
        if self.kind is np.int64 and any(abs(one) > MOST for one in self.corner_values()):
            self.path.refuse("a random integer beyond those of numpy")
        return self

    def _joined(self, other: Lazy, sign: int, other_sign: int) -> dict[int, int]:
        signs = {at: one * sign for at, one in self.signs.items()}
        for at, one in other.signs.items():
            if signs.setdefault(at, one * other_sign) != one * other_sign:
                self.path.refuse("an operation of two numbers that is not monotone in the uniform behind both")
        return signs

    def _constant(self, other: Any, kind: Kind) -> Any:
        """Return a number as an operation takes it whose result has a type."""
        number = other.item() if isinstance(other, np.generic) else other
        if kind is np.int64 and abs(number) > MOST:
            self.path.refuse("an integer beyond those of numpy")
        if kind is not np.float64:
            return number
        try:
            return float(number)
        except OverflowError:
            return self.path.refuse("an integer beyond the floats of numpy")

    def unary(self, function: Callable[[Any], Any], sign: int, key: Hashable, kind: Kind) -> Lazy:
        """Return function(self), of a type, which rises for the sign 1. Where it raises for some values, those are told
        apart."""
        self._raise_where(function)
        return _applied(self, elementwise(function), sign, key, kind)

    def _raise_where(self, function: Callable[[Any], Any]) -> None:
        """Raise what a function raises for some values. A path where it raises at both ends, such as an arc cosine
        beyond −1 and 1, is divided at 0 first."""
        at_both = all(raises(function, end) for end in self.ends())
        if at_both and self.decide(lambda value: value < 0 and raises(function, value)):
            function(self.ends()[0])
        if self.decide(lambda value: raises(function, value)):
            function(self.ends()[0])

    # Arithmetic

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub, 1, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, reversed_sub, -1)

    def __neg__(self) -> Any:
        return _applied(self, operator.neg, -1, operator.neg, self.kind)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self + 0

    def __mul__(self, other: Any) -> Any:
        self._kind(operator.mul, self.kind, type_of(other))
        if not is_lazy(other):
            if math.isinf(other):
                self.path.refuse("a product with infinity")
            return self._with(other, operator.mul, int(math.copysign(1, other)))  # −0.0 makes −0.0 of what is above 0
        return self._with(other, operator.mul, other.sign(), self.sign())

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        self._kind(operator.truediv, self.kind, type_of(other))
        if is_lazy(other):
            if other == 0:
                return self._by_zero(operator.truediv, self, other)
            return self._with(other, operator.truediv, other.side_of_zero(), -self.sign())
        if other == 0:
            return self._by_zero(operator.truediv, self, other)
        return self._with(other, operator.truediv, 1 if other > 0 else -1)

    def __rtruediv__(self, other: Any) -> Any:
        self._kind(operator.truediv, type(other), self.kind)
        if self == 0:
            return self._by_zero(operator.truediv, other, self)
        self.side_of_zero()  # it falls or rises on each side of 0
        return self._with(other, reversed_div, -1 if other >= 0 else 1)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            self.path.refuse("a power with a modulus")
        return self.power(other, operator.pow)

    def power(self, exponent: Any, function: Callable[[Any, Any], Any]) -> Any:
        """Return function(self, exponent), where the function is Python's power, or numpy's."""
        if is_lazy(exponent):
            self.path.refuse("a power of two random numbers")
        kind = self._kind(operator.pow, self.kind, type(exponent))
        if kind in INTEGERS and exponent < 0:
            kind = type(kind(1) ** kind(exponent))  # numpy raises
        base, constant = self, self._constant(exponent, kind)
        if not math.isfinite(constant):
            self.path.refuse("a power with such an exponent")
        if self.sign() < 0:
            if constant != int(constant):
                self.path.refuse("a power of a negative number")
            base = -self
            if constant % 2:
                return -base.power(exponent, function)
        power, key = power_of(function, kind), (function, kind, type(constant), constant)
        return base.unary(lambda value: power(value, constant), 1 if constant >= 0 else -1, key, kind)

    def __rpow__(self, other: Any) -> Any:
        kind = self._kind(operator.pow, type(other), self.kind)
        if not 0 < other < math.inf:
            self.path.refuse("a power of a number that is not positive")
        if kind in INTEGERS and self < 0:
            kind = type(kind(1) ** kind(-1))  # numpy raises
            self.stays_in(lambda value: value < 0)
        base, power = self._constant(other, kind), power_of(operator.pow, kind)
        return self.unary(
            lambda value: power(base, value), 1 if base >= 1 else -1, ("rpow", kind, type(base), base), kind
        )

    def __floordiv__(self, other: Any) -> Any:
        if is_lazy(other):
            return self // other.point()
        kind = self._kind(operator.floordiv, self.kind, type(other))
        if other == 0:
            return self._by_zero(operator.floordiv, self, other)
        if other != other:
            self.path.refuse("a division by what is no number")
        x, divisor = self.computed_as(kind), self._constant(other, kind)
        if not all(map(math.isfinite, x.ends())):
            self.path.refuse("a quotient of what may be infinite")
        return kind(x.split(lambda value: value // divisor, (operator.floordiv, type(divisor), divisor)))

    def __mod__(self, other: Any) -> Any:
        if is_lazy(other):
            return self % other.point()
        kind = self._kind(operator.mod, self.kind, type(other))
        if not other > 0:
            self.path.refuse("a remainder of a division by a number that is not positive")
        quotient = self // other  # on a piece with one quotient, the remainder rises
        if len(self.signs) > 1 and kind in INTEGERS:
            return self - quotient * other
        x, divisor = self.computed_as(kind), self._constant(other, kind)
        x.stays_in(lambda value: value // divisor)
        return self._with(other, operator.mod)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __lshift__(self, other: int) -> Any:
        return self.point() << other

    def __rshift__(self, other: int) -> Any:
        if self.kind in FLOATS or type(other) is not int or not 0 <= other < BITS:
            return self.point() >> other
        return _applied(self, lambda value: value >> other, 1, (operator.rshift, other), self.kind)

    def __invert__(self) -> Any:
        return ~self.point()

    def __and__(self, other: int) -> Any:
        return self.point() & other

    def __or__(self, other: int) -> Any:
        return self.point() | other

    def __xor__(self, other: int) -> Any:
        return self.point() ^ other

    # Comparisons

    def __lt__(self, other: Any) -> Any:
        return self._truth(other, self._is_less(other, operator.lt, strict=True))

    def __le__(self, other: Any) -> Any:
        return self._truth(other, self._is_less(other, operator.le, strict=False))

    def __gt__(self, other: Any) -> Any:
        return self._truth(other, bool(other == other) and not self <= other)  # nothing is above what is not a number

    def __ge__(self, other: Any) -> Any:
        return self._truth(other, bool(other == other) and not self < other)

    def __eq__(self, other: object) -> Any:
        if not is_lazy(other) and not isinstance(other, int | float | np.int64 | np.bool_):
            if isinstance(other, Number):
                self.path.refuse(f"a comparison with a value of type {type(other).__name__}")
            # numpy's numbers tell a text from a number by a truth of numpy
            return self.kind(1) == other if isinstance(other, str | None) else NotImplemented
        return self._truth(other, self is other or (not self < other and bool(self <= other)))

    def __ne__(self, other: object) -> Any:
        is_equal = self.__eq__(other)
        return is_equal if is_equal is NotImplemented else self._truth(other, not is_equal)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def _truth(self, other: Any, answer: bool) -> Any:
        """Return the answer to a comparison: numpy has truths of its own, whose sum is no number."""
        is_of_numpy = issubclass(self.kind, np.generic) or issubclass(type_of(other), np.generic)
        return np.bool_(answer) if is_of_numpy else answer

    def _is_less(self, other: Any, compare: Callable[[Any, Any], Any], *, strict: bool) -> bool:
        kind = self._kind(operator.add, self.kind, type_of(other))  # as numpy's addition does, its comparison takes
        if kind is np.float64 and not (self.kind in FLOATS and type_of(other) in FLOATS):  # integers for floats
            x, y = self.of_kind(kind), other.of_kind(kind) if is_lazy(other) else kind(self._constant(other, kind))
            return x._is_less(y, compare, strict=strict)
        if not is_lazy(other):
            constant = other.item() if isinstance(other, np.generic) else other
            return constant == constant and self.decide(lambda value: compare(value, constant), (compare, constant))
        f, g, names = self.at, other.at, (self.name, other.name)
        if names[0] == names[1]:
            return not strict
        signs = self._joined(other, 1, -1)
        order = (names[0], names[1], strict), (names[1], names[0], not strict)
        (low, high), (least, most) = self.corner_values(), other.corner_values()
        ends = bool(compare(low, most)), bool(compare(high, least))  # a uniform behind both moves them apart
        return decide(
            self.path, signs, lambda numbers: compare(f(numbers), g(numbers)), (self, other), order, ends=ends
        )

    def decide(self, test: Callable[[Any], Any], name: Hashable = None) -> bool:
        """Return the answer to a test of the value that changes once, at most, as the value rises.

        name: tells the test from others, so that where it changes is computed once for all paths.
        """
        known = name and (name, self.key)
        if len(self.signs) > 1:
            return self._decide_of_many(test, known)
        f, (low, high) = self.at, self.corner_values()
        ends = bool(test(low)), bool(test(high))
        return decide(self.path, self.signs, lambda numbers: test(f(numbers)), (self,), None, known, ends)

    def _decide_of_many(self, test: Callable[[Any], Any], name: Hashable) -> bool:
        """Return the answer to a test, which is asked as x < cut where this number is g(x)."""
        x, g = self.base()
        low, high = x.ends()
        first = bool(test(g(low)))
        if first == bool(test(g(high))):
            return self.path.decided(first)
        cut = change_of(lambda value: bool(test(g(value))), low, high, name)
        if isinstance(cut, float) and cut == 0 and bool(test(g(-0.0))) == first and takes_negative_zero(x):
            self.path.refuse("the sign of a zero that is made of several random numbers")
        return is_below(x, low, high, cut) == first

    def stays_in(self, piece: Callable[[Any], Any]) -> None:
        """Refuse a number whose boxes reach into other pieces, although the answers of the path do not."""
        low, high = self.corner_values()
        if piece(low) != piece(high):
            self.path.refuse("a function of a sum of random numbers that is monotone on pieces only")

    def sign(self) -> int:
        """Return 1 or −1, where 0 has either, on all of the boxes, whatever answers tell."""
        low, high = self.corner_values()
        if low >= 0 or high <= 0:
            return 1 if low >= 0 else -1
        if len(self.signs) > 1:
            self.path.refuse("a product or power of a sum of random numbers whose sign is not known")
        return -1 if self < 0 else 1

    def side_of_zero(self) -> int:
        """Return 1 or −1, the sign on all of the boxes. Refuse a number whose boxes reach 0."""
        if 0 in self.corner_values():
            self.path.refuse("a division by a random number that may be 0, as far as its uniforms tell")
        return self.sign()

    def _by_zero(self, operation: Callable[[Any, Any], Any], value: Any, zero: Any) -> Any:
        """Raise what a division by zero raises. Refuse one of numpy, whose result is infinite or no number."""
        if issubclass(self._kind(operation, type_of(value), type_of(zero)), np.generic):
            self.path.refuse("a division by zero in numpy")
        return operation(*(one.ends()[0] if is_lazy(one) else one for one in (value, zero)))

    # Steps

    def whole(self, rounding: Callable[[Any], int]) -> Any:
        """Return rounding(self), an integer that rises with the value."""
        if self.kind in INTEGERS:
            return self.of_kind(int)
        if not all(map(math.isfinite, self.ends())):
            return self.split(rounding, rounding)  # which raises for some values
        return _applied(self, elementwise(rounding), 1, rounding, int)

    def split(self, rounding: Callable[[Any], Any], key: Hashable) -> Any:
        """Return rounding(self), a constant on each of few pieces. It rises with the value, or it falls.

        key: equal for equal roundings.
        """
        self._raise_where(rounding)

        def step(value: Any) -> tuple[Any, float]:
            return ordered(rounding(value))

        if len(self.signs) == 1:
            return self._split_alone(step, key)
        while True:
            low, high = sorted(map(step, self.ends()))
            if low == high:
                return low[0]
            middle = self._middle(step)
            below = middle > low and self.decide(_below(step, middle), (operator.lt, key, middle))
            if not below and not (middle < high and self.decide(_above(step, middle), (operator.gt, key, middle))):
                return middle[0]

    def _split_alone(self, step: Callable[[Any], tuple[Any, float]], key: Hashable) -> Any:
        """Return the step that is left of a number of one uniform. All splits on the way are one question: a path that
        begins with an answer goes to its box at once."""
        ((at, _),), f, further = self.signs.items(), self.f, False
        while True:
            low, high = sorted(map(step, self.corner_values()))
            if low == high:
                return low[0]
            if not low < high:
                self.path.refuse("the steps of what may be no number")
            if further or not self.path.is_split(at):
                middle = step(f({at: sum(self.path.boxes[at]) // 2}))
                beyond = _below if middle > low else _above
                changes = beyond(lambda numbers: step(f(numbers)), middle)
                split(self.path, at, changes, ("steps", key, self.key), further=further)
            further = True

    def _middle(self, step: Callable[[Any], Any]) -> Any:
        """Return a step near the middle of those that are left to a number of several uniforms."""
        x, g = self.base()
        least, most = x.ends()
        known = coarse(x)
        middle = least if known is None else known.middle(least, most)
        if not least < middle < most:  # both lie in one strip
            middle = (least + most) / 2
        return step(g(min(max(type(least)(middle), least), most)))

    def stepped(self, rounding: Callable[[Any], Any], key: Hashable) -> Lazy:
        """Return rounding(self), which rises in steps, as a number that is not split before the code needs it."""
        kind, typed = type(rounding(self.kind(self.ends()[0]))), self.kind
        if kind not in KINDS:
            self.path.refuse(f"a rounded number of type {kind.__name__}")
        made = _applied(self, elementwise(lambda value: rounding(typed(value))), 1, (key, typed), kind)
        made.rounded = True
        return made

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return self.whole(round)
        return self.stepped(lambda value: round(value, digits), (round, digits))  # numpy's floats round in another way

    def __floor__(self) -> Any:
        return self.whole(math.floor)

    def __ceil__(self) -> Any:
        return self.whole(math.ceil)

    def __trunc__(self) -> Any:
        """Return the whole part. Raises TypeError for an integer of numpy, as that does."""
        if self.kind is np.int64:
            raise TypeError("type numpy.int64 doesn't define __trunc__ method")
        return self.whole(int)

    def __int__(self) -> Any:
        return self.split(int, int)

    def __index__(self) -> int:
        """Return one value of an integer; the others are other paths. Raises TypeError for a float, as Python does."""
        if self.kind in FLOATS:
            raise TypeError("'float' object cannot be interpreted as an integer")
        return int(self.point())

    def is_integer(self) -> bool:
        """Refuse: the numbers with this property are no interval."""
        return bool(self.path.refuse("is_integer() of a random number"))

    def __format__(self, layout: str) -> str:
        if self.kind in INTEGERS:
            return format(self.point(), layout)
        if not LAYOUT.fullmatch(layout):
            self.path.refuse(f"the format {layout!r} of a random number")
        rounded = self.split(lambda value: float(format(value, layout)), layout)
        return format(self.ends()[0], layout) if rounded == rounded else "nan"

    # What needs the number itself

    def point(self) -> Any:
        """Return the value where only one is left, or split the number into few values. Else the path is refused."""
        self.path.go_on()
        low, high = self.ends()
        if ordered(low) == ordered(high):
            return self.kind(low)
        if self.is_few():
            return self.kind(self.split(lambda value: value, None))
        return self.path.refuse("the code needs all digits of a random number here")

    def is_few(self) -> bool:
        """Return whether the values are few: integers, or rounded, or made of such numbers."""
        if self.kind in INTEGERS:
            low, high = self.ends()
            return bool(high - low < VALUES)
        behind = [self.inner[1]] if self.inner else [self.parts[1], self.parts[3]] if self.parts else []
        return self.rounded or (bool(behind) and all(one.is_few() for one in behind))

    def __float__(self) -> float:
        return float(self.point())

    def __hash__(self) -> int:
        return hash(self.point())

    def __repr__(self) -> str:
        return repr(self.point())

    def __str__(self) -> str:
        return str(self.point())

    def __reduce__(self) -> Any:
        return self.path.refuse("a random number is copied or sent elsewhere")

    def __copy__(self) -> Lazy:
        return self

    def __deepcopy__(self, memory: Any) -> Lazy:
        return self

    def __getattr__(self, name: str) -> Any:
        """Refuse the path. Raises AttributeError for the special names that Python looks for."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self.path.refuse(f"the attribute {name} of a random number")


def _beside_arrays(name: str) -> None:
    operation = getattr(Lazy, name)

    def applied(self: Lazy, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else operation(self, other)

    setattr(Lazy, name, applied)


def _of_points(operation: Callable[[Any, Any], Any]) -> Callable[[Lazy, Any], Any]:
    return lambda self, other: operation(other, self.point())


for _name in ("floordiv", "mod", "lshift", "rshift", "and_", "or_", "xor"):
    setattr(Lazy, f"__r{_name.rstrip('_')}__", _of_points(getattr(operator, _name)))
Lazy.__rdivmod__ = _of_points(divmod)  # type: ignore[attr-defined]
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "lt", "le", "gt", "ge", "eq", "ne"):
    _beside_arrays(f"__{_name}__")


def is_lazy(value: object) -> bool:
    """Return whether a value is a lazy number, whatever its class seems to be."""
    return type(value) is Lazy


def uniform(path: Path) -> Lazy:
    """Return what random() returns: k·2^−53 for a new uniform k."""
    at = path.draw(UNIFORM)
    return Lazy(path, {at: 1}, lambda numbers: as_float(numbers[at]), "uniform", float)


def integer(path: Path, size: int) -> Lazy:
    """Return a new uniform on 0 … size − 1."""
    at = path.draw(size)
    return Lazy(path, {at: 1}, lambda numbers: as_integer(numbers[at]), ("integer", size), int)


def near(path: Path, quantile: Value, size: int) -> Lazy:
    """Return quantile(k) for a new uniform k below a size. It rises, and its law is that of a number up to `NEAR`."""
    at = path.draw(size)
    path.near[at] = NEAR
    return Lazy(path, {at: 1}, lambda numbers: quantile(numbers[at]), quantile, float)


def raises(function: Callable[[Any], Any], value: Any) -> bool:
    """Return whether a function of a number, such as a logarithm, refuses it."""
    try:
        function(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        return True
    return False


def ordered(value: Any) -> tuple[Any, float]:
    """Return what orders numbers, −0.0 below 0.0: the code may ask for the sign."""
    return value, math.copysign(1.0, value) if isinstance(value, float) else 1.0


def _applied(lazy: Lazy, function: Callable[[Any], Any], sign: int, key: Hashable, kind: Kind) -> Lazy:
    f = lazy.at
    signs = {at: one * sign for at, one in lazy.signs.items()}
    made = Lazy(lazy.path, signs, lambda numbers: function(f(numbers)), (key, lazy.key), kind, (function, lazy))
    return made.in_range()


def _below(rounding: Callable[[Any], Any], bound: Any) -> Callable[[Any], Any]:
    return lambda value: rounding(value) < bound


def _above(rounding: Callable[[Any], Any], bound: Any) -> Callable[[Any], Any]:
    return lambda value: rounding(value) > bound
