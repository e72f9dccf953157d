"""A program that is spoken to line by line: started once, never waited for longer than a time limit, always ended."""

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
KEPT = 1 << 12  # bytes kept of what it said on standard error
LAST_LINES = 3  # of them, in an error
GRACE = 1.0  # seconds that it has to end by itself, once its input has ended


class Program:
    """One process and the conversation with it. Not for several threads. POSIX only: Windows has no `select` on pipes.

    A line is written and a line is read, in turn; whatever else the process does raises TargetError and ends it, with
    every process of its group.
    """

    def __init__(self, command: str, timeout: float) -> None:
        """Start the command, split as a shell would but with no shell. timeout: seconds that a line may take."""
        try:
            arguments = shlex.split(command)
        except ValueError as error:
            raise TargetError(f"{command!r} is not a command: {error}") from None
        if not arguments:
            raise TargetError(f"{command!r} is not a command: it is empty")
        self.timeout = timeout
        self._received = bytearray()
        self._answered = False  # a greeting may come unasked
        self._said = b""
        try:
            with interrupts.defer():
                self._process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,  # a group of its own: an interrupt is ours to pass on, its children too
                )
                self.group = self._process.pid
                interrupts.GROUPS.add(self.group)
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) else error
            raise TargetError(f"{arguments[0]!r} cannot be started: {told}") from None
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)

    def ask(self, line: bytes, longest: int) -> bytes:
        """Send a line and return the line that answers it, of at most `longest` bytes. Raises TargetError."""
        interrupts.check()
        if self._answered:
            self._receive(self._streams()[1])  # what came late would pass for the answer to this question
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
                    elif not self._listen(stderr):
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
        except BrokenPipeError:  # it has closed its input: how it ended is what is read next
            return unsent[len(unsent) :]
        return unsent[written or 0 :]

    def _receive(self, stdout: IO[bytes]) -> None:
        read = stdout.read(CHUNK)
        if read == b"":
            self.fail()
        self._received += read or b""

    def _listen(self, stderr: IO[bytes]) -> bool:
        """Keep the last of what there is on standard error; return whether there may be more."""
        read = stderr.read(CHUNK)
        self._said = (self._said + (read or b""))[-KEPT:]
        return read != b""

    def fail(self, told: str = "") -> NoReturn:
        """End the process and raise TargetError: what it did, or else how it ended, and its last standard error."""
        if not told:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        code = self._process.poll()
        self._kill()
        stderr = self._streams()[2]
        while not stderr.closed and (read := stderr.read(CHUNK)):
            self._said = (self._said + read)[-KEPT:]
        self._close()
        lines = [line.strip() for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        last = f"; its last standard error: {quoted(' | '.join(lines[-LAST_LINES:]))}" if lines else ""
        raise TargetError(f"{told or _ended(code)}{last}")

    def close(self) -> None:
        """End the process: its input ends, and a moment later it is killed, with every process of its group."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self.kill()

    def kill(self) -> None:
        """End the process now, with every process of its group."""
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


def _ended(code: int | None) -> str:
    if code is None:
        return "closed its standard output"
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
