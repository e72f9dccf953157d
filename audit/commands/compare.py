"""audit compare: what changed between two reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import file_mistakes, format_option, mistakes, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from subnormal.audit.report.diff import Difference

REPORT = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("old", type=REPORT)
@click.argument("new", type=REPORT)
@format_option("text", "markdown", help_text="Format of standard output; markdown is for a comment or a job's summary.")
def compare(old: Path, new: Path, form: str) -> None:
    """List the changes from one report.json or suite.json to another. Exit 0 without changes, 1 with changes.

    Rows are matched by attack, mechanism and channel. The list has changed verdicts, new violations first; new or
    missing rows and errors; changed claims, parameters and events. Numbers may differ under the same verdict,
    with two exceptions: exact and exhaustive evidence in the same version, and sampled evidence with the same seed,
    runs, α and environment. Times, and what they show, may always differ.

    \b
    In continuous integration, with the report of an accepted state under version control:
      subnormal run --mechanism opendp-laplace
      subnormal compare accepted.json reports/report.json
    """
    from subnormal.audit.report import load
    from subnormal.audit.report.diff import context, differences, to_markdown
    from subnormal.audit.suite import document

    contents = [_content(path, argument) for path, argument in ((old, "OLD"), (new, "NEW"))]
    are_suites = all(f'"{document.SCHEMA}"'.encode() in content for content in contents)
    parse: Callable[[bytes], Any] = document.parse if are_suites else load.parse
    before, after = (
        _parsed(parse, content, path, argument)
        for content, path, argument in zip(contents, (old, new), ("OLD", "NEW"), strict=True)
    )
    try:
        changes = document.differences(before, after) if are_suites else differences(before, after)
    except RecursionError:
        raise click.UsageError(f"{old} or {new} is nested too deeply") from None
    if not changes:
        return
    if form == "markdown":
        click.echo(to_markdown(changes))
    else:
        print_table(_table(changes))
    if not are_suites and (difference := context(before, after)):
        click.echo(f"the reports differ in {difference}", err=True)
    sys.exit(1)


def _content(path: Path, argument: str) -> bytes:
    with file_mistakes(argument):
        return path.read_bytes()


def _parsed(parse: Callable[[bytes], Any], content: bytes, path: Path, argument: str) -> Any:
    with mistakes(ValueError, option=argument, of=f"{path} "):
        return parse(content)


def _table(changes: Sequence[Difference]) -> Table:
    from rich.text import Text

    from subnormal.audit.report.diff import COLUMNS
    from subnormal.audit.report.table import STYLES, grid

    table = grid(COLUMNS, left=COLUMNS)
    for one in changes:
        cells = (Text(cell, STYLES.get(cell.partition(":")[0], "")) for cell in (one.old, one.new))
        table.add_row(Text(one.row), Text(one.mechanism), Text(one.what), *cells)
    return table
