"""A run of a loop: what it draws, what it reads, and what it returns, as flat arrays with names."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.text import error_text
from subnormal.audit.training.hooks import Change, Draw, Floats, Hooks, Tap, wait
from subnormal.audit.training.records import Records

Indices = NDArray[np.int64]
SEEDS = 6  # that learn how often a step draws
EVALUATION = 8  # records from which on a pass over all of them, in order, is taken for an evaluation


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run. leaves: the parts of the outcome by their place in it; empty where the loop raised `error`."""

    leaves: Mapping[str, Floats]
    error: str | None
    tap: Tap

    @property
    def draws(self) -> list[Draw]:
        """All draws of Gaussian noise, in their order."""
        return self.tap.draws


class LoopError(ValueError):
    """The loop cannot be checked: it fails on the data as they are, or is random in a way that cannot be repeated."""


class Loop:
    """A loop, with hooks in place. initial: the draws before its first step. each: those of a step. steady: whether
    each step with noise drew as often. skips_empty: whether a step without records was seen to add no noise.

    runs: how often it was run.
    """

    def __init__(self, function: Callable[[Any, int], Any]) -> None:
        self._function = function
        self._hooks = Hooks(function)
        self.runs = 0
        self.initial = self.each = 0
        self.steady = True
        self.skips_empty = False

    @contextlib.contextmanager
    def hooked(self, records: Records) -> Iterator[None]:
        """Install the hooks, and learn what a step draws. Raises LoopError where the loop cannot be checked."""
        try:
            self._hooks.watch_generators(lambda: self._call(records, 1, Tap()))  # it also imports what the loop imports
        except Exception as error:
            raise LoopError(f"train raises on the data as given: {error_text(error)}") from error
        with self._hooks.installed(), patch.object(logging.Logger, "handle", _logged_once()):
            pairs = [[self.run(records, steps, seed) for steps in (1, 2)] for seed in range(SEEDS)]
            for run in itertools.chain(*pairs):
                if run.error is not None:
                    raise LoopError(f"train raises on the data as given: {run.error}")
                if run.tap.traced:
                    raise LoopError("train draws noise inside of a transformation of jax, where it has no value yet")
            if not _equal(pairs[0][0], self.run(records, 1, 0)):
                raise LoopError(
                    "two runs with the same seeds differ: train must draw from the global generators of random, "
                    "numpy and torch, from numpy's generators, or from a seed that it asks of the system"
                )
            more = [len(two.draws) - len(one.draws) for one, two in pairs]
            self.each = max(more)  # a loop may leave out the noise of an empty batch
            self.steady = len(set(more) - {0}) <= 1
            self.initial = max(0, max(len(one.draws) for one, _ in pairs) - self.each)
            yield

    def run(self, records: Records, steps: int, seed: int, change: Change | None = None) -> Run:
        """Run the loop on the data. change: of the noise of its steps; what is drawn before them stays."""
        initial = self.initial

        def of_steps(number: int, draw: Draw) -> Floats:
            assert change is not None
            return draw.values if number < initial else change(number - initial, draw)

        tap = Tap(None if change is None else of_steps)
        self.runs += 1
        with self._hooks.recorded(seed, tap):
            try:
                outcome = self._call(records, steps, tap)
            except Exception as error:
                return Run({}, error_text(error), tap)
        leaves = dict(leaves_of(outcome, ""))
        return Run(leaves, None, tap)

    def _call(self, records: Records, steps: int, tap: Tap) -> Any:
        def note(column: int, read: Indices | None) -> None:
            wait()
            tap.events.append((column, read))

        return self._function(records.watched(note), steps)

    def picked(self, pick: Callable[[int, int], Any], length: int, steps: int, seed: int) -> list[Indices]:
        """Return the batches that a function picks, with seeds as a run has them."""
        with self._hooks.recorded(seed, Tap()):
            return [np.asarray(batch, dtype=np.int64).ravel() for batch in pick(length, steps)]

    def is_noiseless(self, records: Records, seed: int) -> bool:
        """Return whether two steps stay the same where everything random is seeded anew once the second batch is read.

        False where that cannot be tried, and where the loop may draw in jax, whose keys are made beforehand.
        """
        if "jax" in sys.modules and _may_use(self._function, "jax"):
            return False
        reads = [self._reads(self.run(records, steps, seed)) for steps in (1, 2)]
        usual, count = self.run(records, 2, seed), itertools.count()

        def note(column: int, indices: Indices | None) -> None:
            if next(count) == reads[0]:
                self._hooks.reseed(seed + 1)

        with self._hooks.recorded(seed, Tap()):
            other = Run(dict(leaves_of(self._function(records.watched(note), 2), "")), None, Tap())
        return reads[0] < reads[1] and _equal(usual, other)

    def _reads(self, run: Run) -> int:
        return sum(isinstance(event, tuple) for event in run.tap.events)

    def of_steps(self, run: Run) -> list[list[Draw]]:
        """Return the draws of each step."""
        drawn = run.draws[self.initial :]
        return [drawn[at : at + self.each] for at in range(0, len(drawn), self.each)] if self.each else []

    def batches(self, run: Run, length: int) -> list[Indices] | None:
        """Return which records each step read, in order; None where it read them all, or none of them by an index."""
        steps, reads, drawn, some = list[Indices](), dict[int, list[Indices]](), 0, False
        at_once = any(isinstance(one, tuple) and one[1] is not None and one[1].ndim for one in run.tap.events)
        for event in run.tap.events:
            if isinstance(event, tuple):
                column, read = event
                if read is not None and (read.ndim or not at_once):  # one by one, it is not a batch where others are
                    reads.setdefault(column, []).append(read)
                continue
            if event < self.initial:
                reads = {}
                continue
            drawn += 1
            if self.each and drawn % self.each == 0:
                steps.append(_merged(reads, length))
                some, reads = some or len(steps[-1]) > 0, {}
        return steps if some else None


