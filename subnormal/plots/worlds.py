"""The two worlds of the rows of a report: laws, samples, and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from subnormal.audit.model import Row, Sketch
from subnormal.audit.report import bins
from subnormal.audit.report.bins import FEW
from subnormal.plots.figure import COLOURS, PROJECTED, Figure

IN, OUT = COLOURS["in"], COLOURS["out"]
LINE = 45  # characters over a picture
LEAST_DRAWN = 1e-20


def side_by_side(rows: Sequence[Row], title: str = "") -> Figure:
    """Return the probabilities of both worlds, a panel for each row: laws as lines, samples as dots or areas.

    Where a row has times, the panel shows how long draws took in both worlds, in milliseconds.

    Args:
        rows: rows of a report of `run`; one without laws and without samples has an empty panel.
        title: the text above all panels.

    Returns:
        A figure of matplotlib; all panels have one vertical axis.

    Raises:
        ValueError: there is no row.
    """
    width, above = 5.4 * len(rows), 0.75 if not title else 1.1
    height = 3.5 + above
    with rc_context(PROJECTED):
        figure = Figure(figsize=(width, height))
        figure.suptitle(title, fontweight="bold", y=1 - 0.08 / height, va="top")
        axes = figure.subplots(1, len(rows), squeeze=False, sharey="row")[0]
        # Fixed margins, in inches: a layout computed from every label takes longer than the drawing.
        edges = {"left": 0.85 / width, "right": 1 - 0.25 / width, "bottom": 0.6 / height, "top": 1 - above / height}
        figure.subplots_adjust(**edges, wspace=0.06)
        for panel, row in zip(axes, rows, strict=True):
            panel.set_title(_headline(row), y=1.0)  # matplotlib would lay out every tick to find a place
            if row.sketch is not None:
                (_draw_worlds if row.timing is None else _draw_times)(panel, row.sketch)
        if axes[0].get_yscale() == "log":
            bottom, top = axes[0].get_ylim()
            axes[0].set_ylim(max(bottom, LEAST_DRAWN), min(top, 9))  # room for a mark at 1, and no tick above it
        for panel in axes:
            panel.yaxis.set_minor_locator(NullLocator())  # most of the time goes into ticks
        for panel in axes[1:]:
            panel.yaxis.set_visible(False)
        axes[0].set_ylabel("probability")
        axes[0].legend(markerscale=2)
    return figure


def _headline(row: Row) -> str:
    if row.timing is not None:  # its verdict may be another in the next run
        return f"{row.mechanism}\n{row.timing.measurements:,} measurements"
    verdicts = ", ".join(f"{kind}: {evidence.verdict}" for kind, evidence in row.evidence.items())
    return f"{row.mechanism}\n" + (verdicts if len(verdicts) < LINE else verdicts.replace(", sampled", ",\nsampled"))


def _draw_worlds(axes: Axes, sketch: Sketch) -> None:
    """Draw both worlds: the law as a line, the sample as dots. A world without a line there cannot land there."""
    shown = bins.of(sketch)
    ends = shown.ends
    if not shown.pairs:
        return
    for name, pair in shown.pairs:
        for colour, world, masses in zip((IN, OUT), ("in", "out"), pair, strict=True):
            _steps(axes, ends, masses, colour, f"{world}, {name}", filled=name == "sampled")
    if shown.names:
        axes.set_xticks(range(len(ends)), shown.names)
    everything = np.concatenate([masses for _, pair in shown.pairs for masses in pair])
    positive = everything[everything > 0]
    if positive.max() > 50 * positive.min():
        axes.set_yscale("log")
    axes.set_xlabel(shown.axis)


def _draw_times(axes: Axes, sketch: Sketch) -> None:
    """Draw how long draws took in both worlds, as shares of cells of equal width."""
    for colour, world, shares in zip((IN, OUT), ("in", "out"), sketch.sampled or (), strict=False):
        axes.fill_between(sketch.edges, shares, step="mid", color=colour, alpha=0.45, linewidth=0, label=world)
    axes.set_xlabel("time of one draw (ms)")


def _steps(
    axes: Axes, ends: NDArray[np.float64], masses: NDArray[np.float64], colour: str, label: str, *, filled: bool
) -> None:
    visible = np.where(masses > 0, masses, np.nan)
    if len(ends) <= FEW:  # a bar each, side by side whatever lies between them
        places = np.arange(len(ends)) + (-0.2 if colour == IN else 0.2)
        style: dict[str, Any] = {"color": colour, "alpha": 0.35} if filled else {"color": "none", "edgecolor": colour}
        axes.bar(places, np.nan_to_num(visible), width=0.38, label=label, linewidth=1.5, **style)
    elif filled:
        axes.plot(ends, visible, ".", color=colour, alpha=0.35, markersize=4, label=label)
    else:
        # The second world is dashed, so that the first shows through where they agree.
        style = {"linewidth": 2.2} if colour == IN else {"linewidth": 1.4, "linestyle": "--"}
        axes.step(ends, visible, where="mid", color=colour, label=label, **style)
        for cell in np.flatnonzero(masses == 1):  # a line needs two points
            axes.plot(ends[cell], 1, "o", color=colour, markersize=6)
            told = f"{label.split(',')[0]}: always {ends[cell]:g}"
            axes.annotate(told, (ends[cell], 1), (9, -4), textcoords="offset points", color=colour)
