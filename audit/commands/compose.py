"""audit compose: bounds on the privacy loss of compositions, and the growth of leaks of broken mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from subnormal.audit.commands.common import FiniteRange, out_option, output

RUNS = 1_024
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
    from subnormal.audit.commands.composed import beyond, compared, composed, leaks
    from subnormal.audit.report import to_html

    subject = composed(attacks, mechanism, options)
    source = click.get_current_context().get_parameter_source
    for name in ("runs", "delta", "budget"):
        if subject is None and source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} needs a mechanism: leaks are shown for r = 1 to 2^18 runs")
    title = "Growth of leaks" if subject is None else subject.name
    with output(out) as files:
        charts = leaks(attacks, options["count"]) if subject is None else compared(subject, runs, delta)
        if subject is not None and budget is not None:
            click.echo(beyond(subject, runs, budget, delta))
        files[PAGE] = to_html.charts(title, charts).encode()
    click.echo(f"charts: {out / PAGE}", err=True)
