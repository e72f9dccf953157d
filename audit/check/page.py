"""The result of a check as one self-contained page: the two inputs, the event, the evidence, and a test to paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subnormal.attacks.core.event_words import in_words
from subnormal.audit.check import regression, words
from subnormal.audit.check.evidence import CheckEvidence, ModelledEvidence, StabilityEvidence
from subnormal.audit.engine import provenance
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.report import row_charts
from subnormal.audit.report.svg import Panel
from subnormal.audit.report.to_html import filled
from subnormal.audit.text import counted, percent, short

SURE = {
    "modelled": "From a replay: the function ran on one input, and again on the other with the same noise. This "
    "assumes that the known primitives draw what their names say; their own flaws are not looked for. Runs that were "
    "not recorded have outcomes as this says.",
    "followed": "From the laws of the function's own code: all paths that its random numbers lead to, and their "
    "probabilities. This assumes that the words of its generators are uniform and independent, and that nothing else "
    "is random. Ordinary runs agree.",
    "law": "From runs, by events that the law alone has fixed before them.",
    "walk": "From all strings of the sampler's random bits, each of them asked several times. There is no probability "
    "of error where the sampler is a function of its bits, as it was each time.",
}
NOT_PRIVATE = (
    "No verdict says that a function is private: only the pairs that were tried say anything, and only of themselves."
)

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result


@dataclass(frozen=True, slots=True)
class Noise:
    """A line of the table of releases, in words."""

    site: str
    primitive: str
    scale: str
    data_in: str
    data_out: str
    loss: str


def to_html(result: Result) -> str:
    """Return the page."""
    return filled("check.html.jinja", panels=_panels(result), **_values(result))


def in_notebook(result: Result) -> str:
    """Return the page without its pictures and its style, for a cell of a notebook."""
    return filled("check_body.html.jinja", **_values(result))


def _values(result: Result) -> dict[str, Any]:
    """Return what the templates show, by name."""
    convicted = result.verdict is Verdict.VIOLATED
    spent = {"pairs tried": f"{result.examples:,}", "runs": f"{result.runs:,}", "seconds": short(result.seconds, 3)}
    spent["seed"] = str(result.seed)
    of_grid = None if result.grid is None else words.grid_words(result.grid)
    made_with = {"command": result.command, "commit": provenance.commit(), **provenance.versions(result.place)}
    return {
        "result": result,
        "verdict": "ERROR" if result.verdict is None else str(result.verdict),
        "claim": words.claim_words(result.claim),
        "point": None if result.point in (None, result.claim) else words.claim_words(result.point),
        "grid": of_grid,
        "ended": " ".join(words.ended(result)).capitalize(),
        "worlds": None if result.worlds is None else tuple(map(words.shown, result.worlds)),
        "event": in_words(result.event) if convicted and result.event is not None else None,
        "evidence": [(kind, words.evidence_words(one)) for kind, one in result.evidence.items()],
        "sure": [_sure(kind, one) for kind, one in result.evidence.items()],
        "noise": _noise(result),
        "test": regression.as_test(result) if convicted else None,
        "not_private": NOT_PRIVATE,
        "spent": spent,
        "made_with": {name: value for name, value in made_with.items() if value is not None},
    }


def _sure(kind: str, evidence: CheckEvidence) -> str:
    if isinstance(evidence, StabilityEvidence):
        if evidence.verdict is not Verdict.VIOLATED:
            return "No pair that was tried exceeds the bound; others may."
        return "The function returns the same at each call; one pair of outputs is a proof."
    if isinstance(evidence, SequentialEvidence):
        shown = "and these runs do not accuse it: that is no evidence of privacy"
        if evidence.verdict is Verdict.VIOLATED:
            shown = f"so the violation is shown at {percent(1 - evidence.alpha)}"
        return (
            f"From {counted(evidence.runs, 'fresh run')} of each input, after the search and the learning of the "
            "event. A function that keeps its claim is accused with probability "
            f"{short(evidence.alpha)} at most, {shown}."
        )
    return SURE[kind]


def _noise(result: Result) -> list[Noise]:
    """Return a line for the release whose loss counts."""
    losses = [one.release for one in result.evidence.values() if isinstance(one, ModelledEvidence)]
    return [
        Noise(
            site=one.site,
            primitive=one.primitive,
            scale=short(one.scale),
            data_in=short(one.location_in),
            data_out=short(one.location_out),
            loss=short(one.loss) + (" (μ)" if one.kind == "Gaussian" else ""),
        )
        for one in losses
    ]


def _panels(result: Result) -> list[Panel]:
    """Return the running e-value of runs that judged."""
    return [
        row_charts.running_e_value(one, result.function)
        for one in result.evidence.values()
        if isinstance(one, SequentialEvidence) and one.looks[-1][0] > 0
    ]
