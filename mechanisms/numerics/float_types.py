"""The binary float types whose arithmetic is attacked: those of numpy, and those of accelerators by ml_dtypes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

ACCELERATORS = {  # digits of a significand, and the least exponent of a normal number
    "bfloat16": (8, -126),
    "float8_e4m3fn": (4, -6),
    "float8_e5m2": (3, -14),
}
FORMATS = {"float64": (53, -1022), "float32": (24, -126), "float16": (11, -14), **ACCELERATORS}
OF_NUMPY = frozenset(map(np.dtype, FORMATS.keys() - ACCELERATORS.keys()))


def of(float_type: DTypeLike) -> np.dtype[Any]:
    """Return the float type. Raises ValueError for other types, and where ml_dtypes is needed and not installed.

    >>> of("float16"), of(float)
    (dtype('float16'), dtype('float64'))
    """
    if isinstance(float_type, str) and float_type in ACCELERATORS:
        try:
            import ml_dtypes
        except ModuleNotFoundError:
            raise ValueError(f"float_type = {float_type} needs ml_dtypes: pip install ml_dtypes") from None
        accelerator: np.dtype[Any] = np.dtype(getattr(ml_dtypes, float_type))
        return accelerator
    try:
        found = np.dtype(float_type)
    except TypeError:
        found = None
    if found is None or (found not in OF_NUMPY and found.name not in FORMATS):  # numpy takes long to name a type
        given = repr(float_type) if found is None else found.name
        raise ValueError(f"float_type must be one of {', '.join(FORMATS)}, got {given}")
    return found


def digits(float_type: DTypeLike) -> int:
    """Return the digits of a significand, the first one included. Raises ValueError as `of` does.

    >>> digits("float32")
    24
    """
    return _format(of(float_type))[0]


def least_exponent(float_type: DTypeLike) -> int:
    """Return the exponent of the least normal number. Raises ValueError as `of` does.

    >>> least_exponent("float16")
    -14
    """
    return _format(of(float_type))[1]


def least_positive_exponent(float_type: DTypeLike) -> int:
    """Return the exponent of the least positive number. Raises ValueError as `of` does.

    >>> least_positive_exponent("float64")
    -1074
    """
    return least_exponent(float_type) - digits(float_type) + 1


@lru_cache(maxsize=64)
def _format(of_type: np.dtype[Any]) -> tuple[int, int]:
    return FORMATS[of_type.name]
