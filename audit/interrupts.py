"""Handles Ctrl-C so that it is never lost, even where its KeyboardInterrupt is swallowed.

A KeyboardInterrupt raised in a destructor, in a callback of the garbage collector or of a weak reference (every import
has one) or in the initialisation of an extension module is swallowed; in a class body or a lock it becomes a
RuntimeError. The first interrupt is therefore raised as usual, and again at the next `check()`. The second one ends the
process at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

EXIT_CODE = 130  # 128 + SIGINT, as in a shell
SHOW_CURSOR = b"\x1b[?25h"  # a progress bar hides it
GROUPS: set[int] = set()  # process groups that the terminal does not interrupt; `end` kills them
files_left = "nothing was written"  # the state of the folder after an interrupt, for its message
_interrupted = False
_exit = os._exit  # the original: it is patched while an audited function is called


def _first(*given: object) -> None:
    global _interrupted
    _interrupted = True
    signal.signal(signal.SIGINT, end)
    sys.unraisablehook = _print_swallowed
    raise KeyboardInterrupt


def _print_swallowed(swallowed: Any) -> None:
    """Print an exception that Python ignores, unless it is the interrupt, which `check` raises again."""
    if not issubclass(swallowed.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(swallowed)


def install_handler(handler: Callable[..., None] = _first) -> None:
    """Handle SIGINT, in the main thread. Where it is ignored, as under nohup, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def interrupted() -> bool:
    """Return whether there has been an interrupt."""
    return _interrupted


def check() -> None:
    """Raise KeyboardInterrupt if there has been an interrupt. To be called between the steps of long work."""
    if _interrupted:
        raise KeyboardInterrupt


def end(*given: object) -> None:
    """End this process and its process groups at once. A signal handler."""
    while GROUPS:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(GROUPS.pop(), signal.SIGKILL)
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)
    _exit(EXIT_CODE)


@contextmanager
def defer() -> Iterator[None]:
    """Delay an interrupt until the end of the block, which must not be left half done."""
    if threading.current_thread() is not threading.main_thread():  # other threads get no signals
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
