"""Small charts as inline SVG: axes with round ticks, lines, steps, bands, bars and marks, in integer pixels.

Not matplotlib, for two reasons. A report has about 700 panels, and matplotlib takes at least 30 ms for each. Charts
here have classes instead of colours, and the style sheet of the page sets the colours, for dark pages and for paper.
Marks are strings of paths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.text import on_axis, power_of_ten

WIDTH, HEIGHT = 640, 400  # of the chart; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 92, 622, 44, 336  # of the area between the axes
ZERO = 0.07  # share of a logarithmic axis between its end, which is 0, and its least number
TICKS = 5  # of an axis, approximately
LEAST_DRAWN = 1e-20  # of a logarithmic axis
OFFSET = 1e5  # spans of an axis: farther from 0, its ticks are differences from a number in its name

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart as SVG, with its title and caption."""

    title: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of numbers from low to high. names: labels at 0, 1, … instead of numbers."""

    name: str
    low: float
    high: float
    logarithmic: bool = False
    names: tuple[str, ...] = ()

    def shares(self, values: Floats) -> Floats:
        """Return the positions of numbers, from 0 to 1; numbers beyond an end are at that end."""
        if self.logarithmic:
            with np.errstate(divide="ignore"):
                logs = np.log10(values / self.low) / math.log10(self.high / self.low)
            shares = np.where(values < self.low * (1 - 1e-9), 0.0, ZERO + (1 - ZERO) * logs)
        else:
            shares = (values - self.low) / (self.high - self.low)
        inside: Floats = np.clip(shares, 0.0, 1.0)
        return inside

    @property
    def origin(self) -> float:
        """The offset of the ticks: 0, unless the numbers are many digits longer than their differences."""
        span = self.high - self.low
        far = not self.logarithmic and max(abs(self.low), abs(self.high)) > OFFSET * span
        return math.floor(self.low / _step(span)) * _step(span) if far else 0.0

    def ticks(self) -> list[tuple[float, str]]:
        """Return the ticks and their labels."""
        if self.names:
            return [(float(place), name) for place, name in enumerate(self.names)]
        if self.logarithmic:
            decades = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            if len(decades) <= 2:
                among = [lead * 10.0**place for place in (decades.start - 1, *decades) for lead in (1, 2, 5)]
                return [(0.0, "0"), *((one, on_axis(one)) for one in among if self.low <= one <= self.high)]
            labelled = [place for place in decades if place % (1 + len(decades) // TICKS) == 0]
            return [(0.0, "0"), *((10.0**place, power_of_ten(place)) for place in labelled)]
        step = _step(self.high - self.low)
        low, high = self.low - self.origin, self.high - self.origin
        counts = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        return [(self.origin + count * step, on_axis(count * step)) for count in counts]


def _step(span: float) -> float:
    """Return the least of 1, 2, 5, 10, … times a power of ten that divides a span into few parts."""
    unit = 10.0 ** math.floor(math.log10(span / TICKS))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor * TICKS >= span * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Frame:
    """A pair of axes."""

    x: Axis
    y: Axis

    def pixels(self, xs: Floats | Sequence[float], ys: Floats | Sequence[float]) -> tuple[list[int], list[int]]:
        """Return the pixels of points."""
        across = LEFT + (RIGHT - LEFT) * self.x.shares(np.asarray(xs, dtype=np.float64))
        up = BOTTOM - (BOTTOM - TOP) * self.y.shares(np.asarray(ys, dtype=np.float64))
        return np.rint(across).astype(int).tolist(), np.rint(up).astype(int).tolist()


def line(frame: Frame, xs: Floats | Sequence[float], ys: Floats | Sequence[float], css: str) -> str:
    """Return a line through points."""
    return _drawn(_path(*frame.pixels(xs, ys)), css)


def band(frame: Frame, xs: Floats, low: Floats, high: Floats, css: str) -> str:
    """Return the area between two lines."""
    return _drawn(_path(*frame.pixels(np.append(xs, xs[::-1]), np.append(high, low[::-1]))) + "z", css)


def steps(bounds: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Return the points of a line that has each height, shape (bins,), between two bounds, shape (bins + 1,)."""
    return np.repeat(bounds, 2)[1:-1], np.repeat(heights, 2)


