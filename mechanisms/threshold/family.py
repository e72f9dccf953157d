"""The family `threshold`: noise on every value of a mapping whose keys are private, and only what passes is released.

Data: a mapping from key to number; the keys are those that somebody holds, and nobody knows them beforehand. Outcome: a
mapping too, as its sorted items: keys whose noisy value is at least the threshold T > 0 (at most T, for T < 0), with
that value. A key that one person alone holds must not be released but with probability δ.

Two mappings are adjacent when they differ in at most Δ₀ keys, by at most Δ_∞ in any one and at most Δ₁ (Gaussian
noise: Δ₂) in total; a key that one of them does not have counts as 0 there, and as one of the Δ₀ even where its value
is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor, log
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.domain import Domain
from subnormal.mechanisms.core.input_patterns import Neighbours, mappings, placed
from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.numerics.grid import l1_steps, l2_steps_squared, to_steps
from subnormal.mechanisms.numerics.mpfr import float_up, plain, rational
from subnormal.mechanisms.privacy import Eta, require_positive
from subnormal.mechanisms.samplers.float_weights import Rate

Key: TypeAlias = Any  # hashable, and sortable among the keys of a mapping; a string where JSON is to be spoken
Data: TypeAlias = Mapping[Key, Any]
Released: TypeAlias = tuple[tuple[Key, int | float], ...]
Noise = Literal["laplace", "gaussian"]
Values = Literal["float64", "float32", "int64", "int32"]
Sensitivities = tuple[int, float, float]  # Δ₀, Δ₁ or Δ₂, Δ_∞

FINEST = (
    -1074
)  # 2^−1074 is the least positive binary64: every float is a multiple, and rounding to the grid costs nothing
GRID_MAX = 62
INT32 = (1 << 31) - 1
USUAL_DELTA = 1e-5  # of a search
WIDE = 1 << 61  # steps from which on numbers are Python's integers


@dataclass(frozen=True, slots=True)
class ThresholdParameters:
    """What is public about a release. All is in the units of the values.

    noise: "laplace" of scale `scale` (an Eta: base 2, its rate a grid step), or "gaussian" with σ = scale. threshold:
    T > 0 keeps what is at least T, T < 0 what is at most T. values: their type, in which exact members release them,
    saturated. grid: the exponent k of the granularity 2^k of float values; integers are on that of 1, whatever it says.
    limit: the magnitude at which exact members saturate, at the type's own limits where not given; with it their law
    can be written down. Naive members ignore grid and limit, as they do.
    """

    noise: Noise
    scale: float | Eta
    threshold: float
    values: Values = "int64"
    sensitivities: Sensitivities = (1, 1, 1)
    grid: int = FINEST
    limit: float | None = None

    def __post_init__(self) -> None:
        if self.noise not in ("laplace", "gaussian"):
            raise ValueError(f"noise must be 'laplace' or 'gaussian', got {self.noise!r}")
        if self.values not in ("float64", "float32", "int64", "int32"):
            raise ValueError(f"values must be 'float64', 'float32', 'int64' or 'int32', got {self.values!r}")
        if not isinstance(self.scale, Eta):
            require_positive("scale", plain("scale", self.scale))
        elif self.noise == "gaussian":
            raise ValueError(f"scale must be a number for gaussian noise, got {self.scale}")
        if not isinstance(self.grid, int) or isinstance(self.grid, bool) or not FINEST <= self.grid <= GRID_MAX:
            raise ValueError(f"grid must be an integer from {FINEST} to {GRID_MAX}, got {self.grid!r}")
        if plain("threshold", self.threshold) == 0:
            raise ValueError("threshold must be positive, to keep what is at least it, or negative, got 0")
        if self.integers and not float(self.threshold).is_integer():
            raise ValueError(f"threshold must be an integer for {self.values} values, got {self.threshold}")
        if self.limit is not None and rational("limit", self.limit) < abs(rational("threshold", self.threshold)):
            raise ValueError(f"limit = {self.limit} must not be below the threshold, {self.threshold}")
        if abs(self.threshold) > self.most:
            raise ValueError(f"threshold must be a number of type {self.values}, got {self.threshold}")
        checked(self.sensitivities)

    @property
    def integers(self) -> bool:
        """Whether values are integers."""
        return self.values.startswith("int")

    @property
    def step(self) -> int:
        """The exponent of the grid that values and noise are on."""
        return 0 if self.integers else self.grid

    @property
    def most(self) -> int | float:
        """The largest number of the type, where released values saturate; integers have one below −most, too."""
        if self.integers:
            return (1 << (31 if self.values == "int32" else 63)) - 1
        return (2.0**24 - 1) * 2.0**104 if self.values == "float32" else (2.0**53 - 1) * 2.0**971

    @property
    def rate(self) -> Rate:
        """How Laplace noise falls with each step of the grid, exactly."""
        return self.scale if isinstance(self.scale, Eta) else Fraction(2) ** self.step / rational("scale", self.scale)

    @property
    def sigma(self) -> Fraction:
        """The σ of Gaussian noise, in steps of the grid, exactly."""
        if isinstance(self.scale, Eta):
            raise TypeError("scale is an Eta: laplace noise has no σ")
        return rational("scale", self.scale) / Fraction(2) ** self.step

    @property
    def threshold_steps(self) -> int:
        """|T| in steps of the grid: the least number of them that is released, for T < 0 of minus the values."""
        return ceil(abs(rational("threshold", self.threshold)) / Fraction(2) ** self.step)


def checked(sensitivities: Sensitivities) -> tuple[int, Fraction, Fraction]:
    """Return the three sensitivities as the numbers that they are. Raises ValueError where they are none."""
    if len(sensitivities) != 3:
        raise ValueError(f"sensitivities must be three: keys, in total, and in any one; got {sensitivities}")
    keys = plain("sensitivities", sensitivities[0])
    total, most = (rational("sensitivities", one) for one in sensitivities[1:])
    if not isinstance(keys, int) or keys < 0 or total < 0 or most < 0:
        raise ValueError(f"sensitivities must not be negative, the first of them an integer; got {sensitivities}")
    return keys, total, most


def steps_apart(parameters: ThresholdParameters, sensitivities: Sensitivities) -> tuple[int, Fraction, int]:
    """Return Δ₀, and how far adjacent mappings lie apart on the grid: Δ₁ or Δ₂² in total and Δ_∞, in steps.

    Redundant bounds are tightened: Δ_∞ ≤ Δ₁ ≤ Δ₀·Δ_∞, and Δ_∞² ≤ Δ₂² ≤ Δ₀·Δ_∞². Rounding moves each changed key by less
    than a step more, so Δ₁ becomes ⌈Δ₁⌉ + Δ₀ − 1 at the most, and Δ₂ grows by less than √Δ₀; nothing, where every value
    is on the grid already.
    """
    keys, total, most = checked(sensitivities)
    if keys == 0:
        return 0, Fraction(0), 0
    unit = Fraction(2) ** parameters.step
    on_grid = parameters.integers or parameters.grid == FINEST
    most = min(most, total)
    steps = floor(most / unit) if on_grid else ceil(most / unit)
    if parameters.noise == "laplace":
        total = min(total, keys * most)
        apart = Fraction(floor(total / unit) if on_grid else l1_steps(total, parameters.grid, keys))
        return keys, min(apart, Fraction(keys * steps)), steps
    exact = total**2 / unit**2
    apart = Fraction(floor(exact)) if on_grid else l2_steps_squared(total, parameters.grid, keys)
    return keys, min(apart, Fraction(keys * steps**2)), steps


def vector(values: Sequence[Any], parameters: ThresholdParameters) -> NDArray[Any]:
    """Return values in steps of the grid, integers saturated at their type's limits, shape (values,).

    int64 where all of them lie between ±2^61, so that sums with noise fit; else Python's integers. Raises ValueError
    where one is no finite number, or no integer where the type is one.
    """
    if parameters.integers and set(map(type, values)) == {int} and -WIDE < min(values) <= max(values) < WIDE:
        return np.array(values, dtype=np.int64).clip(-int(parameters.most) - 1, int(parameters.most))
    steps = [_steps(value, parameters) for value in values]
    return np.fromiter(steps, np.int64 if all(-WIDE < step < WIDE for step in steps) else object, len(steps))


def _steps(value: Any, parameters: ThresholdParameters) -> int:
    number = plain("value", value)
    if not parameters.integers:
        steps = to_steps(number, parameters.grid)
        # The claim counts no rounding on the grid of all floats (`steps_apart`).
        if parameters.grid == FINEST and isinstance(number, Fraction) and steps * Fraction(2) ** FINEST != number:
            raise ValueError(f"value must be a multiple of 2^{FINEST}, as every float is, got {value!r}")
        return steps
    if not isinstance(number, int):
        raise ValueError(f"value must be an integer for {parameters.values} values, got {value!r}")
    return max(-int(parameters.most) - 1, min(int(parameters.most), number))


def adjacent(parameters: ThresholdParameters, data_in: Data, data_out: Data) -> bool:
    """Return whether the mappings are as near as the parameters' sensitivities say, compared exactly."""
    keys, total, most = checked(parameters.sensitivities)
    shared = data_in.keys() & data_out.keys()
    apart = [abs(rational("value", data_in[key]) - rational("value", data_out[key])) for key in shared]
    apart = [distance for distance in apart if distance]
    alone = (data[key] for data in (data_in, data_out) for key in data.keys() - shared)
    apart += [abs(rational("value", value)) for value in alone]
    order = 1 if parameters.noise == "laplace" else 2
    moved = sum((distance**order for distance in apart), Fraction(0))
    return len(apart) <= keys and moved <= total**order and all(distance <= most for distance in apart)


