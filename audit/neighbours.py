"""Neighbouring inputs when none are given: the usual patterns, and a screening that picks the most telling pair.

The patterns for vectors are those of Ding, Wang, Wang, Zhang, Kifer 2018 ("Detecting Violations of Differential
Privacy", CCS), with records added and removed, and the ends of the float format beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attacks.attack import Attack
from attacks.features import first_value
from audit import learning
from mechanisms.bits import seeded_bits
from mechanisms.interface import Mechanism

LENGTH = 8  # records of a vector
SCREENING = 1 / 4  # the share of the training runs that goes to all pairs alike; the rest to the pair picked

AnyMechanism = Mechanism[Any, Any, Any]
AnyAttack = Attack[Any, Any, Any]
Adjacent = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Two inputs that differ as a pattern says."""

    name: str
    data_in: Any
    data_out: Any


def numbers(step: int | float = 1.0) -> tuple[Neighbours, ...]:
    """Return pairs of numbers `step` apart, integers where the step is one.

    The ends of the format: the least float, the last float below 1, where floats, and where 64-bit integers, run out.
    """
    if not step > 0 or not np.isfinite(step):
        raise ValueError(f"step must be positive and finite, got {step}")
    pairs: list[tuple[str, int | float, int | float]] = [
        ("zero against one", 0 * step, step),
        ("zero against minus one", 0 * step, -step),
        ("one up", 5 * step, 6 * step),
        ("one down", 5 * step, 4 * step),
        ("many", 1000 * step, 1001 * step),
    ]
    if isinstance(step, int):
        pairs += [
            ("end of the floats' integers", 2**53 // step * step, (2**53 // step + 1) * step),
            ("end of 32 bits", 2**31 - step, 2**31),
            ("end of 64 bits", 2**63 - 1 - step, 2**63 - 1),
        ]
    else:
        pairs += [
            ("half up, half down", -step / 2, step / 2),
            ("least float", 0.0, min(5e-324, step)),
            ("last float below one", step * (1 - 2.0**-53), step),
            ("signs of zero", 0.0, -0.0),
            ("end of the floats' integers", step * 2.0**52, step * (2.0**52 + 1)),
        ]
    return tuple(Neighbours(name, one, other) for name, one, other in pairs)


def vectors(step: int | float = 1, length: int = LENGTH) -> tuple[Neighbours, ...]:
    """Return pairs of vectors (int64 where the step is an integer, else float64) of about `length` entries.

    Entries are multiples of the step. Which pairs are neighbours depends on what a record is: filter them by `among`.
    """
    if not step > 0 or not np.isfinite(step):
        raise ValueError(f"step must be positive and finite, got {step}")
    if length < 2:
        raise ValueError(f"length must be at least 2, got {length}")

    def vector(*entries: int | float) -> NDArray[Any]:
        return np.array(entries, dtype=np.int64 if isinstance(step, int) else np.float64) * step

    rest, half = length - 1, length // 2
    ones, zeros = [1] * length, [0] * length
    alternating = [1] * half + [0] * (length - half)
    pairs = [
        ("empty", vector(), vector(1)),
        ("empty, a zero more", vector(), vector(0)),
        ("zeros against one", vector(*zeros), vector(1, *zeros[1:])),
        ("one entry more", vector(*ones), vector(*ones, 1)),
        ("one entry less", vector(*ones), vector(*ones[1:])),
        ("a one among zeros", vector(*zeros), vector(*zeros, 1)),
        ("one up", vector(*ones), vector(2, *ones[1:])),
        ("one down", vector(*ones), vector(0, *ones[1:])),
        ("one up, the rest down", vector(*ones), vector(2, *[0] * rest)),
        ("one down, the rest up", vector(*ones), vector(0, *[2] * rest)),
        ("half up, half down", vector(*ones), vector(*[2] * half, *[0] * (length - half))),
        ("all up by one", vector(*ones), vector(*[2] * length)),
        ("all down by one", vector(*ones), vector(*zeros)),
        ("halves exchanged", vector(*alternating), vector(*alternating[::-1])),
    ]
    if not isinstance(step, int):
        pairs += [
            ("least float", vector(*zeros), np.array([min(5e-324, step), *zeros[1:]])),
            ("end of the floats' integers", vector(2.0**52, *zeros[1:]), vector(2.0**52 + 1, *zeros[1:])),
        ]
    return tuple(Neighbours(name, one, other) for name, one, other in pairs)


def mappings(step: int | float = 1) -> tuple[Neighbours, ...]:
    """Return pairs of mappings from keys to multiples of the step: a key more, a value more."""
    one, many = {"one": step}, {"many": 50 * step}
    return (
        Neighbours("a key, and none", dict(one), {}),
        Neighbours("a key of zero, and none", {"one": 0 * step}, {}),
        Neighbours("a negative key, and none", {"one": -step}, {}),
        Neighbours("a key more", many | one, dict(many)),
        Neighbours("one up", dict(many), {"many": 51 * step}),
        Neighbours("one down", dict(many), {"many": 49 * step}),
    )


def among(pairs: Sequence[Neighbours], adjacent: Adjacent) -> tuple[Neighbours, ...]:
    """Return the pairs that a claim covers, in their order."""
    return tuple(pair for pair in pairs if adjacent(pair.data_in, pair.data_out))


def added_or_removed(data_in: NDArray[Any], data_out: NDArray[Any]) -> bool:
    """Return whether one vector is the other with one record more, in any order."""
    fewer, more = sorted((sorted(data_in.tolist()), sorted(data_out.tolist())), key=len)
    return len(more) == len(fewer) + 1 and any(more[:place] + more[place + 1 :] == fewer for place in range(len(more)))


def within(step: int | float) -> Adjacent:
    """Return the relation of numbers, or vectors of one length, whose every entry differs by at most the step."""

    def adjacent(data_in: Any, data_out: Any) -> bool:
        if np.shape(data_in) != np.shape(data_out):
            return False
        pairs = zip(np.atleast_1d(data_in).tolist(), np.atleast_1d(data_out).tolist(), strict=True)
        return all(abs(one - other) <= step for one, other in pairs)

    return adjacent


@dataclass(frozen=True, slots=True)
class Screened:
    """What the training runs of one pair showed of the event learned on half of them.

    beyond: by how much the lower bound on ε exceeds the claim, and by how many standard errors the shares do.
    """

    pair: str
    runs: int
    beyond: float
    standard_errors: float


def found(
    mechanism: AnyMechanism, parameters: Any, pairs: Sequence[Neighbours], *, seed: int, runs: int
) -> tuple[AnyAttack, tuple[Screened, ...]]:
    """Return an attack with the most telling of the pairs and the event learned on it, and how the pairs were ranked.

    runs: training runs of each world in all, at the most. A quarter is shared equally by the pairs, the rest goes to
    the pair picked. None of these runs judges: whoever judges draws fresh ones, so that α is spent on one pair and one
    event alone, however many were tried. The pairs must be covered by the claim (see `among`).
    """
    if not pairs:
        raise ValueError("pairs must not be empty: none of the patterns is covered by the claim")
    budget = int(SCREENING * runs) // len(pairs)
    if budget < 4:
        raise ValueError(f"runs must be at least {4 * len(pairs) / SCREENING:.0f} for {len(pairs)} pairs, got {runs}")
    attacks = [_attack(mechanism, parameters, pair) for pair in pairs]
    screened = [_screen(mechanism, attack, pair, seed, budget) for attack, pair in zip(attacks, pairs, strict=True)]
    best = max(range(len(pairs)), key=lambda place: (screened[place].beyond, screened[place].standard_errors))
    left = runs - budget * len(pairs)
    return learning.with_event(mechanism, attacks[best], seed=seed, runs=left), tuple(screened)


def _screen(mechanism: AnyMechanism, attack: AnyAttack, pair: Neighbours, seed: int, runs: int) -> Screened:
    learned = learning.with_event(mechanism, attack, seed=seed, runs=runs // 2, label="screen-learn", regress=False)
    assert learned.event is not None
    counts, size = [], runs - runs // 2
    for world, data in zip(("in", "out"), attack.worlds(), strict=True):
        bits = seeded_bits(seed, attack.name, mechanism.name, f"screen-{world}")
        counts.append(int(learned.event(mechanism.sample(data, attack.parameters, bits, size)).sum()))
    claim = mechanism.claim(attack.parameters, *attack.worlds())
    beyond, errors = learning.strength(np.array(counts[:1]), np.array(counts[1:]), (size, size), claim)
    return Screened(pair.name, runs, float(beyond[0]), float(errors[0]))


def _attack(mechanism: AnyMechanism, parameters: Any, pair: Neighbours) -> AnyAttack:
    return Attack(
        f"neighbours@{pair.name}",
        mechanism.family,
        lambda: (pair.data_in, pair.data_out),
        parameters,
        None,
        first_value,
        (),
        "Ding, Wang, Wang, Zhang, Kifer 2018 (CCS): patterns of neighbouring inputs",
        f"{pair.name}, with an event learned on runs that judge nothing",
        axis="first number of the outcome",
    )
