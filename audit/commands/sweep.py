"""audit sweep: one attack at each combination of its options, as a table, a CSV file or a figure."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import Failure, file_mistakes, mistakes, print_table, progress
from subnormal.audit.commands.run import Runs
from subnormal.audit.text import counted, short

if TYPE_CHECKING:
    from subnormal.audit.sweeps import Record

SHOWN = ("mechanism", "verdict", "advantage", "allowed", "loss")  # of a table, after the options that vary
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("attack", metavar="ATTACK")
@click.option(
    "--over",
    multiple=True,
    metavar="OPTION=VALUES",
    help="An option of the attack and its values: as in 0.1,0.5,1; A:B is A and its doubles up to B, so that 2:4096 "
    "stands for the twelve powers of two. Repeat it for more options: all combinations are tried.",
)
@click.option("--runs", type=Runs(0, 10**12), default=0, help="Runs of each world for each row; 0: laws alone.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the runs.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, metavar="N", help="Worker processes.")
@click.option("--csv", "table", type=FILE, metavar="FILE", help="Write all columns to this file.")
@click.option(
    "--figure",
    type=FILE,
    metavar="FILE",
    help="Draw the advantages: PNG, SVG or PDF, by the file's name. Needs matplotlib: the extra `plots`.",
)
def sweep(
    attack: str, over: Sequence[str], runs: int, seed: int, jobs: int, table: Path | None, figure: Path | None
) -> None:
    """Try ATTACK at each combination of its options, on the mechanism that it breaks and on its exact twin.

    The laws decide, without runs. A combination that makes no attack is a row with a note. Without --csv a table is
    printed. Example: subnormal sweep zero-rounding --over epsilon=0.1,0.5,1 --over outcomes=2:4096 --csv study.csv
    """
    from subnormal.audit.engine.process_pool import local
    from subnormal.audit.sweeps import points, records
    from subnormal.mechanisms.core.options import unique

    if figure is not None:
        _check_figure(figure)
    try:
        options = unique([_option(text) for text in over])
    except ValueError as error:
        raise click.BadParameter(f"{error}: name all its values at once", param_hint="--over") from None
    with mistakes(LookupError, ValueError):
        at = points(attack, options)
    found: list[Record] = []
    with local(jobs) as executor, progress("combinations", len(at)) as step:
        for several in records(attack, at, runs=runs, seed=seed, executor=executor):
            found += several
            step()
    if table is None:
        _print(found, over)
    else:
        with file_mistakes("--csv"):
            table.write_text(_csv(found), encoding="utf-8", newline="")
    if figure is not None:
        from subnormal import plots

        with file_mistakes("--figure"):
            plots.sweep(found).savefig(figure)
    click.echo(_tally(found))
    for name, file in (("table", table), ("figure", figure)):
        if file is not None:
            click.echo(f"{name}: {file}")


def _option(text: str) -> tuple[str, str]:
    option, equals, values = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not OPTION=VALUES, as in epsilon=0.1,0.5", param_hint="--over")
    return option.strip(), values


def _check_figure(file: Path) -> None:
    try:
        from subnormal import plots
    except ModuleNotFoundError as error:
        raise Failure(f"--figure: {error}") from None
    if file.suffix.removeprefix(".").lower() not in plots.FORMATS:
        raise click.BadParameter(f"{file} must end in .{', .'.join(plots.FORMATS)}", param_hint="--figure")


def _csv(found: Sequence[Record]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(chain.from_iterable(found))))
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def _print(found: Sequence[Record], over: Sequence[str]) -> None:
    from subnormal.audit.report.table import grid
    from subnormal.audit.sweeps import column

    names = [column(_option(text)[0]) for text in over] + list(SHOWN)
    table = grid(names, left=names)
    for record in found:
        values = [_text(record[name]) for name in names]
        table.add_row(*values if record["note"] is None else [*values[: -len(SHOWN)], record["note"]])
    print_table(table)


def _text(value: Any) -> str:
    return short(value) if isinstance(value, float) or value is None else str(value)


def _tally(found: Sequence[Record]) -> str:
    verdicts = Counter("a note" if one["verdict"] is None else one["verdict"] for one in found)
    parts = ", ".join(f"{number:,} {name}" for name, number in verdicts.items())
    return f"{counted(len(found), 'row')}: {parts}"
