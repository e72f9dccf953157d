"""The function under audit: it takes one dataset and returns one outcome. Nothing that it does ends the audit."""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import logging
import math
import os
import pickle
import random
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, repeat, takewhile
from typing import Any, NoReturn
from unittest.mock import patch

import numpy as np

from subnormal.audit import interrupts
from subnormal.audit.check.words import shown
from subnormal.audit.clock import MACHINE, Clock
from subnormal.audit.randomness.repetition import seeded
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import counted, error_text, quoted
from subnormal.audit.values.outcomes import as_outcome, on_grid, refused
from subnormal.audit.values.reference import imported_as
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.privacy import require_positive

_SCALARS = frozenset((int, float, str, bytes, bool, type(None), np.float64))  # a type derived from these may hold more
CHANCE = 1e-4  # that all answers come so early, where each run answers with one probability


class OverTimeError(Exception):
    """The time is over, so that no run is begun."""


@dataclass(slots=True)
class Function:
    """A function from data to outcomes, with a count of its runs and their seconds.

    function: takes one dataset and returns one outcome; with `batch` it takes (data, runs) and returns `runs` of them.
    raised: calls for several runs that raised. quickest: seconds of a run, of the call with the quickest runs. until:
    no run is begun later, on the clock. deadline: of the check, on that clock. place: "module:name", under
    which the function can be imported, or what makes it, where each call has a fresh one. last_answer: the number of
    the last run that returned. grid: floats in outcomes are rounded to its multiples. is_called: whether a call
    of the function is under way.
    """

    function: Callable[..., Any]
    name: str
    batch: bool = False
    runs: int = 0
    raised: int = 0
    seconds: float = 0.0
    quickest: float = math.inf
    until: float = math.inf
    deadline: float = math.inf
    place: str | None = None
    fresh: bool = False
    last_answer: int = 0
    grid: float | None = None
    clock: Clock = MACHINE
    is_called: bool = False

    def left(self) -> float:
        """Return the seconds that are left."""
        return min(self.deadline, self.until) - self.clock.now()

    def seconds_a_run(self) -> float:
        """Return what one run has taken on average."""
        return self.seconds / max(1, self.runs)

    def is_too_slow(self, runs: int) -> bool:
        """Return whether so many calls would take more than a quarter of the time that is left."""
        return runs * self.seconds_a_run() > self.left() / 4

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Raise OverTimeError for runs that are begun later than so many seconds from now, while this lasts."""
        before, self.until = self.until, min(self.until, self.clock.now() + seconds)
        try:
            yield
        finally:
            self.until = before

    def outcome(self, data: Any) -> Hashable:
        """Return the outcome of one run. An exception is an outcome too. Raises TypeError, see `as_outcome`."""
        return self.outcomes(data, 1)[0]

    def outcomes(self, data: Any, runs: int) -> list[Hashable]:
        """Return the outcomes of so many runs.

        Raises TypeError where the input cannot be copied, an outcome cannot be compared, or a batch does not hold
        `runs` outcomes; OverTimeError where the time is over.
        """
        outcomes = list[Hashable]()
        if not self.batch:
            self.add_outcomes(outcomes, repeat(data, runs))
            return outcomes
        with self._counted(outcomes):
            outcomes += self._batch(data, runs)
        return outcomes

    def add_outcomes(self, outcomes: list[Hashable], inputs: Iterable[Any]) -> None:
        """Add to an empty list the outcome of one run of each input: those before it raises, as `outcomes` does."""
        with self._counted(outcomes):
            for data in inputs:
                outcomes.append(self._batch(data, 1)[0] if self.batch else self._outcome(self.released(data)))

    def returned(self, data: Any) -> Any:
        """Return what one run returns or raises, which is no outcome yet."""
        returned = list[Any]()
        with self._counted(returned):
            returned.append(self.released(data))
        return returned[0]

    @contextmanager
    def _counted(self, outcomes: list[Hashable]) -> Iterator[None]:
        """Count the runs whose outcomes a list holds in the end, and their seconds."""
        started = self.clock.now()
        try:
            yield
        finally:
            seconds = self.clock.now() - started
            self.seconds += seconds
            refusals = sum(1 for _ in takewhile(lambda outcome: isinstance(outcome, Refused), reversed(outcomes)))
            self.last_answer = self.last_answer if refusals == len(outcomes) else self.runs + len(outcomes) - refusals
            self.runs += len(outcomes)
            if outcomes:
                self.quickest = min(self.quickest, seconds / len(outcomes))

    def released(self, data: Any, *more: int) -> Any:
        """Return what one call returns, or the exception that it raises.

        Raises TargetError for a program's mistake, OverTimeError where the time is over, and TypeError for an input
        that cannot be copied: the function has not refused that one.
        """
        if self.clock.now() >= self.until:
            raise OverTimeError
        self.clock.spend(self.clock.a_run * (more[0] if more else 1))
        process, own, handled = os.getpid(), copied(data), sys.exception()
        self.is_called = True
        try:
            returned = self.function(own, *more)
        except (KeyboardInterrupt, TargetError):
            raise
        except BaseException as error:  # panics of Rust are no Exception, nor is SystemExit
            if os.getpid() != process:
                os._exit(1)
            interrupts.check()
            return refused(error, handled)
        finally:
            self.is_called = False
        if os.getpid() != process:  # a child that the function has forked goes no further
            os._exit(0)
        interrupts.check()
        return returned

    def seeds_generators(self, data: Any) -> bool:
        """Return whether a run leaves a global generator in one state, whatever state it was in before."""
        after: list[tuple[bytes, bytes]] = []
        for seed in (1, 2):
            reseed(seed)
            before = _states()
            self.outcome(data)
            after.append(_states())
        return any(one == other != start for one, other, start in zip(*after, before, strict=True))

    def _outcome(self, released: Any) -> Hashable:
        outcome: Hashable = as_outcome(released)
        return outcome if self.grid is None else on_grid(outcome, self.grid)

    def _batch(self, data: Any, runs: int) -> list[Hashable]:
        returned = self.released(data, runs)
        if isinstance(returned, Refused):
            self.raised += runs > 1
            return [returned] * runs if runs == 1 else [self._batch(data, 1)[0] for _ in range(runs)]
        listed = returned.tolist() if callable(getattr(returned, "tolist", None)) else returned
        if not isinstance(listed, list | tuple | range):
            raise TypeError(
                f"{self.name} returned {quoted(repr(returned))}, not a sequence of {counted(runs, 'outcome')}"
            )
        if len(listed) != runs:
            raise TypeError(f"{self.name} returned {counted(len(listed), 'outcome')}, not {runs:,}")
        return list(map(self._outcome, listed))


def function(given: Any, *, batch: bool = False, fresh: Any = None, grid: float | None = None) -> Function:
    """Return the function under audit. fresh: returns the function to call once, in its place.

    Raises TypeError where it is not callable, or cannot be called with the data alone (with the data and a number of
    runs, where it is called in batches), and where there are both, or none; ValueError for a grid that is not a
    positive number.
    """
    if grid is not None:
        require_positive("grid", grid)
    if fresh is not None:
        if given is not None or not callable(fresh):
            raise TypeError(
                "fresh must be a function of no arguments that returns the function to call once, in its place, "
                f"got fresh = {quoted(repr(fresh))}" + ("" if given is None else f" and {quoted(repr(given))}")
            )
        made = function(fresh(), batch=batch, grid=grid)
        return replace(made, function=lambda *arguments: fresh()(*arguments), place=imported_as(fresh), fresh=True)
    named = given.func if isinstance(given, functools.partial) else given
    name = (getattr(named, "__qualname__", None) or type(named).__qualname__).removesuffix(
        ".__wrapped__"
    )  # of `private`
    if not callable(given):
        raise TypeError(f"function must be callable, got {quoted(repr(given))}{_hint(given)}")
    if inspect.iscoroutinefunction(given):
        raise TypeError(f"{name} is async, and check calls it as it is: pass lambda data: asyncio.run({name}(data))")
    arguments = (None, 1) if batch else (None,)
    called = "function(data, runs)" if batch else "function(data)"
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):  # a builtin without one is known by calling it only
        return Function(given, name, batch, place=imported_as(given), grid=grid)
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{name} is called as {called}, but its signature is {signature}: {error}") from None
    return Function(given, name, batch, place=imported_as(given), grid=grid)


def _hint(given: Any) -> str:
    """Return what somebody may have meant who gave this as a function."""
    if isinstance(given, str):
        return ": a program is started by subnormal.audit.targets.program.program"
    is_strategy = callable(getattr(given, "example", None)) and callable(getattr(given, "flatmap", None))
    return ": the function comes first, then the strategy of its data" if is_strategy else ""


@contextmanager
def isolated(seed: int, function: Function | None = None) -> Iterator[None]:
    """Seed the global generators of `random` and numpy, and those that a function leads to, and give them their own
    states back afterwards.

    Meanwhile os._exit raises SystemExit in this process: an audit that ends with code 0 seems to have found nothing.
    And each warning is shown once: Hypothesis makes Python forget at each input which ones it has shown. So is what the
    function logs, by the line that logs it: a function that logs and fails would log tens of thousands of times.
    """
    states, process, leave = (random.getstate(), np.random.get_state()), os.getpid(), os._exit

    def exited(status: int) -> NoReturn:
        if os.getpid() != process:  # a child of the function may end
            leave(status)
        raise SystemExit(status)

    reseed(seed, "check")
    try:
        with (
            patch.object(os, "_exit", exited),
            patch.object(warnings, "showwarning", _shown_once()),
            patch.object(logging.Logger, "handle", _logged_once(function)),
            seeded(seed, function and function.function),
        ):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _shown_once() -> Callable[..., None]:
    """Return what shows a warning as `warnings.showwarning` does now, once."""
    show, seen = warnings.showwarning, set[tuple[Hashable, ...]]()

    def show_new(message: Warning | str, *place: Any) -> None:
        key = (str(message), *place[:3])  # its category, file and line
        if key not in seen:
            seen.add(key)
            show(message, *place)

    return show_new


def _logged_once(function: Function | None) -> Callable[[logging.Logger, logging.LogRecord], None]:
    """Return what handles a record as `logging.Logger.handle` does now, those of calls of the function once."""
    handle, seen = logging.Logger.handle, set[tuple[Hashable, ...]]()

    def handle_new(logger: logging.Logger, record: logging.LogRecord) -> None:
        key = (record.name, record.levelno, record.pathname, record.lineno)
        if function is None or not function.is_called or key not in seen:
            seen.add(key)
            handle(logger, record)

    return handle_new


def reseed(*stream: int | str) -> None:
    """Seed the global generators of `random` and numpy with the stream of that name, which is no other name's."""
    digest = hashlib.sha256(repr(stream).encode()).digest()
    random.seed(digest)
    np.random.seed(np.frombuffer(digest, dtype=np.uint32))


