"""Where random numbers come from, and the functions of `math`: both are replaced while a function runs.

`random.Random` draws all its numbers from two methods, `random` and `getrandbits`; the others are Python code on top of
them, and run as they are. Names that the function's module has imported from `random` and `math` are replaced too.
What is not known here is never taken for something that it is not: the states of the generators tell whether something
else was drawn, and plain numbers must lead to the same outcome (`followed`).
"""

from __future__ import annotations

import builtins
import functools
import math
import os
import random
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from subnormal.audit.laws.arrays import of_lazies, of_lists
from subnormal.audit.laws.draws import scipy_draws
from subnormal.audit.laws.draws.codes import READ_ATTRIBUTES, READ_CELLS, READ_NAMES, codes_of, inner_codes, only_calls
from subnormal.audit.laws.draws.joined import cells_of, content_of, joinable, joined
from subnormal.audit.laws.draws.numpy_draws import Draws
from subnormal.audit.laws.draws.quantiles import SIZE
from subnormal.audit.laws.functions import of_extreme, of_math, of_sum
from subnormal.audit.laws.lazy import integer, is_lazy, near, uniform
from subnormal.audit.laws.path import NotFollowedError, Path
from subnormal.audit.laws.points import UNIFORM, as_float
from subnormal.audit.randomness.catalogue import FUNCTIONS, Primitive
from subnormal.audit.randomness.generators import alive, state
from subnormal.audit.randomness.primitives import StandIns

DRAWS = 1 << 17  # in calls that are followed alone, in all
BYTES = 2  # of os.urandom, whose values are told apart
OTHERS = ("subprocess.", "os.fork", "os.posix_spawn", "os.system", "os.exec", "_thread.start", "socket.connect")


class Source:
    """What the code under audit draws from while it runs. path: of lazy numbers; numbers: plain ones instead of them,
    for the uniforms of a path in their order, with their sizes. draws_in_loops: that are left for calls that are
    followed alone, which take no time from the paths. ended: paths of each input that ended, of all walks, by its id.
    """

    def __init__(self) -> None:
        self.path = Path()
        self.numbers: Iterator[tuple[int, int]] | None = None
        self.draws_in_loops = DRAWS
        self.ended = Counter[int]()

    def random(self) -> Any:
        """Return a uniform of 53 bits."""
        return uniform(self.path) if self.numbers is None else as_float(self._plain(UNIFORM))

    def bits(self, count: int) -> Any:
        """Return a uniform integer of so many bits."""
        return self.below(1 << count)

    def below(self, size: int) -> Any:
        """Return a uniform integer on 0 … size − 1. `random` draws bits until they are below, so that it is uniform."""
        if size <= 1:
            return 0
        return integer(self.path, size) if self.numbers is None else self._plain(size)

    def near(self, quantile: Callable[[Any], Any]) -> Any:
        """Return quantile(k) for a uniform k below `SIZE`."""
        return near(self.path, quantile, SIZE) if self.numbers is None else quantile(self._plain(SIZE))

    def urandom(self, size: int) -> bytes:
        """Return so many bytes."""
        if size > BYTES:
            self.path.refuse(f"os.urandom({size})")
        number = self.bits(8 * size)
        return (number.point() if is_lazy(number) else int(number)).to_bytes(size, "big")

    def _plain(self, size: int) -> int:
        number, expected = next(self.numbers or iter(()), (0, 0))
        if expected != size:
            self.path.refuse("with plain numbers, the code draws others")
        return number


