"""Shared by the commands: the folder for results, errors of one line, progress, and tables on standard output."""

from __future__ import annotations

import errno
import itertools
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit import interrupts
from subnormal.audit.report import atomic_write
from subnormal.audit.text import e_value, short

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from subnormal.audit.engine.row_state import RowState
    from subnormal.audit.engine.scheduler import AuditProgress


WIDTH = 80  # columns of a line where there is no terminal
WIDEST = 10_000  # columns of a table that is not folded
PROGRESS_INTERVAL = 10.0  # seconds between two lines of progress without a terminal


def named_folder(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Refuse an empty name of a folder."""
    if value == Path():
        raise click.BadParameter("the name of the folder is empty; '.' is written './.'")
    return value


def out_option(help_text: str, default: str = "reports") -> Callable[[Any], Any]:
    """Return the option --out of a command that writes files."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(default),
        callback=named_folder,
        help=help_text,
    )


def jobs_option(help_text: str) -> Callable[[Any], Any]:
    """Return the option --jobs of a command."""
    shown = f"{help_text}.  [default: one for each core]"
    return click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help=shown)


class FiniteRange(click.FloatRange):
    """A finite number in a range. A comparison lets NaN pass, and infinity in one direction."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the number. Raises BadParameter for NaN and infinities, and as click does."""
        number = super().convert(value, parameter, context)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number", parameter, context)
        return number


def format_option(*forms: str, help_text: str) -> Callable[[Any], Any]:
    """Return the option --format of a command, as `form`; the first of the forms is the default."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], help=help_text)


def known(find: Callable[[str], object], name: str, option: str) -> None:
    """Check a name. Raises BadParameter for an unknown name, and says if it is the name of something else."""
    try:
        find(name)
    except (LookupError, ValueError) as error:
        kind = _kind(name) or ""
        message = f"{name!r} is {kind}" if kind and not kind.endswith(option.removeprefix("--")) else error.args[0]
        raise click.BadParameter(str(message), param_hint=option) from None


def _kind(name: str) -> str | None:
    """Return the kind of a name: a mechanism (installed or not), a family or an attack."""
    from subnormal.attacks.catalogue import names
    from subnormal.mechanisms.families import FAMILIES, absent, members

    kinds = {one.name: "a mechanism" for family in FAMILIES for one in (*members(family), *absent(family))}
    kinds |= {one.name: "a family" for one in FAMILIES} | dict.fromkeys(names(), "an attack")
    return kinds.get(name)


class Failure(click.ClickException):
    """An error whose cause is not an argument of the command: one line, and exit code 2."""

    exit_code = 2


@contextmanager
def mistakes(*kinds: type[Exception], option: str | None = None, of: str = "") -> Iterator[None]:
    """Turn errors of these kinds into a mistake of an option, or of the whole call. of: what its message begins with.

    Raises BadParameter or UsageError.
    """
    try:
        yield
    except kinds as error:
        text = f"{of}{error.args[0] if isinstance(error, LookupError) else error}"  # a KeyError quotes its text
        raise (click.UsageError(text) if option is None else click.BadParameter(text, param_hint=option)) from None


@contextmanager
def file_mistakes(option: str = "--out") -> Iterator[None]:
    """Turn an error of the file system into one line and exit code 2. Raises Failure instead of OSError."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{option}: {error.strerror}: {error.filename or 'while writing'}") from None


@contextmanager
def output(folder: Path | None, option: str = "--out", stale: Iterable[str] = ()) -> Iterator[dict[str, bytes]]:
    """Check that a folder takes files, yield a mapping for them by name, and write them at the end, all or none.

    Without a folder nothing is written. stale: files of earlier runs, to be removed. Raises Failure.
    """
    files: dict[str, bytes] = {}
    if folder is None:
        yield files
        return
    with file_mistakes(option):
        atomic_write.prepare(folder)
    yield files
    with file_mistakes(option):
        atomic_write.write(folder, files, stale)


