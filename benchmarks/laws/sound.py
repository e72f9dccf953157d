"""How many sound functions laws prove, on one pair of inputs each: python -m benchmarks.laws.sound.

Each function is ordinary Python code on `random` or on numpy, whose claim is the smallest that the literature gives it,
for the pair on which it loses most. None may be decided as VIOLATED. Writes benchmarks/laws/sound.md.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.laws.functions import NOISE, SLACK, geometric, sparse_vector
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.text import short
from subnormal.mechanisms.privacy import Claim

PAGE = Path(__file__).with_suffix(".md")
SECONDS = 10.0  # for one function, at most
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
HEADER = """# Sound functions, and what laws prove of them

Written by `python -m benchmarks.laws.sound`. Each of {count} functions is followed on one pair of inputs, for
{seconds:g} s at most. Its claim is the smallest that the literature gives it, with {slack:g} more of ε and δ, because
floats have no exact e^ε. {proved} are proved on their pair, and none is accused. *δ proved* is a bound for ε as it is
claimed, of the functions that are unresolved.

| functions | how many | HOLDS | UNRESOLVED | δ proved |
|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Sound:
    """A function, a pair of inputs, and its claim on them."""

    kind: str
    function: Callable[[Any], Any]
    data_in: Any
    data_out: Any
    epsilon: float
    delta: float = 0.0


def functions() -> list[Sound]:
    """Return the functions, in the order of the page."""
    return [*of_bits(), *of_counts(), *selections(), *sparse_vectors()]


def of_bits() -> Iterator[Sound]:
    """Yield randomized responses and their kin."""
    for epsilon in EPSILONS:
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        yield Sound("randomized response", partial(respond, keep), 0, 1, epsilon)
        yield Sound("randomized response, numpy", partial(numpy_respond, keep), 0, 1, epsilon)
        yield Sound("a sampled response", partial(sampled, keep, 0.25), 0, 1, math.log1p(0.25 * math.expm1(epsilon)))
        for size in (3, 10):
            yield Sound(f"one of {size} answers", partial(direct_encoding, size, epsilon), 0, 1, epsilon)
        for many in (2, 4):
            each = math.exp(epsilon / many) / (1 + math.exp(epsilon / many))
            yield Sound(f"{many} bits", partial(bits, each), [0] * many, [1] * many, epsilon)


def of_counts() -> Iterator[Sound]:
    """Yield noisy counts: whole, in steps, cut off, above a threshold, and several of them."""
    for epsilon, (source, noise) in itertools.product(EPSILONS, NOISE.items()):
        scale = 1 / epsilon
        yield Sound(f"a rounded count, {source}", partial(rounded, noise, scale), 3, 4, epsilon)
        yield Sound(f"a count in steps, {source}", partial(stepped, noise, scale), 3, 4, epsilon)
        yield Sound(f"a count that is cut off, {source}", partial(clamped, noise, scale), 3, 4, epsilon)
        yield Sound(f"a count above a threshold, {source}", partial(above, noise, scale), 3, 4, epsilon)
    for epsilon in EPSILONS:
        ratio = math.exp(-epsilon)
        yield Sound("geometric noise from loops", partial(two_geometric, ratio), 3, 4, epsilon)
        yield Sound("a histogram, numpy", partial(histogram, 1 / epsilon), [1, 2, 0], [1, 3, 0], epsilon)
        yield Sound(
            "keys above a threshold, numpy", partial(keys, 1 / epsilon, 20 / epsilon), {"a": 1}, {}, epsilon, 1e-8
        )


def selections() -> Iterator[Sound]:
    """Yield noisy maxima, the exponential mechanism and permute-and-flip."""
    for size in (2, 3, 4, 5):
        worst = [0, *[1] * (size - 1)], [1, *[0] * (size - 1)]
        for epsilon in (0.5, 1.0, 2.0):
            yield Sound("a Gumbel maximum", partial(gumbel_maximum, 2 / epsilon), *worst, epsilon)
            yield Sound("an exponential maximum", partial(exponential_maximum, 2 / epsilon), *worst, epsilon)
            yield Sound("random.choices with weights", partial(weighted, epsilon / 2), *worst, epsilon)
            yield Sound("permute-and-flip", partial(permute_and_flip, epsilon / 2), *worst, epsilon)


