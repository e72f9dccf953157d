"""Whether an input belongs to the domain that a Hypothesis strategy describes.

Hypothesis draws from a strategy and does not say what belongs to it. The common strategies (integers, floats, booleans,
lists, tuples, arrays, samples, and filters and unions of them) hold their bounds in attributes, which are read here;
`frames` does it for those of pandas. Of any other strategy nothing is known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from subnormal.audit.check.search import is_one_input

KEEPING = (dict, tuple, list, np.array, np.asarray)  # functions that keep all that a list holds


def belongs(strategy: Any, value: Any, drawn: Sequence[Any] = ()) -> bool | None:
    """Return whether the strategy can draw the value; None where its kind is not known.

    drawn: objects that the strategy of the elements of a list has drawn: they are elements of it, whatever its kind; or
    frames that the strategy has drawn, or rows of such.

    >>> from hypothesis import strategies as st
    >>> belongs(st.lists(st.integers(0, 9), min_size=1), []), belongs(st.integers(0, 9), 9)
    (False, True)
    """
    inner = getattr(strategy, "wrapped_strategy", strategy)
    kind = type(inner).__name__
    known = _KINDS.get(kind)
    if known is None:
        return belongs(inner, value, drawn) if inner is not strategy and hasattr(inner, "wrapped_strategy") else None
    return known(inner, value, drawn)


def is_known(strategy: Any) -> bool:
    """Return whether `belongs` tells what lies outside of a strategy, up to the elements of its lists.

    >>> from hypothesis import strategies as st
    >>> is_known(st.lists(st.text()).map(tuple)), is_known(st.lists(st.text()).map(sorted))
    (True, False)
    """
    inner = getattr(strategy, "wrapped_strategy", strategy)
    match type(inner).__name__:
        case "FilteredStrategy":
            return is_known(inner.filtered_strategy)
        case "OneOfStrategy":
            return all(map(is_known, inner.original_strategies))
        case "MappedStrategy":
            return inner.pack in KEEPING and is_known(inner.mapped_strategy)
        case "SampledFromStrategy" | "JustStrategy":
            return not getattr(inner, "_transformations", ())
        case "ArrayStrategy":
            return _is_narrow(inner.element_strategy) or is_known(inner.element_strategy)
        case "CompositeStrategy" | "BuildsStrategy" | "ValueIndexStrategy":
            return (frames := _frames()) is not None and bool(frames.is_known_to_pandas(inner))
        case kind:
            return kind in _KINDS or (inner is not strategy and hasattr(inner, "wrapped_strategy") and is_known(inner))


def elements(strategy: Any) -> Any:
    """Return the strategy of the elements of lists, or of what tuples or arrays are made of; None where none is known.

    >>> from hypothesis import strategies as st
    >>> elements(st.lists(st.booleans()).map(tuple)), elements(st.integers())
    (booleans(), None)
    """
    inner = getattr(strategy, "wrapped_strategy", strategy)
    match type(inner).__name__:
        case "ListStrategy" | "UniqueListStrategy" | "UniqueSampledListStrategy":
            return inner.element_strategy if _suffixes(inner) is None else _joined(inner)
        case "FilteredStrategy":
            return elements(inner.filtered_strategy)
        case "MappedStrategy" if inner.pack in (tuple, list, np.array, np.asarray):
            return elements(inner.mapped_strategy)
        case "ArrayStrategy" if len(inner.shape) == 1:
            return inner.element_strategy
    return elements(inner) if inner is not strategy and hasattr(inner, "wrapped_strategy") else None


def _suffixes(strategy: Any) -> Any:
    """Return the strategy of what follows the first entry of tuples, where a list that is unique by that one has it."""
    return getattr(strategy, "tuple_suffixes", None)


def _joined(strategy: Any) -> Any:
    from hypothesis import strategies as st

    return st.tuples(strategy.element_strategy, _suffixes(strategy)).map(lambda parts: (parts[0], *parts[1]))


def all_of(answers: list[bool | None]) -> bool | None:
    if any(answer is False for answer in answers):
        return False
    return None if None in answers else True


def _integers(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool:
    low, high = strategy.start, strategy.end
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_whole and (low is None or value >= low) and (high is None or value <= high)


def _floats(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool:
    if not isinstance(value, float | np.floating):
        return False
    if math.isnan(value):
        return bool(strategy.allow_nan)
    is_too_small = 0 < abs(float(value)) < strategy.smallest_nonzero_magnitude
    return bool(strategy.min_value <= value <= strategy.max_value) and not is_too_small


def _is_narrow(strategy: Any) -> bool:
    """Return whether these are floats of 16 or 32 bits: Hypothesis draws wider ones, and rounds them."""
    inner = getattr(strategy, "wrapped_strategy", strategy)
    return getattr(getattr(inner, "pack", None), "__qualname__", "") == "floats.<locals>.downcast"


def _narrow(strategy: Any, value: Any) -> bool:
    if not belongs(strategy.mapped_strategy, value):
        return False
    own = dict(zip(strategy.pack.__code__.co_freevars, strategy.pack.__closure__, strict=True))
    with np.errstate(over="ignore"):
        narrow = np.array(value, dtype=f"f{own['width'].cell_contents // 8}")
    return repr(float(narrow)) == repr(float(value))


def _list(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    if not isinstance(value, list):
        return False
    if not strategy.min_size <= len(value) <= strategy.max_size:
        return False
    answers, suffixes = [], _suffixes(strategy)
    if suffixes is not None:
        if not all(isinstance(one, tuple) and one for one in value):
            return False
        answers = [belongs(suffixes, one[1:]) for one in value]
        value = [one[0] for one in value]
    keys = getattr(strategy, "keys", ())
    if any(len({key(one) for one in value}) < len(value) for key in keys):
        return False
    known = suffixes is None and {id(one) for one in drawn}
    return all_of(answers + [(known and id(one) in known) or belongs(strategy.element_strategy, one) for one in value])


def _tuple(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    parts = strategy.element_strategies
    if not isinstance(value, tuple) or len(value) != len(parts):
        return False
    return all_of([belongs(part, one) for part, one in zip(parts, value, strict=True)])


def _filtered(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    inner = belongs(strategy.filtered_strategy, value, drawn)
    if inner is False:
        return False
    return inner if all(condition(value) for condition in strategy.flat_conditions) else False


def _mapped(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    """Of dictionaries, tuples, lists and arrays of what a list holds all is known; of another image nothing."""
    if strategy.pack is dict:
        return belongs(strategy.mapped_strategy, list(value.items())) if isinstance(value, dict) else False
    if _is_narrow(strategy):
        return _narrow(strategy, value)
    if strategy.pack not in KEEPING:
        return None
    if not isinstance(value, np.ndarray if strategy.pack in (np.array, np.asarray) else strategy.pack):
        return False
    origin = list(value) if isinstance(value, tuple | list) else value.tolist()
    answer = belongs(strategy.mapped_strategy, origin, drawn)
    if isinstance(value, np.ndarray) and answer and np.asarray(origin).dtype != value.dtype:
        return False
    return answer


def _sample(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    if getattr(strategy, "_transformations", ()):
        return None
    return any(type(one) is type(value) and _is_equal(one, value) for one in strategy.elements)


def _is_equal(one: Any, other: Any) -> bool:
    return bool(one == other) if not hasattr(one, "__array__") else is_one_input((one, other))


def _union(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    answers = [belongs(part, value) for part in strategy.original_strategies]  # another part may have drawn elements
    return True if True in answers else None if None in answers else False


def _array(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    """Entries are drawn from the strategy of the elements, or all from that of what fills the rest of an array."""
    if not isinstance(value, np.ndarray) or value.dtype != strategy.dtype or value.shape != tuple(strategy.shape):
        return False
    return hold_entries(strategy.element_strategy, strategy.fill, value.ravel().tolist(), unique=strategy.unique)


def hold_entries(element: Any, fill: Any, entries: list[Any], *, unique: bool) -> bool | None:
    """Return whether entries of an array are drawn by a strategy of elements, or of what fills the rest."""
    if unique and len(set(entries)) < len(entries):
        return False
    answers = [[_entry(part, one) for part in (element, fill)] for one in entries]
    return all_of([True if True in both else both[0] for both in answers])


def _entry(strategy: Any, value: Any) -> bool | None:
    """Return whether a strategy can draw an entry: an array of floats holds a whole number as a float."""
    answer = belongs(strategy, value)
    if answer is False and isinstance(value, float) and value.is_integer() and str(value) != "-0.0":
        return belongs(strategy, int(value))
    return answer


def _of_pandas(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    frames = _frames()
    return None if frames is None else frames.belongs_to_pandas(strategy, value, drawn)


def _frames() -> Any:
    """Return the module about frames; None where pandas is not imported, so that nothing draws any."""
    if "pandas" not in sys.modules:
        return None
    from subnormal.audit.check import frames

    return frames


def _built(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    """Of named tuples all is known: their types add nothing to what they are built of."""
    kind = strategy.target
    if getattr(kind, "__bases__", ()) != (tuple,) or not hasattr(kind, "_fields"):
        return _of_pandas(strategy, value, drawn)
    parts = dict(zip(kind._fields, strategy.args, strict=False)) | strategy.kwargs
    if type(value) is not kind:
        return False
    known = [
        belongs(parts[name], one) if name in parts else None for name, one in zip(kind._fields, value, strict=True)
    ]
    return all_of(known)


_KINDS = {
    "IntegersStrategy": _integers,
    "FloatStrategy": _floats,
    "BooleansStrategy": lambda strategy, value, drawn: isinstance(value, bool | np.bool_),
    "ListStrategy": _list,
    "UniqueListStrategy": _list,
    "UniqueSampledListStrategy": _list,
    "TupleStrategy": _tuple,
    "SampledFromStrategy": _sample,
    "JustStrategy": _sample,
    "FilteredStrategy": _filtered,
    "MappedStrategy": _mapped,
    "OneOfStrategy": _union,
    "ArrayStrategy": _array,
    "CompositeStrategy": _of_pandas,
    "BuildsStrategy": _built,
    "ValueIndexStrategy": _of_pandas,
}
