"""A report in a notebook: a short HTML table, and records for a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from subnormal.audit.model import ExactEvidence, Pair, Report, Row
from subnormal.audit.report import sentences
from subnormal.audit.report.finding import finding
from subnormal.audit.report.table import closing, titled
from subnormal.audit.statistics import binomial
from subnormal.audit.text import printable
from subnormal.mechanisms.privacy import Claim

TITLES = ("attack", "mechanism", "verdict", "claims", "found", "by")
LEFT = ' style="text-align: left"'
STRONG = ("VIOLATED", sentences.ERROR)  # verdicts in bold type


def to_html(report: Report) -> str:
    """Return the rows as an HTML table, the most severe first, with the note that ends every report.

    It shows the same pair as the terminal: each row's claim and its result.
    """
    ranked = sorted(report.rows, key=sentences.severity)
    head = "".join(f"<th{LEFT}>{title}</th>" for title in TITLES)
    body = "\n".join(f"<tr>{''.join(map(_cell, _cells(row)))}</tr>" for row in ranked)
    return (
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<p>{_text(closing(report))}</p>"
    )


def record(row: Row) -> dict[str, Any]:
    """Return a flat record of a row: its names, its verdict, its claim, its parameters, and its evidence.

    The fields of a kind of evidence are named "kind.field", as in "sampled.epsilon_lower"; the ends of an interval
    "kind.field_low" and "kind.field_high".
    """
    pair = finding(row)
    result: dict[str, Any] = {
        "attack": row.attack,
        "channel": row.channel,
        "family": row.family,
        "mechanism": row.mechanism,
        "package": row.package,
        "verdict": sentences.verdict(row),
        "claimed": pair.claimed,
        "found": pair.found,
        "by": pair.by,
        **study_of(row),
        "error": row.error,
        "note": row.note,
        **dict(_flat("parameters", row.parameters)),
        **dict(_flat("settings", row.settings)),
    }
    for kind, evidence in row.evidence.items():
        result |= _flat(kind, {field.name: getattr(evidence, field.name) for field in fields(evidence)})
    return result


def _flat(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names and values: those of nested records too, and both ends of intervals. Longer lists stay in the row."""
    for name, value in values.items():
        key = f"{prefix}.{name}"
        if is_dataclass(value):
            yield from _flat(key, {field.name: getattr(value, field.name) for field in fields(value)})
        elif isinstance(value, Mapping):
            yield from _flat(key, value)
        elif isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, int | float) for end in value):
            yield from zip((f"{key}_low", f"{key}_high"), value, strict=True)
        elif isinstance(value, str | int | float):
            yield key, str(value) if isinstance(value, str) else value


def study_of(row: Row) -> dict[str, Any]:
    """Return the columns of a study of this row. A report that was loaded has no distance of the laws."""
    return study(row.claim, row.exact or row.exhaustive, None if row.sketch is None else row.sketch.law)


def study(claim: Claim | None, proved: ExactEvidence | None, masses: Pair | None) -> dict[str, Any]:
    """Return the columns `STUDY` of a claim, of what is proved, and of the laws' masses, in the statistic's order."""
    unknown = None, None
    inside = (proved and proved.event_in) or unknown
    outside = (proved and proved.event_out) or unknown
    return {
        "claim.epsilon": claim and claim.epsilon,
        "claim.delta": claim and claim.delta,
        "advantage": proved and proved.advantage,
        "allowed": claim and claim.advantage_allowed,
        "loss": proved and proved.epsilon,
        "delta": proved and proved.delta,
        "ks": None if masses is None else binomial.ks_least(*masses),
        "total_variation": proved and proved.total_variation,
        "event_in_low": inside[0],
        "event_in_high": inside[1],
        "event_out_low": outside[0],
        "event_out_high": outside[1],
    }


STUDY = tuple(study(None, None, None))  # the columns of a study


def _cells(row: Row) -> tuple[str, ...]:
    pair = finding(row)
    attack = titled(row.attack, row.channel, "side channel: ")
    return attack, row.mechanism, sentences.verdict(row), pair.claimed, pair.found, pair.by


def _cell(content: str) -> str:
    text = _text(content)
    return f"<td{LEFT}>{f'<b>{text}</b>' if content in STRONG else text}</td>"


def _text(content: str) -> str:
    return escape(printable(content))
