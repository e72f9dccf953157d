"""A row's charts: both worlds as histograms and as distribution functions, or times; its event, δ(ε), and e-value.

`report.svg` draws them. Classes: i and o for the worlds in and out, f for filled areas (runs), l for lines (laws), t
for thin lines, k for both worlds together, b for confidence bands, c for the claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from subnormal.audit.model import Interval, Row, SequentialEvidence, Verdict
from subnormal.audit.report import bins, svg
from subnormal.audit.report.bins import Histogram
from subnormal.audit.report.finding import allowed_in
from subnormal.audit.report.svg import LEAST_DRAWN, Axis, Floats, Frame, Panel
from subnormal.audit.statistics import curve_band
from subnormal.audit.text import percent, short

BINS = 160  # largest number in a chart
WORLDS = ("i", "o")
MAGNIFIED = 1e3  # a ratio of two probabilities that a linear axis does not show
LEAST_SEEN = 0.03  # least δ that is visible on an axis from 0 to 1


def of(row: Row) -> list[Panel]:
    """Return the charts of the row's evidence."""
    if row.timing is not None:
        panels = [_times(row), _event(row)]
    else:
        histogram = None if row.sketch is None else bins.of(row.sketch, BINS)
        filled = histogram is not None and histogram.pairs
        panels = [_worlds(row, histogram) if histogram is not None and filled else None, _event(row)]
        if histogram is not None and filled and len(histogram.names) not in (1, 2):  # the first chart shows so few
            panels.append(_distributions(row, histogram))
        betting = None if row.sequential is None else running_e_value(row.sequential, row_name(row))
        panels += [_curve(row), betting]
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
    return svg.panel("Both worlds", row_name(row), caption, frame, marks)


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
    return svg.panel("Distribution functions", row_name(row), caption, frame, marks)


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
    return svg.panel("Times", row_name(row), caption, frame, marks)


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
    decades = math.floor(math.log10(max(least, LEAST_DRAWN))), math.ceil(math.log10(most))
    return Axis(name, 10.0 ** decades[0], 10.0 ** max(decades[1], decades[0] + 1), logarithmic=True)


def row_name(row: Row) -> str:
    """Return the name of the row of a chart."""
    return f"{row.attack} on {row.mechanism}"


def _event(row: Row) -> Panel | None:
    """Return a chart of the event's probabilities, and of the range that the claim allows for `in`, given `out`."""
    known, sampled = _known(row), row.sampled
    if row.claim is None or known is None:
        return None
    bounds, certain, caption = known
    seen = () if sampled is None else (sampled.event_in, sampled.event_out)
    allowed = allowed_in(bounds[1], row.claim)
    middles = [sum(one) / 2 if certain or one[0] > 0 else 0.0 for one in bounds]
    frame = Frame(Axis("", -0.6, 1.6, names=("in", "out")), _probabilities([*bounds, *seen], [*middles, allowed[1]]))
    marks = [svg.bar(frame, (-0.45, 0.45), allowed, "b")]
    for place, (world, middle) in enumerate(zip(WORLDS, middles, strict=True)):
        marks.append(svg.bar(frame, (place - 0.28, place + 0.28), (0.0, middle), f"f {world}"))
        if seen:
            marks.append(svg.interval(frame, place, seen[place], f"l {world}"))
        name = short(middle) if certain or middle > 0 else f"≤ {short(bounds[place][1], 2)}"
        marks.append(svg.text(frame, place, max(middle, *(seen[place] if seen else (0.0,))), name))
    if sampled is not None:
        caption += f" Whiskers: {sampled.runs:,} runs, at {percent(sampled.confidence)}."
    return svg.panel(
        "The event", row_name(row), f"{caption} Grey: the range that the claim allows for in, given out.", frame, marks
    )


def _known(row: Row) -> tuple[tuple[Interval, Interval], bool, str] | None:
    """Return the best estimates of the event's probabilities (in, out), whether they are exact, and their source."""
    proved = row.exact or row.exhaustive
    if proved is not None and proved.event_in is not None and proved.event_out is not None:
        return (proved.event_in, proved.event_out), True, "Bars: from the exact law."
    if row.sampled is not None:
        return (row.sampled.event_in, row.sampled.event_out), False, "There is no law."
    shares = _shares(row)
    return (
        None
        if shares is None
        else (((shares[0],) * 2, (shares[1],) * 2), True, "Bars: shares as counted, without a bound.")
    )


