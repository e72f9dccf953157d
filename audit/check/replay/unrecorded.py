"""Generators that draw unrecorded, and noise that is drawn again: what is recorded is not all, or not independent.

A replay assumes that nothing is random but what it records. Here the generators that are alive are watched: a state
that changes outside of the recorded draws belongs to noise that no replay sees, as of a generator that only a default
argument or a container holds, or of a method taken before; or it is set there.

A replay assumes, too, that noises are independent. Two draws of one run that begin at the same state of a generator are
not, as of two generators that are made from one seed, or of one that is given its state back.
"""

from __future__ import annotations

import functools
import gc
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np


class Watch:
    """The states of the generators that are alive, and those from which draws of a run begin.

    repeats: whether two draws of one run began at the same state.
    """

    def __init__(self) -> None:
        kinds = random.Random | np.random.BitGenerator
        found = [one for one in _objects() if issubclass(type(one), kinds)]
        self._generators = [one for one in found if not isinstance(one, random.SystemRandom)]
        self._moved, self._recorded = dict[int, Any](), set[int]()
        self.repeats = False
        self.begin()

    def begin(self) -> None:
        """Begin a run."""
        self._begun = set[object]()
        self._states = list(map(_state, self._generators))

    def before(self, source: Any = None) -> None:
        """Compare the states before a recorded draw, or at the end, with those after the last one.

        source: what is drawn from, see `source_of`.
        """
        for one, state in zip(self._generators, self._states, strict=True):
            if _state(one) != state:
                self._moved[id(one)] = one
        self._recorded.add(id(getattr(source, "_bit_generator", source)))
        self._begins_at = None if source is None else _state(source)

    def after(self, size: int) -> None:
        """Note the states after a recorded draw of so many numbers of noise whose place is known."""
        self._states = list(map(_state, self._generators))
        if self._begins_at is not None and size:
            self.repeats |= self._begins_at in self._begun
            self._begun.add(self._begins_at)

    @property
    def is_unrecorded(self) -> bool:
        """Whether a generator moved outside of recorded draws."""
        return bool(self._moved)

    @property
    def unnamed(self) -> list[Any]:
        """Generators that moved, and of which no draw was recorded."""
        return [one for number, one in self._moved.items() if number not in self._recorded]

    def notes(self) -> list[str]:
        """Return what kinds of generators moved outside of recorded draws, and whether noise was drawn again."""
        notes: dict[str, None] = {}
        for one in self._moved.values():
            kind = f"{type(one).__module__.split('._')[0]}.{type(one).__qualname__}"
            if one in self.unnamed:
                notes[f"draws from a {kind} that no replay records: give it a name in the module"] = None
            else:
                notes[f"seeds or restores a {kind} that it draws from, or draws from it unrecorded, too"] = None
        if self.repeats:
            notes["draws again from a state of a generator that it drew from before: no two losses are added"] = None
        return list(notes)


def _objects() -> list[Any]:
    """Return what the collector knows, and what it has been told to pass over."""
    if not gc.get_freeze_count():
        return gc.get_objects()
    gc.unfreeze()
    found = gc.get_objects()
    gc.freeze()
    return found


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


def _state(generator: Any) -> object:
    if isinstance(generator, random.Random):
        return random.Random.getstate(generator)
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state(legacy=False))  # with the second number of a Gaussian pair
    bits = getattr(generator, "_bit_generator", generator)
    return pickle.dumps(bits.state if isinstance(bits, np.random.BitGenerator) else bits)  # a state may hold arrays
