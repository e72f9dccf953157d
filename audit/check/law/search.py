"""The search by laws: pairs on which the function's own code is followed (`audit.laws`), and proved to break its claim.

The laws are exact, if the words of the generators are uniform and independent. What confirms this:

- *Sources.* One call of each input draws from `random`, `secrets`, `numpy.random` or `scipy.stats`, and nothing else.
- *Plain numbers.* Paths of the laws are repeated with plain numbers (`laws.followed`).
- *Frequency.* `RUNS` ordinary runs of each input must agree with the laws: the shares of the event and of each outcome
  lie within the bounds of the laws, or no further off than luck is, at a confidence of 1 − `DROPPED`. This drops
  evidence that is right with a probability of at most `DROPPED`.

A claim that is exceeded by less than `LEAST` does not count: a probability that is a float is no exact e^ε, and noise
from a uniform of 53 bits ends at some 37 scales. Where a function is not followed, the search is silent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from subnormal.attacks.core.events import Event
from subnormal.audit.check.evidence import FollowedEvidence
from subnormal.audit.check.function import Function, OverTimeError
from subnormal.audit.check.search import Pair, written
from subnormal.audit.check.state import Check, Finding
from subnormal.audit.laws.cells import SHAPES
from subnormal.audit.laws.comparison import Comparison, decide
from subnormal.audit.laws.followed import law
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.model import Interval, Verdict
from subnormal.audit.neighbours.datasets import parts_apart
from subnormal.audit.randomness.primitives import drawn_from
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.curves import points
from subnormal.mechanisms.privacy import Claim

SHARE = 1 / 8  # of the seconds, for this search
BEST = 1 / 3  # of the time that is left, for the best pair before runs judge it
SECONDS_LEAST = 0.5  # for that pair: in less, a law may take longer than it was given
SHRINKING = 1 / 8  # of the seconds, for making a pair smaller
PAIRS = 32  # that are tried, at most, for a short time each; a pair that is chosen has the time that is left
PAIR = 1 / 4  # of the time of the search, to confirm a proof, and to see whether code is followed at all
BRIEF = 1 / 32  # a short time: what breaks its claim by a branch is proved in few paths, once a pair has the branch
CHOOSING = 1 / 16  # for choosing the pair with most branches
LOOK = 32  # runs of each input, that tell how many branches there are
LEAST = 1e-9  # by which ε and δ must be exceeded
RUNS = 2_000  # of each input, that must agree
DROPPED = 1e-6  # the probability that evidence is dropped although it is right
KNOWN = ("random", "secrets", "numpy.random", "scipy.stats", "scipy.stats._continuous_distns")
SAYS_NOTHING = (NotFollowedError, ValueError)  # the code is not followed, or both inputs are refused in all paths


def search_by_laws(check: Check, first: Pair) -> Finding | None:
    """Return what the laws of a pair prove; None where nothing is proved, or the function is not followed.

    first: a pair that tells whether it is.
    """
    function, seconds = check.function, SHARE * check.seconds
    if not _may_be_followed(check, first):
        return None

    decided: dict[tuple[str, str], Comparison] = {}  # a second proof might not end in time

    def score(pair: Pair) -> float:
        try:
            found = _strongest(check, pair, BRIEF * seconds)
        except SAYS_NOTHING:
            return 0.0
        if found.verdict is not Verdict.UNRESOLVED:
            decided[written(pair)] = found
        return math.inf if found.verdict is Verdict.VIOLATED else 0.0

    if not any(_is_followed(check, first, share * seconds) for share in (BRIEF, PAIR)):
        return None
    with function.within(seconds + 2 * SHRINKING * check.seconds):  # of which a search shrinks in half, at most
        brief = check.search("law", score, seconds / 2, examples=PAIRS)
    if brief.convicting is not None:
        return _confirmed(check, brief.convicting, decided.get(written(brief.convicting)), PAIR * seconds)
    until = function.clock.now() + seconds / 2
    branching = check.search("law", partial(_branching, check), CHOOSING * seconds, climbs=True)
    for _, pair in branching.ranked:
        left = until - function.clock.now()
        if left <= 0:
            break
        if written(pair) not in decided and (finding := _proved(check, pair, left)) is not None:
            return finding
    return None


def _branching(check: Check, pair: Pair) -> float:
    """Return in how many parts two inputs differ, times how many kinds of outcomes a few runs have: the losses of parts
    and of answers may add up."""
    kinds = (len({identity(SHAPES(one)) for one in check.function.outcomes(data, LOOK)}) for data in pair)
    return float(parts_apart(*pair) * sum(kinds))


def prove_by_laws(check: Check, pair: Pair) -> Finding | None:
    """Return what the laws of a pair prove that runs made the best one; None as in `search_by_laws`."""
    seconds = BEST * check.function.left()
    if seconds < SECONDS_LEAST or not _may_be_followed(check, pair):
        return None
    check.stage = "law"
    return _proved(check, pair, seconds)


def _proved(check: Check, pair: Pair, seconds: float) -> Finding | None:
    """Return what the laws of a pair prove in so many seconds, and ordinary runs confirm."""
    with suppress(*SAYS_NOTHING):
        found = _strongest(check, pair, seconds)
        if found.verdict is Verdict.VIOLATED:
            return _confirmed(check, pair, found, seconds)
    return None


def _is_followed(check: Check, pair: Pair, seconds: float) -> bool:
    with suppress(*SAYS_NOTHING):
        _strongest(check, pair, seconds)
        return True
    return False


def _may_be_followed(check: Check, pair: Pair) -> bool:
    function = check.function
    if function.clock.counts or function.batch or function.fresh or function.grid is not None:
        return False  # a law takes time, and where work is counted no time may decide
    return not function.is_too_slow(2 * RUNS) and _is_drawn_from_known(function, pair)


def _confirmed(check: Check, pair: Pair, found: Comparison | None, seconds: float) -> Finding | None:
    """Return what a proof shows, where ordinary runs agree with its laws. seconds: for the law of one input."""
    with suppress(*SAYS_NOTHING, OverTimeError):
        if found is not None and _is_confirmed(check, pair, found, seconds):
            return _finding(check, pair, found)
    return None


def _is_drawn_from_known(function: Function, pair: Pair) -> bool:
    """Return whether runs of both inputs draw from the known sources alone; for one of them they may draw nothing."""
    drawn = [drawn_from(function.function, partial(function.outcome, data)) for data in pair]
    primitives = [one for own, _ in drawn for one in own]
    return (
        bool(primitives)
        and all(no_other for _, no_other in drawn)
        and all(one.holder.partition(":")[0] in KNOWN for one in primitives)
    )


def _counting(function: Function) -> Callable[[Any], Any]:
    """Return the function. Its calls count as runs: one that keeps state may stop answering after some of them."""
    own = function.function

    def called(data: Any) -> Any:
        function.runs += 1
        returned = own(data)
        function.last_answer = function.runs
        return returned

    return called


def _strongest(check: Check, pair: Pair, seconds: float) -> Comparison:
    """Return what laws prove of the point of the claim that they exceed by most, with `LEAST` more of ε and δ. Of a
    single (ε, δ), the other points that `points` names follow from it."""
    claim, found, refused = check.claimed(*pair), list[Comparison](), list[NotFollowedError]()
    claimed = (claim,) if isinstance(claim, Claim) else points(claim)
    for point in claimed:
        exceeded = Claim(point.epsilon + LEAST, min(1.0, point.delta + LEAST))
        try:
            found.append(decide(_counting(check.function), *pair, exceeded, seconds=seconds / len(claimed)))
        except NotFollowedError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    return max(found, key=lambda one: (one.verdict is Verdict.VIOLATED, one.evidence.delta - one.claim.delta))


def _is_confirmed(check: Check, pair: Pair, found: Comparison, seconds: float) -> bool:
    """Return whether the known sources, and ordinary runs of both inputs, agree with the laws."""
    function = check.function
    shares = found.evidence.event_in, found.evidence.event_out
    if not _is_drawn_from_known(function, pair):
        return False
    for data, bounds in zip(pair, shares, strict=True):
        outcomes, followed = function.outcomes(data, RUNS), _counting(function)
        if found.cells is not None:
            outcomes, followed = list(map(found.cells, outcomes)), found.cells.of(followed)
        if found.event is None or bounds is None or not agrees(int(found.event(outcomes).sum()), bounds, DROPPED / 4):
            return False
        if not follows(outcomes, law(followed, data, seconds=seconds).law, DROPPED / 4):
            return False
    return True


def follows(outcomes: Sequence[Hashable], law: Law[Any], dropped: float) -> bool:
    """Return whether outcomes of runs agree with a law: the share of each outcome, and of those that it does not name.

    They disagree with probability `dropped` at most where they have this law.
    """
    counts = Counter(map(identity, outcomes))
    bounds = {identity(atom): law.probability(atom) for atom in law.atoms}
    unnamed = sum(count for key, count in counts.items() if key not in bounds)
    each = dropped / (len(bounds) + 1)
    named = (agrees(counts[key], (float(low), float(high)), each, len(outcomes)) for key, (low, high) in bounds.items())
    return agrees(unnamed, (0.0, float(law.rest)), each, len(outcomes)) and all(named)


def agrees(count: int, bounds: Interval, dropped: float, runs: int = RUNS) -> bool:
    """Return whether a count of runs agrees with bounds on a probability.

    dropped: the probability, at most, that it is said not to, although the bounds are right.
    """
    low, high = clopper_pearson(count, runs, dropped / 2)
    return low <= bounds[1] and bounds[0] <= high


def _finding(check: Check, pair: Pair, found: Comparison) -> Finding:
    evidence, event = found.evidence, cast("Event | None", found.event)
    if found.cells is not None and found.event is not None:
        event = found.cells.between(found.event.outcomes)
    point = min(points(check.claimed(*pair)), key=lambda one: abs(one.epsilon + LEAST - found.claim.epsilon))
    shown = FollowedEvidence(
        evidence.verdict,
        point,
        evidence.epsilon,
        evidence.delta,
        evidence.event_in or (0.0, 1.0),
        evidence.event_out or (0.0, 1.0),
        found.paths,
        found.rest,
        RUNS,
    )
    stated = None if event is None else event.to_json()
    return check.finding("law", pair, stated, {"followed": shown}, verdict=evidence.verdict, point=point)
