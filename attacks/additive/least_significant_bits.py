"""Least significant bits: naive Laplace noise reaches few floats, so an output excludes true values.

Source: Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

The event. Let f = 1 in one world and f = 0 in the other. "Reachable from 1" has probability exactly 1 in the first,
because the true value is never excluded. Its advantage is the probability that an output from 0 is not reachable from
1, and its loss is infinite. By the exact float32 laws the advantage is 0.6689 at ε = 1 and 0.6126 at ε = 0.01. No event
is better by more than 0.0007: the total variation of the laws is 0.6689 and 0.6133. "Reachable from 0" has the
advantages 0.6011 and 0.6125: sums with 1 are rounded where the noise is small, so they reach fewer floats.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.attacks.additive.public_bounds import laplace_parameters
from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import numbers
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.core.outcome_identity import are_numeric, ascend, labels_at
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.numerics import float_types

SOURCE = "Mironov 2012 (CCS): outputs that floats cannot reach from a neighbouring value"

BLOCK = 1 << 14  # outputs judged at a time
MANY = 1 << 20  # outputs; a lookup in an enumerated support is faster than inversion from here on


@dataclass(frozen=True, slots=True)
class Reachable:
    """Some uniform of the naive Laplace mechanism leads from `value` to the outcome.

    float_type and uniform_bits describe the naive mechanism that is inverted. Outcomes of any mechanism may be judged.
    """

    value: float
    scale: float
    float_type: str
    uniform_bits: int

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        options: Any = {"float_type": self.float_type, "uniform_bits": self.uniform_bits}
        if self.float_type in float_types.ACCELERATORS:  # 2^9 outputs at most: all of them are listed
            values, support = numbers(outcomes), np.asarray(laplace_naive.law(self.value, self.scale, **options).atoms)
            hit: NDArray[np.bool_] = np.isin(values, support) & ~((values == 0) & np.signbit(values))
            return hit
        if self.uniform_bits <= laplace_naive.ENUMERATED_BITS and _are_many_atoms(outcomes):
            return _among(np.asarray(outcomes), np.asarray(laplace_naive.law(self.value, self.scale, **options).atoms))
        return reachable(numbers(outcomes), self.value, self.scale, **options)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "reachable", **asdict(self), "portable": False}


def _are_many_atoms(outcomes: Outcomes) -> bool:
    """Return whether these are the atoms of a law: cheaper to look up in the support than to invert one by one."""
    return len(outcomes) >= MANY and are_numeric(outcomes, np.empty(0)) and ascend(np.asarray(outcomes))


def _among(outcomes: NDArray[Any], support: NDArray[Any]) -> NDArray[np.bool_]:
    if outcomes is support:
        return np.ones(len(outcomes), dtype=np.bool_)
    return labels_at(outcomes, support, np.ones(len(support), dtype=np.bool_))


def reachable(
    outputs: NDArray[np.floating[Any]], value: float, scale: float, *, float_type: DTypeLike, uniform_bits: int
) -> NDArray[np.bool_]:
    """Return for each output whether naive Laplace noise on the value can equal it, shape (outputs,). Never wrong.

    output − value is approximately the noise, which brackets the possible uniforms. The mechanism's own arithmetic
    checks that the bracket's ends lie on either side of the output; otherwise the bracket grows. It is then bisected:
    outputs never decrease with the index (`laplace_naive.outputs`), so one of them equals the output iff the first one
    that is not below it does. No error bound of exp or of a sum is needed, the true value is never excluded, and a
    wide bracket costs one step for each doubling. −0.0 is no output.
    """
    answers = [
        _reachable(outputs[start : start + BLOCK], value, scale, float_type, uniform_bits)
        for start in range(0, len(outputs), BLOCK)
    ]
    return np.concatenate(answers) if answers else np.zeros(0, dtype=np.bool_)


def _reachable(
    outputs: NDArray[np.floating[Any]], value: float, scale: float, float_type: DTypeLike, uniform_bits: int
) -> NDArray[np.bool_]:
    given: Any = {"value": value, "scale": scale, "float_type": float_type, "uniform_bits": uniform_bits}
    total = np.int64(2 << uniform_bits)
    guess, reach = _guess(outputs.astype(np.float64), value, scale, float_type, uniform_bits)
    below, reached = np.maximum(guess - reach, -1), np.minimum(guess + reach, total)
    step = reach
    while (late := (below >= 0) & ~(laplace_naive.outputs(np.maximum(below, 0), **given) < outputs)).any():
        step = np.minimum(2 * step, total)
        below = np.where(late, np.maximum(below - step, -1), below)
    step = reach
    while (
        early := (reached < total) & ~(laplace_naive.outputs(np.minimum(reached, total - 1), **given) >= outputs)
    ).any():
        step = np.minimum(2 * step, total)
        reached = np.where(early, np.minimum(reached + step, total), reached)
    first = laplace_naive.first_reaching(outputs, below, reached, **given)
    hit = laplace_naive.outputs(np.minimum(first, total - 1), **given) == outputs
    hit &= ~((outputs == 0) & np.signbit(outputs))  # −0.0 == 0.0, but is not an output
    return np.asarray(hit, dtype=np.bool_)


def _guess(
    outputs: NDArray[np.float64], value: float, scale: float, float_type: DTypeLike, uniform_bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an estimate of the index of each output, and of its error: for speed only."""
    kind: Any = np.dtype(float_type).type
    uniforms = np.int64(1) << np.int64(uniform_bits)
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(outputs - value) / scale, nan=0.0, posinf=1e300)
        uniform = np.exp(-size) * float(uniforms)
        unit = np.spacing(np.maximum(np.abs(outputs), abs(value)).astype(kind)).astype(np.float64) / scale
        rounding = unit + 2 * size * float(np.finfo(kind).eps)
        reach = np.nan_to_num(np.ceil(uniform * rounding), nan=1.0, posinf=np.inf)
    count = np.clip(uniform, 1, float(uniforms)).astype(np.int64)
    guess = np.where(outputs < value, count - 1, 2 * uniforms - count)
    return guess, np.clip(reach, 1, float(uniforms)).astype(np.int64) + 1


