"""Served in a process of its own: function([accountant, kind, parameters]), for the function that is named last."""

import sys
from typing import Any

from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.named import named

_called: Any = None
_problem: str | None = None
try:
    _called = named(sys.argv[-1])
except TargetError as error:
    _problem = str(error)


def function(question: Any) -> float | str | None:
    """Return a number; for no question, why the function cannot be called, or None.

    Raises TypeError where it returns no number.
    """
    if question is None:
        return _problem
    returned = _called(**question[-1])
    try:
        return float(returned)
    except (TypeError, ValueError):
        raise TypeError(f"no number: {returned!r:.200}") from None
