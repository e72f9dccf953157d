"""Arrays of lazy numbers: numpy's operations on them, element by element, each as numpy rounds it.

An element has one of numpy's types, so that Python's operators on it are numpy's. Where one element
is a float, all are: an integer that is written beside them becomes a float, as in numpy. What numpy
computes in another order than one after the other, such as a sum of eight numbers, is refused.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy import array, asarray  # as they are: code under audit finds others in their place

from subnormal.audit.laws.functions import extreme, wave
from subnormal.audit.laws.kinds import FLOATS, INTEGERS, MOST, NUMPY, type_of
from subnormal.audit.laws.lazy import Lazy, is_lazy
from subnormal.audit.laws.path import Path

IN_ORDER = 8  # numbers, of which numpy adds fewer one after the other


def _larger(x: Any, y: Any) -> Any:
    return x if _is_undefined(x) or (not _is_undefined(y) and x >= y) else y


def _smaller(x: Any, y: Any) -> Any:
    return x if _is_undefined(x) or (not _is_undefined(y) and x <= y) else y


def _is_undefined(value: Any) -> bool:
    """Return whether a number is NaN, which numpy takes for the largest and the smallest one, unlike Python. A lazy
    number is none: what may be NaN is decided, or refused, where it is made."""
    return not is_lazy(value) and bool(value != value)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": lambda x, y: x.power(y, np.power) if is_lazy(x) else x**y,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "maximum": _larger,
    "minimum": _smaller,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "fabs": lambda x: abs(x) + 0.0,
    "clip": lambda x, low, high: _smaller(_larger(x, low), high),
}
STEPS = ("rint", "floor", "ceil", "trunc")
RISING = ("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sqrt", "cbrt", "arctan", "tanh", "sinh")
METHODS = {name: name for name in ("sum", "mean", "max", "min", "argmax", "argmin", "clip", "round", "cumsum")}
METHODS |= {"amax": "max", "amin": "min", "around": "round"}  # functions of numpy that are methods of arrays
COPIES = ("concatenate", "stack", "vstack", "hstack", "append", "where")
MOVES = (*COPIES, "ravel", "reshape", "shape", "ndim", "size")
REDUCTIONS = ("add", "maximum", "minimum")


def _stepped(name: str) -> Callable[[Any], Any]:
    rounded = getattr(np, name)

    return lambda x: x.stepped(rounded, rounded)


def _risen(name: str) -> Callable[[Any], Any]:
    function = getattr(np, name)

    @np.errstate(all="ignore")
    def is_undefined(value: float) -> bool:
        return bool(np.isnan(function(np.float64(value))))

    def risen(x: Any) -> Any:
        if x.decide(is_undefined):
            return function(np.float64(x.ends()[0]))
        return x.unary(lambda value: function(np.float64(value)), 1, function, np.float64)

    return risen


OPERATIONS: dict[str, Callable[..., Any]] = {
    **ARITHMETIC,
    **{name: _stepped(name) for name in STEPS},
    **{name: _risen(name) for name in RISING},
    "sin": lambda x: wave(x, lambda value: np.sin(np.float64(value)), 0.5, 1, np.float64),
    "cos": lambda x: wave(x, lambda value: np.cos(np.float64(value)), 0.0, -1, np.float64),
}


def operate(path: Path, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what one of numpy's operations makes of lazy numbers and arrays of them, and refuse what is not known."""
    name, out = ufunc.__name__, options.pop("out", (None,))[0]
    if method == "reduce" and name in REDUCTIONS:
        return _reduced(path, OPERATIONS[name], inputs[0], options)
    if method == "accumulate" and name == "add" and np.ndim(inputs[0]) == 1:
        return filled(list(_totals(inputs[0])), np.shape(inputs[0]))
    if method != "__call__" or name not in OPERATIONS or options or not (out is None or isinstance(out, LazyArray)):
        path.refuse(f"numpy.{name}{'' if method == '__call__' else '.' + method} of random numbers")
    arrays = np.broadcast_arrays(*(_as_array(path, one) for one in inputs))
    rows = zip(*(array.ravel() for array in map(asarray, arrays)), strict=True)
    made = [_applied(ufunc, OPERATIONS[name], row) for row in rows]
    if out is None:
        return filled(made, arrays[0].shape)
    out[...] = array([*made, None], dtype=object)[:-1].reshape(out.shape)
    return out


