"""audit claims: hold the numbers that a library promises against certified bounds."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import Failure, finite, line_progress, print_table
from subnormal.audit.text import short

if TYPE_CHECKING:
    from subnormal.audit.claims.holding import Answer, Held

EXAMPLES = 100
Answers = Mapping[tuple[str, str], "Answer"]


@click.command()
@click.argument("function", required=False)
@click.option(
    "--against",
    metavar="PACKAGE",
    help="The package that answers: the one installed here, or PACKAGE==VERSION, which is installed in an environment "
    "of its own.",
)
@click.option("--kind", "names", multiple=True, metavar="KIND", help="Only this kind of claim; may be repeated.")
@click.option(
    "--examples", type=click.IntRange(1), default=EXAMPLES, show_default=True, help="Parameters of each kind."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    callback=finite,
    default=600.0,
    show_default=True,
    help="Time for all kinds together.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the parameters.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Of the output."
)
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when a claim is violated.")
def claims(
    function: str | None,
    against: str | None,
    names: tuple[str, ...],
    examples: int,
    seconds: float,
    seed: int,
    form: str,
    fail_on_violation: bool,
) -> None:
    """Hold the numbers that a library promises against certified bounds on the truth.

    A kind of claim is a question, as: which ε have 100 steps of DP-SGD at δ = 1e-5?
    Parameters are drawn for each kind, edge cases too. VIOLATED: the library says
    less than is true, a proof with two numbers in it; the parameters are shrunk.
    LOOSE: it says more, by this factor (the median, and the largest).
    ROUNDED: answers below the truth by no more than a ten-thousandth: floats.

    \b
      subnormal claims --against dp-accounting
      subnormal claims --against opendp==0.16.0 --kind threshold
      subnormal claims --against opacus==1.1.3 --kind sampled-gaussian
      subnormal claims my_module:epsilon_of --kind gaussian
    FUNCTION is package.module:function; it takes the parameters of one --kind by
    name (for gaussian: sigma, steps and delta) and returns the number.

    Exit codes: 0 done, 1 a claim is violated (with --fail-on-violation), 2 a
    mistake in the call, 3 nothing was answered. docs/claims.md lists the kinds.
    """
    from subnormal.audit.claims.holding import hold
    from subnormal.audit.claims.kinds import KINDS, kind

    if (function is None) == (against is None):
        raise click.UsageError("name a FUNCTION, or a package with --against")
    try:
        wanted = [kind(name) for name in names] or list(KINDS)
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--kind") from None
    if function is not None and len(names) != 1:
        raise click.UsageError("a FUNCTION answers one --kind")
    found = []
    with line_progress() as tell, _answers(function, against, names, tell) as answers:
        ends = time.monotonic() + seconds
        asked = [(who, one) for one in wanted for who, name in answers if name == one.name]
        if not asked:
            raise click.UsageError(f"{against} is not asked about {', '.join(names)}")
        for number, (who, one) in enumerate(asked):
            tell(f"{who}, {one.name}")
            left = max(0.0, ends - time.monotonic()) / (len(asked) - number)
            found.append(hold(who, answers[who, one.name], one, examples=examples, seconds=left, seed=seed))
    if form == "json":
        click.echo(json.dumps([as_json(one) for one in found], indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _print(found)
    if not any(one.examples for one in found):
        click.echo(f"nothing was answered; the last reason: {found[-1].why or 'the time was over'}", err=True)
        sys.exit(3)
    if fail_on_violation and any(one.violated for one in found):
        sys.exit(1)


@contextmanager
def _answers(function: str | None, against: str | None, names: tuple[str, ...], tell: Any) -> Iterator[Answers]:
    """Yield what answers, by accountant and kind. Raises BadParameter and Failure for what cannot be had."""
    from subnormal.audit.claims import answers
    from subnormal.audit.targets.environments import NotInstalledError
    from subnormal.audit.targets.json_lines import TargetError
    from subnormal.audit.targets.named import named

    if function is not None:
        try:
            called = named(function)
        except TargetError as error:
            raise click.BadParameter(str(error), param_hint="FUNCTION") from None
        yield {(function, names[0]): answers.of_function(called)}
        return
    name, _, version = (against or "").partition("==")
    tell(f"installing {against}" if version else "")
    try:
        one = answers.package(name)
        python = answers.interpreter(one, version, _folder())
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--against") from None
    except NotInstalledError as error:
        raise Failure(f"{against} is not installed: {error}") from None
    try:
        with answers.of_package(one, python) as known:
            yield known
    except TargetError as error:
        raise Failure(str(error)) from None


def _folder() -> Path:
    """Return the folder of the environments of releases, in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "subnormal" / "environments"


def as_json(one: Held) -> dict[str, Any]:
    """Return what was found as JSON values; "inf" stands for infinity."""

    def number(value: float | None) -> Any:
        return "inf" if value == math.inf else value

    def said(answer: Any) -> Any:
        if answer is None:
            return None
        numbers = {"said": answer.said, "low": answer.low, "up": answer.up}
        return {"parameters": dict(answer.parameters), **{key: number(value) for key, value in numbers.items()}}

    return {
        "accountant": one.accountant,
        "kind": one.kind.name,
        "verdict": "VIOLATED" if one.violated else "NOT REFUTED",
        "answered": one.examples,
        "refused": one.refused,
        "reason": one.why,
        "rounded": one.rounded,
        "violated": said(one.violated),
        "loose": number(one.factor),
        "loosest": said(one.loosest),
    }


def _print(found: list[Held]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in ("accountant", "kind", "answered", "refused", "rounded", "verdict", "LOOSE", "most"):
        table.add_column(column, justify="left" if column in ("accountant", "kind", "verdict") else "right")
    for one in found:
        verdict = "VIOLATED" if one.violated else "not refuted" if one.examples else "no answer"
        counts = (f"{count:,}" for count in (one.examples, one.refused, one.rounded))
        most = max(1.0, one.loosest.factor) if one.loosest else None
        table.add_row(one.accountant, one.kind.name, *counts, verdict, *map(short, (one.factor, most)))
    print_table(table)
    for one in found:
        if one.violated is not None:
            click.echo(violation_text(one))


def violation_text(one: Held) -> str:
    """Return the proof in one line: the parameters, what is said, and what is needed."""
    said = one.violated
    assert said is not None
    of = ", ".join(f"{name}={value!r}" for name, value in said.parameters.items())
    where = f"{one.accountant}, {one.kind.name}({of})"
    return f"VIOLATED: {where}: {one.kind.asks}: says {short(said.said, 12)}, at least {short(said.low, 12)}"