@contextmanager
def line_progress() -> Iterator[Callable[[str | Callable[[], str]], None]]:
    """Show the last message on a terminal; in a pipe, as a line every `PROGRESS_INTERVAL` seconds.

    Yields what takes messages, or functions that return one, which are called where it is shown.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))  # it may hold [a]
    console = Console(stderr=True)
    columns, piped, spoke = (SpinnerColumn(), TimeElapsedColumn(), text), not console.is_terminal, time.monotonic()
    with Progress(*columns, console=console, disable=piped, transient=True, expand=True) as shown:
        task = shown.add_task("starting", total=None)

        def update(message: str | Callable[[], str]) -> None:
            nonlocal spoke
            interrupts.check()
            if not message or (piped and time.monotonic() - spoke < PROGRESS_INTERVAL):
                return
            told, spoke = message if isinstance(message, str) else message(), time.monotonic()
            shown.update(task, description=told)
            if piped:
                click.echo("\n".join(wrap(told, WIDTH, subsequent_indent="  ", break_on_hyphens=False)), err=True)

        yield update


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how many of the steps are done. Yields what each step calls."""
    with line_progress() as tell:
        steps = itertools.count(1)
        yield lambda: tell(f"{what}: {next(steps):,} of {total:,}")


@contextmanager
def audit_progress() -> Iterator[Callable[[AuditProgress], None]]:
    """Show rows, runs per second, the time left, and the bound of the row that was counted last."""
    begun = time.monotonic()

    def words(done: AuditProgress) -> str:
        speed = pace(done.runs_done - done.runs_restored, done.runs - done.runs_done, time.monotonic() - begun)
        return "; ".join(filter(None, (f"{done.rows_done} of {done.rows} rows", speed, bound(done.at))))

    with line_progress() as tell:
        yield lambda done: tell(partial(words, done))


def pace(done: int, left: int, seconds: float) -> str:
    """Return the runs per second, and the time of the remaining runs at that speed.

    done: runs since this audit began, without those of a checkpoint.

    >>> pace(24_600_000, 975_400_000, 1.0), pace(0, 1_000, 1.0)
    ('24,600,000 runs/s, 0:00:39 left', '')
    """
    if done <= 0:
        return ""
    return f"{done / seconds:,.0f} runs/s, {timedelta(seconds=int(left * seconds / done))} left"


def bound(state: RowState | None) -> str:
    """Return the current result of a row: a lower bound of its loss, or the e-value against its claim."""
    from subnormal.audit.evidence import batches
    from subnormal.audit.statistics import binomial

    if state is None or state.tally is None or state.prepared is None or not state.tally.counted:
        return ""
    where = f"{state.crossing.attack.name}, {state.crossing.mechanism.name}"
    if not isinstance(state.tally, batches.BatchTotals):
        return f"e-value {e_value(state.tally.evidence.log_e_value)} of {short(1 / state.plan.alpha, 3)}: {where}"
    claim, runs, counts = state.prepared.claim, state.tally.counted, state.tally.counts
    tail = binomial.parts(state.plan.alpha, len(counts[0].bins))[0] / 4
    event_in, event_out = (binomial.clopper_pearson(world.event, runs, tail) for world in counts)
    proved = binomial.epsilon_lower(event_in, event_out, claim.delta)
    return f"ε ≥ {short(proved, 3)} of {short(claim.epsilon, 3)}: {where}"


def _console(**options: Any) -> Console:
    """Return a console for standard output that raises OSError where that is closed. Rich's own exits with 1 there."""
    from rich import console

    class Piped(console.Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Piped(**options)


def print_line(text: str, indent: int = 0) -> None:
    """Print a line, in a terminal folded at words to its width. indent: spaces before it, two more below."""
    console, before = _console(), indent * " "
    options: dict[str, Any] = {"initial_indent": before, "subsequent_indent": f"{before}  ", "break_on_hyphens": False}
    lines = wrap(text, console.width, **options) if console.is_terminal else [f"{before}{text}"]
    click.echo("\n".join(lines))


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal; in a pipe nothing is cut off or folded."""
    console = _console()
    (console if console.is_terminal else _console(width=WIDEST)).print(table)


def print_lines(lines: Iterable[RenderableType], width: int) -> None:
    """Print lines of the same width on a terminal and in a pipe, with colours on a terminal only."""
    console = _console(width=width)
    for line in lines:
        console.print(line, markup=False, highlight=False)
