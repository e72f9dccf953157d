"""The pictures of the notebooks beside this file, readable from the last row: letters of 12 points or more.

`picture` draws panels of named curves and bars, `cells` intervals, `ticks` single floats, `side_by_side` the two worlds
of the rows of a report. Each returns a picture that a notebook shows.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from subnormal.audit.model import Row, Sketch
from subnormal.audit.report import bins
from subnormal.audit.report.bins import FEW

IN, OUT = "#2a6fbb", "#d95f02"  # the two worlds, told apart by colour-blind readers too
COLOURS = {
    "in": IN,
    "out": OUT,
    "black": "black",
    "grey": "0.55",
    "pale": "0.8",
    "claim": "#8b0a50",
    "exact": "#1b7837",
}
FORMS: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 2.5},
    "dashed": {"linewidth": 2.2, "linestyle": "--"},
    "dotted": {"linewidth": 2.5, "linestyle": ":"},
    "dots": {"marker": "o", "linestyle": "none", "markersize": 6},
    "points": {"marker": ".", "linestyle": "none", "markersize": 4},
    "crosses": {"marker": "x", "linestyle": "none", "markersize": 8, "markeredgewidth": 2},
    "rings": {"marker": "o", "linestyle": "none", "markersize": 10, "fillstyle": "none", "markeredgewidth": 2},
    "joined": {"marker": "o", "linewidth": 2, "markersize": 7},
    "joined squares": {"marker": "s", "linewidth": 2, "linestyle": "--", "markersize": 7},
    "steps": {"drawstyle": "steps-mid", "linewidth": 2.5},
    "stairs": {"drawstyle": "steps-post", "linewidth": 2.5},
    "dashed stairs": {"drawstyle": "steps-post", "linewidth": 1.8, "linestyle": "--"},
    "needles": {"linewidth": 2},
    "band": {"alpha": 0.35, "linewidth": 0},
    "full band": {"linewidth": 1},
    "bars": {"alpha": 0.75},
    "hollow bars": {"fill": False, "linewidth": 2},
}
SIZES = {"font.size": 13, "axes.titlesize": 13, "legend.fontsize": 12, "xtick.labelsize": 12, "ytick.labelsize": 12}
STYLE = {**SIZES, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 100}
LINE = 45  # characters over a picture
LEAST_DRAWN = 1e-20


class Picture(Figure):
    """A figure that shows itself, so that no notebook needs to import matplotlib."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes.

    curves: by name, (x, y, look). A look is a colour and a form, as "in line" or "claim dashed", of `COLOURS` and
    `FORMS`. A y that is one number is drawn from side to side, x alone (y is None) from bottom to top, and a band has
    y = (low, high). Names that begin with "_" are not in the legend.
    log: the logarithmic axes, "x", "y" or "xy". ticks: places on the x axis, or their names by place. notes: text by
    (x, y), or by (x, y, x of the text, y of the text) with an arrow. numbers: a format for the height of each bar.
    legend: where, or None. bare: no y axis, where heights mean nothing.
    """

    curves: Mapping[str, tuple[Any, Any, str]]
    x: str
    y: str = ""
    title: str = ""
    log: str = ""
    ticks: Mapping[Any, str] | Sequence[Any] | None = None
    xlim: tuple[float | None, float | None] = (None, None)
    ylim: tuple[float | None, float | None] = (None, None)
    notes: Mapping[tuple[float, ...], str] = field(default_factory=dict)
    numbers: str = ""
    legend: str | None = "best"
    bare: bool = False


def picture(*panels: Panel, size: tuple[float, float] = (11, 4.4), share: bool = False) -> Picture:
    """Return a picture of some panels, side by side; share: one y axis for all. size is in inches."""
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=share)[0]
        for each, panel in zip(axes, panels, strict=True):
            _draw(each, panel)
        for each in axes[1:] if share else ():
            each.set_ylabel("")
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    if "x" in panel.log:
        axes.set_xscale("log")
    if "y" in panel.log:
        axes.set_yscale("log")
    bars = [name for name, (_, _, look) in panel.curves.items() if look.endswith("bars")]
    for name, (x, y, look) in panel.curves.items():
        colour, form = look.split(" ", 1)
        style: dict[str, Any] = {"color": COLOURS[colour], "label": name, **FORMS[form]}
        if y is None:
            axes.axvline(x, **style)
        elif form.endswith("band"):
            axes.fill_between(x, *y, **style)
        elif np.ndim(y) == 0:
            axes.axhline(y, **style)
        elif form == "needles":
            axes.vlines(x, 0, y, **style)
        elif form.endswith("bars"):
            _bars(axes, x, y, style, (bars.index(name), len(bars)), panel.numbers)
        else:
            axes.plot(x, y, **style)
    _furnish(axes, panel)


def _bars(
    axes: Axes, x: ArrayLike, heights: ArrayLike, style: dict[str, Any], place: tuple[int, int], numbers: str
) -> None:
    """Draw bars; place: which of how many at each x."""
    at, of = place
    gap = float(np.min(np.diff(x))) if np.size(x) > 1 else 1.0
    width = 0.8 * gap / of
    if style.get("fill") is False:
        style = {**style, "edgecolor": style.pop("color")}
    if np.asarray(heights).dtype.kind in "iu" and axes.get_yscale() == "linear":
        axes.yaxis.get_major_locator().set_params(integer=True)
    drawn = axes.bar(np.asarray(x) + (at - (of - 1) / 2) * width, heights, width=width, **style)
    if numbers:
        heights = np.asarray(heights, dtype=float)
        axes.bar_label(drawn, [numbers.format(height) if height else "" for height in heights], fontsize=12)
        axes.margins(y=0.1)  # room above for the numbers


def _furnish(axes: Axes, panel: Panel) -> None:
    axes.set(xlabel=panel.x, ylabel=panel.y, title=panel.title)
    for limits, let in ((panel.xlim, axes.set_xlim), (panel.ylim, axes.set_ylim)):
        if limits != (None, None):  # which would stop the automatic ones
            let(*limits)
    bottom, top = axes.get_ylim()
    if "y" in panel.log and top < 200 * bottom:  # not enough powers of ten to read
        axes.yaxis.set_major_locator(LogLocator(base=2 if top < 20 * bottom else 4))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_locator(NullLocator())
    if "x" not in panel.log and panel.ticks is None:
        axes.locator_params(axis="x", nbins=6, steps=[1, 2, 5, 10])
    if panel.ticks is not None:
        named = panel.ticks if isinstance(panel.ticks, Mapping) else {place: f"{place:,g}" for place in panel.ticks}
        axes.set_xticks(list(named), list(named.values()))
        axes.xaxis.set_minor_locator(NullLocator())
    if panel.bare:
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
    for (x, y, *text), words in panel.notes.items():
        arrow = {"arrowstyle": "->", "shrinkB": 6}
        if text:
            axes.annotate(words, (x, y), (text[0], text[1]), arrowprops=arrow, ha="center")
        else:
            axes.annotate(words, (x, y), (8, 6), textcoords="offset points")
    if panel.legend and any(not name.startswith("_") for name in panel.curves):
        axes.legend(loc=panel.legend)


def cells(rows: Mapping[str, Sequence[tuple[float, float, str, str]]], x: str, size: tuple[float, float]) -> Picture:
    """Return a picture of intervals: by the name of a row, each interval's start, end, text and colour; "" is empty."""
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained")
        axes = figure.subplots()
        for height, row in enumerate(rows.values()):
            for start, end, words, colour in row:
                fill = {"color": COLOURS[colour], "alpha": 0.35} if colour else {"color": "none", "hatch": "//"}
                edge = COLOURS[colour] if colour else "0.6"
                axes.barh(-height, end - start, left=start, edgecolor=edge, linewidth=2, **fill)
                behind = {"facecolor": "white", "edgecolor": "none", "pad": 2} if not colour else None
                axes.text((start + end) / 2, -height, words, ha="center", va="center", bbox=behind)
        axes.set_yticks([-height for height in range(len(rows))], list(rows))
        axes.set_xlabel(x)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    return figure


