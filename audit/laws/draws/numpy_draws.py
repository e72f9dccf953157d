"""What numpy's generators make of their words, as Python code that lazy numbers follow.

A model is that of numpy's C code. It is compared with numpy on its first use in a process: equal uniforms must lead to
equal numbers, bit for bit. Normals and exponentials of `numpy.random.Generator` come from ziggurats, and the older
normals from points of a disc. They have words of 52 bits and more, and tables in float64, so that the share of any
interval should be that of the real distribution up to some 2^−50. This is an estimate, tried by draws and not proved.
They are quantiles of uniforms here, with `path.NEAR`, 2^−40,
counted for each of them against all that is said.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy import array, asarray  # as they are: code under audit finds others in their place

from subnormal.audit.laws.arrays import filled
from subnormal.audit.laws.draws.quantiles import exponential_quantile, normal_quantile
from subnormal.audit.laws.functions import of_lazy
from subnormal.audit.laws.lazy import is_lazy

SEARCHED = 1 / 3  # the least p of a geometric number that numpy finds by a search
INVERTED = 30.0  # the largest mean of a binomial number that numpy finds by inversion
LARGEST = 4096  # numbers in an array that is followed
COMPARED = 64  # numbers of a model and of numpy
CALLS = 1 << 10  # with different arguments, whose draws are remembered

log, log1p = of_lazy(math.log, 1), of_lazy(math.log1p, 1)
Uniform = Callable[[], Any]  # what returns a uniform of 53 bits


@dataclass(frozen=True, slots=True)
class Model:
    """one: a number from uniforms and parameters. parameters: of a call, from its arguments. example: parameters for
    which it is compared with numpy. kinds: of generators that draw so."""

    one: Callable[..., Any]
    parameters: Callable[..., tuple[Any, ...]]
    example: tuple[Any, ...] = ()
    kinds: tuple[type, ...] = (np.random.Generator, np.random.RandomState)


def _laplace(uniform: Uniform, location: float, scale: float) -> Any:
    def rising(u: float) -> float:
        return location - scale * math.log(2.0 - u - u) if u >= 0.5 else location + scale * math.log(u + u)

    return _inverse(uniform, rising, ("laplace", repr(location), repr(scale)))


def _gumbel(uniform: Uniform, location: float, scale: float) -> Any:
    while True:
        u = 1.0 - uniform()
        if u < 1.0:
            return location - scale * log(-log(u))


def _logistic(uniform: Uniform, location: float, scale: float) -> Any:
    def rising(u: float) -> float:
        return location + scale * math.log(u / (1.0 - u))

    return _inverse(uniform, rising, ("logistic", repr(location), repr(scale)))


def _inverse(uniform: Uniform, rising: Callable[[float], float], key: Hashable) -> Any:
    """Return a function of a uniform that is not 0. It rises, and is one piece: no comparison in it splits the path."""
    while True:
        u = uniform()
        if u > 0.0:
            return u.unary(rising, 1, key, float) if is_lazy(u) else rising(u)


def _standard_exponential(uniform: Uniform) -> Any:
    return -log(1.0 - uniform())


def _exponential(uniform: Uniform, scale: float) -> Any:
    return scale * _standard_exponential(uniform)


def _between(uniform: Uniform, low: float, high: float) -> Any:
    return low + (high - low) * uniform()


def _random(uniform: Uniform) -> Any:
    return uniform()


class EndlessError(Exception):
    """numpy would search for ever: the sum of the probabilities ends below the uniform."""


def _searched(uniform: Uniform, p: float) -> Any:
    totals, u = _totals(p), uniform()
    if u > totals[-1]:
        raise EndlessError

    def rising(u: float) -> int:
        return bisect.bisect_left(totals, u) + 1

    return u.unary(rising, 1, ("searched", p), int) if is_lazy(u) else rising(u)


@functools.lru_cache(maxsize=64)
def _totals(p: float) -> list[float]:
    """Return the probabilities of at most 1, 2, … of a geometric number, as numpy adds them up."""
    total, probability, totals = p, p, [p]
    while True:
        probability *= 1.0 - p
        if total + probability == total:
            return totals
        total += probability
        totals.append(total)


def _geometric(uniform: Uniform, p: float) -> Any:
    return _searched(uniform, p) if p >= SEARCHED else math.ceil(log1p(-uniform()) / math.log(1.0 - p))


def _binomial(uniform: Uniform, n: int, p: float) -> Any:
    if p > 0.5:
        return n - _binomial(uniform, n, 1.0 - p)
    if n == 0 or p == 0.0:
        return 0
    q = 1.0 - p
    least, most = math.exp(n * math.log(q)), int(min(float(n), n * p + 10.0 * math.sqrt(n * p * q + 1)))
    while True:
        u, count, probability = uniform(), 0, least
        while u > probability and count < most:
            count += 1
            u = u - probability
            probability = ((n - count + 1) * p * probability) / (count * q)
        if not u > probability:
            return count


def _scaled(scale: Any = 1.0, size: Any = None) -> tuple[Any, ...]:
    return (scale,)


def _none(*shape: Any, size: Any = None) -> tuple[Any, ...]:
    return ()


def _loc_scale(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, ...]:
    return loc, scale


OLD = (np.random.RandomState,)
OF_TYPE = ("random", "standard_normal", "standard_exponential")  # whose second argument is the type of the floats
RAREST = 2.0**-40  # of a geometric number, which numpy cuts off at 2^63
MODELS = {
    "laplace": Model(_laplace, _loc_scale, (1.5, 2.5)),
    "gumbel": Model(_gumbel, _loc_scale, (1.5, 2.5)),
    "logistic": Model(_logistic, _loc_scale, (1.5, 2.5)),
    "exponential": Model(_exponential, _scaled, (2.5,), OLD),
    "standard_exponential": Model(_standard_exponential, _none, (), OLD),
    "uniform": Model(_between, lambda low=0.0, high=1.0, size=None: (low, high), (-1.5, 2.5)),
    **{name: Model(_random, _none) for name in ("random", "random_sample", "rand")},
    "geometric": Model(_geometric, lambda p, size=None: (p,), (0.2,), OLD),
    "binomial": Model(_binomial, lambda n, p, size=None: (n, p), (7, 0.7)),
}
QUANTILES = {  # of Generator, from ziggurats
    "normal": Model(lambda quantile, mean, scale: mean + scale * quantile(normal_quantile), _loc_scale),
    "standard_normal": Model(lambda quantile: quantile(normal_quantile), _none),
    "exponential": Model(lambda quantile, scale: scale * quantile(exponential_quantile), _scaled),
    "standard_exponential": Model(lambda quantile: quantile(exponential_quantile), _none),
    "geometric": Model(
        lambda quantile, p: math.ceil(quantile(exponential_quantile) / -math.log1p(-p)), MODELS["geometric"].parameters
    ),
}
OLD_NORMALS = {name: QUANTILES[name] for name in ("normal", "standard_normal")} | {
    "randn": QUANTILES["standard_normal"]
}
SEARCH = Model(_searched, MODELS["geometric"].parameters, (0.4,))  # of a geometric number with a large p


class Draws:
    """Numbers of numpy's generators, lazy or plain, from one source.

    uniform, quantile, below: of the source: a uniform of 53 bits, a quantile of a uniform, and an integer below a size.
    refuse: says that the function is not followed. stop: ends the path, with an outcome that stays unknown.
    """

    def __init__(
        self,
        uniform: Uniform,
        quantile: Callable[[Callable[[Any], Any]], Any],
        below: Callable[[int], Any],
        refuse: Callable[[str], NoReturn],
        stop: Callable[[], NoReturn],
    ) -> None:
        self.uniform, self.quantile, self.below, self.refuse, self.stop = uniform, quantile, below, refuse, stop
        kinds: tuple[Callable[..., Any], ...] = (np.random.Generator, np.random.RandomState)
        self.others = {kind: kind(np.random.MT19937(0)) for kind in kinds}
        self._own: dict[str, Callable[..., Any]] = {
            "integers": self._integers,
            "randint": self._integers,
            "choice": self._choice,
            "permutation": self._permutation,
        }
        self._known: dict[Hashable, Callable[[], Any]] = {}

    def drawn(self, kind: type, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return what the method with this name returns."""
        if any(map(is_lazy, (*arguments, *options.values()))):
            self.refuse(f"{_what(kind, name)} with random arguments")
        if name == "shuffle":
            if options or len(arguments) != 1 or not isinstance(arguments[0], list | np.ndarray):
                self.refuse(f"{_what(kind, name)} with these arguments")
            return self._shuffle(*arguments)
        given = (
            *enumerate(arguments),
            *options.items(),
        )  # 0.0 and −0.0 are equal, and draw other numbers, as 1 and 1.0
        key = (kind, name, *((place, type(value), repr(value)) for place, value in given))
        try:
            draw = None if hash((*arguments, *options.values())) is None else self._known.get(key)
        except TypeError:  # arguments that may change
            draw = self._draw(kind, name, arguments, options)
        if draw is None:
            if len(self._known) >= CALLS:
                self._known.clear()
            draw = self._known[key] = self._draw(kind, name, arguments, options)
        try:
            return draw()
        except EndlessError:
            self.stop()
        except TypeError:
            self.refuse(f"{_what(kind, name)} with these arguments")

    def _draw(self, kind: type, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Callable[[], Any]:
        """Return what draws for such a call."""
        if name not in self._own | MODELS | QUANTILES | OLD_NORMALS:
            self.refuse(f"{_what(kind, name)} is not known")
        # Another generator refuses bad arguments as this one would, and says which type and shape the result has.
        like = getattr(self.others[kind], name)(*arguments, **options)
        if name in self._own:
            return functools.partial(self._own[name], like, *arguments, **options)
        if kind is np.random.Generator and name in OF_TYPE and (len(arguments) > 1 or options.keys() - {"size"}):
            self.refuse(f"{_what(kind, name)} with these arguments")
        try:
            model = _model(kind, name, arguments, options)
            parameters = () if model is None else model.parameters(*arguments, **options)
            if name != "binomial":  # of integers, numpy makes floats first
                parameters = tuple(asarray(one, dtype=np.float64) for one in parameters)
        except TypeError:  # arguments that are not known here
            self.refuse(f"{_what(kind, name)} with these arguments")
        if model is None:
            self.refuse(f"{_what(kind, name)} is not known")
        source = self.quantile if model in QUANTILES.values() else self.uniform
        return functools.partial(self._of_shape, like, parameters, functools.partial(model.one, source))

    def _of_shape(self, like: Any, parameters: Sequence[Any], one: Callable[..., Any]) -> Any:
        """Return a number for each set of parameters, in the type and the shape of a result."""
        if not isinstance(like, np.ndarray):
            made = one(*(getattr(value, "item", lambda value=value: value)() for value in parameters))
            if not is_lazy(made):
                return type(like)(made)
            if type(like) not in (int, float, np.int64, np.float64):
                self.refuse(f"random numbers of type {type(like).__name__}")
            return made.of_kind(type(like))
        if like.size > LARGEST:
            self.refuse(f"{like.size:,} random numbers in one array")
        if like.dtype not in (np.int64, np.float64):
            self.refuse(f"random numbers of type {like.dtype}")
        rows = zip(*(np.broadcast_to(value, like.shape).ravel().tolist() for value in parameters), strict=True)
        made = [one(*row) for row in (rows if parameters else [()] * like.size)]
        made = [value.of_kind(like.dtype.type) if is_lazy(value) else value for value in made]
        return filled(made, like.shape, like.dtype)

    def _integers(
        self, like: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False
    ) -> Any:
        first, end = (0, low) if high is None else (low, high)
        if not all(np.issubdtype(asarray(one).dtype, np.integer) for one in (first, end)):
            self.refuse("random integers between numbers that are none")
        return self._of_shape(like, (first, end), lambda least, most: least + self.below(most - least + bool(endpoint)))

    def _choice(self, like: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        if np.size(like) > 1 and not replace:
            self.refuse("a choice without replacement")
        values = np.arange(a) if isinstance(a, int | np.integer) else asarray(a)
        ends = None if p is None else np.cumsum(asarray(p, dtype=np.float64))

        def one() -> Any:
            if ends is None:
                return values[int(self.below(len(values)))]
            return values[bisect.bisect_right((ends / ends[-1]).tolist(), self.uniform())]

        if size is None:
            return type(like)(one()) if isinstance(like, int) else one()
        chosen = array(
            [one() for _ in range(math.prod(np.shape(like)[: np.ndim(like) - values.ndim + 1]))], dtype=values.dtype
        )
        return chosen.reshape(np.shape(like))

    def _permutation(self, like: Any, x: Any) -> Any:
        return (
            like * 0 + array(self._order(len(like)))
            if isinstance(x, int | np.integer)
            else asarray(x)[self._order(len(x))]
        )

    def _shuffle(self, x: Any) -> None:
        x[:] = [x[at] for at in self._order(len(x))] if isinstance(x, list) else x[self._order(len(x))]

    def _order(self, size: int) -> list[int]:
        """Return a uniform order: any algorithm that draws each of them equally often has this law."""
        left, order = list(range(size)), []
        while left:
            order.append(left.pop(int(self.below(len(left)))))
        return order


def _what(kind: type, name: str) -> str:
    return f"numpy.random.{kind.__name__}.{name}"


def _model(kind: type, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Model | None:
    """Return the model of a method, which may depend on its arguments; None where there is none."""
    found = MODELS.get(name)
    parameters = [] if found is None else list(map(asarray, found.parameters(*arguments, **options)))
    if name == "geometric" and np.all(parameters[0] >= SEARCHED):
        found = SEARCH
    if name == "geometric" and np.any(parameters[0] < RAREST):
        return None
    if name == "binomial" and np.any(parameters[0] * np.minimum(parameters[1], 1.0 - parameters[1]) > INVERTED):
        return None
    if found is not None and kind in found.kinds and _agrees(kind, name, found):
        return found
    return (QUANTILES if kind is np.random.Generator else OLD_NORMALS).get(name)


@functools.cache
def _agrees(kind: type, name: str, model: Model) -> bool:
    """Return whether equal uniforms lead to the numbers of numpy, here and now: C compilers and libraries differ."""
    one, other = (kind(np.random.MT19937(1)) for _ in range(2))
    uniform: Uniform = other.random_sample if isinstance(other, np.random.RandomState) else other.random
    expected = [getattr(one, name)(*model.example) for _ in range(COMPARED)]
    return expected == [model.one(uniform, *model.example) for _ in range(COMPARED)]
