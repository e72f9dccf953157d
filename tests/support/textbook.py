"""Mechanisms that count records, broken as textbooks break them, each beside its sound twin: all promise ε = 1.

Noise is two-sided geometric, with ratio e^−ε a step: the difference of two geometric counts. Data: a vector of zeros
and ones, of which the ones are counted; neighbours differ by one record. Drawn from 53-bit uniforms: what that costs
is far below what any test here could see.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Family, Mechanism, Outcomes, Refused
from subnormal.mechanisms.privacy import Claim


def added_or_removed(data_in: NDArray[Any], data_out: NDArray[Any]) -> bool:
    """Return whether one vector is the other with one record more, in any order."""
    fewer, more = sorted((sorted(data_in.tolist()), sorted(data_out.tolist())), key=len)
    return len(more) == len(fewer) + 1 and any(more[:place] + more[place + 1 :] == fewer for place in range(len(more)))


FAMILY: Family[Any, None] = Family(
    name="textbook",
    parameters=type(None),
    adjacent=lambda parameters, data_in, data_out: added_or_removed(data_in, data_out),
    claim=lambda parameters, data_in, data_out: Claim(1.0),
    members=(),
)

PURE = Claim(1.0)
SELECTION_DELTA = 0.005  # above e^−5/(1 + e^−1) = 0.0049, the chance that the noise is at least 5
APPROXIMATE = Claim(1.0, SELECTION_DELTA)

Answer = Callable[[int, BitSource, int], Outcomes]


def uniforms(bits: BitSource, n: int, width: int = 53) -> NDArray[np.float64]:
    return np.ldexp(bits.words(n, width).astype(np.float64) + 1, -width)  # in (0, 1]


def noise(bits: BitSource, n: int, epsilon: float = 1.0) -> NDArray[np.int64]:
    first, second = (np.floor(np.log(uniforms(bits, n)) / -epsilon).astype(np.int64) for _ in range(2))
    return first - second


def from_16_bits(count: int, bits: BitSource, n: int) -> Outcomes:
    sign = np.where(bits.words(n, 1) == 1, 1.0, -1.0)
    return count + sign * np.log(uniforms(bits, n, 16))


def no_noise_at_zero(count: int, bits: BitSource, n: int) -> Outcomes:
    return count + noise(bits, n) if count > 0 else np.zeros(n, dtype=np.int64)


def raises_at_zero(count: int, bits: BitSource, n: int) -> Outcomes:
    if count == 0:
        return [Refused("ZeroDivisionError: division by zero")] * n
    answers: list[int] = (count + noise(bits, n)).tolist()
    return answers


def selection(least: int) -> Answer:
    """Release a key with its noisy count where that is at least `least`; a key that nobody has is never released."""

    def answer(count: int, bits: BitSource, n: int) -> Outcomes:
        noisy = count + noise(bits, n)
        released = (noisy >= least) & (count > 0)
        return [(("key", one),) if shown else () for one, shown in zip(noisy.tolist(), released.tolist(), strict=True)]

    return answer


def counting(name: str, answer: Answer, claim: Claim = PURE) -> Mechanism[Any, None, Any]:
    def sample(data: Any, parameters: None, bits: BitSource, n: int) -> Outcomes:
        return answer(int(data.sum()), bits, n)

    return Mechanism(name, "textbook", sample, lambda parameters, data_in, data_out: claim)


BROKEN = (
    counting("noise-half-as-large", lambda count, bits, n: count + noise(bits, n, 2.0)),
    counting("no-noise-on-one-branch", no_noise_at_zero),
    counting("noise-from-16-bits", from_16_bits),
    counting("off-by-one-in-a-threshold", selection(5), APPROXIMATE),
    counting("an-exception-at-zero", raises_at_zero),
)

SOUND = (
    counting("noise-as-large-as-claimed", lambda count, bits, n: count + noise(bits, n)),
    counting("noise-on-both-branches", lambda count, bits, n: count + noise(bits, n) if count else noise(bits, n)),
    counting("noise-rounded", lambda count, bits, n: np.round((count + noise(bits, n)) / 2)),
    counting("the-right-threshold", selection(6), APPROXIMATE),
    counting("a-refusal-for-everyone", lambda count, bits, n: _refusing(count + noise(bits, n))),
)


def _refusing(noisy: NDArray[np.int64]) -> Outcomes:
    """Raise by the noisy count, not by the count: what is computed from what is private may be shown."""
    return [one if one > 0 else Refused(f"ValueError: {one} is no count") for one in noisy.tolist()]


IGNORING = counting("ignores-its-data", lambda count, bits, n: noise(bits, n))
