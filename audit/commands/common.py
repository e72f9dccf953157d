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
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit import interrupts
from subnormal.audit.text import short

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, ProgressColumn
    from rich.table import Table

    from subnormal.audit.engine.row_state import RowState
    from subnormal.audit.engine.scheduler import AuditProgress


WIDTH = 80  # columns of a line where there is no terminal
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
def file_mistakes(option: str = "--out") -> Iterator[None]:
    """Turn an error of the file system into one line and exit code 2. Raises Failure instead of OSError."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{option}: {error.strerror}: {error.filename or 'while writing'}") from None


def _is_due() -> Callable[[], bool]:
    """Return what says whether it is `PROGRESS_INTERVAL` seconds since it said so, or since now."""
    spoke = time.monotonic()

    def is_due() -> bool:
        nonlocal spoke
        late = time.monotonic() - spoke >= PROGRESS_INTERVAL
        spoke = time.monotonic() if late else spoke
        return late

    return is_due


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; in a pipe, a line every `PROGRESS_INTERVAL` seconds. Yields what each step calls."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    with _bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task, steps, is_due = bar.add_task(what, total=total), itertools.count(1), _is_due()

        def done() -> None:
            interrupts.check()
            bar.advance(task)
            step = next(steps)
            if bar.disable and is_due():
                click.echo(f"{what}: {step:,} of {total:,}", err=True)

        yield done


@contextmanager
def audit_progress() -> Iterator[Callable[[AuditProgress], None]]:
    """Show rows, runs per second, the time left, and the bound of the row that was counted last.

    In a pipe it is a line every `PROGRESS_INTERVAL` seconds.
    """
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.table import Column

    rows, speed = TextColumn("{task.fields[rows]}"), TextColumn("{task.fields[speed]}")
    rest = TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True))  # cut off if there is no room
    with _bar(rows, BarColumn(10), TaskProgressColumn(), speed, rest, expand=True) as bar:
        task = bar.add_task("", total=None, rows="auditing", speed="")
        begun, is_due = time.monotonic(), _is_due()

        def update(progress: AuditProgress) -> None:
            if bar.disable and not is_due():
                return
            done, rows = progress.runs_done, f"{progress.rows_done} of {progress.rows} rows"
            speed = pace(done - progress.runs_restored, progress.runs - done, time.monotonic() - begun)
            if bar.disable:
                click.echo("; ".join(filter(None, (f"auditing: {rows}", speed, bound(progress.at)))), err=True)
                return
            fields: dict[str, Any] = {"total": max(1, progress.runs), "completed": done, "rows": rows}
            bar.update(task, description=bound(progress.at), speed=speed, **fields)

        yield update


@contextmanager
def line_progress() -> Iterator[Callable[[str], None]]:
    """Show the last message on a terminal; in a pipe, as a line every `PROGRESS_INTERVAL` seconds."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))  # it may hold [a]
    with _bar(SpinnerColumn(), TimeElapsedColumn(), text, expand=True) as bar:
        task = bar.add_task("starting", total=None)
        is_due = _is_due()

        def update(message: str) -> None:
            interrupts.check()
            if message and not bar.disable:
                bar.update(task, description=message)
            elif message and is_due():
                click.echo("\n".join(wrap(message, WIDTH, subsequent_indent="  ", break_on_hyphens=False)), err=True)

        yield update


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
        e_value = math.exp(min(700.0, state.tally.evidence.log_e_value))
        return f"e-value {short(e_value, 3)} of {short(1 / state.plan.alpha, 3)}: {where}"
    claim, runs, counts = state.prepared.claim, state.tally.counted, state.tally.counts
    tail = binomial.parts(state.plan.alpha, len(counts[0].bins))[0] / 4
    event_in, event_out = (binomial.clopper_pearson(world.event, runs, tail) for world in counts)
    proved = binomial.epsilon_lower(event_in, event_out, claim.delta)
    return f"ε ≥ {short(proved, 3)} of {short(claim.epsilon, 3)}: {where}"


def _bar(*columns: ProgressColumn, expand: bool = False) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True, expand=expand)


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
    if console.is_terminal:
        console.print(table)
    else:
        print_whole(table)


def print_whole(table: Table) -> None:
    """Print a table without cutting or folding its lines, on a terminal too."""
    from subnormal.audit.report.table import natural_width

    _console(width=natural_width(table)).print(table)


def print_lines(lines: Iterable[RenderableType], width: int) -> None:
    """Print lines of the same width on a terminal and in a pipe, with colours on a terminal only."""
    console = _console(width=width)
    for line in lines:
        console.print(line, markup=False, highlight=False)
