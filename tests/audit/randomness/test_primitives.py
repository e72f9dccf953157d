"""The registry knows all that draws, reads locations and scales off calls, and leaves no trace."""

from __future__ import annotations

import functools
import math
import random
import secrets
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diffprivlib import mechanisms
from scipy import stats

from subnormal.audit.randomness.catalogue import FUNCTIONS, GENERATOR, METHODS, RANDOM_STATE, Primitive
from subnormal.audit.randomness.primitives import drawn_from, intercepted

RNG, OLDER, MINE = np.random.default_rng(1), np.random.RandomState(2), random.Random(3)
LAPLACE = mechanisms.Laplace(epsilon=0.5, delta=0.1, sensitivity=2.0)
GEOMETRIC = mechanisms.Geometric(epsilon=0.5, sensitivity=2)
FOLDED = mechanisms.LaplaceFolded(epsilon=0.5, sensitivity=2.0, lower=0, upper=9)
STATE = {"bit_generator", "spawn", "seed", "get_state", "set_state", "getstate", "setstate", "VERSION"}
CLASSES = {name for name, one in vars(np.random).items() if isinstance(one, type)}
OTHERS = {"default_rng", "bit_generator", "mtrand", "get_bit_generator", "set_bit_generator", "test", *CLASSES}
DIFFPRIVLIB, SCIPY = "diffprivlib.mechanisms.", "scipy.stats._continuous_distns."


def names(primitives: tuple[Primitive, ...], holder: str) -> set[str]:
    return {one.name for one in primitives if one.holder == holder}


@pytest.mark.parametrize(
    ("kind", "known", "others"),
    [
        (np.random.Generator, names(GENERATOR, "numpy.random:Generator"), set()),
        (np.random.RandomState, names(RANDOM_STATE, "numpy.random:RandomState"), set()),
        (np.random, names(FUNCTIONS, "numpy.random"), OTHERS),
        (random.Random, names(METHODS, "random:Random"), set()),
        (random, names(FUNCTIONS, "random"), {"Random", "SystemRandom"}),
        (secrets, names(FUNCTIONS, "secrets"), {"SystemRandom", "compare_digest"}),
    ],
)
def test_all_that_draws_is_known(kind: Any, known: set[str], others: set[str]) -> None:
    """A primitive that is not known could decide unseen in rare cases what is released."""
    public = getattr(kind, "__all__", [name for name in dir(kind) if not name.startswith("_")])
    drawing = {name for name in public if callable(getattr(kind, name)) and not name.startswith("_")}
    assert drawing - STATE - others <= known


def called(function: Callable[[], Any]) -> list[tuple[str, str, Any]]:
    """Return the name, the kind, and the location with the scale, of each primitive that a function calls."""
    seen: list[tuple[str, str, Any]] = []
    inside = False

    def intercept(primitive: Primitive, original: Callable[..., Any], arguments: Any, options: Any) -> Any:
        nonlocal inside
        if inside:
            return original(*arguments, **options)
        inside = True
        where = None if primitive.where is None else primitive.where(*arguments, **options)
        seen.append((str(primitive), primitive.kind, where))
        drawn = original(*arguments, **options)
        inside = False
        return drawn

    with intercepted(function, intercept):
        function()
    return seen


