"""A report in a notebook: a short HTML table, and records for a data frame."""

from __future__ import annotations

from dataclasses import fields
from html import escape
from typing import Any

from subnormal.audit.model import Report, Row
from subnormal.audit.report import sentences
from subnormal.audit.report.finding import finding
from subnormal.audit.report.table import closing
from subnormal.audit.text import printable

TITLES = ("attack", "mechanism", "verdict", "claims", "found", "by")
LEFT = ' style="text-align: left"'
STRONG = ("VIOLATED", sentences.ERROR)  # verdicts in bold type


def to_html(report: Report) -> str:
    """Return the rows as an HTML table, the most severe first, with the note that ends every report.

    It shows the same pair as the terminal: each row's claim and its result.
    """
    ranked = sorted(report.rows, key=lambda row: sentences.SEVERITY.index(sentences.verdict(row)))
    head = "".join(f"<th{LEFT}>{title}</th>" for title in TITLES)
    body = "\n".join(f"<tr>{''.join(map(_cell, _cells(row)))}</tr>" for row in ranked)
    return (
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<p>{_text(closing(report))}</p>"
    )


def records(report: Report) -> list[dict[str, Any]]:
    """Return a flat record for each row: its names, its verdict, its claim, and the fields of its evidence.

    The fields of a kind of evidence are named "kind.field", as in "sampled.epsilon_lower".
    """
    return [_record(row) for row in report.rows]


def _record(row: Row) -> dict[str, Any]:
    pair = finding(row)
    record: dict[str, Any] = {
        "attack": row.attack,
        "channel": row.channel,
        "family": row.family,
        "mechanism": row.mechanism,
        "package": row.package,
        "verdict": sentences.verdict(row),
        "claimed": pair.claimed,
        "found": pair.found,
        "by": pair.by,
        "claim.epsilon": None if row.claim is None else row.claim.epsilon,
        "claim.delta": None if row.claim is None else row.claim.delta,
        "error": row.error,
    }
    for kind, evidence in row.evidence.items():
        for field in fields(evidence):
            value = getattr(evidence, field.name)
            if isinstance(value, str | int | float):  # intervals and nested evidence stay in the row
                record[f"{kind}.{field.name}"] = str(value) if isinstance(value, str) else value
    return record


def _cells(row: Row) -> tuple[str, ...]:
    pair = finding(row)
    attack = row.attack if row.channel is None else f"{row.attack} (side channel: {row.channel})"
    return attack, row.mechanism, sentences.verdict(row), pair.claimed, pair.found, pair.by


def _cell(content: str) -> str:
    text = _text(content)
    return f"<td{LEFT}>{f'<b>{text}</b>' if content in STRONG else text}</td>"


def _text(content: str) -> str:
    return escape(printable(content))
