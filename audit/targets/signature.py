"""Whether a Python callable can be called as a target is: function(data, parameters, runs)."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from subnormal.audit.text import quoted
from subnormal.mechanisms.families import FAMILIES

_TAKING = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def mismatch(function: Callable[..., Any]) -> str | None:
    """Return in words why function(data, parameters, runs) would not mean what it says; None where it may.

    It would not where it cannot be called with three positional arguments, or where the one that gets the mapping of
    parameters, or the number of runs, has the name of a single public parameter (`epsilon`), or a default that is
    neither a mapping nor a number of runs. *args take whatever comes. A callable that tells no signature is only known
    by calling it.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # builtins, and what pretends to be callable
        return None
    try:
        signature.bind(0, {}, 1)
    except TypeError as error:
        return f"its signature is {quoted(str(signature))}: {error}"
    taking = [parameter for parameter in signature.parameters.values() if parameter.kind in _TAKING]
    gets = (("the mapping of all parameters", Mapping), ("the number of runs", int))
    for parameter, (what, kind) in zip(taking[1:3], gets, strict=False):
        default = None if parameter.default is parameter.empty else parameter.default
        fitting = default is None or (isinstance(default, kind) and not isinstance(default, bool))
        if not fitting or parameter.name in _public_names():
            return f"{quoted(str(parameter))} would get {what}"
    return None


def _public_names() -> set[str]:
    return {field.name for family in FAMILIES for field in dataclasses.fields(family.parameters)}
