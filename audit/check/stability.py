"""A deterministic transformation and the map that bounds its stability: a pair whose outputs lie further apart."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from subnormal.audit.check import adjacency
from subnormal.audit.check.distance import Norm, apart, rounded
from subnormal.audit.check.function import function as audited_function
from subnormal.audit.check.function import isolated
from subnormal.audit.check.result import Result, StabilityEvidence
from subnormal.audit.check.search import Pair, search
from subnormal.audit.model import Verdict
from subnormal.audit.text import quoted
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import require_positive

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

AGAIN = 3  # further runs of each input of a pair that convicts: all must return the same

Number = int | float | Fraction


def stability(
    function: Callable[..., Any],
    data: SearchStrategy[Any] | None = None,
    adjacent: Any = None,
    distance: Norm | Callable[[Any, Any], Number] = "l1",
    bound: Number | Callable[[Any, Any], Number] = 0,
    *,
    pairs: Sequence[Pair] | None = None,
    seconds: float = 60.0,
    seed: int = 1,
) -> Result:
    """Search for two neighbouring inputs whose outputs lie further apart than a transformation's map says.

    The comparison is exact, so one pair is a proof. Where only one input has a finite output, or the outputs have
    other lengths, the distance is infinite.

    >>> from hypothesis import strategies as st
    >>> records = st.lists(st.integers(0, 9), min_size=1)
    >>> found = stability(sum, records, adjacency.change_one(), "l1", bound=8)
    >>> str(found.verdict), sorted(found.worlds), found.evidence["exact"].distance
    ('VIOLATED', [[0], [9]], Fraction(9, 1))

    Args:
        function: takes one dataset and returns its output, the same at each call.
        data: a Hypothesis strategy of datasets: the domain.
        adjacent: which two are neighbours, as in `check`.
        distance: of two outputs: "l1", "l2" or "linf" of their difference (numbers or vectors), computed exactly, or a
            function of them. "l2" is compared by squares.
        bound: on the distance, at least 0: a number, or a function of two neighbouring inputs.
        pairs: the pairs (in, out) to try, instead of data and adjacent.
        seconds: for the whole search.
        seed: of the search.

    Returns:
        The two inputs, and evidence of the kind `exact`: both outputs, their distance and the bound. VIOLATED, or NOT
        REFUTED with the pair that came closest.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range, no pair can be drawn, or the function is not deterministic.
    """
    require_positive("seconds", seconds)
    if (adjacent is None) == (pairs is None):
        raise TypeError("adjacent or pairs must be given, and not both")
    if not callable(distance) and distance not in ("l1", "l2", "linf"):
        raise ValueError(f"distance must be 'l1', 'l2', 'linf' or a function, got {quoted(distance)}")
    strategy = adjacency.pairs(data, adjacent if pairs is None else list(pairs))
    audited, started = audited_function(function), time.monotonic()

    def seen(pair: Pair) -> StabilityEvidence:
        one, other = (audited.outcome(world) for world in pair)
        limit = _limit(bound, pair)
        far = _distance(one, other, distance)
        exceeded = far > (limit**2 if distance == "l2" else limit)
        verdict = Verdict.VIOLATED if exceeded else Verdict.NOT_REFUTED
        far = math.sqrt(rounded(far)) if distance == "l2" else far
        name = distance if isinstance(distance, str) else getattr(distance, "__name__", "distance")
        return StabilityEvidence(verdict, (one, other), far, limit, name)

    def score(pair: Pair) -> float:
        found = seen(pair)
        if found.verdict is Verdict.VIOLATED:
            return math.inf
        return float(found.distance / found.bound) if 0 < found.bound < math.inf else 0.0

    with isolated(seed):
        found = search(strategy, score, seed=seed, seconds=seconds)
        pair = found.convicting or found.ranked[0][1]
        evidence = seen(pair)
        again = [tuple(map(identity, seen(pair).outputs)) for _ in range(AGAIN)]
    if any(outputs != tuple(map(identity, evidence.outputs)) for outputs in again):
        raise ValueError(f"function must be deterministic: {audited.name} returned other outputs for the same input")
    return Result(
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
    )


def _limit(bound: Any, pair: Pair) -> Fraction | float:
    limit = bound(*pair) if callable(bound) else bound
    if not isinstance(limit, Number) or math.isnan(limit) or limit < 0:
        raise ValueError(f"bound must be a number of at least 0, got {quoted(limit)}")
    return math.inf if limit == math.inf else Fraction(limit)


def _distance(one: Any, other: Any, distance: Any) -> Fraction | float:
    """Return the distance of two outputs, exactly; of "l2" its square. Outputs that are equal lie 0 apart."""
    if identity(one) == identity(other):
        return Fraction(0)
    if isinstance(one, Refused) or isinstance(other, Refused):
        return math.inf
    if callable(distance):
        far = cast("Number", distance(one, other))
        return Fraction(far) if math.isfinite(far) else math.inf
    try:
        return apart(one, other, distance)
    except (OverflowError, ValueError):  # an infinity, a NaN, or another length
        return math.inf
