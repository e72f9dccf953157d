"""Pictures of results by matplotlib, the extra `plots`. Each function returns a figure, which a notebook shows.

>>> from subnormal import plots, sweep
>>> study = sweep("zero-rounding", {"epsilon": [0.5, 1], "outcomes": "2:64"})
>>> plots.sweep(study).savefig("study.svg")  # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    from matplotlib import colormaps, rc_context
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    raise ModuleNotFoundError("subnormal.plots needs matplotlib: pip install matplotlib", name="matplotlib") from None

from subnormal.audit.sweeps import COLUMNS

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

FORMATS = ("png", "svg", "pdf")  # of files
STYLE = {"axes.spines.top": False, "axes.spines.right": False, "font.size": 11, "svg.hashsalt": "subnormal"}

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
        figure = Figure(figsize=(3.2 + 3.6 * len(panels), 4.2), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for each, (values, rows) in zip(axes, panels.items(), strict=True):
            title = ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True))
            _curves(each, rows, x, colour, y)
            each.set(title=title or str(rows[0]["attack"]).partition("@")[0], xlabel=x)
        axes[0].set_ylabel(y)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=9)
    return figure


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
