"""Other people's mechanisms: any command that speaks the protocol, any Python callable, as a Mechanism under audit."""

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

COMMAND = "cmd:"  # how the name of a target begins that is a command
REQUEST = 10_000  # runs of one request, at the most: an answer is never large
ANSWERED = 1.0  # seconds that the answer to a request is to take, or so
GROWTH = 10  # how many times the runs of the request before: what is slow is found out while little is asked
TIMEOUT = 60.0  # seconds for one answer
ANSWER = 1 << 16  # bytes of an answer, besides those of its outcomes
OUTCOME = 512  # bytes of one number of an outcome, an error message among them

AnyFamily = Family[Any, Any, Any]
_R = TypeVar("_R")


class Target(Protocol):
    """Something that gives outcomes when asked."""

    def __call__(self, data: Any, parameters: Any, of: AnyFamily, runs: int) -> list[Any]:
        """Return `runs` outcomes, checked. Raises TargetError."""


@contextmanager
def opened(target: str | Callable[..., Any], timeout: float = TIMEOUT) -> Iterator[Target]:
    """Give the target: a callable, or that of a name, `cmd: …` or `package.module:function`; a command ends with the
    context.

    timeout: seconds for one answer of a command. Raises TargetError where it cannot be started or imported.
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
    """A command that speaks the protocol. It is started once, and anew only after it has failed."""

    def __init__(self, command: str, timeout: float) -> None:
        self._command, self._timeout = command, timeout
        self._program: Program | None = None
        self._asked: tuple[Any, Any, str] | None = None  # the last data and parameters, and the question they make

    def start(self) -> None:
        """Start and greet the program, where it does not run. Raises TargetError."""
        if self._program is None:
            self._program = Program(self._command, self._timeout)
            self._ask(json_lines.hello(), ANSWER, json_lines.check_hello)

    def __call__(self, data: Any, parameters: Any, of: AnyFamily, runs: int) -> list[Any]:
        line = f"{self._question(data, parameters, of)}{runs}}}\n".encode()
        longest = ANSWER + runs * OUTCOME * max(1, of.outcome_size(parameters, data))
        self.start()
        return self._ask(line, longest, lambda answer: json_lines.answered(answer, of, data, runs, parameters))

    def _ask(self, line: bytes, longest: int, read: Callable[[object], _R]) -> _R:
        """Return what `read` makes of the answer. A program that makes a mistake is ended: its next answer is late."""
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
        """End the program, where it runs."""
        if self._program is not None:
            if at_once:
                self._program.kill()
            else:
                self._program.close()
            self._program = None


class CallableTarget:
    """A function(data, parameters, runs) that returns `runs` outcomes; one that it cannot give may be an exception.

    A function that raises where it is asked for one run, as it is first, refuses: that run's outcome is the exception.
    So that the outcomes of runs stay independent, it is then asked for every run of these data by itself. One that
    raises only now and then has to return its exceptions as outcomes: a call that raises would take the other runs
    along.
    """

    def __init__(self, function: Callable[[Any, dict[str, Any], int], Any]) -> None:
        self._function = function
        self._raised: Any = None  # the last data that it was first asked for one run of, if that raised

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
        except BaseException as error:  # panics of Rust are no Exception, nor is SystemExit
            interrupts.check()  # one may have become any error
            return refused(error)
        interrupts.check()  # or have ended in the target
        listed = returned.tolist() if callable(getattr(returned, "tolist", None)) else returned  # of any array's make
        if not isinstance(listed, list | tuple | range):
            raise TargetError(f"returned {text.quoted(repr(returned))}, not a sequence of {runs:,} outcomes")
        return listed


@contextmanager
def _exits_raised() -> Iterator[None]:
    """Make os._exit raise SystemExit in this process: an audit that ends with code 0 seems to have found nothing."""
    process, leave = os.getpid(), os._exit

    def exited(status: int) -> NoReturn:
        if os.getpid() != process:  # a child of the target may end
            leave(status)
        raise SystemExit(status)

    with patch.object(os, "_exit", exited):
        yield


def native(value: Any) -> Any:
    """Return an outcome of Python code as an int, a float, a tuple of them, a mapping's items, or a Refused.

    Raises TargetError.
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
    """Return an outcome so that `decoded` reads it as it is: in Python an integer is exact however large."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def imported(text: str) -> Callable[[Any, dict[str, Any], int], Any]:
    """Return the callable `package.module:function`; modules of the working directory are found. Raises TargetError."""
    name, colon, attribute = text.partition(":")
    if not (name and colon and attribute):
        raise TargetError(f"{text!r} is neither 'cmd: …' nor 'package.module:function'")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of Rust are no Exception, nor is SystemExit
        raise TargetError(f"{text!r} cannot be imported: {type(error).__name__}: {error}") from None
    if not callable(found):
        raise TargetError(f"{text!r} is not callable")
    if (told := mismatch(found)) is not None:
        raise TargetError(f"{text!r} is called with (data, parameters, runs): {told}")
    return cast("Callable[..., Any]", found)


def mechanism(
    name: str,
    of: str,
    target: Target,
    stated: StatedClaim,
    monitor: OutcomeMonitor,
    done: Callable[[int], None] = lambda runs: None,
    answered: float = ANSWERED,
) -> Mechanism[Any, Any, Any]:
    """Return the target as a member of the family `of`, with a stated claim. Its randomness is its own; it has no law.

    The first request of a sample is for one run, and each further one for as many as take about `answered` seconds at
    the speed of the one before. watch sees every outcome; done(runs) is called after each request.
    """
    known = family(of)

    def sample(data: Any, parameters: Any, bits: BitSource, n: int) -> Outcomes:
        outcomes: list[Any] = []
        size = 1
        while len(outcomes) < n:
            started = time.monotonic()
            outcomes += target(data, parameters, known, size)
            done(size)
            fitting = size * answered / max(1e-9, time.monotonic() - started)
            size = min(max(1, int(min(fitting, GROWTH * size, REQUEST))), n - len(outcomes))
        monitor.see(outcomes, data)
        return json_lines.gathered(outcomes)

    return Mechanism(name, of, sample, partial(stated.claim, known), seeded=False)
