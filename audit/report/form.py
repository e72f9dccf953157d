"""Writes, reads and checks report.json by the fields of the dataclasses of `audit.model`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from subnormal.audit.text import quoted
from subnormal.mechanisms.privacy import Range

INFINITIES = {math.inf: "inf", -math.inf: "-inf"}
# Keys that old reports lack.
LATER = {"worlds", "note", "convicted_by", "event_verdict", "command", "commit", "settings"}
NUMBERS = {float: (int, float), int: (int,)}


@dataclass(frozen=True, slots=True)
class AnyNumber(Range):
    """Every number, infinities and NaN among them, which is written as "nan"."""

    low: float | None = -math.inf
    high: float | None = math.inf


def is_object(kind: Any) -> bool:
    """Return whether a type is a dataclass, which is an object of a fixed form in JSON."""
    return is_dataclass(kind)


@cache
def keys(kind: Any) -> Mapping[str, tuple[Field[Any], Any]]:
    """Return the keys of a dataclass's JSON object, in order, each with its field and the field's annotation."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.name.rstrip("_"): (one, hints[one.name]) for one in fields(kind) if one.compare}


@cache
def parts(hint: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return an annotation's type, its rule for values, and the type's arguments.

    The rule is a `Range`, the class with the keys of a mapping, or a tuple of all values. None: there is no rule.
    """
    kind, rule = get_args(hint) if get_origin(hint) is Annotated else (hint, None)
    if get_origin(kind) is Literal:
        rule = get_args(kind)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        rule = rule or tuple(kind)
    return kind, rule, get_args(kind)


def plain(value: Any) -> Any:
    """Return a value for JSON: an object for a dataclass, a list for a tuple, a string for an infinity."""
    kind: Any = type(value)
    if is_object(kind):
        return {key: _plain_field(getattr(value, one.name), hint) for key, (one, hint) in keys(kind).items()}
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return INFINITIES.get(value, value) if isinstance(value, float) else value


def _plain_field(value: Any, hint: Any) -> Any:
    missing = isinstance(value, float) and math.isnan(value) and isinstance(parts(hint)[1], AnyNumber)
    return "nan" if missing else plain(value)


def read(hint: Any, value: Any, where: str = "") -> Any:
    """Return a value of JSON in the form of its annotation: a dataclass for an object, a tuple for a list, infinities.

    Raises ValueError, which names the key and the value, for a value of another form.
    """
    kind, rule, arguments = parts(hint)
    if NoneType in arguments:
        (other,) = (one for one in arguments if one is not NoneType)
        return None if value is None else read(other, value, where)
    if is_object(kind):
        return _instance(kind, value, where)
    if get_origin(kind) is Mapping:
        return _mapping(arguments[1], rule, value, where)
    if get_origin(kind) is tuple:
        return _tuple(arguments, value, where)
    if isinstance(rule, tuple):
        if value not in rule:
            raise ValueError(f"{where} is {quoted(value)}, which is none of {', '.join(rule)}")
        return rule[rule.index(value)]
    return value if kind is Any else _scalar(kind, rule, value, where)


def _instance(kind: Any, value: Any, where: str) -> Any:
    members = _object(value, where)
    values = {}
    for key, (one, hint) in keys(kind).items():
        if key in members and one.init:
            values[one.name] = read(hint, members[key], _inside(where, key))
        elif key not in members and (key not in LATER or (one.default is MISSING and one.default_factory is MISSING)):
            raise ValueError(f"has no {_inside(where, key)}")
    return kind(**values)


def _mapping(hint: Any, required: Any, value: Any, where: str) -> dict[str, Any]:
    members = _object(value, where)
    for key, part in {} if required is None else get_type_hints(required).items():
        if key not in members:
            raise ValueError(f"has no {_inside(where, key)}")
        read(part, members[key], _inside(where, key))
    return {key: read(hint, part, _inside(where, key)) for key, part in members.items()}


def _tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    hints = arguments[:1] * len(value) if arguments[-1] is Ellipsis and isinstance(value, list) else arguments
    if not isinstance(value, list) or len(hints) != len(value):
        raise ValueError(f"{where} is {quoted(value)}, which it cannot be")
    return tuple(read(hint, one, f"{where}[{at}]") for at, (hint, one) in enumerate(zip(hints, value, strict=True)))


def _scalar(kind: Any, rule: Any, value: Any, where: str) -> Any:
    number = float(value) if kind is float and value in INFINITIES.values() else value
    fits = isinstance(number, NUMBERS.get(kind, (kind,))) and isinstance(number, bool) == (kind is bool)
    if not fits or (kind in NUMBERS and number not in (rule or Range())):
        raise ValueError(f"{where} is {quoted(value)}, which it cannot be")
    return number


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {quoted(value)}, not an object")
    return value


def _inside(where: str, key: str) -> str:
    return f"{where}.{key}".lstrip(".")