def sparse_vectors() -> Iterator[Sound]:
    """Yield Algorithms 1 and 2 of Lyu, Su, Li 2017."""
    for source, noise in NOISE.items():
        for number, positives, queries in itertools.product((1, 2), (1, 2), (4, 8)):
            low, high = [0] * (queries // 2), [1] * (queries // 2)
            run = sparse_vector(number, noise, positives)
            yield Sound(f"a sparse vector, {source}", run, low + high, high + low, 1.0)


def respond(keep: float, bit: int) -> int:
    """Return a bit, or with probability 1 − keep the other one."""
    return bit if random.random() < keep else 1 - bit


def numpy_respond(keep: float, bit: int) -> int:
    """Return a bit, or with probability 1 − keep the other one."""
    return bit if np.random.random() < keep else 1 - bit


def sampled(keep: float, rate: float, bit: int) -> int:
    """Return the response of a sample: a record that is left out counts as 0."""
    return respond(keep, bit if random.random() < rate else 0)


def direct_encoding(size: int, epsilon: float, answer: int) -> int:
    """Return an answer, or one of the others."""
    if random.random() < math.exp(epsilon) / (math.exp(epsilon) + size - 1):
        return answer
    other = random.randrange(size - 1)
    return other + (other >= answer)


def bits(keep: float, values: list[int]) -> list[int]:
    """Return the response of each bit."""
    return [respond(keep, bit) for bit in values]


def rounded(noise: Callable[[float], Any], scale: float, count: int) -> Any:
    """Return a count with rounded noise."""
    return round(count + noise(scale))


def stepped(noise: Callable[[float], Any], scale: float, count: int) -> Any:
    """Return a noisy count in steps of 5."""
    return 5 * math.floor((count + noise(scale)) / 5)


def clamped(noise: Callable[[float], Any], scale: float, count: int) -> Any:
    """Return a noisy count between 0 and 10."""
    return min(max(round(count + noise(scale)), 0), 10)


def above(noise: Callable[[float], Any], scale: float, count: int) -> bool:
    """Return whether a noisy count is above 4."""
    return bool(count + noise(scale) > 4)


def two_geometric(ratio: float, count: int) -> int:
    """Return a count with geometric noise."""
    return count + geometric(ratio) - geometric(ratio)


def histogram(scale: float, counts: list[int]) -> list[int]:
    """Return noisy counts, rounded and between 0 and 5."""
    return [int(one) for one in np.rint(np.array(counts) + np.random.laplace(scale=scale, size=len(counts))).clip(0, 5)]


def keys(scale: float, threshold: float, counts: dict[str, int]) -> list[str]:
    """Return the keys whose noisy counts are above a threshold."""
    return [key for key, count in counts.items() if count + np.random.laplace(scale=scale) > 1 + threshold]


def gumbel_maximum(scale: float, scores: list[int]) -> int:
    """Return the place of the largest score with Gumbel noise."""
    noisy = [score - scale * math.log(random.expovariate(1)) for score in scores]
    return max(range(len(scores)), key=noisy.__getitem__)


def exponential_maximum(scale: float, scores: list[int]) -> int:
    """Return the place of the largest score with exponential noise."""
    noisy = [score + scale * random.expovariate(1) for score in scores]
    return max(range(len(scores)), key=noisy.__getitem__)


def weighted(rate: float, scores: list[int]) -> int:
    """Return a place with the probabilities of the exponential mechanism."""
    return random.choices(range(len(scores)), [math.exp(rate * score) for score in scores])[0]


def permute_and_flip(rate: float, scores: list[int]) -> int:
    """Return a place by permute-and-flip (McKenna, Sheldon 2020)."""
    places = list(range(len(scores)))
    random.shuffle(places)
    for place in places:
        if random.random() < math.exp(rate * (scores[place] - max(scores))):
            return place
    raise AssertionError("the largest score is always accepted")


def decided(at: int) -> tuple[str, float]:
    """Return the verdict on a function, by its number, and the δ that is proved for its ε."""
    one = functions()[at]
    try:
        found = decide(
            one.function, one.data_in, one.data_out, Claim(one.epsilon + SLACK, one.delta + SLACK), seconds=SECONDS
        )
    except NotFollowedError as error:
        return str(error), 1.0
    return str(found.verdict), 1.0 if found.keeps is None else float(found.keeps.delta)


def main() -> None:
    """Write benchmarks/laws/sound.md."""
    every = functions()
    kinds: dict[str, list[tuple[str, float]]] = defaultdict(list)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for one, (verdict, delta) in zip(every, pool.map(decided, range(len(every))), strict=True):
            print(f"{one.kind}, ε = {one.epsilon:g}: {verdict}, δ ≤ {short(delta, 2)}", flush=True)
            if verdict == "VIOLATED":
                raise SystemExit(f"{one.kind}, ε = {one.epsilon:g}: accused")
            kinds[one.kind].append((verdict, delta))
    lines = []
    for kind, found in kinds.items():
        proved = sum(verdict == "HOLDS" for verdict, _ in found)
        most = max((delta for verdict, delta in found if verdict != "HOLDS"), default=0.0)
        words = short(most, 2) if most else ""
        lines.append(f"| {kind} | {len(found)} | {proved} | {len(found) - proved} | {words} |\n")
    proved = sum(verdict == "HOLDS" for found in kinds.values() for verdict, _ in found)
    header = HEADER.format(count=len(every), seconds=SECONDS, slack=SLACK, proved=proved)
    PAGE.write_text(header + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
