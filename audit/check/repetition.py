"""Inputs with ties: lists of one or two distinct values, short and long ones, and floats close to one before them.

Hypothesis draws numbers one by one: equal and close ones are rare, and long lists do not occur. Real data hold all of
these, and flaws show there: the largest of equal counts, a thousand records at a bound, bounds that rounding moves.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.domain import belongs

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

OFTEN = 3  # one list in so many has ties, and one float in so many is close to the one before it
LONGEST = 1 << 12  # entries of a list with ties, where it may be as short
DRAWN_MAX = 256  # entries of a list that are drawn one by one: Hypothesis can hardly draw more
ATOMS = (int, float, str, bytes, bool, type(None))

Draw = Callable[..., Any]


def with_repetition(strategy: Any) -> Any:
    """Return a strategy of the same domain whose lists are of one or two distinct values now and then.

    Lists are found in tuples, unions, and in what is mapped, filtered or composed; a strategy of another kind is
    returned as it is, as are lists of unique entries. Of several floats of a tuple, a list with ties, or what is
    composed, one is close to the one before it now and then.
    """
    from hypothesis import strategies as st

    match type(strategy).__name__:
        case "LazyStrategy":
            inner = with_repetition(strategy.wrapped_strategy)
            return strategy if inner is strategy.wrapped_strategy else inner
        case "ListStrategy":
            return _lists(strategy)
        case "TupleStrategy":
            return _tuples(strategy)
        case "OneOfStrategy":
            return _rebuilt(strategy, strategy.original_strategies, st.one_of)
        case "MappedStrategy":
            return _rebuilt(strategy, [strategy.mapped_strategy], lambda inner: inner.map(strategy.pack))
        case "FilteredStrategy":
            return _rebuilt(strategy, [strategy.filtered_strategy], lambda inner: _filtered(inner, strategy))
        case "FlatMapStrategy":
            return with_repetition(strategy.base).flatmap(lambda value: with_repetition(strategy.expand(value)))
        case "CompositeStrategy":
            return _composite(strategy)
    return strategy


def _rebuilt(strategy: Any, parts: Any, made: Callable[..., Any]) -> Any:
    """Return a strategy made of its parts with repetition; itself where none of them has any."""
    changed = [with_repetition(part) for part in parts]
    return strategy if all(new is old for new, old in zip(changed, parts, strict=True)) else made(*changed)


def _filtered(inner: Any, strategy: Any) -> Any:
    for condition in strategy.flat_conditions:
        inner = inner.filter(condition)
    return inner


def _tuples(strategy: Any) -> Any:
    from hypothesis import strategies as st

    parts = strategy.element_strategies
    if sum(_is_of_floats(part) for part in parts) < 2:
        return _rebuilt(strategy, parts, st.tuples)

    @st.composite
    def drawn(draw: Draw) -> tuple[Any, ...]:
        close = _closely(draw)
        return tuple([close(part) for part in parts])

    return drawn()


def _composite(strategy: Any) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    @st.composite
    def composed(draw: Draw) -> Any:
        return strategy.definition(_closely(draw), *strategy.args, **strategy.kwargs)

    return composed()


def _is_of_floats(strategy: Any) -> bool:
    return type(getattr(strategy, "wrapped_strategy", strategy)).__name__ == "FloatStrategy"


def _closely(draw: Draw) -> Draw:
    """Return a function that draws as another does, and a float close to the one before it now and then: up to as far
    away as it is large, in steps of the last bit."""
    from hypothesis import strategies as st

    before: list[float] = []
    powers = st.integers(0, 4) | st.integers(0, 52)  # the closest half of the time

    def close(strategy: Any, **options: Any) -> Any:
        if not _is_of_floats(strategy):
            return draw(with_repetition(strategy), **options)
        if before and draw(st.integers(1, OFTEN)) == OFTEN:
            step = math.ldexp(math.ulp(before[-1]), draw(powers))
            one = before[-1] + (step if draw(st.booleans()) else -step)
            value = one if belongs(strategy, one) else draw(strategy, **options)
        else:
            value = draw(strategy, **options)
        if math.isfinite(value):
            before.append(value)
        return value

    return close


def _lists(strategy: Any) -> SearchStrategy[list[Any]]:
    from hypothesis import strategies as st

    least, most = strategy.min_size, strategy.max_size
    sizes, element = st.sampled_from(_sizes(least, most)), strategy.element_strategy

    @st.composite
    def drawn(draw: Draw) -> list[Any]:
        if least <= DRAWN_MAX and draw(st.integers(1, OFTEN)) < OFTEN:
            return list(draw(strategy))
        size = draw(sizes)
        last = draw(st.sampled_from(sorted({0, min(1, size), size // 2})))  # entries of the other value
        close = _closely(draw)
        return [*_equal(close, element, size - last), *_equal(close, element, last)]

    return drawn()


def _sizes(least: int, most: float) -> list[int]:
    """Return sizes of lists with ties: the smallest, the largest, and those at and next to powers of two.

    >>> _sizes(0, 12)
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 12]
    """
    largest = int(min(most, max(least, LONGEST)))
    near = {2**power + by for power in range(LONGEST.bit_length()) for by in (-1, 0, 1)}
    return sorted({least, largest, *(size for size in near if least <= size <= largest)})


def _equal(draw: Draw, element: SearchStrategy[Any], size: int) -> list[Any]:
    """Return so many entries of one value, none of which is another's object."""
    if size == 0:
        return []
    one = draw(element)
    return [one] * size if isinstance(one, ATOMS) else [one, *(copy.deepcopy(one) for _ in range(size - 1))]
