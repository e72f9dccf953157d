"""The timing figures: how they are measured and drawn. What is measured stands in `curves`.

A figure is one run: in every round each member draws at each size, in an order shuffled anew, so that whatever else
the machine does meets all members alike. Seconds are the processor's, of
this thread: on an idle machine those of the clock, and on a busy one what the draw itself took.
"""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import takewhile
from math import ceil, log
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from subnormal.audit.engine.fingerprint import environment

LEAST_TIMED = 2e-3  # seconds: faster draws are timed many at a time, so that reading the clock costs nothing
LEAST_TICK = 1e-6  # seconds: no clock is trusted below
QUICK_ROUNDS = 5
CLOSE = 1.1  # the largest factor between a time and a power law that it follows
GROWN = 2.0  # the least factor between the times of a curve that follows one

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Series:
    """The times of one curve: seconds for one draw at each size, the median and the quartiles over the rounds."""

    name: str
    sizes: tuple[int, ...]
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    exponent: float  # of the power law through the larger sizes

    @property
    def growth(self) -> str:
        """The power law of the larger sizes; "" for two sizes, times far from a law, or times that hardly grow."""
        x, y = _larger(self.sizes, self.median)
        close = np.abs(y - y.mean() - self.exponent * x) < log(CLOSE)
        grown = np.ptp(y) > log(GROWN)
        return f"$n^{{{self.exponent:z.2f}}}$" if len(x) >= 3 and close.all() and grown else ""


