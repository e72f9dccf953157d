"""Ctrl-C that is not lost: what it raises may be swallowed on its way, that it came is kept.

A KeyboardInterrupt that meets a destructor, the callback of a weak reference (every import has one) or the
initialisation of an extension module ends there; a class body or a lock makes a RuntimeError of it. So the first one is
raised as usual, and again at the next `check()`; the second ends the process where it stands.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

EXIT_CODE = 130  # 128 + SIGINT, as a shell has it
SHOW_CURSOR = b"\x1b[?25h"  # which a progress bar hides
GROUPS: set[int] = set()  # process groups that no terminal interrupts: they end with this process
left = "nothing was written"  # what an interrupt leaves behind, in words
_came = False
_exit = os._exit  # as it is before a target that may not end this process is called


def _first(*given: object) -> None:
    global _came
    _came = True
    signal.signal(signal.SIGINT, end)
    raise KeyboardInterrupt


def heed(handler: Callable[..., None] = _first) -> None:
    """Take the interrupts of this process, in its main thread; where they are ignored, as under nohup, they stay so."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def came() -> bool:
    """Return whether an interrupt has come."""
    return _came


def check() -> None:
    """Raise KeyboardInterrupt where one has come and was swallowed; to be called between the steps of long work."""
    if _came:
        raise KeyboardInterrupt


def end(*given: object) -> None:
    """End this process and its groups at once; a signal handler."""
    while GROUPS:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(GROUPS.pop(), signal.SIGKILL)
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)
    _exit(EXIT_CODE)


@contextmanager
def put_off() -> Iterator[None]:
    """Put off an interrupt until the end of what must not be done by halves."""
    if threading.current_thread() is not threading.main_thread():  # the others get none
        yield
        return
    late: list[object] = []
    before = signal.signal(signal.SIGINT, lambda *given: late.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if late:
            signal.raise_signal(signal.SIGINT)
