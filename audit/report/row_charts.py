"""A row's charts: both worlds as histograms and as distribution functions, or times; and those of `claim_charts`.

`report.svg` draws them. Classes: i and o for the worlds in and out, f for filled areas (runs), l for lines (laws), t
for thin lines, k for both worlds together, b for confidence bands, c for the claim.
"""

from __future__ import annotations

import math

import numpy as np

from subnormal.audit.model import Row
from subnormal.audit.report import bins, claim_charts, svg
from subnormal.audit.report.bins import Histogram
from subnormal.audit.report.svg import Axis, Floats, Frame, Panel
from subnormal.audit.text import short

BINS = 160  # largest number in a chart
WORLDS = ("i", "o")


def of(row: Row) -> list[Panel]:
    """Return the charts of the row's evidence."""
    if row.timing is not None:
        panels = [_times(row), claim_charts.event(row)]
    else:
        histogram = None if row.sketch is None else bins.of(row.sketch, BINS)
        filled = histogram is not None and histogram.pairs
        panels = [_worlds(row, histogram) if histogram is not None and filled else None, claim_charts.event(row)]
        if histogram is not None and filled and len(histogram.names) not in (1, 2):  # the first chart shows so few
            panels.append(_distributions(row, histogram))
        panels += [claim_charts.curve(row), claim_charts.running(row)]
    return [panel for panel in panels if panel is not None]


def _worlds(row: Row, histogram: Histogram) -> Panel:
    frame = Frame(_across(histogram), _up("probability of a bin" if histogram.merged else "probability", histogram))
    bounds, marks = _bounds(histogram), []
    for name, pair in histogram.pairs:
        for world, masses in zip(WORLDS, pair, strict=True):
            css = f"{'f' if name == 'sampled' else 'l'} {world}"
            if histogram.names:
                side = (-0.4, -0.02) if world == "i" else (0.02, 0.4)
                places = [(place + side[0], place + side[1]) for place in range(len(masses))]
                there = [(place, mass) for place, mass in zip(places, masses.tolist(), strict=True) if mass > 0]
                marks += [svg.bar(frame, place, (0.0, mass), css) for place, mass in there]
            elif name == "law":
                marks.append(svg.line(frame, *svg.steps(bounds, masses), css))
            else:
                xs, ys = svg.steps(bounds, masses)
                marks.append(svg.band(frame, xs, np.zeros(len(ys)), ys, css))
    runs = "" if row.sampled is None else f"Shaded: {row.sampled.runs:,} runs of each world. "
    caption = runs + ("There is no law." if histogram.law is None else "Lines: the exact law.")
    return svg.panel("Both worlds", claim_charts.row_name(row), caption, frame, marks)


def _distributions(row: Row, histogram: Histogram) -> Panel:
    frame = Frame(_across(histogram), Axis("probability of at most that much", 0.0, 1.0))
    marks = []
    margin = 0.0 if row.sampled is None else row.sampled.ks.margin / 2  # of one of the two samples
    for name, pair in histogram.pairs:
        for world, masses in zip(WORLDS, pair, strict=True):
            xs, ys = _rising(histogram, np.cumsum(masses))
            if name == "sampled":
                marks.append(svg.band(frame, xs, ys - margin, ys + margin, f"f {world}"))
            if name == "law" or histogram.law is None:
                marks.append(svg.line(frame, xs, ys, f"{'l' if name == 'law' else 't'} {world}"))
    runs = "" if row.sampled is None else f"Shaded: {row.sampled.runs:,} runs, ± {short(margin, 2)} (DKW). "
    caption = runs + ("There is no law." if histogram.law is None else "Lines: the exact law.")
    return svg.panel("Distribution functions", claim_charts.row_name(row), caption, frame, marks)


def _rising(histogram: Histogram, until: Floats) -> tuple[Floats, Floats]:
    """Return a distribution function's points: jumps at values, or values at the ends of merged bins."""
    if histogram.merged and not histogram.names:
        return histogram.ends, until
    if histogram.names:
        return svg.steps(_bounds(histogram), until)
    return svg.steps(np.append(histogram.ends, 2 * histogram.ends[-1] - histogram.ends[-2]), until)


def _times(row: Row) -> Panel | None:
    sketch, timing = row.sketch, row.timing
    if sketch is None or sketch.sampled is None or timing is None:
        return None
    width = sketch.edges[1] - sketch.edges[0]
    bounds = np.append(sketch.edges[0] - width, sketch.edges)
    highest = 1.08 * float(np.max(sketch.sampled))
    frame = Frame(Axis("time of one draw (ms)", bounds[0], bounds[-1]), Axis("share of measurements", 0.0, highest))
    marks = []
    for world, shares in zip(WORLDS, sketch.sampled, strict=True):
        xs, ys = svg.steps(bounds, shares)
        marks += [svg.band(frame, xs, np.zeros(len(ys)), ys, f"f {world}"), svg.line(frame, xs, ys, f"t {world}")]
    limit = timing.threshold * 1e3
    marks.append(svg.line(frame, [limit, limit], [0.0, highest], "t c"))
    caption = (
        f"{timing.measurements:,} measurements of single draws; the outermost bins hold the tails. "
        "Dashed: the time that the event must exceed."
    )
    return svg.panel("Times", claim_charts.row_name(row), caption, frame, marks)


def _bounds(histogram: Histogram) -> Floats:
    if histogram.names:
        return np.arange(len(histogram.ends) + 1, dtype=np.float64) - 0.5
    width = histogram.ends[1] - histogram.ends[0]
    bounds: Floats = np.append(histogram.ends[0] - width, histogram.ends) + (0.0 if histogram.merged else width / 2)
    return bounds


def _across(histogram: Histogram) -> Axis:
    bounds = _bounds(histogram)
    return Axis(histogram.axis, float(bounds[0]), float(bounds[-1]), names=histogram.names)


def _up(name: str, histogram: Histogram) -> Axis:
    masses = np.concatenate([masses for _, pair in histogram.pairs for masses in pair])
    positive = masses[masses > 0]
    least, most = float(positive.min()), float(positive.max())
    if most <= 50 * least:
        return Axis(name, 0.0, min(1.0, 1.08 * most))
    decades = math.floor(math.log10(max(least, svg.LEAST_DRAWN))), math.ceil(math.log10(most))
    return Axis(name, 10.0 ** decades[0], 10.0 ** max(decades[1], decades[0] + 1), logarithmic=True)
