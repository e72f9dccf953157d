"""Objects that the command line names as package.module:name."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from subnormal.audit.targets.json_lines import TargetError


def named(text: str) -> Any:
    """Return the object `package.module:name`, also from the working directory. Raises TargetError."""
    name, colon, attribute = text.partition(":")
    if not (name and colon and attribute):
        raise TargetError(f"{text!r} is neither 'cmd: …' nor 'package.module:name'")
    return _imported(text, name, attribute.split("."))


def module_named(name: str) -> ModuleType:
    """Return the module `package.module`, also from the working directory. Raises TargetError."""
    module: ModuleType = _imported(name, name, [])
    return module


def _imported(text: str, name: str, parts: list[str]) -> Any:
    if name.endswith(".py") or "/" in name:
        raise TargetError(f"{text!r} names a file: write its module, as in 'package.module:name'")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        value: Any = import_module(name)
        for part in parts:
            value = getattr(value, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of Rust and SystemExit are not Exceptions
        sought = "; the working directory was searched too" if isinstance(error, ModuleNotFoundError) else ""
        raise TargetError(f"{text!r} cannot be imported: {type(error).__name__}: {error}{sought}") from None
    return value
