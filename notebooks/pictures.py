"""Pictures of rows for the notebooks beside this file: both worlds of each row, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from subnormal.audit.model import Row, Sketch
from subnormal.audit.report import bins
from subnormal.audit.report.bins import FEW

IN, OUT = "#2a6fbb", "#d95f02"  # the two worlds, told apart by colour-blind readers too
LINE = 45  # characters over a picture
LEAST_DRAWN = 1e-20


def side_by_side(rows: Sequence[Row], title: str = "") -> Figure:
    """Return a figure with a column for each row: both worlds."""
    width, height = 4.6 * len(rows), 3.7
    figure = Figure(figsize=(width, height))
    figure.suptitle(title, fontweight="bold", y=1 - 0.08 / height, va="top")
    axes = figure.subplots(1, len(rows), squeeze=False, sharey="row")[0]
    # Fixed margins, in inches: a layout computed from every label takes longer than the drawing.
    edges = {"left": 0.75 / width, "right": 1 - 0.1 / width, "bottom": 0.5 / height, "top": 1 - 0.8 / height}
    figure.subplots_adjust(**edges, wspace=0.06)
    for panel, row in zip(axes, rows, strict=True):
        panel.set_title(_headline(row), fontsize=10, y=1.0)  # matplotlib would lay out every tick to find a place
        if row.sketch is not None:
            (draw_worlds if row.timing is None else draw_times)(panel, row.sketch)
    if axes[0].get_yscale() == "log":
        bottom, top = axes[0].get_ylim()
        axes[0].set_ylim(max(bottom, LEAST_DRAWN), min(top, 9))  # room for a mark at 1, and no tick above it
    for panel in axes:
        panel.yaxis.set_minor_locator(NullLocator())  # most of the time goes into ticks
    for panel in axes[1:]:
        panel.yaxis.set_visible(False)
    axes[0].set_ylabel("probability")
    axes[0].legend(fontsize=8, markerscale=2)
    return figure


def _headline(row: Row) -> str:
    verdicts = ", ".join(f"{kind}: {evidence.verdict}" for kind, evidence in row.evidence.items())
    return f"{row.mechanism}\n" + (verdicts if len(verdicts) < LINE else verdicts.replace(", sampled", ",\nsampled"))


def draw_worlds(axes: Axes, sketch: Sketch) -> None:
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


def draw_times(axes: Axes, sketch: Sketch) -> None:
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
