"""A row's pictures: both worlds, the event, the distribution functions, the curve δ(ε), the running e-value, times.

They are drawn by `audit.charts`. Classes: i and o for the worlds in and out, f for what is filled (runs), l for lines
(laws), t for thin lines, k for what is of both worlds, b for its confidence band, c for the claim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit import charts, histograms, statistics
from audit.charts import Axis, Floats, Frame
from audit.report import Interval, Row, Verdict
from audit.wording import percent
from mechanisms.privacy import Claim

CELLS = 160  # of a picture, at the most
LEAST_DRAWN = 1e-20
LEAST_SEEN = 0.03  # a δ that can be told from 0 on an axis from 0 to 1
WORLDS = ("i", "o")


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture as SVG, and what stands under it."""

    title: str
    caption: str
    svg: str


def of(row: Row) -> list[Panel]:
    """Return the pictures that the row's evidence fills."""
    made = [_times(row)] if row.timing is not None else [_worlds(row), _distributions(row), _curve(row), _running(row)]
    return [panel for panel in (*made[:1], _event(row), *made[1:]) if panel is not None]


def _worlds(row: Row) -> Panel | None:
    shown = None if row.sketch is None else histograms.of(row.sketch, CELLS)
    if shown is None or not shown.pairs:
        return None
    frame = Frame(_across(shown), _up("probability of a bin" if shown.merged else "probability", shown))
    bounds, marks = _bounds(shown), []
    for name, pair in shown.pairs:
        for world, masses in zip(WORLDS, pair, strict=True):
            css = f"{'f' if name == 'sampled' else 'l'} {world}"
            if shown.names:
                side = (-0.4, -0.02) if world == "i" else (0.02, 0.4)
                places = [(place + side[0], place + side[1]) for place in range(len(masses))]
                ends = [(frame.y.low if not frame.y.logarithmic else 0.0, mass) for mass in masses.tolist()]
                marks += [charts.bar(frame, *one, css) for one in zip(places, ends, strict=True) if one[1][1] > 0]
            elif name == "law":
                marks.append(charts.line(frame, *charts.steps(bounds, masses), css))
            else:
                xs, ys = charts.steps(bounds, masses)
                marks.append(charts.band(frame, xs, np.zeros(len(ys)), ys, css))
    return Panel("Both worlds", _seen(row, "the exact law"), charts.chart(frame, _told(row, "both worlds"), marks))


def _distributions(row: Row) -> Panel | None:
    shown = None if row.sketch is None else histograms.of(row.sketch, CELLS)
    if shown is None or not shown.pairs:
        return None
    frame = Frame(_across(shown), Axis("probability of at most that much", 0.0, 1.0))
    bounds, marks = _bounds(shown), []
    if not shown.names:  # a distribution function rises at the values
        width = shown.ends[1] - shown.ends[0]
        bounds = np.append(shown.ends, shown.ends[-1] + width)
    margin = 0.0 if row.sampled is None else row.sampled.ks.margin / 2  # of one of the two samples
    for name, pair in shown.pairs:
        for world, masses in zip(WORLDS, pair, strict=True):
            xs, ys = charts.steps(bounds, np.cumsum(masses))
            if name == "sampled":
                marks.append(charts.band(frame, xs, ys - margin, ys + margin, f"f {world}"))
            if name == "law" or shown.law is None:
                marks.append(charts.line(frame, xs, ys, f"{'l' if name == 'law' else 't'} {world}"))
    runs = "" if row.sampled is None else f"Shaded: {row.sampled.runs:,} runs, ± {margin:.2g} (DKW). "
    caption = runs + ("Lines: the exact law." if shown.law is not None else "There is no law.")
    return Panel("Distribution functions", caption, charts.chart(frame, _told(row, "distribution functions"), marks))


