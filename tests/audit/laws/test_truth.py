"""Laws of functions that are easy to get wrong: the truth lies within the bounds, or the function is refused."""

import copy
import math
import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.laws import followed
from subnormal.audit.laws.draws import sources
from subnormal.audit.laws.draws.joined import joinable
from subnormal.audit.laws.followed import law
from subnormal.audit.laws.path import NotFollowedError
from subnormal.mechanisms.core.mechanism import Refused
from tests.audit.laws.array_cases import ARRAYS
from tests.audit.laws.short_uniforms import executed

RNG = np.random.default_rng()
OWN = random.Random()
LARGE, DIVISOR = 3004510042352492217, 51457485807682078  # whose quotient is another one for numpy
PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))
NARROW = np.array([2**31 - 8], dtype=np.int32)
Truth = dict[Any, float]


# Zeros: -0.0 and 0.0 are two outcomes, and copysign tells them apart.


def zero() -> float:
    return 0.0 if random.random() < 0.5 else -0.0


def turning_zero() -> float:
    u = random.random() - 0.5
    return -0.0 * u if u < 0.25 else 0.0


def mostly_zero() -> float:
    u = random.random()
    return -0.0 if u < 0.5 else 0.0 if u < 0.6 else u - 0.6


ZEROS: dict[str, tuple[Any, Truth]] = {
    "rounded": (lambda _: str(round(0.5 - random.random(), 0)), {"-0.0": 0.5, "0.0": 0.5}),
    "joined": (lambda _: str(zero()), {"-0.0": 0.5, "0.0": 0.5}),
    "of numpy": (lambda _: str(float(np.rint(0.5 - random.random()))), {"-0.0": 0.5, "0.0": 0.5}),
    "as a text": (lambda _: str(np.rint(random.random())), {"1.0": 0.5, "0.0": 0.5}),
    "filled with digits": (lambda _: float(f"{8 + 4 * random.random():1>6.2f}") < 111.0, {True: 0.49875}),
    "times -0.0": (lambda _: math.copysign(1.0, turning_zero()), {1.0: 0.75, -1.0: 0.25}),
    "a sum": (lambda _: math.copysign(1.0, mostly_zero() + mostly_zero()), {1.0: 0.75, -1.0: 0.25}),
    "a parameter": (
        lambda _: (math.copysign(1.0, RNG.normal(0.0, 0.0)), math.copysign(1.0, RNG.normal(-0.0, 0.0))),
        {(1.0, 1.0): 0.5, (1.0, -1.0): 0.5},
    ),
}


# Integers: Python's have no bounds, numpy's wrap.


def small() -> int:
    u = random.random()
    return 1 if u < 1 / 4 else 2 if u < 1 / 2 else 3


def large() -> int:
    return -1 if random.random() < 0.5 else 2**63


def odd() -> int:
    return 2**53 + 1 if random.random() < 0.5 else 2**53 + 3


def even() -> float:
    return 2.0**53 if random.random() < 0.5 else 2.0**53 + 8


def far() -> int:
    return 0 if random.random() < 0.5 else 2**53 + 1


def divided(_: Any) -> Any:
    try:
        return (2**1025 - random.getrandbits(1025)) / 3.0 < 5
    except OverflowError:
        return "large"


