"""The screening score of a pair of inputs: what a few runs promise of many more, by an event learned on them.

One half of the runs learns an event, the other half tells how fast a sequential test of it would grow; where it would,
a second look bets on fresh runs. No score counts as evidence: `judge` spends α on runs of its own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subnormal.attacks.core.events import Event
from subnormal.audit.check.function import Function, OverTimeError
from subnormal.audit.check.search import Pair
from subnormal.audit.evidence import event_search
from subnormal.audit.evidence.sequential import FIRST, SLACK, batches, pair_counts
from subnormal.audit.neighbours.datasets import parts_apart
from subnormal.audit.statistics import binomial, e_process
from subnormal.audit.statistics.e_process import PairCounts, State
from subnormal.audit.targets.json_lines import as_outcomes
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.curves import AnyClaim, points
from subnormal.mechanisms.privacy import Claim

SCREEN = (64, 1024)  # runs of each world for a first look at a pair: so many as take the time of learning, 20 ms
SCREEN_SECONDS = 0.02
# features that a reader sees in an outcome, unlike the bits of floats
READ = ("kind", "value", "length", "others", "least", "largest", "sum", "norm", "repeats")
SCREENED = (*READ, "grid")  # features of a first look: with few runs, the others add time and chance
PREFERRED = 4  # an event that a reader sees is chosen where another one grows at most so many times as fast
SEEN, SEEN_MAX = 8, 4096  # how often a first look sees an event of probability δ; runs for it, at most
CONFIRM = 2  # times the runs of the first look has a second one, at pairs with a high score
UNSURE = 0.02  # the chance that an event is rarer, or more frequent, than is taken for its loss
CONVICTING = math.log(1e6)  # nats of wealth on runs of its own from which on a pair is taken to convict
BEHIND = 4.0  # nats by which wealth falls behind what was promised when that look ends
HOPELESS = 1.0  # nats of wealth with which it goes on, however much was promised
HOPEFUL = 1.0  # nats that the best bet would have won, with which it has more runs, and so many more each time
HALVING = (1 << 10, 1 << 12, 1 << 14, 1 << 16)  # runs of each world for the best pairs; a quarter goes on each time
SHARES = 8  # of the time for one pair in a round, at most
WIDE = 0.1  # nats that a loss below the claim is worth more where twice as many parts of the inputs differ
LEARN = tuple(1 << power for power in (8, 10, 12, 14, 16))  # runs of each world that an event is learned on
EVERY_MAX = 1 << 14  # of these, on which new events that no reader sees are learned, too: their features take long
BATCH = 1 << 14  # runs of a batch that judges, at most

Drawn = tuple[Outcomes, Outcomes]
Claimed = Callable[[Any, Any], AnyClaim]  # what is claimed for two neighbouring inputs


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event and the point (ε, δ) of the claim that it speaks against.

    growth: of wealth, in nats a run. excess: of the least loss that an event shows over ε, see `_excess`.
    """

    point: Claim
    event: Event
    growth: float
    excess: float = 0.0

    @property
    def expected_log_wealth(self) -> float:
        """By how much a pair promises: the nats of a thousand runs where its loss is seen to exceed the claim, else the
        excess, which is negative then. On few runs, rare events grow by chance."""
        return 1000 * self.growth if self.growth > 0 and self.excess > 0 else min(0.0, self.excess)


