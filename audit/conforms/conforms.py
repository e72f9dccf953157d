"""Does a sampler follow the law that it declares? All strings of its bits judge it (`bit_strings`), or else runs do.

Runs judge events that are fixed before them: see `conformance`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from subnormal.audit.check.evidence import CheckEvidence, LawEvidence
from subnormal.audit.check.function import Function, OverTimeError, all_refused, isolated
from subnormal.audit.check.function import function as audited_function
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import search
from subnormal.audit.check.words import shown, stated_words
from subnormal.audit.conforms.bit_strings import Sampler, require_types, sampler, takes_bits, walked
from subnormal.audit.conforms.declared_law import Judged, Laws, judged_input, reachable
from subnormal.audit.evidence.sequential import FIRST, SLACK
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours.relations import require_strategy
from subnormal.audit.statistics.conformance import log_e_values, log_mean
from subnormal.audit.text import short
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import require_positive

INPUTS = 4  # that are judged, each at its share of α
BATCH = 1 << 14  # runs of one look, at most
CONFIRMING = 1 << 12  # runs of each input where all strings of bits have the law: a function may draw beside its bits
BESIDE = (
    "all strings of bits have the declared law, and runs do not: the sampler is random beside its bits, or remembers"
)


def conforms(
    function: Callable[..., Any],
    data: SearchStrategy[Any],
    law: Laws,
    *,
    batch: bool = False,
    seconds: float = 60.0,
    runs: int | None = None,
    alpha: float = 1e-6,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda message: None,
) -> Result:
    """Judge whether the outcomes of a sampler follow the law that it declares, on a few inputs.

    A function with a parameter `bits` gets a `BitSource` there, its only randomness. Then all strings of bits are tried
    first, and runs confirm what they say. Runs judge every other function.

    After a batch that raises, the runs of its input are drawn one by one, and wealth begins again, as in `judge.judge`:
    so a batch function needs twice as much. Drawing only that batch again would show too few refusals.

    Args:
        function: takes one input and returns one outcome, as that of `check`.
        data: a Hypothesis strategy of inputs.
        law: law(data) is a `Law`, or a mapping of outcomes to probabilities, floats to nine digits or fractions; the
            rest of the mass lies on other outcomes.
        batch: the function takes (data, runs) and returns a sequence of `runs` outcomes.
        seconds: of all; one call of the function is never interrupted.
        runs: of each input, at most; None: as many as the time allows.
        alpha: the chance that a sampler that follows its law is accused, at most.
        seed: of the inputs, and of the global generators of `random` and numpy meanwhile.
        on_progress: called with a line about the progress now and then.

    Returns:
        The verdict and its evidence, `walk` or `law`.

    Raises:
        TypeError: an argument or the law is of the wrong type, or an outcome equals one of the law's that is of another
            type.
        ValueError: a number is out of range, or the law holds no probabilities.
    """
    require_positive("seconds", seconds)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    require_strategy(data)
    started, walk, notes = time.monotonic(), None, list[str]()
    audited, sample = _audited(function, batch, seed)
    with isolated(seed, audited):
        drawn = search(st.tuples(data, st.just("")), lambda pair: 0.0, seed=seed, seconds=seconds, examples=INPUTS)
        judged = [judged_input(pair[0], law) for _, pair in drawn.ranked[:INPUTS]]
        ends = time.monotonic() + seconds
        if sample is not None:
            on_progress("all strings of bits")
            try:
                walk, why = walked(sample, function, [(one.data, one.law) for one in judged], seconds / 2)
            except ValueError as error:
                why = str(error)
            notes += [f"{why}; so runs judge"] if why else []
        evidence: dict[str, CheckEvidence] = {} if walk is None else {"walk": walk}
        proved = None if walk is None or walk.verdict is Verdict.UNRESOLVED else walk.verdict
        verdict, decided = Verdict.VIOLATED, proved is not None
        if proved is not Verdict.VIOLATED:
            most = runs if proved is None else min(CONFIRMING, runs or CONFIRMING)
            verdict, law_evidence, more = _by_runs(audited, judged, ends - time.monotonic(), most, alpha, on_progress)
            if proved is None:
                evidence, notes = evidence | law_evidence, notes + more
            elif verdict is Verdict.VIOLATED:
                evidence, notes, decided = law_evidence, [*notes, BESIDE], False
            else:
                verdict = Verdict.NOT_REFUTED
    return Result(
        verdict=verdict,
        function=audited.name,
        claim=judged[0].law if judged else None,
        point=None,
        stage="walk" if decided else "runs",
        worlds=None,
        event=None,
        evidence=evidence,
        error=None,
        notes=tuple(notes),
        examples=len(judged),
        runs=audited.runs,
        seconds=time.monotonic() - started,
        seed=seed,
        place=audited.place,
        batch=audited.batch,
        domain=stated_words(data),
    )


def _audited(given: Callable[..., Any], batch: bool, seed: int) -> tuple[Function, Sampler | None]:
    """Return the function under audit, and what is called with bits; a function that takes bits gets seeded ones."""
    if not takes_bits(given):
        return audited_function(given, batch=batch), None
    audited = audited_function(partial(given, bits=seeded_bits(seed, "check")), batch=batch)
    audited.name = getattr(given, "__qualname__", audited.name)
    return audited, sampler(given, batch=batch)


def _by_runs(
    function: Function,
    judged: Sequence[Judged],
    seconds: float,
    runs: int | None,
    alpha: float,
    on_progress: Callable[[str], None],
) -> tuple[Verdict, dict[str, CheckEvidence], list[str]]:
    """Return the verdict, the evidence and notes from runs of each input in turn, in larger and larger batches."""
    found: Judged | None = None
    lost = math.log(2) if function.batch else 0.0  # one e-process ends where a batch raises: two, each with a half
    needed = math.log(len(judged) / alpha) + SLACK + lost if judged else math.inf
    size, most = FIRST, runs or math.inf
    try:
        with function.within(seconds):
            while found is None and judged and min(one.runs for one in judged) < most:
                for one in (one for one in judged if one.runs < most):  # an input that began again lags behind
                    _look(function, one, int(min(size, most - one.runs)))
                    reached = short(one.log_e_value - lost, 3)
                    on_progress(f"{reached} of {short(needed - lost, 3)} nats against the law, {one.runs:,} runs")
                    if one.log_e_value >= needed:
                        found = one
                        break
                size = min(2 * size, BATCH)
    except OverTimeError:
        pass
    could = any(one.runs and reachable(one, one.runs) >= needed for one in judged)
    verdict = Verdict.VIOLATED if found else Verdict.NOT_REFUTED if could else Verdict.UNDERPOWERED
    notes = [_too_few(judged, needed)] if verdict is Verdict.UNDERPOWERED else []
    strongest = found or max(judged, key=lambda one: one.log_e_value, default=None)
    if strongest is None or not strongest.runs:
        return verdict, {}, notes
    event = strongest.events[strongest.strongest]
    count = sum(
        number
        for key, number in strongest.seen.items()
        if (key not in strongest.known if event.atoms is None else key in event.atoms)
    )
    wealth, said = strongest.log_e_value - lost, (event.words, *event.chances, count)
    law = LawEvidence(verdict, shown(strongest.data), strongest.runs, len(judged), alpha, wealth, *said)
    return verdict, {"law": law}, notes


def _too_few(judged: Sequence[Judged], needed: float) -> str:
    """Return a note on how many runs could refute the law."""
    enough = next((1 << power for power in range(40) if any(reachable(one, 1 << power) >= needed for one in judged)), 0)
    more = f": {enough:,} of an input may do" if enough else ""
    return f"so few runs could not have refuted the law, whatever their outcomes{more}"


def _look(function: Function, one: Judged, runs: int) -> None:
    raised = function.raised
    outcomes = [] if one.singly else function.outcomes(one.data, runs)
    if function.raised > raised:
        one.singly, one.seen, one.runs, one.log_e_value = True, Counter(), 0, 0.0
    if one.singly:
        outcomes = [function.outcome(one.data) for _ in range(runs)]
    if one.runs == 0 and all_refused(outcomes) and identity(outcomes[0]) not in one.known:
        raise ValueError(f"every run at {shown(one.data)} raised; the last: {outcomes[-1]}")
    keys = list(map(identity, outcomes))
    strange = {key: outcome for key, outcome in zip(keys, outcomes, strict=True) if key not in one.known}
    require_types([outcome for key, outcome in strange.items() if key not in one.seen], one.law)
    one.seen.update(keys)
    one.runs += runs
    outside = sum(count for key, count in one.seen.items() if key not in one.known)
    counts = [
        outside if event.atoms is None else sum(one.seen[atom] for atom in event.atoms if atom in one.seen)
        for event in one.events
    ]
    logs = log_e_values([event.chances for event in one.events], counts, one.runs)
    one.log_e_value, one.strongest = log_mean(logs), int(np.argmax(logs))
