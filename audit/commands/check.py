"""audit check: search for two neighbouring inputs on which a function breaks its claim."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import (
    Failure,
    FiniteRange,
    format_option,
    line_progress,
    mistakes,
    named_folder,
    output,
)
from subnormal.audit.commands.recorded import Recorded
from subnormal.audit.commands.watched import EndedError, watched
from subnormal.audit.text import quoted

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result
    from subnormal.mechanisms.curves import AnyClaim

COMMAND = "cmd:"
HANDED_ON = "grid", "seconds", "examples", "runs", "alpha", "seed", "database"  # options that are arguments of a check
OF_USERS = "change-one:", "add-or-remove:"  # before the column that says whose a record is


def json_value(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """Return the value of an option in JSON, in a list: null is a value too. Raises BadParameter."""
    from subnormal.mechanisms.core.options import unique

    try:
        return None if value is None else [json.loads(value, object_pairs_hook=unique)]
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{quoted(value)} is no JSON: {error}") from None


@click.command(cls=Recorded)
@click.argument("function")
@click.option(
    "--data", metavar="MODULE:NAME", help="Hypothesis strategy of the inputs: the domain. Or FILE.json, a JSON Schema."
)
@click.option(
    "--adjacent",
    metavar="RELATION",
    help="Which inputs are neighbours: change-one, add-or-remove, either with :COLUMN for all records of a user, "
    "within:DISTANCE, within:DISTANCE:l1 (or l2, linf), "
    "or module:name of a predicate or of a strategy of pairs.",
)
@click.option(
    "--in", "data_in", metavar="JSON", callback=json_value, help="One input, instead of --data and --adjacent."
)
@click.option("--out", "data_out", metavar="JSON", callback=json_value, help="Its neighbour.")
@click.option("--epsilon", type=FiniteRange(0, 100_000), help="The claimed ε, in nats.")
@click.option("--delta", type=FiniteRange(0, 1), help="The claimed δ.  [default: 0]")
@click.option("--rho", type=FiniteRange(0), help="The claim is ρ-zCDP.")
@click.option("--mu", type=FiniteRange(0), help="The claim is μ-Gaussian DP.")
@click.option("--renyi", metavar="ALPHA:EPSILON", help="The claim is a Rényi divergence of this order at most.")
@click.option("--batch", is_flag=True, help="The function takes (data, runs) and returns as many outcomes.")
@click.option("--fresh", is_flag=True, help="FUNCTION takes no arguments and returns the function to call once.")
@click.option(
    "--grid",
    type=FiniteRange(0, min_open=True),
    help="Round every float in an outcome to a multiple of this, so that the last bits of noise tell nothing.",
)
@click.option(
    "--seconds",
    type=FiniteRange(0, 86_400, min_open=True),
    help="Time for the whole check. A call that lasts 20 seconds longer is ended, with exit code 3.  "
    "[default: 60; no limit with --examples]",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    help="Pairs of inputs to try, instead of a time: one seed then gives the same verdict on every machine.",
)
@click.option("--runs", type=click.IntRange(min=1), help="Runs of each input that judge the claim, at most.")
@click.option(
    "--alpha",
    type=FiniteRange(1e-12, 1, max_open=True),
    default=1e-6,
    help="The chance that a function that keeps its claim is accused, at most.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the search.")
@click.option(
    "--database",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Keep the pair that convicts in this folder; the next check of the function tries it first.",
)
@click.option(
    "--timeout",
    type=FiniteRange(0, 86_400, min_open=True),
    default=60.0,
    help="Seconds for one answer of a program.",
)
@format_option(
    "text", "json", "html", "issue", help_text="Format of standard output, which has nothing else; issue: a bug report."
)
@click.option(
    "--report",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    callback=named_folder,
    help="Write check.html and check.json into this folder.",
)
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when the claim is violated.")
def check(form: str, folder: Path | None, fail_on_violation: bool, **options: Any) -> None:
    """Search for two neighbouring inputs on which a function breaks its claim, and prove it.

    FUNCTION is package.module:function, called with one input, or
    'cmd: ./program', which speaks the protocol of docs/protocol.md.
    State the inputs by --data and --adjacent, or one pair by --in and --out.
    State one claim: --epsilon, --rho, --mu or --renyi.

    \b
      subnormal check my_module:noisy_mean --data my_module:records \\
        --adjacent change-one --epsilon 1
      subnormal check my_module:noisy_mean --in '[0, 1]' --out '[0]' --epsilon 1
      subnormal check "cmd: node my_mechanism.js" --in 1 --out 0 --rho 0.5

    Exit codes: 0 done, 1 the claim is violated (with --fail-on-violation),
    2 a mistake in the call, 3 the function failed: it raised in every run
    or in all but the first, ended the process, or did not return in time;
    130 interrupted.
    docs/check_in_full.md explains the stages and the verdicts.
    """
    arguments = arguments_of(click.get_current_context())
    with output(folder, "--report") as files:
        with line_progress() as tell:
            shown = result_of(arguments, tell)
        files |= {f"check.{kind}": shown[kind].encode() for kind in ("html", "json")}
    click.echo(shown[form], nl=form in ("text", "issue"))
    if folder is not None:
        click.echo(f"report: {folder / 'check.html'}", err=True)
    if shown["error"] is not None:
        sys.exit(3)
    if fail_on_violation and shown["verdict"] == "VIOLATED":
        sys.exit(1)


def arguments_of(context: click.Context) -> dict[str, Any]:
    """Return the arguments of a check, with its claim and its command line. Raises UsageError where they do not fit."""
    options = context.params
    claim = _claim(options)
    _require_one_domain(options)
    if options["fresh"] and options["function"].startswith(COMMAND):
        raise click.UsageError("--fresh goes with module:function, not with a program, which starts once")
    return {**options, "claim": claim, "command": context.meta["command"]}


def result_of(arguments: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """Return the result of a check in every form, by name, with its verdict and its error.

    The check runs in a child process: the function may crash it, end it, or never return. Raises Failure for a mistake.
    """
    from subnormal.audit.clock import SECONDS

    waiting = arguments["timeout"] if arguments["function"].startswith(COMMAND) else 0.0
    unlimited = math.inf if arguments["examples"] is not None else SECONDS
    seconds = unlimited if arguments["seconds"] is None else arguments["seconds"]
    try:
        return watched(check_in_child, arguments, seconds=seconds + waiting, tell=tell)
    except EndedError as error:
        return failed(arguments, f"{arguments['function']}: {error}")


def failed(arguments: dict[str, Any], why: str) -> dict[str, Any]:
    """Return the result of a check that has none, in every form."""
    from subnormal.audit.check.result import Result

    function, claim, seed = (arguments[name] for name in ("function", "claim", "seed"))
    result = Result(None, function, claim, None, "first call", None, None, {}, why, (), 0, 0, 0.0, seed)
    return {**_forms(replace(result, command=arguments["command"])), "text": f"ERROR  {why}", "place": None}


def names_in_child(arguments: dict[str, Any], tell: Callable[[str], None], ready: Callable[[], None]) -> dict[str, Any]:
    """Import what the checks of a suite name, and return the fingerprint of each; None for a program's.

    A task of `watched`. Raises ClickException, with the check's name.
    """
    from subnormal.audit.suite.fingerprint import code_of, fingerprint

    modules = set[str]()
    for name, of_check in arguments.items():
        with mistakes(click.ClickException, of=f"{name}: "):
            _domain(of_check)
            if not of_check["function"].startswith(COMMAND):
                function_named(of_check["function"])
        named = (of_check["function"], of_check["data"] or "", of_check["adjacent"] or "")
        modules |= {one.partition(":")[0] for one in named if one.partition(":")[0] in sys.modules}
    code = code_of(modules)
    is_program = {name: of_check["function"].startswith(COMMAND) for name, of_check in arguments.items()}
    return {name: None if is_program[name] else fingerprint(arguments[name], code) for name in arguments}


def check_in_child(options: dict[str, Any], tell: Callable[[str], None], ready: Callable[[], None]) -> dict[str, Any]:
    """Return the result of a check in every form. A task of `watched`. Raises ClickException for a mistake."""
    from subnormal.audit.check.check import check as check_function
    from subnormal.audit.suite.place import place_of
    from subnormal.audit.targets.json_lines import TargetError

    name, claim = options["function"], options["claim"]
    try:
        data, adjacent, pairs = _domain(options)
        with _function(name, asdict(claim), options["timeout"]) as function:
            ready()
            result = check_function(
                None if options["fresh"] else function,
                data,
                adjacent,
                claim,
                pairs=pairs,
                fresh=function if options["fresh"] else None,
                batch=options["batch"] or name.startswith(COMMAND),
                on_progress=tell,
                **{each: options[each] for each in HANDED_ON},
            )
    except TargetError as error:
        raise Failure(f"{name}: {error}") from None
    except (TypeError, ValueError) as error:
        raise Failure(str(error)) from None
    place = None if name.startswith(COMMAND) else name
    return {**_forms(replace(result, place=place, command=options["command"])), "place": place_of(result, function)}


def _forms(result: Result) -> dict[str, Any]:
    from subnormal.audit.check import page, regression, words
    from subnormal.audit.check.document import to_json

    test = regression.as_test(result) if result.verdict == "VIOLATED" else None
    text = "\n".join([*words.lines(result), *([] if test is None else ["", "A test for it:", "", test])])
    verdict = None if result.verdict is None else str(result.verdict)
    forms = {"text": text, "json": to_json(result), "html": page.to_html(result), "issue": words.issue(result)}
    return {**forms, "verdict": verdict, "error": result.error}


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
    with mistakes(ValueError, option=f"--{stated[0]}"):
        if stated == ["epsilon"]:
            return Claim(options["epsilon"], options["delta"] or 0.0)
        if stated == ["renyi"]:
            return Renyi(*_numbers(options["renyi"]))
        return Zcdp(options["rho"]) if stated == ["rho"] else Gdp(options["mu"])


def _numbers(text: str) -> tuple[float, float]:
    try:
        order, bound = map(float, text.split(":"))
    except ValueError:
        raise ValueError(f"{text!r} is not ALPHA:EPSILON, as 2:0.5") from None
    return order, bound


def _require_one_domain(options: dict[str, Any]) -> None:
    """Raise UsageError where the options that name the inputs do not fit together."""
    if (options["data_in"] is None) != (options["data_out"] is None):
        raise click.UsageError("--in and --out go together")
    if options["data_in"] is not None:
        if options["data"] is not None or options["adjacent"] is not None:
            raise click.UsageError("--in and --out exclude --data and --adjacent")
        if json.dumps(options["data_in"]) == json.dumps(options["data_out"]):
            raise click.UsageError(f"--in and --out are one input, {json.dumps(options['data_in'][0])}")
    elif options["adjacent"] is None:
        raise click.UsageError("name the inputs: --data and --adjacent, or one pair by --in and --out")
    elif options["adjacent"].startswith(("within:", *OF_USERS)) or ":" not in options["adjacent"]:
        _relation(options["adjacent"])


def _function(name: str, parameters: dict[str, Any], timeout: float) -> AbstractContextManager[Callable[..., Any]]:
    from subnormal.audit.targets.program import program

    if name.startswith(COMMAND):
        return program(name.removeprefix(COMMAND), parameters, timeout)
    return nullcontext(function_named(name))


def function_named(name: str) -> Callable[..., Any]:
    """Return the function of this name. Raises BadParameter."""
    function: Any = _named("FUNCTION", name)
    if not callable(function):
        raise click.BadParameter(f"{name!r} is no function but {quoted(repr(function))}", param_hint="FUNCTION")
    return function  # type: ignore[no-any-return]


def _domain(options: dict[str, Any]) -> tuple[Any, Any, list[tuple[Any, Any]] | None]:
    """Return (data, adjacent, pairs) of the options. Raises UsageError where they are none."""
    from subnormal.audit.neighbours.relations import pairs

    one, other, data = options["data_in"], options["data_out"], options["data"]
    if one is not None:
        return None, None, [(one[0], other[0])]
    strategy, relation = None if data is None else _strategy(data), _relation(options["adjacent"])
    stated = "" if data is None else f"--data {data} "
    with mistakes(TypeError, of=f"{stated}--adjacent {options['adjacent']}: "):
        pairs(strategy, relation)
    return strategy, relation, None


def _strategy(text: str) -> Any:
    """Return the strategy that --data names. Raises BadParameter."""
    from subnormal.audit.neighbours.json_schema import domain

    if not text.endswith(".json"):
        return _named("--data", text)
    with mistakes(OSError, ValueError, TypeError, option="--data", of=f"{text}: "):
        strategy = domain(json.loads(Path(text).read_text(encoding="utf-8")))
        strategy.validate()
    return strategy


def _relation(text: str) -> Any:
    from subnormal.audit.neighbours import relations

    name, *arguments = text.split(":")
    if text in ("change-one", "change_one"):
        return relations.change_one()
    if text in ("add-or-remove", "add_or_remove"):
        return relations.add_or_remove()
    if text.startswith(OF_USERS):
        column = ":".join(arguments)
        return (relations.change_one if name == "change-one" else relations.add_or_remove)(by=column)
    if name != "within" and not arguments:
        known = "change-one, add-or-remove, either with :COLUMN, within:DISTANCE, within:DISTANCE:NORM or module:name"
        raise click.BadParameter(f"{text!r} is none of {known}", param_hint="--adjacent")
    if name != "within":
        return _named("--adjacent", text)
    form = f"{text!r} is not within:DISTANCE or within:DISTANCE:NORM"
    if not 1 <= len(arguments) <= 2:
        raise click.BadParameter(form, param_hint="--adjacent")
    with mistakes(ValueError, option="--adjacent", of=f"{form}: "):
        norm: Any = arguments[1] if len(arguments) > 1 else "linf"
        return relations.within(float(arguments[0]), norm)


def _named(option: str, text: str) -> Any:
    """Return the object `package.module:name`. Raises BadParameter, which names the option."""
    from subnormal.audit.targets.json_lines import TargetError
    from subnormal.audit.targets.named import named

    if option != "FUNCTION" and ":" not in text:
        raise click.BadParameter(f"{text!r} is not package.module:name", param_hint=option)
    with mistakes(TargetError, option=option):
        return named(text)