def _to_json(data: Data) -> object:
    for key in data:
        if not isinstance(key, str):
            raise ValueError(f"keys must be strings where JSON is spoken, got {key!r}")
    return dict(data)


def search(
    epsilon: float | None, delta: float | None, sensitivity: float | None, domain: Domain
) -> tuple[ThresholdParameters, tuple[Neighbours, ...]]:
    """Return Laplace noise of scale Δ/ε and a threshold for δ, and mappings about that threshold: see `Family`.

    On integers and floats alike P(noise ≥ T − Δ) ≤ e^(−(T−Δ)·ε/Δ), which is δ at T = Δ·(1 + ln(1/δ)/ε); T is the next
    multiple of Δ. One person moves one key, by Δ. Raises ValueError for a δ of 0, and where no integers are Δ apart.
    """
    allowed, budget = plain("sensitivity", 1.0 if sensitivity is None else sensitivity), epsilon or 1.0
    integers = domain.kind is int
    if integers and not float(allowed).is_integer():
        raise ValueError(f"sensitivity must be an integer for integers, got {allowed}")
    if delta == 0:
        raise ValueError("delta must be above 0 for a threshold, got 0.0")
    step = int(allowed) if integers else float(allowed)
    threshold = step * ceil(1 + log(1 / (delta or USUAL_DELTA)) / budget)
    small = domain.lower >= -INT32 - 1 and domain.upper <= INT32
    values: Values = "float64" if not integers else "int32" if small else "int64"
    scale = float_up(Fraction(step) / Fraction(budget))
    parameters = ThresholdParameters("laplace", scale, threshold, values, (1, step, step))
    return parameters, placed(domain, step, partial(mappings, threshold=threshold))


def _outcome(value: object) -> Released:
    if isinstance(value, tuple | list) and all(isinstance(item, tuple | list) and len(item) == 2 for item in value):
        value = dict(value)
    if not isinstance(value, dict):
        raise ValueError(f"an outcome of a thresholded release is an object of keys and numbers, got {value!r}")
    for number in value.values():
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise ValueError(f"an outcome of a thresholded release has numbers as its values, got {number!r}")
    return tuple(sorted(value.items()))


FAMILY: Family[Data, ThresholdParameters, Released] = Family(
    name="threshold",
    parameters=ThresholdParameters,
    adjacent=adjacent,
    to_json=_to_json,
    outcome=_outcome,
    search=search,
    members=(
        "subnormal.mechanisms.threshold.naive:FLOAT64",
        "subnormal.mechanisms.threshold.naive:FLOAT32",
        "subnormal.mechanisms.threshold.naive:ROUNDED_FIRST",
        "subnormal.mechanisms.threshold.naive:OPEN_TAIL",
        "subnormal.mechanisms.threshold.exact:EXACT",
        "subnormal.mechanisms.libraries.opendp:THRESHOLD",
    ),
)
