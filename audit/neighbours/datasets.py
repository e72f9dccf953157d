"""Datasets of records: lists, tuples, arrays and frames. Which ones differ in a record, and how they are changed."""

from __future__ import annotations

import copy
import hashlib
import pickle
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from subnormal.audit.text import counted, error_text, quoted
from subnormal.audit.values.elements import of_each
from subnormal.audit.values.literal import LONGEST, written

By: TypeAlias = str | int | Callable[[Any], Any]  # the part of a record that says whose it is
_OfUsers: TypeAlias = tuple[list[str], list[str]]  # the records of a dataset as texts, and whose each is


def unshared(data: Any) -> Any:
    """Return data that share nothing that can be changed with any other; themselves where they cannot be copied."""
    try:
        return copy.deepcopy(data)
    except Exception:  # of the data's own methods: a function that is called on them refuses them by name
        return data


def text_of(data: Any) -> str:
    """Return a text by which data are told apart: an expression for them, or a digest of all that they hold."""
    try:
        text = written(data, {})
        return text if len(text) <= LONGEST else _digest(text)
    except (TypeError, ValueError, RecursionError):  # there is no expression
        return _digest(data)


def is_one_input(pair: tuple[Any, Any]) -> bool:
    """Return whether nothing tells the two inputs apart, so that they are no neighbours."""
    one, other = pair
    return text_of(one) == text_of(other)


def _digest(data: Any) -> str:
    try:
        return hashlib.sha256(pickle.dumps(data)).hexdigest()
    except Exception:  # an input that cannot be pickled raises anything
        return repr(data)


def differ_in_one(one: Any, other: Any) -> bool:
    """Return whether two datasets have one size, and differ in one record."""
    first, second = _texts_of_both(one, other)
    if len(first) != len(second) or not _have_one_form(one, other):
        return False
    return sum(a != b for a, b in zip(first, second, strict=True)) == 1


def differ_by_one(one: Any, other: Any) -> bool:
    """Return whether one of two datasets has one record more than the other."""
    few, many = sorted(_texts_of_both(one, other), key=len)
    place = _first_difference(few, many)
    return [*many[:place], *many[place + 1 :]] == few and len(many) == len(few) + 1 and _have_one_form(one, other)


def users_of(dataset: Any, by: By) -> list[str]:
    """Return whose each record is, as a text: its value in a column of a frame or an array of rows, in an entry of a
    mapping or a tuple, in a field of another record, or what a function of the record returns.

    Raises TypeError where the input is no dataset of records, ValueError where a record has no such part.

    >>> users_of([{"user": "ann", "sum": 3}, {"user": "bob", "sum": 1}], "user"), users_of([(7, 3), (8, 1)], 0)
    (["'ann'", "'bob'"], ['7', '8'])
    """
    records_of(dataset)
    try:
        if is_frame(dataset) and not callable(by):
            return of_each(text_of, dataset[by].tolist())
        records = dataset.to_dict("records") if is_frame(dataset) else list(dataset)
        return of_each(text_of, [_part(record, by) for record in records])
    except (LookupError, AttributeError, TypeError) as error:
        raise ValueError(f"by = {by!r} names no part of each record: {quoted(error_text(error))}") from None


def _part(record: Any, by: By) -> Any:
    if callable(by):
        return by(record)
    is_field = isinstance(by, str) and not (hasattr(record, "keys") or isinstance(record, np.void))
    return getattr(record, by) if is_field else record[by]  # type: ignore[arg-type]


def differ_by_user(one: Any, other: Any, by: By, at_most: float) -> bool:
    """Return whether one of two datasets has all records of one more user, and not more than so many."""
    (few, _), (many, users) = sorted(_of_users(one, other, by), key=lambda dataset: len(dataset[0]))
    place = _first_difference(few, many)
    if len(few) == len(many) or not 0 < users.count(users[place]) <= at_most:
        return False
    return _without(many, users, users[place]) == few and _have_one_form(one, other)


def differ_in_user(one: Any, other: Any, by: By, at_most: float) -> bool:
    """Return whether two datasets differ in the records of one user each, in not more than so many."""
    both = _of_users(one, other, by)
    return any(map(_differ_from, both, both[::-1], 2 * [at_most])) and _have_one_form(one, other)


def _differ_from(one: _OfUsers, other: _OfUsers, at_most: float) -> bool:
    """Return whether two datasets are equal without the records of a user each, that of the first being whose record is
    the first of it to differ."""
    (first, users), (second, others) = one, other
    place = _first_difference(first, second)
    if place == len(first):
        return False
    left = _without(first, users, users[place])
    place_of_other = _first_difference(left, second)
    if place_of_other == len(second):
        return False
    most = max(users.count(users[place]), others.count(others[place_of_other]))
    return most <= at_most and _without(second, others, others[place_of_other]) == left


def _of_users(one: Any, other: Any, by: By) -> list[_OfUsers]:
    return [
        (texts, users_of(dataset, by)) for texts, dataset in zip(_texts_of_both(one, other), (one, other), strict=True)
    ]


