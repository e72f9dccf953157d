"""What commands share: the folder for results, mistakes as one line, progress, and a table as wide as there is room."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from audit.report import SequentialEvidence
    from audit.rows import Crossing


def _named_folder(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    if value == Path():
        raise click.BadParameter("the name of the folder is empty; '.' is written './.'")
    return value


def out_option(told: str, default: str = "reports") -> Callable[[Any], Any]:
    """Return the option --out of a command that writes files."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(default),
        show_default=True,
        callback=_named_folder,
        help=told,
    )


def known(find: Callable[[str], object], name: str, option: str) -> None:
    """Turn a name that is not known into one line and exit code 2."""
    try:
        find(name)
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint=option) from None


@contextmanager
def file_mistakes() -> Iterator[None]:
    """Turn an error of the file system into one line and exit code 2."""
    try:
        yield
    except OSError as error:
        raise click.BadParameter(f"{error.strerror}: {error.filename or 'while writing'}", param_hint="--out") from None


@dataclass(frozen=True, slots=True)
class Steps:
    """The bar of a command: called for each step done; `told` shows how a claim that is being decided stands."""

    bar: Progress
    task: TaskID
    what: str

    def __call__(self) -> None:
        self.bar.advance(self.task)

    def told(self, crossing: Crossing, evidence: SequentialEvidence) -> None:
        """Show the running e-value of a row, against the 1/α at which its claim is refuted."""
        e_value = math.exp(min(700.0, evidence.log_e_value))
        where = f"{crossing.attack.name}, {crossing.mechanism.name}: {evidence.runs:,} runs"
        shown = f"{self.what} {where}, e-value {e_value:.3g} of {1 / evidence.alpha:.3g}"
        self.bar.update(self.task, description=shown)


@contextmanager
def progress(told: str, total: int) -> Iterator[Steps]:
    """Show a bar on a terminal, nothing in a pipe; what it yields is called for each step done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*shown, console=console, disable=not console.is_terminal, transient=True) as bar:
        yield Steps(bar, bar.add_task(told, total=total), told)


def print_table(made: Callable[[int | None], Table]) -> None:
    """Print a table made for the terminal's width; a pipe has none (None), and nothing is cut off."""
    from rich.console import Console

    from audit.render import natural_width

    console = Console()
    if console.is_terminal:
        console.print(made(console.width))
    else:
        whole = made(None)
        Console(width=natural_width(whole)).print(whole)
