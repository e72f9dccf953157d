"""Two inputs of one domain that differ little: both are drawn by the strategy, whether its kind is known or not.

What a change makes of an input lies in the domain where its kind is known (`domain`). Of `.map` and what is composed
nothing is known. So the change is made before: the function is called on an input, and on a change of that input; what
is composed is composed twice, of the same parts except one. Whether the two results are neighbours is then for the
caller to look at.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias

from subnormal.audit.check.domain import belongs, is_known
from subnormal.audit.check.repetition import with_repetition

MADE_OF = {  # what strategies are made of, by their kind
    "MappedStrategy": ("mapped_strategy", "pack"),
    "FilteredStrategy": ("filtered_strategy", "flat_conditions"),
    "FlatMapStrategy": ("base", "expand"),
    "CompositeStrategy": ("definition", "args", "kwargs"),
    "BuildsStrategy": ("target", "args", "kwargs"),
    "OneOfStrategy": ("original_strategies",),
    "TupleStrategy": ("element_strategies",),
    "ListStrategy": ("element_strategy", "min_size", "max_size"),
    "IntegersStrategy": ("start", "end"),
    "FloatStrategy": ("min_value", "max_value", "allow_nan", "smallest_nonzero_magnitude"),
    "BooleansStrategy": (),
    "SampledFromStrategy": ("elements", "_transformations"),
    "JustStrategy": ("elements", "_transformations"),
}
PARTS = 16  # parts of what is composed, one of which differs, at the most

Draw: TypeAlias = Callable[..., Any]
Change: TypeAlias = Callable[[Draw, Any], Callable[[Any], Any]]


def draw_changed_pair(draw: Draw, strategy: Any, change: Change) -> tuple[Any, Any]:
    """Return two inputs that the strategy draws, of which one, or something it was made from, is a change of the other.

    change(draw, strategy) draws what it needs and returns the function from an input to another one of the strategy,
    whose kind is known. It raises TypeError, and so does that function, where inputs cannot be changed so.
    """
    from hypothesis import assume
    from hypothesis import strategies as st

    kind = "known" if is_known(strategy) else type(strategy).__name__
    if type(strategy).__name__ == "OneOfStrategy" and draw(st.booleans()):  # known elements of one part only
        kind = "OneOfStrategy"
    match kind:
        case "LazyStrategy":
            return draw_changed_pair(draw, strategy.wrapped_strategy, change)
        case "FilteredStrategy":
            pair = draw_changed_pair(draw, strategy.filtered_strategy, change)
            assume(all(condition(copy.deepcopy(one)) for condition in strategy.flat_conditions for one in pair))
            return pair
        case "OneOfStrategy":
            return draw_changed_pair(draw, draw(st.sampled_from(strategy.original_strategies)), change)
        case "FlatMapStrategy":
            return _expanded(draw, strategy, change)
        case "CompositeStrategy":
            return _composed(draw, strategy, change)
        case "BuildsStrategy":
            return _built(draw, strategy, change)
        case "MappedStrategy":
            one, other = _of_part(draw, strategy.mapped_strategy, change)
            return strategy.pack(one), strategy.pack(other)
        case "known":
            changed = change(draw, strategy)
            one = draw(with_repetition(strategy))
            return one, changed(one)
    return draw(strategy), draw(strategy)


def _expanded(draw: Draw, strategy: Any, change: Change) -> tuple[Any, Any]:
    """Return two inputs of one strategy, or of two: what they are expanded from may be a size, which differs by one."""
    from hypothesis import strategies as st

    base = draw(strategy.base)
    near = _near(draw, base) if draw(st.booleans()) else None
    part = strategy.expand(base)
    if near is None or belongs(strategy.base, near) is not True or not is_known(other_part := strategy.expand(near)):
        return draw_changed_pair(draw, part, change)
    changed = change(draw, other_part)
    one = draw(with_repetition(part))
    return one, changed(one)


def _near(draw: Draw, one: Any) -> Any:
    """Return a number, or the shape of an array, that is one larger or smaller; None for what is neither."""
    from hypothesis import strategies as st

    if type(one) is tuple and one:
        first = _near(draw, one[0])
        return None if first is None else (first, *one[1:])
    return one + draw(st.sampled_from((1, -1))) if type(one) is int else None


def _of_part(draw: Draw, strategy: Any, change: Change) -> tuple[Any, Any]:
    """Return two parts, of which the one is a change of the other.

    Where they cannot be changed so, a number is one more or less than the other (a size, for instance), and of any
    other kind two are drawn.
    """
    try:
        return draw_changed_pair(draw, strategy, change)
    except TypeError:
        one = draw(strategy)
        near = _near(draw, one)
        return one, near if belongs(strategy, near) else draw(strategy)


def _built(draw: Draw, strategy: Any, change: Change) -> tuple[Any, Any]:
    """Return what a function builds of some arguments, and of the same ones except one of them."""
    from hypothesis import strategies as st

    parts = [*strategy.args, *strategy.kwargs.values()]
    if not parts:
        return draw(strategy), draw(strategy)
    chosen = draw(st.integers(0, len(parts) - 1))
    both = []
    for place, part in enumerate(parts):
        one = None if place == chosen else draw(with_repetition(part))
        both.append(_of_part(draw, part, change) if place == chosen else (one, copy.deepcopy(one)))
    first, second = (
        strategy.target(
            *values[: len(strategy.args)], **dict(zip(strategy.kwargs, values[len(strategy.args) :], strict=True))
        )
        for values in zip(*both, strict=True)
    )
    return first, second


def _composed(draw: Draw, strategy: Any, change: Change) -> tuple[Any, Any]:
    """Return what is composed of some parts, and what is composed of the same ones except one of them, and except those
    that the strategy, asked again, may not draw."""
    from hypothesis import assume
    from hypothesis import strategies as st

    chosen, parts = draw(st.integers(0, 1) | st.integers(0, PARTS - 1)), list[tuple[Any, Any]]()

    def first(part: Any, **_: Any) -> Any:
        if len(parts) == chosen:
            one, other = _of_part(draw, part, change)
        else:
            one = draw(with_repetition(part))
            other = copy.deepcopy(one)
        parts.append((part, other))
        return one

    def again(part: Any, **_: Any) -> Any:
        before, value = parts.pop(0) if parts else (None, None)
        may_draw = _is_same(before, part) or belongs(part, value) is True  # else it depends on the part that differs
        return value if may_draw else draw(with_repetition(part))

    one = strategy.definition(first, *strategy.args, **strategy.kwargs)
    assume(chosen < len(parts))
    return one, strategy.definition(again, *strategy.args, **strategy.kwargs)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two strategies, or things that they are made of, are known to be the same. Two functions are,
    where they have one text and no variables of their own: else they may depend on what was drawn before."""
    one, other = (getattr(made, "wrapped_strategy", made) for made in (one, other))
    if one is other:
        return True
    kind = type(one).__name__
    if type(one) is not type(other):
        return False
    if kind in MADE_OF:
        return all(_is_same(getattr(one, name), getattr(other, name)) for name in MADE_OF[kind])
    if isinstance(one, FunctionType):
        own = [made.__closure__ or made.__defaults__ or made.__kwdefaults__ for made in (one, other)]
        return one.__code__ == other.__code__ and one.__globals__ is other.__globals__ and not any(own)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and _is_same(list(one.values()), list(other.values()))
    return isinstance(one, int | float | str | bytes) and repr(one) == repr(other)
