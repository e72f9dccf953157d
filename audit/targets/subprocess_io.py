"""A program that answers line by line. It is started once, has a time limit for each answer, and is always ended."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO, NoReturn

from subnormal.audit import interrupts
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import given, quoted

CHUNK = 1 << 16  # bytes read or written at a time
STDERR_MAX = 1 << 12  # last bytes of standard error that are stored
LAST_LINES = 3  # of standard error, quoted in an error
GRACE = 1.0  # seconds for the program to exit after its input is closed


class Program:
    """One process that answers each line with one line. Not thread-safe. POSIX only: Windows has no `select` on pipes.

    If the process does anything else, TargetError is raised and its whole process group is killed.
    """

    def __init__(self, command: str, timeout: float) -> None:
        """Start the command, split as a shell would but run without one. timeout: seconds for an answer.

        Raises TargetError if it cannot be started.
        """
        try:
            arguments = shlex.split(command)
        except ValueError as error:
            raise TargetError(f"{command!r} is not a command: {error}") from None
        if not arguments:
            raise TargetError(f"{command!r} is not a command: it is empty")
        self.timeout = timeout
        self._received = bytearray()
        self._answered = False  # before the first answer, a greeting may be printed
        self._stderr = b""
        try:
            with interrupts.defer():
                self._process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,  # its own group: Ctrl-C does not reach it, and `kill` ends its children
                )
                self.group = self._process.pid
                interrupts.GROUPS.add(self.group)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TargetError(f"{arguments[0]!r} cannot be started: {reason}") from None
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)

    def ask(self, line: bytes, longest: int) -> bytes:
        """Send a line and return the line that answers it, of at most `longest` bytes. Raises TargetError."""
        interrupts.check()
        if self._answered:
            self._receive(self._streams()[1])  # a late line would be taken for the answer to this one
        if self._received:
            self.fail(f"printed a line that was not asked for: {quoted(self._received.decode(errors='replace'))}")
        deadline = time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            stdin, stdout, stderr = self._streams()
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            if not stderr.closed:
                selector.register(stderr, selectors.EVENT_READ)
            unsent, searched = memoryview(line), 0
            while (end := self._received.find(b"\n", searched)) < 0 or unsent:
                searched = len(self._received) if end < 0 else end
                if len(self._received) > longest:
                    self.fail(f"printed more than {longest:,} bytes where an answer ends earlier")
                left = deadline - time.monotonic()
                if left <= 0:
                    self.fail(f"gave no answer within {given(self.timeout)} s")
                for stream in (key.fileobj for key, _ in selector.select(left)):
                    if stream is stdin:
                        unsent = self._send(unsent)
                        if not unsent:
                            selector.unregister(stdin)
                    elif stream is stdout:
                        self._receive(stdout)
                    elif not self._read_stderr(stderr):
                        selector.unregister(stderr)
                        stderr.close()
        answer = bytes(self._received[:end])
        del self._received[: end + 1]
        self._answered = True
        return answer

    def _send(self, unsent: memoryview) -> memoryview:
        stdin = self._streams()[0]
        try:
            written = stdin.write(unsent[:CHUNK])
        except BrokenPipeError:  # it closed its input; reading its output shows how it ended
            return unsent[len(unsent) :]
        return unsent[written or 0 :]

    def _receive(self, stdout: IO[bytes]) -> None:
        read = stdout.read(CHUNK)
        if read == b"":
            self.fail()
        self._received += read or b""

    def _read_stderr(self, stderr: IO[bytes]) -> bool:
        """Read standard error, and store its end. Return whether it is still open."""
        read = stderr.read(CHUNK)
        self._stderr = (self._stderr + (read or b""))[-STDERR_MAX:]
        return read != b""

    def fail(self, problem: str = "") -> NoReturn:
        """End the process and raise TargetError with the problem, or how it ended, and its last standard error."""
        if not problem:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        code = self._process.poll()
        self._kill()
        stderr = self._streams()[2]
        while not stderr.closed and (read := stderr.read(CHUNK)):
            self._stderr = (self._stderr + read)[-STDERR_MAX:]
        self._close()
        lines = [line.strip() for line in self._stderr.decode(errors="replace").splitlines() if line.strip()]
        last = f"; its last standard error: {quoted(' | '.join(lines[-LAST_LINES:]))}" if lines else ""
        raise TargetError(f"{problem or _exit_reason(code)}{last}")

    def close(self) -> None:
        """Close the input of the process, wait `GRACE` seconds, then kill its process group."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its group now."""
        self._kill()
        self._close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, signal.SIGKILL)
        self._process.wait()
        interrupts.GROUPS.discard(self.group)

    def _close(self) -> None:
        for stream in self._streams():
            with suppress(OSError):
                stream.close()

    def _streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise TypeError("the process was started without pipes")
        return stdin, stdout, stderr


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "closed its standard output"
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
