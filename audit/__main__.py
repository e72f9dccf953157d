"""The command line: python -m audit, or subnormal."""

from __future__ import annotations

import atexit
import io
import sys
import threading
import time

from subnormal.audit import interrupts

if __name__ == "__main__":
    interrupts.install_handler(interrupts.end)  # the imports take a while, and nothing is written by then

import traceback
from importlib.metadata import version
from typing import Any

import click

from subnormal.audit.commands.check import check
from subnormal.audit.commands.claims import claims
from subnormal.audit.commands.common import Failure
from subnormal.audit.commands.compare import compare
from subnormal.audit.commands.compose import compose
from subnormal.audit.commands.explore import explore
from subnormal.audit.commands.labs import labs
from subnormal.audit.commands.law import law
from subnormal.audit.commands.list import list_command
from subnormal.audit.commands.prove import prove
from subnormal.audit.commands.run import run
from subnormal.audit.commands.suite import suite
from subnormal.audit.commands.sweep import sweep
from subnormal.audit.commands.vectors import vectors
from subnormal.audit.commands.write import write


class Commands(click.Group):
    """All commands."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command. Standard output closed or full exits with 2; click's 1 would look like a verdict."""
        try:
            returned = super().invoke(context)
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            sys.stdout = None  # it takes no more text
            raise Failure(f"standard output: {error.strerror}") from None
        return returned


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(version("subnormal"), prog_name="subnormal")
def main() -> None:
    """Attack and audit differential-privacy mechanisms, down to the last bit.

    Exit codes: 0 done, 1 a claim was violated (with --fail-on-violation) or reports differ (compare), 2 a mistake in
    the call, 3 a row failed (with or without violations) or the checked function did, 70 a bug of this program, 130
    interrupted.
    """


main.add_command(run)
main.add_command(check)
main.add_command(suite)
main.add_command(sweep)
main.add_command(prove)
main.add_command(law)
main.add_command(list_command)
main.add_command(vectors)
main.add_command(compose)
main.add_command(compare)
main.add_command(explore)
main.add_command(labs)
main.add_command(claims)
main.add_command(write)


def entry() -> None:
    """Run the command line, and exit with a code that says how it ended."""
    interrupts.install_handler()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters gets question marks
    try:
        code = _done()
    except OSError:  # standard error is closed or full, so no message can be written
        sys.stderr, code = None, 2
    except KeyboardInterrupt:  # it came while another one was reported
        code = interrupts.EXIT_CODE
    if interrupts.interrupted():
        _join_threads()
        atexit._run_exitfuncs()  # which unlink the semaphores of worker processes: their tracker warns of those left
        interrupts.end()  # `sys.exit` may end by the signal itself, and waits for threads
    sys.exit(code)


def _join_threads() -> None:
    """Wait for other threads, a second at most: those of worker processes unlink semaphores when they end."""
    ends = time.monotonic() + 1.0
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join(max(0.0, ends - time.monotonic()))


def _done() -> int:
    """Run the command line, print its error if any, and return the exit code. Raises OSError where printing fails."""
    try:
        return main.main(standalone_mode=False) or 0
    except SystemExit as ended:
        if isinstance(ended.code, int) and ended.code > 0:
            return ended.code
        click.echo(f"ended by {ended!r} before its result", err=True)  # no command of ours does so: foreign code does
        return 70
    except BaseException as error:
        # An interrupt may have turned into any error.
        if interrupts.interrupted() or isinstance(error, click.Abort | KeyboardInterrupt):
            click.echo(f"interrupted: {interrupts.files_left}", err=True)
            return interrupts.EXIT_CODE
        if isinstance(error, click.ClickException):
            error.show()
            return error.exit_code
        traceback.print_exception(error)
        return 70


if __name__ == "__main__":
    entry()
