"""Worker processes that never outlive the audit, and never print a traceback of their own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process


@contextmanager
def pool(tasks: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool with a process for each core, at most one for each of the tasks. An exception ends them."""
    others = active_children()
    count = max(1, min(tasks, os.cpu_count() or 1))
    with ProcessPoolExecutor(count, get_context("spawn"), _prepare) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - set(others):  # they ignore the interrupt, and print no tracebacks
                worker.terminate()
            raise


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()  # returns when the audit is gone, however it went
        os._exit(1)
