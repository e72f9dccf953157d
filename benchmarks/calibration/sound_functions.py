"""Two hundred functions that keep their claims, of the kinds that people write, and traps: `check` must accuse none.

Queries of bounded sensitivity times sources of noise, and forms of selection and of randomized response. Float noise is
rounded to integers. Claims leave a hundredth of slack for its last bits, and a δ of 10^−9 for the ends of its range,
which floats have and real noise has not. The traps look sound in a way that is easy
to mistake: functions that ask for the type of what a generator returns, domains with dependent parts, kept answers.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import random
import secrets
from collections import Counter, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats

import subnormal.mechanisms.gaussian.exact
import subnormal.mechanisms.laplace.exact  # noqa: F401
from subnormal import add_or_remove, change_one, within
from subnormal.mechanisms import gaussian, laplace
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.curves import AnyClaim
from subnormal.mechanisms.privacy import Claim, Zcdp
from tests.support.checked_functions import Case

PURE = Claim(0.505)  # of Laplace noise of twice the sensitivity, a hundredth above ε = 1/2
ENDS = Claim(0.505, 1e-9)  # the same, of floats
ONE = Claim(1.01, 1e-9)
GAUSS = Claim(1.0, 0.0069)  # of Gaussian noise of twice the sensitivity: Φ(−7/4) − e·Φ(−9/4) = 0.00683
GENERATOR = np.random.default_rng(5)
RECORDS = st.lists(st.integers(0, 4), max_size=8)
LETTERS = st.lists(st.sampled_from("abc"), max_size=8)
Noise = Callable[[float], float]
Query = tuple[st.SearchStrategy[Any], Any, int, Callable[[Any], list[int]]]


def by_logarithm(scale: float) -> float:
    """Return Laplace noise as textbooks write it."""
    u = random.random() - 0.5
    return -scale * math.copysign(1.0, u) * math.log(max(5e-324, 1 - 2 * abs(u)))


def by_coins(scale: float) -> int:
    """Return the difference of two geometric numbers, of the operating system's random bits."""
    stay = int(math.exp(-1 / scale) * 2**32)
    counts = [next(n for n in itertools.count() if secrets.randbits(32) >= stay) for _ in range(2)]
    return counts[0] - counts[1]


def by_box_muller(sigma: float) -> float:
    """Return Gaussian noise of two uniforms."""
    return sigma * math.sqrt(-2 * math.log(1 - random.random())) * math.cos(2 * math.pi * random.random())


LAPLACE: dict[str, Noise] = {
    "expovariate": lambda scale: random.expovariate(1 / scale) - random.expovariate(1 / scale),
    "logarithm": by_logarithm,
    "numpy-random": lambda scale: np.random.laplace(0, scale),
    "generator": lambda scale: GENERATOR.laplace(0, scale),
    "exponentials": lambda scale: float(np.subtract(*GENERATOR.exponential(scale, 2))),
    "sign": lambda scale: random.choice((-1, 1)) * random.expovariate(1 / scale),
    "scipy": lambda scale: float(stats.laplace.rvs(scale=scale)),
    "geometric": lambda scale: int(np.subtract(*GENERATOR.geometric(-math.expm1(-1 / scale), 2))),
    "coins": by_coins,
    "exact": lambda scale: float(laplace.exact.sample(0, scale, system_bits(), 1)[0]),
}
GAUSSIAN: dict[str, Noise] = {
    "gauss": lambda sigma: random.gauss(0, sigma),
    "normalvariate": lambda sigma: random.normalvariate(0, sigma),
    "numpy-normal": lambda sigma: np.random.normal(0, sigma),
    "generator-normal": lambda sigma: GENERATOR.normal(0, sigma),
    "standard-normal": lambda sigma: sigma * float(GENERATOR.standard_normal()),
    "scipy-normal": lambda sigma: float(stats.norm.rvs(scale=sigma)),
    "box-muller": by_box_muller,
    "exact-gaussian": lambda sigma: float(gaussian.exact.sample(0, sigma, system_bits(), 1)[0]),
}


def one_letter_each(letters: list[str]) -> list[int]:
    return [Counter(letters)[letter] for letter in "abc"]


