"""The family `exponential`: select an outcome by its utility, lower is better.

Data: a vector of utilities. Outcome: the index selected. Base 2 gives index i a weight of 2^(−η·u_i), base e one of
e^(−ε·u_i/(2Δ)).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms import patterns
from mechanisms.arithmetic import rational
from mechanisms.distances import nowhere_beyond
from mechanisms.domain import Domain
from mechanisms.interface import Family
from mechanisms.patterns import Neighbours
from mechanisms.privacy import Claim, require_positive

INT64 = 1 << 63
WORDS = 1 << 20  # that members which draw one for every outcome take in half a second
RUNS_MIN = 1_000

Utilities = NDArray[Any]  # int64 or float64, shape (outcomes,)


@dataclass(frozen=True, slots=True)
class Limits:
    """Public bounds, fixed before any data are seen: utilities are clamped to them, longer vectors are refused."""

    utility_min: int
    utility_max: int
    max_outcomes: int

    def __post_init__(self) -> None:
        for name in ("utility_min", "utility_max", "max_outcomes"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"{name} must be an integer, got {value!r}")
            if name != "max_outcomes" and not -INT64 <= value < INT64:
                raise ValueError(f"{name} must fit a signed 64-bit integer, got {value}")
        if self.utility_min > self.utility_max:
            raise ValueError(f"utility_min = {self.utility_min} must not be above utility_max = {self.utility_max}")
        if self.max_outcomes < 1:
            raise ValueError(f"max_outcomes must be at least 1, got {self.max_outcomes}")


@dataclass(frozen=True, slots=True)
class ExponentialParameters:
    """What is public about a selection: the budget ε (nats), the utilities' sensitivity Δ, and their limits."""

    epsilon: float
    limits: Limits
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)


class Sensitive(Protocol):
    """Parameters of a family whose data are vectors of numbers, each of which one person moves by at most Δ."""

    @property
    def sensitivity(self) -> float:
        """Δ."""


def as_utilities(utilities: ArrayLike) -> Utilities:
    """Return the utilities as a vector of int64 or float64. Raises ValueError on anything that is not a vector of
    finite numbers within their range."""
    array = np.asarray(utilities)
    if array.ndim != 1:
        raise ValueError(f"utilities must be a vector, got shape {array.shape}")
    if array.size == 0:
        raise ValueError("utilities must not be empty, got shape (0,)")
    if array.dtype.kind == "u" and array.max() >= INT64:
        raise ValueError(f"utilities must fit a signed 64-bit integer, got {array.max()}")
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise ValueError(f"utilities must be 64-bit integers or floats, got {array.dtype} ({array.flat[0]!r}, ...)")
    if not np.isfinite(array).all():
        worst = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"utilities must be finite, got utilities[{worst}] = {array[worst]}")
    return array.astype(np.float64, copy=False)


def as_integers(utilities: ArrayLike) -> Utilities:
    """Return the utilities as a vector of int64. Raises ValueError on floats: 2^(−η·u) is no dyadic for them."""
    vector = as_utilities(utilities)
    if vector.dtype.kind != "i":
        raise ValueError("utilities must be integers with an Eta, got floats; round them or pass a budget in nats")
    return vector


def clamped(data: Utilities, parameters: ExponentialParameters) -> Utilities:
    """Return the utilities within the public limits (Ilvento 2020, Proposition 3.3)."""
    vector: Utilities = np.clip(data, parameters.limits.utility_min, parameters.limits.utility_max)
    return vector


def runs_of_words(data: Utilities, parameters: ExponentialParameters) -> int:
    """Return the runs of a member that draws a word for every outcome: 0 where so few would tell nothing."""
    runs = WORDS // max(1, len(data))
    return runs if runs >= RUNS_MIN else 0


def adjacent(parameters: Sensitive, data_in: Utilities, data_out: Utilities) -> bool:
    """Return whether two utility vectors may come from neighbouring databases: equally long, nowhere Δ apart."""
    if data_in.shape != data_out.shape or len(data_in) == 0:
        return False
    return nowhere_beyond(rational("sensitivity", parameters.sensitivity), data_in, data_out)


def claim(parameters: ExponentialParameters, data_in: Utilities, data_out: Utilities) -> Claim:
    """Return the promise of every member: ε for vectors at most Δ apart."""
    return Claim(parameters.epsilon)


def search(
    epsilon: float | None, delta: float | None, sensitivity: float | None, domain: Domain
) -> tuple[ExponentialParameters, tuple[Neighbours, ...]]:
    """Return parameters whose limits are those of the utilities tried, and the usual vectors: see `Family`."""
    allowed = 1.0 if sensitivity is None else sensitivity
    begin, step = patterns.origin(domain, allowed)
    limits = Limits(floor(begin), ceil(begin + 2 * step), patterns.LENGTH)
    return ExponentialParameters(epsilon or 1.0, limits, allowed), patterns.of_vectors(domain, begin, step)


def _outcome(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"an outcome of the family 'exponential' is an index, got {value!r}")
    return value


FAMILY: Family[Utilities, ExponentialParameters, int] = Family(
    name="exponential",
    parameters=ExponentialParameters,
    adjacent=adjacent,
    to_json=lambda utilities: utilities.tolist(),
    outcome=_outcome,
    search=search,
    members=(
        "mechanisms.exponential_naive:FLOAT64",
        "mechanisms.exponential_naive:FLOAT32",
        "mechanisms.exponential_naive:FLOAT16",
        "mechanisms.exponential_naive:POSITIVE",
        "mechanisms.exponential_naive:SHIFTED",
        "mechanisms.exponential_exact:BASE2",
        "mechanisms.exponential_exact:BASE_E",
        "mechanisms.exponential_base2_members:BASE2",
        "mechanisms.exponential_base2_members:TEN_TRIES",
        "mechanisms.exponential_base2_members:BIT_BY_BIT",
        "mechanisms.exponential_base2_members:EARLY_STOP",
        "mechanisms.exponential_base2_members:ON_DEMAND",
        "mechanisms.noisy_max_naive:FLOAT64",
        "mechanisms.noisy_max_naive:FLOAT32",
        "mechanisms.permute_and_flip:BASE2",
        "mechanisms.libraries.opendp:NOISY_MAX",
        "mechanisms.libraries.diffprivlib:EXPONENTIAL",
    ),
)