def _curve(row: Row) -> Panel | None:
    sketch, claim = row.sketch, row.claim
    if sketch is None or claim is None or (sketch.curve is None and sketch.band is None):
        return None
    band = sketch.band
    epsilons = sketch.curve[0] if sketch.curve is not None else band.epsilons if band is not None else np.zeros(0)
    promised = np.array([statistics.implied_delta(claim, epsilon) for epsilon in epsilons.tolist()])
    drawn = [promised, *([sketch.curve[1]] if sketch.curve is not None else [])]
    drawn += [] if band is None else [band.observed]
    frame = Frame(Axis("ε (nats)", 0.0, float(epsilons[-1])), _deltas(row, float(np.max(drawn))))
    marks, told = [], []
    if band is not None:
        marks += [charts.band(frame, epsilons, band.lower, band.upper, "b")]
        told.append(f"Shaded: where {band.runs:,} runs put the curve of the cells, at {percent(band.confidence)}.")
    if sketch.curve is not None:
        marks.append(charts.line(frame, *sketch.curve, "l k"))
        told.append("Line: the exact law.")
    elif band is not None:
        marks.append(charts.line(frame, epsilons, band.observed, "t k"))
        told.append("Thin line: as counted.")
    marks += [charts.line(frame, epsilons, promised, "t c"), charts.cross(frame, claim.epsilon, claim.delta, "l c")]
    told.append("Dashed, ×: the claim. It is broken where the curve lies above.")
    return Panel("Privacy curve δ(ε)", " ".join(told), charts.chart(frame, _told(row, "curve δ(ε)"), marks))


def _deltas(row: Row, most: float) -> Axis:
    """Return the axis of δ: logarithmic, down to the least that matters, where a violation could not be seen on it."""
    proved = row.exact or row.exhaustive
    if proved is None or row.claim is None or proved.verdict is not Verdict.VIOLATED or proved.delta >= LEAST_SEEN:
        return Axis("δ", 0.0, min(1.0, 1.1 * most) or 1.0)
    least = min(delta for delta in (proved.delta, row.claim.delta) if delta > 0) / 10
    return Axis("δ", 10.0 ** math.floor(math.log10(max(least, LEAST_DRAWN))), 1.0, logarithmic=True)


def _running(row: Row) -> Panel | None:
    if row.sequential is None:
        return None
    runs = np.array([look[0] for look in row.sequential.looks], dtype=np.float64)
    values = np.array([look[1] for look in row.sequential.looks]) / math.log(10)
    needed = -math.log10(row.sequential.alpha)
    ends = max(-needed, min(0.0, float(values.min()))), 1.15 * max(needed, float(values.max()))
    first = float(runs[1]) if len(runs) > 1 else 1.0
    frame = Frame(
        Axis("runs of each world", first, 10 * first if runs[-1] <= first else float(runs[-1]), logarithmic=True),
        Axis("log₁₀ of the e-value", *ends),
    )
    marks = [
        charts.line(frame, runs, values, "l k"),
        charts.line(frame, [0.0, float(runs[-1])], [needed, needed], "t c"),
        charts.text(frame, math.sqrt(first * frame.x.high), needed, f"1/α = {1 / row.sequential.alpha:.4g}", "d"),
    ]
    caption = "The wealth of a bet against the claim, look by look. The claim is refuted where it reaches 1/α."
    return Panel("Running e-value", caption, charts.chart(frame, _told(row, "running e-value"), marks))


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
        xs, ys = charts.steps(bounds, shares)
        marks += [charts.band(frame, xs, np.zeros(len(ys)), ys, f"f {world}"), charts.line(frame, xs, ys, f"t {world}")]
    limit = timing.threshold * 1e3
    marks.append(charts.line(frame, [limit, limit], [0.0, highest], "t c"))
    caption = (
        f"{timing.measurements:,} measurements of single draws; the outermost cells hold the tails. "
        "Dashed: the time that the event must exceed."
    )
    return Panel("Times", caption, charts.chart(frame, _told(row, "times of one draw"), marks))


