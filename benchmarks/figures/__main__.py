"""Draw the figures of Ilvento 2020: `make figures`, or python -m benchmarks.figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from matplotlib.ticker import EngFormatter
from rich.table import Table

from benchmarks.figures import rounding
from benchmarks.figures.curves import PLANS
from benchmarks.figures.figures import QUICK_ROUNDS, Timings, measure, to_json, to_png
from subnormal.audit.commands.common import out_option, output, print_table, progress
from subnormal.audit.report.table import grid
from subnormal.mechanisms.core.options import unknown

NAMES = [*(plan.name for plan in PLANS), *rounding.FIGURES]


@click.command()
@out_option("Folder for the pictures and figures.json, the times; an earlier run's are replaced.")
@click.option("--figure", "names", multiple=True, metavar="NAME", help="Only this figure; may be repeated.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Times that everything is measured."
)
@click.option("--quick", is_flag=True, help="At most 5 rounds and fewer sizes: an answer in seconds.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Order of the measurements. Times differ all the same: draws take cryptographic bits.",
)
def main(out: Path, names: Sequence[str], rounds: int, quick: bool, seed: int) -> None:
    """Draw Figures 4 to 11 of Ilvento 2020: the time of one draw, measured, and what randomized rounding costs.

    \b
    figure-4-outcomes     against the size of the outcome space
    figure-5-precision    base 2 with theoretical and with empirical precision
    figure-6-range        against the range of the utilities
    figure-7-granularity  Laplace noise, against the fineness of its grid; the paper's baseline is its naive selection
    figure-4-75000        Figure 4 up to the 75,000 outcomes of the paper, in 2.4 GB
    figure-9-tries        base 2 with a minimum of tries, and what the number of random bits tells

    \b
    figure-8-distributions  samples of the rounded and of the naive mechanism, at η = 1 and γ = 1/16
    figure-10-error         the largest error of a rounded probability, by granularity, at the paper's η = 2
    figure-11-bounds        bounds on the rounded probabilities, at the paper's η = 2 and γ = 1/4

    Figures 8, 10 and 11 have no times. In each of the others all members are timed in one run, in turn, in an order
    shuffled for every round; a first draw is discarded. A draw begins with the data: weights are part of it, the
    working precision is not (it is public, and cached).
    With 15 rounds figure-4-75000 takes about a minute of processor time, each of the others about 15 seconds.
    Prints the exponent a of each curve, time ~ n^a over the larger sizes, and how the times compare at the largest
    size that all curves of a figure share. A picture has medians, with a band from quartile to quartile.
    """
    for name in names:
        if name not in NAMES:
            raise click.BadParameter(unknown("figure", name, NAMES), param_hint="--figure")
    plans = [plan for plan in PLANS if not names or plan.name in names]
    rounds = min(rounds, QUICK_ROUNDS) if quick else rounds
    with output(out, stale=[f"{name}.png" for name in NAMES]) as files:
        with progress("measuring", len(plans) * rounds) as done:
            measured = [measure(plan, rounds=rounds, seed=seed, quick=quick, done=done) for plan in plans]
        pictures = {f"{timings.name}.png": to_png(timings) for timings in measured}
        pictures |= {
            f"{name}.png": draw()._repr_png_() for name, draw in rounding.FIGURES.items() if not names or name in names
        }
        files |= pictures | {"figures.json": to_json(measured, seed).encode()}
    for timings in measured:
        print_table(_table(timings))
    click.echo(f"figures: {', '.join(str(out / name) for name in pictures)}", err=True)


def _table(timings: Timings) -> Table:
    at = timings.common_size
    titles = (timings.name, "time ~", f"at n = {at:,}", f"× {timings.series[0].name}")
    made = grid(titles, (timings.name,), timings.title)
    seconds = EngFormatter(unit="s", places=1)
    for series in timings.series:
        median = series.median[series.sizes.index(at)]
        made.add_row(series.name, f"n^{series.exponent:z.2f}", seconds(median), f"{timings.ratios()[series.name]:,.2f}")
    return made


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.figures")
