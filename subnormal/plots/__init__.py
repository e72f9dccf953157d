"""Pictures by matplotlib, the extra `plots`. Each function returns a `Figure`, which a notebook shows.

Of results: `sweep` draws a study, `twin_bars` the event's probabilities on both twins, `loss_profile` the δ that a pair
of worlds needs at each ε, `side_by_side` both worlds of some rows, and `epsilon_between` the ε of training between two
bounds. Of arrays, as the notebooks of this project use them: `picture` draws panels of named curves and bars, `cells`
intervals, and `ticks` places on the number line.

>>> from subnormal import plots, run
>>> report = run(["zero-rounding"], ["exponential-naive-float64", "exponential-base2"], runs=0, jobs=1)
>>> figure = plots.twin_bars(report)  # figure.savefig("twins.svg")
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    raise ModuleNotFoundError("subnormal.plots needs matplotlib: pip install matplotlib", name="matplotlib") from None

from subnormal.plots.between import epsilon_between
from subnormal.plots.figure import FORMATS, Figure
from subnormal.plots.number_line import cells, ticks
from subnormal.plots.panels import Panel, picture
from subnormal.plots.results import loss_profile, sweep, twin_bars
from subnormal.plots.worlds import side_by_side

__all__ = [
    "FORMATS",
    "Figure",
    "Panel",
    "cells",
    "epsilon_between",
    "loss_profile",
    "picture",
    "side_by_side",
    "sweep",
    "ticks",
    "twin_bars",
]
