"""Check any function from three things: the function, the domain of its data, and its claim. All stages are here.

A check searches two neighbouring inputs, a *pair*, on which the function breaks its claim. The stages, in this order;
the first one that decides ends the check:

- *First calls* (`first_calls`): a few runs of a few inputs. A function that raises in all of them has an error, and no
  verdict.
- *Stability* (`first_calls`; `stability.py` is an audit of its own): where each input had one outcome so far,
  neighbours with different outcomes are searched. A function without noise keeps no finite ε. Equal outcomes do not
  show that it has none, so runs judge the pair.
- *Refusals* (`refusals`): where outcomes are of different kinds, numbers and exceptions for instance, or noise has
  different scales, a bisection leads to neighbours that differ so. Runs look at them first.
- *Law* (`law.search`): where all random numbers come from `random`, `secrets`, `numpy.random` or `scipy.stats`, the
  code is followed, and bounds on the probability of each outcome prove that a pair breaks the claim. Runs must agree.
  Not where work is counted, nor of batches, of functions made anew for each run, or on a grid.
- *Search*, in three rounds, each longer than the one before. At most half of a round scores pairs by *replay*
  (`replay.search`): the function runs on both inputs with the same noise, and the loss is read off where the outcome
  shows a release. The rest scores them by *runs* (`score`): a few runs learn an event and tell what it promises.
- *Judging* (`judge`): where no pair has convicted in the search, the best ones are judged one after the other.
- *Beyond the last bits* (`last_bits`): where only the last bits of floats convict, the search goes on without them.

`search` draws the pairs: Hypothesis draws inputs from the domain, and `neighbours` edits the choices that made them;
some of them hold numbers and texts that stand in the function's code (`neighbours.constants`). Half of a search by
replay is for variations of the choices of its best pairs (`neighbours.variations`). A pair that convicts is shrunk to
the smallest one that still does.

What this guarantees:

- Runs accuse a function that keeps its claim with probability α at most, whatever the search does. A score is no
  evidence: a sequential test of fresh runs judges a pair, and each pair but the last one takes half of the α that is
  left. Of a replay and of laws, the evidence says what it assumes (`replay.proof`, `law.search`).
- Both inputs lie in the domain, and the relation holds for them.
- The function cannot end the check: what it raises is an outcome, and so is an exit (`function`).
- With `examples=` the clock counts work (`audit.clock`), so that one seed gives the same pairs and the same verdict on
  every machine. With seconds, the machine decides how many pairs are drawn before the best of them are varied.
- No verdict says that a function is private: HOLDS is none of a check. NOT REFUTED is about the pairs that were tried,
  and the time for them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from subnormal.audit.check.first_calls import (
    before_any_call,
    decide_by_first_calls,
    find_noiseless,
    make_first_calls,
    no_longer_answers,
)
from subnormal.audit.check.function import OverTimeError, isolated, value_of
from subnormal.audit.check.function import function as audited_function
from subnormal.audit.check.judge import judge_by_runs
from subnormal.audit.check.last_bits import look_beyond_last_bits
from subnormal.audit.check.law.search import prove_by_laws, search_by_laws
from subnormal.audit.check.refusals import find_two_kinds
from subnormal.audit.check.replay.search import ReplaySearch
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import Pair, written
from subnormal.audit.check.state import RUNS_LEAST, SHARE, Check, Finding, OnProgress
from subnormal.audit.check.words import stated_words
from subnormal.audit.clock import clock_of
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours import relations
from subnormal.audit.neighbours.constants import constants_of
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import quoted
from subnormal.mechanisms.curves import AnyClaim

ROUNDS = (1 / 32, 1 / 8, 1 / 3)  # of the time, for searches by replay and by runs in turn: half each
LOOKS = 4  # at neighbours that the function treats in two ways: they are few, and worth the runs
COMPARING = 3 / 4  # of the time that is left, for choosing the pairs that are judged
JUDGED = 3  # pairs that are judged one after the other where none convicted in the search, at most


def check(
    function: Callable[..., Any] | None = None,
    data: SearchStrategy[Any] | None = None,
    adjacent: Any = None,
    claim: AnyClaim | Callable[[Any, Any], AnyClaim] | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    batch: bool = False,
    fresh: Callable[[], Callable[..., Any]] | None = None,
    grid: float | None = None,
    seconds: float | None = None,
    examples: int | None = None,
    runs: int | None = None,
    alpha: float = 1e-6,
    seed: int = 1,
    database: str | os.PathLike[str] | None = None,
    on_progress: OnProgress = lambda message: None,
) -> Result:
    """Search for two neighbouring inputs on which a function breaks its claim, and prove it.

    >>> import random
    >>> from hypothesis import strategies as st
    >>> from subnormal.mechanisms.privacy import Claim
    >>> def noisy_sum(records):  # forgets to clip
    ...     return sum(records) + random.gauss(0.0, 1.0)
    >>> found = check(noisy_sum, st.lists(st.floats(0, 1000)), relations.add_or_remove(), Claim(1.0, 1e-6))
    >>> str(found.verdict)
    'VIOLATED'

    Args:
        function: takes one dataset and returns one outcome, with fresh randomness at each call. An outcome is a number,
            a string, None, a date, or a tuple, list, set, array, series, frame, mapping or dataclass of such. An
            exception is an outcome too.
        data: a Hypothesis strategy of datasets: the domain.
        adjacent: `change_one()`, `add_or_remove()`, `within(distance)`, a strategy of pairs, or a predicate of two
            inputs.
        claim: `Claim`, `Zcdp`, `Gdp`, `Renyi` or `Profile`, or a function of two neighbouring inputs that returns one.
        pairs: the pairs (in, out) to try, instead of data and adjacent.
        batch: the function takes (data, runs) and returns a sequence of `runs` outcomes.
        fresh: instead of the function, a function of no arguments that returns the function to call once, where calls
            share a state: `fresh=lambda: Accountant(budget=1).count`.
        grid: every float in an outcome is rounded to a multiple of it, so that the last bits of noise tell nothing.
            None: outcomes stay as they are. Where their last bits convict, the search goes on without them.
        seconds: for the whole check; one call of the function is never interrupted. None: 60, and no limit where
            examples are given.
        examples: pairs of inputs that are tried, at most, and half as many that make a finding smaller; one that is
            only replayed counts a fifth. With them work is counted in place of seconds: one seed then gives the same
            pairs, runs and verdict on every machine.
        runs: of each input that judge the claim, at most; None: as many as the time allows, or about 100,000 where
            examples are given.
        alpha: the chance that a function that keeps its claim is accused, at most.
        seed: of the search, and of the generators while the check lasts: the global ones of `random` and numpy, those
            that the function leads to (in modules, closures and `self`), and the bytes of `os.urandom`.
        database: a folder that keeps the pair that convicts. The next check of this function with the same data and
            relation tries it first, whatever the seed.
        on_progress: called with a line about the progress now and then.

    Returns:
        The verdict, the two inputs it is about, and the evidence. NOT REFUTED is no evidence of privacy.

    Raises:
        TypeError: an argument is of the wrong type, the function cannot be called with one dataset, an input cannot be
            copied, or an outcome cannot be compared for certain, as a generator.
        ValueError: a number is out of range, or no pair can be drawn.
    """
    clock, searching = clock_of(examples, runs, seconds)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    if (adjacent is None) == (pairs is None):
        raise TypeError("adjacent or pairs must be given, and not both")
    claimed = _claimed(claim)
    audited = replace(audited_function(function, batch=batch, fresh=fresh, grid=grid), clock=clock)
    constants = constants_of(audited.function)
    strategy = relations.pairs(data, adjacent if pairs is None else list(pairs), constants)
    relation = replace(adjacent, constants=constants) if isinstance(adjacent, relations.Adjacency) else None
    stated = None if isinstance(adjacent, Sequence) else stated_words(adjacent)
    kept = None
    if database is not None:
        from subnormal.audit.neighbours.kept import KeptPairs

        kept = KeptPairs(database, audited.place or audited.name, stated_words(data), stated)
    with isolated(seed, audited):
        state = Check(audited, strategy, claimed, searching, runs, alpha, seed, on_progress, examples, kept)
        finding = _run_stages(state, data, relation)
        if finding.verdict is Verdict.VIOLATED and grid is None:
            finding = look_beyond_last_bits(state, finding, alpha, _search_pairs)
    if finding.verdict is Verdict.VIOLATED:
        state.keep(finding.worlds)
    return state.result(finding, claim, domain=stated_words(data), relation=stated)


def _run_stages(check: Check, data: SearchStrategy[Any] | None, relation: relations.Adjacency | None) -> Finding:
    """Return what the first stage that decides has found, or the last one.

    data: the domain. relation: of neighbours in it; None where only pairs or a predicate are given. There is an error
    in place of a verdict where a program makes a mistake, or the function has stopped answering.
    """
    try:
        with before_any_call(check.function) as first_calls_of:
            pair, outcomes = make_first_calls(check)
            finding = decide_by_first_calls(check, pair, outcomes) or find_noiseless(check, outcomes, first_calls_of)
        if finding is None:
            try:
                with check.function.within(check.function.left()):
                    finding = _search_pairs(check, pair, find_two_kinds(check, data, relation))
            except OverTimeError:
                finding = check.too_slow(pair)
        acquitted = finding.verdict not in (None, Verdict.VIOLATED)
        if acquitted and (stopped := no_longer_answers(check)) is not None:
            finding = check.finding(finding.stage, error=stopped)
    except TargetError as error:
        finding = check.finding(check.stage, error=str(error))
    return finding


def _search_pairs(check: Check, first: Pair, two_kinds: list[Pair]) -> Finding:
    """Return what searches by replay and by runs find. two_kinds: neighbours that the function treats in two ways."""
    candidates = [(0.0, first)]
    for pair in two_kinds * LOOKS:
        candidates.append((check.runs.screening_score(pair), pair))
        if candidates[-1][0] == math.inf:
            return judge_by_runs(check, pair)
    by_law = search_by_laws(check, first)
    if by_law is not None:
        return by_law
    replay = ReplaySearch(check)
    for share in ROUNDS:
        until = check.function.left() - share * check.seconds
        finding, hints = replay.search(share * check.seconds / 2)
        if finding is not None:
            return finding
        if not check.function.batch and check.function.left() < RUNS_LEAST * check.function.quickest:
            return check.too_slow(first)
        score = partial(check.runs.screening_score, readable=share < ROUNDS[-1])  # bits of floats come last
        found = check.search("runs", score, check.function.left() - until)  # with what the replay leaves of its half
        if found.convicting is not None:
            return judge_by_runs(check, found.convicting)
        ranked = [(score, pair) for score, pair in found.ranked if score > -math.inf]
        candidates = [*ranked, *hints, *candidates]
    candidates.sort(key=lambda one: -max(0.0, one[0]))  # of those below the claim, the latest round's come first
    return _judge_best(check, [pair for _, pair in candidates])


def _judge_best(check: Check, candidates: list[Pair]) -> Finding:
    """Return what runs show of the most promising pairs, one after the other until one convicts.

    Where no time is left for the last of them, it is what they show of the one before.
    """
    with check.function.within(COMPARING * check.function.left()):
        pairs = check.runs.successive_halving(list({written(pair): pair for pair in candidates}.values()))[:JUDGED]
    by_law = prove_by_laws(check, pairs[0])
    if by_law is not None:
        return by_law
    notes, findings = check.notes[:], list[Finding]()
    for pair in pairs[:-1]:
        findings.append(judge_by_runs(check, pair, check.share_of_alpha(), share=SHARE))
        if findings[-1].verdict is Verdict.VIOLATED:
            return findings[-1]
        check.notes = notes[:]  # those of a pair that runs do not convict are not kept
    last, earlier = judge_by_runs(check, pairs[-1]), [one for one in findings if one.verdict is Verdict.NOT_REFUTED]
    return earlier[-1] if earlier and last.verdict is Verdict.UNDERPOWERED else last


def _claimed(claim: Any) -> Callable[[Any, Any], AnyClaim]:
    """Return the claim as a function of two inputs. Raises TypeError where it is none."""
    if isinstance(claim, AnyClaim):
        return lambda data_in, data_out: claim
    if isinstance(claim, type):
        raise TypeError(
            f"claim must be a claim, as Claim(1), or a function of two inputs, got the class {claim.__name__}"
        )
    if callable(claim):
        return lambda data_in, data_out: _made_claim(value_of("claim", claim, data_in, data_out))
    raise TypeError(f"claim must be a Claim, Zcdp, Gdp, Renyi or Profile, got {quoted(repr(claim))}")


def _made_claim(made: Any) -> AnyClaim:
    if not isinstance(made, AnyClaim):
        raise TypeError(
            f"claim(data_in, data_out) must return a Claim, Zcdp, Gdp, Renyi or Profile, got {quoted(repr(made))}"
        )
    return made
