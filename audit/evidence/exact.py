"""Evidence from two laws, in integers and rationals. Only the result has floats, and `WITHIN` is the only tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.events import Event, Releases
from subnormal.audit.evidence import hockey_stick_bounds
from subnormal.audit.evidence.hockey_stick_bounds import Ratio, at_least, at_most, directions
from subnormal.audit.model import ExactEvidence, Interval, Verdict
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Refused
from subnormal.mechanisms.core.outcome_identity import are_same
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up
from subnormal.mechanisms.privacy import Claim

WITHIN = 1e-12  # largest excess of the upper bound over the claimed δ for HOLDS (0 for an exact base-2 law)
PRECISION = 128  # bits of the first enclosure of e^ε
WITHIN_SHARE = 0.01  # and at most this share of a positive δ

Described = Law[Any] | Product[Any]


def both_laws(
    mechanism: Mechanism[Any, Any, Any], attack: Attack[Any, Any, Any], worlds: tuple[Any, Any]
) -> tuple[Described, Described] | None:
    """Return the member's laws in both worlds, or None if it has no law for them."""
    if mechanism.law is None:
        return None
    try:
        return mechanism.law(worlds[0], attack.parameters), mechanism.law(worlds[1], attack.parameters)
    except NoLawError:
        return None


def whole(laws: tuple[Described, Described] | None) -> tuple[Law[Any], Law[Any]] | None:
    """Return the laws of whole outcomes, with products multiplied out over all keys; None if that is too large."""
    if laws is None:
        return None
    try:
        law_in, law_out = (law.on(law.parts) if isinstance(law, Product) else law for law in laws)
    except NoLawError:
        return None
    return law_in, law_out


def compare(law_in: Described, law_out: Described, claim: Claim, event: Event | None = None) -> ExactEvidence:
    """Return what two laws prove about a claim on this pair of worlds, in both directions.

    Two products are multiplied out only over the keys that differ and those that the event depends on.
    The event has its own verdict: another event may violate a claim that this event satisfies.

    VIOLATED when Σ(l_out − e^ε·u_in)₊ > δ for certified bounds l ≤ P ≤ u, or the same with the worlds exchanged;
    HOLDS when the certified upper bound Σ(u_out − e^ε·l_in)₊ + rest exceeds δ by at most `WITHIN`; else UNRESOLVED.
    Mass of unknown location is counted once in both bounds (see `Direction`), not once for each atom.
    Raises ValueError if both worlds refuse in every run, because code that always fails would satisfy any claim.
    """
    law_in, law_out = multiply_out(law_in, law_out, event)
    if (refused := nothing_tried((law_in, law_out))) is not None:
        raise ValueError(refused)
    both = directions(law_in, law_out)
    proved, within = _bounds_at_epsilon(claim, partial(at_least, both), partial(at_most, both))
    verdict, largest = _verdict(proved, within, claim), _largest_loss(law_in, law_out)
    if largest is not None and verdict is not Verdict.VIOLATED:  # a violation proved by the bounds stands
        if largest <= Fraction(claim.epsilon):
            verdict, within = Verdict.HOLDS, Ratio(0, 1)
        elif claim.delta == 0:
            verdict = Verdict.VIOLATED
    event_in, event_out = (None, None) if event is None else (_probability(law, event) for law in (law_in, law_out))
    return ExactEvidence(
        verdict=verdict,
        epsilon=max(direction.loss() for direction in both) if largest is None else float_up(largest),
        delta=float(proved),
        within=None if verdict is Verdict.VIOLATED else float(within),
        advantage=None if event_in is None or event_out is None else _advantage(event_in, event_out),
        total_variation=float(at_least(both, Fraction(1))),
        event_in=_floats(event_in),
        event_out=_floats(event_out),
        event_verdict=_event_verdict(verdict, event_in, event_out, claim),
    )


def event_bounds(law_in: Described, law_out: Described, event: Event) -> tuple[Interval | None, Interval | None]:
    """Return certified bounds on the probability of an event in both worlds, as `compare` has them."""
    event_in, event_out = (_floats(_probability(law, event)) for law in multiply_out(law_in, law_out, event))
    return event_in, event_out


def multiply_out(law_in: Described, law_out: Described, event: Event | None = None) -> tuple[Law[Any], Law[Any]]:
    """Return two laws unchanged, and two products as laws over the keys that differ or that the event depends on.

    Raises TypeError for a law and a product.
    """
    if isinstance(law_in, Law) and isinstance(law_out, Law):
        return law_in, law_out
    if not (isinstance(law_in, Product) and isinstance(law_out, Product)):
        raise TypeError("two laws or two products can be compared, not one of each")
    keys = set(law_in.differing(law_out))
    if isinstance(event, Releases):
        keys.add(event.key)
    elif event is not None:
        keys |= {*law_in.parts, *law_out.parts}
    return law_in.on(keys), law_out.on(keys)


