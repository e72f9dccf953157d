"""A row in sentences: what its evidence shows and what it does not show, its verdict, and the source of the verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

from subnormal.audit.model import (
    MEASURED,
    ExactEvidence,
    Row,
    SampledEvidence,
    SequentialEvidence,
    TimingEvidence,
    Verdict,
)
from subnormal.audit.report import proofs
from subnormal.audit.statistics import binomial
from subnormal.audit.text import counted, interval, percent, short
from subnormal.mechanisms.families import member

ERROR = "ERROR"
NO_VERDICT = "NO VERDICT"  # a note says why
SEVERITY = (
    str(Verdict.VIOLATED),
    ERROR,
    str(Verdict.UNRESOLVED),
    str(Verdict.UNDERPOWERED),
    str(Verdict.NOT_REFUTED),
    str(Verdict.HOLDS),
    MEASURED,
    NO_VERDICT,
)
PROVED = ("exact", "exhaustive")


def verdict(row: Row) -> str:
    """Return the verdict of a row, ERROR, NO VERDICT with a note, or MEASURED by a clock; without these UNRESOLVED."""
    if row.error is not None:
        return ERROR
    if row.note is not None:
        return NO_VERDICT
    return str(row.verdict or (Verdict.UNRESOLVED if row.timing is None else MEASURED))


def severity(row: Row) -> int:
    """Return the rank of the row's verdict, 0 for the most severe."""
    return SEVERITY.index(verdict(row))


def is_exact(row: Row) -> bool:
    """Return whether the row's mechanism is an exact member, built to keep its claim to the last bit.

    A variant of an exact member is not exact: it draws the same outcomes, but a side channel may reveal more.
    """
    try:
        mechanism = member(row.mechanism)
    except (LookupError, ValueError):
        return False
    return mechanism.exact and not mechanism.variant_of


def kinds(row: Row) -> list[str]:
    """Return the kinds of evidence that have the row's verdict, or the clock that measured."""
    if verdict(row) == MEASURED:
        return ["timing"]
    return [kind for kind, evidence in row.evidence.items() if str(evidence.verdict) == verdict(row)]


def known(row: Row) -> str:
    """Return the source of the row's verdict, for a table."""
    return ", ".join(kind if kind in PROVED else f"{kind} at {percent(confidence(row))}" for kind in kinds(row)) or "–"


def confidence(row: Row) -> float:
    """Return the confidence of the row's runs."""
    judged = row.sampled or row.timing
    if judged is not None:
        return judged.confidence
    return 1.0 if row.sequential is None else 1 - row.sequential.alpha


def runs_needed(row: Row) -> int | None:
    """Return the runs of each world that a row needs for a verdict; None if no affordable number is enough."""
    if row.claim is None:
        return None
    alpha = 1 - confidence(row)
    if row.sampled is not None:
        alpha, _ = binomial.parts(alpha, 2 if row.sampled.ks.margin else 1)
    try:
        return binomial.runs_needed(alpha, row.claim.epsilon, row.claim.delta)
    except ValueError:
        return None


def decides(row: Row) -> list[str]:
    """Return the paragraphs for the evidence that has the row's verdict; without any, those for the row."""
    return says(row, kinds(row))


def says(row: Row, among: Collection[str] | None = None) -> list[str]:
    """Return a paragraph for each kind of the row's evidence (among these): what it shows and what it does not show."""
    if row.error is not None:
        return [f"The row has an error, so there is no verdict on this claim: {row.error}"]
    if row.note is not None:
        return [f"There is no verdict on this claim: {row.note}"]
    chosen = {kind: evidence for kind, evidence in row.evidence.items() if among is None or kind in among}
    paragraphs = [sentence for kind, evidence in chosen.items() for sentence in _says(kind, evidence, row)]
    if {Verdict.HOLDS, Verdict.VIOLATED} <= {evidence.verdict for evidence in row.evidence.values()}:
        paragraphs.append(
            "The law and the runs contradict each other: either this is a false alarm, whose probability is stated, or "
            "the law is not that of the code that ran."
        )
    decided = proofs.of(row.mechanism) if among is None and row.channel is None and is_exact(row) else None
    if decided is not None:
        paragraphs.append(
            f"Beyond these two worlds: the claim of {row.mechanism} holds for all {proofs.pairs(decided)} ordered "
            f"pairs of neighbours of the domain {decided.domain}, as `subnormal prove` decides."
        )
    if paragraphs and row.channel is not None and row.timing is None:  # the text of timing evidence says so itself
        paragraphs.append(
            f"This verdict is about the pair (outcome, {row.channel}), as if the claim had been made for it. A claim "
            f"about outcomes alone says nothing about {row.channel}, and is not violated by it."
        )
    return paragraphs or ["There are no runs and no law, so there is no verdict on this claim."]


def _says(kind: str, evidence: Any, row: Row) -> Iterator[str]:
    if isinstance(evidence, ExactEvidence):
        source = "the exact laws of both worlds" if kind == "exact" else "every string of random bits through the code"
        yield _proved(evidence, source, row)
    elif isinstance(evidence, SampledEvidence):
        yield _from_runs(evidence, row)
    elif isinstance(evidence, SequentialEvidence):
        yield _from_bets(evidence, row)
    elif isinstance(evidence, TimingEvidence):
        yield from _from_times(evidence)


