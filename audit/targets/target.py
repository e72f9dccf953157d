"""Targets as mechanisms: a command that speaks the protocol, or a Python callable."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, Protocol, TypeVar, cast
from unittest.mock import patch

import numpy as np

from subnormal.audit import interrupts, text
from subnormal.audit.targets import json_lines
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor
from subnormal.audit.targets.outcomes import as_outcome, refused
from subnormal.audit.targets.signature import mismatch
from subnormal.audit.targets.stated_claim import StatedClaim
from subnormal.audit.targets.subprocess_io import Program
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Family, Mechanism, Outcomes, Refused
from subnormal.mechanisms.families import family

COMMAND = "cmd:"  # the prefix of a target that is a command
REQUEST_MAX = 10_000  # runs of one request, so that answers stay small
ANSWER_SECONDS = 1.0  # that the answer to a request should take, about
GROWTH = 10  # most runs of a request, in units of the one before: a slow target is noticed while requests are small
TIMEOUT = 60.0  # seconds for one answer
ANSWER_BYTES = 1 << 16  # of an answer, besides those of its outcomes
OUTCOME_BYTES = 512  # of one number of an outcome, or of an error message

AnyFamily = Family[Any, Any, Any]
_R = TypeVar("_R")


class Target(Protocol):
    """A function that returns outcomes on request."""

    def __call__(self, data: Any, parameters: Any, of: AnyFamily, runs: int) -> list[Any]:
        """Return `runs` outcomes, checked. Raises TargetError for anything else."""


@contextmanager
def opened(target: str | Callable[..., Any], timeout: float = TIMEOUT) -> Iterator[Target]:
    """Yield the target: a callable, `package.module:function`, or `cmd: …`, whose process ends with the context.

    timeout: seconds for one answer of a command. Raises TargetError if it cannot be started or imported.
    """
    if not isinstance(target, str) or not target.startswith(COMMAND):
        yield CallableTarget(imported(target) if isinstance(target, str) else target)
        return
    command = CommandTarget(target.removeprefix(COMMAND), timeout)
    try:
        command.start()
        yield command
    except BaseException:
        command.end(at_once=True)
        raise
    command.end()


class CommandTarget:
    """A command that speaks the protocol. It is started once, and again after a failure."""

    def __init__(self, command: str, timeout: float) -> None:
        self._command, self._timeout = command, timeout
        self._program: Program | None = None
        self._asked: tuple[Any, Any, str] | None = None  # the last data and parameters, and their request

    def start(self) -> None:
        """Start the program if it does not run, and exchange the hello lines. Raises TargetError if that fails."""
        if self._program is None:
            self._program = Program(self._command, self._timeout)
            self._ask(json_lines.hello(), ANSWER_BYTES, json_lines.check_hello)

    def __call__(self, data: Any, parameters: Any, of: AnyFamily, runs: int) -> list[Any]:
        line = f"{self._question(data, parameters, of)}{runs}}}\n".encode()
        longest = ANSWER_BYTES + runs * OUTCOME_BYTES * max(1, of.outcome_size(parameters, data))
        self.start()
        return self._ask(line, longest, lambda answer: json_lines.answered(answer, of, data, runs, parameters))

    def _ask(self, line: bytes, longest: int, read: Callable[[object], _R]) -> _R:
        """Return `read(answer)`. After a mistake the program is ended, because its next answer may be late."""
        program = self._program
        if program is None:
            raise TypeError("the program has not been started")
        try:
            answer = program.ask(line, longest)
            try:
                return read(json_lines.parsed(answer))
            except TargetError as error:
                program.fail(str(error))
        except BaseException:
            self.end(at_once=True)
            raise

    def _question(self, data: Any, parameters: Any, of: AnyFamily) -> str:
        if self._asked is None or self._asked[0] is not data or self._asked[1] is not parameters:
            question = json_lines.question(of.to_json(data), dataclasses.asdict(parameters))
            self._asked = data, parameters, question
        return self._asked[2]

    def end(self, *, at_once: bool = False) -> None:
        """End the program if it runs."""
        if self._program is not None:
            if at_once:
                self._program.kill()
            else:
                self._program.close()
            self._program = None


class CallableTarget:
    """A function(data, parameters, runs) that returns `runs` outcomes, among which may be exceptions.

    The first call for some data asks for one run. If it raises, the exception is the outcome of that run, and every
    further run of these data has its own call, so that outcomes stay independent. A function that raises only now and
    then must return its exceptions as outcomes: a call that raises would discard its other runs.
    """

    def __init__(self, function: Callable[[Any, dict[str, Any], int], Any]) -> None:
        self._function = function
        self._raised: Any = None  # the data whose call for one run raised last

    def __call__(self, data: Any, parameters: Any, of: AnyFamily, runs: int) -> list[Any]:
        """Return `runs` outcomes. Raises TargetError for outcomes that are not of the family, or not so many."""
        if self._raised is data:
            outcomes: Any = [self._single(data, parameters) for _ in range(runs)]
        elif runs == 1:
            outcomes = [self._single(data, parameters)]
            self._raised = data if isinstance(outcomes[0], Refused) else None
        else:
            outcomes = self._called(data, parameters, runs)
            if isinstance(outcomes, Refused):
                raise TargetError(
                    f"raised in a call for {runs:,} runs and not in one for 1: {outcomes.error!r}; "
                    "return the exception as the outcome of its run"
                )
        return json_lines.checked([native(value) for value in outcomes], of, data, runs, parameters)

    def _single(self, data: Any, parameters: Any) -> Any:
        outcomes = self._called(data, parameters, 1)
        if isinstance(outcomes, Refused):
            return outcomes
        if len(outcomes) != 1:
            raise TargetError(f"answered with {len(outcomes):,} outcomes, not 1")
        return outcomes[0]

    def _called(self, data: Any, parameters: Any, runs: int) -> Any:
        given = data.copy() if isinstance(data, np.ndarray | dict) else data
        try:
            with _exits_raised():
                returned = self._function(given, dataclasses.asdict(parameters), runs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # panics of Rust and SystemExit are not Exceptions
            interrupts.check()  # an interrupt may have become any error
            return refused(error)
        interrupts.check()  # or have been swallowed in the target
        listed = returned.tolist() if callable(getattr(returned, "tolist", None)) else returned  # arrays of any library
        if not isinstance(listed, list | tuple | range):
            raise TargetError(f"returned {text.quoted(repr(returned))}, not a sequence of {runs:,} outcomes")
        return listed


@contextmanager
def _exits_raised() -> Iterator[None]:
    """Make os._exit raise SystemExit in this process: an audit that exits with code 0 would seem to find nothing."""
    process, leave = os.getpid(), os._exit

    def exited(status: int) -> NoReturn:
        if os.getpid() != process:  # a child of the target may end
            leave(status)
        raise SystemExit(status)

    with patch.object(os, "_exit", exited):
        yield


def native(value: Any) -> Any:
    """Return an outcome of Python code as an int, a float, a tuple of them, a mapping's items, or a Refused.

    Raises TargetError for a value that is none of these.
    """
    try:
        outcome = as_outcome(value)
    except TypeError as error:
        raise TargetError(str(error)) from None
    if isinstance(outcome, Refused):
        return outcome
    if not callable(getattr(value, "items", None)):
        return json_lines.decoded(_plain(outcome))
    items = cast("tuple[tuple[Any, Any], ...]", outcome)
    named = {str(key): _plain(part) for key, part in items}
    if len(named) < len(items):
        raise TargetError(f"answered with a mapping two of whose keys are one as strings: {text.quoted(items)}")
    return json_lines.decoded(named)


def _plain(value: Any) -> Any:
    """Return an outcome in the form that `decoded` reads exactly: a large integer as a string."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def named(text: str) -> Any:
    """Return the object `package.module:name`, also from the working directory. Raises TargetError."""
    name, colon, attribute = text.partition(":")
    if not (name and colon and attribute):
        raise TargetError(f"{text!r} is neither 'cmd: …' nor 'package.module:name'")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        value: Any = import_module(name)
        for part in attribute.split("."):
            value = getattr(value, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of Rust and SystemExit are not Exceptions
        raise TargetError(f"{text!r} cannot be imported: {type(error).__name__}: {error}") from None
    return value


def imported(text: str) -> Callable[[Any, dict[str, Any], int], Any]:
    """Return the callable `package.module:function`, also from the working directory. Raises TargetError."""
    function = named(text)
    if not callable(function):
        raise TargetError(f"{text!r} is not callable")
    if (problem := mismatch(function)) is not None:
        raise TargetError(f"{text!r} is called with (data, parameters, runs): {problem}")
    return cast("Callable[..., Any]", function)


def mechanism(
    name: str,
    of: str,
    target: Target,
    stated: StatedClaim,
    monitor: OutcomeMonitor,
    done: Callable[[int], None] = lambda runs: None,
    seconds: float = ANSWER_SECONDS,
) -> Mechanism[Any, Any, Any]:
    """Return the target as a mechanism of the family `of`, with a stated claim, no law, and its own randomness.

    The first request of a sample is for one run. Each further request is for about `seconds` of runs, at the speed of
    the one before. monitor sees every outcome; done(runs) is called after each request.
    """
    known = family(of)

    def sample(data: Any, parameters: Any, bits: BitSource, n: int) -> Outcomes:
        outcomes: list[Any] = []
        size = 1
        while len(outcomes) < n:
            started = time.monotonic()
            outcomes += target(data, parameters, known, size)
            done(size)
            fitting = size * seconds / max(1e-9, time.monotonic() - started)
            size = min(max(1, int(min(fitting, GROWTH * size, REQUEST_MAX))), n - len(outcomes))
        monitor.see(outcomes, data)
        return json_lines.gathered(outcomes)

    return Mechanism(name, of, sample, partial(stated.claim, known), seeded=False)
