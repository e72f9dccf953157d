"""A composition under several accountants, as tables and as the two standard pictures: δ against ε, and ε against r."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from subnormal.audit.composition import other_accountants
from subnormal.audit.composition.composition import Composition
from subnormal.mechanisms.privacy import Zcdp

POINTS = 33  # of a curve
LEAST_DRAWN = 1e-12  # of δ: where a curve ends
STATED = tuple(10.0**-place for place in range(2, 17, 2))  # the δ of one run at which Kairouz-Oh-Viswanath may start
STYLES: dict[str, dict[str, Any]] = {  # colours that colour-blind readers tell apart
    "buckets": {"color": "#0072b2", "linewidth": 2.0},
    "Kairouz–Oh–Viswanath": {"color": "#009e73", "linestyle": "--"},
    "Rényi": {"color": "#d55e00", "linestyle": "-."},
    "zCDP": {"color": "0.55", "linestyle": ":", "linewidth": 2.0},
}


@dataclass(frozen=True, eq=False)
class Subject:
    """What is composed: one run in one direction or both, and its rate ρ of zCDP, where it has one."""

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

    def largest_loss(self) -> float:
        """Return the largest finite loss of a run, in nats, or where its buckets end."""
        return max(float(one.one.losses[one.one.upper > 0].max(initial=0.0)) for one in self.directions)

    @cached_property
    def promises(self) -> tuple[tuple[float, float], ...]:
        """Claims (ε, δ) of one run, each of which holds: what Kairouz-Oh-Viswanath may start from."""
        certain = max(one.one.infinite for one in self.directions)
        stated = [(self.epsilon(1, delta)[1], delta) for delta in STATED if delta > certain]
        return (
            *((epsilon, delta) for epsilon, delta in stated if math.isfinite(epsilon)),
            (self.largest_loss(), certain),
        )

    def other_deltas(self, runs: int, epsilon: float) -> dict[str, float]:
        """Return what the other accountants say of δ(ε) of so many runs, by their names."""
        claims = (other_accountants.kairouz_oh_viswanath(*promise, runs, epsilon) for promise in self.promises)
        orders = (other_accountants.renyi(one, runs, epsilon) for one in self.directions)
        concentrated = {} if self.rho is None else {"zCDP": Zcdp(runs * self.rho).delta(epsilon)}
        return {"Kairouz–Oh–Viswanath": min(claims), "Rényi": max(orders)} | concentrated

    def other_epsilons(self, runs: int, delta: float) -> dict[str, float]:
        """Return what the other accountants say of ε(δ) of so many runs, by their names."""
        claims = (other_accountants.kairouz_oh_viswanath_epsilon(*promise, runs, delta) for promise in self.promises)
        orders = (other_accountants.renyi_epsilon(one, runs, delta) for one in self.directions)
        concentrated = {} if self.rho is None else {"zCDP": Zcdp(runs * self.rho).epsilon(delta)}
        return {"Kairouz–Oh–Viswanath": min(claims), "Rényi": max(orders)} | concentrated


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table: at ε, or at r runs, the certified bounds, and what others say."""

    at: float
    low: float
    up: float
    others: dict[str, float]


def delta_lines(subject: Subject, runs: int, points: int = POINTS) -> list[Line]:
    """Return δ at evenly spaced ε, from 0 to where hardly anything is left, at most the largest loss of all runs."""
    certain = max(one.one.infinite for one in subject.directions)
    end = subject.epsilon(runs, max(LEAST_DRAWN, min(0.5, 2 * runs * certain)))[1]
    reach = runs * subject.largest_loss()
    return [
        Line(at, *subject.delta(runs, at), subject.other_deltas(runs, at))
        for at in np.linspace(0.0, min(end, reach), points).tolist()
    ]


def epsilon_lines(subject: Subject, delta: float, runs: int) -> list[Line]:
    """Return ε at δ of 1, 2, 4, … runs, up to `runs`."""
    counts = sorted({1 << power for power in range(runs.bit_length())} | {runs})
    return [Line(some, *subject.epsilon(some, delta), subject.other_epsilons(some, delta)) for some in counts]


def picture(lines: Sequence[Line], title: str, axis: str, value: str, *, logarithmic: bool) -> bytes:
    """Return a PNG: both bounds with a band between them, and the other accountants. logarithmic: the x axis too."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    at = [line.at for line in lines]
    with rc_context({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 5), layout="constrained")
        axes = figure.subplots()
        for name in lines[0].others:
            axes.plot(at, [_drawn(line.others[name]) for line in lines], label=name, **STYLES[name])
        low, up = [_drawn(line.low) for line in lines], [_drawn(line.up) for line in lines]
        axes.fill_between(at, low, up, color=STYLES["buckets"]["color"], alpha=0.3, linewidth=0)
        axes.plot(at, up, label="buckets: upper bound", **STYLES["buckets"])
        axes.plot(at, low, label="buckets: lower bound", color="black", linestyle=(0, (1, 2)), linewidth=2.4)
        axes.set(xlabel=axis, ylabel=value, title=title)
        # Worlds that nothing, or everything, tells apart have no curve, and without one a logarithmic axis has no ends.
        if any(0 < value < math.inf for line in lines for value in (line.low, line.up, *line.others.values())):
            axes.set_yscale("log")
            if logarithmic:
                axes.set_xscale("log", base=2)
        if not logarithmic:
            axes.set_ylim(max(LEAST_DRAWN, axes.get_ylim()[0]), 1.5)
        axes.grid(color="0.92")
        axes.legend(frameon=False)
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
    return stream.getvalue()


def _drawn(value: float) -> float:
    return value if 0 < value < math.inf else math.nan
