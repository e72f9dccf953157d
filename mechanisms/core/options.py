"""Options behind a name, as in "zero-rounding@epsilon=2.0,outcomes=10", and messages about unknown names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import signature
from operator import index
from typing import Any, TypeVar

from subnormal.mechanisms.numerics import float_types

T = TypeVar("T")

LISTED = 30  # names that fit into a message


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Return the message for a name that is not among the known ones, with the nearest of them if it is close."""
    nearest = get_close_matches(name, known, n=1)
    all_known = f"known: {', '.join(known)}" if len(known) <= LISTED else f"`subnormal list` shows all {len(known)}"
    hint = f"did you mean {nearest[0]!r}?" if nearest else all_known
    return f"unknown {kind} {name!r}; {hint}"


def with_options(base: str, options: Mapping[str, object]) -> str:
    """Return a name with these options after an @."""
    return f"{base}@{','.join(f'{option}={value}' for option, value in options.items())}" if options else base


def split(name: str) -> tuple[str, dict[str, str]]:
    """Return the part of a name before its @, and the options after it. Raises ValueError for one that comes twice.

    >>> split("zero-rounding@epsilon=2.0,outcomes=10")
    ('zero-rounding', {'epsilon': '2.0', 'outcomes': '10'})
    """
    base, _, text = name.partition("@")
    options = (option.partition("=") for option in text.split(",") if option)
    return base, unique([(option, value) for option, _, value in options])


def unique(pairs: list[tuple[str, T]]) -> dict[str, T]:
    """Return named values by their names. Raises ValueError for a name that comes twice.

    >>> unique([("epsilon", 1.0), ("outcomes", 10)])
    {'epsilon': 1.0, 'outcomes': 10}
    """
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is given twice")
        found[name] = value
    return found


def built(build: Callable[..., T], name: str, options: Mapping[str, object]) -> T:
    """Return build(**options), each value converted to the kind of its default.

    Raises LookupError for an unknown option of that name, and ValueError for an invalid value.
    """
    return build(**converted(name, options, defaults_of(build)))


def converted(name: str, options: Mapping[str, object], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, each value read by its default. Raises LookupError and ValueError as `built` does."""
    for option in options.keys() - defaults.keys():
        raise LookupError(unknown(f"option of {name}", option, list(defaults)))
    return {option: read(option, value, defaults[option]) for option, value in options.items()}


def defaults_of(build: Callable[..., object]) -> dict[str, Any]:
    """Return the options of a function, which are its arguments, with their defaults."""
    return {option: parameter.default for option, parameter in signature(build).parameters.items()}


def read(option: str, value: Any, default: object) -> object:
    """Return a value converted to the kind of the default: a name, an integer, a number, or a float type.

    Raises ValueError for a value that is none of that kind.
    """
    if isinstance(default, str):
        return str(value)
    if isinstance(default, type):
        return float_types.of(value).type
    kind = "an integer" if isinstance(default, int) else "a number"
    try:
        if isinstance(default, int):
            return int(value) if isinstance(value, str) else index(value)
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{option} must be {kind}, got {value!r}") from None
