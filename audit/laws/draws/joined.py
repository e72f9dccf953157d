"""Functions that draw one number and branch on it, such as noise with a sign: one lazy number instead of two paths.

With a path for each branch, n calls have 2^n paths. Where a call has no effect but its value, its branches are followed
alone, once: each leads to a value on one part of the uniform. Neighbouring parts on which the values rise, or fall, are
one lazy number.
"""

from __future__ import annotations

import bisect
import builtins
import copy
import dis
import functools
import math
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from subnormal.audit.laws.draws.codes import READ_CELLS, READ_NAMES, inner_codes, only_calls
from subnormal.audit.laws.draws.loops import Loop, loop
from subnormal.audit.laws.kinds import KINDS, type_of
from subnormal.audit.laws.lazy import Lazy, is_lazy, ordered
from subnormal.audit.laws.path import Path, StoppedError
from subnormal.audit.laws.points import as_integer

BRANCHES = 16  # of a call, at most
REACHED = 256  # functions that a function calls, among which those with branches are looked for

_GENERATORS = np.random.Generator, np.random.RandomState
_PLAIN = frozenset((int, float, bool, str, type(None), np.float64, np.int64, random.Random, random.SystemRandom))
_MODULES = frozenset(map(id, (math, random, np, np.random)))
_BUILTINS = frozenset(map(id, (abs, bool, float, int, max, min, pow, range, round)))
_STATEFUL = frozenset(("seed", "setstate", "set_state"))
_ATTRIBUTES = {  # of modules, generators and numbers
    name
    for one in (math, random, np, np.random, random.Random, *_GENERATORS, int, float, str)
    for name in dir(one)
    if not name.startswith("_")
} - _STATEFUL
_EFFECTLESS = (  # instructions that change nothing but the variables and the stack of the call
    *("RESUME", "NOP", "CACHE", "EXTENDED_ARG", "NOT_TAKEN", "LOAD_FAST", "STORE_FAST", "LOAD_CONST", "LOAD_SMALL_INT"),
    *("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "LOAD_DEREF", "COPY_FREE_VARS", "PUSH_NULL", "PRECALL", "CALL"),
    *("KW_NAMES", "BINARY_OP", "UNARY_", "COMPARE_OP", "IS_OP", "TO_BOOL", "POP_JUMP_", "JUMP_", "RETURN_VALUE"),
    *("RETURN_CONST", "POP_TOP", "COPY", "SWAP", "FORMAT_", "CONVERT_VALUE", "BUILD_STRING", "BUILD_TUPLE"),
    *("RAISE_VARARGS", "GET_ITER", "FOR_ITER", "END_FOR", "POP_ITER"),
)


@dataclass(frozen=True, slots=True)
class _Part:
    """The value of a call on the numbers [low, high) of its uniform: a lazy number, a number, or an exception."""

    low: int
    high: int
    value: Any

    def at(self, number: Any) -> Any:
        """Return the value at one number, or at each of an array."""
        if is_lazy(self.value):
            return self.value.f({0: number})
        value = self.value.item() if isinstance(self.value, np.generic) else self.value
        return value if not isinstance(number, np.ndarray) else np.full(len(number), value, dtype=_dtype(value))

    @property
    def sign(self) -> int:
        """1 where the value rises with the number, −1 where it falls, 0 where it does neither."""
        return self.value.signs[0] if is_lazy(self.value) and self.high - self.low > 1 else 0

    def ends(self) -> tuple[Any, Any]:
        """Return the values at the first number and at the last one."""
        return self.at(self.low), self.at(self.high - 1)


@dataclass(frozen=True, slots=True)
class _Branches:
    """What a call draws, and what it comes to. size: of its uniform; near: see `Path`. groups: parts that are one
    number each, with the sign of its direction; an exception is alone."""

    size: int
    near: Fraction
    groups: Sequence[tuple[int, Sequence[_Part]]]

    def drawn(self, path: Path, key: Hashable) -> Any:
        """Return the value of a call on a path, or raise what it raises: a path for each group. Raises AssertionError
        where the groups do not reach to the end."""
        at = path.draw(self.size)
        if self.near:
            path.near[at] = self.near
        number = Lazy(path, {at: 1}, lambda numbers: as_integer(numbers[at]), ("integer", self.size), int)
        for sign, parts in self.groups:
            end = parts[-1].high
            if end == self.size or number < end:
                return _number(path, at, sign, parts, key)
        raise AssertionError("the groups reach to the end")


def joined(source: Any, function: FunctionType) -> tuple[Callable[..., Any], Callable[[], None]]:
    """Return what stands in for a function without effects, and what is called when all else has its stand-in.

    source: where it draws from.
    """
    known: dict[Hashable, _Branches | Loop | None] = {}
    plain, others = list[Callable[[], Any]](), list[Callable[[], Any]]()
    _note_variables(function, {function}, plain, others)
    fixed, token = list[Any](), object()

    @functools.wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        given = (*arguments, *options.values(), *(read() for read in plain))
        is_other = any(read() is not value for read, value in zip(others, fixed, strict=True))
        call = functools.partial(function, *arguments, **options)
        if is_other or not all(map(_is_plain, given)):
            return call()
        key = tuple(options), tuple(map(_written, given))
        if source.numbers is not None:
            repeated = known.get(key)
            return repeated.repeated(source, call) if isinstance(repeated, Loop) else call()
        if key not in known:  # for good: paths that begin later come to the same questions
            known[key] = _branches(source, call) or loop(source, call)
        found = known[key]
        return call() if found is None else found.drawn(source.path, (token, key))

    return called, lambda: fixed.extend(read() for read in others)


def _written(value: Any) -> Hashable:
    """Return what tells plain values apart. Generators are not: whichever is drawn from, its numbers are uniform."""
    return type(value), "" if isinstance(value, _GENERATORS) else repr(value)


def joinable(functions: Iterable[FunctionType]) -> Iterator[FunctionType]:
    """Yield the functions without effects among some, and those that they call: by a name, of a module, from a cell."""
    seen, ahead = set[int](), list(functions)
    for one in ahead:
        if id(one) in seen or len(seen) > REACHED:
            continue
        seen.add(id(one))
        names = [name for code in inner_codes(one.__code__) for name in code.co_names]
        known = list(map(one.__globals__.get, names))
        modules = [vars(value) for value in known if type(value) is ModuleType and id(value) not in _MODULES]
        others = [*known, *cells_of(one).values(), *(module.get(name) for module in modules for name in names)]
        ahead += [other for other in others if type(other) is FunctionType]
        if _has_no_effect(one, set()):
            yield one


@functools.lru_cache(1 << 10)
def _names_read(code: CodeType) -> frozenset[str] | None:
    """Return the names that code reads from its module; None where an instruction may change something."""
    instructions = list(dis.get_instructions(code))
    for one in instructions:
        is_other = one.opname in ("LOAD_ATTR", "LOAD_METHOD") and one.argval not in _ATTRIBUTES
        if not one.opname.startswith(_EFFECTLESS) or is_other:
            return None
    return frozenset(one.argval for one in instructions if one.opname == "LOAD_GLOBAL")


def _has_no_effect(function: FunctionType, callers: set[FunctionType]) -> bool:
    """Return whether a call changes nothing, and depends on its arguments, on plain variables and on what it draws."""
    if function in callers or _names_read(function.__code__) is None:
        return False
    return all(
        _is_harmless(value)
        or (
            type(value) is FunctionType
            and only_calls([function.__code__], name, (*READ_NAMES, *READ_CELLS))
            and _has_no_effect(value, callers | {function})
        )
        for name, value in _read(function).items()
    )


def _is_harmless(value: Any) -> bool:
    """Return whether a value is plain, or a module or a function of Python's or numpy's without effects."""
    if _is_plain(value) or id(value) in _MODULES or id(value) in _BUILTINS:
        return True
    if isinstance(value, random.Random):  # with attributes
        return False
    is_known = getattr(value, "__module__", None) in ("math", "random", "numpy.random")
    is_known |= getattr(value, "__self__", None) is random._inst
    is_known |= isinstance(value, type) and issubclass(value, Exception) and value.__module__ == "builtins"
    return is_known and getattr(value, "__name__", None) not in _STATEFUL


def _is_plain(value: Any) -> bool:
    """Return whether a value cannot change but by what is drawn from it."""
    if isinstance(value, random.Random) and vars(value).keys() - {"gauss_next"}:
        return False
    return type(value) in _PLAIN or isinstance(value, _GENERATORS)


def _read(function: FunctionType) -> dict[str, Any]:
    """Return what the names stand for that a function reads from its module and from its cells, and its defaults."""
    of_module = _names_read(function.__code__) or ()
    names = {name: function.__globals__.get(name, getattr(builtins, name, ...)) for name in of_module}
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return names | cells_of(function) | {str(place): value for place, value in enumerate(defaults)}


def cells_of(function: FunctionType) -> dict[str, Any]:
    """Return what the cells of a function hold, by their names."""
    return dict(zip(function.__code__.co_freevars, map(content_of, function.__closure__ or ()), strict=True))


def content_of(cell: CellType) -> Any:
    """Return what a cell holds, None where that is nothing."""
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def _note_variables(
    function: FunctionType, seen: set[FunctionType], plain: list[Callable[[], Any]], others: list[Callable[[], Any]]
) -> None:
    """Add what reads the values that a function, and those that it calls, depend on: plain ones, which may change, and
    others, which may not."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    others += [functools.partial(getattr, function, name) for name in ("__code__", "__defaults__", "__kwdefaults__")]
    for name, value in _read(function).items():
        of_module = functools.partial(function.__globals__.get, name)  # None for a function of Python
        (plain if _is_plain(value) else others).append(
            functools.partial(content_of, cells[name]) if name in cells else of_module
        )
        if type(value) is FunctionType and value not in seen:
            seen.add(value)
            _note_variables(value, seen, plain, others)


def _branches(source: Any, call: Callable[[], Any]) -> _Branches | None:
    """Return the branches of a call, each followed alone; None where they are not those of one uniform, or none of them
    are one number."""
    path, parts, ahead = source.path, list[_Part](), [dict[int, Any]()]
    try:
        while ahead:
            source.path = alone = Path([], ahead.pop(), path.deadline, draws=1, least=0.0)
            value = _value(call)
            alone.ended = True  # what asks for more of its number, such as the text of an exception, is not followed
            path.go_on()
            is_followed = not (alone.failed or alone.stopped) and len(alone.sizes) == 1
            if not is_followed or value is None or len(parts) == BRANCHES:
                return None
            ahead += [one.answers for one in alone.pending]
            parts.append(_Part(*alone.boxes[0], value))
    finally:
        source.path = path
    groups = _groups(sorted(parts, key=lambda part: part.low))
    near = sum(alone.near.values(), Fraction(0))
    return None if len(groups) == len(parts) else _Branches(alone.sizes[0], near, groups)


def _value(call: Callable[[], Any]) -> Any:
    """Return the number that a call returns, or the exception that it raises; None for anything else."""
    try:
        value = call()
    except StoppedError:
        return None
    except Exception as error:
        return error if error.__cause__ is None else None
    return value if is_lazy(value) or type(value) in KINDS else None


def _groups(parts: Iterable[_Part]) -> list[tuple[int, Sequence[_Part]]]:
    """Return parts in groups of neighbours which are monotone together, with the sign of each."""
    groups: list[tuple[int, Sequence[_Part]]] = []
    for part in parts:
        sign = _sign(*groups[-1], part) if groups else None
        if sign is None:
            groups.append((part.sign, [part]))
        else:
            groups[-1] = sign, [*groups[-1][1], part]
    return groups


def _sign(sign: int, parts: Sequence[_Part], more: _Part) -> int | None:
    """Return the sign of a group with one more part; None where they are not finite numbers of one type, or turn."""
    (before, last), (first, after) = parts[-1].ends(), more.ends()
    if isinstance(last, Exception) or type_of(parts[-1].value) is not type_of(more.value):
        return None
    if not all(abs(end) < math.inf for end in (before, last, first, after)):
        return None
    last, first = ordered(last), ordered(first)
    signs = {sign, more.sign, int(first > last) - int(first < last)} - {0}
    return sum(signs) if len(signs) < 2 else None


def _number(path: Path, at: int, sign: int, parts: Sequence[_Part], key: Hashable) -> Any:
    value = parts[0].value
    if isinstance(value, Exception):
        raise copy.copy(value)
    if not any(is_lazy(part.value) for part in parts) and len({repr(part.value) for part in parts}) == 1:
        return value
    ends = [part.high for part in parts[:-1]]

    def f(numbers: Any) -> Any:
        number = numbers[at]
        if not isinstance(number, np.ndarray):
            return parts[bisect.bisect_right(ends, number)].at(number)
        places = np.searchsorted(np.array(ends, dtype=np.int64), number, side="right")
        values = [(place, parts[place].at(number[places == place])) for place in np.unique(places).tolist()]
        made: Any = np.empty(len(number), dtype=_dtype(parts[0].at(parts[0].low)))
        for place, own in values:
            made[places == place] = own
        return made

    lazy = Lazy(path, {at: sign or 1}, f, key, type_of(parts[0].value))
    lazy.rounded = all(not is_lazy(part.value) or part.value.is_few() for part in parts)
    return lazy


def _dtype(value: Any) -> type:
    """Return the type of arrays of such numbers: Python's integers have no bounds."""
    return np.float64 if isinstance(value, float) else object
