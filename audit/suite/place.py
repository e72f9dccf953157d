"""Where a finding is shown in the code: at the call that draws the noise, or else where the function is defined."""

from __future__ import annotations

import inspect
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.evidence import ModelledEvidence

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result


def place_of(result: Result, function: Any) -> tuple[str, int] | None:
    """Return a file and a line, the file relative to the working directory where it lies below it; None of a program.

    The noise is located by a replay alone. Its file is known by its name: of modules of one name, one below the working
    directory is taken.
    """
    for one in result.evidence.values():
        if isinstance(one, ModelledEvidence):
            name, _, line = one.release.site.rpartition(":")
            if found := sorted(filter(None, map(_relative, _files(name))), key=os.path.isabs):
                return found[0], int(line)
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function)
    for defined in (function, type(function)):
        try:
            file, line_number = inspect.getsourcefile(defined), inspect.getsourcelines(defined)[1]
        except (TypeError, OSError):
            continue
        return _relative(file or ""), max(1, line_number)
    return None


def _files(name: str) -> list[str]:
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return [one for one in files if one is not None and Path(one).name == name]


def _relative(file: str) -> str:
    path = Path(file).resolve()
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else str(path)
