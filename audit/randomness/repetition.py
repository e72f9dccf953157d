"""Generators that are alive: which of them move unseen, and what brings a function to draw the same once more."""

from __future__ import annotations

import functools
import gc
import hashlib
import itertools
import os
import random
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import numpy as np

from subnormal.audit.randomness.generators import GENERATORS, alive, state
from subnormal.audit.values.parts import parts_of

REACH = 20_000  # objects, at most, that a function leads to and that are looked at for generators


class Watch:
    """The states of the generators that are alive, with those that move outside of recorded draws."""

    def __init__(self) -> None:
        self._generators = alive()
        self._states = list(map(state, self._generators))
        self._moved, self._recorded = dict[int, Any](), set[int]()

    def before(self, source: Any = None) -> None:
        """Compare the states before a recorded draw, or at the end, with those at the beginning.

        source: what is drawn from, see `source_of`.
        """
        for one, known in zip(self._generators, self._states, strict=True):
            if state(one) != known:
                self._moved[id(one)] = one
        self._recorded.add(id(getattr(source, "_bit_generator", source)))

    @property
    def unnamed(self) -> list[Any]:
        """Generators that moved, and of which no draw was recorded."""
        return [one for number, one in self._moved.items() if number not in self._recorded]


class Repetition:
    """The states of all generators, and the bytes that the system gives: `again` draws what `once` has drawn.

    root: leads to the generators of torch that are meant, beside its default one. Only the thread that made it is given
    the same bytes again: those of others may be keys.
    """

    def __init__(self, root: object = None) -> None:
        of_torch = [one for one in _held(root) if _is_of_torch(one)]
        self._states = [(one, _saved(one)) for one in (*alive(GENERATORS), *of_torch)]
        self._thread, self._urandom = threading.get_ident(), os.urandom
        self._given: list[bytes] = []

    @contextmanager
    def once(self) -> Iterator[None]:
        """Draw as ever."""

        def noted(size: int) -> bytes:
            given = self._urandom(size)
            if threading.get_ident() == self._thread:
                self._given.append(given)
            return given

        with patch.object(os, "urandom", noted), patch.object(random, "_urandom", noted):
            yield

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw from the same states, and get the same bytes in the same order."""
        left = iter(self._given)

        def given(size: int) -> bytes:
            known = next(left, b"") if threading.get_ident() == self._thread else b""
            return known if len(known) == size else self._urandom(size)

        for one, saved in self._states:
            _restore(one, saved)
        with patch.object(os, "urandom", given), patch.object(random, "_urandom", given):
            yield


@contextmanager
def seeded(seed: int, root: object) -> Iterator[None]:
    """Seed the generators that an object leads to, each with a stream of its own, and give them back their states.

    The bytes of the system are a stream as well, in this thread and process: a process that is forked here must not
    draw what this one draws. Python's `random.Random()` asks the system itself, past these bytes. The default generator
    of torch is among those that every object leads to; keys of jax are made of seeds, and have no state.
    """
    states, process, thread, urandom = list[tuple[Any, Any]](), os.getpid(), threading.get_ident(), os.urandom
    asked = itertools.count()

    def given(size: int) -> bytes:
        if (os.getpid(), threading.get_ident()) != (process, thread):
            return urandom(size)
        return hashlib.shake_256(repr((seed, "system", next(asked))).encode()).digest(size)

    try:
        for place, one in enumerate(_held(root)):
            states.append((one, _saved(one)))
            _seed(one, int.from_bytes(hashlib.sha256(repr((seed, "generator", place)).encode()).digest()))
        with patch.object(os, "urandom", given), patch.object(random, "_urandom", given):
            yield
    finally:
        for one, saved in states:
            _restore(one, saved)


def _held(root: object) -> list[Any]:
    """Return the generators that an object leads to, the nearest first: in modules, closures and attributes.

    Those of `random` and numpy themselves are left out: `isolated` seeds them. The collector does not know those of
    torch.
    """
    torch = sys.modules.get("torch")
    own = {id(random._inst), id(np.random.mtrand._rand), id(np.random.mtrand._rand._bit_generator)}
    left = {id(one): one for one in alive(GENERATORS) if id(one) not in own}  # they stay alive: an id is its own
    found, known, ahead = list[Any](), {id(root): root}, deque([root])
    if torch is not None:
        found.append(torch.default_generator)
        known[id(torch.default_generator)] = torch.default_generator
    while (left or torch is not None) and ahead and len(known) < REACH:
        for one in parts_of(ahead.popleft()):
            if id(one) not in known and _is_of_torch(one):
                known[id(one)] = one
                found.append(one)
            elif id(one) not in known and (gc.is_tracked(one) or type(one) in (tuple, dict)):
                known[id(one)] = one
                ahead.append(one)
                if id(one) in left:
                    found.append(left.pop(id(one)))
    return found


def _is_of_torch(one: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(one, torch.Generator)


def _seed(generator: Any, number: int) -> None:
    if isinstance(generator, random.Random):
        random.Random.seed(generator, number)
    elif _is_of_torch(generator):
        generator.manual_seed(number >> 193)  # 63 bits
    elif isinstance(generator, np.random.RandomState):  # its source is a generator of its own
        generator.set_state({**generator.get_state(legacy=False), "has_gauss": 0, "gauss": 0.0})
    else:
        with suppress(Exception):  # another library's kind may be made in another way
            generator.state = type(generator)(number).state


def source_of(original: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the generator that a call of a primitive draws from, or its seed; None where there is none to be seen."""
    if isinstance(original, functools.partial):  # a method of numpy's generators
        holder = original.args[0]
    else:
        holder = getattr(original, "__self__", arguments[0] if arguments else None)
    seed = options.get("random_state")  # of scipy, as the next; then of diffprivlib
    if isinstance(seed, int | np.integer):
        return int(seed)
    for one in (seed, getattr(holder, "_random_state", None), getattr(holder, "_rng", None), holder):
        if isinstance(one, random.Random | np.random.Generator | np.random.RandomState):
            return None if isinstance(one, random.SystemRandom) else one
    return None


def _saved(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return random.Random.getstate(generator)
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)  # with the second number of a Gaussian pair
    return generator.get_state() if _is_of_torch(generator) else generator.state


def _restore(generator: Any, state: Any) -> None:
    if isinstance(generator, random.Random):
        random.Random.setstate(generator, state)
    elif isinstance(generator, np.random.RandomState) or _is_of_torch(generator):
        generator.set_state(state)
    else:
        generator.state = state