def only_refusals(law: Law[Any]) -> Refused | None:
    """Return a refusal where every atom of positive probability is one, else None."""
    ends, counts = np.asarray(law.ends, dtype=np.int64), law.counts()
    possible = np.flatnonzero(integers(law.high) > 0)
    atoms = (law.atoms[at] for block in possible for at in range(ends[block] - counts[block], ends[block]))
    first = next(atoms, None)
    return first if isinstance(first, Refused) and all(isinstance(atom, Refused) for atom in atoms) else None


def nothing_tried(laws: tuple[Described, Described] | None) -> str | None:
    """Return a note where every run of both worlds is a refusal, so that no verdict can rest on the pair; else None."""
    first, second = (only_refusals(law) if isinstance(law, Law) else None for law in laws or (None, None))
    if first is None or second is None:
        return None
    return f"both worlds refuse in every run, so nothing was tried; the first: {first.error}"


def _bounds_at_epsilon(
    claim: Claim, at_least: Callable[[Fraction], Ratio], at_most: Callable[[Fraction], Ratio]
) -> tuple[Ratio, Ratio]:
    """Return the lower bound at e^ε, and the excess of the upper bound over δ; both bounds are functions of a factor.

    The enclosure of e^ε is narrowed while that may decide the claim, so that equal bounds always decide it. The loop
    ends: bounds are piecewise linear in the factor, with rational coefficients, and e^ε is transcendental unless ε is 0
    (Lindemann). If a bound equals δ at e^ε, it therefore equals δ in a neighbourhood, where the loop stops.
    """
    claimed, precision = Fraction(claim.delta), PRECISION
    while True:
        lowest, highest = exp_bounds(Fraction(claim.epsilon), precision)
        proved, most = at_least(highest), at_most(lowest)
        decided = proved > claimed or most <= claimed
        if decided or (at_least(lowest) <= claimed and at_most(highest) > claimed):
            return proved, most.above(claimed)
        precision *= 2


def _verdict(proved: Ratio, within: Ratio, claim: Claim) -> Verdict:
    """Return the verdict on δ from a certified lower bound and the upper bound's excess over δ."""
    if proved > Fraction(claim.delta):
        return Verdict.VIOLATED
    near = within <= Fraction(WITHIN) and (claim.delta == 0 or within <= Fraction(WITHIN_SHARE) * Fraction(claim.delta))
    return Verdict.HOLDS if near else Verdict.UNRESOLVED


def _event_verdict(
    pair_verdict: Verdict, event_in: _ProbabilityBounds | None, event_out: _ProbabilityBounds | None, claim: Claim
) -> Verdict | None:
    """Return whether p > e^ε·q + δ for the event or its complement, in either direction."""
    if event_in is None or event_out is None:
        return None
    if pair_verdict is Verdict.HOLDS:
        return Verdict.HOLDS  # for every event
    complements = [(high.complement(), low.complement()) for low, high in (event_in, event_out)]
    pairs = [pair for one, other in ((event_in, event_out), complements) for pair in ((one, other), (other, one))]
    proved, within = _bounds_at_epsilon(
        claim,
        lambda factor: max(one[0].above(other[1].times(factor)) for one, other in pairs),
        lambda factor: max(one[1].above(other[0].times(factor)) for one, other in pairs),
    )
    return _verdict(proved, within, claim)


def _largest_loss(law_in: Law[Any], law_out: Law[Any]) -> Fraction | None:
    """Return the exact largest loss if all probabilities are constants times powers of one e^−rate, else None.

    The constants cancel, so a loss is a difference of exponents times the rate, which is rational.
    """
    one, other = law_in.powers, law_out.powers
    if law_in.rest or law_out.rest:
        return None
    if one is None or other is None or one.rate != other.rate or not are_same(law_in.atoms, law_out.atoms):
        return None
    counts_in, counts_out = law_in.counts(), law_out.counts()
    if not np.array_equal(np.repeat(one.constants, counts_in), np.repeat(other.constants, counts_out)):
        return None
    apart = np.abs(np.repeat(one.exponents, counts_in) - np.repeat(other.exponents, counts_out))
    return int(apart.max()) * one.rate


def curve(
    law_in: Described, law_out: Described, epsilons: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return certified lower and upper bounds on δ(ε), the larger of the two directions, each of shape (epsilons,)."""
    return hockey_stick_bounds.curve(*multiply_out(law_in, law_out), epsilons)


_ProbabilityBounds = tuple[Ratio, Ratio]


def _probability(law: Law[Any], event: Event) -> _ProbabilityBounds:
    low, high = law.measure(event(law.atoms))
    open_mass = law.denominator - law.least()  # the event has at most what lower bounds give it, and all of this
    return Ratio(low, law.denominator), min(
        Ratio(high, law.denominator).plus(law.rest), Ratio(low + open_mass, law.denominator)
    )


def _advantage(event_in: _ProbabilityBounds, event_out: _ProbabilityBounds) -> float:
    return float(max(event_in[0].above(event_out[1]), event_out[0].above(event_in[1])))


def _floats(bounds: _ProbabilityBounds | None) -> Interval | None:
    return None if bounds is None else (float(bounds[0]), float(bounds[1]))
