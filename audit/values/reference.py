"""Where a function or a class is imported from."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any


def imported_as(named: Any) -> str | None:
    """Return "module:name", under which another module can import a function or a class; None where none can.

    >>> from fractions import Fraction
    >>> imported_as(Fraction), imported_as(lambda: None)
    ('fractions:Fraction', None)
    """
    module = getattr(named, "__module__", None)
    names = getattr(sys.modules.get(module or ""), "__dict__", None)
    if names is None or module == "__main__":
        return None
    path = getattr(named, "__qualname__", "")
    if _at(names, path) is named:
        return f"{module}:{path}"
    found = (name for name, value in list(names.items()) if value is named and name.isidentifier())
    name = next(found, None)
    return None if name is None else f"{module}:{name}"


@lru_cache(256)
def constant(value: Any) -> str | None:
    """Return "module:NAME" of an object that a module holds under a name; None where none but `__main__` does."""
    for module, names in [(name, getattr(one, "__dict__", {})) for name, one in list(sys.modules.items())]:
        if module != "__main__" and (name := next((key for key, one in list(names.items()) if one is value), None)):
            return f"{module}:{name}"
    return None


def reference(named: Any) -> tuple[str, str | None]:
    """Return the name of a function or class, and the line that imports it: a comment where it cannot be imported, and
    None where nothing has to be."""
    place = imported_as(named)
    if place is None:
        name = named.__qualname__.rpartition(".")[2]
        return name, f"# {name} must be imported: it is defined in {named.__qualname__} of {named.__module__}"
    return imported(place)


def imported(place: str) -> tuple[str, str | None]:
    """Return a name, and the line that imports it from "module:name".

    >>> imported("my_module:Sum.noisy"), imported("builtins:len")
    (('Sum.noisy', 'from my_module import Sum'), ('len', None))
    """
    module, _, name = place.partition(":")
    return name, None if module == "builtins" else f"from {module} import {name.partition('.')[0]}"


def _at(names: dict[str, Any], path: str) -> Any:
    """Return what stands at a path of names, as "Class.method"; None where nothing does."""
    first, *others = path.split(".")
    value = names.get(first)
    for name in others:
        value = getattr(value, name, None)
    return value
