"""A row's pictures: both worlds, as histograms and as distribution functions, or times; and those of `claim_panels`.

They are drawn by `report.svg`. Classes: i and o for the worlds in and out, f for what is filled (runs), l for lines
(laws), t for thin lines, k for what is of both worlds, b for its confidence band, c for the claim.
"""

from __future__ import annotations

import math

import numpy as np

from subnormal.audit.model import Row
from subnormal.audit.report import bins, claim_charts, svg
from subnormal.audit.report.bins import Histogram
from subnormal.audit.report.svg import Axis, Floats, Frame, Panel
from subnormal.audit.text import short

BINS = 160  # of a picture, at the most
WORLDS = ("i", "o")


def of(row: Row) -> list[Panel]:
    """Return the pictures that the row's evidence fills."""
    if row.timing is not None:
        made = [_times(row), claim_charts.event(row)]
    else:
        shown = None if row.sketch is None else bins.of(row.sketch, BINS)
        seen = shown is not None and shown.pairs
        made = [_worlds(row, shown) if shown is not None and seen else None, claim_charts.event(row)]
        if shown is not None and seen and len(shown.names) not in (1, 2):  # so few have been seen already
            made.append(_distributions(row, shown))
        made += [claim_charts.curve(row), claim_charts.running(row)]
    return [panel for panel in made if panel is not None]


def _worlds(row: Row, shown: Histogram) -> Panel:
    frame = Frame(_across(shown), _up("probability of a bin" if shown.merged else "probability", shown))
    bounds, marks = _bounds(shown), []
    for name, pair in shown.pairs:
        for world, masses in zip(WORLDS, pair, strict=True):
            css = f"{'f' if name == 'sampled' else 'l'} {world}"
            if shown.names:
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
    caption = runs + ("There is no law." if shown.law is None else "Lines: the exact law.")
    return svg.panel("Both worlds", claim_charts.drawn(row), caption, frame, marks)


def _distributions(row: Row, shown: Histogram) -> Panel:
    frame = Frame(_across(shown), Axis("probability of at most that much", 0.0, 1.0))
    marks = []
    margin = 0.0 if row.sampled is None else row.sampled.ks.margin / 2  # of one of the two samples
    for name, pair in shown.pairs:
        for world, masses in zip(WORLDS, pair, strict=True):
            xs, ys = _rising(shown, np.cumsum(masses))
            if name == "sampled":
                marks.append(svg.band(frame, xs, ys - margin, ys + margin, f"f {world}"))
            if name == "law" or shown.law is None:
                marks.append(svg.line(frame, xs, ys, f"{'l' if name == 'law' else 't'} {world}"))
    runs = "" if row.sampled is None else f"Shaded: {row.sampled.runs:,} runs, ± {short(margin, 2)} (DKW). "
    caption = runs + ("There is no law." if shown.law is None else "Lines: the exact law.")
    return svg.panel("Distribution functions", claim_charts.drawn(row), caption, frame, marks)


def _rising(shown: Histogram, until: Floats) -> tuple[Floats, Floats]:
    """Return a distribution function's points: it jumps at values, and is known at the ends of merged bins alone."""
    if shown.merged and not shown.names:
        return shown.ends, until
    if shown.names:
        return svg.steps(_bounds(shown), until)
    return svg.steps(np.append(shown.ends, 2 * shown.ends[-1] - shown.ends[-2]), until)


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
    return svg.panel("Times", claim_charts.drawn(row), caption, frame, marks)


def _bounds(shown: Histogram) -> Floats:
    if shown.names:
        return np.arange(len(shown.ends) + 1, dtype=np.float64) - 0.5
    width = shown.ends[1] - shown.ends[0]
    bounds: Floats = np.append(shown.ends[0] - width, shown.ends) + (0.0 if shown.merged else width / 2)
    return bounds


def _across(shown: Histogram) -> Axis:
    bounds = _bounds(shown)
    return Axis(shown.axis, float(bounds[0]), float(bounds[-1]), names=shown.names)


def _up(name: str, shown: Histogram) -> Axis:
    masses = np.concatenate([masses for _, pair in shown.pairs for masses in pair])
    positive = masses[masses > 0]
    least, most = float(positive.min()), float(positive.max())
    if most <= 50 * least:
        return Axis(name, 0.0, min(1.0, 1.08 * most))
    decades = math.floor(math.log10(max(least, svg.LEAST_DRAWN))), math.ceil(math.log10(most))
    return Axis(name, 10.0 ** decades[0], 10.0 ** max(decades[1], decades[0] + 1), logarithmic=True)
