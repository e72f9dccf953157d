"""Side channels: `traced` turns a mechanism into one whose outcome is the pair (outcome, count).

A claim about outputs says nothing about these pairs. The audit applies it to them nevertheless; a member may make its
own claim for the pairs (`Mechanism.trace_claim`). VIOLATED means that the pairs exceed that claim. Laws, exhaustive
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
from subnormal.mechanisms.core.mechanism import AnyMechanism, Draw, Refused, Trace, draw_of
from subnormal.mechanisms.core.outcome_identity import identity

DRAWS = 1_000  # largest number, because each draw is a separate call
DRAWS_LEAST = 500  # fewer draws show little that the law does not show
BITS = 1 << 24  # largest number of random bits of each world: roughly proportional to the cost of its draws


def traced(mechanism: AnyMechanism, channel: Channel | None = None) -> AnyMechanism:
    """Return the mechanism whose outcome is the pair (outcome, count) of one release.

    Each outcome is drawn by a separate call. The source of bits counts during the call; without a channel the count is
    the whole `Trace`. An exception is the outcome `Refused`, with its count. The law is the member's law of traces,
    reduced to the channel. Without a law of traces, the mechanism has no law.
    Raises ValueError for the channel 'time', which is measured and not counted.

    >>> from subnormal.mechanisms.bits import scripted_bits
    >>> from subnormal.mechanisms.core.mechanism import Mechanism
    >>> coin = Mechanism("coin", "coins", lambda data, parameters, bits, n: [bits.take(1)], lambda *arguments: None)
    >>> traced(coin, "bits").sample(None, None, scripted_bits("10"), 2)
    [(1, 1), (0, 1)]
    """
    count = counter(channel)
    law = mechanism.trace_law
    if law is not None and channel is not None:
        law = partial(_law_seen, law, count)

    def sample(data: Any, parameters: Any, bits: BitSource, n: int) -> list[tuple[Any, Any]]:
        draw = draw_of(mechanism, data, parameters)
        return [_drawn(draw, bits, count) for _ in range(n)]

    return dataclasses.replace(
        mechanism,
        sample=sample,
        claim=mechanism.trace_claim or mechanism.claim,
        law=law,
        runs=lambda data, parameters: _runs(mechanism, data, parameters),
    )


def _law_seen(law: Callable[..., Law[Any]], count: Callable[[Trace], Any], data: Any, parameters: Any) -> Law[Any]:
    """Return the law of (outcome, count). Longer draws, which a law of traces leaves out, may have the same counts."""
    whole = law(data, parameters)
    least: dict[Hashable, int] = {}
    atoms: Sequence[Any] = whole.atoms
    for (outcome, trace), high in zip(atoms, integers(whole.high).repeat(whole.counts()).tolist(), strict=True):
        if high > 0:
            key, seen = identity(outcome), count(trace)
            least[key] = min(seen, least.get(key, seen))
    return image(whole, lambda pair: (pair[0], count(pair[1])), lambda seen: seen[1] >= least.get(identity(seen[0]), 0))


def counter(channel: Channel | None) -> Callable[[Trace], Any]:
    """Return the function from a trace to its count in the channel.

    Raises ValueError for the channel 'time', which is measured and not counted.
    """
    if channel == "time":
        raise ValueError("channel 'time' is measured, not counted")
    return (lambda trace: trace) if channel is None else (lambda trace: getattr(trace, channel))


def _drawn(draw: Draw, bits: BitSource, count: Callable[[Trace], Any]) -> tuple[Any, Any]:
    tries, consumed, steps = bits.tries, bits.consumed, bits.steps
    try:
        outcome = draw(bits, 1)[0]
    except (OutOfBitsError, NameError, AttributeError):  # for the exhaustive walk, or a mistake in the code
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
    _drawn(draw_of(mechanism, data, parameters), pilot, counter(None))
    runs = min(most, BITS // max(1, pilot.consumed))
    return runs if runs >= DRAWS_LEAST else 0
