"""Redirects the output of audited functions and libraries, so that standard output holds only the report."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def redirect_stdout_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error, for Python, C code and child processes.

    Standard output is restored afterwards. Without a file descriptor for it, only Python's is redirected.
    """
    try:
        saved = os.dup(1)
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
        os.dup2(saved, 1)
        os.close(saved)


def _flush() -> None:
    """Flush the buffers of Python's and C's standard output."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, TypeError, AttributeError):  # Windows has no library of that name
        ctypes.CDLL(None).fflush(None)
