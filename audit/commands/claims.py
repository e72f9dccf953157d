"""audit claims: hold the numbers that a library promises against certified bounds."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.claims import TOLERANCE
from subnormal.audit.commands.common import (
    Failure,
    FiniteRange,
    format_option,
    jobs_option,
    line_progress,
    mistakes,
    print_line,
    print_table,
)
from subnormal.audit.engine.process_pool import each_of, local
from subnormal.audit.text import counted, short, short_apart

if TYPE_CHECKING:
    from subnormal.audit.claims.answers import Answers, Source
    from subnormal.audit.claims.holding import Held, Said

EXAMPLES = 100


@click.command()
@click.argument("function", required=False)
@click.option(
    "--against",
    metavar="PACKAGE",
    help="The package that answers: the one installed here, or PACKAGE==VERSION, which is installed in an environment "
    "of its own.",
)
@click.option("--kind", "names", multiple=True, metavar="KIND", help="Only this kind of claim; may be repeated.")
@click.option("--examples", type=click.IntRange(1), default=EXAMPLES, help="Parameters of each kind.")
@click.option("--seconds", type=FiniteRange(0, min_open=True), default=600.0, help="Time for all kinds together.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the parameters.")
@click.option(
    "--tolerance",
    type=FiniteRange(0, 1),
    default=TOLERANCE,
    help="Share of the truth that a false answer may miss to be ROUNDED.",
)
@click.option(
    "--least-delta",
    type=FiniteRange(0, 1, max_open=True),
    default=0.0,
    help="No smaller delta is asked for.",
)
@click.option(
    "--most-epsilon",
    type=FiniteRange(0, min_open=True),
    default=None,
    help="Nothing is asked for whose true epsilon, or given epsilon, is larger.  [default: any]",
)
@jobs_option("Processes of a package")
@format_option("table", "json", help_text="Of the output.")
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when a claim is violated.")
def claims(
    function: str | None,
    against: str | None,
    names: tuple[str, ...],
    seconds: float,
    most_epsilon: float | None,
    jobs: int | None,
    form: str,
    fail_on_violation: bool,
    **options: Any,
) -> None:
    """Hold the numbers that a library promises against certified bounds on the truth.

    A kind of claim is a question, as: which ε have 100 steps of DP-SGD at δ = 1e-5?
    Parameters are drawn for each kind, edge cases too. VIOLATED: the library says
    less than is true, a proof with two numbers in it; the parameters are shrunk.
    LOOSE: it says more, by this factor (the median, and the largest).
    ROUNDED: it says less than is true by a share within the tolerance: false too,
    as the last bit of a float may be. All such answers are counted, and the one
    that misses most is shown.

    \b
      subnormal claims --against dp-accounting==0.6.0 --kind sampled-gaussian
      subnormal claims --against opendp==0.16.0 --kind threshold
      subnormal claims --against opacus==1.1.3 --kind sampled-gaussian
      subnormal claims my_module:epsilon_of --kind gaussian
    FUNCTION is package.module:function; it takes the parameters of one --kind by
    name (for gaussian: sigma, steps and delta) and returns the number.

    Exit codes: 0 done, 1 a claim is violated (with --fail-on-violation), 2 a
    mistake in the call, 3 nothing was answered. docs/claims.md lists the kinds.
    """
    from subnormal.audit.claims.answers import Row, as_json, held
    from subnormal.audit.claims.kinds import KINDS, kind
    from subnormal.audit.report.to_json import to_json

    if (function is None) == (against is None):
        raise click.UsageError("name a FUNCTION, or a package with --against")
    with mistakes(LookupError, option="--kind"):
        wanted = [kind(name) for name in names] or list(KINDS)
    if function is not None and len(names) != 1:
        raise click.UsageError("a FUNCTION answers one --kind")
    found: list[Held] = []
    with line_progress() as tell, _answers(function, against, names, tell) as (answers, source):
        asked = [(who, one.name) for one in wanted for who, name in answers if name == one.name]
        if not asked:
            raise click.UsageError(f"{against} is not asked about {', '.join(names)}")
        with local(1 if source is None else jobs) as executor:
            ends, left = time.time() + seconds, len(asked)
            here = source is None or executor.window == 1
            shares = (min(1.0, executor.window / (left - number)) for number in range(left))
            options["most_epsilon"] = math.inf if most_epsilon is None else most_epsilon
            where = None if here else source
            rows = [Row(*one, where, ends, share, options) for one, share in zip(asked, shares, strict=True)]
            for one in each_of(executor, held, answers if here else {}, rows):
                found.append(one)
                tell(f"{len(found)} of {left}: {one.accountant}, {one.kind}")
    if form == "json":
        click.echo(to_json([as_json(one) for one in found]), nl=False)
    else:
        _print(found)
    if not any(one.examples for one in found):
        click.echo(f"nothing was answered; the last reason: {found[-1].why or 'the time was over'}", err=True)
        sys.exit(3)
    if fail_on_violation and any(one.violated for one in found):
        sys.exit(1)


@contextmanager
def _answers(
    function: str | None, against: str | None, names: tuple[str, ...], tell: Any
) -> Iterator[tuple[Answers, Source | None]]:
    """Yield what answers, by accountant and kind, and the package if it is one.

    Raises BadParameter and Failure for what cannot be had.
    """
    from subnormal.audit.claims import answers
    from subnormal.audit.targets.environments import NotInstalledError
    from subnormal.audit.targets.json_lines import TargetError

    if function is not None:
        with mistakes(TargetError, option="FUNCTION"), answers.of_function(function, names[0]) as known:
            yield known, None
        return
    release = against or ""
    tell(f"installing {release}" if "==" in release else "")
    try:
        with mistakes(LookupError, option="--against"):
            one, python = answers.source(release)
    except NotInstalledError as error:
        raise Failure(f"{against} is not installed: {error}") from None
    try:
        with answers.of_package(one, python) as known:
            yield known, (one, python)
    except TargetError as error:
        raise Failure(str(error)) from None


def _print(found: list[Held]) -> None:
    from subnormal.audit.report.table import grid

    titles = ("accountant", "kind", "answered", "refused", "rounded", "verdict", "LOOSE", "most")
    table = grid(titles, ("accountant", "kind", "verdict"))
    for one in found:
        counts = (f"{count:,}" for count in (one.examples, one.refused, one.rounded))
        most = max(1.0, one.loosest.factor) if one.loosest else None
        verdict = one.verdict if one.violated or one.rounded else one.verdict.lower()
        table.add_row(one.accountant, one.kind, *counts, verdict, *map(short, (one.factor, most)))
    print_table(table)
    for one in found:
        if one.violated is not None:
            print_line(f"VIOLATED: {_proof(one, one.violated)}")
        if one.shortest is not None:
            print_line(f"ROUNDED: {counted(one.rounded, 'answer')}, at most {_proof(one, one.shortest)}")


def _proof(one: Held, said: Said) -> str:
    """Return the proof of a false answer: the parameters, what is said, what is needed, and how much is missing."""
    from subnormal.audit.claims.kinds import kind

    of = ", ".join(f"{name}={value!r}" for name, value in said.parameters.items())
    missing = f"{kind(one.kind).asks} misses {short(said.shortfall)} of the truth"
    says, least = short_apart(said.said, said.low, 12)
    return f"{one.accountant}, {one.kind}({of}): {missing}: says {says}, at least {least}"