def _probabilities(intervals: Sequence[Interval], needed: Sequence[float]) -> Axis:
    """Return an axis for intervals on which all needed positive numbers are visible."""
    highest, least = max(one[1] for one in intervals), min((one for one in needed if one > 0), default=1.0)
    if highest > MAGNIFIED * least:
        return Axis("probability", 10.0 ** math.floor(math.log10(max(least, LEAST_DRAWN))), 1.0, logarithmic=True)
    return Axis("probability", 0.0, min(1.0, 1.25 * highest) or 1.0)


def _shares(row: Row) -> Interval | None:
    if row.timing is not None:
        return row.timing.event_in, row.timing.event_out
    if row.sequential is None:
        return None
    runs = max(1, row.sequential.runs)
    return row.sequential.event_in / runs, row.sequential.event_out / runs


def _curve(row: Row) -> Panel | None:
    """Return a chart of the law's curve δ(ε), its confidence band from runs, and the claim's curve."""
    sketch, claim = row.sketch, row.claim
    if sketch is None or claim is None or (sketch.curve is None and sketch.band is None):
        return None
    band = sketch.band
    epsilons = sketch.curve[0] if sketch.curve is not None else band.epsilons if band is not None else np.zeros(0)
    promised = curve_band.promised(claim, epsilons)
    lines = [promised, *([] if sketch.curve is None else [sketch.curve[1]]), *([] if band is None else [band.observed])]
    frame = Frame(Axis("ε (nats)", 0.0, float(epsilons[-1])), _deltas(row, float(np.max(lines))))
    marks, captions = [], []
    if band is not None:
        marks += [svg.band(frame, epsilons, band.lower, band.upper, "b")]
        captions.append(
            f"Shaded: confidence band from {band.runs:,} runs, {percent(band.confidence)} for all ε at once."
        )
    if sketch.curve is not None:
        marks.append(svg.line(frame, *sketch.curve, "l k"))
        captions.append("Line: the exact law.")
    elif band is not None:
        marks.append(svg.line(frame, epsilons, band.observed, "t k"))
        captions.append("Thin line: as counted, usually too high.")  # Σ(p − e^ε·q)₊ is convex: chance raises its mean
    marks += [svg.line(frame, epsilons, promised, "t c"), svg.cross(frame, claim.epsilon, claim.delta, "l c")]
    broken = "the line" if sketch.curve is not None else "all of the shaded band"
    captions.append(f"Dashed, ×: the claim, violated where {broken} is above it.")
    if row.violated and sketch.curve is None and band is not None and (band.lower <= promised).all():
        captions.append("The bins of this chart are too coarse to show the violation; the event shows it.")
    return svg.panel("Privacy curve δ(ε)", row_name(row), " ".join(captions), frame, marks)


def _deltas(row: Row, most: float) -> Axis:
    """Return the axis of δ. It is logarithmic if a linear one would not show the violation."""
    proved = row.exact or row.exhaustive
    if proved is None or row.claim is None or proved.verdict is not Verdict.VIOLATED or proved.delta >= LEAST_SEEN:
        return Axis("δ", 0.0, min(1.0, 1.1 * most) or 1.0)
    least = min((delta for delta in (proved.delta, row.claim.delta) if delta > 0), default=LEAST_DRAWN)
    return Axis("δ", 10.0 ** math.floor(math.log10(max(least / 10, LEAST_DRAWN))), 1.0, logarithmic=True)


def running_e_value(evidence: SequentialEvidence, of: str) -> Panel:
    """Return a chart of the e-value after each batch, and of the 1/α that refutes the claim. of: the audited row."""
    runs = np.array([look[0] for look in evidence.looks], dtype=np.float64)
    values = np.array([look[1] for look in evidence.looks]) / math.log(10)
    needed = -math.log10(evidence.alpha)
    ends = max(-needed, min(0.0, float(values.min()))), 1.15 * max(needed, float(values.max()))
    first = float(runs[1]) if len(runs) > 1 else 1.0
    frame = Frame(
        Axis("runs of each world", first, 10 * first if runs[-1] <= first else float(runs[-1]), logarithmic=True),
        Axis("log₁₀ of the e-value", *ends),
    )
    marks = [
        svg.line(frame, runs, values, "l k"),
        svg.line(frame, [0.0, float(runs[-1])], [needed, needed], "t c"),
        svg.text(frame, math.sqrt(first * frame.x.high), needed, f"1/α = {short(1 / evidence.alpha)}", "d"),
    ]
    caption = "The wealth of a bet against the claim after each batch. The claim is refuted where it reaches 1/α."
    return svg.panel("Running e-value", of, caption, frame, marks)
