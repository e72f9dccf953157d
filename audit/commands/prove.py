"""audit prove: decide a mechanism's claim over all pairs of neighbours of a finite domain."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import (
    Failure,
    file_mistakes,
    format_option,
    jobs_option,
    known,
    mistakes,
    progress,
)
from subnormal.audit.commands.printing import redirect_stdout_to_stderr

if TYPE_CHECKING:
    from subnormal.audit.engine.process_pool import Executor
    from subnormal.audit.model import DomainEvidence
    from subnormal.mechanisms.core.domain import Domain
    from subnormal.mechanisms.core.mechanism import AnyMechanism
    from subnormal.mechanisms.core.pair_boxes import Cube

TEXT_WIDTH = 56  # columns of a domain's text in the help
CHECKER = Path(__file__).parents[1] / "certificate_checker.py"
STAGES = {
    "pairs_of": "listing pairs",
    "claims_of": "asking for claims",
    "laws_of": "building laws",
    "compared": "comparing exactly",
}


class _Prove(click.Command):
    """The command, whose help names the domains."""

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the domain of each family with the defaults of its options."""
        from subnormal.mechanisms.families import FAMILIES

        with formatter.section("Domains, with their default options"):
            domains = ((one.name, one.domain().text) for one in FAMILIES if one.domain is not None)
            formatter.write_dl([(name, "\b\n" + "\n".join(_lines(text))) for name, text in domains])


def _lines(domain: str) -> Iterator[str]:
    """Yield the lines of a domain's text, which is broken at commas."""
    for line in wrap(domain.replace(",", ", "), TEXT_WIDTH):
        yield line.replace(", ", ",")


@click.command(cls=_Prove)
@click.option("--mechanism", "name", required=True, metavar="NAME", help="The mechanism, as `subnormal list` names it.")
@click.option(
    "--domain",
    "text",
    metavar="TEXT",
    help="The domain of the mechanism's family, with options after @; the default ones are below.",
)
@jobs_option("Worker processes")
@format_option("text", "json", help_text="Format of standard output.")
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the claim is violated, write what proves it on the worst pair, for certificate_checker.py.",
)
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when the claim is violated.")
def prove(
    name: str, text: str | None, jobs: int | None, form: str, certificate: Path | None, fail_on_violation: bool
) -> None:
    """Decide a claim over all pairs of neighbours of a finite domain, from the laws of the code.

    HOLDS ON THE DOMAIN: on every pair, with the largest loss. VIOLATED: on the worst pair. UNRESOLVED: the bounds on
    some laws do not decide. Nothing is sampled. Nothing is said of data outside the domain. Pairs that are too many to
    list are decided in boxes, by one process.

    \b
      subnormal prove --mechanism exponential-exact
      subnormal prove --mechanism exponential-exact --domain utilities@most=5,outcomes=6
      subnormal prove --mechanism exponential-exact --domain utilities@most=1000000,outcomes=1000
      subnormal prove --mechanism exponential-naive-float16 --domain utilities@most=20,outcomes=2,epsilon=2
    """
    from subnormal.audit.engine.process_pool import local
    from subnormal.audit.evidence import every_pair
    from subnormal.audit.report import proofs
    from subnormal.audit.report.to_json import to_json
    from subnormal.mechanisms.core.mechanism import NoLawError
    from subnormal.mechanisms.families import member

    known(member, name, "--mechanism")
    mechanism = member(name)
    if (without := _without_domain(mechanism)) is not None:
        raise click.BadParameter(without, param_hint="--mechanism")
    domain = _domain(mechanism, text)
    if certificate is not None:
        try:
            tempfile.TemporaryFile(dir=certificate.parent).close()  # before the work
        except OSError as error:
            raise Failure(f"--certificate: {error.strerror}: {certificate}") from None
    try:
        with redirect_stdout_to_stderr(), local(jobs) as executor:
            evidence = every_pair.decide(mechanism, domain, partial(_each, executor))
    except NoLawError as error:
        raise Failure(f"--mechanism: {name} has no law on the domain {domain.text}: {error}") from None
    except ValueError as error:  # no neighbours, one claim for none, or only refusals
        raise Failure(f"--domain: {error}") from None
    click.echo(to_json(evidence) if form == "json" else f"{proofs.text(evidence)}\n", nl=False)
    if certificate is not None:
        _write_certificate(certificate, mechanism, domain, evidence)
    if fail_on_violation and evidence.verdict == "VIOLATED":
        sys.exit(1)


def _without_domain(mechanism: AnyMechanism) -> str | None:
    """Return what is wrong with a mechanism whose family has no domain; None for any other."""
    from subnormal.mechanisms.families import FAMILIES

    families = [one.name for one in FAMILIES if one.domain is not None]
    if mechanism.family in families:
        return None
    return f"{mechanism.name} is of the family {mechanism.family}, which has no domain; {', '.join(families)} have one"


def _domain(mechanism: AnyMechanism, text: str | None) -> Domain[Any, Any] | Cube[Any]:
    from subnormal.audit.evidence.every_pair import domain_of

    with mistakes(LookupError, ValueError, option="--domain"):
        return domain_of(mechanism.family, text)


def _write_certificate(
    file: Path, mechanism: AnyMechanism, domain: Domain[Any, Any] | Cube[Any], evidence: DomainEvidence
) -> None:
    from subnormal.audit.evidence.certificate import certificate
    from subnormal.audit.report.to_json import to_json
    from subnormal.mechanisms.core.mechanism import NoLawError

    if evidence.verdict != "VIOLATED":
        click.echo(f"certificate: none, the claim is not violated on {domain.text}", err=True)
        return
    try:
        assert evidence.pair is not None
        form = certificate(mechanism, domain.parameters, *evidence.pair)
    except (NoLawError, ValueError) as error:
        raise Failure(f"--certificate: {error}") from None
    with file_mistakes("--certificate"):
        file.write_text(to_json(form), encoding="utf-8")
    click.echo(f"certificate: {file}; check it with python {CHECKER} {file}", err=True)


def _each(executor: Executor, function: Callable[..., Any], subject: Any, tasks: Sequence[Any]) -> Iterator[Any]:
    from subnormal.audit.engine.process_pool import each_of

    with progress(STAGES[function.__name__], len(tasks)) as done:
        for result in each_of(executor, function, subject, tasks):
            done()
            yield result