def _states() -> tuple[bytes, bytes]:
    """Return the states of the global generators of `random` and numpy."""
    return pickle.dumps(random.getstate()), pickle.dumps(np.random.get_state())


def copied(data: Any) -> Any:
    """Return a copy of the same type that a function may change. Raises TypeError where there is none."""
    kind = type(data)
    if kind in _SCALARS:
        return data
    if kind is np.ndarray and not data.dtype.hasobject:
        return data.copy()
    if kind in (list, tuple) and _cannot_change(data):
        return data[:]
    try:
        return copy.deepcopy(data)
    except Exception as error:  # of the data's own methods, too
        raise TypeError(
            f"data of type {kind.__qualname__} cannot be copied, and each call needs a copy of its own: "
            f"{quoted(error_text(error))}, got {quoted(repr(data))}"
        ) from None


def _cannot_change(data: Sequence[Any]) -> bool:
    """Return whether all entries are scalars, and tuples of such: a shallow copy suffices, in a sixth of the time."""
    kinds = set(map(type, data))
    if tuple not in kinds:
        return kinds <= _SCALARS
    inside = list(chain.from_iterable(one for one in data if type(one) is tuple))
    return kinds - {tuple} <= _SCALARS and _cannot_change(inside)


def value_of(name: str, function: Callable[..., Any], *inputs: Any) -> Any:
    """Return what a user's function of inputs returns. Raises ValueError for what it raises, with its name."""
    try:
        return function(*inputs)
    except Exception as error:
        raise ValueError(f"{name}({', '.join(map(shown, inputs))}) raised {quoted(error_text(error))}") from error


def all_refused(outcomes: Sequence[Hashable]) -> bool:
    """Return whether every run raised."""
    return all(isinstance(outcome, Refused) for outcome in outcomes)


def are_early(answers: int, last: int, runs: int) -> bool:
    """Return whether so many answers, the last one in this run, came so early in all runs that this is no luck."""
    return answers > 0 and (last / runs) ** answers < CHANCE


def stopped_answering(function: Function, last: Refused) -> str:
    """Return the error of a check of a function that answered at first, and then never again."""
    return (
        f"the function stopped answering after {counted(function.last_answer, 'call')}, the last: {last.error}; it "
        "keeps state: pass fresh=, a function of no arguments that returns the function to call once"
    )


def always_raised(last: Refused) -> str:
    """Return the error of a check where no run of any input returned. last: the outcome of the last one."""
    return f"every run of every input raised; the last: {last.error}"
