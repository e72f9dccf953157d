"""A child process that answers line by line, with limits, in a process group of its own that is always ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import NoReturn

from subnormal.audit import interrupts
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import given, quoted

CHUNK = 1 << 16  # bytes read at a time
POLL = 0.1  # seconds between two looks whether the process has ended: its children may hold its output open
STDERR_MAX = 1 << 12  # last bytes of standard error that are stored
LAST_LINES = 3  # of standard error, quoted in an error
GRACE = 1.0  # seconds for the process to exit after its input is closed


class ChildProcess:
    """One process. Not thread-safe. POSIX only: Windows has no `select` on pipes.

    Limits: seconds for a line, and its bytes; of standard error the end is kept. If the process passes one or does
    anything else than answer, TargetError is raised and its whole process group is killed.
    """

    def __init__(self, arguments: Sequence[str], *, keep_stderr: bool = True) -> None:
        """Start a program. keep_stderr: quote the end of standard error in errors; else it is that of this process.

        Raises TargetError if it cannot be started.
        """
        self._received = bytearray()
        self._answered = False  # before the first answer, a greeting may be printed
        self._stderr = b""
        if sys.platform == "win32":
            raise TargetError(f"{arguments[0]!r} cannot be started: programs can be checked on Linux and macOS only")
        pipe = subprocess.PIPE
        try:
            with interrupts.defer():
                self.process = subprocess.Popen(
                    arguments,
                    stdin=pipe,
                    stdout=pipe,
                    stderr=pipe if keep_stderr else None,
                    bufsize=0,
                    start_new_session=True,  # its own group: Ctrl-C does not reach it, and `kill` ends its children
                )
                interrupts.GROUPS.add(self.process.pid)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TargetError(f"{arguments[0]!r} cannot be started: {reason}") from None
        self._sender: threading.Thread | None = None
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._stderr_reader.start()

    def ask(self, line: bytes, longest: int, seconds: float) -> bytes:
        """Send a line and return the line that answers it, as `receive` does."""
        if self._answered and not self._received and wait([self._output], 0):
            self._received += self._read()  # a late line would be taken for the answer to this one
        if self._received:
            self.fail(f"printed a line that was not asked for: {quoted(self._received.decode(errors='replace'))}")
        ends = time.monotonic() + seconds
        self._sender = threading.Thread(target=self.send, args=(line,), daemon=True)  # as the process may not read
        self._sender.start()
        answer = self.receive(longest, seconds)
        self._sender.join(max(0.0, ends - time.monotonic()))
        if self._sender.is_alive():
            self.fail("answered a line before it had read it")
        self._answered = True
        return answer

    def send(self, line: bytes) -> None:
        """Send a line, however long the process takes to read it."""
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):  # its input is closed; its output shows how it ended
            while line:
                line = line[self.process.stdin.write(line) :]

    def receive(self, longest: int, seconds: float) -> bytes:
        """Return the next line that the process prints, of at most `longest` bytes. Raises TargetError."""
        ends, searched = time.monotonic() + seconds, 0
        while (end := self._received.find(b"\n", searched)) < 0:
            interrupts.check()
            searched, left = len(self._received), ends - time.monotonic()
            if searched > longest:
                self.fail(f"printed more than {longest:,} bytes where an answer ends earlier")
            if left <= 0:
                self.fail(f"gave no answer within {given(seconds)} s")
            has_ended = self.process.poll() is not None  # asked before the pipe: what it printed last is read
            if wait([self._output], 0 if has_ended else min(left, POLL)):
                self._received += self._read()
            elif has_ended:
                self.fail()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    @property
    def _output(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def _read(self) -> bytes:
        """Return what the process has printed. Raises TargetError where its output is closed."""
        read = os.read(self._output, CHUNK)
        if not read:
            self.fail()
        return read

    def _read_stderr(self) -> None:
        with suppress(OSError, ValueError):  # closed meanwhile
            while self.process.stderr is not None and (read := self.process.stderr.read(CHUNK)):
                self._stderr = (self._stderr + read)[-STDERR_MAX:]

    def fail(self, problem: str = "") -> NoReturn:
        """End the process and raise TargetError with the problem, or how it ended, and its last standard error."""
        if not problem:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
        code = self.process.poll()
        self.kill()
        lines = [line.strip() for line in self._stderr.decode(errors="replace").splitlines() if line.strip()]
        last = f"; its last standard error: {quoted(' | '.join(lines[-LAST_LINES:]))}" if lines else ""
        raise TargetError(f"{problem or _exit_reason(code)}{last}")

    def interrupt(self, seconds: float) -> None:
        """Interrupt the process group, and wait until the process has ended: it may have to end groups of others."""
        self._signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def close(self) -> None:
        """Close the input of the process, wait `GRACE` seconds, then kill its process group."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its group now."""
        with interrupts.defer():
            self._signal(signal.SIGKILL)
            self.process.wait()
            interrupts.GROUPS.discard(self.process.pid)
        self._stderr_reader.join(GRACE)
        if self._sender is not None:
            self._sender.join(GRACE)  # else it might write on into a file of the same number that is opened next
        is_sent = self._sender is None or not self._sender.is_alive()
        for stream in (self.process.stdin if is_sent else None, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self.process.pid in interrupts.GROUPS:  # else it is killed, and another process may have its number
                os.killpg(self.process.pid, number)


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "closed its standard output"
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
