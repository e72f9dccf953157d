"""Data in the form in which a loop takes them, with edited records, and watched: a loop tells what it reads."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.text import given, quoted

Note = Callable[[int, NDArray[np.int64] | None], None]  # of a column, and of what is read of it; None: all of it
FORMS = "an array, a tuple or a dict of arrays with a row for each record, a list of records, or a dataset of torch"


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Records as columns. form: how a loop takes them. names: the keys of a dict.

    A column is an array, or a list of records where the form is "list" or "dataset".
    """

    form: str
    columns: tuple[Any, ...]
    names: tuple[Any, ...] = ()
    tensors: bool = False

    def __len__(self) -> int:
        return len(self.columns[0])

    def record(self, index: int) -> tuple[Any, ...]:
        """Return a record: its cell of each column."""
        return tuple(copy.deepcopy(column[index]) for column in self.columns)

    def copies(self, record: tuple[Any, ...], count: int) -> Records:
        """Return data of so many copies of a record."""
        return replace(self, columns=tuple(map(_repeated, self.columns, record, [count] * len(record))))

    def take(self, indices: Sequence[int]) -> Records:
        """Return the records of these indices, in this order."""
        taken = tuple(
            column[list(indices)] if isinstance(column, np.ndarray) else [column[one] for one in indices]
            for column in self.columns
        )
        return replace(self, columns=taken)

    def replaced(self, edits: Mapping[int, tuple[Any, ...]]) -> Records:
        """Return the data with other records at these places."""
        columns = tuple(column.copy() for column in self.columns)
        for place, record in edits.items():
            for column, cell in zip(columns, record, strict=True):
                column[place] = cell
        return replace(self, columns=columns)

    def watched(self, note: Note) -> Any:
        """Return the data as a loop takes them; each read of records is noted."""
        if self.form == "list":
            return _watched_list(self.columns[0], note)
        if self.form == "dataset":
            return _Dataset(self.columns[0], note)
        if self.form == "TensorDataset":
            return _tensor_dataset(self.columns, note)
        make = _watched_tensor if self.tensors else _watched_array
        made = [make(column, partial(note, place)) for place, column in enumerate(self.columns)]
        if self.form == "dict":
            return dict(zip(self.names, made, strict=True))
        return made[0] if self.form == "array" else tuple(made)


def records_of(data: Any) -> Records:
    """Return data as records. Raises TypeError for any other form, and ValueError for fewer than two records."""
    torch = sys.modules.get("torch")
    tensors = torch is not None and any(isinstance(one, torch.Tensor) for one in _parts(data))
    if torch is not None and isinstance(data, torch.utils.data.TensorDataset):
        made = Records("TensorDataset", tuple(one.numpy().copy() for one in data.tensors), tensors=True)
    elif isinstance(data, Mapping):
        made = Records("dict", tuple(map(_column, data.values())), tuple(data), tensors)
    elif isinstance(data, tuple):
        made = Records("tuple", tuple(map(_column, data)), (), tensors)
    elif isinstance(data, list):
        made = Records("list", (list(data),))
    elif hasattr(data, "shape"):
        made = Records("array", (_column(data),), (), tensors)
    elif hasattr(data, "__getitem__") and hasattr(data, "__len__"):
        made = Records("dataset", ([data[place] for place in range(len(data))],))
    else:
        raise TypeError(f"data must be {FORMS}, got {quoted(data)}")
    if not made.columns or len({len(column) for column in made.columns}) != 1 or len(made) < 2:
        lengths = [len(column) for column in made.columns]
        raise ValueError(f"data must hold two records or more, and equally many in each column, got lengths {lengths}")
    return made


def _parts(data: Any) -> list[Any]:
    return list(data.values()) if isinstance(data, Mapping) else list(data) if isinstance(data, tuple) else [data]


