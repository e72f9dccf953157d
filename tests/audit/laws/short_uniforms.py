"""Uniforms of few numbers, so that all of them can be tried."""

import math
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from subnormal.audit.laws import forest, lazy, points, questions, sums
from subnormal.audit.laws.draws import sources


@contextmanager
def short_uniforms(size: int, as_float: Callable[[Any], Any] | None = None) -> Iterator[None]:
    """Let random() return one of so many floats, k / size where nothing else is asked for, and forget what was known of
    the others."""
    known = (questions._changes, points._tables, sums._tables, sums._edges_known, forest._changes, forest._messages)
    with ExitStack() as stack:
        for module in (lazy, sources):
            stack.enter_context(patch.object(module, "UNIFORM", size))
            stack.enter_context(patch.object(module, "as_float", as_float or (lambda number: number / size)))
        for kept in known:
            stack.enter_context(patch.dict(kept, clear=True))
        yield


def executed(text: str, names: dict[str, Any]) -> None:
    """Run a text. Not in a module of tests: beside `exec`, no helper is joined."""
    exec(text, names)


def made(text: str) -> Any:
    """Return the function `run` of a text."""
    names: dict[str, Any] = {"__name__": "elsewhere", "random": random, "math": math}
    executed(text, names)
    return names["run"]
