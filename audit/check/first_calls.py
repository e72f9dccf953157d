"""The first calls of a check: a few runs of a few inputs, and the search for a function without noise.

Equal outcomes at each call of an input, and different ones on two neighbours: without noise, no finite ε is kept. But
no number of calls proves that a function has no noise: it may draw from a source that nobody watches, and seldom show
it. So there is no exact evidence here. Runs judge, at their α.

A function that keeps its answers (`functools.cache`) draws at the first call of an input, and has one outcome in all of
its runs: in its own process, nothing tells it from a function without noise. So a process is forked before the function
is called, and the first calls of the pair are made there once more.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from multiprocessing.connection import Connection
from typing import Any

from subnormal.audit.check.function import (
    Function,
    OverTimeError,
    all_refused,
    always_raised,
    are_early,
    reseed,
    stopped_answering,
)
from subnormal.audit.check.judge import certain, judge
from subnormal.audit.check.score import runs_needed
from subnormal.audit.check.search import Pair
from subnormal.audit.check.state import SHARE, Check, Finding
from subnormal.audit.check.words import pair_words
from subnormal.audit.model import Verdict
from subnormal.audit.randomness.primitives import drawn_from
from subnormal.audit.text import counted
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

FIRST_PAIRS = 8  # pairs of the first calls
FIRST_RUNS = 4  # runs of each of their inputs
SAME = 100  # equal runs of each of two inputs after which a function may be one without noise
REPEATS = (
    "repeats its answers: in a process of its own, the first call of an input draws noise that later calls do not draw "
    "again, so its runs show nothing; pass fresh=, a function of no arguments that returns it without its answers"
)
SECONDS = 5.0  # for the first calls of two inputs in another process, at most
COUNTED_SECONDS = 60.0  # where no clock may decide: a process that hangs is ended all the same


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """What the first calls of two inputs did. outcomes: their identities. draws: whether the later one drew. keeps:
    whether a second call of its input drew no more, and had the same outcome."""

    outcomes: tuple[Any, Any]
    draws: bool
    keeps: bool


FirstCallsOf = Callable[[Pair], "FirstCalls | None"]


def make_first_calls(check: Check) -> tuple[Pair, list[list[Any]]]:
    """Return the first pair, and the outcomes of some runs of some inputs, a list for each input."""
    outcomes: list[list[Any]] = []
    pairs: list[Pair] = []

    def called(pair: Pair) -> float:
        pairs.append(pair)
        for data in pair:
            if outcomes and check.function.left() <= 0:
                break
            drawn = check.function.outcomes(data, 1)
            more = 0 if check.function.is_too_slow(8 * FIRST_RUNS * FIRST_PAIRS) else FIRST_RUNS - 1
            outcomes.append(drawn + check.function.outcomes(data, more))
            answers = sum(1 for _ in takewhile(lambda outcome: not isinstance(outcome, Refused), outcomes[-1]))
            check.answered = max(check.answered, (answers, data), key=lambda one: one[0])
        return 0.0

    check.search("first call", called, check.seconds / 8, examples=FIRST_PAIRS)
    return pairs[0], outcomes


def decide_by_first_calls(check: Check, pair: Pair, outcomes: list[list[Any]]) -> Finding | None:
    """Return what the first calls decide: all raise, or there is no time for more of them."""
    raised = all(map(all_refused, outcomes))
    error = always_raised(outcomes[-1][-1]) if raised else no_longer_answers(check)
    if raised:
        tried = f"{counted(len(outcomes), 'input')} were tried"
        check.notes.append(f"{tried}: where the function needs others, let the strategy draw these (min_size=)")
    if error is not None:
        return check.finding("first call", error=error)
    return check.too_slow(pair) if check.function.left() <= 0 else None


def no_longer_answers(check: Check) -> str | None:
    """Return the error of a function that refuses an input again and again that it answered in its first calls."""
    (answers, data), refusals = check.answered, 0
    if answers == 0 or check.function.last_answer == check.function.runs:
        return None
    with suppress(OverTimeError), check.function.within(SHARE * check.seconds):
        while isinstance(outcome := check.function.outcome(data), Refused):
            refusals += 1
            if are_early(answers, answers, answers + refusals):
                return stopped_answering(check.function, outcome)
    return None


def find_noiseless(check: Check, outcomes: list[list[Any]], first_calls_of: FirstCallsOf) -> Finding | None:
    """Return what runs show of neighbours with one outcome each, where the first calls of no input differed."""
    if all(len(set(map(identity, of_input))) == 1 for of_input in outcomes):
        with suppress(OverTimeError), check.function.within(check.function.left()):
            pair = find_differing(check)
            return None if pair is None else _judge_noiseless(check, pair, first_calls_of)
    return None


def find_differing(check: Check) -> Pair | None:
    """Return two neighbouring inputs with different outcomes, each the same in all runs."""

    def differ(pair: Pair) -> float:
        one, other = (identity(check.function.outcome(data)) for data in pair)
        return 0.0 if one == other else math.inf

    found = check.search("stability", differ, check.seconds / 8)
    if found.convicting is None or 2 * SAME * check.function.quickest > SHARE * check.function.left():
        return None  # the quickest run counts: only first calls may be slow
    try:
        with check.function.within(SHARE * check.function.left()):
            same = [{identity(check.function.outcome(data)) for _ in range(SAME)} for data in found.convicting]
    except OverTimeError:
        return None
    return found.convicting if all(len(outcomes) == 1 for outcomes in same) and same[0] != same[1] else None


def _judge_noiseless(check: Check, pair: Pair, first_calls_of: FirstCallsOf) -> Finding | None:
    """Return what runs show of a pair whose inputs have one outcome each; None where they do not refute the claim.

    There is an error in place of a verdict where first calls draw, and later ones repeat their outcomes.
    """
    first = first_calls_of(pair)
    if first is not None and (_repeats(check, pair, first) or _keeps_answers(check, first_calls_of)):
        return check.finding("stability", error=f"{check.function.name} {REPEATS}")
    candidate = certain(check.claimed(*pair), check.function.outcome(pair[0]))
    alpha = check.share_of_alpha()
    runs = None
    if not check.function.is_too_slow(2 * math.ceil(min(1e12, runs_needed(candidate.point, alpha)))):
        runs = judge(check.runs, pair, candidate, alpha, 0, most=check.runs_max, share=SHARE)
    if runs is None or runs.verdict is not Verdict.VIOLATED:
        check.notes.append(
            f"each of the inputs {pair_words(pair)} had an outcome of its own in all of {SAME} runs: if the "
            "function is deterministic, it keeps no finite epsilon; runs did not show it"
        )
        return None
    if (runs.event_in, runs.event_out) == (runs.runs, 0):
        check.notes.append(
            "every run of the first input had one outcome, which the second one never had: if the function has no "
            "noise, it keeps no finite epsilon"
        )
    if check.function.seeds_generators(pair[0]):
        check.notes.append("the function seeds a global generator of random or numpy: noise from it is no secret")
    return check.finding(
        "stability", pair, runs.event, {"sequential": runs}, verdict=runs.verdict, point=candidate.point
    )


def _repeats(check: Check, pair: Pair, first: FirstCalls) -> bool:
    """Return whether first calls drew, or had other outcomes than now, and calls of the same inputs draw no more."""
    outcomes: list[object] = []
    drawn, is_all = drawn_from(
        check.function.function, lambda: outcomes.extend(identity(check.function.outcome(data)) for data in pair)
    )
    draws_now = bool(drawn) or not is_all
    return not draws_now and (first.draws or tuple(outcomes) != first.outcomes)


def _keeps_answers(check: Check, first_calls_of: FirstCallsOf) -> bool:
    """Return whether an input that this process may not know draws at its first call alone, and has another outcome
    here: the answers to a pair may be those of an earlier check. A table that the function draws once from a constant
    seed, and keeps, leads to the same outcome."""
    kept = list[bool | None]()

    def ask(pair: Pair) -> float:
        if not kept or kept[-1] is False:  # None: nothing can be said
            first = first_calls_of(pair)
            kept.append(None if first is None else first.keeps and first.outcomes[0] != outcome_of(pair[0]))
        return 0.0

    def outcome_of(data: Any) -> Any:
        return identity(check.function.outcome(data))

    check.search("stability", ask, check.seconds / 8, examples=FIRST_PAIRS)
    return kept[-1:] == [True]


@contextmanager
def before_any_call(function: Function) -> Iterator[FirstCallsOf]:
    """Yield what makes the first calls of pairs in a process that is forked here, one pair after the other.

    It returns None where nothing can be said: no process can be forked, an input or an outcome cannot be pickled, or
    the calls fail there or take long. A program is not forked: it is one process, and all its callers share it.
    """
    is_program = function.name.startswith("cmd:")
    if is_program or "fork" not in multiprocessing.get_all_start_methods() or multiprocessing.current_process().daemon:
        yield lambda pair: None
        return
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_answer, args=(function, here, there), daemon=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, and of JAX: a child that hangs is ended
            child.start()
    except OSError:
        yield lambda pair: None
        return
    there.close()
    try:
        yield partial(_asked, here, COUNTED_SECONDS if function.clock.counts else SECONDS)
    finally:
        child.kill()
        child.join()
        here.close()


def _asked(here: Connection, seconds: float, pair: Pair) -> FirstCalls | None:
    try:
        here.send(pair)
        answer: FirstCalls | None = here.recv() if here.poll(seconds) else None
    except Exception:  # the child has ended; or pickling raised: it calls methods of inputs and outcomes
        return None
    return answer


def _answer(function: Function, here: Connection, there: Connection) -> None:
    """Wait for pairs, and make their first calls."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.showwarning = lambda *warning: None  # the other process shows it, too
    here.close()  # so that this process ends with the other one
    with suppress(Exception):
        while True:
            there.send(_first_calls(function, there.recv()))


def _first_calls(function: Function, pair: Pair) -> FirstCalls:
    """Make the first calls of a pair.

    The second input goes first: what a function does once, as to import a module, it has done before it is watched.
    """
    data_in, data_out = pair
    reseed("first calls")
    other = identity(function.outcome(data_out))
    outcome, draws = _watched(function, data_in)
    keeps = draws and _watched(function, data_in) == (outcome, False)
    return FirstCalls((outcome, other), draws, keeps)


def _watched(function: Function, data: Any) -> tuple[Any, bool]:
    """Return the identity of an outcome, and whether the call drew."""
    outcomes: list[Any] = []
    drawn, is_all = drawn_from(function.function, lambda: outcomes.append(identity(function.outcome(data))))
    return outcomes[0], bool(drawn) or not is_all
