"""Functions of ten lines with a domain, a relation of neighbours and a claim: some break it, and some keep it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats

import subnormal.mechanisms.gaussian.exact
import subnormal.mechanisms.laplace.exact
import subnormal.mechanisms.threshold.exact  # noqa: F401
from subnormal import Claim, Eta, Zcdp, add_or_remove, change_one, system_bits, within
from subnormal.mechanisms import gaussian, laplace, threshold
from subnormal.mechanisms.curves import AnyClaim, Gdp
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.threshold.family import privacy
from subnormal.mechanisms.threshold.parameters import ThresholdParameters


@dataclass(frozen=True, slots=True)
class Case:
    """What `check` needs to know."""

    function: Callable[[Any], Any]
    data: st.SearchStrategy[Any] | None
    adjacent: Any
    claim: AnyClaim


RECORDS = st.lists(st.floats(0, 100), min_size=1)
UNIT = st.lists(st.floats(0, 1))
QUERIES = st.lists(st.integers(-9, 9), min_size=1, max_size=20)
FIVE = st.lists(st.floats(0, 1), min_size=5, max_size=5)
HUNDRED = st.lists(st.floats(0, 1), min_size=100, max_size=100)
WORDS = st.lists(st.sampled_from("abc"), max_size=20)
COUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(1, 20))
SCORES = st.lists(st.integers(-9, 9), min_size=2, max_size=5)
WITHIN_ONE = within(1)
EVERY_PAIR = st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"))


def lap(scale: float) -> float:
    """Return Laplace noise, as it is written by hand."""
    return random.expovariate(1 / scale) - random.expovariate(1 / scale)


def clipped(records: Iterable[float], low: float, high: float) -> list[float]:
    return [min(max(one, low), high) for one in records]


def total(records: Iterable[float], high: float = 1) -> float:
    return sum(clipped(records, 0, high))


# Broken


def scale_of_range(noise: Callable[[float], float]) -> Callable[[list[float]], float]:
    def mean(records: list[float]) -> float:
        width = (max(records) - min(records)) / len(records)
        return sum(records) / len(records) + noise(max(width, 1e-6))

    return mean


def above(queries: list[int], level: float, noise: Callable[[], float] = float) -> list[bool]:
    """Return which queries with noise are at least a level: Lyu, Su, Li 2017, of which 5 has no noise here."""
    return [query + noise() >= level for query in queries]


def lyu_3(queries: list[int], c: int = 2, epsilon: float = 1.0) -> list[float | None]:
    answers: list[float | None] = []
    level, count = lap(2 / epsilon), 0
    for query in queries:
        noisy = query + lap(2 * c / epsilon)
        answers.append(noisy if noisy >= level else None)
        count += noisy >= level
        if count == c:
            break
    return answers


def lyu_4(queries: list[int], c: int = 2, epsilon: float = 1.0) -> list[bool]:
    answers: list[bool] = []
    level = lap(4 / epsilon)
    for query in queries:
        answers.append(query + lap(4 / 3 / epsilon) >= level)
        if sum(answers) == c:
            break
    return answers


def permute_and_flip(scores: Sequence[int], epsilon: float = 1.0) -> int:
    for place in random.sample(range(len(scores)), len(scores)):
        if random.random() < math.exp(epsilon * (scores[place] - max(scores)) / 2):
            return place
    raise AssertionError("the largest score is always taken")


def rounds_before_threshold(counts: dict[str, int]) -> dict[str, int]:
    noisy = {key: round(count + lap(1.0)) for key, count in counts.items()}
    return {key: count for key, count in noisy.items() if count >= 4}


def one_of_five_without_noise(weights: list[float]) -> list[float]:
    noisy = [weight + random.gauss(0, 5.0) for weight in weights]
    noisy[3] = weights[3]
    return noisy


def one_of_a_hundred_without_noise(weights: list[float]) -> list[float]:
    noisy = [weight + lap(100.0) for weight in weights]
    noisy[71] = weights[71]
    return noisy


GENERATOR = np.random.default_rng(7)


def of_a_closure() -> Callable[[list[float]], float]:
    generator = np.random.default_rng(8)
    return lambda records: total(records) + generator.laplace(0, 1 / 2)


class OfAnObject:
    """A sum with a generator of its own."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(9)

    def release(self, records: list[float]) -> float:
        return float(total(records) + self.generator.normal(0, 1 / 2))

    __call__ = release