def _applied(ufunc: Any, operation: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Return what an operation makes of numbers: where one of them is lazy, Python's, and else numpy's."""
    if not any(map(is_lazy, values)):
        return ufunc(*values)
    # an operator of numpy's numbers beside a lazy one would lead here again
    return _of_numpy(operation(*(one if is_lazy(one) else one.item() for one in _alike(values))))


def _of_numbers(self: Lazy, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    return operate(self.path, ufunc, method, inputs, options)


def _round_of(self: Lazy, decimals: int = 0, out: Any = None) -> Any:
    if decimals or out is not None:
        self.path.refuse("numpy.round with such arguments")
    return _of_numpy(self) if self.kind in INTEGERS else np.rint(self)


Lazy.__array_ufunc__ = _of_numbers  # type: ignore[attr-defined]  # what numpy does with numbers beside its own
Lazy.round = _round_of  # type: ignore[attr-defined]  # which numpy.round calls


def _reduced(path: Path, operation: Callable[..., Any], values: Any, options: dict[str, Any]) -> Any:
    """Return the sum, the maximum or the minimum of an array, or those along an axis."""
    axis = options.pop("axis", 0)
    if options.pop("keepdims", False) or any(value is not None and value is not True for value in options.values()):
        path.refuse("a sum with such options of random numbers")
    if axis is None and operation is operator.add and not values.flags.c_contiguous:
        path.refuse("a sum of random numbers in another order than that of memory, in which numpy adds")
    if axis is None or values.ndim == 1:
        return _of_row(path, operation, values.ravel())
    rows = np.moveaxis(asarray(values), axis, -1)
    return filled([_of_row(path, operation, rows[at]) for at in np.ndindex(rows.shape[:-1])], rows.shape[:-1])


def _of_row(path: Path, operation: Callable[..., Any], row: Any) -> Any:
    if operation is operator.add and len(row) >= IN_ORDER:
        path.refuse(f"a sum of {len(row)} random numbers, which numpy does not add one after the other")
    at = None if operation is operator.add else extreme(list(row), largest=operation is _larger)
    return functools.reduce(operation, row) if at is None else row[at]


def _totals(row: Iterable[Any]) -> Iterable[Any]:
    total = None
    for one in row:
        total = one if total is None else total + one
        yield total


class LazyArray(np.ndarray[Any, Any]):
    """An array of objects: lazy numbers, and numbers."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Return what numpy's operation makes of it."""
        return operate(_path(inputs), ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Return what numpy's function makes of it, where that is known."""
        name = function.__name__
        if name in METHODS and isinstance(arguments[0], LazyArray):
            return getattr(arguments[0], METHODS[name])(*arguments[1:], **options)
        if name in MOVES:
            if name == "where" and any(map(_has_floats, arguments[1:])):  # of them, integers alone may be chosen
                arguments = arguments[0], *map(_as_floats, arguments[1:])
            made = super().__array_function__(function, types, arguments, options)
            if name in COPIES and _is_of_objects(made):
                return _filled_alike(made)
            return made.view(LazyArray) if _is_of_objects(made) else made
        return _path((self,)).refuse(f"numpy.{name} of random numbers")

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write values in the type of the array's elements."""
        if _has_floats(value) and not _has_floats(self):
            _path((self,)).refuse("floats that are written into an array of random integers")
        super().__setitem__(key, _as_floats(value) if _has_floats(self) else _each(_of_numpy, value))

    def argmax(self, axis: Any = None, *arguments: Any, **options: Any) -> Any:
        """Return the place of the first largest element."""
        self._refuse_undefined()
        at = extreme(_flat(self, axis), largest=True)
        return super().argmax(axis, *arguments, **options) if at is None else np.int64(at)

    def argmin(self, axis: Any = None, *arguments: Any, **options: Any) -> Any:
        """Return the place of the first smallest element."""
        self._refuse_undefined()
        at = (
            None if axis is not None or arguments or options else extreme(asarray(self).ravel().tolist(), largest=False)
        )
        return super().argmin(axis, *arguments, **options) if at is None else np.int64(at)

    def sort(self, *arguments: Any, **options: Any) -> None:
        """Sort the elements in place."""
        self._refuse_undefined()
        super().sort(*arguments, **options)

    def _refuse_undefined(self) -> None:
        if any(map(_is_undefined, asarray(self).ravel())):
            _path((self,)).refuse("an order of numbers of which one is no number")

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """Return rounded floats; integers are what they are."""
        has_integers = decimals == 0 and out is None and not _has_floats(self)
        return self.copy() if has_integers else super().round(decimals, out)

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """Return a copy, of floats or of integers; of other types with its elements split into their values."""
        if np.dtype(dtype) == np.float64:
            return filled(list(_as_floats(self).ravel()), self.shape)
        if np.dtype(dtype) == np.int64 and not arguments and not options:
            return filled(list(_each(_as_int64, self).ravel()), self.shape)
        return super().astype(dtype, *arguments, **options)

    def tolist(self) -> Any:
        """Return Python's numbers, in lists."""
        return [one.tolist() if isinstance(one, LazyArray) else _of_python(one) for one in self]

    def item(self, *index: Any) -> Any:
        """Return one of Python's numbers."""
        return _of_python(super().item(*index))


def _refused(name: str) -> Callable[..., Any]:
    def refused(self: LazyArray, *arguments: Any, **options: Any) -> Any:
        return _path((self,)).refuse(f"{name} of random numbers")

    return refused


# C code that does with objects what it does not do with floats: another order of additions, or of equal numbers, or
# integers that stay what they are.
for _name in ("dot", "trace", "argsort", "partition", "argpartition", "searchsorted", "fill", "put"):
    setattr(LazyArray, _name, _refused(_name))


def _flat(values: LazyArray, axis: int | None) -> list[Any]:
    """Return all elements; none where only those along an axis are asked for."""
    return asarray(values).ravel().tolist() if axis is None or values.ndim == 1 else []


def of_lazies(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return `np.array` or `np.asarray`, which makes arrays of lazy numbers too."""

    def followed(*arguments: Any, **options: Any) -> Any:
        made = original(*arguments, **options)
        if not (_is_of_objects(made) and made.ndim and any(map(is_lazy, made.ravel()))):
            return made
        return _filled_alike(made)

    return functools.wraps(original)(followed)


def of_lists(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numpy that takes lists of lazy numbers for arrays of them: numpy itself would take them for
    arrays of objects, which it adds in another order than floats."""

    def followed(*arguments: Any, **options: Any) -> Any:
        return original(*map(_as_lazies, arguments), **{name: _as_lazies(one) for name, one in options.items()})

    return functools.wraps(original)(followed)


def _as_lazies(value: Any) -> Any:
    return _filled_alike(array(value, dtype=object)) if _lists_lazies(value) else value


def _lists_lazies(value: Any) -> bool:
    return type(value) in (list, tuple) and any(is_lazy(one) or _lists_lazies(one) for one in value)


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def _path(inputs: Iterable[Any]) -> Path:
    for one in inputs:
        if is_lazy(one):
            return one.path  # type: ignore[no-any-return]
        if isinstance(one, LazyArray):
            for element in asarray(one).ravel():
                if is_lazy(element):
                    return element.path  # type: ignore[no-any-return]
    return Path()


def _as_array(path: Path, value: Any) -> Any:
    if is_lazy(value):
        return _objects(value)
    made = asarray(value)
    if made.dtype not in (np.bool_, np.int64, np.float64) and not isinstance(value, LazyArray):
        path.refuse(f"arithmetic of random numbers with numbers of type {made.dtype}")
    return made


def _filled_alike(made: Any) -> Any:
    """Return an array of objects as one whose elements are floats, where one of them is."""
    return filled(_alike(asarray(made).ravel()), made.shape)


def _objects(value: Any) -> Any:
    """Return a value as an array of objects."""
    if not is_lazy(value):
        return asarray(value, dtype=object)
    made = np.empty((), dtype=object)
    made[()] = value
    return made


def _has_floats(value: Any) -> bool:
    return any(isinstance(one, float) for one in _objects(value).ravel())


def _as_floats(value: Any) -> Any:
    """Return a number, or an array of numbers, of the type np.float64."""
    return _each(_as_float64, value)


def _each(convert: Callable[[Any], Any], value: Any) -> Any:
    """Return a number, or each of an array, converted."""
    own = _objects(value)
    made = np.empty(own.size, dtype=object)
    made[:] = list(map(convert, own.ravel()))
    return made.reshape(own.shape) if own.ndim else made[0]


def _alike(values: Iterable[Any]) -> list[Any]:
    """Return numbers of numpy's types: floats, where one of them is, and integers, where one of them is."""
    own = list(values)
    kinds = set(map(type_of, own))
    if not kinds.isdisjoint(FLOATS):
        return list(map(_as_float64, own))
    if any(type(one) is int and abs(one) > MOST for one in own):
        _path(own).refuse("an integer beyond those of numpy")
    has_integers = not kinds.isdisjoint(INTEGERS)
    return [np.int64(one) if has_integers and isinstance(one, bool | np.bool_) else _of_numpy(one) for one in own]


def _as_float64(value: Any) -> Any:
    return value.of_kind(np.float64) if is_lazy(value) else np.float64(value)


def _as_int64(value: Any) -> Any:
    if not is_lazy(value):
        return np.int64(value)
    if not all(map(math.isfinite, value.ends())):
        value.path.refuse("random numbers as integers that may be infinite")
    return _of_numpy(value.whole(int))


def _of_numpy(value: Any) -> Any:
    """Return a number of the type that numpy has for it."""
    kind = NUMPY.get(type_of(value))
    return value if kind is None else value.of_kind(kind) if is_lazy(value) else kind(value)


def _of_python(value: Any) -> Any:
    """Return a number of the type that Python has for it."""
    if not is_lazy(value):
        return value.item() if isinstance(value, np.generic) else value
    return value.of_kind(int if value.kind in INTEGERS else float)


def filled(values: list[Any], shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Return values as an array of a shape: an ordinary one, where no lazy number is among them. One of no axes is a
    number."""
    if shape == ():
        return values[0]
    if not any(map(is_lazy, values)):
        return array(values, dtype=dtype).reshape(shape)
    made = np.empty(len(values), dtype=object)
    made[:] = list(map(_of_numpy, values))
    return made.reshape(shape).view(LazyArray)
