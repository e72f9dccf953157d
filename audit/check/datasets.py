"""Datasets of records: lists, tuples, arrays and frames. Which ones differ in a record, and how they are changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from subnormal.audit.check.repetition import ATOMS
from subnormal.audit.check.search import text_of
from subnormal.audit.literal.expression import of_each
from subnormal.audit.text import quoted


def differ_in_one(one: Any, other: Any) -> bool:
    """Return whether two datasets have one size, and differ in one record."""
    records = _texts(one), _texts(other)
    if len(records[0]) != len(records[1]) or not _have_one_form(one, other):
        return False
    return sum(a != b for a, b in zip(*records, strict=True)) == 1


def differ_by_one(one: Any, other: Any) -> bool:
    """Return whether one of two datasets has one record more than the other."""
    few, many = sorted((_texts(one), _texts(other)), key=len)
    place = next((place for place, (a, b) in enumerate(zip(few, many, strict=False)) if a != b), len(few))
    return [*many[:place], *many[place + 1 :]] == few and len(many) == len(few) + 1 and _have_one_form(one, other)


def parts_apart(one: Any, other: Any) -> int:
    """Return how many entries of two lists, tuples or arrays of one size differ, or values of two dictionaries; by how
    many records two sizes differ; 1 for other inputs.

    >>> parts_apart([1, 2, 3], [1, 3, 2]), parts_apart([1, 2, 3], [2, 3]), parts_apart({"a": 1}, {"b": 1})
    (2, 1, 2)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        keys = list({**one, **other})
        one, other = ([values.get(key) for key in keys] for values in (one, other))
    if not (isinstance(one, list | tuple | np.ndarray) and isinstance(other, list | tuple | np.ndarray)):
        return 1
    if len(one) != len(other):
        return abs(len(one) - len(other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return int(np.count_nonzero(one != other))
    return sum(_text(first) != _text(second) for first, second in zip(one, other, strict=True))


def _texts(dataset: Any) -> list[str]:
    """Return the records as texts, by which they are told apart. Raises TypeError, see `records_of`."""
    records_of(dataset)
    if hasattr(dataset, "iloc"):
        return [_text(record) for record in zip(*(dataset[name].tolist() for name in dataset), strict=True)]
    return of_each(_text, dataset.tolist() if isinstance(dataset, np.ndarray) else dataset)


def _text(record: Any) -> str:
    """Return a text of all that a record holds: the repr of an array leaves parts of it out."""
    if isinstance(record, (*ATOMS, np.generic)):
        return repr(record)
    if type(record) in (list, tuple):
        return f"{type(record).__name__}({', '.join(map(_text, record))})"
    return text_of(record)


def _have_one_form(one: Any, other: Any) -> bool:
    """Return whether the columns of two frames, and the shapes of the rows of two arrays, are the same. A frame of no
    records may have no columns."""
    names = [list(getattr(dataset, "columns", ())) for dataset in (one, other)]
    shapes = [dataset.shape[1:] if isinstance(dataset, np.ndarray) else () for dataset in (one, other)]
    return (names[0] == names[1] or not all(names)) and shapes[0] == shapes[1]


def records_of(dataset: Any) -> int:
    """Return the number of records. Raises TypeError where the input is no dataset of records."""
    size = size_of(dataset)
    if size is None:
        raise TypeError(
            "change_one and add_or_remove need datasets of records, lists, tuples, arrays or frames, got "
            f"{quoted(repr(dataset))}: use within(...), pairs, or a predicate of two inputs"
        )
    return int(size)


def size_of(dataset: Any) -> Any:
    """Return the number of records; None where the input has none."""
    if isinstance(dataset, list | tuple | np.ndarray) or hasattr(dataset, "iloc"):
        return len(dataset)
    return None


def spliced(dataset: Any, start: int, stop: int, records: list[Any]) -> Any:
    """Return the dataset with other records from `start` to before `stop`, of the same type."""
    if hasattr(dataset, "iloc"):
        import pandas

        middle = [pandas.DataFrame([record]).astype(dataset.dtypes) for record in records]
        return pandas.concat([dataset.iloc[:start], *middle, dataset.iloc[stop:]], ignore_index=True)
    if isinstance(dataset, np.ndarray):
        middle = [np.asarray(record, dtype=dataset.dtype)[None] for record in records]
        return np.concatenate([dataset[:start], *middle, dataset[stop:]])
    return type(dataset)([*dataset[:start], *records, *dataset[stop:]])