def _column(values: Any) -> NDArray[Any]:
    if not hasattr(values, "shape") or not values.shape:
        raise TypeError(f"data must be {FORMS}, got a column {quoted(values)}")
    return np.array(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def _repeated(column: Any, cell: Any, count: int) -> Any:
    if isinstance(column, np.ndarray):
        return np.repeat(np.asarray(cell, dtype=column.dtype)[np.newaxis], count, axis=0)
    return [cell] * count


def mapped(record: Any, change: Callable[[NDArray[Any]], Any]) -> Any:
    """Return a record with its floats changed, in all of its parts; everything else stays."""
    if isinstance(record, float):
        return float(change(np.asarray(record)))
    if isinstance(record, np.ndarray | np.generic):
        return np.asarray(change(np.asarray(record)), dtype=record.dtype) if record.dtype.kind == "f" else record
    if hasattr(record, "detach"):
        made = mapped(record.detach().cpu().numpy(), change)
        return sys.modules["torch"].as_tensor(made) if record.is_floating_point() else record
    if isinstance(record, Mapping):
        return {key: mapped(part, change) for key, part in record.items()}
    if isinstance(record, tuple | list):
        return type(record)(mapped(part, change) for part in record)
    return record


def extreme_records(records: Records, scales: Sequence[float], *, non_finite: bool) -> dict[str, tuple[Any, ...]]:
    """Return records that try the clipping, each by what it is: the first ones, scaled up, and not finite."""
    made: dict[str, tuple[Any, ...]] = {}
    for place in range(min(4, len(records))):
        for scale in scales:
            made[f"data[{place}] times {given(scale)}"] = mapped(records.record(place), partial(_scaled, scale=scale))
    for value in (math.nan, math.inf, -math.inf) if non_finite else ():
        filled = mapped(records.record(0), partial(np.full_like, fill_value=value))
        made[f"data[0] with {value} in place of its floats"] = filled
    return made


def _scaled(values: NDArray[Any], scale: float) -> Any:
    most = np.finfo(values.dtype).max
    with np.errstate(over="ignore"):
        return np.clip(values * scale, -most, most)


def _read_of(key: Any, length: int) -> NDArray[np.int64] | None:
    """Return which records a subscript reads, without a dimension where it is one by its number; None: all of them.

    −1 in an array of indices is padding, as in jax.
    """
    first = key[0] if isinstance(key, tuple) and key else key
    if first is None or first is Ellipsis or (isinstance(first, slice) and first == slice(None)):
        return None
    if isinstance(first, slice):
        return np.arange(length)[first]
    found = np.asarray(first.detach().cpu().numpy() if hasattr(first, "detach") else first)
    if found.dtype == np.bool_:
        return np.flatnonzero(found)
    if found.ndim == 0:
        return np.array(int(found) % length)
    flat = found.astype(np.int64).ravel()
    return flat[flat >= 0]


class _Array(np.ndarray):
    """A watched array. What has as many rows and comes from it by arithmetic is watched too."""

    note: Callable[[NDArray[np.int64] | None], None] | None

    def __array_finalize__(self, source: Any) -> None:
        same = source is not None and np.shape(source)[:1] == self.shape[:1]
        self.note = getattr(source, "note", None) if same else None

    def __getitem__(self, key: Any) -> Any:
        plain = self.view(np.ndarray)[key]
        if self.note is None:
            return plain
        read = _read_of(key, len(self))
        self.note(read)
        return super().__getitem__(key) if read is None else plain

    def take(self, indices: Any, axis: Any = None, **options: Any) -> Any:  # type: ignore[override]
        if self.note is not None and (axis == 0 or self.ndim == 1):
            self.note(_read_of(np.asarray(indices), len(self)))
        return self.view(np.ndarray).take(indices, axis=axis, **options)


def _watched_array(column: NDArray[Any], note: Callable[[NDArray[np.int64] | None], None]) -> Any:
    made = column.copy().view(_Array)
    made.note = note
    return made


def _watched_tensor(column: NDArray[Any], note: Callable[[NDArray[np.int64] | None], None]) -> Any:
    torch = sys.modules["torch"]

    class Watched(torch.Tensor):  # type: ignore[misc,name-defined]
        """A tensor whose rows are watched."""

        @classmethod
        def __torch_function__(cls, function: Any, types: Any, given: Any = (), options: Any = None) -> Any:
            if function in (torch.Tensor.__getitem__, torch.index_select, torch.Tensor.index_select):
                key = given[1] if function is torch.Tensor.__getitem__ else given[2]
                note(_read_of(key, len(column)))
            with torch._C.DisableTorchFunctionSubclass():
                made = function(*given, **(options or {}))
            return made.as_subclass(torch.Tensor) if isinstance(made, cls) else made

    return torch.as_tensor(column.copy()).as_subclass(Watched)


def _tensor_dataset(columns: Sequence[NDArray[Any]], note: Note) -> Any:
    torch = sys.modules["torch"]

    class Watched(torch.utils.data.TensorDataset):  # type: ignore[misc,name-defined]
        """A dataset of tensors that is watched."""

        def __getitem__(self, index: Any) -> Any:
            note(0, _read_of(index, len(columns[0])))
            return super().__getitem__(index)

        def __getitems__(self, indices: list[int]) -> list[Any]:
            note(0, np.array(indices, dtype=np.int64))
            return [super(Watched, self).__getitem__(one) for one in indices]

    return Watched(*(torch.as_tensor(column.copy()) for column in columns))


class _Dataset:
    """A watched dataset of torch that is read by an index."""

    def __init__(self, records: list[Any], note: Note) -> None:
        self._records, self._note = records, note

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        self._note(0, _read_of(index, len(self._records)))
        return self._records[index]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        self._note(0, np.array(indices, dtype=np.int64))
        return [self._records[one] for one in indices]


def _watched_list(records: list[Any], note: Note) -> Any:
    class Watched(list[Any]):
        """A list that is watched. Going through all of it reads it whole."""

        def __getitem__(self, index: Any) -> Any:
            note(0, _read_of(index, len(self)))
            return super().__getitem__(index)

        def __iter__(self) -> Any:
            note(0, None)
            return super().__iter__()

    return Watched(records)
