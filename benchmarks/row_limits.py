"""Every row of `run --all`, without its runs, in a process of its own that ends beyond 2 GB or 60 seconds.

python -m benchmarks.row_limits [TEXT]: names each row beyond a limit or with an error; then the exit code is 1.
TEXT: only rows whose attack or mechanism contains it. All of them take some minutes.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from subnormal.attacks.catalogue import attacks
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.engine.row import examine

MEMORY = 2 << 30  # bytes that a row may take beyond those of the program
SECONDS = 60  # of a processor
PATIENCE = 1_200.0  # seconds of the clock, on a busy machine


def failure(crossing: Crossing) -> str | None:
    """Return what went wrong with a row within the limits; None where nothing did. Linux alone."""
    return limited(lambda: examine(crossing, seed=1, runs=0, alpha=0.05).error or "", MEMORY, SECONDS) or None


def limited(call: Callable[[], str], memory: int, seconds: int) -> str:
    """Return what a call returns in a process of its own, or why it was ended. The call has to catch MemoryError."""
    context = get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(call, memory, seconds, send))
    process.start()
    send.close()
    try:
        return str(receive.recv()) if receive.poll(PATIENCE) else f"it took more than {PATIENCE} s"
    except EOFError:
        return f"it was ended after {seconds} s of a processor"
    finally:
        process.kill()
        process.join()


def _call(call: Callable[[], str], memory: int, seconds: int, send: Connection) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    send.send(call())


def rows(text: str = "") -> list[Crossing]:
    """Return the crossings of `run --all` with the text in a name, but for those under a clock."""
    known = crossings((one for one in attacks() if one.channel != "time"), everything=True)
    return [one for one in known if text in one.attack.name or text in one.mechanism.name]


def main(arguments: Sequence[str]) -> int:
    """Examine the rows, print those that failed, and return the exit code."""
    failed = 0
    for crossing in rows(*arguments):
        if (what := failure(crossing)) is not None:
            failed += 1
            print(f"{crossing.attack.name}, {crossing.mechanism.name}: {what}", flush=True)
    print(f"{len(rows(*arguments))} rows, {failed} beyond a limit or with an error")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