@contextmanager
def replaced(function: Any) -> Iterator[Source]:
    """Let all code draw from the source that this yields, and restore everything afterwards.

    Raises NotFollowedError at the end, where another generator has moved.
    """
    source, helpers, settled = Source(), list(joinable(_functions(function))), list[Callable[[], None]]()
    before = [(one, state(one)) for one in alive()]
    with ExitStack() as stack:
        enter = stack.enter_context
        for kind in (random.Random, random.SystemRandom):
            enter(patch.object(kind, "random", lambda self: source.random()))
            enter(patch.object(kind, "getrandbits", lambda self, count: source.bits(count)))
            enter(patch.object(kind, "randbytes", lambda self, size: source.urandom(size)))
            enter(patch.object(kind, "_randbelow", lambda self, size: source.below(size)))
        pairs = property(lambda self: source.path.memory.get(id(self)), _remember(source))
        enter(patch.object(random.Random, "gauss_next", pairs, create=True))
        enter(patch.object(builtins, "max", of_extreme(max, largest=True)))
        enter(patch.object(builtins, "min", of_extreme(min, largest=False)))
        enter(patch.object(builtins, "sum", of_sum(sum)))
        draws = Draws(
            source.random, source.near, source.below, lambda why: source.path.refuse(why), lambda: source.path.stop()
        )
        for distributions in scipy_draws.classes():
            enter(patch.object(distributions, "rvs", _rvs(draws, distributions.rvs)))
        stand_ins = _stand_ins(source, draws)
        for one in _only_called(function, helpers):
            other, settle = joined(source, one)
            stand_ins.add(one, other)
            settled.append(settle)
        for names in _namespaces(function):
            if stand_ins.has_original(list(names.values())):
                for name, value in list(names.items()):
                    if (other := stand_ins.replacement(value)) is not value:
                        stack.callback(names.__setitem__, name, value)
                        names[name] = other
        for one in _functions(function):
            names = one.__globals__
            for name, other in CONVERSIONS.items():  # the original ones return numbers that are known
                if name not in names and only_calls(codes_of(names, [one]), name, READ_NAMES):
                    stack.callback(names.pop, name, None)
                    names[name] = other
        for cell in list(_cells(function)):  # what stands in has cells of its own
            if (other := stand_ins.replacement(cell.cell_contents)) is not cell.cell_contents:
                stack.callback(setattr, cell, "cell_contents", cell.cell_contents)
                cell.cell_contents = other
        enter(_watched(source))
        for settle in settled:
            settle()
        yield source
    if any(state(one) != known for one, known in before):
        raise NotFollowedError("not followed: the code draws from a generator that is not known")


def _only_called(function: Any, helpers: Sequence[FunctionType]) -> Iterator[FunctionType]:
    """Yield those of the helpers with which code does nothing but call them: what stands in is another object."""
    functions = list(_functions(function))
    of_each = [one.__globals__ for one in (*functions, *helpers)]
    of_each += [vars(sys.modules[module]) for module in _user_modules(function)]
    modules = [(names, codes_of(names, functions)) for names in {id(one): one for one in of_each}.values()]
    cells = [(one.__code__, name, value) for one in functions for name, value in cells_of(one).items()]
    for helper in helpers:
        held = [(codes, name) for names, codes in modules for name, value in names.items() if value is helper]
        if (
            all(only_calls(codes, name, READ_NAMES) for codes, name in held)
            and all(only_calls(codes, name, READ_ATTRIBUTES) for _, codes in modules for _, name in held)
            and all(only_calls(inner_codes(code), name, READ_CELLS) for code, name, value in cells if value is helper)
        ):
            yield helper


