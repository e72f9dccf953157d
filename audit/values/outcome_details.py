"""What arrays, series and frames show beside their values: names, types, categories, what lies under a mask."""

from __future__ import annotations

import sys
from array import array
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

Details: TypeAlias = tuple[tuple[str, Any], ...]

_USUAL = tuple(map(np.dtype, (np.int64, np.float64, np.bool_, np.complex128)))  # of numbers whose type is not said


def is_detail(part: Any) -> bool:
    """Return whether a part of an outcome is a detail: a pair of a name such as "__dtype__" and what it says."""
    if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], str):
        return False
    return part[0].startswith("__") and part[0].endswith("__")


def columns(frame: Any) -> tuple[tuple[Any, Any], ...] | None:
    """Return the columns of a data frame by their labels, in order; None of anything else.

    A column of pandas is its items and its details, without its name and its index, which are the frame's.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return tuple((label, (*column.items(), *_of_dtype(pandas, column))) for label, column in frame.items())
    if isinstance(frame, type) or not hasattr(frame, "columns") or hasattr(frame, "items"):
        return None
    return tuple((label, frame[label]) for label in frame.columns)  # of other libraries, such as Polars


def holds_more(released: Any) -> bool:
    """Return whether a value shows what `details` does not read: coordinates, or attributes of an array, as units."""
    kind = type(released)
    if hasattr(kind, "dims") and hasattr(kind, "coords"):
        return True
    is_array = isinstance(released, np.ndarray) and not isinstance(released, np.ma.MaskedArray)
    return is_array and bool(getattr(released, "__dict__", None))


def details(released: Any, made: Any) -> Details:
    """Return what a value shows beside what was made of it, as pairs; what the parts themselves tell is left out.

    made: the list, the items or the scalar to which `as_outcome` has converted it. What is said of a type or a shape is
    what numpy, or pandas, would not give an array of the same parts.
    """
    if isinstance(released, np.generic):  # a scalar is a number of Python's, as `identity` takes it
        return ()
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if isinstance(released, pandas.DataFrame):
            return _of_frame(pandas, released)
        if isinstance(released, pandas.Series):
            index = ("__index__", _of_index(pandas, released.index) or None)
            more = _present(("__name__", released.name), index, ("__attrs__", released.attrs or None))
            return (*_of_dtype(pandas, released), *more)
        if isinstance(released, pandas.Index):
            return _of_index(pandas, released)
        if isinstance(released, pandas.api.extensions.ExtensionArray):
            return _of_dtype(pandas, released)
    return _of_array(released, made)


def _present(*named: tuple[str, Any]) -> Details:
    return tuple((name, said) for name, said in named if said is not None)


def _of_frame(pandas: Any, frame: Any) -> Details:
    return _present(
        ("__rows__", None if len(frame.columns) else frame.index),  # else each column has them
        ("__index__", _of_index(pandas, frame.index) or None),
        ("__columns__", _of_index(pandas, frame.columns) or None),
        ("__attrs__", frame.attrs or None),
    )


def _of_index(pandas: Any, index: Any) -> Details:
    names = ("__names__", tuple(index.names) if any(name is not None for name in index.names) else None)
    if isinstance(index, pandas.MultiIndex):  # its levels hold labels that no entry has any more
        return _present(names, ("__levels__", tuple(index.levels)))
    return (*_of_dtype(pandas, index), *_present(names, ("__freq__", getattr(index, "freqstr", None))))


def _of_dtype(pandas: Any, values: Any) -> Details:
    dtype = values.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return (("__categories__", dtype.categories), ("__ordered__", dtype.ordered))
    if len(values) and dtype in _USUAL:
        return ()
    if dtype.kind in "biufcO":
        parts = values.tolist()
        if dtype == (_of_texts(pandas) if set(map(type, parts)) == {str} else pandas.Series(parts).dtype):
            return ()
    return (("__dtype__", str(dtype)),)


@lru_cache(maxsize=1)
def _of_texts(pandas: Any) -> Any:
    return pandas.Series(["a"]).dtype


def _of_array(released: Any, made: Any) -> Details:
    found: Details = ()
    if isinstance(made, list) and hasattr(released, "dtype"):
        found = _of_parts(released.dtype, tuple(getattr(released, "shape", (len(made),))), made)
    if isinstance(released, array) and released.typecode != "d":
        found = (("__dtype__", released.typecode),)
    if isinstance(released, np.ma.MaskedArray) and released is not np.ma.masked:
        under = (("__data__", np.asarray(released.data)), ("__mask__", released.mask))
        found = (*found, *under, ("__fill__", released.fill_value))
    zone, name = getattr(released, "tzinfo", None), getattr(released, "name", None)
    named = name if isinstance(name, str) and name else None
    return (*found, *_present(("__zone__", None if zone is None else str(zone)), ("__name__", named)))


def _of_parts(dtype: Any, shape: tuple[int, ...], parts: list[Any]) -> Details:
    if dtype in _USUAL and shape and 0 not in shape:
        return ()
    written = str(dtype).removeprefix("torch.")
    try:
        again = np.asarray(parts)
    except Exception:  # parts of several lengths, which only an array of objects holds
        return _present(("__dtype__", None if written == "object" else written))
    named = None if written == str(again.dtype) else written
    return _present(("__dtype__", named), ("__shape__", None if shape == again.shape else shape))