class Holder:
    """An object with a generator of its own."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(4)

    def method(self) -> float:
        return self.rng.laplace(2.0, 3.0)


def in_a_closure() -> Callable[[], float]:
    rng = np.random.default_rng(5)
    return lambda: rng.laplace(2.0, 3.0)


@pytest.mark.parametrize(
    ("function", "name", "kind", "location", "scale"),
    [
        (lambda: random.gauss(2.0, 3.0), "random.gauss", "Gaussian", 2.0, 3.0),
        (lambda: random.gauss(), "random.gauss", "Gaussian", 0.0, 1.0),
        (lambda: random.normalvariate(sigma=3.0), "random.normalvariate", "Gaussian", 0.0, 3.0),
        (lambda: MINE.gauss(2.0, 3.0), "random.Random.gauss", "Gaussian", 2.0, 3.0),
        (lambda: MINE.normalvariate(2.0, 3.0), "random.Random.normalvariate", "Gaussian", 2.0, 3.0),
        (lambda: secrets.SystemRandom().gauss(2.0, 3.0), "random.Random.gauss", "Gaussian", 2.0, 3.0),
        (lambda: np.random.normal(2.0, 3.0, 4), "numpy.random.normal", "Gaussian", 2.0, 3.0),
        (lambda: np.random.laplace(size=2, scale=3.0), "numpy.random.laplace", "Laplace", 0.0, 3.0),
        (lambda: np.random.randn(2), "numpy.random.randn", "Gaussian", 0.0, 1.0),
        (lambda: np.random.standard_normal(5), "numpy.random.standard_normal", "Gaussian", 0.0, 1.0),
        (lambda: RNG.normal(2.0, 3.0), "numpy.random.Generator.normal", "Gaussian", 2.0, 3.0),
        (lambda: RNG.laplace(loc=2.0), "numpy.random.Generator.laplace", "Laplace", 2.0, 1.0),
        (lambda: RNG.standard_normal(7), "numpy.random.Generator.standard_normal", "Gaussian", 0.0, 1.0),
        (lambda: np.random.default_rng(1).laplace(2.0, 3.0), "numpy.random.Generator.laplace", "Laplace", 2.0, 3.0),
        (Holder().method, "numpy.random.Generator.laplace", "Laplace", 2.0, 3.0),
        (in_a_closure(), "numpy.random.Generator.laplace", "Laplace", 2.0, 3.0),
        (lambda: OLDER.normal(2.0, 3.0), "numpy.random.RandomState.normal", "Gaussian", 2.0, 3.0),
        (lambda: OLDER.laplace(2.0, 3.0), "numpy.random.RandomState.laplace", "Laplace", 2.0, 3.0),
        (lambda: OLDER.randn(), "numpy.random.RandomState.randn", "Gaussian", 0.0, 1.0),
        (lambda: OLDER.standard_normal(), "numpy.random.RandomState.standard_normal", "Gaussian", 0.0, 1.0),
        # sklearn draws from the next
        (lambda: np.random.mtrand._rand.laplace(2.0, 3.0), "numpy.random.RandomState.laplace", "Laplace", 2.0, 3.0),
        (lambda: stats.laplace.rvs(2.0, 3.0, 2, random_state=1), f"{SCIPY}laplace_gen.rvs", "Laplace", 2.0, 3.0),
        (lambda: stats.norm(2.0, 3.0).rvs(), f"{SCIPY}norm_gen.rvs", "Gaussian", 2.0, 3.0),
        (
            lambda: LAPLACE.randomise(7.0),
            f"{DIFFPRIVLIB}Laplace.randomise",
            "Laplace",
            7.0,
            2.0 / (0.5 - math.log(0.9)),
        ),
        (lambda: GEOMETRIC.randomise(7), f"{DIFFPRIVLIB}Geometric.randomise", "other", 7, 4.0),
        (lambda: FOLDED.randomise(7.0), f"{DIFFPRIVLIB}LaplaceFolded.randomise", "other", 7.0, 4.0),
    ],
)
def test_a_call_says_where_its_noise_lies(
    function: Callable[[], Any], name: str, kind: str, location: float, scale: float
) -> None:
    ((found, of_kind, where),) = called(function)
    assert (found, of_kind) == (name, kind)
    assert where == (pytest.approx(location), pytest.approx(scale))


@pytest.mark.parametrize("kind", [mechanisms.Gaussian, mechanisms.GaussianAnalytic])
def test_gaussian_noise_of_diffprivlib_has_the_scale_that_it_draws_with(kind: Any) -> None:
    mechanism = kind(epsilon=0.5, delta=0.1, sensitivity=2.0)
    assert called(lambda: mechanism.randomise(7.0)) == [
        (f"diffprivlib.mechanisms.{kind.__name__}.randomise", "Gaussian", (7.0, mechanism._scale))
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda: random.expovariate(1.0),
        lambda: RNG.standard_t(3),
        lambda: OLDER.uniform(),
        lambda: np.random.multivariate_normal([0.0], [[1.0]]),
        lambda: secrets.token_hex(2),
        lambda: stats.expon.rvs(),
        lambda: stats.poisson.rvs(3.0),
        lambda: mechanisms.Uniform(delta=0.1, sensitivity=1.0).randomise(1.0),
    ],
)
def test_other_noise_says_nothing_of_where_it_lies(function: Callable[[], Any]) -> None:
    ((_, kind, where),) = called(function)
    assert (kind, where) == ("other", None)


def test_what_a_function_draws_from_is_listed() -> None:
    drawn, is_all = drawn_from(RNG, lambda: [RNG.normal(), random.random()])
    assert is_all
    assert list(map(str, drawn)) == ["numpy.random.Generator.normal", "random.random"]
    assert drawn_from(len, lambda: len([])) == ([], True)


HELD = [np.random.default_rng(6)]


@pytest.mark.parametrize(
    "draw", [HELD[0].random, lambda: HELD[0].laplace(), functools.partial(np.random.random), lambda: MINE.seed(4)]
)
def test_a_generator_that_moves_without_a_primitive_is_seen(draw: Callable[[], Any]) -> None:
    assert drawn_from(len, draw) == ([], False)


def test_everything_is_put_back() -> None:
    holder, function = Holder(), in_a_closure()
    before = RNG, OLDER, random.gauss, np.random.laplace, np.random.mtrand._rand, sys.modules["secrets"].choice

    def interrupted(audited: Callable[[], float]) -> None:
        with intercepted(audited, lambda *arguments: 0.0):
            assert audited() == 0.0
            assert RNG is not before[0]
            raise KeyError

    for audited in (holder.method, function):
        with pytest.raises(KeyError):
            interrupted(audited)
    after = RNG, OLDER, random.gauss, np.random.laplace, np.random.mtrand._rand, sys.modules["secrets"].choice
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert type(holder.rng) is np.random.Generator
    assert isinstance(function(), float)


def test_a_generator_that_is_intercepted_goes_on_with_its_own_stream() -> None:
    expected = np.random.default_rng(8).laplace(size=3), np.random.RandomState(8).laplace(size=3)
    rng, older = np.random.default_rng(8), np.random.RandomState(8)

    def function() -> tuple[float, float]:
        return rng.laplace(), older.laplace()

    drawn = [function()]
    with intercepted(function, lambda primitive, original, arguments, options: original(*arguments, **options)):
        drawn.append(function())
    drawn.append(function())
    assert np.array_equal(np.transpose(drawn), expected)
