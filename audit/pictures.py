"""The pictures of a report: both worlds side by side, and the curve δ(ε)."""

from __future__ import annotations

import io
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from audit import executors
from audit.report import Pair, Report, Row, SampledEvidence, Sketch, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IN, OUT = "#2a6fbb", "#d95f02"  # the two worlds, told apart by colour-blind readers too
WORTH_WORKERS = 4  # pictures from which starting processes pays
FEW = 8  # outcomes up to which each is a bar
BINS = 80  # of cells that are not equally wide
TAIL_LEFT_OUT = 0.0005  # of the mass, on either side of the bins: it is drawn in the outermost
COLUMNS = 3  # of a picture, unless more members are broken: those that resist look alike
LINE = 45  # characters over a picture
LEAST_DRAWN = 1e-20
LEAST_SEEN = 0.03  # a δ that can be told from 0 on an axis from 0 to 1


def of_report(report: Report) -> dict[str, bytes]:
    """Return a PNG for each attack, by file name: every member that it breaks, and some that resist it."""
    groups = {
        attack: _telling([row for row in rows if row.sketch is not None])
        for attack, rows in groupby(report.rows, key=lambda row: row.attack)
    }
    groups = {attack: rows for attack, rows in groups.items() if rows}
    if len(groups) < WORTH_WORKERS:
        drawn = [to_png(*group) for group in groups.items()]
    else:
        with executors.local() as processes:
            futures = [processes.submit(to_png, *group) for group in groups.items()]
            drawn = [future.result() for future in futures]
    return {f"{attack}.png": png for attack, png in zip(groups, drawn, strict=True)}


def _telling(rows: Sequence[Row]) -> list[Row]:
    left = COLUMNS - sum(row.violated for row in rows)
    resisting = [row for row in rows if not row.violated][: max(left, 1)]
    return [row for row in rows if row.violated or row in resisting]


def to_png(attack: str, rows: Sequence[Row]) -> bytes:
    """Return the picture of an attack's rows, with their curves."""
    stream = io.BytesIO()
    side_by_side(rows, attack, curves=any(row.timing is None for row in rows)).savefig(stream, format="png", dpi=110)
    return stream.getvalue()


