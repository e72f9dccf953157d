"""Panels of named curves and bars, readable from the last row of a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import ArrayLike

from subnormal.plots.figure import COLOURS, PROJECTED, Figure

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes.

    Attributes:
        curves: by name, (x, y, look); x and y have one shape, (n,). A y that is one number is drawn from side to side,
            x alone (y is None) from bottom to top, and a band has y = (low, high). A look is a colour and a form, such
            as "in line". Colours: in, out, black, grey, pale, claim, exact. Forms: line, dashed, dotted, dots, points,
            crosses, rings, joined, joined squares, steps, stairs, dashed stairs, needles, band, full band, bars, hollow
            bars. Names that begin with "_" are not in the legend.
        x: the text at the horizontal axis.
        y: the text at the vertical axis.
        title: the text above.
        log: the logarithmic axes: "x", "y" or "xy".
        ticks: places on the horizontal axis, or their names by place.
        xlim: the ends of the horizontal axis; None is automatic.
        ylim: the ends of the vertical axis; None is automatic.
        notes: text by (x, y), or by (x, y, x of the text, y of the text) with an arrow.
        numbers: a format for the height of each bar, such as "{:g}".
        legend: its place, by matplotlib's names, or None.
        bare: whether the vertical axis is left out, where heights mean nothing.
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
    legend: Any = "best"
    bare: bool = False


def picture(*panels: Panel, size: tuple[float, float] = (11, 4.4), share: bool = False) -> Figure:
    """Return a figure of some panels, side by side.

    Args:
        panels: one or more.
        size: width and height, in inches.
        share: whether all panels have one vertical axis.

    Returns:
        A figure of matplotlib.

    Raises:
        ValueError: there is no panel, or the x and y of a curve differ in shape.
        KeyError: a look names no colour or no form.
    """
    with rc_context(PROJECTED):
        figure = Figure(figsize=size, layout="constrained")
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
        axes.locator_params(axis="y", integer=True)
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
