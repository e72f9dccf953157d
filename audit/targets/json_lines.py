"""The protocol with a program under audit: JSON lines with exact numbers.

docs/protocol.md describes it for authors of such programs, and docs/protocol.schema.json is its schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from subnormal.audit.text import quoted
from subnormal.mechanisms.core.mechanism import Family, Outcomes, Refused

VERSION = 1
REFUSAL = "error:"  # the prefix of a string that reports an exception

_EXACT = 1 << 53  # integers up to this one are floats too, so every JSON parser reads them exactly
_INT64 = 1 << 63
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d{1,6}")
_INTEGER = re.compile(r"[+-]?\d{1,300}")  # more digits exceed the floats, and a statistic is a float


class TargetError(Exception):
    """A target violates the protocol. The message is one line that says how."""


def hello() -> bytes:
    """Return the first line that each side sends."""
    return f'{{"protocol": {VERSION}}}\n'.encode()


def check_hello(answer: object) -> None:
    """Raise TargetError unless the answer is a reply to `hello` with the same version."""
    theirs = answer.get("protocol") if isinstance(answer, dict) else None
    if theirs is None:
        raise TargetError(f'answered {quoted(answer)}, not {{"protocol": {VERSION}}}')
    if theirs != VERSION or isinstance(theirs, bool):
        raise TargetError(f"speaks protocol {quoted(theirs)}, not {VERSION}")


def question(data: object, parameters: Mapping[str, Any]) -> str:
    """Return a request up to its number of runs: the data from the family's `to_json`, and the public parameters."""
    return f'{{"data": {_written(data)}, "parameters": {_written(parameters)}, "runs": '


def _written(value: object) -> str:
    return json.dumps(_exact(value), allow_nan=False)


def _exact(value: Any) -> Any:
    """Return the value with integers beyond 2^53 as strings.

    Floats stay JSON numbers, their shortest decimals of at most 17 digits: a correct parser reads the float back.
    """
    if isinstance(value, Mapping):
        return {name: _exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        small = all(isinstance(part, float) or (isinstance(part, int) and -_EXACT <= part <= _EXACT) for part in value)
        return value if small else [_exact(part) for part in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return str(value)
    return value


def parsed(line: bytes) -> object:
    """Return the value of a line of JSON. Raises TargetError for a line that is not JSON."""
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise TargetError(f"printed what is not a line of JSON: {quoted(line.decode(errors='replace'))}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise TargetError(f"answered with {name}: a finite number is a JSON number or a hexadecimal string")


def answered(answer: object, family: Family[Any, Any, Any], data: object, runs: int, parameters: Any) -> list[Any]:
    """Return the `runs` outcomes of an answer. Raises TargetError for any other answer."""
    outcomes = answer.get("outcomes") if isinstance(answer, dict) else None
    if not isinstance(outcomes, list):
        raise TargetError(f'answered {quoted(answer)}, not {{"outcomes": […]}}')
    return checked([decoded(value) for value in outcomes], family, data, runs, parameters)


def decoded(value: object) -> Any:
    """Return one outcome from its JSON form: an int, a float, a tuple of them, the sorted items of an object of them,
    or a Refused.

    A JSON number is a binary64, and an integer where it is written as one of at most 2^53; a string is a hexadecimal
    float, an integer of any size, or `error: …`. Raises TargetError for anything else, and for an infinite number.
    """
    if isinstance(value, dict):
        items = tuple(sorted((key, decoded(part)) for key, part in value.items()))
        if any(isinstance(part, tuple | Refused) for _, part in items):
            raise TargetError(f"answered with the outcome {quoted(value)}, which is not an object of numbers")
        return items
    if isinstance(value, list):
        parts = tuple(decoded(part) for part in value)
        if not parts or any(isinstance(part, tuple | Refused) for part in parts):
            raise TargetError(f"answered with the outcome {quoted(value)}, which is not a list of numbers")
        return parts
    if isinstance(value, bool):
        raise TargetError(f"answered with the outcome {quoted(value)}, which is no number: write 1 or 0")
    if not isinstance(value, int | float | str):
        told = f"neither a number, a list or an object of numbers, nor a text that begins with {REFUSAL!r}"
        raise TargetError(f"answered with the outcome {quoted(value)}, which is {told}")
    if isinstance(value, str):
        return _from_string(value)
    if isinstance(value, int) and -_EXACT <= value <= _EXACT:
        return value
    return _finite(value, value)


def _from_string(text: str) -> int | float | Refused:
    if text.startswith(REFUSAL):
        return Refused(text.removeprefix(REFUSAL).strip())
    if _INTEGER.fullmatch(text):
        return int(text)
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return _finite(np.inf, text)
        except ValueError:  # no digit at all
            pass
    raise TargetError(f"answered with the outcome {quoted(text)}: no hexadecimal float, integer, or {REFUSAL!r}")


def _finite(value: int | float, given: object) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not isfinite(number):
        raise TargetError(f"answered with an outcome that is not finite: {quoted(given)}")
    return number


def checked(outcomes: list[Any], family: Family[Any, Any, Any], data: object, runs: int, parameters: Any) -> list[Any]:
    """Return the outcomes. Raises TargetError unless there are `runs` of them, each possible for these data."""
    if len(outcomes) != runs:
        raise TargetError(f"answered with {len(outcomes):,} outcomes, not {runs:,}")
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            continue
        try:
            family.outcome(list(outcome) if isinstance(outcome, tuple) else outcome)
        except ValueError as error:
            raise TargetError(f"answered with another family's outcome: {error}") from None
        try:
            family.check_outcome(parameters, data, outcome)
        except ValueError as error:
            raise TargetError(f"answered with {error}") from None
    return outcomes


def gathered(outcomes: list[Any]) -> Outcomes:
    """Return outcomes as an array of int64 or float64 (or of rows of them) if that changes neither a value nor a type,
    else as a list. An event's result for an outcome then does not depend on the other outcomes."""
    kinds = {type(outcome) for outcome in outcomes}
    if kinds == {tuple} and len({len(outcome) for outcome in outcomes}) == 1:
        return _array(outcomes, [part for outcome in outcomes for part in outcome])
    return _array(outcomes, outcomes)


def _array(outcomes: list[Any], numbers: Sequence[Any]) -> Outcomes:
    kinds = {type(number) for number in numbers}
    if kinds == {float}:
        return np.array(outcomes, dtype=np.float64)
    if kinds == {int} and all(-_INT64 <= number < _INT64 for number in numbers):
        return np.array(outcomes, dtype=np.int64)
    return outcomes
