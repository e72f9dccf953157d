"""The contents of report.html: the comparison, the families, four answers, the table, and a section for each row."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from subnormal.attacks.catalogue import attack
from subnormal.attacks.core.event_words import in_words
from subnormal.audit.model import MEASURED, Report, Row
from subnormal.audit.report import row_charts, sentences
from subnormal.audit.report.finding import Finding, finding
from subnormal.audit.report.svg import Panel
from subnormal.audit.report.table import Section, columns, sections
from subnormal.audit.report.twins import Bar, bar, by_family, compared, title
from subnormal.audit.report.twins import cells as comparison_cells
from subnormal.audit.text import interval, percent, short
from subnormal.mechanisms.families import exact_members, family, member

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


@dataclass(frozen=True, slots=True)
class Twin:
    """An exact member to use instead. anchor: of a row with the verdict HOLDS, or empty."""

    mechanism: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A mechanism that some attacks break, and the first of these rows."""

    mechanism: str
    anchor: str
    attacks: int


@dataclass(frozen=True, slots=True)
class Side:
    """A row of an attack's line: its bar and its verdict. anchor: of its section."""

    mechanism: str
    anchor: str
    verdict: str
    found: str
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class Line:
    """An attack's line of the table of families. exact: None where no exact mechanism met it."""

    attack: str
    channel: str
    anchor: str
    broken: Side
    exact: Side | None


def families(report: Report, parts: Sequence[AttackRows]) -> dict[str, list[Line]]:
    """Return a line for each attack, by family."""
    of_rows = {id(one.row): one for part in parts for one in part.rows}
    of_attacks = {id(one.row): part.anchor for part in parts for one in part.rows}

    def side(row: Row) -> Side:
        view = of_rows[id(row)]
        found = (
            ""
            if view.verdict in (sentences.ERROR, sentences.NO_VERDICT, "UNDERPOWERED", MEASURED)
            else finding(row).found
        )
        return Side(view.mechanism, view.anchor, view.verdict, found, bar(row))

    return {
        name: [
            Line(
                one.broken.attack,
                one.broken.channel or "",
                of_attacks[id(one.broken)],
                side(one.broken),
                None if one.exact is None else side(one.exact),
            )
            for one in pairs
        ]
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
    for section in sorted(sections(report.rows), key=lambda one: min(map(_severity, one.rows))):
        anchor = _anchor(taken, section.title)
        rows = sorted(section.rows, key=_severity)
        views = [_view(row, _anchor(taken, section.title, row.mechanism), report) for row in rows]
        parameters = ", ".join(_parameters(dict(rows[0].parameters)))
        result.append(AttackRows(section, anchor, parameters, _inputs(rows), views))
    return result


def table(parts: Sequence[AttackRows]) -> list[RowView]:
    """Return all rows, the most severe first, otherwise in the order of their sections."""
    return sorted((one for part in parts for one in part.rows), key=lambda one: _severity(one.row))


def _severity(row: Row) -> int:
    return sentences.SEVERITY.index(sentences.verdict(row))


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
        pair="" if row.error is not None else str(finding(row)),
        cells=_cells(row),
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
    return f"python -m audit run {named} {options}{looking}" if row.reproducible else ""


def _parameters(parameters: dict[str, Any], within: str = "") -> list[str]:
    lines = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            lines += _parameters(value, f"{within}{name}.")
        else:
            lines.append(f"{within}{name} = {value}")
    return lines


def _cells(row: Row) -> dict[str, TableCell]:
    """Return the row's line of the table, by column: numbers sort as numbers, verdicts by severity."""
    proved, verdict, pair = row.exact or row.exhaustive, sentences.verdict(row), finding(row)
    advantage = TableCell("–", "")
    if proved is not None:
        advantage = _cell(proved.total_variation if proved.advantage is None else proved.advantage)
    elif row.sampled is not None:
        advantage = _cell(row.sampled.advantage[0], "≥ ", digits=3)
    elif row.timing is not None:
        advantage = _cell(row.timing.advantage_lower, "≥ ", digits=3)
    judged = row.sampled or row.sequential
    runs = row.timing.measurements if row.timing is not None else None if judged is None else judged.runs
    return {
        "verdict": TableCell(verdict, str(sentences.SEVERITY.index(verdict))),
        "claims": TableCell(pair.claimed, "" if row.claim is None else _key(row.claim.epsilon), _at(row, pair)),
        "found": TableCell("–" if row.error else pair.found, "" if pair.excess is None else _key(pair.excess)),
        "known": TableCell(sentences.known(row)),
        "advantage": advantage,
        "allowed": _cell(row.advantage_allowed),
        "runs": TableCell("–", "") if runs is None else TableCell(f"{runs:,}", str(runs)),
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
        numbers["e-value of the bet"] = short(math.exp(min(700.0, row.timing.log_e_value)), 3)
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
    by_channel = [one for one in violated if one.mechanism not in {each.mechanism for each in broken}]
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
        "open": sum(counts[name] for name in ("NOT REFUTED", "UNDERPOWERED", "UNRESOLVED")),
        "underpowered": len(few),
        "needed": max((runs for runs in needed if runs is not None), default=None),
        "measured": counts[MEASURED],
        "never": sum(runs is None for runs in needed),
        "errors": [one for one in views if one.verdict == sentences.ERROR],
        "judged_rows": sum(one.verdict not in (sentences.ERROR, sentences.NO_VERDICT) for one in views),
    }


def _broken(violated: Sequence[RowView]) -> list[Broken]:
    first: dict[str, RowView] = {}
    for one in violated:
        first.setdefault(one.mechanism, one)
    times = Counter(one.mechanism for one in violated)
    return [Broken(name, one.anchor, times[name]) for name, one in first.items()]


def _twins(views: Sequence[RowView], violated: Sequence[RowView]) -> list[Twin]:
    """Return for each family with a violation its first exact member without one, side channels included."""
    broken, twins = {one.mechanism for one in violated}, []
    for name in dict.fromkeys(one.row.family for one in violated):
        for exact in [one.name for one in exact_members(family(name)) if one.name not in broken][:1]:
            held = (one.anchor for one in views if one.mechanism == exact and one.verdict == "HOLDS")
            twins.append(Twin(exact, next(held, "")))
    return twins
