"""Data frames, series and indices as Python expressions. Imported where pandas is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from subnormal.audit.values.elements import PLAIN, refuse, written_list

Write = Callable[[Any], str]  # the expression of what a frame holds


def written_pandas(data: Any, write: Write) -> str:
    """Return an expression for a frame, a series, an index, or a scalar. Raises TypeError where there is none."""
    kind = type(data)
    if kind is pd.DataFrame:
        return _frame(data, write)
    if kind is pd.Series:
        name = "" if data.name is None else f", name={write(data.name)}"
        column = _elements(data, write) + ", dtype=object" if _holds_objects(data) else _column(data, write)
        return f"pd.Series({column}{_rows(data.index, write)}{name})"
    if isinstance(data, pd.Index):
        return _index(data, write)
    if data is pd.NA or data is pd.NaT:
        return f"pd.{'NA' if data is pd.NA else 'NaT'}"
    if kind in (pd.Timestamp, pd.Timedelta) and getattr(data, "tz", None) is None:
        text = f"pd.{kind.__name__}({data.isoformat()!r})"
        return text if kind(data.isoformat()).unit == data.unit else f"{text}.as_unit({data.unit!r})"
    return refuse(data)


def _frame(data: pd.DataFrame, write: Write) -> str:
    columns = data.columns
    names = list(range(columns.size))
    is_plain = columns.size == 0 and type(columns) is pd.RangeIndex
    if columns.size and columns.is_unique and type(columns) is pd.Index and columns.name is None:
        is_plain = all(type(name) is str for name in columns) and pd.Index(list(columns)).dtype == columns.dtype
        names = list(columns) if is_plain else names
    each = (f"{write(name)}: {_column(data.iloc[:, place], write)}" for place, name in enumerate(names))
    if not columns.size:
        text = f"pd.DataFrame(index={_index(data.index, write)})"
    elif any(_holds_objects(data.iloc[:, place]) for place in range(columns.size)):
        rows = _rows(data.index, write)  # a series in a frame would look for its elements by the index
        text = f"pd.DataFrame({{{', '.join(each)}}})" + (f".set_axis({rows.partition('=')[2]})" if rows else "")
    else:
        text = f"pd.DataFrame({{{', '.join(each)}}}{_rows(data.index, write)})"
    return text if is_plain else f"{text}.set_axis({_index(columns, write)}, axis=1)"


def _rows(index: pd.Index[Any], write: Write) -> str:
    """Return the argument of an index; nothing for 0, 1, 2, …"""
    if type(index) is pd.RangeIndex and index.name is None and (index.start, index.step) == (0, 1):
        return ""
    return f", index={_index(index, write)}"


def _index(index: pd.Index[Any], write: Write) -> str:
    name = "" if index.name is None else f", name={write(index.name)}"
    if isinstance(index, pd.RangeIndex):
        return f"pd.RangeIndex({index.start}, {index.stop}, {index.step}{name})"
    if isinstance(index, pd.MultiIndex):
        levels = ", ".join(_column(index.get_level_values(place), write) for place in range(index.nlevels))
        return f"pd.MultiIndex.from_arrays([{levels}], names={write(list(index.names))})"
    freq = getattr(index, "freq", None)
    if freq is not None:
        name += f", freq={index.freqstr!r}"
    return f"pd.{type(index).__name__}({_column(index, write)}{name})"


def _column(data: Any, write: Write) -> str:
    """Return an expression for the elements of a series or an index, with their type where a list does not tell it."""
    dtype = data.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        elements = written_list([write(None if one is pd.NaT or one != one else one) for one in data])
        return f"pd.Categorical({elements}, categories={_index(dtype.categories, write)}, ordered={dtype.ordered})"
    if isinstance(dtype, pd.DatetimeTZDtype):
        naive = _column(data.dt.tz_convert(None) if isinstance(data, pd.Series) else data.tz_convert(None), write)
        zone = str(dtype.tz)
        return f"pd.DatetimeIndex({naive}, tz='UTC').tz_convert({zone!r})" if _is_named(dtype) else refuse(data)
    if dtype.kind in "Mm" and isinstance(dtype, np.dtype):
        return write(data.to_numpy())
    elements, values = _elements(data, write), data.tolist()
    if _holds_objects(data):
        return f"pd.Series({elements}, dtype=object)"
    is_plain = dtype in PLAIN or (all(type(one) is str for one in values) and pd.Series(values).dtype == dtype)
    if values and is_plain:
        return elements
    return f"pd.array({elements}, dtype={str(dtype)!r})" if _is_named(dtype) else refuse(data)


def _elements(data: Any, write: Write) -> str:
    return written_list([write(one) for one in data.tolist()])


def _holds_objects(data: Any) -> bool:
    return isinstance(data.dtype, np.dtype) and data.dtype.kind == "O"


def _is_named(dtype: Any) -> bool:
    """Return whether the name of a type says all of it."""
    return bool(pd.api.types.pandas_dtype(str(dtype)) == dtype)
