"""Data as Python expressions that evaluate to equal data, of the same types, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.law import block_ends

LONGEST = 4_000  # characters of an expression that a report shows
FEW = 16  # elements; so few are written one by one
PLAIN = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))  # the types of arrays of Python's numbers


def literal(data: Any) -> str | None:
    """Return an expression in `np` (and Fraction, Decimal) for the data; None without a short expression.

    >>> literal(np.full(1000, 37)), literal([0.5, {"a": -math.inf}])
    ('np.full(1000, 37)', "[0.5, {'a': -math.inf}]")
    >>> literal(np.array([0] + 999 * [37], dtype=np.float32))
    'np.repeat(np.array([0.0, 37.0], dtype=np.float32), [1, 999])'
    """
    try:
        text = _written(data)
    except TypeError:
        return None
    return text if len(text) <= LONGEST else None


def literals(worlds: Callable[[], tuple[Any, Any]]) -> tuple[str, str] | None:
    """Return expressions for the data of both worlds; None if these cannot be built or have no short expressions."""
    try:
        data_in, data_out = map(literal, worlds())
    except Exception:  # the row reports the error
        return None
    return None if data_in is None or data_out is None else (data_in, data_out)


def _written(data: Any) -> str:
    if isinstance(data, np.ndarray):
        return _array(data)
    if isinstance(data, np.generic):
        return f"np.{data.dtype.name}({_written(data.item())})" if data.dtype.kind in "iufb" else _refuse(data)
    if type(data) is dict:
        return f"{{{', '.join(f'{_written(key)}: {_written(value)}' for key, value in data.items())}}}"
    if type(data) is list:
        return _list(data)
    if type(data) is tuple:
        return f"({', '.join(map(_written, data))}{',' if len(data) == 1 else ''})"
    if type(data) is float and not math.isfinite(data):
        return "math.nan" if math.isnan(data) else "math.inf" if data > 0 else "-math.inf"
    if data is None or type(data) in (bool, int, float, str, bytes, Fraction, Decimal):
        return repr(data)
    return _refuse(data)


def _refuse(data: Any) -> str:
    raise TypeError(f"there is no short expression for a {type(data).__name__}")


def _list(data: list[Any]) -> str:
    """Return an expression for a list; a long one is a sum of repeated elements, [0] + 999 * [37]."""
    texts = list(map(_written, data))
    stretches = [(text, len(list(same))) for text, same in groupby(texts)]
    if len(texts) <= FEW or 2 * len(stretches) > len(texts):
        return f"[{', '.join(texts)}]"
    return " + ".join(f"[{text}]" if count == 1 else f"{count} * [{text}]" for text, count in stretches)


def _array(data: NDArray[Any]) -> str:
    if data.ndim == 0 or data.dtype.kind not in "iufb" or data.dtype.byteorder == ">":
        return _refuse(data)
    flat, shape = np.ascontiguousarray(data).reshape(-1), "" if data.ndim == 1 else f".reshape({data.shape})"
    if len(flat) == 0:
        return f"np.array([]{_dtype(flat, always=True)}){shape}"
    ends = block_ends(
        flat.view(np.dtype(f"u{flat.itemsize}"))
    )  # compared as bits: 0.0 is not -0.0, and a NaN equals itself
    values, counts = flat[ends - 1], np.diff(ends, prepend=0).tolist()
    if len(flat) <= FEW or 2 * len(ends) > len(flat):
        return _values(flat) + shape
    if len(ends) == 1:
        return f"np.full({len(flat)}, {_written(values.tolist()[0])}{_dtype(flat)}){shape}"
    return f"np.repeat({_values(values)}, {counts}){shape}"


def _values(values: NDArray[Any]) -> str:
    return f"np.array([{', '.join(map(_written, values.tolist()))}]{_dtype(values)})"


def _dtype(values: NDArray[Any], *, always: bool = False) -> str:
    return "" if values.dtype in PLAIN and not always else f", dtype=np.{values.dtype.name}"