class Runs:
    """Runs of a function on pairs of inputs. seed: of the order in which the two inputs are called."""

    def __init__(self, function: Function, claimed: Claimed, seed: int) -> None:
        self.function, self._claimed = function, claimed
        self._coin = random.Random(f"order of the worlds, {seed}")  # not the stream that the function draws from

    def draw(self, pair: Pair, runs: int, *, singly: bool = False, reserve: float | None = None) -> Drawn:
        """Return the outcomes of so many runs of each world.

        reserve: seconds to leave over: fewer runs are made where no more are left, and a pair of runs that has begun is
        ended. How long a run takes may depend on its outcome, so none may be left out for its time where others follow.
        None: all runs are made, or OverTimeError is raised.

        Which world is called first is a coin of its own for each run, so that what drifts with the number of calls, a
        counter or a budget, falls on both alike. A function that takes batches is called once for each world, unless
        `singly`.
        """
        drawn: tuple[list[Hashable], list[Hashable]] = ([], [])
        is_batch = self.function.batch and not singly
        order = [self._coin.getrandbits(1) for _ in range(1 if is_batch else runs)]
        outcomes = list[Hashable]()

        def inputs() -> Iterator[Any]:
            for first in order:
                if reserve is not None and self.function.left() <= reserve:
                    return
                yield pair[first]
                yield pair[1 - first]

        try:
            if is_batch:
                for world in (order[0], 1 - order[0]):
                    drawn[world].extend(self.function.outcomes(pair[world], runs))
            else:
                self.function.add_outcomes(outcomes, inputs())
        except OverTimeError:
            if reserve is None:
                raise
            drawn[0].clear()
            drawn[1].clear()
        for first, one, other in zip(order, outcomes[::2], outcomes[1::2], strict=False):
            drawn[first].append(one)
            drawn[1 - first].append(other)
        return as_outcomes(drawn[0]), as_outcomes(drawn[1])

    def candidate(
        self,
        pair: Pair,
        runs: int,
        *,
        event: Event | None = None,
        reserve: float | None = None,
        before: Event | None = None,
    ) -> Candidate:
        """Return the event and the point of the claim that grow wealth fastest, of those learned on so many runs.

        Two are learned for each point, one of them from the features that a reader sees. event: one that is given, in
        their place. reserve: see `draw`. before: the event learned on fewer runs; of many, it stands
        for those that no reader sees. Raises OverTimeError where time allows no runs.
        """
        drawn, fresh, found = self._halves(pair, runs, reserve=reserve)
        if event is not None:
            return _fastest([event] * len(found), found, fresh)
        halves = event_search.halves(drawn, event_search.FEW)
        read = event_search.learn_of(halves, found, READ)
        seen = _fastest(read, found, fresh)
        if before is not None and runs > EVERY_MAX:
            every = [before] * len(found)
        else:
            every = event_search.learn_of(halves, found)
        other = _fastest(every, found, fresh)
        return other if other.growth > PREFERRED * seen.growth else seen

    def screened(self, pair: Pair, runs: int, *, readable: bool = False) -> list[Candidate]:
        """Return candidates of a first look: the strongest event, and the regression on all parts. Of few runs, chance
        makes one of many events of single parts look stronger than that.

        readable: by features that a reader sees. Raises OverTimeError where time allows no runs.
        """
        drawn, fresh, found = self._halves(pair, runs)
        point = found[len(found) // 4]  # one of a curve, neither of the smallest δ nor of the largest
        claims = [point, Claim(0.0, point.delta)]
        (learned, largest), summed = event_search.learn_with_sum(drawn, claims, READ if readable else SCREENED)
        events = [learned] if summed == learned else [learned, summed]
        candidates = [_fastest([event] * len(found), found, fresh) for event in events]
        shown = _excess(point, pair_counts(largest, fresh))
        return [
            replace(one, excess=max(shown, _excess(one.point, pair_counts(one.event, fresh)))) for one in candidates
        ]

    def _halves(self, pair: Pair, runs: int, *, reserve: float | None = None) -> tuple[Drawn, Drawn, list[Claim]]:
        """Return runs of each input, those in their second half, and the points of the claim."""
        drawn, found = self.draw(pair, runs, reserve=reserve), points(self._claimed(*pair))
        half = len(drawn[0]) // 2
        if half == 0:
            raise OverTimeError
        return drawn, (drawn[0][half:], drawn[1][half:]), list(found)

    def wealth(self, pair: Pair, candidates: Sequence[Candidate], runs: int, most: float) -> list[State]:
        """Return the tests of events on so many fresh runs, or fewer if one decides; on twice as many, as long as the
        best bet on one would have won more and more, and they are no more than `most`. Wealth itself says so late: its
        bets are fixed before each batch."""
        states, hopeful, ahead = [State(one.point) for one in candidates], HOPEFUL, runs
        while ahead:
            for size in batches(ahead, BATCH):
                drawn = self.draw(pair, size)
                states = [
                    e_process.update(state, pair_counts(one.event, drawn))
                    for state, one in zip(states, candidates, strict=True)
                ]
                if not any(map(_goes_on, states, candidates)) or _wealth(states) >= CONVICTING:
                    return states
            seen = states[0].seen.runs
            won = max(e_process.growth(one.claim, one.seen) * seen for one in states)
            ahead = seen if won >= hopeful and 2 * seen <= most else 0
            hopeful += HOPEFUL
        return states

    def screening_score(self, pair: Pair, *, readable: bool = False) -> float:
        """Return the screening score of a pair: ∞ where fresh runs confirm what was learned, else what the runs
        promise; −∞ where these inputs take too long. readable: by features that a reader sees."""
        before = self.function.seconds
        self.draw(pair, 1)
        pace = (self.function.seconds - before) / 2  # some inputs take a thousand times as long as others

        def fits(runs: int, share: float = 1 / 2) -> bool:
            return 2 * runs * pace < self.function.left() * share

        fitting = int(SCREEN_SECONDS / 2 / max(1e-9, self.function.seconds_a_run()))
        runs = max(min(max(SCREEN[0], fitting), SCREEN[1]), self._runs_of_delta(pair))
        if not fits(runs):
            runs = SCREEN[0]
            if not fits(runs):
                return -math.inf
        candidates = self.screened(pair, runs, readable=readable)
        promising = max(one.expected_log_wealth for one in candidates)
        growing = [one for one in candidates if one.growth > 0]
        if not growing or not fits(CONFIRM * runs, 1.0):
            return promising
        try:
            states = self.wealth(pair, growing, CONFIRM * runs, self.function.left() / 8 / max(1e-9, pace))
        except OverTimeError:
            return promising
        if _wealth(states) >= CONVICTING:
            return math.inf
        return max(  # what the first look promised by chance, the second does not
            Candidate(
                one.point, one.event, e_process.growth(one.point, state.seen), _excess(one.point, state.seen)
            ).expected_log_wealth
            for one, state in zip(growing, states, strict=True)
        )

    def _runs_of_delta(self, pair: Pair) -> int:
        """Return how many runs show an event of probability δ, where that is not too rare."""
        delta = min(point.delta for point in points(self._claimed(*pair)))
        return math.ceil(SEEN / delta) if delta * SEEN_MAX > SEEN else 0

    def successive_halving(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return the pairs of which more and more runs promise the most, of the first ones, as far as time allows.

        The best comes first. Where there is no time to compare two, it is the first one. The last round is for pairs of
        which none is seen to exceed the claim.
        """
        left, seen = list(pairs), False
        least = max(map(self._runs_of_delta, left))  # fewer show nothing of an event that is as rare as δ
        for runs in [one for one in HALVING if one >= least]:
            del left[max(1, int(self.function.left() / 4 / (2 * runs * max(1e-9, self.function.quickest)))) :]
            if len(left) < 2 or (seen and runs == HALVING[-1]):
                break
            until = self.function.clock.now() + self.function.left() / 4
            promises = []
            for place, pair in enumerate(left):  # slow pairs may take the shares of several; the last ones go without
                share = (until - self.function.clock.now()) * min(1.0, SHARES / (len(left) - place))
                promises.append(self._expected_log_wealth(pair, runs, share))
            order = sorted(zip(promises, left, strict=True), key=lambda one: _rank(*one), reverse=True)
            left, seen = [pair for _, pair in order[: -(-len(left) // 4)]], order[0][0] > 0
        return left

    def _expected_log_wealth(self, pair: Pair, runs: int, seconds: float) -> float:
        """Return how much so many runs promise; −∞ where they take more than these seconds."""
        try:
            with self.function.within(seconds):
                return max(one.expected_log_wealth for one in self.screened(pair, runs))
        except OverTimeError:
            return -math.inf


def _goes_on(state: State, candidate: Candidate) -> bool:
    """Return whether wealth has not fallen too far behind what was promised."""
    return state.log_e_value > min(HOPELESS, candidate.growth * (state.seen.runs - FIRST) - BEHIND)


def _wealth(states: Sequence[State]) -> float:
    return max(state.log_e_value for state in states)


def _rank(promise: float, pair: Pair) -> tuple[bool, float]:
    """Return by what pairs are ordered. Runs hardly tell losses below the claim apart, and the losses of parts add up:
    so of two such pairs, one that differs in more parts is worth more."""
    if promise > 0:
        return True, promise
    return False, promise + WIDE * math.log2(max(1, parts_apart(*pair)))


def _excess(point: Claim, counts: PairCounts) -> float:
    """Return by how many nats the least loss that counts of an event show exceeds ε. A loss below the claim convicts no
    pair, but it leads the search to those with a larger one."""
    shares = (counts.both + counts.only_in, counts.both + counts.only_out)
    event_in, event_out = (binomial.clopper_pearson(count, counts.runs, UNSURE) for count in shares)
    return binomial.epsilon_lower(event_in, event_out, point.delta) - point.epsilon


def _fastest(events: Sequence[Event], found: Sequence[Claim], fresh: Drawn) -> Candidate:
    """Return the event and its point, of those at the same places, that grow wealth fastest on fresh runs."""
    counted = {id(event): pair_counts(event, fresh) for event in events}
    each = (
        Candidate(point, event, e_process.growth(point, counted[id(event)]))
        for event, point in zip(events, found, strict=True)
    )
    return max(each, key=lambda one: one.growth)


def runs_needed(point: Claim, alpha: float) -> float:
    """Return the fewest runs of each world that could refute a point at α, by a perfect attack; ∞ where none could."""
    needed = e_process.betting_needed(-math.log(alpha) + SLACK, point)
    return FIRST + needed
