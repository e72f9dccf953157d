"""Search for the pair of neighbouring inputs with the highest score against a claim, driven by Hypothesis.

Hypothesis draws pairs, edge cases first, varies those it has drawn, and shrinks the first pair that convicts to the
smallest one that still does. It does not steer towards larger scores (`hypothesis.target`): many of its choices change
no pair, and a search that tried to climb them met a fifth of the pairs. So half of a search that climbs is for
variations of the best pairs, round by round, as long as a round has a better one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky, HypothesisWarning, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from subnormal.audit.check.function import reseed
from subnormal.audit.clock import DRAW, MACHINE, Clock
from subnormal.audit.neighbours.choices import as_bytes, choices_of_example
from subnormal.audit.neighbours.datasets import text_of
from subnormal.audit.neighbours.kept import GivenPairs
from subnormal.audit.neighbours.variations import Choices, variation
from subnormal.audit.text import error_text, quoted

if TYPE_CHECKING:
    from subnormal.audit.neighbours.kept import KeptPairs

EXAMPLES = 20_000  # pairs of one search, at most
FRESH = 1 / 2  # of the time and of the pairs of a search that climbs, before it does
PARENTS, ROUND = 2, 32  # place of the pair that is varied, in the mean, and variations of a round
BARREN = 3  # rounds in a row without a better pair, after which fresh ones are drawn again
KEPT = 24  # pairs that are remembered besides the best
NO_PAIR = "data and adjacent: no pair of neighbouring inputs could be drawn from them"
REPEATED = 250  # pairs in a row that were tried before, and 4 for each known one: then there is hardly any other

Pair = tuple[Any, Any]
Score = Callable[[Pair], float]
Progress = Callable[["Ranking"], None]


@dataclass(slots=True)
class Ranking:
    """Pairs in the order of their scores, the highest first; convicting: the smallest one whose score is infinite.

    choices: from which each pair was drawn, by `written`, where pairs are kept. parents: scores and choices of the
    pairs that a search climbs from, the best first.
    """

    examples: int = 0
    choices: dict[tuple[str, str], bytes] = field(default_factory=dict)
    parents: list[tuple[float, Choices]] = field(default_factory=list)
    ranked: list[tuple[float, Pair]] = field(default_factory=list)
    convicting: Pair | None = None


class _ConvictingError(Exception):
    """A pair convicts: Hypothesis shrinks what raises."""


class _StoppedError(BaseException):
    """The time or the domain is at its end, or a pair cannot be scored: no Exception, because Hypothesis would shrink
    one."""


def search(
    pairs: SearchStrategy[Pair],
    score: Score,
    *,
    seed: int,
    seconds: float,
    shrinking: float = math.inf,
    examples: int = EXAMPLES,
    climbs: bool = False,
    first: Sequence[Choices] = (),
    on_progress: Progress = lambda found: None,
    clock: Clock = MACHINE,
    kept: KeptPairs | None = None,
) -> Ranking:
    """Return the pairs with the largest scores.

    Args:
        pairs: a strategy of neighbouring inputs.
        score: how much a pair speaks against the claim; ∞ for one that convicts, which ends the search after it has
            been shrunk; −∞ for one that says nothing. Called once for each pair.
        seed: of the search.
        seconds: so long after the first pair no further one is tried; none at all where it is not positive.
        shrinking: seconds for making a pair that convicts smaller.
        examples: pairs, at most.
        climbs: whether variations of the best pairs are tried, too.
        first: choices of pairs that are tried before all others.
        on_progress: called with what has been found so far, after each pair.
        kept: pairs that convicted before, which are tried then.

    Returns:
        What was found: no pair at all where the time was over before the first.

    Raises:
        ValueError: the strategy draws no pair at all, or other pairs when asked again.
        Exception: what `score`, `on_progress` or the strategy raises.
    """
    ends = math.inf if seconds > 0 else -math.inf
    under_way = _Search(pairs, score, seed, seconds, shrinking, examples, climbs, on_progress, clock, kept, ends)
    under_way.try_all(first)
    return under_way.found


@dataclass(slots=True, eq=False)
class _Search:
    """A search under way, made from the arguments of `search`.

    ends: on the clock, after which no further pair is tried. held: of the seconds before, for later pairs. scores: of
    the pairs that were tried, by `written`. repeated: how many pairs in a row were tried before. failure: of the
    function or its outcomes.
    """

    pairs: SearchStrategy[Pair]
    score: Score
    seed: int
    seconds: float
    shrinking: float
    examples: int
    climbs: bool
    on_progress: Progress
    clock: Clock
    kept: KeptPairs | None
    ends: float
    found: Ranking = field(default_factory=Ranking)
    held: float = 0.0
    scores: dict[tuple[str, str], float] = field(default_factory=dict)
    repeated: int = 0
    failure: Exception | SystemExit | None = None

    def is_over(self) -> bool:
        return self.clock.now() >= self.ends - (self.held if self.found.convicting is None else 0.0)

    def try_all(self, first: Sequence[Choices]) -> None:
        """Try the first pairs, fresh ones, and where the search climbs, variations of the best and fresh ones again."""
        if first and not self.try_pairs(f"{self.seed}, first", len(first), _given(first), fresh=False):
            return
        kept = None if self.kept is None else GivenPairs(self.kept.choices(), are_shrunk=True)
        share = FRESH if self.climbs else 1.0
        self.held = (1 - share) * self.seconds
        left = self.examples - self.found.examples
        if not self.try_pairs(self.seed, math.ceil(share * left), kept) or not self.climbs:
            return
        self.held = 0.0
        if self.climb() and not self.is_over():
            self.try_pairs(f"{self.seed}, more", self.examples - self.found.examples, None)

    def climb(self) -> bool:
        """Try variations of the best pairs, as long as they become better; return whether more pairs may be tried."""
        random, parents, barren = Random(f"climb {self.seed}"), self.found.parents, 0
        while barren < BARREN and not self.is_over():
            best, left = parents[0][0], self.examples - self.found.examples
            variations = _given(_variations(parents, random))
            if not self.try_pairs(f"{self.seed}, {self.found.examples}", min(ROUND, left), variations, fresh=False):
                return False
            barren = 0 if parents[0][0] > best else barren + 1
        return True

    def try_pairs(self, stream: int | str, many: int, given: ExampleDatabase | None, *, fresh: bool = True) -> bool:
        """Try so many pairs, those given first; return whether more pairs may be tried.

        stream: seed of those that Hypothesis draws. fresh: whether it draws others than those given. Raises ValueError
        as `search` does.
        """
        decorated = repeatable(stream, many, given, fresh)(hypothesis.given(self._in_time())(self._test))
        is_stopped = False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HypothesisWarning)  # of inputs with long texts
                decorated()
        except _ConvictingError:
            pass
        except _StoppedError:
            is_stopped = True
        except Unsatisfiable:  # a round of variations may have none
            if fresh:
                raise ValueError(NO_PAIR) from None
        except Flaky as error:
            if not self.is_over():  # Hypothesis may take the end of the time for another pair
                raise ValueError(f"data and adjacent draw other pairs when asked again: {quoted(str(error))}") from None
        except Exception as error:
            raise ValueError(f"data and adjacent: drawing a pair raised {quoted(error_text(error))}") from error
        if self.failure is not None:
            raise self.failure
        if fresh and self.found.examples == 0 and not (is_stopped or self.is_over()):
            raise ValueError(NO_PAIR)
        return self.found.convicting is None and self.found.examples < self.examples

    def _in_time(self) -> SearchStrategy[Pair]:
        """Return the strategy of the pairs, which stops the search in time: pairs outside the domain cost time, too."""

        @st.composite
        def in_time(draw: Callable[[SearchStrategy[Pair]], Pair]) -> Pair:
            if self.is_over():
                raise _StoppedError
            self.clock.spend(DRAW)
            return draw(self.pairs)

        return in_time()

    def _test(self, pair: Pair) -> None:
        key = written(pair)
        hypothesis.assume(key[0] != key[1])  # else they are no neighbours, but one input
        if self._tried(pair, key) == math.inf:
            if self.found.convicting is None:
                self.ends = self.clock.now() + self.shrinking
            self.found.convicting = pair  # the last one that raises is the smallest
            raise _ConvictingError

    def _tried(self, pair: Pair, key: tuple[str, str]) -> float:
        """Return the score of a pair, which is found out once."""
        found, scores = self.found, self.scores
        self.repeated = self.repeated + 1 if key in scores else 0
        if self.repeated > REPEATED + 4 * len(scores) and found.convicting is None:
            raise _StoppedError
        if key in scores:
            return scores[key]
        if found.convicting is None:
            self.ends = min(self.ends, self.clock.now() + self.seconds)
        if self.is_over():
            raise _StoppedError
        reseed(self.seed, "search", found.examples)  # Hypothesis seeds the global generators alike for each example
        try:
            scores[key] = self.score(pair)
            found.examples += 1
            _rank(found.ranked, scores[key], pair)
            if self.kept is not None:
                found.choices[key] = as_bytes(choices_of_example())
            if self.climbs:
                _rank(found.parents, scores[key], choices_of_example())
            self.on_progress(found)
        except (Exception, SystemExit) as error:  # of the function or its outcomes: Hypothesis would shrink it
            self.failure = error
            raise _StoppedError from None
        return scores[key]


def _variations(parents: Sequence[tuple[float, Choices]], random: Random) -> list[Choices]:
    """Return a round of variations of the best pairs: the better a pair is, the more often it is varied."""
    places = [min(int(random.expovariate(1 / PARENTS)), len(parents) - 1) for _ in range(ROUND)]
    return [variation(parents[place][1], random) for place in places]


def _given(pairs: Sequence[Choices]) -> GivenPairs:
    return GivenPairs(list(map(as_bytes, pairs)), are_shrunk=False)


def in_example(seed: int, call: Callable[[], Any]) -> Any:
    """Return what a function returns that is called once, in an example of Hypothesis: some strategies draw only
    there.
    """
    returned: list[Any] = []
    raised: list[BaseException] = []

    @repeatable(seed, 1)
    @hypothesis.given(st.none())
    def test(_: None) -> None:
        reseed(seed, "example")
        try:
            returned.append(call())
        except BaseException as error:  # Hypothesis would call it again
            raised.append(error)

    test()
    if raised:
        raise raised[0]
    return returned[0]


def repeatable(
    seed: int | str, examples: int, kept: ExampleDatabase | None = None, fresh: bool = True
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Return the decorator of a test of Hypothesis that draws the same inputs for the same seed, and keeps no record.

    It shrinks the first example that raises. examples: at most. kept: examples that come first. fresh: whether
    Hypothesis draws others.
    """
    phases = [hypothesis.Phase.reuse, hypothesis.Phase.generate, hypothesis.Phase.shrink]
    settings = hypothesis.settings(
        max_examples=examples,
        database=kept,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[one for one in phases if fresh or one != hypothesis.Phase.generate],
    )
    return lambda test: settings(hypothesis.seed(seed)(test))  # in this order: `seed` takes away a database


def written(pair: Pair) -> tuple[str, str]:
    """Return the two inputs as texts, by which pairs are told apart."""
    one, other = pair
    return text_of(one), text_of(other)


def _rank(ranked: list[tuple[float, Any]], score: float, one: Any) -> None:
    ranked.append((score, one))
    ranked.sort(key=lambda one: -one[0])
    del ranked[KEPT:]