def side_by_side(rows: Sequence[Row], title: str = "", *, curves: bool = False) -> Figure:
    """Return a figure with a column for each row: both worlds and, where asked, the curve δ(ε) below."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    width, height = 4.6 * len(rows), 5.8 if curves else 3.7
    figure = Figure(figsize=(width, height))
    figure.suptitle(title, fontweight="bold", y=1 - 0.08 / height, va="top")
    axes = figure.subplots(1 + curves, len(rows), squeeze=False, sharey="row")
    # Fixed margins, in inches: a layout computed from every label takes longer than the drawing.
    edges = {"left": 0.75 / width, "right": 1 - 0.1 / width, "bottom": 0.5 / height, "top": 1 - 0.8 / height}
    figure.subplots_adjust(**edges, wspace=0.06, hspace=0.3)
    for column, row in zip(axes.T, rows, strict=True):
        column[0].set_title(_headline(row), fontsize=10, y=1.0)  # matplotlib would lay out every tick to find a place
        if row.sketch is not None:
            if row.timing is not None:
                draw_times(column[0], row.sketch)
            else:
                draw_worlds(column[0], row.sketch)
            if curves:
                draw_curve(column[1], row)
    if axes[0, 0].get_yscale() == "log":
        bottom, top = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim(max(bottom, LEAST_DRAWN), min(top, 9))  # room for a mark at 1, and no tick above it
    if curves:
        _magnify(axes[1, 0], rows)
    for axis in (panel.yaxis for panel in axes.ravel()):
        axis.set_minor_locator(NullLocator())  # most of the time goes into ticks
    for axis in (panel.yaxis for panel in axes[:, 1:].ravel()):
        axis.set_visible(False)
    axes[0, 0].set_ylabel("probability")
    lawful = rows[0].sketch is not None and rows[0].sketch.curve is not None
    axes[-1, 0].set_ylabel("δ(ε)" if curves and lawful else "probability")
    axes[0, 0].legend(fontsize=8, markerscale=2)
    return figure


def _magnify(axes: Axes, rows: Sequence[Row]) -> None:
    """Make the axis of δ logarithmic, down to the least that matters, where a violation could not be seen on it."""
    broken = [row for row in rows if row.exact is not None and row.exact.verdict is Verdict.VIOLATED]
    deltas = [row.exact.delta for row in broken if row.exact is not None]
    if not deltas or min(deltas) >= LEAST_SEEN:
        return
    claimed = [row.claim.delta for row in broken if row.claim is not None and row.claim.delta > 0]
    least = min(deltas + claimed) / 10
    axes.set_yscale("symlog", linthresh=least)
    axes.set_ylim(-least / 3, 2)
    places = range(0, int(-np.log10(least)), 1 + int(-np.log10(least)) // FEW)
    axes.set_yticks([0, *(10.0**-place for place in places)])


def _headline(row: Row) -> str:
    kinds = (
        ("exact", row.exact),
        ("exhaustive", row.exhaustive),
        ("sampled", row.sampled),
        ("sequential", row.sequential),
        ("timing", row.timing),
    )
    verdicts = ", ".join(f"{name}: {evidence.verdict}" for name, evidence in kinds if evidence is not None)
    return f"{row.mechanism}\n" + (verdicts if len(verdicts) < LINE else verdicts.replace(", sampled", ",\nsampled"))


def draw_worlds(axes: Axes, sketch: Sketch) -> None:
    """Draw both worlds: the law as a line, the sample as dots. A world without a line there cannot land there."""
    ends, absent = sketch.edges, "refused" if sketch.axis == "outcome" else "none"
    names = [absent if np.isneginf(end) else f"{end:.10g}" for end in ends[: FEW + 1]]
    pairs = {"sampled": sketch.sampled, "law": sketch.law}
    if not any(masses.any() for pair in pairs.values() if pair is not None for masses in pair):
        return
    if len(ends) > FEW and not np.allclose(np.diff(ends), ends[1] - ends[0]):
        ends, pairs = _binned(ends, pairs)
        if len(ends) == 2:  # next to all of the mass has one value
            names = [absent, "a number"] if np.isneginf(ends[0]) else [f"{ends[0]:.10g} or less", "more"]
    for name, pair in pairs.items():
        for colour, world, masses in zip((IN, OUT), ("in", "out"), pair or (), strict=False):
            _steps(axes, ends, masses, colour, f"{world}, {name}", filled=name == "sampled")
    if len(ends) <= FEW:
        axes.set_xticks(range(len(ends)), names)
    everything = np.concatenate([masses for pair in pairs.values() if pair is not None for masses in pair])
    positive = everything[everything > 0]
    if positive.max() > 50 * positive.min():
        axes.set_yscale("log")
    whole = np.array_equal(ends, np.round(ends))
    axes.set_xlabel("outcome (−1: refused)" if ends[0] == -1 and whole and sketch.axis == "outcome" else sketch.axis)


def draw_times(axes: Axes, sketch: Sketch) -> None:
    """Draw how long draws took in both worlds, as shares of cells of equal width."""
    for colour, world, shares in zip((IN, OUT), ("in", "out"), sketch.sampled or (), strict=False):
        axes.fill_between(sketch.edges, shares, step="mid", color=colour, alpha=0.45, linewidth=0, label=world)
    axes.set_xlabel("time of one draw (ms)")


def _binned(
    ends: NDArray[np.float64], pairs: dict[str, Pair | None]
) -> tuple[NDArray[np.float64], dict[str, Pair | None]]:
    """Return bins of equal width over all but the tails, for cells of unequal width, as pilots or huge laws have."""
    given = [masses for pair in pairs.values() if pair is not None for masses in pair]
    total = np.sum(given, axis=0)
    shares = np.cumsum(total) / total.sum()
    low, high = (ends[np.searchsorted(shares, share)] for share in (TAIL_LEFT_OUT, 1 - TAIL_LEFT_OUT))
    grid = np.linspace(low, high, BINS) if np.isfinite(low) and low < high else np.array([low, np.inf])
    bins = np.minimum(np.searchsorted(grid, ends), len(grid) - 1)
    summed = {
        name: None if pair is None else (_sums(bins, pair[0], len(grid)), _sums(bins, pair[1], len(grid)))
        for name, pair in pairs.items()
    }
    return grid, summed


def _sums(bins: NDArray[np.int64], masses: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    return np.bincount(bins, weights=masses, minlength=count).astype(np.float64)


def _steps(
    axes: Axes, ends: NDArray[np.float64], masses: NDArray[np.float64], colour: str, label: str, *, filled: bool
) -> None:
    visible = np.where(masses > 0, masses, np.nan)
    if len(ends) <= FEW:  # a bar each, side by side whatever lies between them
        places = np.arange(len(ends)) + (-0.2 if colour == IN else 0.2)
        style: dict[str, Any] = {"color": colour, "alpha": 0.35} if filled else {"color": "none", "edgecolor": colour}
        axes.bar(places, np.nan_to_num(visible), width=0.38, label=label, linewidth=1.5, **style)
    elif filled:
        axes.plot(ends, visible, ".", color=colour, alpha=0.35, markersize=4, label=label)
    else:
        # The second world is dashed, so that the first shows through where they agree.
        style = {"linewidth": 2.2} if colour == IN else {"linewidth": 1.4, "linestyle": "--"}
        axes.step(ends, visible, where="mid", color=colour, label=label, **style)
        for cell in np.flatnonzero(masses == 1):  # a line needs two points
            axes.plot(ends[cell], 1, "o", color=colour, markersize=6)
            told = f"{label.split(',')[0]}: always {ends[cell]:g}"
            axes.annotate(told, (ends[cell], 1), (9, -4), textcoords="offset points", color=colour)


def draw_event(axes: Axes, evidence: SampledEvidence) -> None:
    """Draw the event's probability in both worlds with its interval: what there is to see where there is no law."""
    for place, (colour, (low, high)) in enumerate(((IN, evidence.event_in), (OUT, evidence.event_out))):
        axes.bar(place, high, width=0.5, color=colour, alpha=0.35)
        axes.plot([place, place], [low, high], color=colour, linewidth=3)
        offset = (0, -14) if high > 0.9 else (0, 3)
        told = f"{(low + high) / 2:.4f}" if low else f"at most {high:.2g}"
        axes.annotate(told, (place, high), offset, textcoords="offset points", ha="center")
    axes.set_xticks([0, 1], ["in", "out"])
    axes.set_xlabel("the event, sampled (there is no law)")


def draw_curve(axes: Axes, row: Row) -> None:
    """Draw δ(ε) of the pair, and the claim as a cross: broken where the curve passes above it."""
    if row.sketch is None or row.sketch.curve is None or row.claim is None:
        if row.sampled is not None:
            draw_event(axes, row.sampled)
        return
    axes.plot(*row.sketch.curve, color="black", linewidth=1.4)
    point = (row.claim.epsilon, row.claim.delta)
    axes.plot(*point, "x", color="crimson", markersize=9, markeredgewidth=2)
    axes.annotate("claimed", point, textcoords="offset points", xytext=(6, 6), fontsize=9)
    axes.vlines(row.claim.epsilon, row.claim.delta, 1, color="crimson", linewidth=4, alpha=0.15)
    axes.set_xlabel("ε (nats)")
    axes.locator_params(axis="x", nbins=5)
    axes.set_ylim(-0.03, 1.05)