def _merged(reads: Mapping[int, list[Indices]], length: int) -> Indices:
    """Return the indices that a step read of a column, without passes over all records in order.

    A step may read its batch again. Where one read holds all of it, a record is in the batch as often as in this read.
    Else it is so as often as it was read, over the passes through the batch, the largest number that divides how often
    each record was read; where that is 1, a part of several records that is read again does not count.
    """
    if not reads:
        return np.zeros(0, dtype=np.int64)
    parts = list(map(np.atleast_1d, reads[min(reads)]))
    masks = np.split(_in_batches(np.concatenate(parts), length), np.cumsum(list(map(len, parts)))[:-1])
    parts = [part[mask] for part, mask in zip(parts, masks, strict=True)]
    counts = np.bincount(np.concatenate(parts), minlength=length)
    each = [np.bincount(part, minlength=length) for part in parts if len(part) >= np.count_nonzero(counts)]
    if whole := [one for one in each if np.array_equal(one > 0, counts > 0)]:
        counts = np.max(whole, axis=0)
    elif (passes := np.gcd.reduce(counts)) > 1:
        counts //= passes
    else:
        once = {part.tobytes() if len(part) > 1 else place: part for place, part in enumerate(parts)}
        counts = np.bincount(np.concatenate(list(once.values())), minlength=length)
    return np.repeat(np.arange(length), counts)


def _in_batches(indices: Indices, length: int) -> NDArray[np.bool_]:
    """Return which of the indices are not of a pass over all records in order."""
    kept, at = np.ones(len(indices), dtype=np.bool_), 0
    while length >= EVALUATION and at + length <= len(indices):
        if indices[at] == 0 and np.array_equal(indices[at : at + length], np.arange(length)):
            kept[at : at + length] = False
            at += length
        else:
            at += 1
    return kept


def _logged_once() -> Callable[[logging.Logger, logging.LogRecord], None]:
    """Return what handles a record as `logging.Logger.handle` does, once for each line that logs."""
    handle, seen = logging.Logger.handle, set[tuple[str, int]]()

    def handle_new(logger: logging.Logger, record: logging.LogRecord) -> None:
        if (record.pathname, record.lineno) not in seen:
            seen.add((record.pathname, record.lineno))
            handle(logger, record)

    return handle_new


def _equal(one: Run, other: Run) -> bool:
    return list(one.leaves) == list(other.leaves) and all(
        np.array_equal(one.leaves[name], other.leaves[name], equal_nan=True) for name in one.leaves
    )


def leaves_of(value: Any, name: str) -> Iterator[tuple[str, Floats]]:
    """Yield the parts of an outcome as flat arrays: numbers, arrays, tensors, texts, and modules by their state."""
    if hasattr(value, "state_dict"):
        value = value.state_dict()
    if hasattr(value, "detach"):
        value = value.detach().cpu().double().numpy()
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves_of(part, f"{name}[{key!r}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from leaves_of(getattr(value, one.name), f"{name}.{one.name}")
    elif isinstance(value, tuple | list) and not _numbers(value):
        for place, part in enumerate(value):
            yield from leaves_of(part, f"{name}[{place}]")
    elif isinstance(value, str) or value is None:
        yield name or "outcome", np.frombuffer(repr(value).encode(), dtype=np.uint8).astype(np.float64)
    else:
        yield name or "outcome", np.asarray(value, dtype=np.float64).ravel()


def _numbers(values: Any) -> bool:
    return bool(values) and all(isinstance(one, int | float) for one in values)


def _may_use(function: Any, library: str, depth: int = 3) -> bool:
    """Return whether a function, or one that it names, has a module or an object of a library within reach."""
    if not isinstance(function, FunctionType):
        return True
    names = {*function.__code__.co_names, *function.__code__.co_freevars}
    near = inspect.getclosurevars(function)
    values = [value for name, value in {**near.globals, **near.nonlocals}.items() if name in names]
    if library in near.unbound | names:
        return True
    packages = (one.__name__ if isinstance(one, ModuleType) else getattr(one, "__module__", None) for one in values)
    if any(str(package).partition(".")[0] == library for package in packages):
        return True
    return depth > 0 and any(_may_use(one, library, depth - 1) for one in values if isinstance(one, FunctionType))
