"""audit law: the law of a function as it is, and what two laws prove of a claim."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.check import function_named, json_value
from subnormal.audit.commands.common import Failure, FiniteRange, file_mistakes, format_option, line_progress
from subnormal.audit.commands.watched import EndedError, Tell, watched
from subnormal.audit.text import given, quoted

if TYPE_CHECKING:
    from subnormal.audit.laws.followed import FollowedLaw

NOT_BOTH = "--epsilon needs both inputs, --in and --out, and both inputs need --epsilon"
CHECKER = "subnormal.audit.function_certificate"
CHECKING = 300.0  # seconds that the checker has


@click.command()
@click.argument("function")
@click.option("--in", "data_in", metavar="JSON", required=True, callback=json_value, help="The input.")
@click.option("--out", "data_out", metavar="JSON", callback=json_value, help="Its neighbour, for a claim.")
@click.option("--epsilon", type=FiniteRange(0, 100_000), help="The claimed ε, in nats.")
@click.option("--delta", type=FiniteRange(0, 1), default=0.0, help="The claimed δ.")
@click.option("--seconds", type=FiniteRange(0, 86_400, min_open=True), default=10.0, help="Time for the law, or both.")
@format_option("text", "json", help_text="Format of standard output, which has nothing else.")
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Write boxes of random numbers that prove the verdict, in as much time again, for python -m {CHECKER}.",
)
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when the claim is violated.")
def law(form: str, fail_on_violation: bool, **options: Any) -> None:
    """Print the probability of each outcome of a function, without sampling.

    FUNCTION is package.module:function. It draws from `random` or `secrets`, or takes its random bits as an argument
    `bits` (bits.take(k)). With --out and --epsilon, the two laws decide the claim on these two inputs: VIOLATED; HOLDS,
    for this pair; or UNRESOLVED.

    \b
      subnormal law my_module:respond --in 1
      subnormal law my_module:respond --in 1 --out 0 --epsilon 1
      subnormal law my_module:respond --in 1 --out 0 --epsilon 1 --certificate proof.json

    Exit codes: 0 done, 1 the claim is violated (with --fail-on-violation), 2 a mistake in the call, 3 the function
    cannot be followed, ended its process, or did not return in time.
    """
    if (options["data_out"] is None) != (options["epsilon"] is None):
        raise click.UsageError(NOT_BOTH)
    certificate: Path | None = options["certificate"]
    if certificate is not None:
        if options["epsilon"] is None:
            raise click.UsageError("--certificate proves a verdict: it needs --out and --epsilon")
        with file_mistakes("--certificate"):
            tempfile.TemporaryFile(dir=certificate.parent).close()  # before the work
    try:
        with line_progress() as tell:
            seconds = options["seconds"] * (1 if certificate is None else 2)
            shown = watched(laws_in_child, options, seconds=seconds, tell=tell)
    except EndedError as error:
        shown = {"error": f"{options['function']}: {error}"}
    if "error" in shown:
        click.echo(f"ERROR  {shown['error']}", err=True)
        sys.exit(3)
    click.echo(shown[form], nl=form == "text")
    if certificate is not None:
        _write_certificate(certificate, options["function"], **shown["certificate"])
    if fail_on_violation and shown["verdict"] == "VIOLATED":
        sys.exit(1)


def laws_in_child(options: dict[str, Any], tell: Tell, ready: Any) -> dict[str, Any]:
    """Return the laws of a function on one input or two, and the verdict, as text and JSON. A task of `watched`.

    Where the function cannot be followed, there is an error alone. Raises ClickException for a mistake.
    """
    from subnormal.audit.function_certificate import decided
    from subnormal.audit.laws.comparison import compare
    from subnormal.audit.laws.path import NotFollowedError
    from subnormal.audit.report.to_json import to_json
    from subnormal.mechanisms.privacy import Claim

    function = function_named(options["function"])
    inputs = {name: options[f"data_{name}"][0] for name in ("in", "out") if options[f"data_{name}"] is not None}
    ready()
    laws: dict[str, FollowedLaw] = {}
    try:
        for name, data in inputs.items():
            tell(f"the law of the input --{name}")
            laws[name] = _law(function, data, options["seconds"] / len(inputs))
    except NotFollowedError as error:
        found = {} if options["certificate"] is None else _certificate(function, inputs, options, tell, is_float=True)
        if "form" in found:
            said = decided(found["form"])
            forms = {"claim": found["form"]["claim"], "event": found["form"]["event"], "text": said}
            return {"text": said, "json": to_json(forms), "verdict": "VIOLATED", "certificate": found}
        none = f"; certificate: {found['none']}" if found else ""
        return {"error": f"{options['function']}: {error}{none}"}
    except (TypeError, ValueError) as error:
        raise Failure(f"{options['function']}: {error}") from None
    text, forms, verdict, certificate = list[str](), dict[str, Any](), None, dict[str, Any]()
    for name, one in laws.items():
        text += [f"on --{name} {json.dumps(inputs[name])}:", str(one)]
        forms[name] = _form(one)
    if options["epsilon"] is not None:
        compared = compare(laws["in"], laws["out"], Claim(options["epsilon"], options["delta"]))
        text.append(str(compared))
        forms |= {"claim": compared.claim, "evidence": compared.evidence}
        verdict = str(compared.verdict)
    if options["certificate"] is not None:
        certificate = _certificate(function, inputs, options, tell)
    return {"text": "\n".join(text), "json": to_json(forms), "verdict": verdict, "certificate": certificate}


def _certificate(
    function: Any, inputs: dict[str, Any], options: dict[str, Any], tell: Tell, *, is_float: bool = False
) -> dict[str, Any]:
    """Return the certificate as "form", or why there is none as "none"."""
    from subnormal.audit.certificate_checker import NotProvedError
    from subnormal.audit.conforms.bit_strings import takes_bits
    from subnormal.audit.laws.certificate import NoCertificateError, certificate, of_float
    from subnormal.audit.laws.path import NotFollowedError
    from subnormal.mechanisms.privacy import Claim

    if takes_bits(function):
        return {"none": "a function of bits has no boxes"}
    tell("the certificate")
    claim = Claim(options["epsilon"], options["delta"])
    make = of_float if is_float else certificate
    try:
        return {
            "form": make(options["function"], function, inputs["in"], inputs["out"], claim, seconds=options["seconds"])
        }
    except (NoCertificateError, NotFollowedError, NotProvedError, ValueError) as error:
        return {"none": str(error)}


def _write_certificate(file: Path, function: str, form: dict[str, Any] | None = None, none: str = "") -> None:
    """Write a certificate that the checker accepts, and say how to check it, or why there is none."""
    from subnormal.audit.report.to_json import to_json

    if form is not None:
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "certificate.json"
            written.write_text(to_json(form), encoding="utf-8")
            none = _refusal(written, function)
    if none:
        click.echo(f"certificate: none: {none}", err=True)
        return
    with file_mistakes("--certificate"):
        file.write_text(to_json(form), encoding="utf-8")
    click.echo(f"certificate: {file}; check it with python -m {CHECKER} {file} {function}", err=True)


def _refusal(file: Path, function: str) -> str:
    """Return why the checker does not accept a certificate; nothing where it does."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", CHECKER, file, function], capture_output=True, text=True, timeout=CHECKING
        )
    except subprocess.TimeoutExpired:
        return f"the checker did not end within {given(CHECKING)} s"
    return "" if done.returncode == 0 else f"the checker says: {quoted(done.stdout or done.stderr)}"


def _law(function: Any, data: Any, seconds: float) -> FollowedLaw:
    """Return the law on one input: from all strings of its bits, where it takes them, or by following the code."""
    from subnormal.audit.conforms.bit_strings import law_of_bits, takes_bits
    from subnormal.audit.laws.followed import law as law_of_code

    return (law_of_bits if takes_bits(function) else law_of_code)(function, data, seconds=seconds)


def _form(one: FollowedLaw) -> dict[str, Any]:
    """Return a law as plain data: each outcome with certified bounds on its probability, as rationals."""
    bounds = {atom: one.law.probability(atom) for atom in one.law.atoms}
    outcomes = [{"outcome": repr(atom), "low": str(low), "high": str(high)} for atom, (low, high) in bounds.items()]
    return {"outcomes": outcomes, "rest": str(one.rest), "is_complete": one.complete}
