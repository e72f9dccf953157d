"""What the `rvs` of scipy's distributions make of numpy's numbers, which lazy numbers follow.

The law of a number is that of numpy's (`numpy_draws`), scaled and moved as scipy does. It is compared with scipy on its
first use in a process: equal uniforms must lead to equal numbers, bit for bit.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from subnormal.audit.laws.draws.numpy_draws import Draws
from subnormal.audit.laws.lazy import is_lazy
from subnormal.audit.laws.path import NotFollowedError

COMPARED = 32  # numbers of a model and of scipy
SEED = 1  # of the comparison

Draw = Callable[..., Any]  # of numpy's method with a name, with arguments
STANDARD: dict[str, Callable[..., Any]] = {  # of continuous distributions
    "laplace": lambda draw: draw("laplace"),
    "logistic": lambda draw: draw("logistic"),
    "uniform": lambda draw: draw("uniform"),
    "expon": lambda draw: draw("standard_exponential"),
    "norm": lambda draw: draw("standard_normal"),
}
COUNTS: dict[str, Callable[..., Any]] = {  # of discrete ones, with their parameters
    "bernoulli": lambda draw, p: draw("binomial", 1, p),
    "binom": lambda draw, n, p: draw("binomial", n, p),
    "geom": lambda draw, p: draw("geometric", p),
    "dlaplace": lambda draw, a: draw("geometric", -math.expm1(-a)) - draw("geometric", -math.expm1(-a)),
}
EXAMPLES = {"bernoulli": {"p": 0.3}, "binom": {"n": 5, "p": 0.3}, "geom": {"p": 0.2}, "dlaplace": {"a": 0.2}}


def classes() -> tuple[Any, ...]:
    """Return the classes whose method `rvs` draws; none where the code has not imported scipy's distributions."""
    stats = sys.modules.get("scipy.stats")
    return () if stats is None else (stats.rv_continuous, stats.rv_discrete)


def drawn(
    draws: Draws, rvs: Callable[..., Any], distribution: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return what rvs(distribution, *arguments, **options), scipy's own method, returns."""
    what = f"scipy.stats.{distribution.name}.rvs"
    if distribution.name not in STANDARD | COUNTS or not type(distribution).__module__.startswith("scipy.stats."):
        return draws.refuse(f"{what} is not known")
    source = options.pop("random_state", None)
    source = distribution.random_state if source is None else source
    kind = next((kind for kind in (np.random.Generator, np.random.RandomState) if isinstance(source, kind)), None)
    shapes = list(filter(None, (distribution.shapes or "").replace(" ", "").split(",")))
    names = [*shapes, "loc", *(["scale"] if distribution.name in STANDARD else []), "size"]
    given = dict(zip(names, arguments, strict=False)) | options
    numbers = [value for name, value in given.items() if name != "size"]
    if kind is None or len(arguments) > len(names) or not set(shapes) <= given.keys() <= set(names):
        return draws.refuse(f"{what} with these arguments")
    is_plain = all(isinstance(one, int | float | np.number) for one in numbers)
    is_whole = distribution.name in STANDARD or given.get("loc", 0) == int(given.get("loc", 0)) if is_plain else False
    if not is_plain or not is_whole or not given.get("scale", 1) > 0:  # scipy rounds counts, and raises
        return draws.refuse(f"{what} with these arguments")
    if kind is np.random.RandomState and not _agrees(rvs, distribution):
        return draws.refuse(f"{what} is not known")
    return _moved(draws, kind, distribution.name, **given)


def _moved(
    draws: Draws, kind: type, name: str, *, loc: float = 0, scale: float = 1, size: Any = None, **shapes: float
) -> Any:
    """Return numbers of a distribution, scaled and moved."""

    def draw(method: str, *parameters: Any) -> Any:
        return draws.drawn(kind, method, parameters, {"size": size})

    if name in COUNTS:
        return COUNTS[name](draw, **shapes) + int(loc)
    made = STANDARD[name](draw) * scale + loc
    return made.of_kind(np.float64) if is_lazy(made) else made


@functools.cache
def _agrees(rvs: Callable[..., Any], distribution: Any) -> bool:
    """Return whether equal uniforms lead to the numbers of scipy, here and now."""
    if distribution.name == "norm":
        return False  # numpy's older normals are not known
    one, other = (np.random.RandomState(np.random.MT19937(SEED)) for _ in range(2))
    options: dict[str, Any] = {**EXAMPLES.get(distribution.name, {"scale": 3.0}), "loc": 2, "size": COMPARED}
    expected = rvs(distribution, **options, random_state=one)
    draws = Draws(other.random_sample, _unknown, _unknown, _unknown, _unknown)
    return bool(np.array_equal(expected, _moved(draws, np.random.RandomState, distribution.name, **options)))


def _unknown(*_: Any) -> Any:
    raise NotFollowedError("not followed: a model of scipy that draws no uniforms")
