"""Whether Hypothesis' `data_frames` of columns can draw a frame, and its `range_indexes` and `indexes` an index.

Imported where pandas is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas

from subnormal.audit.check.datasets import is_frame, text_of_record
from subnormal.audit.check.domain import all_of, belongs, hold_entries, is_known

OF_COLUMNS = "data_frames.<locals>.just_draw_columns"


def is_known_to_pandas(strategy: Any) -> bool:
    """Return whether `belongs_to_pandas` tells what lies outside of a strategy, up to entries and labels."""
    match type(strategy).__name__:
        case "ValueIndexStrategy":
            return is_known(strategy.name)
        case "BuildsStrategy":
            return strategy.target is pandas.RangeIndex and all(
                map(is_known, (*strategy.args, *strategy.kwargs.values()))
            )
    own = _variables(strategy)
    return own is not None and is_known(own["index_strategy"])


def belongs_to_pandas(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    """Return whether the strategy can draw a frame or an index; None where its kind is not known.

    drawn: frames or indices that it has drawn. Their entries and labels are elements of it, whatever its kind.
    """
    match type(strategy).__name__:
        case "ValueIndexStrategy":
            return _is_of_values(strategy, value, drawn)
        case "BuildsStrategy":
            return _is_range(strategy, value) if strategy.target is pandas.RangeIndex else None
    own = _variables(strategy)
    if own is None:
        return None
    columns, frames = own["rewritten_columns"], list(filter(is_frame, drawn))
    if not is_frame(value) or list(value.columns) != [column.name for column in columns]:
        return False
    entries = [
        _is_column(column, value.iloc[:, place], [frame.iloc[:, place] for frame in frames])
        for place, column in enumerate(columns)
    ]
    return all_of([belongs(own["index_strategy"], value.index, [frame.index for frame in frames]), *entries])


def _variables(strategy: Any) -> dict[str, Any] | None:
    """Return what the function that draws frames of columns refers to; None for another one."""
    drawn = strategy.definition
    if drawn.__qualname__ != OF_COLUMNS:
        return None
    own = {name: cell.cell_contents for name, cell in zip(drawn.__code__.co_freevars, drawn.__closure__, strict=True)}
    return own if {"index_strategy", "rewritten_columns"} <= set(own) else None


def _is_column(column: Any, series: Any, drawn: Sequence[Any]) -> bool | None:
    is_inferred = column.dtype is None and not column.fill.is_empty
    if not _is_of_one_type(series, drawn, pandas.Series(series.tolist()) if is_inferred else series):
        return False
    return _hold(column.elements, column.fill, series.tolist(), drawn, unique=column.unique)


def _is_of_values(strategy: Any, value: Any, drawn: Sequence[Any]) -> bool | None:
    if not isinstance(value, pandas.Index) or not strategy.min_size <= len(value) <= strategy.max_size:
        return False
    labels = value.tolist()
    if not _is_of_one_type(value, drawn, pandas.Index(labels, dtype=strategy.dtype, tupleize_cols=False)):
        return False
    held = _hold(strategy.elements, strategy.elements, labels, drawn, unique=strategy.unique)
    return all_of([held, belongs(strategy.name, value.name)])


def _is_range(strategy: Any, value: Any) -> bool | None:
    if type(value) is not pandas.RangeIndex or (value.start, value.step) != (0, 1) or len(strategy.args) != 1:
        return False
    return all_of([belongs(strategy.args[0], len(value)), belongs(strategy.kwargs.get("name"), value.name)])


def _is_of_one_type(value: Any, drawn: Sequence[Any], made: Any) -> bool:
    """Return whether a column or an index has the type of those that were drawn, and of one made of its elements.
    Where there are no elements, the type may be any."""
    return all((type(one), one.dtype) == (type(value), value.dtype) for one in (*drawn, made) if len(one))


def _hold(element: Any, fill: Any, entries: Sequence[Any], drawn: Sequence[Any], *, unique: bool) -> bool | None:
    """Return whether entries are drawn by a strategy of elements, or of what fills the rest, or are known to be."""
    texts, known = (
        list(map(text_of_record, entries)),
        {text_of_record(entry) for one in drawn for entry in one.tolist()},
    )
    if unique and len(set(texts)) < len(texts):
        return False
    new = [entry for entry, text in zip(entries, texts, strict=True) if text not in known]
    return hold_entries(element, fill, new, unique=False)
