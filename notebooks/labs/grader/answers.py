"""Answers as data: what a student's code gives a grader, as JSON, wherever that code runs.

A grader gets plain values only: none has methods of the student's own, and none changes between two looks at it.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

Json = Any  # of json.loads
EXPONENT_MAX = 400  # of a Decimal, about that of the largest float
KINDS = "biuf"  # of arrays: bools, integers and floats
ITEM_BYTES = 8


class AnswerError(Exception):
    """An answer that cannot be graded: its message, and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class RaisedError(Exception):
    """The student's code raised: the type of the exception and its message."""


@dataclass(frozen=True, slots=True)
class Other:
    """A value of another type: the type's name and a short form."""

    kind: str
    text: str

    def __repr__(self) -> str:
        return self.text


def shown(value: Any) -> str:
    """Return a short form of a value."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def encoded(value: Any) -> Json:
    """Return a value as JSON. Tuples become lists, numpy's numbers become Python's.

    >>> encoded((1, Fraction(1, 2), {3}, float("inf")))
    [1, {'fraction': '1/2'}, {'set': [3]}, {'float': 'inf'}]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < EXPONENT_MAX:
        value = Fraction(value)
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, list | tuple):
        return [encoded(part) for part in value]
    if isinstance(value, set | frozenset):
        return {"set": [encoded(part) for part in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS and value.dtype.itemsize <= ITEM_BYTES:
        text = base64.b64encode(value.tobytes()).decode()
        return {"array": text, "dtype": value.dtype.str, "shape": list(value.shape)}
    return {"other": [type(value).__name__, shown(value)]}


def decoded(value: Json) -> Any:
    """Return the value of its JSON form. Raises ValueError for what `encoded` does not return.

    >>> decoded([1, {"fraction": "1/2"}, {"set": [3]}, {"float": "inf"}])
    [1, Fraction(1, 2), frozenset({3}), inf]
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [decoded(part) for part in value]
        case {"float": "nan" | "inf" | "-inf" as text, **rest} if not rest:
            return float(text)
        case {"fraction": str(text), **rest} if not rest:
            numerator, _, denominator = text.partition("/")
            return Fraction(int(numerator), int(denominator or 1) or 1)
        case {"set": list(parts), **rest} if not rest and all(isinstance(part, int | float | str) for part in parts):
            return frozenset(parts)
        case {"array": str(text), "dtype": str(dtype), "shape": list(shape), **rest} if not rest:
            return _array(text, dtype, shape)
        case {"other": [str(kind), str(text)], **rest} if not rest:
            return Other(kind, text)
    raise ValueError(f"no answer has the form {shown(value)}")


def _array(text: str, dtype: str, shape: list[Any]) -> np.ndarray[Any, Any]:
    if dtype[1:2] not in tuple(KINDS) or dtype[2:] not in ("1", "2", "4", "8"):
        raise ValueError(f"no array of an answer has the type {shown(dtype)}")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"no array has the shape {shown(shape)}")
    return np.frombuffer(base64.b64decode(text, validate=True), dtype).reshape(shape).copy()


def reply(action: Callable[[], Any]) -> Json:
    """Return what the student's code does, as JSON: its value, why that cannot be graded, or its exception."""
    try:
        return {"value": encoded(action())}
    except AnswerError as error:
        return {"error": [str(error), error.hint]}
    except (Exception, SystemExit) as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def value_of(answer: Json) -> Any:
    """Return the value in a reply. Raises AnswerError, RaisedError, and ValueError for what is no reply."""
    match answer:
        case {"value": value, **rest} if not rest:
            return decoded(value)
        case {"error": [str(message), str(hint)], **rest} if not rest:
            raise AnswerError(message, hint)
        case {"raised": str(text), **rest} if not rest:
            raise RaisedError(text)
    raise ValueError(f"no reply has the form {shown(answer)}")
