"""The certificate of a violation: two laws as integers, and a set of outcomes, for `audit/certificate_checker.py`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from subnormal.audit.evidence.exact import multiply_out
from subnormal.audit.values.literal import literal
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.mechanism import AnyMechanism, NoLawError
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Claim

OUTCOMES_MAX = 1 << 16  # of a law that is written down
PRECISION = 1024  # bits of e^ε

Bounds = dict[str, tuple[int, int]]


def certificate(mechanism: AnyMechanism, parameters: Any, data_in: Any, data_out: Any) -> dict[str, Any]:
    """Return the certificate, in the form of JSON, that the laws of two worlds violate the member's claim.

    Raises ValueError where their bounds do not show it, and NoLawError where there is no law, or one of more than 2^16
    outcomes.
    """
    if mechanism.law is None:
        raise NoLawError(f"{mechanism.name} has no law")
    laws = multiply_out(mechanism.law(data_in, parameters), mechanism.law(data_out, parameters))
    claim = mechanism.claim(parameters, data_in, data_out)
    worlds = list(zip(laws, (data_in, data_out), strict=True))
    for (law, data), (other, neighbour) in (worlds, worlds[::-1]):
        found = _witness(law, other, claim)
        if found is not None:
            return {
                "mechanism": mechanism.name,
                "parameters": repr(parameters),
                "worlds": {"first": literal(data), "second": literal(neighbour)},
                "claim": {"epsilon": str(Fraction(claim.epsilon)), "delta": str(Fraction(claim.delta))},
                "first": _written(law),
                "second": _written(other),
                **found,
            }
    raise ValueError(f"the laws of {mechanism.name} do not show a violation on this pair")


def _witness(law: Law[Any], other: Law[Any], claim: Claim) -> dict[str, Any] | None:
    """Return the outcomes on which the first law exceeds e^ε times the second, with both probabilities, or None.

    They are chosen by the second law's upper bounds, and, where mass may lie anywhere, by its lower ones.
    """
    own, against = _bounds(law), _bounds(other)
    factor = exp_bounds(Fraction(claim.epsilon), PRECISION)[1]
    unit, own_unit = other.denominator, law.denominator
    left = unit - sum(low for low, _ in against.values())
    for side in (1, 0):
        event = [
            name
            for name, (low, _) in own.items()
            if low * unit * factor.denominator > factor.numerator * against.get(name, (0, 0))[side] * own_unit
        ]
        least = Fraction(sum(own[name][0] for name in event), own_unit)
        listed = [against.get(name, (0, 0)) for name in event]
        highs = sum(high for _, high in listed) + other.rest * unit
        most = min(highs, Fraction(sum(low for low, _ in listed) + left)) / unit
        if least > factor * most + Fraction(claim.delta):
            denominator = least.denominator * most.denominator
            numerators = [hex(int(one * denominator)) for one in (least, most)]
            return {"event": event, "numerators": numerators, "denominator": hex(denominator)}
    return None


def _bounds(law: Law[Any]) -> Bounds:
    if len(law.atoms) > OUTCOMES_MAX:
        raise NoLawError(f"a law of {len(law.atoms)} outcomes is too long for a certificate")
    counts, atoms = law.counts().tolist(), iter(law.atoms)
    pairs = zip(counts, integers(law.low).tolist(), integers(law.high).tolist(), strict=True)
    return {_name(next(atoms)): (low, high) for count, low, high in pairs for _ in range(count)}


def _name(atom: Any) -> str:
    return repr(atom.item() if hasattr(atom, "item") else atom)


def _written(law: Law[Any]) -> dict[str, Any]:
    return {
        "outcomes": {name: [hex(low), hex(high)] for name, (low, high) in _bounds(law).items()},
        "denominator": hex(law.denominator),
        "rest": [hex(law.rest.numerator), hex(law.rest.denominator)],
    }