def _proved(evidence: ExactEvidence, source: str, row: Row) -> str:
    claimed = claim(row)
    if evidence.verdict is Verdict.VIOLATED:
        loss = (
            "some outcome is possible in one of the worlds alone, a loss of ∞"
            if math.isinf(evidence.epsilon)
            else f"the loss is {short(evidence.epsilon)} nats"
        )
        return (
            f"Proved for this pair of worlds, from {source}, in integers, without any probability of error. The claim "
            f"is {claimed}; {loss}, and the claimed ε would need a δ of {short(evidence.delta)}. {_by_event(evidence)}"
            "Not shown: the loss on other data, which may be larger."
        )
    if evidence.verdict is Verdict.HOLDS:
        up_to = f", up to a δ of {short(evidence.within, 2)} that the bounds leave open" if evidence.within else ""
        return (
            f"Proved, from {source}: on this pair of worlds no event violates {claimed}{up_to}. "
            "Not shown: any other pair of worlds, other parameters, time and other side channels."
        )
    return (
        f"The bounds from {source} are too far apart to decide: they neither refute {claimed} on this pair of worlds "
        f"nor prove it; the upper one is {short(evidence.within)} above the claimed δ."
    )


def _by_event(evidence: ExactEvidence) -> str:
    if evidence.event_verdict is Verdict.HOLDS:
        return "Other outcomes show it: the event that this attacker looks for does not violate the claim. "
    if evidence.event_verdict is Verdict.UNRESOLVED:
        return "For the event that this attacker looks for, the bounds do not decide. "
    return ""


def _from_runs(evidence: SampledEvidence, row: Row) -> str:
    runs = f"{counted(evidence.runs, 'run')} of each world"
    if evidence.verdict is Verdict.VIOLATED:
        result = (
            f"{runs} show the event with a probability in {interval(evidence.event_in)} in one world and in "
            f"{interval(evidence.event_out)} in the other: more than {claim(row)} allows."
        )
        if evidence.convicted_by == "distance":
            apart, allowed = short(evidence.ks.statistic - evidence.ks.margin, 3), short(evidence.ks.allowed, 3)
            result = (
                f"{runs} differ more than {claim(row)} allows, though not by the event: the distance of the "
                f"distribution functions (Kolmogorov-Smirnov) is at least {apart}, and {allowed} is allowed."
            )
        return (
            f"{result} The loss is at least {short(evidence.epsilon_lower, 3)} nats. If the claim were true, runs "
            f"would show this with a probability of at most {short(1 - evidence.confidence, 2)}."
        )
    if evidence.verdict is Verdict.UNDERPOWERED:
        return f"{runs} are too few: {_too_few(row, 'at least')}"
    if row.exact or row.exhaustive:
        return f"{runs} do not refute it by this event or their distance; alone, that would be no evidence of privacy."
    return (
        f"{runs} do not refute {claim(row)} by this event or their distance. That is no evidence of privacy: another "
        "event, other data or more runs may refute it."
    )


def _too_few(row: Row, about: str) -> str:
    needed = runs_needed(row)
    more = (
        "no affordable number would be enough"
        if needed is None
        else f"that takes {about} {needed:,} runs of each world"
    )
    proved = any(row.evidence[kind].verdict is not Verdict.UNRESOLVED for kind in PROVED if kind in row.evidence)
    law = " The exact law decides where runs cannot." if proved else ""
    return f"they could not convict even a mechanism that reveals its world in every run; {more}.{law}"


def _from_bets(evidence: SequentialEvidence, row: Row) -> str:
    runs, needed = f"{counted(evidence.runs, 'run')} of each world", short(1 / evidence.alpha)
    if evidence.verdict is Verdict.VIOLATED:
        return (
            f"A bet against {claim(row)} won {needed} times its stake within {runs}. If the claim were true, it would "
            f"ever do so with a probability of at most {short(evidence.alpha, 2)}, however often one looks."
        )
    if evidence.verdict is Verdict.UNDERPOWERED:
        return f"{runs} are too few: {_too_few(row, 'about')}"
    if row.exact or row.exhaustive:
        return f"In {runs} a bet against it did not win {needed} times its stake; that is no evidence of privacy."
    return (
        f"In {runs} a bet against {claim(row)} did not win {needed} times its stake. That is no evidence of privacy: "
        "another event, other data or more runs may refute it."
    )


def _from_times(evidence: TimingEvidence) -> Iterator[str]:
    results = {
        Verdict.VIOLATED: "a single time reveals more than the claim would allow if it had been made for the "
        "pair (outcome, time)",
        Verdict.UNDERPOWERED: "so few could not have shown that a time reveals more than the claim would allow",
    }
    none = (
        "no time was seen to reveal more than the claim would allow if it had been made for the pair (outcome, time); "
        "that is no evidence of privacy"
    )
    yield (
        f"From {evidence.measurements:,} measurements on this machine: {results.get(evidence.verdict, none)}. A claim "
        "about outcomes alone says nothing about time, and is not violated by it."
    )
    differ = "The worlds do differ" if evidence.detected else "No difference of the worlds was seen"
    yield (
        f"{differ} (sign test, p = {short(evidence.sign_p, 1)}). Times change from run to run, so the row has no "
        "verdict. Caches, branches and power were not measured."
    )


def claim(row: Row) -> str:
    """Return the row's claim in words."""
    if row.claim is None:
        return "the claim"
    return f"ε = {short(row.claim.epsilon)}" + (f", δ = {short(row.claim.delta, 3)}" if row.claim.delta else "")