BROKEN = {
    "scale-of-range": Case(
        scale_of_range(lambda scale: np.random.laplace(0, scale)), RECORDS, change_one(), Claim(1.0)
    ),
    "scale-of-range-by-hand": Case(scale_of_range(lap), RECORDS, change_one(), Claim(1.0)),
    "another-range": Case(lambda x: total(x, 100) / len(x) + lap(1 / len(x)), RECORDS, change_one(), Claim(1.0)),
    "nan": Case(lambda x: total(x) + lap(1.0), st.lists(st.floats(allow_nan=True)), change_one(), Claim(1.0)),
    "distinct": Case(lambda x: len(set(x)) + lap(1 / 2), st.lists(st.integers(0, 9)), change_one(), Claim(1.0)),
    "lyu-3": Case(lyu_3, QUERIES, WITHIN_ONE, Claim(1.0)),
    "lyu-3-c4": Case(lambda queries: lyu_3(queries, 4), QUERIES, WITHIN_ONE, Claim(1.0)),
    "lyu-4": Case(lyu_4, QUERIES, WITHIN_ONE, Claim(1.0)),
    "lyu-4-c3": Case(lambda queries: lyu_4(queries, 3), QUERIES, WITHIN_ONE, Claim(1.0)),
    "lyu-4-c4": Case(lambda queries: lyu_4(queries, 4), QUERIES, WITHIN_ONE, Claim(1.0)),
    "lyu-5": Case(lambda queries: above(queries, lap(2)), QUERIES, WITHIN_ONE, Claim(1.0)),
    "lyu-6": Case(lambda queries: above(queries, lap(2), lambda: lap(2)), QUERIES, WITHIN_ONE, Claim(1.0)),
    "permute-and-flip": Case(permute_and_flip, st.tuples(*2 * [st.integers()]), WITHIN_ONE, Zcdp(1 / 8)),
    "rint-before-threshold": Case(rounds_before_threshold, COUNTS, within(1, "l1"), Claim(1.0, math.exp(-3) / 2)),
    "one-of-five": Case(one_of_five_without_noise, FIVE, change_one(), Claim(1.0, 1e-5)),
    "one-of-a-hundred": Case(one_of_a_hundred_without_noise, HUNDRED, change_one(), Claim(1.0)),
    "module": Case(lambda x: total(x) + GENERATOR.laplace(0, 1 / 2), UNIT, add_or_remove(), Claim(1.0)),
    "closure": Case(of_a_closure(), UNIT, add_or_remove(), Claim(1.0)),
    "self": Case(OfAnObject().release, UNIT, add_or_remove(), Claim(1.0, 1e-5)),
    "callable": Case(OfAnObject(), UNIT, add_or_remove(), Claim(1.0, 1e-5)),
    "scipy": Case(lambda x: float(total(x) + stats.laplace.rvs(scale=1 / 2)), UNIT, add_or_remove(), Claim(1.0)),
    "scipy-frozen": Case(
        lambda x: float(total(x) + stats.norm(0, 1 / 2).rvs()), UNIT, add_or_remove(), Claim(1.0, 1e-5)
    ),
}


# Sound


THRESHOLD = ThresholdParameters("laplace", 1.0, 6)


def exact_threshold(counts: dict[str, int]) -> dict[str, int]:
    return {key: int(count) for key, count in threshold.exact.sample(counts, THRESHOLD, system_bits(), 1)[0]}


def difference_of_geometric(records: list[int]) -> int:
    share = 1 - math.exp(-1 / 2)
    return int(total(records) + GENERATOR.geometric(share) - GENERATOR.geometric(share))


def noisy_max(draw: Callable[[], float]) -> Callable[[list[int]], int]:
    """Return noisy max with noise of scale 2, which is 1-DP for scores that move by 1."""

    def largest(scores: list[int]) -> int:
        noisy = [score + draw() for score in scores]
        return noisy.index(max(noisy))

    return largest


def sum_of_shares(records: list[int]) -> int:
    """Each record adds a share of discrete Laplace noise: differences of Pólya variables (Ács, Castelluccia 2011)."""
    shares = [total(records) / 4] * 4
    noise = np.random.negative_binomial(1 / 4, 1 - math.exp(-1), (2, 4))
    return round(sum(shares)) + int(noise[0].sum() - noise[1].sum())


def sum_of_gaussian_shares(records: list[float]) -> float:
    """Four parties add a half of the standard deviation each: one of 1 in all."""
    return round(total(records) + sum(random.gauss(0.0, 1.0) for _ in range(4)) / 2, 2)


