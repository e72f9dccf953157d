"""Numbers that are not drawn yet: functions of uniforms, monotone in each one.

Rounding is monotone, and so is a float operation with a constant: the float code is followed as it is, with its last
bits. Of the functions of `math`, that they are monotone as implemented is assumed. A comparison with a constant is
true for the low numbers of a uniform and false for the high ones, or the other way round: bisection finds the change.
Whatever needs the number itself, such as float(x), ends the path, and the function is not followed.
"""

from __future__ import annotations

import bisect
import functools
import math
import operator
import re
from collections.abc import Callable, Hashable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from subnormal.audit.laws.path import Box, Path
from subnormal.audit.laws.points import UNIFORM, Points, as_float, as_integer, elementwise, first_float
from subnormal.audit.laws.questions import coarse, corners, decide, is_below, takes_negative_zero

VALUES = 1 << 16  # of an integer, that are told apart at most
MOST = (1 << 63) - 1  # of numpy's integers
PHASES = 1e6  # of a sine or a cosine, as far as the rounding of π is less than its flat part
LAYOUT = re.compile(r"[<>^]?[+ -]?0?\d*(\.\d+)?[fF]")  # of a number whose text rises with it

Value = Callable[[Any], Any]


class Lazy:
    """f(numbers drawn), monotone in each uniform: signs[i] is 1 where it rises in uniform i, and −1 where it falls.

    key: equal for equal functions, and does not tell of which uniforms. inner: (g, x) where this is g(x) for another
    lazy number x alone. parts: (operation, x, sign, y, sign) where this is an operation on two numbers of different
    uniforms, which rises with each for the sign 1, and falls for −1. rounded: whether its values are few, so that a
    float is split into them where the code needs it.
    """

    __slots__ = ("_boxes", "_corners", "f", "inner", "key", "parts", "path", "rounded", "signs")
    rounded: bool
    _boxes: list[Box]  # for which the values at the corners are known
    _corners: tuple[Any, Any]

    def __init__(
        self,
        path: Path,
        signs: Mapping[int, int],
        f: Value,
        key: Hashable,
        inner: tuple[Value, Lazy] | None = None,
        parts: tuple[Callable[[Any, Any], Any], Lazy, int, Lazy, int] | None = None,
    ) -> None:
        self.path, self.signs, self.f, self.key, self.inner, self.parts = path, signs, f, key, inner, parts
        self._boxes = []
        self.rounded = bool((inner and inner[1].rounded) or (parts and parts[1].rounded and parts[3].rounded))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        low, high = map(type, self.ends())
        return low if low is high else self.path.refuse("a random number of two types")

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
            low, high = corners(self.path, self.signs)
            try:
                self._boxes, self._corners = boxes, (self.f(low), self.f(high))
            except Exception as error:  # where answers forbid these numbers, it is none of the function
                self.path.refuse(f"a random number that raises {type(error).__name__} for some uniforms")
        return self._corners

    def _with(self, other: Any, operation: Callable[[Any, Any], Any], sign: int = 1, other_sign: int = 1) -> Lazy:
        """Return operation(self, other), which rises with each for the sign 1, and falls for −1."""
        f = self.at
        if isinstance(other, float) and other != other and operation in (operator.add, operator.sub):
            return other  # type: ignore[return-value]  # not a number
        if not is_lazy(other):
            constant = self._constant(other)
            self.path.wraps |= isinstance(other, np.int64)
            signs = {at: one * sign for at, one in self.signs.items()}
            key: Hashable = (operation, self.key, type(constant), repr(constant))
            inner = (lambda value: operation(value, constant)), self
            self._stays_a_number(operation, constant)
            made = Lazy(self.path, signs, lambda numbers: operation(f(numbers), constant), key, inner)
            return (made if constant is other else made.of_type(np.float64)).in_range()
        g = other.at
        signs = self._joined(other, sign, other_sign)
        if any(abs(end) == math.inf for one in (self, other) for end in one.corner_values()):
            self.path.refuse("an operation of two random numbers that may be infinite")
        parts = None if self.signs.keys() & other.signs.keys() else (operation, self, sign, other, other_sign)
        is_told = parts is not None or len(signs) == 1  # by the uniforms in their order, which ones are whose
        key = (operation, self.key, other.key) if is_told else (operation, self.name, other.name)
        return Lazy(self.path, signs, lambda numbers: operation(f(numbers), g(numbers)), key, None, parts).in_range()

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
        """Return this number. Refuse an integer that numpy's integers, where they may be behind it, do not hold."""
        if self.path.wraps and any(isinstance(one, int) and abs(one) > MOST for one in self.corner_values()):
            self.path.refuse("a random integer beyond those of numpy")
        return self

    def _joined(self, other: Lazy, sign: int, other_sign: int) -> dict[int, int]:
        signs = {at: one * sign for at, one in self.signs.items()}
        for at, one in other.signs.items():
            if signs.setdefault(at, one * other_sign) != one * other_sign:
                self.path.refuse("an operation of two numbers that is not monotone in the uniform behind both")
        return signs

    def _constant(self, other: Any) -> Any:
        if isinstance(other, np.float64 | np.int64 | np.bool_):  # other integers wrap elsewhere
            other = other.item()
        if type(other) not in (int, float, bool) or other != other:
            self.path.refuse(f"arithmetic with a value of type {type(other).__name__}")
        return other

    def of_type(self, kind: type[float]) -> Lazy:
        """Return a float as one of this type: np.float64, as elements of arrays have it, or Python's."""
        if not isinstance(self.ends()[0], float) or type(self.ends()[0]) is kind:
            return self
        return _applied(self, lambda value: value if isinstance(value, np.ndarray) else kind(value), 1, kind.__name__)

    def unary(self, function: Callable[[Any], Any], sign: int = 1, key: Hashable = None) -> Lazy:
        """Return function(self), which rises for the sign 1. Where it raises for some values, those are told apart."""
        made = _applied(self, elementwise(function), sign, key or function)
        self._raise_where(function)
        return made.in_range()

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
        return self._with(other, _reversed_sub, -1)

    def __neg__(self) -> Any:
        return _applied(self, operator.neg, -1, operator.neg)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self + 0

    def __mul__(self, other: Any) -> Any:
        if not is_lazy(other):
            if math.isinf(self._constant(other)):
                self.path.refuse("a product with infinity")
            return self._with(other, operator.mul, int(math.copysign(1, other)))  # −0.0 makes −0.0 of what is above 0
        return self._with(other, operator.mul, other.sign(), self.sign())

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        if is_lazy(other):
            if other == 0:
                return self._by_zero(operator.truediv, self, other)
            return self._with(other, operator.truediv, other.side_of_zero(), -self.sign())
        if self._constant(other) == 0:
            return self._by_zero(operator.truediv, self, other)
        return self._with(other, operator.truediv, 1 if other > 0 else -1)

    def __rtruediv__(self, other: Any) -> Any:
        if self == 0:
            return self._by_zero(operator.truediv, other, self)
        self.side_of_zero()  # it falls or rises on each side of 0
        return self._with(other, _reversed_div, -1 if self._constant(other) >= 0 else 1)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if is_lazy(other) or modulus is not None:
            self.path.refuse("a power of two random numbers")
        exponent = self._constant(other)
        base = self
        if self.sign() < 0:
            if exponent != int(exponent):
                self.path.refuse("a power of a negative number")
            base = -self
            if exponent % 2:
                return -(base**other)
        return base.unary(
            lambda value: value**exponent, 1 if exponent >= 0 else -1, (operator.pow, type(exponent), exponent)
        )

    def __rpow__(self, other: Any) -> Any:
        base = self._constant(other)
        if base <= 0:
            self.path.refuse("a power of a number that is not positive")
        return self.unary(lambda value: base**value, 1 if base >= 1 else -1, ("rpow", type(base), base))

    def __floordiv__(self, other: Any) -> Any:
        divisor = self._constant(other)
        if divisor == 0:
            return self._by_zero(operator.floordiv, self, other)
        return self.split(lambda value: value // divisor, 1 if divisor > 0 else -1)

    def __mod__(self, other: Any) -> Any:
        divisor = self._constant(other)
        if divisor <= 0:
            self.path.refuse("a remainder of a division by a number that is not positive")
        quotient = self // divisor  # on a piece with one quotient, the remainder rises
        if len(self.signs) > 1 and isinstance(self.ends()[0], int) and isinstance(divisor, int):
            return self - quotient * divisor
        self.stays_in(lambda value: value // divisor)
        return self._with(divisor, operator.mod)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __lshift__(self, other: int) -> Any:
        return self.point() << other

    def __rshift__(self, other: int) -> Any:
        if not isinstance(self.ends()[0], int):
            return self.point() >> other
        return _applied(self, lambda value: value >> other, 1, (operator.rshift, other))

    def __invert__(self) -> Any:
        return ~self.point()

    def __and__(self, other: int) -> Any:
        return self.point() & other

    def __or__(self, other: int) -> Any:
        return self.point() | other

    def __xor__(self, other: int) -> Any:
        return self.point() ^ other

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    # Comparisons

    def __lt__(self, other: Any) -> bool:
        return self._is_less(other, operator.lt, strict=True)

    def __le__(self, other: Any) -> bool:
        return self._is_less(other, operator.le, strict=False)

    def __gt__(self, other: Any) -> bool:
        return bool(other == other) and not self <= other  # nothing is above what is not a number

    def __ge__(self, other: Any) -> bool:
        return bool(other == other) and not self < other

    def __eq__(self, other: object) -> bool:
        if not is_lazy(other) and not isinstance(other, int | float | np.int64 | np.bool_):
            if isinstance(other, Number):
                self.path.refuse(f"a comparison with a value of type {type(other).__name__}")
            return NotImplemented
        return self is other or (not self < other and self <= other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    def _is_less(self, other: Any, compare: Callable[[Any, Any], Any], *, strict: bool) -> bool:
        if not is_lazy(other):
            if isinstance(other, float) and other != other:
                return False
            constant, (low, high) = self._constant(other), self.corner_values()
            if type(other) is np.float64 and isinstance(low, int) and max(abs(low), abs(high)) > UNIFORM:
                self.path.refuse("a comparison of a large integer with a float of numpy")
            return self.decide(lambda value: compare(value, constant), (compare, constant))
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
        if len(self.signs) > 1:
            return self._decide_of_many(test)
        f, (low, high) = self.at, self.corner_values()
        ends, known = (bool(test(low)), bool(test(high))), name and (name, self.key)
        return decide(self.path, self.signs, lambda numbers: test(f(numbers)), (self,), None, known, ends)

    def _decide_of_many(self, test: Callable[[Any], Any]) -> bool:
        """Return the answer to a test, which is asked as x < cut where this number is g(x)."""
        x, g = self.base()
        low, high = x.ends()
        first = bool(test(g(low)))
        if first == bool(test(g(high))):
            return self.path.decided(first)
        if isinstance(low, float):
            cut: Any = first_float(low, high, lambda value: test(g(value)))
            if cut == 0 and bool(test(g(-0.0))) == first and takes_negative_zero(x):
                self.path.refuse("the sign of a zero that is made of several random numbers")
        else:
            cut = low + bisect.bisect_left(range(low, high), True, key=lambda value: bool(test(g(value))) != first)
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
        numbers = [one.ends()[0] if is_lazy(one) else one for one in (value, zero)]
        if self.path.wraps or any(isinstance(one, np.generic) for one in numbers):
            self.path.refuse("a division by zero in numpy")
        return operation(*numbers)

    # Steps

    def whole(self, rounding: Callable[[Any], int]) -> Any:
        """Return rounding(self), an integer that rises with the value."""
        low, high = self.ends()
        if isinstance(low, int):
            return self
        if not (math.isfinite(low) and math.isfinite(high)):
            return self.split(rounding)  # which raises for some values
        return _applied(self, elementwise(rounding), 1, rounding)

    def split(self, rounding: Callable[[Any], Any], sign: int = 1) -> Any:
        """Return rounding(self), a constant on each of few pieces, which rises with the value for the sign 1."""
        self._raise_where(rounding)

        def step(value: Any) -> tuple[Any, float]:
            return ordered(rounding(value))

        while True:
            low, high = sorted(map(step, self.ends()))
            if low == high:
                return low[0]
            middle = self._middle(step)
            below = middle > low and self.decide(_below(step, middle))
            if not below and not (middle < high and self.decide(_above(step, middle))):
                return middle[0]

    def _middle(self, step: Callable[[Any], Any]) -> Any:
        """Return a step near the middle of those that are left."""
        if len(self.signs) == 1:
            (at,) = self.signs
            return step(self.f({at: sum(self.path.boxes[at]) // 2}))
        x, g = self.base()
        least, most = x.ends()
        known = coarse(x)
        middle = (least + most) / 2 if known is None else known.middle(least, most)
        return step(g(min(max(type(least)(middle), least), most)))

    def stepped(self, rounding: Callable[[Any], Any], key: Hashable) -> Lazy:
        """Return rounding(self), which rises in steps, as a number that is not split before the code needs it."""
        made = _applied(self, elementwise(rounding), 1, key)
        made.rounded = True
        return made

    def __round__(self, digits: int | None = None) -> Any:
        kind: Any = type(self.ends()[0])  # numpy's floats round to digits in another way than Python's
        return (
            self.whole(round)
            if digits is None
            else self.stepped(lambda value: round(kind(value), digits), (round, kind, digits))
        )

    def __floor__(self) -> Any:
        return self.whole(math.floor)

    def __ceil__(self) -> Any:
        return self.whole(math.ceil)

    def __trunc__(self) -> Any:
        return self.whole(int)

    def __int__(self) -> Any:
        return self.split(int)

    def __index__(self) -> int:
        """Return one value of an integer; the others are other paths. Raises TypeError for a float, as Python does."""
        if not isinstance(self.ends()[0], int):
            raise TypeError("'float' object cannot be interpreted as an integer")
        return int(self.point())

    def is_integer(self) -> bool:
        """Refuse: the numbers with this property are no interval."""
        return bool(self.path.refuse("is_integer() of a random number"))

    def __format__(self, layout: str) -> str:
        if isinstance(self.ends()[0], int):
            return format(self.point(), layout)
        if not LAYOUT.fullmatch(layout):
            self.path.refuse(f"the format {layout!r} of a random number")
        rounded = self.split(lambda value: float(format(value, layout)))
        return format(self.ends()[0], layout) if rounded == rounded else "nan"

    # What needs the number itself

    def point(self) -> Any:
        """Return the value where only one is left; an integer, or a rounded number, is split into its values. Else the
        path is refused."""
        low, high = self.ends()
        if type(low) is type(high) and ordered(low) == ordered(high):
            return low
        if isinstance(low, int) and high - low < VALUES:
            return self.split(int)
        if self.rounded:
            return self.split(lambda value: value)
        return self.path.refuse("the code needs all digits of a random number here")

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


for _name in ("floordiv", "mod", "lshift", "rshift"):
    setattr(Lazy, f"__r{_name}__", _of_points(getattr(operator, _name)))
Lazy.__rdivmod__ = _of_points(divmod)  # type: ignore[attr-defined]
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "lt", "le", "gt", "ge", "eq", "ne"):
    _beside_arrays(f"__{_name}__")


def is_lazy(value: object) -> bool:
    """Return whether a value is a lazy number, whatever its class seems to be."""
    return type(value) is Lazy


def of_lazy(original: Callable[..., Any], sign: int) -> Callable[..., Any]:
    """Return a function of `math` that takes lazy numbers too. sign: 1 where it rises, −1 where it falls."""

    def followed(x: Any, *more: Any) -> Any:
        if not is_lazy(x):
            return original(x, *more)
        direction = -sign if more and more[0] < 1 else sign  # a logarithm of a base below 1 falls
        return x.unary(lambda value: original(value, *more), direction, (original, *more))

    return functools.wraps(original)(followed)


def wave(x: Lazy, function: Callable[[float], float], shift: float, sign: int) -> Any:
    """Return a sine or cosine: on each of its half waves it is monotone, in turn rising and falling.

    sign: of the half wave with number 0, from −shift·π on. It is flat where half waves meet, so that the rounding of π
    does not matter there.
    """

    def half_wave(value: float) -> int:
        return math.floor(value / math.pi + shift)

    if any(abs(end) > PHASES for end in x.ends()):
        x.path.refuse("a sine or a cosine of a large number")
    number = x.split(half_wave)
    x.stays_in(half_wave)
    return x.unary(function, sign if number % 2 == 0 else -sign)


def uniform(path: Path) -> Lazy:
    """Return what random() returns: k·2^−53 for a new uniform k."""
    at = path.draw(UNIFORM)
    return Lazy(path, {at: 1}, lambda numbers: as_float(numbers[at]), "uniform")


def integer(path: Path, size: int) -> Lazy:
    """Return a new uniform on 0 … size − 1."""
    at = path.draw(size)
    return Lazy(path, {at: 1}, lambda numbers: as_integer(numbers[at]), ("integer", size))


def near(path: Path, quantile: Value, size: int) -> Lazy:
    """Return quantile(k) for a new uniform k below a size. It rises, and its law is that of a number up to `NEAR`."""
    at = path.draw(size)
    path.near += 1
    return Lazy(path, {at: 1}, lambda numbers: quantile(numbers[at]), quantile)


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


def _applied(lazy: Lazy, function: Callable[[Any], Any], sign: int, key: Hashable) -> Lazy:
    f = lazy.at
    signs = {at: one * sign for at, one in lazy.signs.items()}
    return Lazy(lazy.path, signs, lambda numbers: function(f(numbers)), (key, lazy.key), (function, lazy))


def _below(rounding: Callable[[Any], Any], bound: Any) -> Callable[[Any], Any]:
    return lambda value: rounding(value) < bound


def _above(rounding: Callable[[Any], Any], bound: Any) -> Callable[[Any], Any]:
    return lambda value: rounding(value) > bound


def _reversed_sub(value: Any, other: Any) -> Any:
    return other - value


def _reversed_div(value: Any, other: Any) -> Any:
    return other / value
