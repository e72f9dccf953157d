"""Generators of random numbers that are alive in this process, and their states."""

from __future__ import annotations

import gc
import pickle
import random
from typing import Any

import numpy as np

KINDS = random.Random | np.random.BitGenerator


def alive(kinds: Any = KINDS) -> list[Any]:
    """Return the generators of these types that are alive, but those that keep no state."""
    return [one for one in _objects() if issubclass(type(one), kinds) and not isinstance(one, random.SystemRandom)]


def state(generator: Any) -> object:
    """Return the state of a generator of `random` or a bit generator of numpy, which can be compared with `==`."""
    if isinstance(generator, random.Random):
        return random.Random.getstate(generator)
    return pickle.dumps(generator.state)  # a state may hold arrays


def _objects() -> list[Any]:
    """Return what the collector knows, and what it has been told to pass over."""
    if not gc.get_freeze_count():
        return gc.get_objects()
    gc.unfreeze()
    found = gc.get_objects()
    gc.freeze()
    return found
