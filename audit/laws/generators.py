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


def alive(kinds: Any = KINDS) -> list[Any]:
    """Return the generators of these types that are alive, but those that keep no state."""
    types = {id(found) for kind in get_args(kinds) for found in _with_subclasses(kind)}
    objects = _objects()  # there may be millions: what is done with each is done in C
    found = itertools.compress(objects, map(types.__contains__, map(id, map(type, objects))))
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


def _objects() -> list[Any]:
    """Return what the collector knows, also what it has been told to pass over.

    It is not told so again: all garbage of this moment would be kept for ever.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
    return gc.get_objects()
