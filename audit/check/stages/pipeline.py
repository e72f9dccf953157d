"""The order of the stages: first calls, stability, then searches by replay and by runs in turn, and judging."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.function import OverTimeError, all_refused, always_raised
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import Pair, written
from subnormal.audit.check.stages.by_runs import by_runs
from subnormal.audit.check.stages.deterministic import deterministic, differing
from subnormal.audit.check.stages.first_call import first_calls, no_longer_answers
from subnormal.audit.check.stages.forked import FirstCallsOf, before_any_call
from subnormal.audit.check.stages.refusals import of_two_kinds
from subnormal.audit.check.stages.replaying import Replaying
from subnormal.audit.check.stages.state import RUNS_LEAST, SHARE, Check
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours.relations import Adjacency
from subnormal.audit.targets.json_lines import TargetError
from subnormal.mechanisms.core.outcome_identity import identity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

ROUNDS = (1 / 32, 1 / 8, 1 / 3)  # of the time, for searches by replay and by runs in turn: half each
JUDGED = 3  # pairs that are judged one after the other where none convicted in the search, at most


def run_stages(check: Check, data: SearchStrategy[Any] | None, relation: Adjacency | None) -> Result:
    """Return what the first stage that decides has found, or the last. A program's mistake is an error.

    data: the domain. relation: of neighbours in it; None where only pairs or a predicate are given.
    """
    try:
        found = _decided(check, data, relation)
        stopped = None if found.verdict in (None, Verdict.VIOLATED) else no_longer_answers(check)
        return found if stopped is None else check.made(found.stage, error=stopped)
    except TargetError as error:
        return check.made(check.stage, error=str(error))


def _decided(check: Check, data: SearchStrategy[Any] | None, relation: Adjacency | None) -> Result:
    with before_any_call(check.function) as first_calls_of:
        pair, firsts = first_calls(check)
        early = _early(check, pair, firsts, first_calls_of)
    if early is not None:
        return early
    try:
        with check.function.within(check.runs.left()):
            two_kinds = None
            with suppress(OverTimeError):
                two_kinds = None if data is None or relation is None else of_two_kinds(check, data, relation)
            return _searched(check, pair, two_kinds)
    except OverTimeError:
        return check.too_slow(pair)


def _early(check: Check, pair: Pair, firsts: list[list[Any]], first_calls_of: FirstCallsOf) -> Result | None:
    """Return what the first calls decide: they raise, take all the time, or have one outcome for each input."""
    if all(all_refused(outcomes) for outcomes in firsts):
        return check.made("first call", error=always_raised(firsts[-1][-1]))
    stopped = no_longer_answers(check)
    if stopped is not None:
        return check.made("first call", error=stopped)
    if check.runs.left() <= 0:
        return check.too_slow(pair)
    if any(len(set(map(identity, outcomes))) > 1 for outcomes in firsts):
        return None
    with suppress(OverTimeError), check.function.within(check.runs.left()):
        different = differing(check)
        return None if different is None else deterministic(check, different, first_calls_of)
    return None


def _searched(check: Check, pair: Pair, two_kinds: Pair | None) -> Result:
    """Return what searches by replay and by runs find. two_kinds: neighbours with outcomes of different kinds."""
    candidates = [pair]
    if two_kinds is not None:
        if check.runs.screening_score(two_kinds) == math.inf:
            return by_runs(check, two_kinds)
        candidates.append(two_kinds)
    replaying = Replaying(check)
    for share in ROUNDS:
        by_replay, hints = replaying.search(share * check.seconds / 2)
        if by_replay is not None:
            return by_replay
        if not check.function.batch and check.runs.left() < RUNS_LEAST * check.function.quickest:
            return check.too_slow(pair)
        screening_score = partial(check.runs.screening_score, readable=share < ROUNDS[-1])  # bits of floats come last
        found = check.search("runs", screening_score, share * check.seconds / 2)
        if found.convicting is not None:
            return by_runs(check, found.convicting)
        ranked = [one for score, one in found.ranked if score > -math.inf]
        candidates = [*ranked, *hints, *candidates]  # the highest scores first
    return _judged(check, candidates)


def _judged(check: Check, candidates: list[Pair]) -> Result:
    """Return what runs show of the most promising pairs, one after the other until one convicts.

    Where no time is left for the last of them, it is what they show of the one before.
    """
    *others, last = check.runs.successive_halving(list({written(one): one for one in candidates}.values()))[:JUDGED]
    notes = check.notes[:]  # those of a pair that runs do not convict are not kept
    judged: list[Result] = []
    for other in others:
        judged.append(by_runs(check, other, check.share_of_alpha(), share=SHARE))
        if judged[-1].verdict is Verdict.VIOLATED:
            return judged[-1]
        check.notes = notes[:]
    judged.append(by_runs(check, last))
    if judged[-1].verdict is not Verdict.UNDERPOWERED:
        return judged[-1]
    telling = [one for one in judged if one.verdict is Verdict.NOT_REFUTED] or judged
    return replace(telling[-1], runs=judged[-1].runs, seconds=judged[-1].seconds)
