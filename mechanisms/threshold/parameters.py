"""What is public about a thresholded release: its parameters, its sensitivities, and values on its grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.numerics.grid import l1_steps, l2_steps_squared, to_steps
from subnormal.mechanisms.numerics.mpfr import plain, rational
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
WIDE = 1 << 61  # steps from which on numbers are Python's integers


@dataclass(frozen=True, slots=True)
class ThresholdParameters:
    """What is public about a release. All is in the units of the values.

    noise: "laplace" of scale `scale` (an Eta: base 2, its rate a grid step), or "gaussian" with σ = scale. threshold:
    T > 0 keeps values from T up, T < 0 values from T down. values: their type, in which exact members release them,
    saturated. grid: the exponent k of the granularity 2^k of float values; integers are on that of 1, whatever it says.
    limit: the magnitude at which exact members saturate, at the type's own limits where not given; with it their law
    can be written down. Naive members ignore grid and limit. Raises ValueError for a field outside its
    range, named in the message.
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
        """The σ of Gaussian noise, in steps of the grid, exactly. Raises TypeError where the scale is an Eta."""
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
    than a step more, so Δ₁ becomes ⌈Δ₁⌉ + Δ₀ − 1 at most, and Δ₂ grows by less than √Δ₀; nothing, where every value
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