def _converted(original: type, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return `int` or `float`, of random numbers too."""

    def converted(*arguments: Any, **options: Any) -> Any:
        if len(arguments) == 1 and not options and is_lazy(arguments[0]):
            return convert(arguments[0])
        return original(*arguments, **options)

    return converted


CONVERSIONS = {
    "int": _converted(int, lambda number: number.whole(int)),
    "float": _converted(float, lambda number: number.of_kind(float)),
}


def _remember(source: Source) -> Callable[[Any, Any], None]:
    """Return what keeps the second number of a Gaussian pair, in the path that drew it."""

    def remember(generator: Any, number: Any) -> None:
        source.path.memory[id(generator)] = number

    return remember


def _rvs(draws: Draws, original: Callable[..., Any]) -> Callable[..., Any]:
    def rvs(self: Any, *arguments: Any, **options: Any) -> Any:
        return scipy_draws.drawn(draws, original, self, arguments, options)

    return rvs


def _stand_ins(source: Source, draws: Draws) -> StandIns:
    """Return what stands in for the functions and generators that are followed."""
    pairs: list[tuple[Any, Any]] = [
        (random.random, source.random),
        (random.getrandbits, source.bits),
        (os.urandom, source.urandom),
        (secrets.randbits, source.bits),
    ]
    pairs += of_math()
    pairs += [(original, of_lazies(original)) for original in (np.array, np.asarray)]
    pairs += [(original, of_lists(original)) for original in vars(np).values() if type(original) is type(np.sum)]

    def drawn(primitive: Primitive, original: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        kind = np.random.Generator if primitive.holder.endswith(":Generator") else np.random.RandomState
        return draws.drawn(kind, primitive.name, arguments, options)

    stand_ins = StandIns(drawn, [one for one in FUNCTIONS if one.holder == "numpy.random"])
    for original, replacement in pairs:
        stand_ins.add(original, replacement)
    return stand_ins


@contextmanager
def _watched(source: Source) -> Iterator[None]:
    """Refuse a path that starts a program or a thread, or asks another computer."""
    _watch_events()
    _watching.append(source)
    try:
        yield
    finally:
        _watching.remove(source)


_watching: list[Source] = []


@functools.cache
def _watch_events() -> None:
    """Install the hook for events of Python, once: Python keeps it for ever."""
    process = os.getpid()

    def seen(event: str, _: Any) -> None:
        if _watching and event.startswith(OTHERS) and os.getpid() == process:
            _watching[-1].path.refuse(f"{event} leaves the process or the thread")

    sys.addaudithook(seen)


def _namespaces(function: Any) -> Iterator[dict[str, Any]]:
    """Yield the names of `random`, `math`, `os` and of the modules that a function's code may read, each once."""
    seen: set[int] = set()
    ahead: list[Any] = [
        vars(random),
        vars(math),
        vars(os),
        vars(secrets),
        vars(np),
        vars(np.random),
        vars(np.random.mtrand),
        *_objects(function),
        *(one.__globals__ for one in _functions(function)),
        *(vars(sys.modules[m]) for m in _user_modules(function)),
    ]
    for names in ahead:
        if id(names) not in seen:
            seen.add(id(names))
            yield names


def _objects(function: Any, depth: int = 3) -> Iterator[dict[str, Any]]:
    """Yield the attributes of the objects whose methods a callable is, or has in its cells."""
    for one in (function, getattr(function, "__self__", None)):
        if isinstance(getattr(one, "__dict__", None), dict) and not isinstance(one, ModuleType | type):
            yield vars(one)
    for cell in getattr(function, "__closure__", None) or ():
        if depth and callable(contents := content_of(cell)):
            yield from _objects(contents, depth - 1)


def _user_modules(function: Any) -> Iterator[str]:
    """Yield the modules of a function, of the functions in its cells, and of what they import from the same package."""
    for one in _functions(function):
        names = one.__globals__
        module = names.get("__name__")
        if module in sys.modules and vars(sys.modules[module]) is names:
            yield module
            package = module.partition(".")[0]
            for value in list(names.values()):
                of = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                if isinstance(of, str) and of.partition(".")[0] == package and of in sys.modules:
                    yield of


def _functions(function: Any, depth: int = 3) -> Iterator[FunctionType]:
    """Yield the Python functions behind a callable, a partial, a method, and in the cells of each."""
    if isinstance(function, functools.partial):
        yield from _functions(function.func, depth)
        return
    if isinstance(function, MethodType):
        function = function.__func__
    elif not isinstance(function, FunctionType):
        function = getattr(type(function), "__call__", None)  # noqa: B004
    if not isinstance(function, FunctionType):
        return
    yield function
    for cell in function.__closure__ or ():
        if depth and callable(contents := content_of(cell)):
            yield from _functions(contents, depth - 1)


def _cells(function: Any) -> Iterator[CellType]:
    for one in _functions(function):
        yield from (cell for cell in one.__closure__ or () if content_of(cell) is not None)
