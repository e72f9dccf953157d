"""What two followed laws say of a claim on one pair of inputs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from subnormal.attacks.core.events import OneOf
from subnormal.audit.evidence import exact
from subnormal.audit.laws.cells import Cells, cells_of
from subnormal.audit.laws.draws.sources import Source, replaced
from subnormal.audit.laws.followed import FollowedLaw, Walk, walks_of
from subnormal.audit.laws.independent import Numbers, laws_of_numbers
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.model import ExactEvidence, Verdict
from subnormal.audit.text import given, short
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Claim, require_positive

PRECISION = 128  # bits of e^ε
INDEPENDENT, LOOKED = 1 / 4, 1 / 4  # of the time, for numbers that are independent, and to find cells of outcomes
SHAPES, FIRST = 2 / 3, 1 / 4  # of what is left then, for shapes of outcomes, and for a first look at them as they are
SECOND = 3 / 4  # of what is left then, for outcomes in cells


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two followed laws prove of a claim on this pair, in both directions.

    evidence: VIOLATED, HOLDS or UNRESOLVED, with the loss and δ. event: where the claim is violated, the outcomes that
    are likelier in one world than it allows. keeps: (ε, δ) that the function is proved to keep on this pair, with all
    that was not followed counted against it; None where it is violated. rest: of both laws, the larger one. paths:
    of both. cells: where it is violated by the cells of outcomes, of which the event and the evidence are then;
    or, in the same way, by some of their numbers.
    """

    claim: Claim
    evidence: ExactEvidence
    event: OneOf | None
    keeps: Claim | None
    rest: float
    paths: int
    cells: Cells | Numbers | None = None

    @property
    def verdict(self) -> Verdict:
        """VIOLATED; HOLDS, for this pair; UNRESOLVED."""
        return self.evidence.verdict

    def __str__(self) -> str:
        said = f"{self.verdict}: on this pair, "
        if self.keeps is None:
            return f"{said}epsilon is at least {short(self.evidence.epsilon, 6)}, against {given(self.claim.epsilon)}"
        point = f"({given(self.claim.epsilon)}, {short(self.keeps.delta, 3)})"
        return f"{said}the function keeps {point}; a share of {short(self.rest, 3)} was not followed"


def decide(
    function: Callable[[Any], Any],
    data_in: Any,
    data_out: Any,
    claim: Claim,
    *,
    seconds: float = 10.0,
    rest: float = 2.0**-40,
) -> Comparison:
    """Return what the laws of a function on two inputs prove of a claim, as soon as they decide it.

    Where the outcomes as they are do not decide it, because they are floats or too many, cells of outcomes may still
    show a violation.

    seconds, rest: as for `law`, for both inputs together. Raises NotFollowedError as `law` does, and ValueError where
    the seconds are not positive.
    """
    require_positive("seconds", seconds)
    pair, found, refused = (data_in, data_out), None, None
    with replaced(function) as source, ExitStack() as opened:
        as_they_are = opened.enter_context(walks_of(function, pair, rest))
        deadline = time.monotonic() + seconds  # generators were looked for among all objects, which may be millions
        found = _by_numbers(source, function, pair, claim, INDEPENDENT * seconds)
        if found and found.verdict is not Verdict.UNRESOLVED:
            return found
        steps: list[tuple[Cells | None, float]] = [(None, 1.0)]
        if looked := cells_of(source, function, pair, LOOKED * seconds):
            *coarse, fine = looked
            steps = [*((one, SHAPES) for one in coarse), (None, FIRST), (fine, SECOND), *steps]
        for cells, share in steps:
            left = deadline - time.monotonic()
            if left <= 0 and (found or refused):
                break
            in_cells = cells and opened.enter_context(walks_of(cells.of(function), pair, rest))
            try:
                decided = _decided(source, in_cells or as_they_are, claim, share * left)
            except NotFollowedError as error:
                refused = refused or error
                continue
            is_told = decided.verdict is Verdict.VIOLATED or cells is None
            if is_told and (found is None or decided.keeps is None or decided.keeps.delta <= _delta(found)):
                found = replace(decided, cells=cells)
            if found and found.verdict is not Verdict.UNRESOLVED:
                return found
    if found is None:
        assert refused is not None
        raise refused
    return found


