"""Score functions for selection: how bad each candidate is, as integer utilities, lower is better.

Each states its sensitivity Δ, the most by which one person moves any candidate's utility: pass it, with the utilities,
to a mechanism of the family `exponential`. Course notes and papers write scores, higher is better: utility = −score.
Candidates are public; they never depend on the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.core.validation import INT64, as_utilities
from subnormal.mechanisms.exponential.base2 import FLOAT_LIMIT

RANK_SENSITIVITY = 2  # a record replaced: 1 for each unit of the symmetric difference, which grows by 2


def count(counted: int, candidates: ArrayLike) -> NDArray[np.int64]:
    """Return |counted − r| for each candidate r, int64 of shape (candidates,). Sensitivity: 1.

    Selection by B^u is Laplace noise on the candidates. Where they are all the integers, its loss for neighbouring
    counts is η·ln 2, because both worlds have the same total weight. The general analysis of selection cannot use that,
    and says 2η·ln 2. (In the notes' terms: score −2|count − r|, weight e^(ε·score/2), analysis 2ε, truth ε.)
    Raises ValueError for a count that is no 64-bit integer, or more than 63 bits away from a candidate.
    Source: course notes on the exponential mechanism (BU CS 558, 2012).

    >>> count(2, range(5)).tolist()
    [2, 1, 0, 1, 2]
    """
    values = _integers("candidates", candidates)
    if isinstance(counted, bool) or not isinstance(counted, int | np.integer) or not -INT64 <= counted < INT64:
        raise ValueError(f"counted must be an integer of 64 bits, got {counted!r}")
    if max(abs(int(values.max()) - int(counted)), abs(int(values.min()) - int(counted))) >= INT64:
        raise ValueError(f"counted = {counted} lies more than 63 bits from the candidates")
    distances: NDArray[np.int64] = np.abs(values - np.int64(counted))
    return distances


def median(records: ArrayLike, candidates: ArrayLike) -> NDArray[np.int64]:
    """Return 2 × the fewest records to replace until the median is r, for each candidate r, int64, lower is better.

    The number of records is odd and public, and a replaced record may take any value. Sensitivity: RANK_SENSITIVITY
    for one record replaced, by the triangle inequality. The notes define the score as −min |A ⊕ B| over B with median
    r, where a replacement counts 2: one record gone, one come. Their table keeps the size. Their proof adds a record
    to A, which is another relation: neighbours at distance 1, one of which has an even size and no middle record.
    Raises ValueError for an even number of records.
    Source: course notes on the exponential mechanism (BU CS 558, 2012).

    >>> median([1, 100, 102, 104, 105, 200, 365], [100, 101, 102, 103, 104, 105]).tolist()
    [4, 4, 2, 2, 0, 2]
    """
    values = _vector("records", records)
    if len(values) % 2 == 0:
        raise ValueError(f"a median needs an odd number of records, got {len(values)}; take quantile at a rank")
    return quantile(values, candidates, len(values) // 2 + 1)


def quantile(records: ArrayLike, candidates: ArrayLike, rank: int) -> NDArray[np.int64]:
    """Return 2 × the fewest records to replace until the rank-th smallest is r, for each candidate r, int64.

    rank runs from 1 (the minimum) to the number of records, which is public. Sensitivity: RANK_SENSITIVITY for one
    record replaced.

    r is the rank-th smallest of n exactly when at most rank − 1 records lie below it and at most n − rank above. So the
    excess on either side has to be replaced, by r; there is none on the other side, as excess on both needs n + 1
    records. Where none equals r the two sides hold all n, one has an excess, and r is put in. Raises ValueError for a
    rank outside 1 to the number of records.
    """
    values, options = _comparable("records", records, "candidates", candidates)
    if isinstance(rank, bool) or not isinstance(rank, int | np.integer) or not 1 <= rank <= len(values):
        raise ValueError(f"rank must be an integer from 1 to {len(values)}, got {rank!r}")
    ordered = np.sort(values)
    below = ordered.searchsorted(options, side="left")
    above = len(ordered) - ordered.searchsorted(options, side="right")
    return 2 * np.maximum(np.maximum(below - (rank - 1), above - (len(ordered) - rank)), 0)


def mode(records: ArrayLike, categories: ArrayLike) -> NDArray[np.int64]:
    """Return −(the number of records in it) for each category, int64. Sensitivity: 1.

    Categories are distinct numbers or strings; records in none of them are counted nowhere. Raises ValueError for a
    category that is named twice.

    >>> mode(["a", "b", "a"], ["a", "b", "c"]).tolist()
    [-2, -1, 0]
    """
    values, options = _comparable("records", records, "categories", categories)
    order = np.argsort(options, kind="stable")
    ordered = options[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise ValueError(
            f"categories must be distinct, got {ordered[1:][ordered[1:] == ordered[:-1]].tolist()[0]!r} twice"
        )
    place = np.minimum(ordered.searchsorted(values), len(ordered) - 1)
    counts = np.bincount(place[ordered[place] == values], minlength=len(ordered))
    scored = np.empty(len(ordered), dtype=np.int64)
    scored[order] = -counts
    return scored


def price(bids: ArrayLike, prices: ArrayLike) -> NDArray[np.int64]:
    """Return −(the revenue of a price), price × (the number of bids that reach it), for each price, int64.

    Prices are integers ≥ 0, in the smallest coin. Sensitivity: price_sensitivity(prices). McSherry and Talwar 2007.
    Raises ValueError where a revenue does not fit a signed 64-bit integer.

    >>> price([100, 100, 100, 301], [100, 101, 301, 302]).tolist()
    [-400, -101, -301, 0]
    """
    asked = _prices(prices)
    values, options = _comparable("bids", bids, "prices", asked)
    buyers = len(values) - np.sort(values).searchsorted(options, side="left")
    if int(asked.max()) * len(values) >= INT64:
        raise ValueError(f"prices up to {asked.max()} for {len(values)} bids do not fit a signed 64-bit integer")
    return -asked * buyers


def price_sensitivity(prices: ArrayLike) -> int:
    """Return the largest price: what one bid added, removed or replaced adds to a revenue, at most."""
    return int(_prices(prices).max())


def _prices(prices: ArrayLike) -> NDArray[np.int64]:
    asked = _integers("prices", prices)
    if asked.min() < 0:
        raise ValueError(f"prices must not be negative, got {asked.min()}")
    return asked


def _vector(name: str, given: ArrayLike) -> NDArray[Any]:
    """Return a non-empty vector of int64, float64 or strings; numbers are finite."""
    array = np.asarray(given)
    return array if array.dtype.kind == "U" and array.ndim == 1 and array.size else as_utilities(array, name)


def _integers(name: str, given: ArrayLike) -> NDArray[np.int64]:
    array = _vector(name, given)
    if array.dtype.kind != "i":
        raise ValueError(f"{name} must be integers, got {array.dtype} ({array.flat[0]!r}, ...)")
    return array


def _comparable(name: str, given: ArrayLike, other_name: str, other: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two vectors of one type. Integers together with floats become floats; they must lie within ±2^53."""
    pair = {name: _vector(name, given), other_name: _vector(other_name, other)}
    kinds = {array.dtype.kind for array in pair.values()}
    if "U" in kinds and len(kinds) > 1:
        raise ValueError(f"{name} and {other_name} must both be numbers or both strings")
    if len(kinds) == 1:
        return pair[name], pair[other_name]
    for label, array in pair.items():
        if array.dtype.kind == "i" and max(-int(array.min()), int(array.max())) > FLOAT_LIMIT:
            raise ValueError(f"{label} beside floats must lie within ±2^53, got {array.min()} to {array.max()}")
    return pair[name].astype(np.float64), pair[other_name].astype(np.float64)
