"""Data as Python expressions that evaluate to equal data, of the same types, to the last bit; a NaN is any NaN."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import uuid
import zoneinfo
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.values.elements import FEW, PLAIN, of_each, refuse, written_list
from subnormal.audit.values.reference import reference
from subnormal.mechanisms.core.law import block_ends

LONGEST = 4_000  # characters of an expression that a report shows
NUMBERS = "iufbc"  # kinds of arrays of numbers
EXTENDED = (np.dtype(np.longdouble), np.dtype(np.clongdouble))  # Python has no such numbers
IMPORT_NUMPY = "import numpy as np"
AS_SHOWN: dict[type, str | None] = {  # types whose repr is an expression, with what it needs
    **dict.fromkeys((bool, int, float, str, bytes, bytearray, range, type(None))),
    Fraction: "from fractions import Fraction",
    Decimal: "from decimal import Decimal",
    uuid.UUID: "from uuid import UUID",
    **dict.fromkeys((datetime.date, datetime.timedelta, datetime.timezone), "import datetime"),
    zoneinfo.ZoneInfo: "import zoneinfo",
}
SETS: dict[Any, str] = {set: "{{{}}}", frozenset: "frozenset({{{}}})"}
COLLECTIONS: dict[type, Callable[[Any], Any]] = {Counter: dict, OrderedDict: dict, deque: list}

Imports = dict[str, None]  # lines, in the order in which they are needed


@dataclass(frozen=True, slots=True)
class Expression:
    """A Python expression, and the lines that import what it names."""

    text: str
    imports: tuple[str, ...]


def expression(data: Any) -> Expression | None:
    """Return an expression for the data; None without a short one.

    >>> expression({"a": Fraction(1, 3)})
    Expression(text="{'a': Fraction(1, 3)}", imports=('from fractions import Fraction',))
    """
    imports: Imports = {}
    try:
        text = written(data, imports)
    except (TypeError, ValueError, RecursionError):  # an integer too long for Python; a list that holds itself
        return None
    return Expression(text, tuple(imports)) if len(text) <= LONGEST else None


def literal(data: Any) -> str | None:
    """Return the text of an expression for the data, with `np` and `pd` for numpy and pandas; None without a short one.

    >>> literal(np.full(1000, 37)), literal([0.5, {"a": -math.inf}])
    ('np.full(1000, 37)', "[0.5, {'a': -math.inf}]")
    >>> literal(np.array([0] + 999 * [37], dtype=np.float32))
    'np.repeat(np.array([0.0, 37.0], dtype=np.float32), [1, 999])'
    """
    found = expression(data)
    return None if found is None else found.text


def literals(worlds: Callable[[], tuple[Any, Any]]) -> tuple[str, str] | None:
    """Return expressions for the data of both worlds; None if these cannot be built or have no short expressions."""
    try:
        data_in, data_out = map(literal, worlds())
    except Exception:  # the row reports the error
        return None
    return None if data_in is None or data_out is None else (data_in, data_out)


def written(data: Any, imports: Imports) -> str:
    """Return an expression for the data, and note what it imports. Raises TypeError where there is none."""
    kind = type(data)
    if kind is float and not math.isfinite(data):
        imports["import math"] = None
        return "math.nan" if math.isnan(data) else "math.inf" if data > 0 else "-math.inf"
    if kind in AS_SHOWN:
        if (line := AS_SHOWN[kind]) is not None:
            imports[line] = None
        return repr(data)
    if kind is list:
        return written_list(of_each(lambda one: written(one, imports), data))
    if kind is tuple:
        return f"({listed(data, imports)}{',' if len(data) == 1 else ''})"
    if kind is dict:
        return f"{{{', '.join(f'{written(key, imports)}: {written(value, imports)}' for key, value in data.items())}}}"
    if kind in SETS:  # in an order that does not depend on the hashes of strings
        return SETS[kind].format(", ".join(sorted(written(one, imports) for one in data))) if data else f"{data!r}"
    if kind is complex:
        return f"complex({written(data.real, imports)}, {written(data.imag, imports)})"
    if kind in (datetime.datetime, datetime.time):
        imports["import datetime"] = None
        if data.tzinfo is not None:
            written(data.tzinfo, imports)
        return repr(data)
    if kind in COLLECTIONS:
        imports[f"from collections import {kind.__name__}"] = None
        most = "" if getattr(data, "maxlen", None) is None else f", {data.maxlen}"
        return f"{kind.__name__}({written(COLLECTIONS[kind](data), imports)}{most})"
    if isinstance(data, np.generic):
        return _numpy_scalar(data, imports)
    if kind is np.ndarray:
        return _array(data, imports)
    if kind.__module__.startswith("pandas"):
        from subnormal.audit.values import frames

        imports["import pandas as pd"] = None
        return frames.written_pandas(data, partial(written, imports=imports))
    return _of_own_class(data, imports)


def listed(data: Iterable[Any], imports: Imports) -> str:
    """Return expressions of elements with commas between them."""
    return ", ".join(written(one, imports) for one in data)


def _of_own_class(data: Any, imports: Imports) -> str:
    """Return an expression for a member of an enumeration, a named tuple or a dataclass, by the name of its class."""
    kind = type(data)
    if isinstance(data, enum.Enum) and data.name is not None and "|" not in data.name:
        return f"{_named(kind, imports)}.{data.name}"
    if isinstance(data, tuple) and hasattr(kind, "_fields"):
        names = kind._fields
    elif dataclasses.is_dataclass(data) and all(one.init for one in dataclasses.fields(data)):
        names = tuple(one.name for one in dataclasses.fields(data))
    else:
        return refuse(data)
    values = {name: getattr(data, name) for name in names}
    texts = {name: written(value, imports) for name, value in values.items()}
    again = kind(**values)  # whose __init__ may change them
    if any(written(getattr(again, name), imports) != text for name, text in texts.items()):
        return refuse(data)
    return f"{_named(kind, imports)}({', '.join(f'{name}={text}' for name, text in texts.items())})"


def _named(kind: type, imports: Imports) -> str:
    name, line = reference(kind)
    if line is not None:
        imports[line] = None
    return name


def _numpy_scalar(data: Any, imports: Imports) -> str:
    imports[IMPORT_NUMPY] = None
    if data.dtype.kind in "Mm":
        unit, count = np.datetime_data(data.dtype)
        return f"np.{type(data).__name__}({_moment(data)}, {unit!r})" if count == 1 else refuse(data)
    if data.dtype.kind not in f"{NUMBERS}US" or data.dtype in EXTENDED:
        return refuse(data)
    return f"np.{type(data).__name__}({written(data.item(), imports)})"


def _array(data: NDArray[Any], imports: Imports) -> str:
    imports[IMPORT_NUMPY] = None
    if data.ndim == 0 and data.dtype.kind in NUMBERS:
        return f"np.array({written(data.item(), imports)}{_dtype(data)})"
    flat, shape = np.ascontiguousarray(data).reshape(-1), "" if data.ndim == 1 else f".reshape({data.shape})"
    if len(flat) > FEW and data.dtype.kind in NUMBERS and data.itemsize <= 8:
        bits = flat.view(np.dtype(f"u{flat.itemsize}"))  # 0.0 is not -0.0, and a NaN equals itself
        ends = block_ends(bits)
        if 2 * len(ends) <= len(flat):
            values, counts = flat[ends - 1], np.diff(ends, prepend=0).tolist()
            if len(ends) == 1:
                return f"np.full({len(flat)}, {written(values.tolist()[0], imports)}{_dtype(flat)}){shape}"
            return f"np.repeat({_values(values, imports)}, {counts}){shape}"
    return _values(flat, imports) + shape


def _texts(flat: NDArray[Any], imports: Imports) -> list[str]:
    """Return expressions for the elements of an array."""
    if len(flat) > LONGEST / 2 or flat.dtype.kind not in f"{NUMBERS}MmUSO" or flat.dtype in EXTENDED:
        refuse(flat)
    if flat.dtype.kind in "Mm":
        return list(map(_moment, flat))
    elements = flat.tolist()
    nested = any(isinstance(one, list | tuple | np.ndarray | deque) or hasattr(one, "__array__") for one in elements)
    if flat.dtype.hasobject and nested:  # numpy would take an element that is a list for a dimension
        refuse(flat)
    return [written(one, imports) for one in elements]


def _moment(data: Any) -> str:
    """Return what numpy makes a date, or a difference of dates, from."""
    if np.datetime_data(data.dtype)[0] == "generic":
        refuse(data)
    return repr(str(data)) if data.dtype.kind == "M" or np.isnat(data) else str(data.astype(np.int64))


def _values(values: NDArray[Any], imports: Imports) -> str:
    return f"np.array([{', '.join(_texts(values, imports))}]{_dtype(values)})"


def _dtype(values: NDArray[Any]) -> str:
    """Return the argument that says the type of an array; nothing where its elements do."""
    dtype = values.dtype
    if dtype in PLAIN and values.size:
        return ""
    if dtype.hasobject:
        return ", dtype=object"
    if not dtype.isnative or dtype.kind in "US":
        return f", dtype={dtype.str!r}"
    return f", dtype={dtype.name!r}" if dtype.kind in "Mm" else f", dtype=np.{dtype.name}"