def bar(frame: Frame, sides: tuple[float, float], ends: tuple[float, float], css: str) -> str:
    """Return a rectangle between two places on each axis."""
    (left, right), (low, high) = frame.pixels(sides, ends)
    return _drawn(f"M{left} {low}V{high}H{right}V{low}z", css)


def interval(frame: Frame, place: float, ends: tuple[float, float], css: str) -> str:
    """Return a vertical line with a cap at each end."""
    (x, _), (low, high) = frame.pixels((place, place), ends)
    return _drawn(f"M{x - 9} {low}h18m-9 0V{high}m-9 0h18", css)


def cross(frame: Frame, x: float, y: float, css: str) -> str:
    """Return a diagonal cross."""
    (across,), (up,) = frame.pixels([x], [y])
    return _drawn(f"M{across - 9} {up - 9}l18 18m0-18l-18 18", css)


def text(frame: Frame, x: float, y: float, words: str, css: str = "") -> str:
    """Return words above a point, or below it if there is no room."""
    (across,), (up,) = frame.pixels([x], [y])
    return _text(across, up - 12 if up > TOP + 14 else up + 30, words, css)


def panel(title: str, row: str, caption: str, frame: Frame, marks: Sequence[str]) -> Panel:
    """Return a chart with its caption. row: the name of its row, for the label of the chart."""
    return Panel(title, caption, chart(frame, f"{title}: {row}", marks))


def chart(frame: Frame, label: str, marks: Sequence[str]) -> str:
    """Return the chart as an SVG element. label: its text for screen readers."""
    x_ticks, y_ticks = frame.x.ticks(), frame.y.ticks()
    across, _ = frame.pixels([tick for tick, _ in x_ticks], [frame.y.low] * len(x_ticks))
    _, ups = frame.pixels([frame.x.low] * len(y_ticks), [tick for tick, _ in y_ticks])
    grid = "".join(f"M{LEFT} {up}H{RIGHT}" for up in ups)
    labels = [_text(LEFT - 10, up + 7, name, "e") for up, (_, name) in zip(ups, y_ticks, strict=True)]
    below = [(at, name) for at, (_, name) in zip(across, x_ticks, strict=True)]
    labels += [_text(at, BOTTOM + 28, name) for at, name in _apart(below)]
    name = frame.x.name + (f" − {frame.x.origin:.0f}" if frame.x.origin else "")
    labels += [_text((LEFT + RIGHT) // 2, HEIGHT - 8, name), _text(LEFT - 80, 22, frame.y.name, "s")]
    axes = _drawn(grid, "g") + _drawn(f"M{LEFT} {BOTTOM}H{RIGHT}", "a")
    inside = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}"'
    return f"<svg {inside}>{axes}{''.join(marks)}{''.join(labels)}</svg>"


def _apart(labels: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the labels that do not overlap the one before, moved inside the chart."""
    separate, reached = [], 0.0
    for at, name in labels:
        half = len(name) * 6 + 6  # pixels, about
        at = max(half, min(at, WIDTH - half))
        if at - half >= reached:
            separate.append((at, name))
            reached = at + half
    return separate


def _text(x: int, y: int, words: str, css: str = "") -> str:
    return f'<text x="{x}" y="{y}"{_class(css)}>{escape(words, quote=False)}</text>'


def _drawn(path: str, css: str) -> str:
    return f'<path d="{path}"{_class(css)}/>'


def _class(css: str) -> str:
    return f' class="{css}"' if css else ""


def _path(xs: list[int], ys: list[int]) -> str:
    """Return the shortest path through pixels: points on a straight horizontal or vertical way are left out."""
    points, before, last = list[tuple[int, int]](), (-1, -1), (xs[0], ys[0])
    for x, y in zip(xs, ys, strict=True):
        if x == last[0]:
            if y == last[1]:
                continue
            on_the_way = x == before[0] and (last[1] - before[1]) * (y - last[1]) > 0
        else:
            on_the_way = y == last[1] == before[1] and (last[0] - before[0]) * (x - last[0]) > 0
        if not on_the_way:
            points.append(last)
            before = last
        last = x, y
    points.append(last)
    path, (at_x, at_y) = [f"M{xs[0]} {ys[0]}"], points[0]
    for x, y in points[1:]:
        across, down = x - at_x, y - at_y
        slanted = f"l{across}{down}" if down < 0 else f"l{across} {down}"
        path.append(f"v{down}" if not across else f"h{across}" if not down else slanted)
        at_x, at_y = x, y
    return "".join(path)
