"""Generators of random numbers that are alive in this process, and their states."""

from __future__ import annotations

import gc
import itertools
import pickle
import random
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

KINDS = random.Random | np.random.BitGenerator
GENERATORS = KINDS | np.random.RandomState


class _Mark:
    """An object that the collector knows, as long as it has not been told again to pass over all there are."""


_passed_over: list[Any] = []  # the generators that the collector has been told to pass over
_mark: _Mark | None = None


def alive(kinds: Any = KINDS) -> list[Any]:
    """Return the generators of these types that are alive, but those that keep no state.

    The collector may have been told to pass over objects, often millions. These are looked at once, and the generators
    among them are kept.
    """
    global _passed_over, _mark
    found = _of(kinds | _Mark, gc.get_objects())
    if not any(one is _mark for one in found):  # it is passed over itself: so may others that were made since
        if gc.get_freeze_count():
            found = []  # all of them will be passed over
            gc.unfreeze()
            gc.collect()  # what is passed over is kept for ever: not the garbage of this moment
            _passed_over = _of(GENERATORS, gc.get_objects())
            gc.freeze()
        _mark = _Mark()
    found += _passed_over
    return list({id(one): one for one in found if isinstance(one, kinds)}.values())


def _of(kinds: Any, objects: list[Any]) -> list[Any]:
    """Return those of these types. There may be millions: what is done with each is done in C."""
    types = {found for kind in get_args(kinds) for found in _with_subclasses(kind)}
    try:
        found = list(itertools.compress(objects, map(types.__contains__, map(type, objects))))
    except Exception:  # a type may have a hash of its own, or none: their ids take three times as long
        ids = set(map(id, types))
        found = list(itertools.compress(objects, map(ids.__contains__, map(id, map(type, objects)))))
    return [one for one in found if not isinstance(one, random.SystemRandom)]


def _with_subclasses(kind: type) -> Iterator[type]:
    yield kind
    subclasses: list[type] = type.__subclasses__(kind)
    for one in subclasses:
        yield from _with_subclasses(one)


def state(generator: Any) -> object:
    """Return the state of a generator of `random` or a bit generator of numpy, which can be compared with `==`."""
    if isinstance(generator, random.Random):
        return random.Random.getstate(generator)
    return pickle.dumps(generator.state)  # a state may hold arrays
