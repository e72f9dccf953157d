"""Search for the pair of neighbouring inputs with the highest score against a claim, driven by Hypothesis.

Hypothesis draws pairs, edge cases first, varies those it has drawn, and shrinks the first pair that convicts to the
smallest one that still does. It does not steer towards larger scores (`hypothesis.target`): many of its choices change
no pair, and a search that tried to climb them met a fifth of the pairs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.function import reseed
from subnormal.audit.clock import DRAW, MACHINE, Clock
from subnormal.audit.neighbours.choices import choices_of_example
from subnormal.audit.neighbours.datasets import text_of
from subnormal.audit.text import error_text, quoted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from subnormal.audit.neighbours.kept import KeptPairs

EXAMPLES = 20_000  # pairs of one search, at most
KEPT = 24  # pairs that are remembered besides the best
REPEATED = 250  # pairs in a row that were tried before, and 4 for each known one: then there is hardly any other

Pair = tuple[Any, Any]
Score = Callable[[Pair], float]
Progress = Callable[["Ranking"], None]


@dataclass(slots=True)
class Ranking:
    """Pairs in the order of their scores, the highest first; convicting: the smallest one whose score is infinite.

    choices: from which each pair was drawn, by `written`, where pairs are kept.
    """

    examples: int = 0
    choices: dict[tuple[str, str], bytes] = field(default_factory=dict)
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
        on_progress: called with what has been found so far, after each pair.
        kept: pairs that are tried first.

    Returns:
        What was found: no pair at all where the time was over before the first.

    Raises:
        ValueError: the strategy draws no pair at all, or other pairs when asked again.
        Exception: what `score`, `on_progress` or the strategy raises.
    """
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.errors import Flaky, HypothesisWarning, Unsatisfiable

    found, ends = Ranking(), math.inf if seconds > 0 else -math.inf
    known: dict[tuple[str, str], float] = {}
    repeated = 0
    failures: list[Exception | SystemExit] = []

    def is_over() -> bool:
        return clock.now() >= ends

    def tried(pair: Pair) -> float:
        key = written(pair)
        hypothesis.assume(key[0] != key[1])  # else they are no neighbours, but one input
        nonlocal ends, repeated
        repeated = repeated + 1 if key in known else 0
        if repeated > REPEATED + 4 * len(known) and found.convicting is None:
            raise _StoppedError
        if key not in known:
            ends = min(ends, clock.now() + seconds) if found.convicting is None else ends
            if is_over():
                raise _StoppedError
            if kept is not None:
                found.choices[key] = choices_of_example()
            reseed(seed, "search", found.examples)  # Hypothesis seeds the global generators alike for each example
            try:
                known[key] = score(pair)
                found.examples += 1
                _rank(found, known[key], pair)
                on_progress(found)
            except (Exception, SystemExit) as error:  # of the function or its outcomes: Hypothesis would shrink it
                failures.append(error)
                raise _StoppedError from None
        return known[key]

    @st.composite
    def in_time(draw: Callable[[SearchStrategy[Pair]], Pair]) -> Pair:  # pairs outside the domain cost time, too
        if is_over():
            raise _StoppedError
        clock.spend(DRAW)
        return draw(pairs)

    @repeatable(seed, examples, kept)
    @hypothesis.given(in_time())
    def test(pair: Pair) -> None:
        if tried(pair) == math.inf:
            nonlocal ends
            ends = clock.now() + shrinking if found.convicting is None else ends
            found.convicting = pair  # the last one that raises is the smallest
            raise _ConvictingError

    stopped = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # of inputs with long texts
            test()
    except _ConvictingError:
        pass
    except _StoppedError:
        stopped = True
    except Unsatisfiable:
        raise ValueError("data and adjacent: no pair of neighbouring inputs could be drawn from them") from None
    except Flaky as error:
        if not is_over():  # Hypothesis may take the end of the time for another pair
            raise ValueError(f"data and adjacent draw other pairs when asked again: {quoted(str(error))}") from None
    except Exception as error:
        raise ValueError(f"data and adjacent: drawing a pair raised {quoted(error_text(error))}") from error
    if failures:
        raise failures[0]
    if found.examples == 0 and not (stopped or is_over()):
        raise ValueError("data and adjacent: no pair of neighbouring inputs could be drawn from them")
    return found


def in_example(seed: int, call: Callable[[], Any]) -> Any:
    """Return what a function returns that is called once, in an example of Hypothesis: some strategies draw only
    there.
    """
    import hypothesis
    from hypothesis import strategies as st

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
    seed: int, examples: int, kept: KeptPairs | None = None
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Return the decorator of a test of Hypothesis that draws the same inputs for the same seed, and keeps no record.

    It shrinks the first example that raises. examples: at most. kept: examples that come first.
    """
    import hypothesis

    settings = hypothesis.settings(
        max_examples=examples,
        database=kept,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.reuse, hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )
    return lambda test: settings(hypothesis.seed(seed)(test))  # in this order: `seed` takes away a database


def written(pair: Pair) -> tuple[str, str]:
    """Return the two inputs as texts, by which pairs are told apart."""
    one, other = pair
    return text_of(one), text_of(other)


def _rank(found: Ranking, score: float, pair: Pair) -> None:
    found.ranked.append((score, pair))
    found.ranked.sort(key=lambda one: -one[0])
    del found.ranked[KEPT:]
