"""What others print while the house is at work: it must not get into a report on standard output."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def kept_for_the_report() -> Iterator[None]:
    """Send what is printed meanwhile to standard error, by Python, by C, and by processes that are started.

    Standard output is as it was afterwards, whatever happens. Where there is no such file, only Python's is redirected.
    """
    try:
        kept = os.dup(1)
    except OSError:  # it is closed
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        _flush()
        with suppress(OSError):
            os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """Write what is buffered, by C's own standard output too, to where it belongs by now."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, TypeError, AttributeError):  # Windows has no library of that name
        ctypes.CDLL(None).fflush(None)
