"""A report as report.json, a document for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from subnormal.audit.model import ExactEvidence, Report, Row, SampledEvidence, SequentialEvidence, TimingEvidence

SCHEMA = "subnormal/report/1"


def to_json(report: Report) -> str:
    """Return the report as one JSON document, schema version 1. The same report gives the same bytes."""
    document = {
        "schema": SCHEMA,
        "version": report.version,
        "seed": report.seed,
        "runs": report.runs,
        "alpha": report.alpha,
        "alpha_per_row": report.alpha_per_row,
        "environment": dict(report.environment),
        "unfinished": list(report.unfinished),
        "rows": [_row_json(row) for row in report.rows],
    }
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair, as JSON too writes it


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "attack": row.attack,
        "channel": row.channel,
        "description": row.description,
        "source": row.source,
        "family": row.family,
        "mechanism": row.mechanism,
        "package": row.package,
        "parameters": _plain(row.parameters),
        "worlds": None if row.worlds is None else dict(zip(("in", "out"), row.worlds, strict=True)),
        "event": row.event,
        "claim": None if row.claim is None else {"epsilon": _number(row.claim.epsilon), "delta": row.claim.delta},
        "advantage_allowed": row.advantage_allowed,
        "visible_below": None if row.channel is None else _plain(row.visible_below),
        "reproducible": row.reproducible,
        "error": row.error,
        "warnings": list(row.warnings),
        "timing": _timing_json(row.timing),
        "exact": _exact_json(row.exact),
        "exhaustive": _exact_json(row.exhaustive),
        "sampled": _sampled_json(row.sampled),
        "sequential": _sequential_json(row.sequential),
    }


def _timing_json(evidence: TimingEvidence | None) -> dict[str, Any] | None:
    return None if evidence is None else _plain(asdict(evidence) | {"verdict": str(evidence.verdict)})


def _exact_json(evidence: ExactEvidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    names = ("epsilon", "delta", "within", "advantage", "total_variation", "event_in", "event_out")
    numbers = {name: _plain(getattr(evidence, name)) for name in names}
    of_event = None if evidence.event_verdict is None else str(evidence.event_verdict)
    return {"verdict": str(evidence.verdict)} | numbers | {"event_verdict": of_event}


def _sampled_json(evidence: SampledEvidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    names = ("runs", "confidence", "epsilon_lower", "event_in", "event_out", "advantage")
    ks, fit = evidence.ks, evidence.fit
    return (
        {"verdict": str(evidence.verdict), "convicted_by": evidence.convicted_by}
        | {name: _plain(getattr(evidence, name)) for name in names}
        | {"ks": {"statistic": ks.statistic, "allowed": ks.allowed, "margin": ks.margin}}
        | {
            "fit": None
            if fit is None
            else {
                "statistic_in": fit.statistic_in,
                "p_in": fit.p_in,
                "statistic_out": fit.statistic_out,
                "p_out": fit.p_out,
            }
        }
    )


def _sequential_json(evidence: SequentialEvidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    names = ("runs", "runs_max", "training", "alpha", "log_e_value", "event", "event_in", "event_out", "looks")
    return {"verdict": str(evidence.verdict)} | {name: _plain(getattr(evidence, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | str:
    return ("inf" if value > 0 else "-inf") if math.isinf(value) else value
