"""Results drawn: a study, the twins of a report, and the curves δ(ε) of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib import colormaps, rc_context

from subnormal.audit.model import Report, Row
from subnormal.audit.report import sentences, twins
from subnormal.audit.sweeps import COLUMNS
from subnormal.plots.figure import COLOURS, SPINES, Figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

STYLE: Any = {**SPINES, "font.size": 11, "svg.hashsalt": "subnormal"}
NAIVE, EXACT, ALLOWED = COLOURS["out"], COLOURS["exact"], COLOURS["claim"]

Record = Mapping[str, Any]


def sweep(study: pandas.DataFrame | Sequence[Record], y: str = "advantage") -> Figure:
    """Return the curves of a study: a column of numbers on both twins, and what the claim allows.

    The option with most numbers is on the horizontal axis, the next one gives the colours, and each combination of the
    others has a panel.

    Args:
        study: what `subnormal.sweep` returns, or its records.
        y: the column that is drawn. What the claim allows is drawn beside advantage, ks and total_variation.

    Returns:
        A figure of matplotlib.

    Raises:
        ValueError: no row has a number in that column.
    """
    records = list(study) if isinstance(study, Sequence) else study.to_dict("records")
    drawn = [one for one in records if _is_number(one.get(y))]
    if not drawn:
        raise ValueError(f"no row of the study has a number in {y!r}")
    x, colour, others = _axes_of(drawn)
    panels = _groups(drawn, others)
    with rc_context(STYLE):
        drawing = Figure(figsize=(3.2 + 3.6 * len(panels), 4.2), layout="constrained")
        axes = drawing.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for each, (values, rows) in zip(axes, panels.items(), strict=True):
            title = ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True))
            _curves(each, rows, x, colour, y)
            each.set(title=title or str(rows[0]["attack"]).partition("@")[0], xlabel=x)
        axes[0].set_ylabel(y)
        drawing.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=9)
    return drawing


def twin_bars(report: Report | Iterable[Row]) -> Figure:
    """Return two bars for each attack: from the event's probability in one world to that in the other, on both twins.

    A mark shows how far from the first world's probability the claim allows the second one to be. Rows without an event
    are left out.

    Args:
        report: a report, or some of its rows.

    Returns:
        A figure of matplotlib.

    Raises:
        ValueError: no row has the probabilities of an event.
    """
    found = [(one, bars) for one in twins.twins(_rows(report)) if any(bars := _bars(one))]
    if not found:
        raise ValueError("no row has the probabilities of an event")
    with rc_context(STYLE):
        drawn = Figure(figsize=(9, 1.4 + 0.5 * len(found)), layout="constrained")
        axes = drawn.subplots()
        for place, (_, bars) in enumerate(found):
            for offset, bar, colour in zip((-0.2, 0.2), bars, (NAIVE, EXACT), strict=True):
                if bar is not None:
                    axes.barh(place + offset, max(bar.width, 0.004), 0.36, bar.left, color=colour)
                if bar is not None and bar.allowed is not None:
                    axes.vlines(bar.allowed, place + offset - 0.2, place + offset + 0.2, color=ALLOWED, linewidth=2)
        axes.set_yticks(range(len(found)), [one.broken.attack for one, _ in found])
        axes.set(xlim=(-0.01, 1.01), xlabel="probability of the event, from world to world")
        axes.invert_yaxis()
        for name, colour in (("naive", NAIVE), ("exact twin", EXACT), ("allowed", ALLOWED)):
            axes.plot([], [], color=colour, linewidth=4, label=name)
        drawn.legend(loc="outside right upper", fontsize=9)
    return drawn


def _bars(one: twins.Twins) -> tuple[twins.Bar | None, twins.Bar | None]:
    return twins.bar(one.broken), None if one.exact is None else twins.bar(one.exact)


def loss_profile(report: Report | Iterable[Row]) -> Figure:
    """Return the curves δ(ε) of each attack's worlds: the δ that (ε, δ) privacy of the pair needs, by the exact laws.

    A ring is at the claim. A curve above it violates the claim, and one that stays above 0 has an infinite loss.

    Args:
        report: a report of `run`, or some of its rows; a loaded report has no curves.

    Returns:
        A figure of matplotlib, with a panel for each attack.

    Raises:
        ValueError: no row has a curve.
    """
    rows = [row for row in _rows(report) if row.sketch is not None and row.sketch.curve is not None]
    attacks = list(dict.fromkeys(row.attack for row in rows))
    if not attacks:
        raise ValueError("no row has a curve: a loaded report has none, nor has a row without laws")
    with rc_context(STYLE):
        drawn = Figure(figsize=(3.2 + 3.6 * len(attacks), 4.2), layout="constrained")
        panels = drawn.subplots(1, len(attacks), squeeze=False, sharey=True)[0]
        for axes, attack in zip(panels, attacks, strict=True):
            for row in (row for row in rows if row.attack == attack):
                _profile(axes, row)
            axes.set(title=attack, xlabel="ε (nats)")
            axes.legend(fontsize=9)
        panels[0].set_ylabel("δ that the worlds need at ε")
    return drawn


def _profile(axes: Axes, row: Row) -> None:
    if row.sketch is None or row.sketch.curve is None:
        return
    form: dict[str, Any] = {"color": EXACT, "linestyle": "--"} if sentences.is_exact(row) else {"color": NAIVE}
    axes.plot(*row.sketch.curve, label=row.mechanism, **form)
    if row.claim is not None:
        axes.plot(row.claim.epsilon, row.claim.delta, "o", color=ALLOWED, fillstyle="none", markersize=9)


def _rows(report: Report | Iterable[Row]) -> Iterable[Row]:
    return report.rows if isinstance(report, Report) else report


def _axes_of(records: Sequence[Record]) -> tuple[str, str | None, list[str]]:
    """Return the option of the horizontal axis, that of the colours, and the others that vary."""
    options = [name for name in records[0] if name not in COLUMNS and not name.startswith("sampled.")]
    values = {name: dict.fromkeys(one[name] for one in records) for name in options}
    varied = [name for name in options if len(values[name]) > 1] or options[:1]
    numeric = [name for name in varied if all(map(_is_number, values[name]))]
    numeric.sort(key=lambda name: -len(values[name]))
    x, colour = numeric[0] if numeric else varied[0], numeric[1] if len(numeric) > 1 else None
    return x, colour, [name for name in varied if name not in (x, colour)]


def _groups(records: Sequence[Record], names: Sequence[str]) -> dict[tuple[Any, ...], list[Record]]:
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for one in records:
        groups.setdefault(tuple(one[name] for name in names), []).append(one)
    return groups


def _curves(axes: Axes, records: Sequence[Record], x: str, colour: str | None, y: str) -> None:
    lines = _groups(records, ["exact", *([colour] if colour else [])])
    shades = dict.fromkeys(values[1:] for values in lines)
    for at, shade in enumerate(shades):
        shades[shade] = colormaps["viridis"](0.85 * at / max(1, len(shades) - 1))
    for (is_exact, *value), rows in lines.items():
        name = "exact twin" if is_exact else "naive"
        of = f", {colour} = {value[0]:g}" if value else ""
        style: dict[str, Any] = {"color": shades[tuple(value)], "marker": "o", "markersize": 4}
        if is_exact:
            style |= {"linestyle": "--", "fillstyle": "none"}
        rows = sorted(rows, key=lambda one: one[x]) if _is_number(rows[0][x]) else rows
        axes.plot([one[x] for one in rows], [one[y] for one in rows], label=f"{name}{of}", **style)
        if is_exact and y in ("advantage", "ks", "total_variation"):
            allowed = [one["allowed"] for one in rows]
            axes.plot([one[x] for one in rows], allowed, color=style["color"], linestyle=":", label=f"allowed{of}")
    numbers = [one[x] for one in records if _is_number(one[x]) and one[x] > 0]
    if len(numbers) == len(records) and max(numbers) >= 16 * min(numbers):
        axes.set_xscale("log", base=2)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
