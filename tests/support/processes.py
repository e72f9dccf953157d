"""Processes that tests start: each has a time limit that fails, and none outlives its test."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds for a process on a busy machine
SUBNORMAL = (sys.executable, "-m", "audit")


def run(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and return what it printed. Raises TimeoutExpired, and kills it, after `PATIENCE`."""
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, **options)


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Give a process; it is killed at the end where it is still there: `with Popen` would wait for it without limit.

    An interrupt ends it as it would on a terminal: a background job inherits that interrupts are ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, text=True, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        yield process
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait(PATIENCE)


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait until a process has ended, and return what it printed. Raises TimeoutExpired after `PATIENCE`."""
    return process.communicate(timeout=PATIENCE)


def alive(process: int) -> bool:
    """Return whether a process runs: one that has ended may still be listed. By /proc."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
