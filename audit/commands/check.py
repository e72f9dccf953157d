"""audit check: search for two neighbouring inputs on which a function breaks its claim."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import Failure, line_progress
from subnormal.audit.commands.printing import redirect_stdout_to_stderr

if TYPE_CHECKING:
    from collections.abc import Callable

    from subnormal.audit.check.result import Result
    from subnormal.mechanisms.curves import AnyClaim

COMMAND = "cmd:"


def _json(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    try:
        return None if value is None else [json.loads(value)]  # null is an input too
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no JSON: {error}") from None


@click.command()
@click.argument("function")
@click.option("--data", metavar="MODULE:NAME", help="Hypothesis strategy of the inputs: the domain.")
@click.option(
    "--adjacent",
    metavar="RELATION",
    help="Which inputs are neighbours: change-one, add-or-remove, within:DISTANCE, within:DISTANCE:l1 (or l2, linf), "
    "or module:name of a predicate or of a strategy of pairs.",
)
@click.option("--in", "data_in", metavar="JSON", callback=_json, help="One input, instead of --data and --adjacent.")
@click.option("--out", "data_out", metavar="JSON", callback=_json, help="Its neighbour.")
@click.option("--epsilon", type=click.FloatRange(0, 100_000), help="The claimed ε, in nats.")
@click.option("--delta", type=click.FloatRange(0, 1), help="The claimed δ.  [default: 0]")
@click.option("--rho", type=click.FloatRange(0), help="The claim is ρ-zCDP.")
@click.option("--mu", type=click.FloatRange(0), help="The claim is μ-Gaussian DP.")
@click.option("--renyi", metavar="ALPHA:EPSILON", help="The claim is a Rényi divergence of this order at most.")
@click.option("--batch", is_flag=True, help="The function takes (data, runs) and returns as many outcomes.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Time for the whole check; a call of the function is never interrupted.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(1e-12, 1, max_open=True),
    default=1e-6,
    show_default=True,
    help="The chance that a function that keeps its claim is accused, at the most.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the search.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds for one answer of a program.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of standard output, which has nothing else.",
)
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when the claim is violated.")
def check(function: str, form: str, fail_on_violation: bool, **options: Any) -> None:
    """Search for two neighbouring inputs on which a function breaks its claim, and prove it.

    FUNCTION is package.module:function, called with one input, or 'cmd: ./program', which speaks the protocol of
    docs/protocol.md.

    \b
      subnormal check my_module:noisy_mean --data my_module:records --adjacent change-one --epsilon 1
      subnormal check my_module:noisy_mean --in '[0, 1, 1]' --out '[0, 1]' --epsilon 1
      subnormal check "cmd: node my_mechanism.js" --in 1 --out 0 --rho 0.5
    """
    claim = _claim(options)
    with redirect_stdout_to_stderr():
        result = _checked(function, claim, options)
    _show(result, form)
    if result.error is not None:
        sys.exit(3)
    if fail_on_violation and result.verdict == "VIOLATED":
        sys.exit(1)


def _claim(options: dict[str, Any]) -> AnyClaim:
    """Return the claim that the options state. Raises UsageError where they state none, or two."""
    from subnormal.mechanisms.curves import Gdp, Renyi
    from subnormal.mechanisms.privacy import Claim, Zcdp

    stated = [name for name in ("epsilon", "rho", "mu", "renyi") if options[name] is not None]
    if len(stated) != 1:
        what = " and ".join(f"--{name}" for name in stated) or "none of them"
        raise click.UsageError(f"state one claim: --epsilon (with --delta), --rho, --mu or --renyi; given: {what}")
    if options["delta"] is not None and stated != ["epsilon"]:
        raise click.UsageError(f"--delta goes with --epsilon, not with --{stated[0]}")
    try:
        if stated == ["epsilon"]:
            return Claim(options["epsilon"], options["delta"] or 0.0)
        if stated == ["renyi"]:
            order, _, bound = options["renyi"].partition(":")
            return Renyi(float(order), float(bound))
        return Zcdp(options["rho"]) if stated == ["rho"] else Gdp(options["mu"])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"--{stated[0]}") from None


def _checked(name: str, claim: AnyClaim, options: dict[str, Any]) -> Result:
    from subnormal.audit.check.check import check as check_function
    from subnormal.audit.targets.json_lines import TargetError

    try:
        data, adjacent, pairs = _domain(options)
        with _function(name, asdict(claim), options["timeout"]) as function, line_progress() as told:
            return check_function(
                function,
                data,
                adjacent,
                claim,
                pairs=pairs,
                batch=options["batch"] or name.startswith(COMMAND),
                seconds=options["seconds"],
                alpha=options["alpha"],
                seed=options["seed"],
                told=told,
            )
    except TargetError as error:
        raise Failure(f"{name}: {error}") from None
    except (TypeError, ValueError) as error:
        raise Failure(str(error)) from None


@contextmanager
def _function(name: str, parameters: dict[str, Any], timeout: float) -> Iterator[Callable[..., Any]]:
    from subnormal.audit.check.program import program
    from subnormal.audit.targets.target import named

    if name.startswith(COMMAND):
        with program(name.removeprefix(COMMAND), parameters, timeout) as function:
            yield function
    else:
        yield named(name)


def _domain(options: dict[str, Any]) -> tuple[Any, Any, list[tuple[Any, Any]] | None]:
    """Return (data, adjacent, pairs) of the options. Raises UsageError where they do not fit together."""
    from subnormal.audit.targets.target import named

    one, other = options["data_in"], options["data_out"]
    if (one is None) != (other is None):
        raise click.UsageError("--in and --out go together")
    if one is not None:
        if options["data"] is not None or options["adjacent"] is not None:
            raise click.UsageError("--in and --out exclude --data and --adjacent")
        return None, None, [(one[0], other[0])]
    if options["adjacent"] is None:
        raise click.UsageError("name the inputs: --data and --adjacent, or one pair by --in and --out")
    return None if options["data"] is None else named(options["data"]), _relation(options["adjacent"]), None


def _relation(text: str) -> Any:
    from subnormal.audit.check import adjacency
    from subnormal.audit.targets.target import named

    name, *arguments = text.split(":")
    if text == "change-one":
        return adjacency.change_one()
    if text == "add-or-remove":
        return adjacency.add_or_remove()
    if name != "within":
        return named(text)
    try:
        distance, norm = float(arguments[0]), arguments[1] if len(arguments) > 1 else "linf"
        return adjacency.within(distance, norm)  # type: ignore[arg-type]
    except (IndexError, ValueError) as error:
        raise click.BadParameter(f"{text!r} is not within:DISTANCE[:NORM]: {error}", param_hint="--adjacent") from None


def _show(result: Result, form: str) -> None:
    from subnormal.audit.check.words import as_test, lines, to_json

    if form == "json":
        click.echo(json.dumps(to_json(result), indent=1, ensure_ascii=False, allow_nan=False))
        return
    for line in lines(result):
        click.echo(line)
    test = as_test(result) if result.verdict == "VIOLATED" else None
    if test is not None:
        click.echo(f"\nA test for it:\n\n{test}")
