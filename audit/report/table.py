"""Rows as Markdown, an empty table, and the cells that all renderings share."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich import box
from rich.table import Table

from subnormal.audit.model import Report, Row, TimingEvidence, Verdict
from subnormal.audit.text import e_value, given, interval, short

SIDE_CHANNELS = "Side channels"
TIMED = ("time in/out", "worlds differ", "needed")  # the columns of a clock

STYLES: dict[str, str] = {
    Verdict.VIOLATED: "bold red",
    Verdict.HOLDS: "green",
    Verdict.NOT_REFUTED: "none",  # no colour: the verdict is no evidence of privacy
    Verdict.UNRESOLVED: "yellow",
    Verdict.UNDERPOWERED: "yellow",
    "ERROR": "bold red",
}


def columns(row: Row) -> dict[str, str]:
    """Return the cells of a row by column title, for every rendering."""
    exact, sampled = row.exact or row.exhaustive, row.sampled
    return {
        "mechanism": row.mechanism if row.package is None else f"{row.mechanism} ({row.package})",
        "exact": "ERROR" if row.error else "–" if row.exact is None else str(row.exact.verdict),
        "exhaustive": "–" if row.exhaustive is None else str(row.exhaustive.verdict),
        "sampled": "–" if sampled is None else str(sampled.verdict),
        "sequential": "–" if row.sequential is None else str(row.sequential.verdict),
        "claimed ε": _claimed(row),
        "loss ε": short(None if exact is None else exact.epsilon),
        "δ at ε": short(None if exact is None else exact.delta),
        "advantage": short(None if exact is None else exact.advantage),
        "allowed": short(row.advantage_allowed),
        "sampled advantage": interval(None if sampled is None else sampled.advantage),
        "ε ≥": short(None if sampled is None else sampled.epsilon_lower, 3),
        "KS ± margin": "–" if sampled is None else f"{short(sampled.ks.statistic, 3)} ± {short(sampled.ks.margin, 2)}",
        "e-value": "–" if row.sequential is None else e_value(row.sequential.log_e_value),
        **(dict.fromkeys(TIMED, "–") if row.timing is None else _timed(row.timing)),
        "runs": _runs(row),
    }


def _claimed(row: Row) -> str:
    if row.claim is None:
        return "–"
    return short(row.claim.epsilon) + (f", δ = {short(row.claim.delta, 3)}" if row.claim.delta else "")


def _runs(row: Row) -> str:
    judged = row.sampled or row.sequential
    runs = row.timing.measurements if row.timing is not None else None if judged is None else judged.runs
    return "–" if runs is None else f"{runs:,}"


def _timed(timing: TimingEvidence) -> dict[str, str]:
    """Return the cells of a clock, in the order of `TIMED`."""
    low, high = timing.needed
    ratio = f"{short(timing.median_in / max(timing.median_out, 1e-9), 3)} {interval(timing.ratio)}"
    differ = f"{'yes' if timing.detected else 'not seen'}, p = {short(timing.sign_p, 1)}"
    needed = f"over {low:,.0f}" if math.isinf(high) else f"{low:,.0f} to {high:,.0f}"
    return dict(zip(TIMED, (ratio, differ, needed), strict=True))


def grid(titles: Iterable[str], left: Container[str], title: str | None = None) -> Table:
    """Return a table without rows: the columns that `left` names begin at the left, the others end at the right."""
    result = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in titles:  # a narrow terminal shows numbers on two lines: cut off, they say nothing
        result.add_column(name, justify="left" if name in left else "right", overflow="fold")
    return result


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one attack. heading: the title of a new part of the report that begins here, or empty."""

    heading: str
    title: str
    rows: tuple[Row, ...]


def sections(rows: Iterable[Row]) -> list[Section]:
    """Return rows by attack, in their order; the first side channel begins a new part."""
    result: list[Section] = []
    for (attack, channel), group in groupby(rows, key=lambda row: (row.attack, row.channel)):
        begins = channel is not None and not any(section.heading for section in result)
        result.append(Section(SIDE_CHANNELS if begins else "", titled(attack, channel), tuple(group)))
    return result


def titled(attack: str, channel: str | None, kind: str = "") -> str:
    """Return the name of an attack with its channel in brackets."""
    return attack if channel is None else f"{attack} ({kind}{channel})"


def titles_of(rows: Iterable[Row]) -> list[str]:
    """Return the titles of the columns that have a value in at least one row."""
    cells = [columns(row) for row in rows]
    return [title for title in (cells[0] if cells else {}) if any(cell[title] != "–" for cell in cells)]


def to_markdown(rows: Iterable[Row], titles: Iterable[str] = ()) -> str:
    """Return rows as a Markdown table, for a notebook or a bug report.

    titles: of its columns, "attack" included; by default, those with a value.
    """
    rows = list(rows)
    titles = list(titles) or titles_of(rows)
    cells = [{"attack": row.attack} | columns(row) for row in rows]
    return markdown(titles, ([row[title] for title in titles] for row in cells))


def markdown(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, ["---"] * len(titles), *lines))


def closing(report: Report) -> str:
    """Return a note on how the rows share α, and on the limits of the verdicts. A proved row may have runs too."""
    judged = sum(any((row.sampled, row.sequential, row.timing)) for row in report.rows)
    rows = "row" if judged == 1 else "rows"
    shared = f"α = {given(report.alpha)} shared by {judged} {rows} with runs" if judged else "nothing was sampled"
    return (
        f"Seed {report.seed}; {shared}. HOLDS is about its pair of worlds; NOT REFUTED and UNDERPOWERED are no "
        "evidence of privacy. No verdict says that a mechanism is private."
    )