def _event(row: Row) -> Panel | None:
    """Draw the event's probabilities, and the range that the claim leaves to `in`, given `out`."""
    proved, sampled = row.exact or row.exhaustive, row.sampled
    shares = _shares(row)
    exact = None if proved is None or proved.event_in is None or proved.event_out is None else proved
    if row.claim is None or (exact is None and sampled is None and shares is None):
        return None
    if exact is not None and exact.event_in is not None and exact.event_out is not None:
        bounds, sure = (exact.event_in, exact.event_out), "Bars: from the exact law."
    elif sampled is not None:
        bounds, sure = (sampled.event_in, sampled.event_out), "There is no law."
    else:
        bounds, sure = ((shares[0],) * 2, (shares[1],) * 2) if shares else ((0.0, 0.0), (0.0, 0.0)), "Bars: as counted."
    allowed = allowed_in(bounds[1], row.claim)
    middles = [sum(one) / 2 for one in bounds]
    seen = () if sampled is None else (sampled.event_in, sampled.event_out)
    highest = max(one[1] for one in (*bounds, *seen))
    positive = [middle for middle in middles if middle > 0]
    if len(positive) == 2 and max(positive) > 1000 * min(positive):
        up = Axis("probability", 10.0 ** math.floor(math.log10(max(min(positive), LEAST_DRAWN))), 1.0, logarithmic=True)
    else:
        up = Axis("probability", 0.0, min(1.0, 1.25 * highest) or 1.0)
    frame = Frame(Axis("", -0.6, 1.6, names=("in", "out")), up)
    marks = [charts.bar(frame, (-0.45, 0.45), allowed, "b")]
    for place, (world, middle) in enumerate(zip(WORLDS, middles, strict=True)):
        marks.append(charts.bar(frame, (place - 0.28, place + 0.28), (0.0, middle), f"f {world}"))
        if seen:
            marks.append(charts.interval(frame, place, seen[place], f"l {world}"))
        marks.append(charts.text(frame, place, max(middle, 0.0), _short(bounds[place], exact is not None)))
    caption = sure + (f" Whiskers: {sampled.runs:,} runs, at {percent(sampled.confidence)}." if sampled else "")
    caption += " Grey: where the claim lets in be, given out."
    return Panel("The event", caption, charts.chart(frame, _told(row, "the event's probabilities"), marks))


def _shares(row: Row) -> Interval | None:
    if row.timing is not None:
        return row.timing.event_in, row.timing.event_out
    if row.sequential is None:
        return None
    runs = max(1, row.sequential.runs)
    return row.sequential.event_in / runs, row.sequential.event_out / runs


def allowed_in(out: Interval, claim: Claim) -> Interval:
    """Return the probabilities in one world that the claim allows an event of such probabilities in the other.

    By the claim for the event and for its complement, in both directions.

    >>> allowed_in((0.0, 0.0), Claim(1.0, 0.125))
    (0.0, 0.125)
    """
    ratio, delta = math.exp(min(claim.epsilon, 700.0)), claim.delta
    low, high = out
    most = min(1.0, ratio * high + delta, 1 - (1 - high - delta) / ratio)
    least = max(0.0, (low - delta) / ratio, 1 - ratio * (1 - low) - delta)
    return least, max(least, most)


def _short(bounds: Interval, proved: bool) -> str:
    low, high = bounds
    return f"{(low + high) / 2:.4g}" if proved or low > 0 else f"≤ {high:.2g}"


def _bounds(shown: histograms.Histogram) -> Floats:
    if shown.names:
        return np.arange(len(shown.ends) + 1, dtype=np.float64) - 0.5
    width = shown.ends[1] - shown.ends[0]
    bounds: Floats = np.append(shown.ends[0] - width, shown.ends) + (0.0 if shown.merged else width / 2)
    return bounds


def _across(shown: histograms.Histogram) -> Axis:
    bounds = _bounds(shown)
    return Axis(shown.axis, float(bounds[0]), float(bounds[-1]), names=shown.names)


def _up(name: str, shown: histograms.Histogram) -> Axis:
    masses = np.concatenate([masses for _, pair in shown.pairs for masses in pair])
    positive = masses[masses > 0]
    least, most = float(positive.min()), float(positive.max())
    if most <= 50 * least:
        return Axis(name, 0.0, min(1.0, 1.08 * most))
    decades = math.floor(math.log10(max(least, LEAST_DRAWN))), math.ceil(math.log10(most))
    return Axis(name, 10.0 ** decades[0], 10.0 ** max(decades[1], decades[0] + 1), logarithmic=True)


def _seen(row: Row, law: str) -> str:
    lawful = row.sketch is not None and row.sketch.law is not None
    runs = "" if row.sampled is None else f"Shaded: {row.sampled.runs:,} runs of each world. "
    return runs + (f"Lines: {law}." if lawful else "There is no law.")


def _told(row: Row, what: str) -> str:
    return f"{row.attack} on {row.mechanism}: {what}"