INTEGERS: dict[str, tuple[Any, Truth]] = {
    "products": (lambda _: small() * 2**62 < small() * 2**62, {True: 5 / 16}),
    "beyond 64 bits": (lambda _: large() < large(), {True: 1 / 4}),
    "and floats": (lambda _: even() < odd(), {True: 1 / 2}),
    "sums": (lambda _: far() + far() > 2**53, {True: 3 / 4}),
    "too large for a float": (divided, {"large": 0.5}),
    "of 8 bits": (lambda _: bool(RNG.integers(0, 10, dtype=np.uint8) - 2 < 200), {True: 0.8}),
    "of 64 bits": (lambda _: bool(RNG.integers(0, 100) * 10**17 < 0), {True: 0.07}),
    "powers of 64 bits": (lambda _: bool(RNG.integers(0, 100) ** 10 < 0), {True: 0.1}),
    "in an array": (lambda _: bool((RNG.integers(0, 100, size=1) * 10**17 < 0)[0]), {True: 0.07}),
    "beside one of 32 bits": (lambda _: bool(NARROW[0] + random.getrandbits(4) > 0), {True: 0.5}),
    "after one of 64 bits": (lambda _: bool((np.int64(1) + random.getrandbits(4)) * 10**18 < 0), {True: 7 / 16}),
    "beside one of 64 bits": (lambda _: bool(np.int64(2**60) * random.getrandbits(4) >= 0), {True: 0.5}),
    "beside an array of 32 bits": (lambda _: bool((NARROW + RNG.integers(0, 16))[0] > 0), {True: 1.0}),
    "a boolean of numpy": (lambda _: RNG.integers(0, 2, dtype=bool), {True: 0.5}),
    "the size of an integer": (lambda _: isinstance(math.fabs(random.getrandbits(1)), float), {True: 1.0}),
    "shifted": (lambda _: (random.getrandbits(1) << 2, 8 >> random.getrandbits(1)), {(4, 8): 0.25}),
    "inverted": (lambda _: ~random.getrandbits(1), {-1: 0.5}),
    "of 64 bits, told apart": (lambda _: bool((RNG.integers(0, 2) | 0) * 2**62 * 2 < 0), {True: 0.5}),
    "of 64 bits as a text": (lambda _: repr(RNG.integers(0, 2)), {"np.int64(1)": 0.5}),
    "of 64 bits, rounded": (lambda _: repr(round(RNG.integers(0, 2))), {"1": 0.5}),
    "of 64 bits in a list": (lambda _: repr(RNG.integers(0, 2, size=1).tolist()), {"[1]": 0.5}),
    "of 64 bits in an array": (lambda _: repr(RNG.integers(0, 2, size=1)[0]), {"np.int64(1)": 0.5}),
    "of 64 bits beside a float": (lambda _: isinstance(RNG.integers(0, 2) + 0.5, np.float64), {True: 1.0}),
    "of 64 bits beside a large float": (lambda _: bool(2**53 + RNG.integers(0, 2) > 2.0**53), {True: 0.0}),
    "of 64 bits that are large": (
        lambda _: bool((RNG.integers(0, 2) + 2**53 + 1) / np.int64(3) == (2**53 + 1) / 3),
        {True: float(np.int64(2**53 + 1) / np.int64(3) == (2**53 + 1) / 3) / 2},
    ),
    "of 64 bits by others that are large": (
        lambda _: bool((RNG.integers(0, 2) + LARGE) / (RNG.integers(0, 2) + DIVISOR) == LARGE / DIVISOR),
        {True: float(np.mean([np.int64(LARGE + a) / np.int64(DIVISOR + b) == LARGE / DIVISOR for a, b in PAIRS]))},
    ),
    "of 64 bits, shifted far": (
        lambda _: RNG.integers(0, 2) >> 2**64,
        {Refused("OverflowError: Python int too large to convert to C long"): 1.0},
    ),
    "of 64 bits beside a text": (lambda _: repr(RNG.integers(0, 2) != "1"), {"np.True_": 1.0}),
    "too large beside one of 64 bits": (
        lambda _: np.int64(-(2**62)) + (random.getrandbits(1) + 2**63),
        {Refused("OverflowError: Python int too large to convert to C long"): 1.0},
    ),
    "of 64 bits beside one that is too large": (
        lambda _: (RNG.integers(0, 2) + 2**62) - 2**63,
        {Refused("OverflowError: Python int too large to convert to C long"): 1.0},
    ),
    "of 64 bits to the power of -1": (
        lambda _: RNG.integers(1, 3) ** -1,
        {Refused("ValueError: Integers to negative integer powers are not allowed."): 1.0},
    ),
    "to a power of 64 bits": (
        lambda _: 2 ** (RNG.integers(0, 2) - 1),
        {Refused("ValueError: Integers to negative integer powers are not allowed."): 0.5, 1: 0.5},
    ),
    "a large power in numpy": (lambda _: bool((1e200 * RNG.random(1)[0]) ** 2 > 1e300), {True: 1.0}),
    "a float of Python's math": (lambda _: isinstance(math.fabs(RNG.random(1)[0]), np.float64), {True: 0.0}),
}


