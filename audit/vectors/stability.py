"""The set `stability`: two neighbouring datasets in, a bound on the distance of what a query answers.

A dataset is written as runs of equal records, [how many, record]. vectors/1/stability.md says what each query is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

INF, NAN = math.inf, math.nan
HUGE = 1.7e308  # two of them overflow
TINY = 5e-324  # the least float above 0
UP = 1 + 2.0**-52  # the float above 1
INT64 = 2**63 - 1
MOST_EXACT = 2**53  # beyond it not every integer is a float

UNIT: dict[str, Any] = {"lower": 0.0, "upper": 1.0}
SIGNED: Mapping[str, Any] = {"lower": -1.0, "upper": 1.0}
WIDE: dict[str, Any] = {"lower": -HUGE, "upper": HUGE}
HALVES: Mapping[str, Any] = {"quantile": 0.5, "candidates": [0.0, 0.5, 1.0]}
BINS: Mapping[str, Any] = {"edges": [0.0, 0.5, 1.0]}

# query, comment, parameters, one dataset, the other, bound, distance
Row = tuple[str, str, Mapping[str, Any], Sequence[Any], Sequence[Any], float, str]
ROWS: Sequence[Row] = (
    ("sum", "one record more", UNIT, [0.5, 1.0], [0.5], 1.0, "l1"),
    ("sum", "the sum is rounded up by half a unit", UNIT, [1.0, 1.0, 1.0, 3 * 2.0**-51, 1.0], [1.0, 1.0, 1.0,
        3 * 2.0**-51], 1.0, "l1"),
    ("sum", "small records vanish beside a large one", SIGNED, [1.0] + [-(2.0**-54)] * 100, [-(2.0**-54)] * 100, 1.0,
        "l1"),
    ("sum", "65,536 small records vanish beside a large one", SIGNED, [1.0] + [-(2.0**-54)] * 65536,
        [-(2.0**-54)] * 65536, 1.0, "l1"),
    ("sum", "another order of the same records", UNIT, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1], 0.0, "l1"),
    ("sum", "another order, and 1 vanishes beside 2^53", {"lower": -(2.0**53), "upper": 2.0**53}, [1.0, 2.0**53,
        -(2.0**53)], [2.0**53, -(2.0**53), 1.0], 0.0, "l1"),
    ("sum", "another order overflows", WIDE, [HUGE, HUGE, -HUGE], [HUGE, -HUGE, HUGE], 0.0, "l1"),
    ("sum", "one record more overflows", WIDE, [HUGE, HUGE], [HUGE], HUGE, "l1"),
    ("sum", "NaN is no number to clamp", UNIT, [0.5, NAN], [0.5], 1.0, "l1"),
    ("sum", "NaN comes first", UNIT, [NAN, 0.5], [0.25, 0.5], 1.0, "l1"),
    ("sum", "infinity is clamped", UNIT, [0.5, INF], [0.5], 1.0, "l1"),
    ("sum", "both infinities are clamped", SIGNED, [INF, -INF], [INF], 1.0, "l1"),
    ("sum", "a record outside of the bounds", UNIT, [0.5, 1e300], [0.5], 1.0, "l1"),
    ("sum", "the empty dataset", UNIT, [1.0], [], 1.0, "l1"),
    ("sum", "subnormal records", {"lower": 0.0, "upper": TINY}, [TINY, TINY], [TINY], TINY, "l1"),
    ("sized-sum", "an odd range", {"lower": 0, "upper": 3, "size": 10}, [3] + [0] * 9, [0] * 10, 3, "l1"),
    ("sized-sum", "bounds of both signs", {"lower": -2, "upper": 1, "size": 10}, [1] + [0] * 9, [-2] + [0] * 9, 3,
        "l1"),
    ("integer-sum", "a 32-bit sum wraps around", {"lower": 0, "upper": 2**30}, [2**30, 2**30], [2**30], 2**30, "l1"),
    ("integer-sum", "a 32-bit sum wraps around below", {"lower": -(2**30), "upper": 0}, [-(2**30)] * 3,
        [-(2**30)] * 2, 2**30, "l1"),
    ("integer-sum", "a 64-bit sum wraps around", {"lower": 0, "upper": 2**62}, [2**62, 2**62], [2**62], 2**62, "l1"),
    ("integer-sum", "another order of a saturating sum", {"lower": -INT64, "upper": INT64}, [INT64, 1, -1], [INT64,
        -1, 1], 0, "l1"),
    ("integer-sum", "an odd number above 2^53, which a float cannot hold", {"lower": 0, "upper": MOST_EXACT + 4},
        [MOST_EXACT + 3], [MOST_EXACT + 2], 1, "l1"),
    ("mean", "one changed record of four", UNIT | {"size": 4}, [1.0] * 4, [1.0] * 3 + [0.0], 0.25, "l1"),
    ("mean", "NaN", UNIT | {"size": 4}, [0.5] * 3 + [NAN], [0.5] * 4, 0.25, "l1"),
    ("mean", "infinity", UNIT | {"size": 4}, [0.5] * 3 + [INF], [0.5] * 4, 0.25, "l1"),
    ("mean", "the sum overflows, the mean does not", WIDE | {"size": 2}, [HUGE, HUGE], [HUGE, 0.0], HUGE / 2, "l1"),
    ("squared-deviations", "1 and the float above it: the mean is rounded", {"lower": 1.0, "upper": UP,
        "size": 2000}, [UP] + [1.0] * 1999, [1.0] * 2000, 2.0**-104 * 1999 / 2000, "l1"),
    ("squared-deviations", "one changed record of two", UNIT | {"size": 2}, [0.0, 1.0], [0.0, 0.0], 0.5, "l1"),
    ("count", "one record more", {}, [1.0, 2.0], [1.0], 1, "l1"),
    ("count", "NaN is a record", {}, [1.0, NAN], [1.0, 2.0], 0, "l1"),
    ("count-of-numbers", "a text that is no number is a record", {}, ["1", "x"], ["1", "2"], 0, "l1"),
    ("count-of-numbers", "a number too large for 64 bits is a record", {}, ["1", "99999999999999999999"], ["1", "2"],
        0, "l1"),
    ("sum-of-numbers", "a text that is no number", {"lower": 0, "upper": 10}, ["1", "x"], ["1", "2"], 10, "l1"),
    ("sum-of-numbers", "a number too large for 64 bits", {"lower": 0, "upper": 10}, ["1", "99999999999999999999"],
        ["1", "2"], 10, "l1"),
    ("sum-of-casts", "a float too large for 32 bits", {"lower": 0, "upper": 10}, [1.0, 2.0**31], [1.0], 10, "l1"),
    ("sum-of-casts", "a float too large for 64 bits", {"lower": 0, "upper": 10}, [1.0, 1e300], [1.0], 10, "l1"),
    ("sum-of-casts", "NaN", {"lower": 1, "upper": 10}, [2.0, NAN], [2.0], 10, "l1"),
    ("sum-of-casts", "infinity below", {"lower": -10, "upper": 10}, [2.0, -INF], [2.0], 10, "l1"),
    ("resize", "a filler for one record fewer", {"size": 3, "fill": 0}, [1, 2, 3], [1, 2], 2, "multiset"),
    ("resize", "more records than the size", {"size": 2, "fill": 0}, [1, 2, 3], [1, 2], 2, "multiset"),
    ("resize", "no record", {"size": 2, "fill": 0}, [1], [], 2, "multiset"),
    ("quantile", "NaN", UNIT | {"quantile": 0.5}, [0.5, NAN], [0.5], 1.0, "l1"),
    ("quantile", "infinity", UNIT | {"quantile": 0.5}, [INF, INF, 0.5], [INF, 0.5], 1.0, "l1"),
    ("quantile", "the empty dataset", UNIT | {"quantile": 0.5}, [0.5], [], 1.0, "l1"),
    ("quantile", "the largest", UNIT | {"quantile": 1.0}, [0.0, 1.0], [0.0], 1.0, "l1"),
    ("quantile-scores", "records that equal a candidate", HALVES, [0.5] * 3, [0.5] * 2, 0.5, "linf"),
    ("quantile-scores", "NaN", HALVES, [0.5, NAN], [0.5], 0.5, "linf"),
    ("quantile-scores", "infinity", HALVES, [0.5, INF], [0.5], 0.5, "linf"),
    ("quantile-scores", "the empty dataset", HALVES, [0.25], [], 0.5, "linf"),
    ("histogram", "a record on an edge", BINS, [0.5, 0.25], [0.25], 1, "l1"),
    ("histogram", "a record on the last edge", BINS, [1.0, 0.25], [0.25], 1, "l1"),
    ("histogram", "a record beyond the edges", BINS, [2.0, 0.25], [0.25], 1, "l1"),
    ("histogram", "NaN", BINS, [NAN, 0.25], [0.25], 1, "l1"),
    ("histogram", "infinity", BINS, [-INF, 0.25], [0.25], 1, "l1"),
    ("clip", "a norm of 5", {"norm": 1.0}, [3.0, 4.0], [0.0, 0.0], 1 + 2.0**-50, "l2"),
    ("clip", "the square of the norm overflows", {"norm": 1.0}, [3e200, 4e200], [0.0, 0.0], 1 + 2.0**-50, "l2"),
    ("clip", "an infinite entry", {"norm": 1.0}, [INF, 1.0], [0.0, 0.0], 1 + 2.0**-50, "l2"),
    ("clip", "NaN", {"norm": 1.0}, [NAN, 1.0], [0.0, 0.0], 1 + 2.0**-50, "l2"),
    ("clip", "the square of the norm underflows", {"norm": 1e-200}, [1e-170, 1e-170], [0.0, 0.0], 1.0001e-200, "l2"),
    ("clip", "zeros", {"norm": 1.0}, [0.0, 0.0], [0.0, 0.0], 0.0, "l2"),
)  # fmt: skip


def tests() -> Iterator[dict[str, Any]]:
    """Yield the tests of the set."""
    for query, comment, parameters, one, other, bound, distance in ROWS:
        yield {
            "function": query, "comment": comment, "parameters": dict(parameters),
            "in": runs(one), "out": runs(other), "bound": bound, "distance": distance,
        }  # fmt: skip


def runs(records: Sequence[Any]) -> list[list[Any]]:
    """Return the runs of equal records, [how many, record].

    >>> runs([1, 1, 2])
    [[2, 1], [1, 2]]
    """
    found: list[list[Any]] = []
    for record in records:
        if found and found[-1][1] == record:
            found[-1][0] += 1
        else:
            found.append([1, record])
    return found
