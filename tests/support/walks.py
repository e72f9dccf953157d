"""A member's law against every string of bits through its sampler, and two laws against each other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack
from subnormal.audit.evidence import exact, exhaustive
from subnormal.audit.model import ExactEvidence
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.mechanism import Mechanism, Trace
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.privacy import Eta


class EveryWord(BitSource):
    """Hands out 0, 1, 2, …, 2^width − 1 as words: every string of bits, in order."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        super().__init__(lambda count: np.zeros(count, dtype=np.uint64))
        self._next = 0

    def words(self, count: int, width: int | None = None) -> NDArray[np.uint64]:
        self._next += count
        assert self._next <= 1 << (width or 0)
        return np.arange(self._next - count, self._next, dtype=np.uint64)


def law_of(mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any) -> Any:
    """Return the law of a member that has one."""
    assert mechanism.law is not None
    return mechanism.law(data, parameters)


def one_draw(mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any, bits: BitSource) -> Any:
    drawn = mechanism.sample(data, parameters, bits, 1)[0]
    if isinstance(drawn, np.ndarray):  # a vector is an outcome as a tuple
        return tuple(drawn.tolist())
    return drawn.item() if isinstance(drawn, np.generic) else drawn


@contextmanager
def laplace_members_at(eta: Eta) -> Iterator[pytest.MonkeyPatch]:
    """Let every Laplace member in base 2 draw at this rate, whatever its ε is."""
    laplace_exact.member_eta.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laplace_exact, "noise_eta", lambda *_: eta)
        yield patch
    laplace_exact.member_eta.cache_clear()


def traces(sampler: Callable[[BitSource], Any], depth: int, word_bits: int = 64) -> Law[Any]:
    """Return the law of (outcome, Trace) over all strings of `depth` bits."""

    def draw(bits: BitSource) -> tuple[Any, Trace]:
        outcome = sampler(bits)
        return outcome, Trace(bits.tries, bits.consumed, bits.steps)

    return exhaustive.law(draw, depth, word_bits)


def assert_within_the_law(
    mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any, rest: float, word_bits: int = 2
) -> None:
    """Every string of 12 bits."""
    law = law_of(mechanism, data, parameters)
    if isinstance(law, Product):
        law = law.on(law.parts)
    walked = exhaustive.law(partial(one_draw, mechanism, data, parameters), depth=12, word_bits=word_bits)
    assert_between(walked, law, rest)


def assert_between(walked: Law[Any], law: Law[Any], rest: float) -> None:
    """What a walk decides lies below the law, and the law below that and what the walk leaves: at most `rest`."""
    assert walked.rest <= rest
    decided = {identity(atom): Fraction(low, walked.denominator) for atom, low, _ in _each_atom(walked)}
    named = {identity(atom) for atom, _, _ in _each_atom(law)}
    assert sum(mass for atom, mass in decided.items() if atom not in named) <= law.rest
    for atom, low, high in _each_atom(law):
        mass = decided.get(identity(atom), Fraction(0))
        assert mass <= Fraction(high, law.denominator)
        assert Fraction(low, law.denominator) <= mass + walked.rest


def _each_atom(law: Law[Any]) -> Iterator[tuple[Any, int, int]]:
    """Yield each atom with its bounds over the denominator."""
    atoms = law.atoms.tolist() if isinstance(law.atoms, np.ndarray) else law.atoms
    low, high = (np.repeat(integers(side), law.counts()).tolist() for side in (law.low, law.high))
    return zip(atoms, low, high, strict=True)


def evidence(attack: Attack[Any, Any, Any], mechanism: Mechanism[Any, Any, Any]) -> ExactEvidence:
    """Return what the member's two laws prove of its claim."""
    data_in, data_out = attack.worlds()
    law_in, law_out = (law_of(mechanism, data, attack.parameters) for data in (data_in, data_out))
    return exact.compare(law_in, law_out, mechanism.claim(attack.parameters, data_in, data_out), attack.event)
