"""A program in any language as a function from data to outcomes, through the protocol of JSON lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import Any, TypeVar

from subnormal.audit.targets import json_lines
from subnormal.audit.targets.child_process import ChildProcess
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import counted, quoted
from subnormal.mechanisms.core.mechanism import Refused

ANSWER_BYTES = 1 << 16  # of an answer, besides those of its outcomes
OUTCOME_BYTES = 1 << 14  # of one outcome
REQUEST_MAX = 10_000  # runs of one request, so that answers stay small

_HEXADECIMAL = re.compile(r"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d{1,6}")
_R = TypeVar("_R")


@contextmanager
def program(command: str, parameters: Mapping[str, Any], timeout: float) -> Iterator[Any]:
    """Yield function(data, runs), which a program answers that is started once and ends with the context.

    Data are JSON values; arrays become lists. Outcomes are JSON values: a string is itself, except a hexadecimal float,
    and `error: …`, which is an exception. parameters: sent with every request, as the claimed epsilon. timeout: seconds
    for one answer.
    Raises TargetError where the program cannot be started, or breaks the protocol.
    """
    child = ChildProcess(_arguments(command))

    def asked(line: bytes, longest: int, read: Callable[[object], _R]) -> _R:
        """Return `read(answer)`. After a mistake the program is ended, because its next answer may be late."""
        try:
            answer = child.ask(line, longest, timeout)
            try:
                return read(json_lines.parse(answer))
            except TargetError as error:
                child.fail(str(error))
        except BaseException:
            child.kill()
            raise

    def function(data: Any, runs: int) -> list[Any]:
        try:
            question = json_lines.question(data, parameters)
        except (TypeError, ValueError, OverflowError) as error:
            shown = quoted(repr(data))
            raise TargetError(f"the input {shown} cannot be sent: {error}; --data must draw JSON values") from None
        outcomes: list[Any] = []
        while len(outcomes) < runs:
            size = min(REQUEST_MAX, runs - len(outcomes))
            line, longest = f"{question}{size}}}\n".encode(), ANSWER_BYTES + size * OUTCOME_BYTES
            outcomes += asked(line, longest, partial(_outcomes, runs=size))
        return outcomes

    function.__qualname__ = f"cmd: {command.strip()}"
    try:
        asked(json_lines.hello(), ANSWER_BYTES, json_lines.check_hello)
        yield function
    finally:
        child.close()


def _arguments(command: str) -> list[str]:
    """Return the words of a command, split as a shell would but run without one. Raises TargetError for no command."""
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise TargetError(f"{command!r} is not a command: {error}") from None
    if not arguments:
        raise TargetError(f"{command!r} is not a command: it is empty")
    return arguments


def _outcomes(answer: object, runs: int) -> list[Any]:
    listed = answer.get("outcomes") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise TargetError(f'answered {quoted(answer)}, not {{"outcomes": […]}}')
    if len(listed) != runs:
        raise TargetError(f"answered with {counted(len(listed), 'outcome')}, not {runs:,}")
    return list(map(decoded, listed))


def decoded(value: object) -> Any:
    """Return an outcome from its JSON form. Raises TargetError for a number that is not finite.

    >>> decoded(["0x1p-3", "error: empty", {"a": None}])
    [0.125, Refused(error='empty'), {'a': None}]
    """
    if isinstance(value, list):
        return [decoded(part) for part in value]
    if isinstance(value, dict):
        return {key: decoded(part) for key, part in value.items()}
    if isinstance(value, str) and value.startswith(json_lines.REFUSAL):
        return Refused(value.removeprefix(json_lines.REFUSAL).strip())
    if isinstance(value, str) and _HEXADECIMAL.fullmatch(value):
        try:
            return float.fromhex(value)
        except OverflowError:
            raise TargetError(f"answered with an outcome that is not finite: {value!r}") from None
    if isinstance(value, float) and not isfinite(value):  # 1e999
        raise TargetError("answered with an outcome that is not finite: it is larger than every float")
    return value
