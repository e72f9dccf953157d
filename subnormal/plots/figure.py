"""What all pictures share: a figure that a notebook shows, and colours that colour-blind readers tell apart."""

from __future__ import annotations

import io
from typing import Any

from matplotlib import figure

FORMATS = ("png", "svg", "pdf")  # of files
COLOURS = {
    "in": "#2a6fbb",  # the two worlds
    "out": "#d95f02",
    "black": "black",
    "grey": "0.55",
    "pale": "0.8",
    "claim": "#8b0a50",
    "exact": "#1b7837",
}
SPINES: dict[str, Any] = {"axes.spines.top": False, "axes.spines.right": False}
PROJECTED: Any = {  # letters that can be read from the last row of a class: of 12 points or more
    **SPINES,
    "font.size": 13,
    "axes.titlesize": 13,
    "legend.fontsize": 12,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "figure.dpi": 100,
}


class Figure(figure.Figure):
    """A figure that a notebook shows."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()