def ticks(
    panels: Mapping[str, Mapping[str, tuple[ArrayLike, str]]], x: str = "", size: tuple[float, float] = (13, 6)
) -> Picture:
    """Return a picture of places on the number line: by the title of a panel and the name of a row, (places, colour).

    A place that more than one row has, and that is not in pale grey, is black in these rows.
    """
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained")
        for axes, (title, rows) in zip(
            figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels.items(), strict=True
        ):
            coloured = [np.unique(places) for places, colour in rows.values() if colour != "pale"]
            places, counts = np.unique(np.concatenate([*coloured, np.empty(0)]), return_counts=True)
            shared = places[counts > 1]
            for height, (places_of, colour) in enumerate(rows.values()):
                at = np.asarray(places_of)
                both = np.isin(at, shared) & (colour != "pale")
                for some, ink in ((at[~both], COLOURS[colour]), (at[both], "black")):
                    axes.vlines(some, 0.15 - height, 0.85 - height, color=ink, linewidth=2 if colour == "pale" else 4)
            axes.set_yticks([0.5 - height for height in range(len(rows))], list(rows))
            axes.set_title(title)
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0)
            axes.ticklabel_format(axis="x", useOffset=False)
        axes.set_xlabel(x)
    return figure


def side_by_side(rows: Sequence[Row], title: str = "") -> Picture:
    """Return a picture with a column for each row: both worlds."""
    width, above = 5.4 * len(rows), 0.75 if not title else 1.1
    height = 3.5 + above
    with rc_context(STYLE):
        figure = Picture(figsize=(width, height))
        figure.suptitle(title, fontweight="bold", y=1 - 0.08 / height, va="top")
        axes = figure.subplots(1, len(rows), squeeze=False, sharey="row")[0]
        # Fixed margins, in inches: a layout computed from every label takes longer than the drawing.
        edges = {"left": 0.85 / width, "right": 1 - 0.25 / width, "bottom": 0.6 / height, "top": 1 - above / height}
        figure.subplots_adjust(**edges, wspace=0.06)
        for panel, row in zip(axes, rows, strict=True):
            panel.set_title(_headline(row), y=1.0)  # matplotlib would lay out every tick to find a place
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
        axes[0].legend(markerscale=2)
    return figure


def _headline(row: Row) -> str:
    if row.timing is not None:  # its verdict may be another in the next run
        return f"{row.mechanism}\n{row.timing.measurements:,} measurements"
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
