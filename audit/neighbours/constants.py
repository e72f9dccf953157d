"""The constants of a function: the numbers and texts in its code, its defaults, its closure and the globals it reads.

A branch that is taken for one value of a record in 100,000, or for lists from 200 records on, no random input meets.
The value stands in the code.
"""

from __future__ import annotations

import math
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from subnormal.audit.values.parts import parts_of

LOOKED_AT = 1 << 10  # objects that a function leads to
MOST = 64  # constants, the nearest first
LONG = 64  # letters of a text, at most
NOT_OWN = ("numpy", "scipy", *sys.stdlib_module_names)  # whose code has no branches on a user's data
CONTAINERS = (CellType, MethodType, partial, tuple, list, dict, set, frozenset)
INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def constants_of(function: Callable[..., Any]) -> tuple[int | float | str, ...]:
    """Return the constants of a function and of the user's functions that it leads to, each with its neighbours.

    >>> def large(records, limit=200):
    ...     return len(records) >= limit
    >>> constants_of(large)
    (200, 199, 201)
    """
    found = dict[tuple[type, Any], int | float | str]()
    own = _top(getattr(function, "__module__", None))
    own = "" if own in NOT_OWN else own
    known, ahead = {id(function)}, deque[Any]([function])
    while ahead and len(known) < LOOKED_AT and len(found) < MOST:
        one = ahead.popleft()
        if type(one) in (int, float, str):
            found |= {(type(value), value): value for value in _around(one)}
        for part in _parts(one, own):
            if id(part) not in known:
                known.add(id(part))
                ahead.append(part)
    return tuple(found.values())[:MOST]


def _parts(one: object, own: str) -> Iterable[Any]:
    """Return what an object leads to, where it is the user's. own: the package of the function."""
    if isinstance(one, CodeType):
        is_documented = one.co_name != "<lambda>" and isinstance(next(iter(one.co_consts), None), str)
        return one.co_consts[is_documented:]
    if isinstance(one, FunctionType):
        return () if _is_installed(one.__module__, own) else (one.__code__, *parts_of(one))
    module = one.__module__ if isinstance(one, type) else type(one).__module__
    if isinstance(one, CONTAINERS) or not _is_installed(module, own):
        return parts_of(one)
    return ()


def _around(constant: int | float | str) -> list[int | float | str]:
    """Return a constant and the values next to it, on both sides of a comparison with it."""
    if isinstance(constant, str):
        return [constant] if len(constant) <= LONG else []
    if isinstance(constant, int):
        return [constant, constant - 1, constant + 1]
    if not math.isfinite(constant):
        return []
    return [constant, math.nextafter(constant, -math.inf), math.nextafter(constant, math.inf)]


def _is_installed(module: object, own: str) -> bool:
    """Return whether a module is Python's, installed, or Subnormal's: what it compares with is no user's."""
    top = _top(module)
    if top == own:
        return False
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    is_known = not isinstance(file, str) or top in ("subnormal", *sys.stdlib_module_names)
    return is_known or any(Path(str(file)).is_relative_to(folder) for folder in INSTALLED)


def _top(module: object) -> str:
    """Return the package of a module; objects may call anything their module."""
    return module.partition(".")[0] if isinstance(module, str) else "builtins"
