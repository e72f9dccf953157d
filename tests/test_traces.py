"""Trace laws against every string of bits through the samplers, at sizes where that can be done."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audit import channels, exhaustive
from mechanisms import exponential_base2, exponential_exact, traces
from mechanisms import exponential_base2_members as members
from mechanisms.bits import BitSource
from mechanisms.exponential import ExponentialParameters, Limits
from mechanisms.interface import Mechanism, Trace
from mechanisms.law import Law
from mechanisms.privacy import Eta

VECTORS = ([0], [2], [0, 1], [2, 0, 1], [1, 1, 1], [1, 1, 1, 1], [0, 2, 2, 1], [2, 1, 2, 2])
HALF, THREE_QUARTERS = Eta(1, 1, 1), Eta(3, 2, 1)


def walked(draw: Callable[[BitSource], Any], depth: int, word_bits: int = 64) -> Law[Any]:
    """Every string of `depth` bits through one draw and the counters of its source."""
    member: Mechanism[Any, Any, Any] = Mechanism(
        "drawn",
        "none",
        lambda data, parameters, bits, n: [draw(bits)],
        lambda *given: None,  # type: ignore[arg-type]
    )
    seen = channels.traced(member)
    return exhaustive.law(lambda bits: seen.sample(None, None, bits, 1)[0], depth, word_bits)


def assert_decided_is_the_law(walk: Law[Any], law: Law[Any]) -> None:
    """Strings that end a draw within the depth weigh, trace by trace, what the law says; no trace of the law that takes
    fewer bits than that is missing."""
    for atom in walk.atoms:
        low, high = law.probability(atom)
        assert walk.probability(atom)[0] == low, atom
        assert high == low + (law.rest if atom not in set(law.atoms) else 0)


DEPTH = 10


CASES = [
    *(("all-bits", 1, THREE_QUARTERS, vector) for vector in VECTORS),
    *(("most-significant-first", 1, THREE_QUARTERS, vector) for vector in VECTORS),
    *(("all-bits", 3, HALF, vector) for vector in VECTORS[:5]),
    *(("most-significant-first", 2, HALF, vector) for vector in VECTORS[:5]),
    *(("bit-by-bit", 1, eta, vector) for vector in VECTORS for eta in (HALF, THREE_QUARTERS)),
]


@pytest.mark.parametrize(("sampler", "minimum_tries", "eta", "vector"), CASES)
def test_every_string_through_the_paper_s_samplers(
    monkeypatch: pytest.MonkeyPatch, sampler: Any, minimum_tries: int, eta: Eta, vector: list[int]
) -> None:
    limits = Limits(0, 2, max(3, len(vector)))
    precision = exponential_base2.working_precision(eta, limits, "empirical")  # the law must not depend on which
    monkeypatch.setattr(members, "working_precision", lambda eta, limits: precision)
    law = members.trace_law(vector, eta, limits=limits, sampler=sampler, minimum_tries=minimum_tries)

    def draw(bits: BitSource) -> int:
        options: dict[str, Any] = {"limits": limits, "precision_method": "empirical"}
        options |= {"sampler": sampler, "minimum_tries": minimum_tries}
        return int(exponential_base2.sample(vector, eta, bits, 1, **options)[0])

    depth = DEPTH if sampler == "bit-by-bit" else minimum_tries * precision
    walk = walked(draw, depth)
    assert walk.rest < Fraction(1, 2)
    assert_decided_is_the_law(walk, law)
    within = [atom for atom in law.atoms if atom[1].bits <= depth and law.probability(atom)[0] > 0]
    assert sum(law.probability(atom)[0] for atom in within) == 1 - walk.rest
    assert law.rest <= Fraction(1, 1 << 60)
