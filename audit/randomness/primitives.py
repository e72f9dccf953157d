"""What stands in front of the primitives while a function is watched.

`intercepted(function, intercept)` puts `intercept` in front of each of them while it lasts, wherever a module or the
function under audit refers to them, and puts everything back. Libraries that are not imported are left alone.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from subnormal.audit import interrupts
from subnormal.audit.randomness.catalogue import BITS, FUNCTIONS, GENERATOR, METHODS, RANDOM_STATE, Primitive
from subnormal.audit.randomness.generators import alive, state
from subnormal.audit.randomness.repetition import Watch, source_of

Intercept = Callable[[Primitive, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

GENERATORS = (np.random.Generator, np.random.RandomState)
ENTROPY = 16  # bytes of the seed of a generator without one, as numpy takes them
OWN = ("subnormal", "hypothesis", "numpy", "scipy")  # modules whose generators are left as they are


@contextmanager
def intercepted(function: Any, intercept: Intercept) -> Iterator[None]:
    """Put `intercept(primitive, original, arguments, options)` in front of every known primitive.

    Afterwards the originals are back wherever their replacements have got to, as into a module that the function
    imports, or into a global variable that it sets. Other changes that the function makes to its variables stay.
    """
    stands, untouched = StandIns(intercept, FUNCTIONS), dict[int, tuple[dict[str, Any], list[Any]]]()
    with ExitStack() as changes:
        with interrupts.defer():
            changes.callback(_exchange, function, stands.original, stands.has_stand_in, untouched)
            for primitive in METHODS:
                module, _, name = primitive.holder.partition(":")
                kind = getattr(sys.modules.get(module), name, None)
                original = getattr(kind, primitive.name, None)
                if kind is not None and original is not None:
                    changes.enter_context(patch.object(kind, primitive.name, _wrapped(primitive, original, intercept)))
            _exchange(function, stands.replacement, stands.has_original, untouched)
        yield


def drawn_from(function: Any, call: Callable[[], Any]) -> tuple[list[Primitive], bool]:
    """Return the known primitives that a call of the function draws from, and whether no other generator moved."""
    drawn: list[Primitive] = []
    watch = Watch()

    def noted(primitive: Primitive, original: Callable[..., Any], arguments: Any, options: Any) -> Any:
        drawn.append(primitive)
        watch.before(source_of(original, arguments, options))
        return original(*arguments, **options)

    with intercepted(function, noted):
        call()
        watch.before()
    return drawn, not watch.unnamed


def moves_unrecorded(function: Any, call: Callable[[], Any]) -> bool:
    """Return whether a generator that is alive moves in a call of the function outside of the known primitives."""
    generators, is_inside, found = alive(), False, False
    states = list(map(state, generators))

    def noted(primitive: Primitive, original: Callable[..., Any], arguments: Any, options: Any) -> Any:
        nonlocal is_inside, found, states
        if is_inside:
            return original(*arguments, **options)
        is_inside, found = True, found or list(map(state, generators)) != states
        try:
            return original(*arguments, **options)
        finally:
            is_inside, states = False, list(map(state, generators))

    with intercepted(function, noted):
        call()
    return found or list(map(state, generators)) != states


class StandIns:
    """What stands in for functions, and for numpy's generators, while they are intercepted.

    Both are kept alive, so that an id is theirs.
    """

    def __init__(self, intercept: Intercept, functions: Iterable[Primitive]) -> None:
        self._kinds = {
            np.random.Generator: _subclass(np.random.Generator, GENERATOR, intercept),
            np.random.RandomState: _subclass(np.random.RandomState, RANDOM_STATE, intercept),
        }
        self._replacements: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}
        make, urandom = np.random.default_rng, os.urandom

        def default_rng(seed: Any = None) -> Any:  # all draws of what it makes are recorded: a fresh seed need not be
            made = make(np.random.SeedSequence(int.from_bytes(urandom(ENTROPY))) if seed is None else seed)
            kind = self._kinds.get(type(made))
            return made if kind is None else kind(made.bit_generator)

        self.add(make, default_rng)
        for primitive in functions:
            original = getattr(sys.modules.get(primitive.holder), primitive.name, None)
            if original is not None:
                self.add(original, _wrapped(primitive, original, intercept))

    def add(self, original: Any, replacement: Any) -> Any:
        """Let one value stand in for another one, and return it."""
        self._replacements[id(original)] = original, replacement
        self._originals[id(replacement)] = replacement, original
        return replacement

    def has_original(self, values: list[Any]) -> bool:
        """Whether something stands in for one of the values. There are 100,000 in all: they are looked at in C."""
        return _has(values, self._replacements.keys(), self._kinds.keys())

    def has_stand_in(self, values: list[Any]) -> bool:
        """Whether one of the values stands in for another one."""
        return _has(values, self._originals.keys(), set(self._kinds.values()))

    def replacement(self, value: Any) -> Any:
        """Return what stands in for a value, or the value."""
        if id(value) in self._replacements:
            return self._replacements[id(value)][1]
        kind = self._kinds.get(type(value))
        return value if kind is None else self.add(value, kind(_bits(value)))

    def original(self, value: Any) -> Any:
        """Return what a value stands in for, or the value."""
        if id(value) in self._originals:
            return self._originals[id(value)][1]
        for base, kind in self._kinds.items():
            if type(value) is kind:
                return base(_bits(value))
        return value


def _has(values: list[Any], ids: Set[int], kinds: Set[type]) -> bool:
    return not (ids.isdisjoint(map(id, values)) and kinds.isdisjoint(map(type, values)))


def _exchange(
    function: Any,
    other: Callable[[Any], Any],
    is_among: Callable[[list[Any]], bool],
    untouched: dict[int, tuple[dict[str, Any], list[Any]]],
) -> None:
    """Put another value in the place of each that a module, the function or its closure refers to. Not interrupted.

    is_among: whether one of some values has another one. untouched: the dictionaries in which none had one before, with
    their values, by identity; one that still has these values is not looked at again.
    """
    with interrupts.defer():
        for names in _namespaces(function):
            values = list(names.values())
            _, known = untouched.get(id(names), (names, []))
            if len(known) == len(values) and all(map(operator.is_, known, values)):
                continue
            if not is_among(values):
                untouched[id(names)] = names, values
                continue
            for name, value in list(names.items()):
                new = other(value)
                if new is not value and not (_is_own(names) and isinstance(new, GENERATORS)):
                    names[name] = new
        for cell in _cells(function):
            if (new := other(cell.cell_contents)) is not cell.cell_contents:
                cell.cell_contents = new


def _wrapped(primitive: Primitive, original: Callable[..., Any], intercept: Intercept) -> Callable[..., Any]:
    @functools.wraps(original)
    def called(*arguments: Any, **options: Any) -> Any:
        return intercept(primitive, original, arguments, options)

    return called


def _subclass(base: type, primitives: Sequence[Primitive], intercept: Intercept) -> Any:
    """Return a class of numpy's generators with `intercept` in front of its methods."""

    def method(primitive: Primitive) -> Callable[..., Any]:
        def called(self: Any, *arguments: Any, **options: Any) -> Any:
            original = functools.partial(getattr(base, primitive.name), self)
            return intercept(primitive, original, arguments, options)

        return called

    methods: dict[str, Any] = {primitive.name: method(primitive) for primitive in primitives}
    if base is np.random.Generator:
        methods["bit_generator"] = property(lambda self: intercept(BITS, lambda: _bits(self), (), {}))
    return type(base.__name__, (base,), methods)


def _bits(generator: Any) -> Any:
    """Return what a generator draws from, which its stand-in shares."""
    return generator._bit_generator


def _is_own(names: dict[str, Any]) -> bool:
    """Return whether the generators of a module are its own: all but the one that stands behind `numpy.random`."""
    return names is not vars(np.random.mtrand) and str(names.get("__name__", "")).partition(".")[0] in OWN


def _namespaces(function: Any) -> Iterator[dict[str, Any]]:
    """Yield the dictionaries in which names may stand for primitives: of modules, and of a method's object."""
    seen = set()
    for names in (
        *(vars(module) for module in list(sys.modules.values()) if module is not None and hasattr(module, "__dict__")),
        getattr(function, "__globals__", {}),
        getattr(getattr(function, "__self__", None), "__dict__", {}),
        getattr(function, "__dict__", {}),
    ):
        if id(names) not in seen and isinstance(names, dict):
            seen.add(id(names))
            yield names


def _cells(function: Any, depth: int = 3) -> Iterator[Any]:
    """Yield the cells of a closure, and of the functions in them."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:  # it is empty
            continue
        yield cell
        if depth:
            yield from _cells(content, depth - 1)
