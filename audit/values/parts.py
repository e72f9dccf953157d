"""What an object leads to: of a function, what its code names."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sized
from types import CodeType, FunctionType, ModuleType
from typing import Any

LONG = 1_000  # entries of a container of data, which are not looked at


def parts_of(one: object) -> Iterator[Any]:
    """Yield what an object refers to: of a function, only what its code names, and of long containers nothing."""
    if isinstance(one, FunctionType):
        names = list(dict.fromkeys(_names(one.__code__)))
        yield from _named(one.__globals__, names, set())
        yield from (one.__closure__, one.__defaults__, one.__kwdefaults__, one.__dict__)
    elif not (isinstance(one, Sized) and type(one).__module__ == "builtins" and len(one) > LONG):
        yield from gc.get_referents(one)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the functions in it read, and those that it may read by `getattr`."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _names(constant)


def _named(names_of: dict[str, Any], names: list[str], seen: set[int]) -> Iterator[Any]:
    """Yield the values of these names, and those in the modules among them."""
    seen.add(id(names_of))
    for name in names:
        value = names_of.get(name)
        if not isinstance(value, ModuleType):
            yield value
        elif id(vars(value)) not in seen:
            yield from _named(vars(value), names, seen)