def guesses_in(outcomes: Outcomes, attack: AnyAttack) -> NDArray[np.bool_]:
    """Return for each outcome whether the attacker guesses the world `in`, shape (outcomes,).

    The attacker guesses the only value that can reach the outcome. If both or neither can, it guesses the nearer value.
    Raises ValueError for an attack whose event is not `Reachable`.
    """
    event = attack.event
    if not isinstance(event, Reachable):
        raise ValueError(f"attack {attack.name!r} does not look for reachable outputs")
    value_in, value_out = attack.worlds()
    other = Reachable(value_out, event.scale, event.float_type, event.uniform_bits)
    from_in, from_out = event(outcomes), other(outcomes)
    distances = np.abs(numbers(outcomes) - value_in), np.abs(numbers(outcomes) - value_out)
    guessed: NDArray[np.bool_] = np.where(from_in == from_out, distances[0] < distances[1], from_in)
    return guessed


@constructor("least-significant-bits", ({}, {"epsilon": 0.01}))
def least_significant_bits(name: str, epsilon: float = 1.0, float_type: DTypeLike = np.float64) -> AnyAttack:
    """Return the attack: in f = 1, out f = 0, sensitivity 1. The event is an output that is reachable from 1.

    The advantage is about 0.8 in float64. In float32 it is 0.669 at ε = 1 and 0.613 at ε = 0.01. The claim allows
    tanh(ε/2), and ideal noise has 1 − e^(−ε/2).

    epsilon: nats. float_type: of the member it breaks. Raises ValueError unless ε is positive and finite, and for
    a type that is not a float type.
    """
    kind = float_types.of(float_type).name
    return least_significant_bits_float32(epsilon) if kind == "float32" else _attack(name, epsilon, kind)


def _attack(name: str, epsilon: float, kind: str) -> AnyAttack:
    parameters = laplace_parameters(epsilon)
    scale = laplace_naive.member_scale(parameters, kind)
    event = Reachable(1.0, scale, kind, laplace_naive.default_uniform_bits(kind))
    return Attack(
        name=name,
        family="laplace",
        worlds=lambda: (1.0, 0.0),
        parameters=parameters,
        event=event,
        breaks=(f"laplace-naive-{kind}",),
        source=SOURCE,
        description=(
            "1 with Alice, 0 without: float noise reaches few floats, so the last bits of an output exclude 1 or 0"
        ),
        fixes=("laplace-snapping",),
        slow=kind == "float32",
    )


@constructor("least-significant-bits-float32", ({}, {"epsilon": 0.01}))
def least_significant_bits_float32(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack on float32, for a budget of `epsilon` nats. Raises ValueError unless it is positive."""
    return _attack(name, epsilon, "float32")
