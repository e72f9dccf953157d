"""The result of a check in words: for a terminal, and for an assertion's message."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from subnormal.attacks.core.event_words import in_words
from subnormal.audit.check.evidence import (
    CheckEvidence,
    FollowedEvidence,
    LawEvidence,
    ModelledEvidence,
    ModelledLoss,
    StabilityEvidence,
    Stage,
    WalkEvidence,
)
from subnormal.audit.check.regression import as_test
from subnormal.audit.engine.provenance import versions
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.text import DIGITS_MAX, counted, given, quoted, short, short_apart
from subnormal.audit.values.distance import rounded
from subnormal.audit.values.literal import literal
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.curves import AnyClaim, Gdp, Profile, Renyi
from subnormal.mechanisms.privacy import Claim, Zcdp

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result

STAGES = {
    "first call": "the first calls",
    "stability": "stability: each input has one outcome in all its runs",
    "law": "the laws of the function's own code",
    "replay": "replay: both inputs received the same noise",
    "runs": "runs",
    "walk": "all strings of random bits",
}
WIDTH, INDENT = 80, 14  # columns of a line, and before its text
PROGRESS = 40  # characters of an input in a line of progress
DIGITS = 6  # of probabilities
EVENT = 400  # characters of an event in words
STATED = 1_000  # characters of a domain


def claim_words(claim: AnyClaim | object) -> str:
    """Return a claim as a user writes it.

    >>> claim_words(Claim(1.0, 1e-6)), claim_words(Zcdp(0.5))
    ('epsilon = 1, delta = 1e-06', 'rho = 0.5 (zCDP)')
    """
    match claim:
        case Claim(epsilon, delta):
            return f"epsilon = {given(epsilon)}" + (f", delta = {given(delta)}" if delta else "")
        case Zcdp(rho):
            return f"rho = {given(rho)} (zCDP)"
        case Gdp(mu):
            return f"mu = {given(mu)} (Gaussian DP)"
        case Renyi(alpha, epsilon):
            return f"a Rényi divergence of order {given(alpha)} of at most {given(epsilon)}"
        case Profile(delta):
            return f"the profile {getattr(delta, '__name__', 'delta')}(epsilon)"
        case Law():
            return "the declared law"
    return "a bound on the distance of outputs" if claim is None else "a claim that depends on the inputs"


def lines(result: Result) -> list[str]:
    """Return the result as lines for a terminal, of 80 columns where their words are no longer."""
    head = "ERROR" if result.verdict is None else str(result.verdict)
    pairs, runs = counted(result.examples, "pair"), counted(result.runs, "run")
    spent = f"{pairs}, {runs}, {short(result.seconds, 3)} s, seed {result.seed}"
    named = [("claim", claim_words(result.claim)), ended(result)]
    if result.severity is not None:
        named.append(("severity", str(result.severity)))
    if result.grid is not None:
        named.append(("grid", grid_words(result.grid)))
    if result.error is not None:
        named.append(("error", result.error))
    if result.worlds is not None:
        named += [("in", shown(result.worlds[0])), ("out", shown(result.worlds[1]))]
    if result.event is not None:
        named.append(("event", _event_words(result.event)))
    if result.point is not None and result.point != result.claim:
        named.append(("point", f"{claim_words(result.point)}, which the claim implies"))
    named += [(kind, evidence_words(evidence)) for kind, evidence in result.evidence.items()]
    if result.detectable is not None:
        named.append(("silence", f"these runs would have shown {result.detectable}"))
    named += [("note", note) for note in result.notes]
    return [f"{head}  {result.function}  ({spent})", *(line for one in named for line in _wrapped(*one))]


def issue(result: Result) -> str:
    """Return the result as a bug report in Markdown: the claim, both inputs, the event, the evidence, and a test."""
    if result.verdict is not Verdict.VIOLATED:
        return "\n".join(["Nothing to report: no violation was found.", "", *(f"    {line}" for line in lines(result))])
    test, made = as_test(result), ", ".join(f"{name} {number}" for name, number in versions(result.place).items())
    inputs = [f"data_{name} = {shown(data)}" for name, data in zip(("in", "out"), result.worlds or (), strict=False)]
    facts = [
        *([] if result.severity is None else [f"Severity: {result.severity}."]),
        *([] if result.event is None else [f"The event that tells them apart: {_event_words(result.event)}."]),
        *([] if result.grid is None else [f"{grid_words(result.grid).capitalize()}."]),
        *(f"{kind.capitalize()} evidence: {evidence_words(one)}." for kind, one in result.evidence.items()),
        *(f"Note: {note}." for note in result.notes),
    ]
    parts = [
        f"# {result.function} breaks its claim: {claim_words(result.claim)}",
        "Two neighbouring inputs on which it does:",
        _code(inputs),
        *facts,
        *([] if test is None else ["A test that fails until the claim holds on these inputs:", _code([test.rstrip()])]),
        f"Made with {made}; seed {result.seed}, {result.runs:,} runs.",
    ]
    return "\n\n".join(parts)


def _code(of_python: list[str]) -> str:
    return "\n".join(["```python", *of_python, "```"])


def grid_words(grid: float) -> str:
    return f"every float in an outcome was rounded to a multiple of {short(grid, 17)}"


def ended(result: Result) -> tuple[str, str]:
    """Return what decided; where the time was over before anything could, the stage that was at work then."""
    by_time = result.verdict is Verdict.UNDERPOWERED and not result.evidence
    return ("ended in" if by_time else "decided by"), STAGES[result.stage]


def _wrapped(name: str, text: str) -> list[str]:
    """Return a name with its text on lines that fit."""
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return wrap(text, WIDTH, initial_indent=f"  {name:<11} ", subsequent_indent=INDENT * " ", **options)


def _event_words(event: Mapping[str, Any]) -> str:
    words = in_words(event)
    return words if len(words) <= EVENT else f"{words[: EVENT - 1]}…"


def shown(data: object) -> str:
    """Return an input as a Python expression, or shortened."""
    return literal(data) or quoted(repr(data))


def stated_words(stated: object) -> str | None:
    """Return a strategy or a relation of neighbours as its text, the same in each process; None for none.

    >>> stated_words(sorted), stated_words(None)
    ('sorted', None)
    """
    if stated is None:
        return None
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", getattr(stated, "__qualname__", None) or repr(stated))
    return text if len(text) <= STATED else f"{text[: STATED - 1]}…"


def pair_words(pair: tuple[Any, Any]) -> str:
    """Return two inputs for a line of progress, shortened."""
    texts = [text if len(text) <= PROGRESS else f"{text[: PROGRESS - 1]}…" for text in map(shown, pair)]
    return f"in {texts[0]}, out {texts[1]}"


def progress_words(stage: Stage, score: float, claim: AnyClaim, pair: tuple[Any, Any]) -> str:
    """Return what a search says of its best pair so far, its score against the claim; nothing where there is none.

    >>> progress_words("replay", 3.0, Claim(1.0), ([1], []))
    '; best: a loss of 3 against epsilon = 1, in [1], out []'
    """
    if stage in ("first call", "stability") or score in (0.0, -math.inf):
        return ""
    if score == math.inf:
        return f"; shrinking one that convicts: {pair_words(pair)}"
    nats = f"{short(score, 3)} nats in 1,000 runs" if score >= 0 else f"a loss {short(-score, 3)} nats below"
    loss = f"a loss of {short(score)}" if stage == "replay" else nats
    return f"; best: {loss} against {claim_words(claim)}, {pair_words(pair)}"


def judging_words(log_wealth: float, runs: int, alpha: float) -> str:
    """Return the evidence of runs so far."""
    e_value = short(math.exp(min(700.0, log_wealth)), 3)
    return f"{counted(runs, 'run')}, e-value {e_value} of {short(1 / alpha)} that refutes"


def evidence_words(evidence: CheckEvidence) -> str:
    """Return what one kind of evidence says, in a sentence."""
    if isinstance(evidence, StabilityEvidence):
        return _stability_words(evidence)
    if isinstance(evidence, LawEvidence):
        return _law_words(evidence)
    if isinstance(evidence, WalkEvidence):
        return _walk_words(evidence)
    if isinstance(evidence, FollowedEvidence):
        return _followed_words(evidence)
    if isinstance(evidence, SequentialEvidence):
        counts = f"the event in {evidence.event_in:,} of {counted(evidence.runs, 'run')} in, {evidence.event_out:,} out"
        e_value = f"e-value {short(math.exp(min(700.0, evidence.log_e_value)), 3)}, {short(1 / evidence.alpha)} refutes"
        return f"{counts}: {e_value}"
    return _modelled_words(evidence)


def _stability_words(evidence: StabilityEvidence) -> str:
    one, other = map(shown, evidence.outputs)
    apart, most = (short(rounded(number), 6) for number in (evidence.distance, evidence.bound))
    more = "more than" if evidence.verdict is Verdict.VIOLATED else "not more than"
    if apart == most and evidence.verdict is Verdict.VIOLATED:  # 1 apart, 2.2e-16 more than the bound 1
        more = f"{short(rounded(Fraction(evidence.distance) - Fraction(evidence.bound)))} {more}"
    return f"the outputs {one} and {other} lie {apart} apart ({evidence.norm}), {more} the bound {most}"


def _law_words(evidence: LawEvidence) -> str:
    chance = _chance_words((evidence.low, evidence.high))
    e_value, needed = short(math.exp(min(700.0, evidence.log_e_value)), 3), short(evidence.inputs / evidence.alpha, 3)
    share = f"a share of {short(evidence.seen / evidence.runs, 6)} where the law has {chance}"
    seen = f"{evidence.event} in {evidence.seen:,} of {counted(evidence.runs, 'run')} at {evidence.data}"
    return f"{seen}, {share}: e-value {e_value}, {needed} refutes"


def _walk_words(evidence: WalkEvidence) -> str:
    strings = f"all strings of {counted(evidence.bits, 'bit')} at {evidence.data}"
    if evidence.event is None or evidence.walked is None or evidence.declared is None:
        agreed = evidence.verdict is Verdict.HOLDS
        said = "have the declared law" if agreed else "do not contradict the declared law"
        inputs = f", and of {counted(evidence.inputs - 1, 'other input')}" if evidence.inputs > 1 else ""
        return f"{strings}{inputs} {said}; a share of {short(evidence.undecided, 3)} needs more bits"
    for digits in range(DIGITS, DIGITS_MAX + 1):
        walked, declared = (_chance_words(ends, digits) for ends in (evidence.walked, evidence.declared))
        if walked != declared:
            break
    beyond = ", which no float tells from it" if walked == declared else ""
    return f"{strings}: {evidence.event} with probability {walked}, where the law has {declared}{beyond}"


def _followed_words(evidence: FollowedEvidence) -> str:
    epsilons = short_apart(evidence.epsilon, evidence.claim.epsilon)
    chances = [_chance_words(ends) for ends in (evidence.event_in, evidence.event_out)]
    return (
        f"the event has probability {chances[0]} in, {chances[1]} out: epsilon is at least {epsilons[0]}, against "
        f"{claim_words(evidence.claim)}, if the generator's words are uniform and independent; "
        f"{counted(evidence.paths, 'path')} of the code, all but a share of {short(evidence.rest, 3)}; "
        f"{counted(evidence.runs, 'ordinary run')} of each input agree"
    )


def _chance_words(ends: tuple[float, float], digits: int = DIGITS) -> str:
    """Return bounds on a probability, as one number where they print alike."""
    return " to ".join(dict.fromkeys(short(end, digits) for end in ends))


def _modelled_words(evidence: ModelledEvidence) -> str:
    epsilons = short_apart(evidence.epsilon, evidence.claim.epsilon)
    deltas = short_apart(evidence.delta, evidence.claim.delta)
    point = f"epsilon = {epsilons[1]} and delta = {deltas[1]}"
    found = f"epsilon is at least {epsilons[0]}, delta at least {deltas[0]}"
    return (
        f"{_loss_words(evidence.release)}: {found}, against {point}, if primitives draw what their names say, and "
        f"nothing else is random; {counted(evidence.runs, 'unrecorded run')} of each input agree"
    )


def _loss_words(loss: ModelledLoss) -> str:
    moved = f"{short(loss.location_in)} in, {short(loss.location_out)} out"
    scale = f"scale {short(loss.scale)}"
    if loss.scale_in is not None and loss.scale_out is not None:
        scale = f"the scales {short(loss.scale_in)} in, {short(loss.scale_out)} out"
    return f"{loss.site}, {loss.primitive} of {scale} is added to {moved}"
