"""Generators that draw unrecorded: one that only a default argument or a container holds, or a method taken before.

A replay assumes that nothing is random but what it records. Here the generators that are alive are watched: a state
that changes outside of the recorded draws belongs to noise that no replay sees. A generator that a run makes for itself
draws its seed from a recorded source, or has a fixed one and is no noise.
"""

from __future__ import annotations

import gc
import pickle
import random
from typing import Any

import numpy as np


class Watch:
    """The states of the generators that are alive. moved: the types of those that moved outside of a recorded draw."""

    def __init__(self) -> None:
        kinds = random.Random | np.random.BitGenerator
        found = [one for one in _objects() if issubclass(type(one), kinds)]
        self._generators = [one for one in found if not isinstance(one, random.SystemRandom)]
        self.moved: dict[str, None] = {}
        self.after()

    def before(self) -> None:
        """Compare the states before a recorded draw, or at the end, with those after the last one."""
        for one, state in zip(self._generators, self._states, strict=True):
            if _state(one) != state:
                kind = type(one)
                self.moved[f"{kind.__module__.split('._')[0]}.{kind.__qualname__}"] = None

    def after(self) -> None:
        """Note the states after a recorded draw."""
        self._states = list(map(_state, self._generators))


def _objects() -> list[Any]:
    """Return what the collector knows, and what it has been told to pass over."""
    if not gc.get_freeze_count():
        return gc.get_objects()
    gc.unfreeze()
    found = gc.get_objects()
    gc.freeze()
    return found


def _state(generator: Any) -> object:
    if isinstance(generator, random.Random):
        return random.Random.getstate(generator)
    return pickle.dumps(generator.state)  # it may hold arrays
