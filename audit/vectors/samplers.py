"""The set `samplers`: streams of bits with the outcome of a published algorithm, and laws with counts."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from subnormal.audit.vectors import algorithms, laws
from subnormal.audit.vectors.algorithms import LastBitError
from subnormal.audit.vectors.numbers import outward
from subnormal.mechanisms.bits import OutOfBitsError, scripted_bits

Parameters = Mapping[str, Any]

DRAWS = 100_000
STREAM_BITS = 4096  # no stream is longer
HASHED = 6  # streams of each set of parameters that are hashes, beside those with a pattern
PATTERNS = ("0", "1", "01", "10", "0011", "1100", "1000", "0111")

WIDE = "1099511627776"  # 2^40: no law is held at this width, which has many outcomes of which each is rare

# Fractions are texts, as in the files.
CASES: Mapping[str, Sequence[Parameters]] = {
    "bernoulli-exp": [
        {"gamma": gamma}
        for gamma in ("0", "1/1048576", "1/3", "1/2", "1", "1048577/1048576", "3/2", "2", "7/3", "10", "36")
    ],
    "discrete-laplace": [
        {"scale": scale} for scale in ("1/50", "1/3", "1/2", "1", "3/2", "3", "10", "25/2", "1000", WIDE)
    ],
    "discrete-gaussian": [
        {"variance": variance} for variance in ("1/100", "1/4", "1", "2", "10/3", "9", "100", "10000", WIDE)
    ],
    "randomized-response": [
        {"categories": categories, "truth": truth, "probability": probability}
        for categories, truth, probability in (
            (2, 0, "1"), (2, 0, "1/2"), (2, 0, "3/4"), (2, 1, "3/4"), (3, 0, "1/3"), (3, 1, "1/2"), (3, 2, "9/10"),
            (10, 0, "1/2"), (10, 9, "1/2"), (1026, 1025, "1/2"),
        )
    ],
    "exponential-base2": [
        {"utilities": utilities, "x": x, "y": y, "z": z, "precision": precision}
        for utilities, x, y, z, precision in (
            ([0], 1, 1, 1, 4), ([0, 0], 1, 1, 1, 4), ([0, 0, 0], 1, 1, 1, 8), ([0, 1], 1, 1, 1, 8), ([1, 0], 1, 1, 1,
                8),
            ([5, 3, 4], 3, 2, 1, 24), ([-2, 0, -2, 1], 1, 1, 2, 24), ([0, 1500], 1, 1, 1, 1502), ([1, 0, 2, 3], 7, 3,
                1, 32),
        )
    ],
    "permute-and-flip": [
        {"scores": scores, "rate": rate}
        for scores, rate in (
            ([5], "1/2"), ([0, 0], "1/2"), ([1, 0], "1/2"), ([0, 1], "1/2"), ([0, -1, -5], "1"), ([3, 3, 2, 0], "1/4"),
            ([0, 800], "1"), ([-1, -1, -1, 0], "3"),
        )
    ],
    "snapping": [
        {"value": value, "scale": scale, "bound": bound}
        for value, scale, bound in (
            (0.0, 1.0, 8.0), (0.5, 1.0, 8.0), (-0.5, 1.0, 8.0), (1.0, 1.5, 10.0), (0.1, 0.125, 1.0), (100.0, 1.0, 8.0),
            (-100.0, 1.0, 8.0), (0.25, 3.0, 20.0), (8.5, 1.0, 16.0), (-8.5, 1.0, 16.0),
        )
    ],
}  # fmt: skip


def tests() -> Iterator[dict[str, Any]]:
    """Yield the tests of the set, those of each sampler together."""
    for name, cases in CASES.items():
        for parameters in cases:
            yield from _streams(name, parameters)
        for parameters in cases:
            if WIDE not in parameters.values():
                yield _law(name, parameters)


def arguments(parameters: Parameters) -> dict[str, Any]:
    """Return the parameters as the functions take them: texts are fractions."""
    return {name: Fraction(value) if isinstance(value, str) else value for name, value in parameters.items()}


def _streams(name: str, parameters: Parameters) -> Iterator[dict[str, Any]]:
    sampler = partial(getattr(algorithms, name.replace("-", "_")), **arguments(parameters))
    seen = set()
    hashed = (_hashed(f"{name} {sorted(parameters.items())} {place}") for place in range(HASHED))
    for script in itertools.chain((pattern * (STREAM_BITS // len(pattern)) for pattern in PATTERNS), hashed):
        bits = scripted_bits(script)
        try:
            outcome = sampler(take=bits.take)
        except (OutOfBitsError, LastBitError):
            continue
        used = script[: bits.consumed]
        if used not in seen:
            seen.add(used)
            padded = used + "0" * (-len(used) % 4)
            digits = f"{int(padded, 2):0{len(padded) // 4}x}" if padded else ""
            yield {
                "kind": "stream", "function": name, "parameters": dict(parameters), "bits": digits,
                "consumed": len(used), "outcome": int(outcome) if isinstance(outcome, bool) else outcome,
            }  # fmt: skip


def _hashed(text: str) -> str:
    digest = hashlib.shake_256(text.encode()).digest(STREAM_BITS // 8)
    return f"{int.from_bytes(digest, 'big'):0{STREAM_BITS}b}"


def _law(name: str, parameters: Parameters) -> dict[str, Any]:
    given = arguments(parameters)
    at_least = getattr(laws, name.replace("-", "_"))(**given)
    edges, step = _edges(name, given)
    events = []
    for low, end in zip((None, *edges), (*edges, None), strict=True):
        probability = (Fraction(1) if low is None else at_least(low)) - (0 if end is None else at_least(end))
        exact = {"exact": str(probability)} if isinstance(probability, Fraction) else {}
        chances = dict(zip(("low", "high"), outward(*laws.clipped(probability)), strict=True))
        least, most = laws.count_range(probability, DRAWS)
        to = None if end is None else end - step
        events.append({"from": low, "to": to, **exact, **chances, "least": least, "most": most})
    return {"kind": "law", "function": name, "parameters": dict(parameters), "draws": DRAWS, "events": events}


def _edges(name: str, given: Parameters) -> tuple[Sequence[float], float]:
    """Return the outcomes at which an event begins, and the distance of two outcomes."""
    if name == "snapping":
        step = algorithms.power_at_least(given["scale"])
        inside = range(math.floor(-given["bound"] / step) + 1, math.floor(given["bound"] / step) + 1)
        return [step * place for place in inside], step
    if name in ("discrete-laplace", "discrete-gaussian"):
        width = given["scale"] if "scale" in given else math.sqrt(given["variance"])
        unit = max(1, int(width / 2))
        return [unit * place for place in range(-6, 8)], 1
    if name == "bernoulli-exp":
        return [1], 1
    outcomes = given.get("categories") or len(given.get("utilities") or given["scores"])
    return [place for place in range(1, outcomes) if place <= 10 or place == outcomes - 1], 1
