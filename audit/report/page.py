"""The contents of report.html: the comparison, the families, four answers, the table, and a section for each row."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from subnormal.attacks.catalogue import attack
from subnormal.attacks.core.event_words import in_words
from subnormal.audit.model import MEASURED, Report, Row
from subnormal.audit.report import row_charts, sentences
from subnormal.audit.report.finding import Finding, finding, found
from subnormal.audit.report.svg import Panel
from subnormal.audit.report.table import Section, columns, sections
from subnormal.audit.report.twins import Bar, bar, by_family, compared, title
from subnormal.audit.report.twins import cells as comparison_cells
from subnormal.audit.text import e_value, interval, percent, short
from subnormal.mechanisms.families import exact_members, family, member

Line: TypeAlias = tuple["AttackRows", "RowView", "RowView | None"]
SETTINGS = {"eta": "2^−η", "precision": "bits of working precision"}
NAMED = 6  # broken mechanisms that the first screen names


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of the table. key: its sort key if not the text; empty: the cell comes last. more: on wide pages."""

    text: str
    key: str | None = None
    more: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """A row: its line of the table, and its section."""

    row: Row
    anchor: str
    mechanism: str
    verdict: str
    exact: bool  # whether it is an exact member
    cells: dict[str, TableCell]
    bar: Bar | None
    found: str  # empty where the verdict says all
    pair: str
    claim: str
    event: str
    says: list[str]
    again: str  # the command that repeats its runs, or empty
    panels: list[Panel]
    numbers: dict[str, str]


@dataclass(frozen=True, slots=True)
class AttackRows:
    """The rows of one attack."""

    section: Section
    anchor: str
    parameters: str
    inputs: str  # lines of Python; empty if the worlds have no short expressions
    rows: list[RowView]

    @property
    def held(self) -> list[RowView]:
        """The exact members that provably resist."""
        return [one for one in self.rows if one.exact and one.verdict == "HOLDS"]


def families(report: Report, parts: Sequence[AttackRows]) -> dict[str, list[Line]]:
    """Return the attacks of each family: with the row of the mechanism that it breaks, and that of the exact twin."""
    of = {id(one.row): (part, one) for part in parts for one in part.rows}
    return {
        name: [(*of[id(one.broken)], None if one.exact is None else of[id(one.exact)][1]) for one in pairs]
        for name, pairs in by_family(report.rows).items()
    }


def comparison(report: Report) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the paper's attacks, in base e and in base 2: a title and two rows of cells each."""
    pairs = compared(report.rows)
    return [
        (title(one), [comparison_cells(row) for row in (one.broken, one.exact) if row is not None]) for one in pairs
    ]


def parts(report: Report) -> list[AttackRows]:
    """Return the rows by attack, the most severe rows and attacks first."""
    taken: set[str] = set()
    result = []
    for section in sorted(sections(report.rows), key=lambda one: min(map(sentences.severity, one.rows))):
        anchor = _anchor(taken, section.title)
        rows = sorted(section.rows, key=sentences.severity)
        views = [_view(row, _anchor(taken, section.title, row.mechanism), report) for row in rows]
        parameters = ", ".join(_parameters(dict(rows[0].parameters)))
        result.append(AttackRows(section, anchor, parameters, _inputs(rows), views))
    return result


def table(parts: Sequence[AttackRows]) -> list[RowView]:
    """Return all rows, the most severe first, otherwise in the order of their sections."""
    return sorted((one for part in parts for one in part.rows), key=lambda one: sentences.severity(one.row))


def _inputs(rows: Sequence[Row]) -> str:
    """Return lines of Python that create both worlds of an attack, which all of its rows share."""
    worlds = {row.worlds for row in rows}
    if len(worlds) != 1 or (pair := worlds.pop()) is None:
        return ""
    imports = {"np.": "import numpy as np", "math.": "import math", "Fraction(": "from fractions import Fraction"}
    imports |= {"Decimal(": "from decimal import Decimal"}
    needed = [line for name, line in imports.items() if name in f"{pair.in_} {pair.out}"]
    return "\n".join([*needed, f"data_in = {pair.in_}", f"data_out = {pair.out}"])


