"""Pictures of the number line: intervals with a text, and places such as single floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from numpy.typing import ArrayLike

from subnormal.plots.figure import COLOURS, PROJECTED, Figure


def cells(rows: Mapping[str, Sequence[tuple[float, float, str, str]]], x: str, size: tuple[float, float]) -> Figure:
    """Return a figure of rows of intervals.

    Args:
        rows: by name, for each interval (start, end, text, colour), in units of the axis. Colours are those of a
            `Panel`; an interval of the colour "" is hatched.
        x: the text at the axis.
        size: width and height, in inches.

    Returns:
        A figure of matplotlib.

    Raises:
        KeyError: there is no such colour.
    """
    with rc_context(PROJECTED):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for height, row in enumerate(rows.values()):
            for colour in dict.fromkeys(colour for *_, colour in row):
                fill = {"color": COLOURS[colour], "alpha": 0.35} if colour else {"color": "none", "hatch": "//"}
                edge = COLOURS[colour] if colour else "0.6"
                starts, ends = np.array([(start, end) for start, end, _, own in row if own == colour]).T
                axes.barh([-height] * len(starts), ends - starts, left=starts, edgecolor=edge, linewidth=2, **fill)
            for start, end, words, colour in row:
                behind = {"facecolor": "white", "edgecolor": "none", "pad": 2} if not colour else None
                if words:
                    axes.text((start + end) / 2, -height, words, ha="center", va="center", bbox=behind)
        axes.set_yticks([-height for height in range(len(rows))], list(rows))
        axes.set_xlabel(x)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    return figure


def ticks(
    panels: Mapping[str, Mapping[str, tuple[ArrayLike, str]]], x: str = "", size: tuple[float, float] = (13, 6)
) -> Figure:
    """Return a figure of places on the number line, such as the floats that each of two worlds can release.

    A place that more than one row has, and that is not in pale grey, is black in these rows.

    Args:
        panels: by title and by the name of a row, (places, colour). Places have the shape (n,), in units of the axis;
            colours are those of a `Panel`.
        x: the text at the axis of the last panel.
        size: width and height, in inches.

    Returns:
        A figure of matplotlib, its panels one below the other.

    Raises:
        ValueError: there is no panel.
        KeyError: there is no such colour.
    """
    with rc_context(PROJECTED):
        figure = Figure(figsize=size, layout="constrained")
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
