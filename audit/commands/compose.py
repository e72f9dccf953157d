"""audit compose: bounds on the privacy loss of compositions, and the growth of leaks of broken mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import FiniteRange, known, out_option, output, print_table, progress
from subnormal.audit.commands.composed import composed
from subnormal.audit.text import at_least, at_most, given

if TYPE_CHECKING:
    from rich.table import Table

    from subnormal.audit.composition.comparison import Line, Subject
    from subnormal.audit.composition.leak_growth import LeakGrowth
    from subnormal.audit.report.svg import Panel

RUNS = 1_024
LINES = 9  # in the table of δ(ε)
PAGE = "compose.html"
POSITIVE = FiniteRange(0, min_open=True)


@click.command()
@click.option("--attack", "attacks", multiple=True, metavar="NAME", help="Only this attack; may be repeated.")
@click.option("--mechanism", metavar="NAME", help="Compose this member's exact laws in the worlds of one --attack.")
@click.option("--gaussian", type=POSITIVE, metavar="σ", help="Compose Gaussian noise of this deviation.")
@click.option(
    "--sampling",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    metavar="q",
    help="With --gaussian: a step of DP-SGD, in which a record takes part with this probability.",
)
@click.option("--laplace", type=POSITIVE, metavar="SCALE", help="Compose Laplace noise.")
@click.option("--truncation", type=FiniteRange(1), metavar="T", help="With --laplace: noise within ±T.")
@click.option("--response", type=POSITIVE, metavar="ε", help="Compose randomized response.")
@click.option(
    "--file",
    "files",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help='Compose a recorded pair: {"in": […], "out": […]}, probabilities, or integers that are counts of runs. Twice: '
    "the histograms of the two worlds, one number a line.",
)
@click.option(
    "--alpha",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    metavar="α",
    help="With --file, of counts: the probability that a bound is wrong.  [default: 0.05]",
)
@click.option("--runs", type=click.IntRange(1, 1 << 30), default=RUNS, help="Runs r.")
@click.option(
    "--delta",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=1e-6,
    help="The δ at which ε is computed.",
)
@click.option(
    "--budget",
    type=FiniteRange(0, 100_000),
    metavar="ε",
    help="Also the number of runs that is proved to exceed (ε, δ), at most r of them.",
)
@click.option(
    "--buckets",
    "count",
    type=click.IntRange(8, 1 << 24),
    default=10_000,
    help="More buckets give tighter bounds; bounds are sound with any number.",
)
@out_option(f"Folder for {PAGE}, the charts; an earlier one is replaced.")
def compose(
    attacks: Sequence[str],
    mechanism: str | None,
    runs: int,
    delta: float,
    budget: float | None,
    out: Path,
    **options: Any,
) -> None:
    """Bound the privacy loss of an r-fold composition from below and above, and compare other accountants.

    \b
      subnormal compose --gaussian 10 --runs 4096
      subnormal compose --laplace 200 --truncation 2500
      subnormal compose --gaussian 1 --sampling 0.01 --runs 10000 --delta 1e-5
      subnormal compose --attack grid-precision --mechanism laplace-exact
      subnormal compose --attack batch-clipping --mechanism dp-sgd-batch-clipping --budget 9

    Without a mechanism: the growth of leaks. For every member whose exact law violates its claim, and for its exact
    twin, it shows δ(r·ε) for r = 1 to 2^18 runs. Attacks that take seconds need --attack.

    Scales are in units of the sensitivity. Both bounds are certified (for counts, at their confidence); the other
    accountants are rounded to nearest.
    """
    from subnormal.audit.report import to_html

    subject = composed(attacks, mechanism, **options)
    source = click.get_current_context().get_parameter_source
    for name in ("runs", "delta", "budget"):
        if subject is None and source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} needs a mechanism: leaks are shown for r = 1 to 2^18 runs")
    title = "Growth of leaks" if subject is None else subject.name
    with output(out) as files:
        charts = _leaks(attacks, options["count"]) if subject is None else _compared(subject, runs, delta)
        if subject is not None and budget is not None:
            click.echo(_beyond(subject, runs, budget, delta))
        files[PAGE] = to_html.charts(title, charts).encode()
    click.echo(f"charts: {out / PAGE}", err=True)


def _compared(subject: Subject, runs: int, delta: float) -> list[Panel]:
    """Print both tables; return both charts."""
    from subnormal.audit.composition.comparison import POINTS, chart, delta_lines, epsilon_lines
    from subnormal.audit.report.svg import Axis

    with progress("composing", 2) as done:
        curve = delta_lines(subject, runs)
        done()
        growth = epsilon_lines(subject, delta, runs)
        done()
    title = f"{subject.name}: {runs:,} runs"
    some = curve[:: (POINTS - 1) // (LINES - 1)]
    print_table(_table(f"δ(ε), {title}", "ε", some))
    print_table(_table(f"ε(δ) at δ = {given(delta)}, {subject.name}", "runs", growth))
    return [
        chart(curve, title, Axis("ε (nats)", 0.0, curve[-1].at or 1.0), f"δ of {runs:,} runs"),
        chart(growth, subject.name, Axis("runs r", 1, max(2, runs), logarithmic=True), f"ε at δ = {given(delta)}"),
    ]


def _beyond(subject: Subject, runs: int, budget: float, delta: float) -> str:
    """Return in words how many runs are proved to exceed a claim."""
    from subnormal.mechanisms.privacy import Claim

    with progress("searching", 1) as done:
        found = subject.runs_beyond(Claim(budget, delta), runs)
        done()
    claim = f"(ε, δ) = ({given(budget)}, {given(delta)})"
    if found is None:
        return f"{subject.name}: {runs:,} runs are not proved to exceed {claim}"
    return f"{subject.name}: {found:,} run{'s are' if found > 1 else ' is'} proved to exceed {claim}"


def _leaks(names: Sequence[str], count: int) -> list[Panel]:
    """Print how the leaks of broken members grow; return the charts."""
    from subnormal.attacks.catalogue import attack, attacks, chosen
    from subnormal.audit.composition.leak_growth import charts, measure_leaks

    for name in names:
        known(attack, name, "--attack")
    composed = chosen(names) or [one for one in attacks() if not one.slow]
    with progress("composing", len(composed)) as done:
        rows = measure_leaks(composed, count=count, done=done)
    if not rows:
        raise click.UsageError("no exact law convicts a member under these attacks")
    print_table(_leak_table(rows))
    return charts(rows)


def _table(title: str, axis: str, lines: Sequence[Line]) -> Table:
    from subnormal.audit.report.table import grid

    table = grid([axis, "low", "up", *(name.replace("Oh–", "Oh–\n") for name in lines[0].others)], (), title)
    for line in lines:
        at = f"{line.at:,}" if isinstance(line.at, int) else given(line.at, 6)
        table.add_row(at, given(line.low, 7), given(line.up, 7), *(given(one, 5) for one in line.others.values()))
    return table


def _leak_table(rows: Sequence[LeakGrowth]) -> Table:
    from subnormal.audit.composition.leak_growth import RUNS as STEPS
    from subnormal.audit.report.table import grid

    titles = ["attack", "mechanism", "ε", *(f"r = {r:,}" for r in STEPS)]
    table = grid(titles, ("attack", "mechanism"), "δ(r·ε): the leak beyond r times the claim")
    for row in rows:
        if row.exact:
            table.add_row(
                "", f"{row.mechanism} (exact)", given(row.claim.epsilon), *(f"≤ {at_most(up)}" for _, up in row.beyond)
            )
            table.add_section()
        else:
            lows = (at_least(low) for low, _ in row.beyond)
            table.add_row(row.attack, row.mechanism, given(row.claim.epsilon), *lows)
    return table