SUMS: dict[str, tuple[Any, Truth]] = {
    "of floats": (lambda _: sum([random.random(), 1e100, -1e100]) > 0, {True: float(sum([1.0, 1e100, -1e100]) > 0)}),
    "of two floats": (lambda _: sum([random.getrandbits(1) * 0.5, 0.25]), {0.25: 0.5, 0.75: 0.5}),
    "of integers": (lambda _: sum(random.getrandbits(1) for _ in range(3)), {0: 1 / 8, 1: 3 / 8, 2: 3 / 8, 3: 1 / 8}),
    "of a list in numpy": (
        lambda _: bool(np.sum([2.0**53, *([random.getrandbits(1) / 1.0] * 8)]) > 2.0**53),
        {True: float(np.sum([2.0**53, *([1.0] * 8)]) > 2.0**53) / 2},
    ),
    "of few in numpy": (lambda _: float(np.sum([random.getrandbits(1) * 0.5, 0.25])), {0.25: 0.5, 0.75: 0.5}),
    "with a start": (lambda _: sum([random.getrandbits(1)], start=5), {5: 0.5, 6: 0.5}),
    "a product that falls": (
        lambda _: random.random() * (random.random() - 2) < -1.5,
        {True: 0.5 - 1.5 * math.log(4 / 3)},
    ),
}


# Draws of numpy and scipy: the types and the options of their arguments tell.


def shuffled(_: Any) -> Any:
    matrix = np.arange(4).reshape(2, 2)
    RNG.shuffle(matrix, axis=1)
    return matrix.tolist()


DRAWS: dict[str, tuple[Any, Truth]] = {
    "equal tuples": (lambda _: (str(RNG.choice((1, 2))), str(RNG.choice((1.0, 2.0)))), {("1", "1.0"): 1 / 4}),
    "booleans": (lambda _: (str(RNG.choice((0, 1))), str(RNG.choice((False, True)))), {("1", "True"): 1 / 4}),
    "columns": (shuffled, {((0, 1), (2, 3)): 0.5, ((1, 0), (3, 2)): 0.5}),
    "floats of 32 bits": (lambda _: RNG.random(None, np.float32) == 0.0, {True: 2.0**-24}),
    "a rare event": (lambda _: RNG.geometric(1e-19) > 2**63 - 1, {True: 0.0}),
    "integers for floats": (lambda _: RNG.uniform(2**53 + 1, 2**53 + 3) >= 2**53 + 3, {True: 0.25}),
    "a moved bit": (lambda _: type(stats.bernoulli.rvs(0.5, loc=1.0)) is float, {True: 0.0}),
    "a scale of -0.0": (
        lambda _: (math.copysign(1, RNG.laplace(0.0, 1.0) * 0.0), math.copysign(1, RNG.laplace(-0.0, 1.0) * 0.0)),
        {(1.0, 1.0): 1 / 4, (1.0, -1.0): 1 / 4},
    ),
    "floats of integers": (lambda _: np.random.geometric(0.6, size=1).astype(float).tolist(), {(1.0,): 0.6}),
    "rounded integers": (lambda _: RNG.integers(0, 2, size=1).round().tolist(), {(0,): 0.5, (1,): 0.5}),
}


# Comparisons with what is no int or float, and with what is no number.


COMPARED: dict[str, tuple[Any, Truth]] = {
    "np.int64": (lambda _: bool(random.getrandbits(4) == np.int64(3)), {True: 1 / 16}),
    "np.int32": (lambda _: bool(random.getrandbits(4) == np.int32(3)), {True: 1 / 16}),
    "Fraction": (lambda _: random.getrandbits(4) == Fraction(3), {True: 1 / 16}),
    "Decimal": (lambda _: random.getrandbits(4) == Decimal(3), {True: 1 / 16}),
    "complex": (lambda _: random.getrandbits(4) != 3 + 0j, {False: 1 / 16}),
    "an array": (lambda _: bool(np.any(random.getrandbits(4) == np.array([3]))), {True: 1 / 16}),
    "a list": (
        lambda _: [random.getrandbits(2)].count(np.int64(2)),  # type: ignore[arg-type]
        {1: 1 / 4},
    ),
    "anything": (lambda _: random.getrandbits(4) == ANY, {True: 1.0}),
    "a float of numpy": (lambda _: bool(2**53 + random.getrandbits(1) > np.float64(2**53)), {True: 0.0}),
    "infinity": (lambda _: math.isfinite(random.random() * 1e308 * 10), {True: 0.17976931}),
    "a text": (lambda _: random.getrandbits(4) == "3", {False: 1.0}),
    "not a number": (lambda _: (random.random() - 0.5) * 1e308 * 10 * 0 == 0, {True: 0.36}),
    "itself": (lambda _: (lambda x: x != x)((1 - random.random()) * 1e308 * 10 * 0), {True: 0.82}),
    "the largest of what may be no number": (
        lambda _: math.isnan(max((1 - random.random()) * 1e308 * 10 * 0 for _ in range(3))),
        {True: 1 - 0.1797693134862316},
    ),
}


