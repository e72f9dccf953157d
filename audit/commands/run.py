"""audit run: cross attacks with mechanisms, print the table, write the report."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import (
    Failure,
    FiniteRange,
    audit_progress,
    format_option,
    jobs_option,
    known,
    mistakes,
    out_option,
    output,
    print_lines,
)
from subnormal.audit.commands.printing import redirect_stdout_to_stderr
from subnormal.audit.commands.recorded import Recorded
from subnormal.audit.text import given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from subnormal.audit.engine.pairs import Crossing
    from subnormal.audit.engine.process_pool import Executor
    from subnormal.audit.model import Report

QUICK_RUNS = 2_000
ALPHA, ALPHA_FAILING = 0.05, 1e-3  # by default, and with --fail-on-violation


class Runs(click.IntRange):
    """A number of runs, as 1000000000, 1_000_000_000 or 1e9."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the number; click refuses a value that is not a whole number."""
        if isinstance(value, str) and "e" in value.lower():
            with suppress(ValueError):
                number = float(value)
                value = int(number) if number.is_integer() and number < 2**53 else value
        return super().convert(value, parameter, context)


@click.command(cls=Recorded)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="NAME",
    help="Only this attack; also your own, as MODULE:NAME; repeat.",
)
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    metavar="NAME",
    help="Only this mechanism; also your own, as MODULE:NAME; repeat.",
)
@click.option("--family", "family_name", metavar="NAME", help="Only this family's attacks.")
@click.option(
    "--channels", is_flag=True, help="Only side channels: attacks that see a count or a time with the outcome."
)
@click.option(
    "--runs",
    type=Runs(0, 10**12),
    default=100_000,
    help="Runs in each world for each row, also as 1e9, including those for learning an event or fixing bins; "
    "a slow mechanism declares fewer. 0: the laws alone.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="The same seed draws the same runs.")
@click.option(
    "--alpha",
    type=FiniteRange(1e-12, 1, max_open=True),
    show_default=f"{given(ALPHA)}, with --fail-on-violation {given(ALPHA_FAILING)}",
    help="Probability that any sampled verdict is a false alarm. The rows share it.",
)
@jobs_option("Worker processes on this machine; the report does not depend on it")
@click.option(
    "--cluster",
    "address",
    metavar="ADDRESS",
    help="Count on the workers of the Dask scheduler at this address, as in tcp://10.0.0.1:8786; "
    "needs pip install -e '.[cluster]' in a checkout; see docs/cluster.md.",
)
@out_option("Folder for the report, and for checkpoint.json while the audit runs.")
@click.option(
    "--resume",
    is_flag=True,
    help="Continue from checkpoint.json in that folder, where the same audit was interrupted or killed; "
    "without one, start.",
)
@format_option("text", "json", "html", "junit", help_text="Format of standard output, which has nothing else.")
@click.option(
    "--until-decided",
    is_flag=True,
    help="Stop each row as soon as its claim is refuted, by an e-process that is inspected after every batch.",
)
@click.option("--quick", is_flag=True, help=f"At most {QUICK_RUNS:,} runs, no attacks that take seconds.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every mechanism of an attack's family: all exact ones, and pairs without an expected verdict.",
)
@click.option(
    "--fail-on-violation",
    is_flag=True,
    help="Exit with 1 when a claim is violated. "
    f"At most one sound build in {1 / ALPHA_FAILING:,.0f} fails by chance, whatever its number of rows.",
)
def run(
    out: Path,
    form: str,
    jobs: int | None,
    address: str | None,
    resume: bool,
    quick: bool,
    fail_on_violation: bool,
    **options: Any,
) -> None:
    """Attack mechanisms and report the verdicts, row by row.

    Prints claims and results, violations first, and writes report.json and report.html. `subnormal check` audits
    mechanisms of your own.
    """
    from subnormal.audit.commands.checkpoints import folder_lock, open_checkpoint
    from subnormal.audit.engine import checkpoint
    from subnormal.audit.engine.scheduler import examine_all
    from subnormal.audit.report.to_html import files

    if jobs is not None and address is not None:
        raise click.UsageError("--jobs is for this machine, --cluster for others: they exclude each other")
    settings: dict[str, Any] = {
        "seed": options["seed"],
        "runs": min(options["runs"], QUICK_RUNS) if quick else options["runs"],
        "alpha": options["alpha"] or (ALPHA_FAILING if fail_on_violation else ALPHA),
        "until_decided": options["until_decided"],
    }
    crossings = _crossings(options, slow=not quick)
    with output(out, stale=(checkpoint.NAME, checkpoint.TEMPORARY)) as written:
        with (
            redirect_stdout_to_stderr(),
            folder_lock(out),
            open_checkpoint(out, crossings, settings, resume=resume) as store,
            _executor(jobs, address) as workers,
            audit_progress() as update,
        ):
            report = examine_all(crossings, **settings, executor=workers, store=store, report_progress=update)
        report = replace(report, command=click.get_current_context().meta["command"])
        written |= files(report)
    overview = not (options["attacks"] or options["mechanisms"])
    _show(report, form, written["report.html"].decode(), overview=overview)
    click.echo(f"report: {out / 'report.html'}", err=form != "text")
    if any(row.error for row in report.rows):
        sys.exit(3)
    if fail_on_violation and any(row.violated for row in report.rows):
        sys.exit(1)


def _crossings(options: dict[str, Any], *, slow: bool) -> list[Crossing]:
    """Return what the options name. Raises BadParameter and UsageError."""
    from subnormal.attacks.catalogue import attack
    from subnormal.attacks.core.attack import Attack
    from subnormal.audit.api import chosen, met
    from subnormal.mechanisms.core.mechanism import Mechanism
    from subnormal.mechanisms.families import family, member

    attacks = [_named(name, Attack, attack, "--attack") for name in options["attacks"]]
    mechanisms = [_named(name, Mechanism, member, "--mechanism") for name in options["mechanisms"]]
    if (name := options["family_name"]) is not None:
        known(family, name, "--family")
    every = chosen(attacks, name, channels=options["channels"], slow=slow)
    with mistakes(LookupError, ValueError):
        return met(every, mechanisms, options["everything"], "--all tries every pair of a family")


def _named(text: str, kind: type[Any], find: Callable[[str], object], option: str) -> Any:
    """Return a name that `find` knows, or MODULE:NAME, which is of the user and of this kind. Raises BadParameter."""
    from subnormal.audit.targets.json_lines import TargetError
    from subnormal.audit.targets.named import named

    if ":" not in text:
        known(find, text, option)
        return text
    with mistakes(TargetError, option=option), redirect_stdout_to_stderr():
        value = named(text)
        if not isinstance(value, kind):
            raise TargetError(f"{text!r} is of the type {type(value).__name__}, not {kind.__name__}")
        return value


@contextmanager
def _executor(jobs: int | None, address: str | None) -> Iterator[Executor]:
    """Yield the executor of the tasks. An error of a cluster is one line and exit code 2."""
    if address is None:
        from subnormal.audit.engine.process_pool import local, warm_up

        with local(jobs) as processes:
            warm_up(processes)
            yield processes
        return
    from subnormal.audit.engine.dask_cluster import ClusterError, cluster

    try:
        with cluster(address, lambda line: click.echo(line, err=True)) as workers:
            yield workers
    except ClusterError as error:
        raise Failure(f"--cluster: {error}") from None


def _show(report: Report, form: str, page: str, *, overview: bool) -> None:
    from subnormal.audit.report import junit, terminal, to_json

    if form == "json":
        click.echo(to_json.to_json(report), nl=False)
    elif form == "html":
        click.echo(page, nl=False)
    elif form == "junit":
        click.echo(junit.to_junit(report), nl=False)
    else:
        print_lines(terminal.overview(report) if overview else terminal.lines(report), terminal.WIDTH)
