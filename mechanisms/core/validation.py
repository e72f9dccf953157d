"""Checks of data: vectors of utilities, of integers, of fractions, and whether two vectors are adjacent."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.core.distances import nowhere_beyond
from subnormal.mechanisms.numerics.mpfr import rational
from subnormal.mechanisms.privacy import Claim

INT64 = 1 << 63


Utilities = NDArray[Any]  # int64 or float64, shape (outcomes,)


class Sensitive(Protocol):
    """Parameters of a family whose data are vectors of numbers, each of which one person moves by at most Δ."""

    @property
    def sensitivity(self) -> float:
        """Δ."""


class Budgeted(Protocol):
    """Parameters of a family whose members all promise ε."""

    @property
    def epsilon(self) -> float:
        """ε, in nats."""


def epsilon_claim(parameters: Budgeted, data_in: Any, data_out: Any) -> Claim:
    """Return the promise ε of every member of such a family, the false ones too."""
    return Claim(parameters.epsilon)


def as_utilities(utilities: ArrayLike) -> Utilities:
    """Return the utilities as a vector of int64 or float64. Raises ValueError on anything that is not a vector of
    finite numbers within their range."""
    array = np.asarray(utilities)
    if array.ndim != 1:
        raise ValueError(f"utilities must be a vector, got shape {array.shape}")
    if array.size == 0:
        raise ValueError("utilities must not be empty, got shape (0,)")
    if array.dtype.kind == "u" and array.max() >= INT64:
        raise ValueError(f"utilities must fit a signed 64-bit integer, got {array.max()}")
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise ValueError(f"utilities must be 64-bit integers or floats, got {array.dtype} ({array.flat[0]!r}, ...)")
    if not np.isfinite(array).all():
        worst = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"utilities must be finite, got utilities[{worst}] = {array[worst]}")
    return array.astype(np.float64, copy=False)


def as_integers(utilities: ArrayLike) -> Utilities:
    """Return the utilities as a vector of int64. Raises ValueError on floats: 2^(−η·u) is no dyadic for them."""
    vector = as_utilities(utilities)
    if vector.dtype.kind != "i":
        raise ValueError("utilities must be integers with an Eta, got floats; round them or pass a budget in nats")
    return vector


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether this is an integer, which True is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def adjacent(parameters: Sensitive, data_in: Utilities, data_out: Utilities) -> bool:
    """Return whether two utility vectors may come from neighbours: equally long, and nowhere more than Δ apart.

    Raises ValueError for what is no numpy array.
    """
    for data in (data_in, data_out):
        if not isinstance(data, np.ndarray):
            raise ValueError(f"data must be a numpy array, got a {type(data).__name__}")
    if data_in.shape != data_out.shape or len(data_in) == 0:
        return False
    return nowhere_beyond(rational("sensitivity", parameters.sensitivity), data_in, data_out)
