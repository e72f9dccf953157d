"""Checks that a Python callable can be called as function(data, parameters, runs)."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from subnormal.audit.text import quoted
from subnormal.mechanisms.families import FAMILIES

_TAKING = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def mismatch(function: Callable[..., Any]) -> str | None:
    """Return in words why a function does not fit the call function(data, parameters, runs), or None if it may fit.

    It does not fit if it cannot take three positional arguments, or if the argument that gets the mapping of parameters
    or the number of runs has the name of a single public parameter (`epsilon`) or a default of another type. *args fit
    anything. A callable without a signature cannot be checked.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # builtins, and objects without a signature
        return None
    try:
        signature.bind(0, {}, 1)
    except TypeError as error:
        return f"its signature is {quoted(str(signature))}: {error}"
    taking = [parameter for parameter in signature.parameters.values() if parameter.kind in _TAKING]
    gets = (("the mapping of all parameters", Mapping), ("the number of runs", int))
    for parameter, (role, kind) in zip(taking[1:3], gets, strict=False):
        default = None if parameter.default is parameter.empty else parameter.default
        fitting = default is None or (isinstance(default, kind) and not isinstance(default, bool))
        if not fitting or parameter.name in _public_names():
            return f"{quoted(str(parameter))} would get {role}"
    return None


def _public_names() -> set[str]:
    return {field.name for family in FAMILIES for field in dataclasses.fields(family.parameters)}
