"""Lab 4: audit a library, five published versions of the sparse vector technique and one with bounded integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.answers import AnswerError, shown
from grader.evidence import as_integers, as_pair, finding, is_violated, require_neighbours
from grader.marks import Marks, part
from subnormal import Claim, member
from subnormal.audit.evidence import exact
from subnormal.audit.model import ExactEvidence
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters

EPSILON = 1.0
PARAMETERS = SparseVectorParameters(epsilon=EPSILON, threshold=0, positives=1, width=8)
IMPLEMENTATIONS = {
    "lyu": member("sparse-vector-exact"),
    "bounded": member("sparse-vector-clamped-noise"),
    "roth": member("sparse-vector-algorithm-3"),
    "lee": member("sparse-vector-algorithm-4"),
    "stoddard": member("sparse-vector-algorithm-5"),
    "chen": member("sparse-vector-algorithm-6"),
}
QUERIES_MAX = 7
LARGEST = 20


def audit(name: str, queries_in: Any, queries_out: Any) -> ExactEvidence:
    """Return what the exact laws of an implementation say of two worlds. Raises AnswerError for no neighbours."""
    worlds = as_integers(queries_in, "queries_in"), as_integers(queries_out, "queries_out")
    require_neighbours(*worlds, "queries")
    if len(worlds[0]) > QUERIES_MAX or max(int(np.abs(world).max()) for world in worlds) > LARGEST:
        message = f"At most {QUERIES_MAX} queries, between -{LARGEST} and {LARGEST}, got {shown(queries_in)}."
        raise AnswerError(message, "Fewer and smaller ones are enough.")
    law = IMPLEMENTATIONS[name].law
    assert law is not None
    return exact.compare(law(worlds[0], PARAMETERS), law(worlds[1], PARAMETERS), Claim(EPSILON))


def _graded(name: str, worlds: Any, points: int, hint: str) -> Marks:
    """Return the marks for worlds that should break an implementation."""
    if worlds is None:
        return Marks(0, f"`{name}` breaks its claim, and you accept it.", hint)
    queries_in, queries_out = as_pair(worlds, name)
    found = audit(name, queries_in, queries_out)
    if is_violated(found):
        return Marks(points, finding(found))
    if np.array_equal(queries_in, queries_out):
        return Marks(0, finding(found), "Equal worlds have equal laws. Alice must change a query.")
    return Marks(0, finding(found), _direction(as_integers(queries_in, name), as_integers(queries_out, name)) or hint)


def _direction(one: NDArray[np.int64], other: NDArray[np.int64]) -> str:
    moves = set((one - other).tolist())
    if moves <= {0, 1} or moves <= {0, -1}:
        return "All queries move the same way, and the noisy threshold can move with them. Move some up, others down."
    return ""


@part(1, "No noise on the answers", 2)
def part_1(stoddard: Any) -> Marks:
    hint = "The answers have no noise: they tell which query is larger. Swap two queries that are 1 apart."
    return _graded("stoddard", stoddard, 2, hint)


@part(2, "Noise that is too small", 2)
def part_2(lee: Any) -> Marks:
    hint = "Each answer costs part of the budget. Ask several queries before the first that reaches the threshold."
    return _graded("lee", lee, 2, hint)


@part(3, "No end", 2)
def part_3(chen: Any) -> Marks:
    hint = "It never stops, and each positive answer costs. How many queries does the loss need to grow above 1?"
    return _graded("chen", chen, 2, hint)


@part(4, "A value with the answer", 2)
def part_4(roth: Any) -> Marks:
    hint = (
        "The released value bounds the noisy threshold from above. What do all the negative answers before it say then?"
    )
    return _graded("roth", roth, 2, hint)


@part(5, "The two that remain", 2)
def part_5(lyu: Any, bounded: Any) -> Marks:
    if lyu is not None:
        queries_in, queries_out = as_pair(lyu, "lyu")
        message = finding(audit("lyu", queries_in, queries_out))
        return Marks(
            0, f"`lyu`: {message}", "It has a proof, for all neighbours. To accept an implementation, write None."
        )
    hint = "Its noise ends at 8. Which query is so far below the threshold that noise cannot lift it?"
    marks = _graded("bounded", bounded, 2, hint)
    return marks if marks.points else Marks(1, f"`lyu` is accepted, rightly. {marks.message}", marks.hint)