def _anchor(taken: set[str], *names: str) -> str:
    """Return a unique name for links on the page, usually the same in every report."""
    plain = "--".join(re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-") or "row" for name in names)
    anchor = next(one for one in (plain, *(f"{plain}-{n}" for n in range(2, len(taken) + 3))) if one not in taken)
    taken.add(anchor)
    return anchor


def _view(row: Row, anchor: str, report: Report) -> RowView:
    described = row.event if row.sequential is None else row.sequential.event
    timed, axis = row.timing is not None, "outcome" if row.sketch is None else row.sketch.axis
    # A list is compared by its first number, which has its own name; other axes are shifted outcomes.
    compared = "outcome" if row.channel is not None or "outcome" in axis else axis
    cells = columns(row)
    return RowView(
        row=row,
        anchor=anchor,
        mechanism=cells["mechanism"],
        verdict=sentences.verdict(row),
        exact=sentences.is_exact(row),
        cells=_cells(row, cells),
        bar=bar(row),
        found=found(row),
        pair="" if row.error is not None else str(finding(row)),
        claim=sentences.claim(row),
        event="one draw takes longer than the time below" if timed else in_words(described, compared),
        says=sentences.says(row),
        again=_again(row, report),
        panels=row_charts.of(row),
        numbers={name: cell for name, cell in cells.items() if cell != "–" and name != "mechanism"} | _more(row),
    )


def _again(row: Row, report: Report) -> str:
    try:
        member(row.mechanism), attack(row.attack)
    except (LookupError, ValueError):  # a foreign mechanism, or a learned attack
        return ""
    named = f"--attack {row.attack} --mechanism {row.mechanism}"
    options = f"--seed {report.seed} --runs {report.runs} --alpha {report.alpha_per_row!r}"
    looking = " --until-decided" if row.sequential is not None else ""
    return f"subnormal run {named} {options}{looking}" if row.reproducible else ""


def _parameters(parameters: dict[str, Any], within: str = "") -> list[str]:
    lines = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            lines += _parameters(value, f"{within}{name}.")
        else:
            lines.append(f"{within}{name} = {value}")
    return lines


def _cells(row: Row, cells: Mapping[str, str]) -> dict[str, TableCell]:
    """Return the row's line of the table, by column: numbers sort as numbers, verdicts by severity."""
    proved, pair = row.exact or row.exhaustive, finding(row)
    advantage = TableCell("–", "")
    if proved is not None:
        advantage = _cell(proved.total_variation if proved.advantage is None else proved.advantage)
    elif row.sampled is not None:
        advantage = _cell(row.sampled.advantage[0], "≥ ", digits=3)
    elif row.timing is not None:
        advantage = _cell(row.timing.advantage_lower, "≥ ", digits=3)
    return {
        "verdict": TableCell(sentences.verdict(row), str(sentences.severity(row))),
        "claims": TableCell(pair.claimed, "" if row.claim is None else _key(row.claim.epsilon), _at(row, pair)),
        "found": TableCell("–" if row.error else pair.found, "" if pair.excess is None else _key(pair.excess)),
        "known": TableCell(sentences.known(row)),
        "advantage": advantage,
        "allowed": _cell(row.advantage_allowed),
        "runs": TableCell(cells["runs"], cells["runs"].strip("–").replace(",", "")),
    }


def _at(row: Row, pair: Finding) -> str:
    """Return the ε at which a δ is claimed, where a δ shows the verdict."""
    return f" at ε {short(row.claim.epsilon)}" if row.claim is not None and pair.claimed.startswith("δ") else ""


def _cell(value: float | None, sign: str = "", digits: int = 4) -> TableCell:
    return TableCell("–", "") if value is None else TableCell(sign + short(value, digits), _key(value))


def _key(value: float) -> str:
    return "Infinity" if math.isinf(value) else repr(value)


def _more(row: Row) -> dict[str, str]:
    """Return the numbers of a row that are not in the table."""
    numbers: dict[str, str] = {SETTINGS.get(name, name): str(value) for name, value in row.settings.items()}
    proved = row.exact or row.exhaustive
    if proved is not None:
        numbers["total variation"] = short(proved.total_variation)
        if proved.event_in is not None and proved.event_out is not None:
            numbers["event, in: exact"], numbers["event, out: exact"] = map(
                _bounds, (proved.event_in, proved.event_out)
            )
        if proved.event_verdict is not None:
            numbers["the event alone"] = str(proved.event_verdict)
        if proved.within:
            numbers["upper bound above δ by"] = short(proved.within)
    if row.channel is not None and row.visible_below is not None:
        numbers["visible below ε"] = short(row.visible_below)
    if row.sampled is not None and row.sampled.fit is not None:
        numbers["fit p, in and out"] = f"{short(row.sampled.fit.p_in, 2)}, {short(row.sampled.fit.p_out, 2)}"
    if row.sampled is not None:
        numbers["event, in: runs"], numbers["event, out: runs"] = map(
            interval, (row.sampled.event_in, row.sampled.event_out)
        )
    if row.sequential is not None:
        numbers["event, in: runs"], numbers["event, out: runs"] = (
            f"{count:,} of {row.sequential.runs:,}" for count in (row.sequential.event_in, row.sequential.event_out)
        )
        numbers["runs at most, to learn on"] = f"{row.sequential.runs_max:,}, {row.sequential.training:,}"
    if row.timing is not None:
        numbers["median (ms), in and out"] = (
            f"{short(row.timing.median_in * 1e3)}, {short(row.timing.median_out * 1e3)}"
        )
        numbers["the event's time (ms)"] = short(row.timing.threshold * 1e3)
        numbers["Welch's t"] = f"{short(row.timing.welch_t, 3)}, p = {short(row.timing.welch_p, 1)}"
        numbers["e-value of the bet"] = e_value(row.timing.log_e_value)
    if row.evidence.keys() - set(sentences.PROVED):
        numbers["confidence of the runs"] = percent(sentences.confidence(row))
    return numbers


def _bounds(bounds: tuple[float, float]) -> str:
    return short(bounds[0]) if bounds[0] == bounds[1] else interval(bounds)


def answers(report: Report, parts: Sequence[AttackRows]) -> dict[str, Any]:
    """Return the four answers of the first screen: the claims, the results, their certainty, and the next step."""
    views = [one for part in parts for one in part.rows]
    violated = [one for one in views if one.verdict == "VIOLATED"]
    counts = Counter(one.verdict for one in views)
    broken = _broken([one for one in violated if one.row.channel is None])
    by_channel = [one for one in violated if one.mechanism not in {each.mechanism for each, _ in broken}]
    claims = [one.row.claim for one in views if one.row.claim is not None]
    few = [one.row for one in views if one.verdict == "UNDERPOWERED"]
    needed = [sentences.runs_needed(row) for row in few]
    proved = [one for one in violated if set(sentences.kinds(one.row)) & set(sentences.PROVED)]
    alone = [one for one in violated if one not in proved]
    return {
        "mechanisms": list(dict.fromkeys(one.mechanism for one in views)),
        "families": sorted({one.row.family for one in views}),
        "rows": len(views),
        "attacks": len(parts),
        "claims": sorted({sentences.claim(one.row) for one in views if one.row.claim is not None}),
        "epsilons": [short(extreme(claim.epsilon for claim in claims)) for extreme in (min, max)] if claims else [],
        "counts": [(name, counts[name]) for name in sentences.SEVERITY if counts[name]],
        "broken": broken[:NAMED],
        "broken_too": broken[NAMED:],
        "by_channel": _broken(by_channel),
        "violated": violated,
        "proved": len(proved),
        "alone": alone,
        "confidence": percent(1 - report.alpha_per_row),
        "judged": sum(bool(one.row.evidence.keys() - set(sentences.PROVED)) for one in views),
        "held": sum(one.verdict == "HOLDS" for one in views),
        "twins": _twins(views, violated),
        "underpowered": len(few),
        "needed": max((runs for runs in needed if runs is not None), default=None),
        "measured": counts[MEASURED],
        "never": sum(runs is None for runs in needed),
        "errors": [one for one in views if one.verdict == sentences.ERROR],
        "judged_rows": sum(one.verdict not in (sentences.ERROR, sentences.NO_VERDICT) for one in views),
    }


def _broken(violated: Sequence[RowView]) -> list[tuple[RowView, int]]:
    """Return for each mechanism its first row and the number of its rows."""
    first = {one.mechanism: one for one in reversed(violated)}
    return [(first[name], number) for name, number in Counter(one.mechanism for one in violated).items()]


def _twins(views: Sequence[RowView], violated: Sequence[RowView]) -> list[tuple[str, str]]:
    """Return for each family with a violation its first exact member without one, side channels included.

    With the anchor of a row in which it HOLDS, or empty.
    """
    broken, twins = {one.mechanism for one in violated}, []
    for name in dict.fromkeys(one.row.family for one in violated):
        for exact in [one.name for one in exact_members(family(name)) if one.name not in broken][:1]:
            held = (one.anchor for one in views if one.mechanism == exact and one.verdict == "HOLDS")
            twins.append((exact, next(held, "")))
    return twins
