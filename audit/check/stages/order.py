"""The order of the stages: first calls, stability, then searches by replay and by runs in turn, and judging."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sized
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.crossing import WayOf, crossed, extent, kind, without_records
from subnormal.audit.check.domain import belongs
from subnormal.audit.check.function import OverTimeError, all_refused, always_raised
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import Pair, is_one_input, search, written
from subnormal.audit.check.stages.by_runs import by_runs
from subnormal.audit.check.stages.deterministic import deterministic, differing
from subnormal.audit.check.stages.first_call import first_calls, no_longer_answers
from subnormal.audit.check.stages.forked import FirstCallsOf, before_any_call
from subnormal.audit.check.stages.replaying import Replaying
from subnormal.audit.check.stages.state import RUNS_LEAST, SHARE, Check
from subnormal.audit.model import Verdict
from subnormal.audit.targets.json_lines import TargetError
from subnormal.mechanisms.core.outcome_identity import identity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

CROSSING_RUNS = 8  # of each input, all of other kinds than those of the other, where a record is left out of both
CROSSING_PAIRS = 256  # inputs of which one run each is looked at, for outcomes of several kinds
ROUNDS = (1 / 32, 1 / 8, 1 / 3)  # of the time, for searches by replay and by runs in turn: half each
JUDGED = 3  # pairs that are judged one after the other where none convicted in the search, at the most


def result(check: Check, data: SearchStrategy[Any] | None, way: WayOf | None) -> Result:
    """Return what the first stage that decides has found, or the last. A program's mistake is an error.

    data: the domain. way: from one input to another, from neighbour to neighbour; None where none is known.
    """
    try:
        found = _decided(check, data, way)
        stopped = None if found.verdict in (None, Verdict.VIOLATED) else no_longer_answers(check)
        return found if stopped is None else check.made(found.stage, error=stopped)
    except TargetError as error:
        return check.made(check.stage, error=str(error))


def _decided(check: Check, data: SearchStrategy[Any] | None, way: WayOf | None) -> Result:
    with before_any_call(check.function) as first_calls_of:
        pair, firsts = first_calls(check)
        early = _early(check, pair, firsts, first_calls_of)
    if early is not None:
        return early
    try:
        with check.function.within(check.runs.left()):
            crossing = None
            with suppress(OverTimeError):
                crossing = _crossing(check, data, way)
            return _searched(check, pair, crossing)
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


def _searched(check: Check, pair: Pair, crossing: Pair | None) -> Result:
    """Return what searches by replay and by runs find. crossing: neighbours with outcomes of different kinds."""
    suspicious = [pair]
    if crossing is not None:
        if check.runs.loudness(crossing) == math.inf:
            return by_runs(check, crossing)
        suspicious.append(crossing)
    replaying = Replaying(check)
    for share in ROUNDS:
        by_replay, hints = replaying.search(share * check.seconds / 2)
        if by_replay is not None:
            return by_replay
        if not check.function.batch and check.runs.left() < RUNS_LEAST * check.function.quickest:
            return check.too_slow(pair)
        loudness = partial(check.runs.loudness, readable=share < ROUNDS[-1])  # bits of floats come last
        found = check.search("runs", loudness, share * check.seconds / 2)
        if found.convicting is not None:
            return by_runs(check, found.convicting)
        ranked = [one for score, one in found.ranked if score > -math.inf]
        suspicious = [*ranked, *hints, *suspicious]  # the loudest first
    return _judged(check, suspicious)


def _judged(check: Check, suspicious: list[Pair]) -> Result:
    """Return what runs show of the most promising pairs, one after the other until one convicts.

    Where no time is left for the last of them, it is what they show of the one before.
    """
    *others, last = check.runs.race(list({written(one): one for one in suspicious}.values()))[:JUDGED]
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


def _crossing(check: Check, data: SearchStrategy[Any] | None, way_of: WayOf | None) -> Pair | None:
    """Return neighbours whose outcomes are of different kinds; None where no such are found."""
    if way_of is None:
        return None
    seen: dict[tuple[Any, int], Any] = {}  # by size too: where neighbours have one size, no way leads to another

    def kind_at(one: Any) -> Any:
        return kind(check.function.outcome(one))

    def looked(pair: Pair) -> float:
        size = len(pair[0]) if isinstance(pair[0], Sized) else 0
        seen.setdefault((kind_at(pair[0]), size), pair[0])
        return extent(pair[0])  # large inputs are those that overflow and underflow

    seconds = check.seconds / 16
    search(check.strategy, looked, seed=check.seed, seconds=seconds, shrinking=0.0, examples=CROSSING_PAIRS)
    for ((kind_of_one, _), one), ((kind_of_other, _), other) in combinations(seen.items(), 2):
        if kind_of_one == kind_of_other or (way := way_of(one, other)) is None:
            continue
        with check.function.within(seconds):
            pair = crossed(way, kind_at)
        if all(belongs(data, end) for end in pair) and len(set(map(kind_at, pair))) == 2:
            return _small(check, data, pair, kind_at, seconds)
    return None


def _small(
    check: Check, data: SearchStrategy[Any] | None, pair: Pair, kind_at: Callable[[Any], Any], seconds: float
) -> Pair:
    """Return the neighbours without the records that their outcomes' kinds do not need, as far as the time allows."""
    until = time.monotonic() + seconds

    def differs(shorter: Pair) -> bool:
        if is_one_input(shorter) or not all(belongs(data, end) for end in shorter):
            return False
        with suppress(OverTimeError), check.function.within(until - time.monotonic()):
            one, other = ({kind_at(end) for _ in range(CROSSING_RUNS)} for end in shorter)
            return one.isdisjoint(other)
        return False

    return without_records(pair, differs)
