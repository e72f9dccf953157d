"""Side channels: `traced` turns a mechanism into one whose outcome is the pair (outcome, count).

A claim about outputs says nothing about these pairs. It is applied to them nevertheless, or the member's own claim for
them where it makes one (`Mechanism.trace_claim`): VIOLATED means above what that allows for the pairs. Laws, exhaustive
laws, samples and verdicts work as for any other mechanism.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from subnormal.attacks.core.attack import Channel
from subnormal.mechanisms.bits import BitSource, OutOfBitsError, seeded_bits
from subnormal.mechanisms.core.law import Law, image, integers
from subnormal.mechanisms.core.mechanism import AnyMechanism, Refused, Trace
from subnormal.mechanisms.core.outcome_identity import identity

DRAWS = 1_000  # at the most, because each is a separate call
DRAWS_LEAST = 500  # fewer convict of little that the law does not show
BITS = 1 << 24  # random bits of each world at the most: roughly proportional to the cost of a draw


def traced(mechanism: AnyMechanism, channel: Channel | None = None) -> AnyMechanism:
    """Return the mechanism whose outcome is the pair (outcome, count) that one release shows through the channel.

    A count is what the source of bits has counted while a single outcome was drawn, by a call of its own; without a
    channel it is the whole `Trace`. An exception is an outcome, `Refused`, beside its count. The law is that of the
    member's traces, seen through the channel; a member without a law of traces gives a mechanism without a law.
    Raises ValueError for the channel 'time', which is measured and not counted.

    >>> from subnormal.mechanisms.bits import scripted_bits
    >>> coin = Mechanism("coin", "coins", lambda data, parameters, bits, n: [bits.take(1)], lambda *given: None)
    >>> traced(coin, "bits").sample(None, None, scripted_bits("10"), 2)
    [(1, 1), (0, 1)]
    """
    count = counter(channel)
    law = mechanism.trace_law
    if law is not None and channel is not None:
        law = partial(_law_seen, law, count)

    def sample(data: Any, parameters: Any, bits: BitSource, n: int) -> list[tuple[Any, Any]]:
        return [_draw(mechanism, data, parameters, bits, count) for _ in range(n)]

    return dataclasses.replace(
        mechanism,
        sample=sample,
        claim=mechanism.trace_claim or mechanism.claim,
        law=law,
        runs=lambda data, parameters: _runs(mechanism, data, parameters),
    )


def _law_seen(law: Callable[..., Law[Any]], count: Callable[[Trace], Any], data: Any, parameters: Any) -> Law[Any]:
    """Return the law of (outcome, count). The longer draws that a law of traces leaves out may look like named ones."""
    whole = law(data, parameters)
    least: dict[Hashable, int] = {}
    atoms: Sequence[Any] = whole.atoms
    for (outcome, trace), high in zip(atoms, integers(whole.high).repeat(whole.counts()), strict=True):
        if high > 0:
            key = identity(outcome)
            least[key] = min(count(trace), least.get(key, count(trace)))
    return image(whole, lambda pair: (pair[0], count(pair[1])), lambda seen: seen[1] >= least.get(identity(seen[0]), 0))


def counter(channel: Channel | None) -> Callable[[Trace], Any]:
    """Return the function from a trace to its count in the channel.

    Raises ValueError for the channel 'time', which is measured and not counted.
    """
    if channel == "time":
        raise ValueError("channel 'time' is measured, not counted")
    return (lambda trace: trace) if channel is None else (lambda trace: getattr(trace, channel))


def _draw(
    mechanism: AnyMechanism, data: Any, parameters: Any, bits: BitSource, count: Callable[[Trace], Any]
) -> tuple[Any, Any]:
    tries, consumed, steps = bits.tries, bits.consumed, bits.steps
    try:
        outcome = mechanism.sample(data, parameters, bits, 1)[0]
    except (OutOfBitsError, NameError, AttributeError):  # an exhaustive walk's business, or a mistake in the code
        raise
    except Exception as error:
        outcome = Refused(f"{type(error).__name__}: {error}")
    if isinstance(outcome, np.generic):
        outcome = outcome.item()
    return outcome, count(Trace(bits.tries - tries, bits.consumed - consumed, bits.steps - steps))


def _runs(mechanism: AnyMechanism, data: Any, parameters: Any) -> int:
    """Return an affordable number of runs, from the bits that one draw takes and not from the clock."""
    most = DRAWS if mechanism.runs is None else min(DRAWS, mechanism.runs(data, parameters))
    if most == 0:
        return 0
    pilot = seeded_bits(0, "pilot", mechanism.name)
    _draw(mechanism, data, parameters, pilot, counter(None))
    runs = min(most, BITS // max(1, pilot.consumed))
    return runs if runs >= DRAWS_LEAST else 0
