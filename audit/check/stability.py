"""A deterministic transformation and the map that bounds its stability: a pair whose outputs lie further apart."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hypothesis.strategies import SearchStrategy

from subnormal.audit.check.evidence import StabilityEvidence
from subnormal.audit.check.function import Function, all_refused, always_raised, copied, isolated, value_of
from subnormal.audit.check.function import function as audited_function
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import EXAMPLES, Pair, Ranking, search
from subnormal.audit.check.words import stated_words
from subnormal.audit.clock import clock_of
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours import relations
from subnormal.audit.neighbours.constants import constants_of
from subnormal.audit.text import quoted
from subnormal.audit.values.distance import Norm, apart, exact, root
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

AGAIN = 3  # further runs of each input of the pair that is returned: all must return the same

Number = int | float | Fraction


def stability(
    function: Callable[..., Any] | None = None,
    data: SearchStrategy[Any] | None = None,
    adjacent: Any = None,
    distance: Norm | Callable[[Any, Any], Number] = "l1",
    bound: Number | Callable[[Any, Any], Number] = 0,
    *,
    pairs: Sequence[Pair] | None = None,
    fresh: Callable[[], Callable[..., Any]] | None = None,
    seconds: float | None = None,
    examples: int | None = None,
    seed: int = 1,
) -> Result:
    """Search for two neighbouring inputs whose outputs lie further apart than a transformation's map says.

    The comparison is exact, so one pair is a proof. Where the outputs have other lengths, or only one of two entries is
    finite, the distance is infinite; an infinity or NaN is 0 apart from itself.

    >>> from hypothesis import strategies as st
    >>> records = st.lists(st.integers(0, 9), min_size=1)
    >>> found = stability(sum, records, relations.change_one(), "l1", bound=8)
    >>> str(found.verdict), sorted(found.worlds), found.evidence["exact"].distance
    ('VIOLATED', [[0], [9]], Fraction(9, 1))

    Args:
        function: takes one dataset and returns its output, the same at each call.
        data: a Hypothesis strategy of datasets: the domain.
        adjacent: which two are neighbours, as in `check`.
        distance: of two outputs: "l1", "l2" or "linf" of their difference (numbers, vectors, matrices, or dictionaries
            of numbers, where a key that one does not have counts as 0), computed exactly, or a function of them as
            outcomes, lists and arrays as tuples (see `as_outcome`). "l2" is compared by squares.
        bound: on the distance, at least 0: a number, or a function of two neighbouring inputs.
        pairs: the pairs (in, out) to try, instead of data and adjacent.
        fresh: instead of the function, a function of no arguments that returns the function to call once.
        seconds: for the whole search. None: 60, and no limit where examples are given.
        examples: pairs of inputs that are tried, at most, and those that make a pair smaller. With them one seed gives
            the same result on every machine.
        seed: of the search, and of generators as in `check`.

    Returns:
        The two inputs, and evidence of the kind `exact`: both outputs, their distance and the bound. VIOLATED, or NOT
        REFUTED with the pair that came closest; an error and no verdict where every run raised.

    Raises:
        TypeError: an argument is of the wrong type, an input or output cannot be copied, or "l1", "l2" or "linf" has to
            measure what is no number.
        ValueError: a number is out of range, no pair can be drawn, or the function is seen not to be deterministic:
            the pair that is returned is run again, and no other one.
    """
    clock, searching = clock_of(examples, None, seconds)
    if (adjacent is None) == (pairs is None):
        raise TypeError("adjacent or pairs must be given, and not both")
    if not callable(distance) and distance not in ("l1", "l2", "linf"):
        raise ValueError(f"distance must be 'l1', 'l2', 'linf' or a function, got {quoted(distance)}")
    audited, started = audited_function(function, fresh=fresh), time.monotonic()
    strategy = relations.pairs(data, adjacent if pairs is None else list(pairs), constants_of(audited.function))
    tried = _Transformation(audited, distance, bound)
    with isolated(seed, audited):
        found = search(strategy, tried.score, seed=seed, seconds=searching, examples=examples or EXAMPLES, clock=clock)
        pair = found.convicting or found.ranked[0][1]
        evidence = tried.evidence(pair)
        again = [tried.evidence(pair) for _ in range(AGAIN)]
    if tried.answered and _differ(found, evidence, again):
        raise ValueError(
            f"function must be deterministic: {audited.name} returned other outputs for the same input; where calls "
            "share a state, pass fresh=, a function of no arguments that returns the function to call once"
        )
    result = Result(
        verdict=evidence.verdict,
        function=audited.name,
        claim=None,
        point=None,
        stage="stability",
        worlds=pair,
        event=None,
        evidence={"exact": evidence},
        error=None,
        notes=(),
        examples=found.examples,
        runs=audited.runs,
        seconds=time.monotonic() - started,
        seed=seed,
        place=audited.place,
        fresh=audited.fresh,
        domain=stated_words(data),
        relation=None if isinstance(adjacent, Sequence) else stated_words(adjacent),
    )
    if tried.answered:
        return result
    error = always_raised(evidence.outputs[-1])
    return replace(result, verdict=None, stage="first call", worlds=None, evidence={}, error=error)


@dataclass(slots=True)
class _Transformation:
    """A transformation with its map. answered: whether a call of it has returned."""

    function: Function
    distance: Norm | Callable[[Any, Any], Number]
    bound: Number | Callable[[Any, Any], Number]
    answered: bool = False

    def score(self, pair: Pair) -> float:
        """Return how close the outputs come to the bound; ∞ where they lie further apart."""
        found = self.evidence(pair)
        if found.verdict is Verdict.VIOLATED:
            return math.inf
        if all_refused(found.outputs):  # says nothing of the map
            return -math.inf
        return float(found.distance / found.bound) if 0 < found.bound < math.inf else 0.0

    def evidence(self, pair: Pair) -> StabilityEvidence:
        """Return how far apart the outputs of a pair lie, and the bound."""
        (one, first), (other, second) = (self._called(data) for data in pair)
        limit, distance = _limit(self.bound, pair), self.distance
        far = Fraction(0) if identity(one) == identity(other) else _distance((one, other), (first, second), distance)
        exceeded = far > (limit**2 if distance == "l2" else limit)
        verdict = Verdict.VIOLATED if exceeded else Verdict.NOT_REFUTED
        far = root(far, limit) if distance == "l2" else far
        name = distance if isinstance(distance, str) else getattr(distance, "__name__", "distance")
        return StabilityEvidence(verdict, (one, other), far, limit, name)

    def _called(self, data: Any) -> tuple[Hashable, Any]:
        """Return an output as an outcome, and a copy of it: the next call may write into the same object."""
        released = self.function.released(data)
        self.function.runs += 1
        self.answered = self.answered or not isinstance(released, Refused)
        return as_outcome(released), copied(released)


def _differ(found: Ranking, evidence: StabilityEvidence, again: Sequence[StabilityEvidence]) -> bool:
    """Return whether the outputs of the pair that was found are other ones than in the search, or than again later."""
    outputs = [list(map(identity, one.outputs)) for one in (evidence, *again)]
    acquitted = found.convicting is not None and evidence.verdict is not Verdict.VIOLATED
    stopped = found.ranked[0][0] > -math.inf and all_refused(evidence.outputs)  # it had answered
    return acquitted or stopped or any(one != outputs[0] for one in outputs)


def _limit(bound: Any, pair: Pair) -> Fraction | float:
    return _nonnegative("bound must be", value_of("bound", bound, *pair) if callable(bound) else bound)


def _nonnegative(must: str, number: Any) -> Fraction | float:
    """Return a number exactly. Raises TypeError for what is none, ValueError for NaN and for one below 0."""
    try:
        value = exact(number)
    except TypeError as error:
        raise TypeError(f"{must} a number of at least 0: {error}") from None
    if not value >= 0:
        raise ValueError(f"{must} a number of at least 0, got {quoted(number)}")
    return value


def _distance(outputs: tuple[Any, Any], released: Sequence[Any], distance: Any) -> Fraction | float:
    """Return the distance of two outputs that differ, exactly; of "l2" its square. released: as the function does."""
    if any(isinstance(output, Refused) for output in outputs):
        return math.inf
    if callable(distance):
        return _nonnegative("distance must return", value_of("distance", distance, *outputs))
    try:
        return apart(released[0], released[1], distance)
    except ValueError:  # another length
        return math.inf
    except TypeError as error:
        raise TypeError(f"distance {distance!r} takes numbers, and vectors or dictionaries of them: {error}") from None