CLAIMS: dict[str, AnyClaim] = {"geometric": PURE, "coins": PURE, "exact": PURE, "exact-gaussian": Zcdp(1.01 / 8)}
QUERIES: dict[str, Query] = {  # the domain, the relation, the largest change of one number of the answer, the query
    "count": (RECORDS, add_or_remove(), 1, lambda records: [len(records)]),
    "sum": (RECORDS, add_or_remove(), 4, lambda records: [sum(records)]),
    "clipped-sum": (
        st.lists(st.integers(-50, 50), max_size=8),
        add_or_remove(),
        3,
        lambda records: [sum(min(max(record, 0), 3) for record in records)],
    ),
    "sum-of-changed": (RECORDS, change_one(), 4, lambda records: [sum(records)]),
    "histogram": (LETTERS, add_or_remove(), 1, one_letter_each),
    "count-of-even": (RECORDS, change_one(), 1, lambda records: [sum(record % 2 == 0 for record in records)]),
    "total-of-pairs": (
        st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2)), max_size=6),
        add_or_remove(),
        2,
        lambda records: [sum(number for _, number in records)],
    ),
    "number": (st.integers(-100, 100), within(1), 1, lambda number: [number]),
    "vector": (st.tuples(st.integers(0, 9), st.integers(0, 9)), within(1, "l1"), 1, list),
}
Point = namedtuple("Point", ["x"])
FORMS: tuple[Callable[[list[int]], Any], ...] = (  # what a function makes of its noisy integers
    lambda noisy: noisy,
    lambda noisy: noisy[0] if len(noisy) == 1 else tuple(noisy),
    lambda noisy: [max(0, number) for number in noisy],
    lambda noisy: f"about {noisy[0]:d}",
    lambda noisy: json.dumps({"answer": noisy}),
    lambda noisy: np.array(noisy),
    lambda noisy: {"noisy": noisy[0]},
    lambda noisy: noisy[0] > 3,
    lambda noisy: Point(noisy[0]),
    lambda noisy: [5 * (number // 5) for number in noisy],
)


def _additive() -> dict[str, Case]:
    cases = {}
    for place, (query, (data, adjacent, most, answer)) in enumerate(QUERIES.items()):
        for step, (kind, noise) in enumerate((LAPLACE | GAUSSIAN).items()):
            form, scale = FORMS[(place + step) % len(FORMS)], 2.0 * most
            claim: AnyClaim = CLAIMS.get(kind, ENDS if kind in LAPLACE else GAUSS)

            def function(
                data: Any, answer: Any = answer, noise: Noise = noise, scale: float = scale, form: Any = form
            ) -> Any:
                return form([round(number + noise(scale)) for number in answer(data)])

            cases[f"{query}, {kind}"] = Case(function, data, adjacent, claim)
    return cases


def _response(draw: Callable[[], float], truth: float) -> Callable[[bool], bool]:
    return lambda bit: bit if draw() < truth else not bit


def categories(value: int) -> int:
    """Return one of five categories, the true one with e times the probability of each other."""
    return random.choices(range(5), [math.e if other == value else 1.0 for other in range(5)])[0]


def unary(value: int) -> list[int]:
    """Return five bits, each flipped with the probability of symmetric unary encoding at ε = 1."""
    flip = 1 / (1 + math.exp(0.5))
    return [int((place == value) ^ (random.random() < flip)) for place in range(5)]


def _responses() -> dict[str, Case]:
    bits, any_pair = st.booleans(), lambda one, other: one != other
    truth = math.e / (1 + math.e)
    draws: dict[str, Callable[[], float]] = {
        "random": random.random,
        "numpy": lambda: np.random.random(),
        "generator": lambda: float(GENERATOR.random()),
        "uniform": lambda: random.uniform(0, 1),
        "randrange": lambda: random.randrange(2**40) / 2**40,
        "secrets": lambda: secrets.randbelow(2**40) / 2**40,
        "urandom": lambda: int.from_bytes(os.urandom(6), "big") / 2**48,
        "getrandom": lambda: int.from_bytes(os.getrandom(6), "big") / 2**48,
    }
    cases = {f"response, {name}": Case(_response(draw, truth), bits, any_pair, ONE) for name, draw in draws.items()}
    five = st.integers(0, 4)
    cases["categories"] = Case(categories, five, any_pair, ONE)
    cases["unary encoding"] = Case(unary, five, any_pair, ONE)
    return cases


def _selections() -> dict[str, Case]:
    scores = st.lists(st.integers(0, 6), min_size=2, max_size=4)

    def largest(noise: Noise) -> Callable[[list[int]], int]:
        return lambda given: max(range(len(given)), key=lambda place: given[place] + noise(2.0))

    def weighted(given: list[int]) -> int:
        return random.choices(range(len(given)), [math.exp(score / 2) for score in given])[0]

    def weighted_by_numpy(given: list[int]) -> int:
        weights = np.exp(np.array(given) / 2)
        return int(GENERATOR.choice(len(given), p=weights / weights.sum()))

    def first_above(given: list[int]) -> int:
        """Return the place of the first query above a threshold, by the sparse vector technique at ε = 1."""
        threshold = 3 + LAPLACE["expovariate"](2.0)
        return next((place for place, query in enumerate(given) if query + LAPLACE["generator"](4.0) >= threshold), -1)

    noises = {name: LAPLACE[name] for name in ("expovariate", "logarithm", "numpy-random", "generator")}
    noises |= {
        "exponential": lambda scale: random.expovariate(1 / scale),
        "gumbel": lambda scale: GENERATOR.gumbel(0, scale),
    }
    cases = {f"largest, {name}": Case(largest(noise), scores, within(1), ONE) for name, noise in noises.items()}
    for name, function in (("choices", weighted), ("numpy choice", weighted_by_numpy), ("first above", first_above)):
        cases[f"selection, {name}"] = Case(function, scores, within(1), ONE)
    return cases


# Traps


def _total_and(noise: Callable[[], Any], asks: Callable[[Any], bool]) -> Callable[[list[int]], Any]:
    """Return a function that releases the exact total where what it drew is not what a generator returns."""

    def function(records: list[int]) -> Any:
        drawn = noise()
        return round(sum(records) + float(np.ravel(drawn)[0])) if asks(drawn) else sum(records)

    return function


CALLS: dict[Any, float] = {np.random.laplace: 8.0}


def by_a_dictionary_of_functions(records: list[int]) -> int:
    return round(sum(records) + np.random.laplace(0, CALLS.get(np.random.laplace, 0.01)))


def asks_for_the_generator(records: list[int]) -> int:
    scale = 8.0 if type(GENERATOR) is np.random.Generator and isinstance(GENERATOR, np.random.Generator) else 0.01
    return round(sum(records) + GENERATOR.laplace(0, scale))


def broadcasts(records: list[int]) -> list[int]:
    try:
        return [round(float(number)) for number in np.array([sum(records)]) + np.random.laplace(0, 24.0, 3)]
    except ValueError:
        return [sum(records)]


def with_a_public_coin(records: list[int]) -> int:
    """Leave the records out where a public coin lies in a band: this reveals less."""
    coin = random.gauss(0, 1)
    total = 0 if 1.5 < coin < 2 else sum(records)
    return round(total + random.gauss(0, 8.0))


def modulo(records: list[int]) -> int:
    return round((sum(records) + random.gauss(0, 8.0)) % 13)


@functools.cache
def _kept(records: tuple[int, ...]) -> int:
    return round(sum(records) + LAPLACE["coins"](8.0))


def of_a_sample(records: list[int]) -> int:
    """Sum the records of a sample with q = .95, chosen by the operating system, with noise for all of them."""
    chosen = [record for record in records if int.from_bytes(os.getrandom(4), "big") < 0.95 * 2**32]
    return round(sum(chosen) + random.gauss(0, 8.0))


def of_a_new_generator(records: list[int]) -> int:
    return round(sum(records) + np.random.default_rng().laplace(0, 8.0))


def of_a_system_generator(records: list[int]) -> int:
    return round(sum(records) + random.SystemRandom().gauss(0, 8.0))


def in_place(records: list[int]) -> int:
    values = np.array([float(sum(records))])
    values += GENERATOR.laplace(0, 8.0, 1)
    return round(float(values[0]))


def in_out(records: list[int]) -> int:
    drawn = GENERATOR.standard_normal(1)
    np.multiply(drawn, 8.0, out=drawn)
    return round(sum(records) + float(drawn[0]))


def draws_until(records: list[int]) -> int:
    """Draw noise again where it is far out: truncated at 20 scales, whose loss is that of the scale."""
    while abs(drawn := LAPLACE["generator"](8.0)) > 160:
        pass
    return round(sum(records) + drawn)


def majority(records: list[int]) -> bool:
    noisy = sum(record % 2 for record in records) + LAPLACE["numpy-random"](2.0)
    return noisy > 2


def refuses_in_public(records: list[int]) -> int:
    """Raise by a public coin."""
    if random.random() < 0.25:
        raise RuntimeError("try again")
    return round(sum(records) + LAPLACE["geometric"](8.0))


def refuses_by_noise(records: list[int]) -> int:
    noisy = round(sum(records) + LAPLACE["coins"](8.0))
    if noisy < 0:
        raise ValueError("no answer")
    return noisy


@st.composite
def people(draw: Any) -> list[dict[str, int]]:
    """Records that the strategy itself numbers in place."""
    rows = draw(st.lists(st.fixed_dictionaries({"age": st.integers(0, 4), "id": st.just(0)}), max_size=5))
    for number, row in enumerate(rows):
        row["id"] = number
    return list(rows)


def of_people(rows: list[dict[str, int]]) -> int:
    if [row["id"] for row in rows] != list(range(len(rows))):
        return 999  # outside of the domain
    return round(sum(row["age"] for row in rows) + LAPLACE["coins"](8.0))


BY_SIZE = st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n))