# Exceptions: what raises below and above, and in numpy does not raise.


def fails() -> float:
    u = random.random()
    if u < 0.5:
        raise ValueError(round(2 * u + 0.4))
    return u if u < 0.75 else 2 * u


def late(_: Any) -> Any:
    if random.random() < 0.6:
        return "other"
    product = random.getrandbits(2) * (random.getrandbits(2) * 1.0)
    try:
        return 1 / product <= 9 + random.random()
    except ZeroDivisionError:
        return "zero"


RAISED: dict[str, tuple[Any, Truth]] = {
    "acos": (lambda _: math.acos(3 * random.random() - 1.5) < 9, {Refused("ValueError: math domain error"): 1 / 3}),
    "sinh": (lambda _: math.sinh(10000 * random.random() - 5000) < 9, {True: (710.47586 + math.asinh(9)) / 10000}),
    "round": (lambda _: round((random.random() - 0.5) * 1e308 * 40) < 0, {}),
    "log": (lambda _: math.log(random.getrandbits(2) - 3) < 9, {Refused("ValueError: math domain error"): 1.0}),
    "a random message": (lambda _: fails() < 5, {Refused("ValueError: 0"): 1 / 20, Refused("ValueError: 1"): 9 / 20}),
    "a product that may be 0": (late, {"zero": 0.175, "other": 0.6}),
    "numpy's division by 0": (lambda _: bool((0.5 - RNG.random(1))[0] / 0.0 > 0), {True: 0.5}),
    "numpy's division of 1": (lambda _: bool(1 / np.rint(RNG.random(1))[0] > 2), {True: 0.5}),
    "a division by 0": (lambda _: 1 // random.getrandbits(1), {1: 0.5}),
    "a remainder": (lambda _: divmod(7, 1 + random.getrandbits(1))[1] + 7 % (1 + random.getrandbits(1)), {1: 0.5}),
    "a difference beyond its answers": (
        lambda _: math.log(random.random() - random.random()) + 1 < 0,
        {Refused("ValueError: math domain error"): 0.5},
    ),
    "numpy's float by 0": (lambda _: bool(np.float64(5.0) / random.getrandbits(1) > 9), {True: 0.5}),
    "numpy's integer by 0": (lambda _: bool(1 / RNG.integers(0, 2) > 9), {True: 0.5}),
    "numpy's integers by 0": (lambda _: int((RNG.integers(0, 3, size=1) // 0)[0]), {0: 1.0}),
    "a quotient of infinity": (
        lambda _: repr(RNG.integers(0, 2) ** -1.5 // np.float64(0.25)),
        {"np.float64(nan)": 0.5, "np.float64(4.0)": 0.5},
    ),
    "no number to a power": (lambda _: math.nan ** random.getrandbits(1), {1.0: 0.5}),
    "infinity to a power": (lambda _: math.inf ** (random.getrandbits(1) - 1.0), {1.0: 0.5, 0.0: 0.5}),
    "a power of 0": (lambda _: math.pow(random.getrandbits(1), -1), {Refused("ValueError: math domain error"): 0.5}),
    "a shifted float": (lambda _: int(random.random() << 1), {0: 0.0}),  # type: ignore[operator]
    "two types": (lambda _: isinstance(2 ** (2 - random.getrandbits(2)), int), {True: 0.75}),
}


# Helpers that are joined: they stay the objects that they are, and what they read may change.


def level() -> int:
    u = random.random()
    return 0 if u < 0.2 else 1 if u < 0.5 else 2


def scaled() -> float:
    u = OWN.random()
    return OWN.scale * u if u < 0.5 else 2 * OWN.scale * u  # type: ignore[attr-defined,no-any-return]


def rescaled(_: Any) -> tuple[bool, bool]:
    OWN.scale = 1.0  # type: ignore[attr-defined]
    first = scaled() < 0.25
    OWN.scale = 1.25  # type: ignore[attr-defined]
    return first, scaled() < 0.25


def half() -> float:
    return random.random()


def whole() -> float:
    return 2 * random.random()


pick = half


def picked() -> float:
    u = pick()
    return u if u < 0.5 else 2 * u


def picked_again(_: Any) -> tuple[bool, bool]:
    global pick
    pick = half
    first = picked() < 0.25
    pick = whole
    return first, picked() < 0.25


def spread(scale: float = 1.0) -> float:
    u = random.random()
    return scale * u if u < 0.5 else 2 * scale * u


def with_defaults(_: Any) -> tuple[bool, bool]:
    helper = FUNCTIONS["spread"]
    helper.__defaults__ = (1.0,)
    first = spread() < 0.25
    helper.__defaults__ = (2.0,)
    return first, spread() < 0.25


def read_late(_: Any) -> Any:
    seen = list[int]()

    def numbers() -> Iterator[int]:
        for one in range(3):
            seen.append(one)
            yield one

    return max(numbers(), key=lambda _: len(seen)), random.getrandbits(1)


def with_an_attribute(_: Any) -> tuple[bool, bool]:
    NAMED.pi = 1.0  # type: ignore[attr-defined]
    first = by_attribute() < 0.25
    NAMED.pi = 1.25  # type: ignore[attr-defined]
    return first, by_attribute() < 0.25


NAMED = random.Random()


def by_attribute() -> float:
    u = NAMED.random()
    return NAMED.pi * u if u < 0.5 else 2 * NAMED.pi * u  # type: ignore[attr-defined,no-any-return]


# Functions of math and of numpy, and parameters that another path does not have.


def noise_of(one: Any, other: Any) -> Any:
    """Return one of two draws, each as likely."""
    return one() if random.random() < 0.5 else other()


def mean_of(*shares: float) -> Truth:
    return {True: sum(shares) / len(shares)}


MATH: dict[str, tuple[Any, Truth]] = {
    "a sine of a sum": (
        lambda _: math.sin(2 * (random.random() + random.random())) > 0.9,
        {True: 1 - (1 + (math.asin(0.9) - math.pi) / 2 + 1) ** 2 / 2 - (math.asin(0.9) / 2) ** 2 / 2},
    ),
    "a base below 1": (
        lambda _: math.log(random.random(), 0.5) + math.log(random.random(), 0.5) > 2,
        {True: (1 + 2 * math.log(2)) / 4},
    ),
    "a logarithm that may be infinite": (lambda _: math.isfinite(np.log(RNG.random())), {True: 1.0}),
    "a logarithm that is hardly ever infinite": (lambda _: math.isinf(np.log(RNG.random())), {False: 1.0}),
    "numpy's logarithm of numbers below 0": (
        lambda _: bool(np.log(np.array([RNG.random() - 0.5]))[0] < -1),
        {True: math.exp(-1)},
    ),
    "the largest of columns": (lambda _: tuple(np.argmax(RNG.random((2, 2)), axis=0).tolist()), {(0, 0): 0.25}),
    "the smallest of columns": (lambda _: tuple(RNG.random((2, 2)).argmin(axis=0).tolist()), {(0, 0): 0.25}),
    "noise of two scales": (
        lambda _: noise_of(lambda: RNG.laplace(0.0, 1.0), lambda: RNG.laplace(0.0, 3.0)) > 1,
        mean_of(math.exp(-1) / 2, math.exp(-1 / 3) / 2),
    ),
    "noise of two locations": (
        lambda _: noise_of(lambda: RNG.laplace(0.0, 1.0), lambda: RNG.laplace(1.0, 1.0)) > 1,
        mean_of(math.exp(-1) / 2, 0.5),
    ),
    "logistic noise of two scales": (
        lambda _: noise_of(lambda: RNG.logistic(0.0, 1.0), lambda: RNG.logistic(0.0, 3.0)) > 1,
        mean_of(1 / (1 + math.e), 1 / (1 + math.exp(1 / 3))),
    ),
    "geometric numbers of two chances": (
        lambda _: noise_of(lambda: RNG.geometric(0.5), lambda: RNG.geometric(0.75)) > 1,
        mean_of(0.5, 0.25),
    ),
}

LOW = 0
NAMES = {level: "level"}
FUNCTIONS = {"spread": spread}


def is_level(_: Any, function: Any = level) -> bool:
    return function is level


HELPERS: dict[str, tuple[Any, Truth]] = {
    "is": (lambda _: level() is LOW, {True: 0.2}),
    "a key": (lambda _: NAMES.get(level, "none"), {"level": 1.0}),
    "a default": (is_level, {True: 1.0}),
    "an attribute that changes": (rescaled, {(True, True): 1 / 20}),
    "another helper": (picked_again, {(True, True): 1 / 32}),
    "defaults that change": (with_defaults, {(True, True): 1 / 32}),
    "an attribute with a name of a module": (with_an_attribute, {(True, True): 1 / 20}),
    "a generator of keys": (read_late, {(2, 0): 0.5, (2, 1): 0.5}),
    "a sine of a large number": (lambda _: math.sin(1e12 + 10 * random.random()) > 1 - 3e-9, {True: 2.4414e-5}),
    "a copy": (lambda _: copy.copy(level) is level, {True: 1.0}),
}
EASY_TO_GET_WRONG = {
    f"{kind}: {name}": case
    for kind, cases in {
        "zeros": ZEROS,
        "integers": INTEGERS,
        "sums": SUMS,
        "draws": DRAWS,
        "compared with": COMPARED,
        "raised": RAISED,
        "helpers": HELPERS,
        "math": MATH,
        "arrays": ARRAYS,
    }.items()
    for name, case in cases.items()
}


@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EASY_TO_GET_WRONG)
def test_the_truth_lies_within_the_bounds_or_nothing_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, truth = EASY_TO_GET_WRONG[name]
    monkeypatch.setattr(followed, "_repeat", lambda *_: None)  # plain numbers find some of these out, by luck
    try:
        found = law(function, None, seconds=2.0, width=1.0)
    except NotFollowedError:
        return
    for outcome, probability in truth.items():
        low, high = found.probability(outcome)
        assert float(low) - 1e-6 <= probability <= float(high) + 1e-6


REFUSED = {  # all others are followed
    "zeros: filled with digits",
    "zeros: a sum",
    "integers: too large for a float",
    "arrays: the largest, or what is no number",
    "arrays: the smallest, or what is no number",
    "arrays: sorted before what is no number",
    "arrays: a partition",
    "arrays: a place by its method",
    "arrays: a place in order",
    "arrays: a sum of columns",
    "arrays: a trace",
    "arrays: a trace by its method",
    "arrays: a type for the sum",
    "arrays: joined to a larger integer",
    "arrays: one rounded to tens",
    "arrays: places of a partition",
    "arrays: running products",
    "arrays: running sums of rows",
    "arrays: tens",
    "compared with: the largest of what may be no number",
    "math: a sine of a sum",
    "integers: of 8 bits",
    "integers: of 64 bits",
    "integers: powers of 64 bits",
    "integers: in an array",
    "integers: beside one of 32 bits",
    "integers: after one of 64 bits",
    "integers: beside one of 64 bits",
    "integers: beside an array of 32 bits",
    "integers: a boolean of numpy",
    "integers: too large beside one of 64 bits",
    "integers: of 64 bits beside one that is too large",
    "sums: of a list in numpy",
    "draws: columns",
    "draws: floats of 32 bits",
    "draws: a rare event",
    "compared with: np.int32",
    "compared with: Fraction",
    "compared with: Decimal",
    "compared with: complex",
    "compared with: infinity",
    "compared with: not a number",
    "compared with: itself",
    "raised: a random message",
    "raised: a product that may be 0",
    "raised: numpy's division by 0",
    "raised: numpy's division of 1",
    "raised: a difference beyond its answers",
    "raised: numpy's float by 0",
    "raised: numpy's integer by 0",
    "raised: numpy's integers by 0",
    "raised: a quotient of infinity",
    "raised: no number to a power",
    "raised: infinity to a power",
    "raised: a power of 0",
    "raised: a shifted float",
    "helpers: a sine of a large number",
    "math: a logarithm that may be infinite",
    "math: a logarithm that is hardly ever infinite",
}


@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(EASY_TO_GET_WRONG.keys() - REFUSED))
def test_these_are_followed(name: str) -> None:
    law(EASY_TO_GET_WRONG[name][0], None, seconds=2.0)


def test_the_refused_are_cases() -> None:
    assert EASY_TO_GET_WRONG.keys() >= REFUSED


def test_a_helper_that_is_defined_anew_has_its_own_law() -> None:
    names: dict[str, Any] = {"random": random}
    executed("def half(): return random.random()\ndef noise():\n u = half()\n return u if u < .5 else 2 * u", names)
    executed("def function(_): return noise() < .25", names)
    assert names["noise"] in set(joinable(sources._functions(names["function"])))
    assert law(names["function"], None).probability(True)[0] == Fraction(1, 4)
    executed("def half(): return 1.25 * random.random()", names)
    assert law(names["function"], None).probability(True)[0] == pytest.approx(0.2, abs=1e-9)