def above_threshold(queries: list[int]) -> list[bool]:
    answers: list[bool] = []
    level = lap(2.0)
    for query in queries:
        answers.append(query + lap(4 * 2) >= level)
        if sum(answers) == 2:
            break
    return answers


def mean_by_noisy_count(records: list[float]) -> float:
    noisy = total(records) + np.random.laplace(0, 2)
    return float(round(noisy / max(1.0, len(records) + np.random.laplace(0, 2)), 2))


def of_a_sample(records: list[float]) -> float:
    """Each record counts with probability 1/2: ln(1 + (e − 1)/2) instead of 1."""
    taken = [one for one in clipped(records, 0, 1) if random.random() < 1 / 2]
    return float(round(sum(taken) + np.random.laplace(0, 1), 2))


def clamped_gaussian(share: float) -> float:
    """Clamped to [0, 1], Gaussian noise has a finite loss: at most ln(Φ(0)/Φ(−1/10)) at the ends, 0.01 between."""
    return float(min(max(round(share + random.gauss(0.0, 10.0), 2), 0.0), 1.0))


INTEGERS = st.lists(st.integers(0, 3), max_size=20)
FOUR = st.lists(st.integers(0, 3), min_size=4, max_size=4)

SOUND = {
    "laplace": Case(
        lambda x: int(laplace.exact.sample(total(x), 1.0, system_bits(), 1)[0]), INTEGERS, add_or_remove(), Claim(1.0)
    ),
    "gaussian": Case(
        lambda x: int(gaussian.exact.sample(total(x), 2.0, system_bits(), 1)[0]), INTEGERS, add_or_remove(), Zcdp(1 / 8)
    ),
    "base2": Case(
        lambda scores: int(base2.sample(scores, Eta(1, 1), system_bits(), 1, limits=Limits(-9, 9, 5))[0]),
        SCORES,
        WITHIN_ONE,
        Claim(math.nextafter(2 * math.log(2), 2)),
    ),
    "threshold": Case(exact_threshold, COUNTS, within(1, "l1"), privacy(THRESHOLD, THRESHOLD.sensitivities)),
    "geometric": Case(difference_of_geometric, INTEGERS, add_or_remove(), Claim(1.0)),
    "randomized-response": Case(
        lambda x: x if random.random() < math.e / (math.e + 3) else random.choice("abcd".replace(x, "")),
        None,
        EVERY_PAIR,
        Claim(1.0),
    ),
    "noisy-max-laplace": Case(noisy_max(lambda: lap(2.0)), SCORES, WITHIN_ONE, Claim(1.0)),
    "noisy-max-numpy": Case(noisy_max(lambda: np.random.laplace(0, 2)), SCORES, WITHIN_ONE, Claim(1.0)),
    "noisy-max-array": Case(
        lambda x: int(np.argmax(np.array(x) + np.random.laplace(0, 2, len(x)))), SCORES, WITHIN_ONE, Claim(1.0)
    ),
    "noisy-max-gumbel": Case(noisy_max(lambda: GENERATOR.gumbel(0, 2)), SCORES, WITHIN_ONE, Claim(1.0)),
    "noisy-max-exponential": Case(noisy_max(lambda: random.expovariate(1 / 2)), SCORES, WITHIN_ONE, Claim(1.0)),
    "shares": Case(sum_of_shares, FOUR, change_one(), Claim(1.0)),
    "gaussian-shares": Case(sum_of_gaussian_shares, FIVE, change_one(), Gdp(1.0)),
    "above-threshold": Case(above_threshold, QUERIES, WITHIN_ONE, Claim(1.0)),
    "mean-by-noisy-count": Case(mean_by_noisy_count, UNIT, add_or_remove(), Claim(1.0)),
    "gaussian-zcdp": Case(lambda x: round(total(x) + random.gauss(0.0, 2.0), 2), UNIT, add_or_remove(), Zcdp(1 / 8)),
    "gaussian-gdp": Case(lambda x: round(total(x) + random.gauss(0.0, 2.0), 2), UNIT, add_or_remove(), Gdp(1 / 2)),
    "sample": Case(of_a_sample, FIVE, change_one(), Claim(math.log1p(math.expm1(1) / 2))),
    "absolute": Case(
        lambda sign: float(round(abs(sign + np.random.laplace(0, 1)), 2)),
        None,
        st.sampled_from([(1, -1), (-1, 1)]),
        Claim(0.0),
    ),
    "clamped-gaussian": Case(clamped_gaussian, st.floats(0, 1), WITHIN_ONE, Claim(0.1)),
}