def _first_difference(one: list[str], other: list[str]) -> int:
    """Return the first place where two lists differ, or the length of the shorter one."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(map(len, (one, other)))
    )


def _without(texts: list[str], users: list[str], user: str) -> list[str]:
    return [text for text, whose in zip(texts, users, strict=True) if whose != user]


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
    return sum(text_of(first) != text_of(second) for first, second in zip(one, other, strict=True))


def _texts_of_both(one: Any, other: Any) -> list[list[str]]:
    """Return the records of both as texts, by which they are told apart. Raises TypeError, see `records_of`.

    The label of a row is a part of it, unless both frames number their rows.
    """
    labelled = not all(is_numbered(dataset) for dataset in (one, other) if is_frame(dataset))
    return [_texts(dataset, labelled) for dataset in (one, other)]


def _texts(dataset: Any, labelled: bool) -> list[str]:
    records_of(dataset)
    if is_frame(dataset):
        labels = dataset.index.tolist() if labelled else [None] * len(dataset)
        columns = [dataset.iloc[:, place].tolist() for place in range(dataset.shape[1])]
        return list(map(text_of, zip(labels, *columns, strict=True)))
    return of_each(text_of, dataset.tolist() if isinstance(dataset, np.ndarray) else dataset)


def is_frame(dataset: Any) -> bool:
    """Return whether a dataset is a pandas frame. A series has no columns."""
    return hasattr(dataset, "iloc") and hasattr(dataset, "columns")


def is_numbered(frame: Any) -> bool:
    """Return whether the index of a frame is 0, 1, 2, … without a name, as pandas numbers rows. It says nothing about a
    row then: the others have new numbers where one is removed. Any other index is data, which a function sees."""
    index = frame.index
    return type(index).__name__ == "RangeIndex" and (index.start, index.step, index.name) == (0, 1, None)


def _have_one_form(one: Any, other: Any) -> bool:
    """Return whether the columns of two frames and the names of their indices, and the shapes of the rows of two
    arrays, are the same. A frame of no records may have no columns."""
    columns = [list(getattr(dataset, "columns", ())) for dataset in (one, other)]
    names = [list(dataset.index.names) if is_frame(dataset) else [] for dataset in (one, other)]
    shapes = [dataset.shape[1:] if isinstance(dataset, np.ndarray) else () for dataset in (one, other)]
    are_alike = (columns[0], names[0]) == (columns[1], names[1]) or not all(columns)
    return are_alike and shapes[0] == shapes[1]


def records_of(dataset: Any) -> int:
    """Return the number of records. Raises TypeError where the input is no dataset of records."""
    if not (isinstance(dataset, list | tuple | np.ndarray) or is_frame(dataset)):
        is_set = isinstance(dataset, set | frozenset)
        instead = "a predicate, such as lambda x, y: len(x ^ y) == 1" if is_set else "within(...) or a predicate"
        raise TypeError(
            f"change_one and add_or_remove need lists, tuples, arrays or frames: for {type(dataset).__name__} use "
            f"{instead}, got {quoted(repr(dataset))}"
        )
    return len(dataset)


def spliced(dataset: Any, start: int, stop: int, records: list[Any]) -> Any:
    """Return the dataset with other records from `start` to before `stop`, of the same type.

    A record of a frame is a frame of one row, a series or a mapping. Other rows keep their labels, unless the frame
    numbers its rows. Raises TypeError where a row is added that has no label.
    """
    if is_frame(dataset):
        import pandas

        rows = [record if is_frame(record) else _row(dataset, start, stop, record) for record in records]
        made = pandas.concat([dataset.iloc[:start], *rows, dataset.iloc[stop:]])
        return made.reset_index(drop=True) if is_numbered(dataset) else made
    if isinstance(dataset, np.ndarray):
        middle = [np.asarray(record, dtype=dataset.dtype)[None] for record in records]
        return np.concatenate([dataset[:start], *middle, dataset[stop:]])
    return rebuilt(dataset, [*dataset[:start], *records, *dataset[stop:]])


def rebuilt(dataset: Any, parts: Iterable[Any]) -> Any:
    """Return a list or tuple of the same type, with other parts and whatever else the dataset holds.

    Raises TypeError for another number of parts of a named tuple.
    """
    kind, parts = type(dataset), list(parts)
    if kind in (list, tuple):
        return kind(parts)
    if isinstance(dataset, list):
        made = copy.copy(dataset)
        made[:] = parts
        return made
    if hasattr(kind, "_fields") and len(parts) != len(dataset):
        raise TypeError(f"{kind.__qualname__} has {counted(len(dataset), 'field')}: none can be added or removed")
    made = tuple.__new__(kind, parts)
    if hasattr(dataset, "__dict__"):
        vars(made).update(vars(dataset))
    return made


def _row(frame: Any, start: int, stop: int, record: Any) -> Any:
    """Return a record as a frame of one row. Without a label, it has that of the row that it replaces."""
    import pandas

    row = pandas.DataFrame([record]).astype(frame.dtypes)
    if is_numbered(frame) or getattr(record, "name", None) is not None:
        return row
    if start == stop:
        raise TypeError(
            "records of frames with an index of their own need a label: a frame of one row, or a series with a name, "
            f"got {quoted(repr(record))}"
        )
    return row.set_axis(frame.index[start:stop])
