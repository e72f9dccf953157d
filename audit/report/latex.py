"""The comparison of naive base e with exact base 2 as a table of LaTeX."""

from __future__ import annotations

from collections.abc import Iterable

from subnormal.audit.model import Row
from subnormal.audit.report import twins

SIGNS = {  # of the cells; each other character that LaTeX reads as a command is none of them
    "ε": r"$\varepsilon$",
    "∞": r"$\infty$",
    "±": r"$\pm$",
    "✗": r"$\times$",
    "−": r"$-$",
    "<": r"$<$",
    "–": "--",
    "_": r"\_",
}


def to_latex(rows: Iterable[Row]) -> str:
    """Return the comparison as a `tabular` with the rules of booktabs: the attacks, and a line for each twin.

    Raises ValueError if no attack of the comparison has laws and runs on both twins.
    """
    pairs = twins.compared(rows)
    if not pairs:
        names = ", ".join(twins.COMPARED)
        raise ValueError(f"no row to compare: it takes {names}, with runs, on a naive mechanism and {twins.BASE2}")
    lines = [r"\begin{tabular}{llllll}  % \usepackage{booktabs}", r"\toprule", _line(twins.COLUMNS)]
    for one in pairs:
        lines += [r"\midrule", rf"\multicolumn{{{len(twins.COLUMNS)}}}{{l}}{{{_text(twins.title(one))}}} \\"]
        lines += [_line(twins.cells(row)) for row in (one.broken, one.exact) if row is not None]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _line(cells: Iterable[str]) -> str:
    return rf"{' & '.join(map(_text, cells))} \\"


def _text(content: str) -> str:
    return "".join(SIGNS.get(one, one) for one in content)
