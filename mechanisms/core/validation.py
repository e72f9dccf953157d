"""Checks of data: vectors of utilities and of integers, and whether two vectors are adjacent, decided exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.numerics.mpfr import float_up, rational
from subnormal.mechanisms.privacy import Claim

INT64 = 1 << 63
FLOAT64 = 1 << 53  # integers up to here are floats as well

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


def as_utilities(utilities: ArrayLike, name: str = "utilities") -> Utilities:
    """Return numbers as a vector of int64 or float64. Raises ValueError, which names them, on anything that is not a
    vector of finite numbers within their range."""
    array = np.asarray(utilities)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape (0,)")
    if array.dtype.kind == "u" and array.max() >= INT64:
        raise ValueError(f"{name} must fit a signed 64-bit integer, got {array.max()}")
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise ValueError(f"{name} must be 64-bit integers or floats, got {array.dtype} ({array.flat[0]!r}, ...)")
    if not np.isfinite(array).all():
        worst = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {name}[{worst}] = {array[worst]}")
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


def nowhere_beyond(allowed: Fraction, data_in: ArrayLike, data_out: ArrayLike) -> bool:
    """Return whether no two numbers at the same place of two vectors of one shape differ by more than is allowed.

    Integers and floats of any width, mixed too, are taken as exact rationals. Raises ValueError where
    one is not a finite number.
    """
    vectors = np.asarray(data_in), np.asarray(data_out)
    if all(_are_integers(vector) for vector in vectors):
        one, other = (vector.astype(np.int64, copy=False) for vector in vectors)
        high, low = np.maximum(one, other), np.minimum(one, other)  # modulo 2^64 their difference is exact
        return int((high.view(np.uint64) - low.view(np.uint64)).max(initial=0)) <= allowed
    if all(_are_floats(vector) for vector in vectors):
        return _floats_within(allowed, *(vector.astype(np.float64, copy=False) for vector in vectors))
    return _each_within(allowed, vectors[0].tolist(), vectors[1].tolist())


def _are_integers(vector: NDArray[Any]) -> bool:
    """Return whether int64 holds them."""
    return vector.dtype.kind in "iu" and int(vector.max(initial=0)) <= np.iinfo(np.int64).max


def _are_floats(vector: NDArray[Any]) -> bool:
    """Return whether float64 holds them."""
    if vector.dtype.kind == "f":
        return vector.dtype.itemsize <= 8
    if vector.dtype.kind not in "iu":
        return False
    return int(vector.min(initial=0)) >= -FLOAT64 and int(vector.max(initial=0)) <= FLOAT64


def _floats_within(allowed: Fraction, one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Rounding never reverses an order: only where the rounded distance is one of the floats next to the allowed one
    has it to be known exactly."""
    for vector in (one, other):
        if not np.isfinite(vector).all():
            raise ValueError(f"data must be finite numbers, got {vector[~np.isfinite(vector)][0]}")
    above, below = np.maximum(one, other), np.minimum(one, other)
    with np.errstate(over="ignore"):
        apart = above - below
    most = float_up(allowed)
    if (apart > most).any():
        return False
    is_float = np.isfinite(most) and Fraction(most) == allowed
    near = apart >= (most if is_float else np.nextafter(most, 0))
    above, below, apart = above[near], below[near], apart[near]
    if not is_float:
        return _each_within(allowed, above.tolist(), below.tolist())
    back = apart - above  # Knuth's TwoSum: apart + error is the distance, exactly
    error = (above - (apart - back)) - (below + back)
    return bool((error <= 0).all())


def _each_within(allowed: Fraction, one: Sequence[Any], other: Sequence[Any]) -> bool:
    pairs = set(zip(one, other, strict=True))
    return all(abs(rational("data", first) - rational("data", second)) <= allowed for first, second in pairs)
