"""Outcomes of replays: as everywhere, but that arrays and tensors of floats stay arrays, however long they are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_paths import Path, leaves
from subnormal.audit.check.function import Function
from subnormal.audit.randomness.arrays import as_numpy, is_tensor
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.core.outcome_identity import identity

Floats = NDArray[np.float64]
EXACT = 2.0**-46  # relative: what a few operations on floats make of a number
ROUNDINGS = {"float64": EXACT, "float32": 2.0**-21, "float16": 2.0**-8, "bfloat16": 2.0**-5}  # the same, by their type


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """An outcome with arrays of floats. rest: the others of its parts, with an array's type and shape in its place.

    numbers: of each array, by its path, flat. shapes: of each. rounding: relative, of each.
    """

    rest: Any
    numbers: dict[Path, Floats]
    shapes: dict[Path, tuple[int, ...]]
    rounding: dict[Path, float]


def outcome_of(function: Function, data: Any) -> Any:
    """Return the outcome of one run, as `Arrays` where it holds arrays of floats and is not rounded to a grid."""
    if function.batch or function.grid is not None:
        return function.outcome(data)
    return with_arrays(function.returned(data))


def with_arrays(released: Any) -> Any:
    """Return a released value as an outcome, or as `Arrays`."""
    found = Arrays(None, {}, {}, {})
    rest = _without_arrays(released, (), found)
    return Arrays(as_outcome(rest), found.numbers, found.shapes, found.rounding) if found.numbers else as_outcome(rest)


def key_of(outcome: Any) -> Any:
    """Return what is equal for equal outcomes alone."""
    if not isinstance(outcome, Arrays):
        return identity(outcome)
    parts = ((path, hashlib.blake2b(numbers.data).digest()) for path, numbers in outcome.numbers.items())
    return (identity(outcome.rest), *parts)


def leaves_of(outcome: Any) -> dict[Path, Any]:
    """Return the parts of an outcome that lie in no array, and of each array its type and shape."""
    return leaves(outcome.rest if isinstance(outcome, Arrays) else outcome)


def arrays_of(outcome: Any) -> dict[Path, Floats]:
    """Return the arrays of an outcome by their paths, flat."""
    return outcome.numbers if isinstance(outcome, Arrays) else {}


def _without_arrays(released: Any, path: Path, found: Arrays) -> Any:
    kind = type(released)
    if kind in (list, tuple) and not any(isinstance(one, str) for one in released):
        return [_without_arrays(one, (*path, place), found) for place, one in enumerate(released)]
    if kind is dict and released and all(isinstance(key, str) for key in released):
        return {key: _without_arrays(one, (*path, key), found) for key, one in released.items()}
    dtype = str(getattr(released, "dtype", "")).removeprefix("torch.")
    is_array = kind is np.ndarray or is_tensor(released) or hasattr(released, "addressable_shards")  # of jax
    if not is_array or dtype not in ROUNDINGS or 0 in released.shape:
        return released
    found.numbers[path] = as_numpy(released).astype(np.float64, copy=False).ravel()
    found.shapes[path], found.rounding[path] = tuple(released.shape), ROUNDINGS[dtype]
    return f"{dtype} {tuple(released.shape)}"
