"""The protocol with a program under audit: JSON lines with exact numbers.

docs/protocol.md describes it for authors of such programs, and docs/protocol.schema.json is its schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from subnormal.audit.text import quoted
from subnormal.mechanisms.core.mechanism import Outcomes

VERSION = 1
REFUSAL = "error:"  # the prefix of a string that reports an exception

_EXACT = 1 << 53  # integers up to this one are floats too, so every JSON parser reads them exactly
_INT64 = 1 << 63


class TargetError(Exception):
    """A program violates the protocol, or what is named is not there. The message is one line that says how."""


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
    """Return a request up to its number of runs: the data, and the numbers of the claim."""
    return f'{{"data": {_written(data)}, "parameters": {_written(parameters)}, "runs": '


def _written(value: object) -> str:
    return json.dumps(_exact(value), allow_nan=False)


def _exact(value: Any) -> Any:
    """Return the value with arrays as lists, and integers beyond 2^53 as strings.

    Floats stay JSON numbers, their shortest decimals of at most 17 digits: a correct parser reads the float back.
    """
    if isinstance(value, np.ndarray | np.generic):
        return _exact(value.tolist())
    if isinstance(value, Mapping):
        return {name: _exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        small = all(isinstance(part, float) or (isinstance(part, int) and -_EXACT <= part <= _EXACT) for part in value)
        return value if small else [_exact(part) for part in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return str(value)
    return value


def parse(line: bytes) -> object:
    """Return the value of a line of JSON. Raises TargetError for a line that is not JSON."""
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise TargetError(f"printed what is not a line of JSON: {quoted(line.decode(errors='replace'))}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise TargetError(f"answered with {name}: a finite number is a JSON number or a hexadecimal string")


def as_outcomes(outcomes: list[Any]) -> Outcomes:
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