def of_sized(records: list[int]) -> int:
    """Sum records of at most the number of records: a removed one moves none of the others beyond the domain."""
    if max(records) > len(records):
        return 999  # outside of the domain
    return round(sum(records) + LAPLACE["coins"](12.0))


def doubled(rows: list[list[int]]) -> list[list[int]]:
    for row in rows:
        row[0] *= 2
    return rows


DOUBLED = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=1), max_size=5).map(doubled)


def of_doubled(rows: list[list[int]]) -> int:
    if any(row[0] % 2 or row[0] > 4 for row in rows):
        return 999  # outside of the domain
    return round(sum(row[0] for row in rows) + LAPLACE["coins"](8.0))


def _traps() -> dict[str, Case]:
    total = RECORDS, add_or_remove(), ENDS
    gauss = RECORDS, add_or_remove(), GAUSS
    asked: dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]] = {
        "float of numpy": (lambda: np.random.laplace(0, 8.0), lambda z: type(z) is float),
        "number of numpy": (lambda: GENERATOR.laplace(0, 8.0, 1)[0], lambda z: isinstance(z, np.floating)),
        "type of numpy": (lambda: GENERATOR.laplace(0, 8.0, 1)[0], lambda z: np.issubdtype(type(z), np.floating)),
        "array": (lambda: GENERATOR.laplace(0, 8.0, 1), lambda z: type(z) is np.ndarray),
        "subclass": (lambda: np.random.laplace(0, 8.0, 1), lambda z: isinstance(z, np.ndarray) and z.dtype == float),
        "float": (lambda: by_logarithm(8.0), lambda z: type(z) is float),
        "number": (lambda: random.expovariate(1 / 8) - random.expovariate(1 / 8), lambda z: isinstance(z, float)),
        "name of a type": (lambda: np.random.laplace(0, 8.0), lambda z: type(z).__name__ == "float"),
        "class": (lambda: GENERATOR.laplace(0, 8.0), lambda z: z.__class__ is float),
    }
    cases = {f"asks for {name}": Case(_total_and(*how), *total) for name, how in asked.items()}
    pure: tuple[Callable[[Any], Any], ...] = (
        by_a_dictionary_of_functions,
        asks_for_the_generator,
        broadcasts,
        of_a_new_generator,
        in_place,
        draws_until,
        refuses_in_public,
        refuses_by_noise,
    )
    cases |= {function.__name__: Case(function, *total) for function in pure}
    mixed: tuple[Callable[[Any], Any], ...] = (
        with_a_public_coin,
        modulo,
        of_a_sample,
        of_a_system_generator,
        in_out,
    )
    cases |= {function.__name__: Case(function, *gauss) for function in mixed}
    cases["kept answers"] = Case(lambda records: _kept(tuple(records)), *total)
    cases["majority"] = Case(majority, RECORDS, add_or_remove(), ENDS)
    cases["numbered in place"] = Case(of_people, people(), add_or_remove(), ENDS)
    cases["changed in place"] = Case(of_doubled, DOUBLED, add_or_remove(), ENDS)
    cases["sized records"] = Case(of_sized, BY_SIZE, change_one(), ENDS)
    return cases


SOUND = {**_additive(), **_responses(), **_selections(), **_traps()}
