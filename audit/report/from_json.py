"""A report read back from its JSON document: the dataclasses of `audit.model`, each field checked by its annotation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from subnormal.audit.model import Report, Row
from subnormal.audit.report.load import Json
from subnormal.audit.text import quoted

INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_hints = cache(get_type_hints)


def report(document: Json) -> Report:
    """Return the report of a document that `load.parsed` has read.

    Pictures of rows are not in report.json: `sketch` is None. Parameters and events are as they stand in the file.
    Raises ValueError, which names the field, where the document does not have the form of a report.
    """
    rows = tuple(_row(row, f"rows[{place}]") for place, row in enumerate(document["rows"]))
    return Report(**_values(Report, document, "", rows=rows))


def _row(document: Json, where: str) -> Row:
    """Return a row. The document has its worlds by name, and the claim once for all kinds of evidence."""
    shaped = dict(document)
    if isinstance(worlds := document.get("worlds"), dict):
        shaped["worlds"] = [worlds.get("in"), worlds.get("out")]
    if isinstance(sequential := document.get("sequential"), dict):
        shaped["sequential"] = sequential | {"claim": document.get("claim")}
    return Row(**_values(Row, shaped, where))


def _values(kind: type, document: Any, where: str, **given: Any) -> dict[str, Any]:
    """Return the values of a dataclass's fields, except for the given ones, from an object with a key for each."""
    if not isinstance(document, dict):
        raise _mistake(where, document)
    values = dict(given)
    for field in fields(kind):
        path = f"{where}.{field.name}".lstrip(".")
        if field.name in document and field.name not in given:
            values[field.name] = _read(_hints(kind)[field.name], document[field.name], path)
        elif field.name not in given and field.default is MISSING:
            raise ValueError(f"has no {path}")
    return values


def _read(hint: Any, value: Any, where: str) -> Any:
    """Return a value as its annotation has it: a tuple for a list, an infinity for its name."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return None
        (hint,) = (one for one in arguments if one is not NoneType)
        return _read(hint, value, where)
    if origin in (dict, Mapping):
        if not isinstance(value, dict):
            raise _mistake(where, value)
        return {name: _read(arguments[1], part, f"{where}.{name}") for name, part in value.items()}
    if origin is tuple:
        return _tuple(arguments, value, where)
    if is_dataclass(hint):
        return _instance(hint, value, where)
    if hint is float:
        value = INFINITIES.get(value, value) if isinstance(value, str) else value
    if not _fits(hint, value):
        raise _mistake(where, value)
    return hint(value) if isinstance(hint, type) and issubclass(hint, Enum) else value


def _instance(kind: Any, value: Any, where: str) -> Any:
    values = _values(kind, value, where)
    try:
        return kind(**values)
    except ValueError as error:  # a claim with a negative budget
        raise ValueError(f"{where}: {error}") from None


def _tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _mistake(where, value)
    hints = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
    if len(hints) != len(value):
        raise _mistake(where, value)
    return tuple(
        _read(hint, one, f"{where}[{place}]") for place, (hint, one) in enumerate(zip(hints, value, strict=True))
    )


def _fits(hint: Any, value: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if issubclass(hint, Enum):
        return value in [str(one) for one in hint]
    numbers = {float: (int, float), int: (int,)}
    return isinstance(value, numbers.get(hint, (hint,))) and (hint is bool or not isinstance(value, bool))


def _mistake(where: str, value: Any) -> ValueError:
    return ValueError(f"{where} is {quoted(value)}, which it cannot be")