def _decided(source: Source, walks: list[Walk], claim: Claim, seconds: float) -> Comparison:
    """Return what the laws of a function on two inputs prove, when they decide the claim, or so many seconds later."""
    deadline = time.monotonic() + seconds
    while True:
        for place, walk in enumerate(walks):
            if not walk.paths:
                walk.go_on(source, seconds / len(walks))
            elif walk.has_more(0.0):
                walk.go_on(source, (deadline - time.monotonic()) / (len(walks) - place))
        found = compare(walks[0].law(), walks[1].law(), claim)
        is_over = time.monotonic() >= deadline or not any(walk.has_more(0.0) for walk in walks)
        if found.verdict is not Verdict.UNRESOLVED or is_over:
            return found


def _by_numbers(
    source: Source, function: Callable[[Any], Any], pair: tuple[Any, Any], claim: Claim, seconds: float
) -> Comparison | None:
    """Return what the laws of independent numbers prove; None where they are not known to be independent."""
    try:
        found = laws_of_numbers(source, function, pair, seconds)
    except NotFollowedError:
        return None
    if found is None:
        return None
    numbers, (law_in, law_out) = found
    return replace(compare(law_in, law_out, claim), cells=numbers)


def _delta(found: Comparison) -> float:
    return 1.0 if found.keeps is None else found.keeps.delta


def compare(law_in: FollowedLaw, law_out: FollowedLaw, claim: Claim) -> Comparison:
    """Return what the laws of a function on two inputs prove of a claim.

    What was not followed may lie on any outcome. It counts against HOLDS, and never for VIOLATED: a law of a loop
    without end has a rest, so that a claim with δ = 0 is UNRESOLVED at best, and `keeps` has a δ above 0. Assumes that
    the generator's words are uniform and independent, and that functions of `math` are monotone as implemented; of
    logarithms, in differences of exponentials, that they err by 2^−48 of their value at most.

    >>> import random
    >>> from subnormal.audit.laws.followed import law
    >>> def noisy(answer):
    ...     return answer if random.random() < 0.75 else 1 - answer
    >>> str(compare(law(noisy, 1), law(noisy, 0), Claim(1.0)))
    'VIOLATED: on this pair, epsilon is at least 1.09861, against 1'
    >>> str(compare(law(noisy, 1), law(noisy, 0), Claim(1.2)).verdict)
    'HOLDS'
    """
    found = exact.compare(law_in.law, law_out.law, claim)
    event, keeps = None, None
    if found.verdict is Verdict.VIOLATED:
        event = _event(law_in.law, law_out.law, claim)
        found = exact.compare(law_in.law, law_out.law, claim, event)
    else:
        keeps = Claim(claim.epsilon, min(1.0, math.nextafter(claim.delta + (found.within or 0.0), math.inf)))
        keeps = claim if found.within == 0 else keeps
    return Comparison(claim, found, event, keeps, float(max(law_in.rest, law_out.rest)), law_in.paths + law_out.paths)


def _event(law_in: Law[Any], law_out: Law[Any], claim: Claim) -> OneOf:
    """Return the outcomes that are likelier in one world than the claim allows, in the direction with more excess."""
    _, factor = exp_bounds(Fraction(claim.epsilon), PRECISION)
    bounds = [
        {
            identity(atom): (atom, Fraction(int(low), law.denominator), Fraction(int(high), law.denominator))
            for atom, low, high in zip(law.atoms, law.low, law.high, strict=True)
        }
        for law in (law_in, law_out)
    ]
    found: list[tuple[Fraction, tuple[Any, ...]]] = []
    for (one, other), rest in ((bounds, law_out.rest), (bounds[::-1], law_in.rest)):
        excess = [(low - factor * other.get(key, (None, 0, rest))[2], atom) for key, (atom, low, _) in one.items()]
        above = [(by, atom) for by, atom in excess if by > 0]
        found.append((sum((by for by, _ in above), Fraction(0)), tuple(atom for _, atom in above)))
    return OneOf(max(found, key=lambda pair: pair[0])[1], by_type=True)