@dataclass(frozen=True, slots=True)
class Timings:
    """A figure's numbers: all that its picture is drawn from."""

    name: str
    title: str
    axis: str
    rounds: int
    series: tuple[Series, ...]
    advantage: tuple[float, ...] = ()  # exact, at 1, 2, 3, …, drawn beside the times

    @property
    def common_size(self) -> int:
        """The largest size that every curve has."""
        return max(set.intersection(*(set(series.sizes) for series in self.series)))

    def ratios(self) -> dict[str, float]:
        """Return each curve's median at the common size, as a multiple of the first curve's."""
        at_common = {series.name: series.median[series.sizes.index(self.common_size)] for series in self.series}
        return {name: median / at_common[self.series[0].name] for name, median in at_common.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What is timed: `call(size)` prepares the data of that size and returns the call that is one draw."""

    name: str
    last: int  # the largest size that is affordable
    call: Callable[[int], Call]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A figure to be measured. Its curves share one grid of sizes, first·ratio^i, and each goes as far as it can."""

    name: str
    title: str
    axis: str
    first: int
    ratio: float
    curves: tuple[Curve, ...]
    advantage: Callable[[int], Fraction] | None = None  # of an attacker who counts random bits, exactly


def sizes(first: int, last: int, ratio: float, *, quick: bool = False) -> tuple[int, ...]:
    """Return first·ratio^i, rounded, up to `last`; quick: every other of them, up to half of `last`.

    >>> sizes(16, 1024, 4), sizes(16, 1024, 4, quick=True)
    ((16, 64, 256, 1024), (16, 256))
    """
    largest = last // 2 if quick else last
    count = ceil(log(max(last, first) / first, ratio)) + 2
    grid = [round(first * ratio**power) for power in range(0, count, 2 if quick else 1)]
    return tuple(takewhile(lambda size: size <= largest, grid))


def fitted_exponent(at: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the a of seconds ≈ c·size^a: least squares on logarithms, over the sizes from their median on.

    Raises ValueError where there are fewer than two sizes.
    """
    if len(at) < 2:
        raise ValueError(f"a power law needs at least two sizes, got {tuple(at)}")
    x, y = _larger(at, seconds)
    return float(x @ y / (x @ x))


def _larger(at: Sequence[int], seconds: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of the sizes from their median on, less their mean, and of the times."""
    large = np.asarray(at) >= min(np.median(at), sorted(at)[-2])
    x = np.log(np.asarray(at)[large])
    return x - x.mean(), np.log(np.asarray(seconds)[large])


def measure(
    plan: Plan, *, rounds: int, seed: int, quick: bool = False, done: Callable[[], None] = lambda: None
) -> Timings:
    """Return the times of a figure. `seed` orders the draws within each round; `done` is called after every round."""
    shuffled = random.Random(seed)
    tasks = [
        (curve.name, size, *_prepared(curve.call(size)))
        for curve in plan.curves
        for size in sizes(plan.first, curve.last, plan.ratio, quick=quick)
    ]
    times: dict[str, dict[int, list[float]]] = {curve.name: {} for curve in plan.curves}
    for _ in range(rounds):
        for name, size, call, repeats in shuffled.sample(tasks, len(tasks)):
            times[name].setdefault(size, []).append(_seconds(call, repeats))
        done()
    series = tuple(_series(name, dict(sorted(by_size.items()))) for name, by_size in times.items())
    largest = max(timed.sizes[-1] for timed in series)
    told = () if plan.advantage is None else tuple(float(plan.advantage(size)) for size in range(1, largest + 1))
    return Timings(plan.name, plan.title, plan.axis, rounds, series, told)


def _prepared(call: Call) -> tuple[Call, int]:
    """Return the call, warmed up, and how many of it are timed at once."""
    call()  # fills the caches: its time says nothing
    return call, ceil(LEAST_TIMED / max(_seconds(call, 1), LEAST_TICK))


def _seconds(call: Call, repeats: int) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        call()
    return (time.thread_time() - start) / repeats


def _series(name: str, by_size: dict[int, list[float]]) -> Series:
    quartiles = np.percentile(list(by_size.values()), [25, 50, 75], axis=1)
    low, median, high = (tuple(row) for row in quartiles.tolist())
    return Series(name, tuple(by_size), median, low, high, fitted_exponent(list(by_size), median))


STYLES: dict[str, dict[str, Any]] = {  # blue and orange are the two worlds; dashes are bit by bit
    "naive float64": {"color": "#8b0a50", "marker": "s"},
    "naive, as in Figure 1": {"color": "#cc79a7", "marker": "P"},
    "inverse CDF, float64": {"color": "#7f5539", "marker": "X", "linestyle": ":"},
    "exact": {"color": "#1b7837", "marker": "D"},
    "base 2, theoretical, all-bits": {"color": "black", "marker": "o"},
    "base 2, theoretical, bit-by-bit": {"color": "black", "marker": "o", "fillstyle": "none", "linestyle": "--"},
    "base 2, empirical, all-bits": {"color": "0.6", "marker": "^"},
    "base 2, empirical, bit-by-bit": {"color": "0.6", "marker": "^", "fillstyle": "none", "linestyle": "--"},
    "total weight 128.5": {"color": "#d55e00", "marker": "s"},
    "total weight 128": {"color": "#0072b2", "marker": "D"},
    "precision search, once": {"color": "#6a3d9a", "marker": "v", "linestyle": ":"},
}


def draw(axes: Axes, timings: Timings) -> None:
    """Draw medians as lines and the interquartile range as bands, with the legend beside them, slowest first.

    On logarithmic axes with the exponents of the curves that follow a power law; without them for a few tries.
    """
    rank = {name: -round(log(ratio)) for name, ratio in timings.ratios().items()}  # near ties keep the plan's order
    for series in sorted(timings.series, key=lambda series: rank[series.name]):
        style = STYLES[series.name]
        label = f"{series.name}: {series.growth}" if series.growth and not timings.advantage else series.name
        axes.plot(series.sizes, series.median, **style, markersize=6, linewidth=1.8, label=label)
        axes.fill_between(series.sizes, series.low, series.high, color=style["color"], alpha=0.2, linewidth=0)
    scale = "linear" if timings.advantage else "log"
    axes.set(xscale=scale, yscale=scale, xlabel=timings.axis, ylabel="processor time", title=timings.title)
    axes.yaxis.set_major_formatter(EngFormatter(unit="s"))
    axes.grid(color="0.92")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)


def draw_advantage(axes: Axes, timings: Timings) -> None:
    """Draw what the number of random bits tells, against the minimum of tries."""
    minimum = range(1, len(timings.advantage) + 1)
    axes.plot(minimum, timings.advantage, color="black", marker="o", markersize=4, linewidth=1.2)
    axes.set(yscale="log", xlabel=timings.axis, ylabel="advantage, exactly", title="Whoever counts bits")
    axes.grid(color="0.92")


def to_png(timings: Timings) -> bytes:
    """Return the picture of a figure."""
    with rc_context({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(11, 5), layout="constrained")
        if timings.advantage:
            beside, axes = figure.subplots(1, 2)
            draw_advantage(beside, timings)
        else:
            axes = figure.subplots()
        draw(axes, timings)
        rounds = f"median of {timings.rounds} rounds,"
        note = f"{rounds} band: quartiles\n$n^a$: where the larger sizes follow it"
        if timings.advantage:  # the axes leave less room
            note = f"{rounds}\nband: quartiles"
            for panel in (beside, axes):
                panel.locator_params(axis="x", integer=True)  # no halves of a try
        figure.text(0.99, 0.02, note, ha="right", color="0.4")
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
    return stream.getvalue()


def to_json(measured: Sequence[Timings], seed: int) -> str:
    """Return the numbers of some figures, and the machine that they were measured on, as JSON."""
    figures = [asdict(timings) for timings in measured]
    document = {"schema": "subnormal/figures/1", "seed": seed, "environment": environment(), "figures": figures}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
