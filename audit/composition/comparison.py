"""A composition under several accountants, as tables and as the two standard charts: δ against ε, and ε against r."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from subnormal.audit.composition import other_accountants
from subnormal.audit.report import svg
from subnormal.audit.report.svg import Axis, Floats, Frame, Panel
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.privacy import Claim, Zcdp

POINTS = 33  # of a curve
BEYOND_MAX = 1 << 16  # runs
LEAST_DRAWN = 1e-12  # of δ: the least δ of a curve
DELTAS = tuple(10.0**-place for place in range(2, 17, 2))  # of one run, for the claims given to Kairouz-Oh-Viswanath
STYLES = {  # classes of the page's style sheet, and how its reader sees them
    "Kairouz–Oh–Viswanath": ("l o", "Long dashes"),
    "Rényi": ("t c", "Short dashes"),
    "zCDP": ("t k", "Thin line"),
}


@dataclass(frozen=True, eq=False)
class Subject:
    """The mechanism that is composed: one run in one or both directions, and its zCDP parameter ρ, or None."""

    name: str
    directions: tuple[Composition, ...]
    rho: float | None = None

    def delta(self, runs: int, epsilon: float) -> tuple[float, float]:
        """Return (low, up) for δ(ε) of so many runs, the larger of the directions."""
        bounds = [one.compose(runs).delta(epsilon) for one in self.directions]
        return max(low for low, _ in bounds), max(up for _, up in bounds)

    def epsilon(self, runs: int, delta: float) -> tuple[float, float]:
        """Return (low, up) for ε(δ) of so many runs, the larger of the directions."""
        bounds = [one.compose(runs).epsilon(delta) for one in self.directions]
        return max(low for low, _ in bounds), max(up for _, up in bounds)

    def runs_beyond(self, claim: Claim, most: int = BEYOND_MAX) -> int | None:
        """Return the number of runs from which on δ(ε) above the claimed δ is proved; None where it is not up to most.

        By bisection: more runs never have a smaller δ(ε). Raises ValueError where most is below 1.

        >>> from subnormal.mechanisms.composition.closed_forms import gaussian
        >>> Subject("σ = 10", (gaussian(10.0),)).runs_beyond(Claim(2.0, 1e-5))
        26
        """
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most}")

        def is_beyond(runs: int) -> bool:
            return self.delta(runs, claim.epsilon)[0] > claim.delta

        proved = 1
        while not is_beyond(proved):
            if proved >= most:
                return None
            proved = min(2 * proved, most)
        return bisect_left(range(proved), True, lo=proved // 2 + 1, key=is_beyond)

    def largest_loss(self) -> float:
        """Return the largest finite loss of a run in the buckets, in nats."""
        return max(float(one.one.losses[one.one.upper > 0].max(initial=0.0)) for one in self.directions)

    @cached_property
    def promises(self) -> tuple[tuple[float, float], ...]:
        """Claims (ε, δ) of one run, all of which hold: the input of Kairouz-Oh-Viswanath."""
        certain = max(one.one.infinite for one in self.directions)
        claims = [(self.epsilon(1, delta)[1], delta) for delta in DELTAS if delta > certain]
        return (
            *((epsilon, delta) for epsilon, delta in claims if math.isfinite(epsilon)),
            (self.largest_loss(), certain),
        )

    def other_deltas(self, runs: int, epsilon: float) -> dict[str, float]:
        """Return the other accountants' bounds on δ(ε) of so many runs, by name."""
        claims = (other_accountants.kairouz_oh_viswanath(*promise, runs, epsilon) for promise in self.promises)
        orders = (other_accountants.renyi(one, runs, epsilon) for one in self.directions)
        concentrated = {} if self.rho is None else {"zCDP": Zcdp(runs * self.rho).delta(epsilon)}
        return {"Kairouz–Oh–Viswanath": min(claims), "Rényi": max(orders)} | concentrated

    def other_epsilons(self, runs: int, delta: float) -> dict[str, float]:
        """Return the other accountants' bounds on ε(δ) of so many runs, by name."""
        claims = (other_accountants.kairouz_oh_viswanath_epsilon(*promise, runs, delta) for promise in self.promises)
        orders = (other_accountants.renyi_epsilon(one, runs, delta) for one in self.directions)
        concentrated = {} if self.rho is None else {"zCDP": Zcdp(runs * self.rho).epsilon(delta)}
        return {"Kairouz–Oh–Viswanath": min(claims), "Rényi": max(orders)} | concentrated


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table: the certified bounds at ε or at r runs, and those of the other accountants."""

    at: float
    low: float
    up: float
    others: dict[str, float]


def delta_lines(subject: Subject, runs: int) -> list[Line]:
    """Return δ at evenly spaced ε, from 0 until δ is negligible, at most to the largest loss of all runs."""
    certain = max(one.one.infinite for one in subject.directions)
    end = subject.epsilon(runs, max(LEAST_DRAWN, min(0.5, 2 * runs * certain)))[1]
    reach = runs * subject.largest_loss()
    return [
        Line(at, *subject.delta(runs, at), subject.other_deltas(runs, at))
        for at in np.linspace(0.0, min(end, reach), POINTS).tolist()
    ]


def epsilon_lines(subject: Subject, delta: float, runs: int) -> list[Line]:
    """Return ε at δ of 1, 2, 4, … runs, up to `runs`."""
    counts = sorted({1 << power for power in range(runs.bit_length())} | {runs})
    return [Line(some, *subject.epsilon(some, delta), subject.other_epsilons(some, delta)) for some in counts]


def chart(lines: Sequence[Line], title: str, x: Axis, name: str) -> Panel:
    """Return a chart of a table: both bounds, the band between them, and the other accountants. name: of the y axis."""
    others = {name: np.array([line.others[name] for line in lines]) for name in lines[0].others}
    at, low, up = (np.array(column) for column in zip(*((line.at, line.low, line.up) for line in lines), strict=True))
    shown = [math.log10(value) for column in (low, up, *others.values()) for value in column if 0 < value < math.inf]
    least = max(LEAST_DRAWN / 10, 10.0 ** math.floor(min(shown, default=0.0)))
    most = max(10 * least, 10.0 ** math.ceil(max(shown, default=0.0)))
    frame = Frame(x, Axis(name, least, most, logarithmic=True))
    marks = [svg.band(frame, at, low, up, "b"), _line(frame, at, low, "t i"), _line(frame, at, up, "l i")]
    marks += [_line(frame, at, values, STYLES[other][0]) for other, values in others.items()]
    caption = ["Blue, shaded: between the lower and the upper bound."]
    caption += [f"{STYLES[other][1]}: {other}." for other in others]
    return svg.panel(name, title, " ".join(caption), frame, marks)


def _line(frame: Frame, at: Floats, values: Floats, css: str) -> str:
    """Return a line through what is finite."""
    finite = np.isfinite(values)
    return svg.line(frame, at[finite], values[finite], css) if finite.any() else ""
