"""Third-party mechanisms as members of our families: code that the modules here share.

A module imports its library only when a member draws. Randomness is the library's own, so rows cannot be reproduced.
The build is unknown, so members have no law. Parameters are converted to floats, as users do. JAX and PyTorch are the
exceptions: their key is ours, and few enough random bits make a number that all of them can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.additive.family import Data, GaussianParameters, LaplaceParameters, of_coordinates
from subnormal.mechanisms.core.mechanism import Outcomes, Refused
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.exponential.family import ExponentialParameters

HELD = 1 << 53  # float64 holds every integer up to here; beyond, a library may be given another number than ours
OUTCOMES_MAX = 1 << 12  # utilities beyond which a single draw takes milliseconds

Additive = LaplaceParameters | GaussianParameters


def takes_numbers(data: Data, parameters: Additive) -> bool:
    """Return whether the query is a value within ±HELD. A sum would be computed by our code, not by the library."""
    return parameters.query == "value" and all(abs(number) <= HELD for number in coordinates(data))


def takes_integers(data: Data, parameters: Additive) -> bool:
    """Return whether these are integers of integer sensitivity."""
    integers = all(isinstance(number, int) for number in coordinates(data))
    return takes_numbers(data, parameters) and integers and float(parameters.sensitivity).is_integer()


def takes_utilities(data: Utilities, parameters: ExponentialParameters) -> bool:
    """Return whether there are few enough utilities."""
    return len(data) <= OUTCOMES_MAX


def coordinates(data: Data) -> list[Any]:
    """Return the numbers of the data, as Python's own."""
    numbers: list[Any] = np.atleast_1d(data).tolist()
    return numbers


def size(data: Any) -> int:
    """Return how many numbers a number, a vector or a mapping holds."""
    return len(data) if isinstance(data, Mapping) else int(np.size(data))


def drawn(release: Callable[[], Any], n: int, kind: DTypeLike) -> Outcomes:
    """Return the outcomes of n calls as an array of that type. An exception is an outcome too: then it is a list."""
    outcomes: list[Any] = []
    refused = False
    for _ in range(n):
        try:
            outcomes.append(release())
        except Exception as error:
            refused = True
            outcomes.append(Refused(f"{type(error).__name__}: {error}"))
    return outcomes if refused else np.array(outcomes, dtype=kind)


def released(draw: Callable[[Any], Any], data: Data, n: int, kind: DTypeLike) -> Outcomes:
    """Return n results of draw for the number, shape (n,), or for each coordinate, shape (n, coordinates)."""
    numbers = coordinates(data)
    if of_coordinates(data, "value"):
        return drawn(lambda: tuple(draw(number) for number in numbers), n, kind)
    return drawn(lambda: draw(numbers[0]), n, kind)


def released_at_once(
    draw: Callable[[list[Any]], Sequence[Any]], data: Data, n: int, number: type[int] | type[float]
) -> NDArray[Any]:
    """Return the same from one call that adds noise to each number of a long list on its own."""
    numbers = [number(one) for one in coordinates(data)]
    flat = np.array(draw(numbers * n), dtype=np.int64 if number is int else np.float64)
    return flat.reshape(n, len(numbers)) if of_coordinates(data, "value") else flat


def up_to(runs: int, least: int = 1) -> Callable[[Any, Any], int]:
    """Return `Mechanism.runs` for a member that draws that many numbers in about half a second.

    Data of fewer than `least` numbers take as long as that many.
    """
    return lambda data, parameters: max(1, runs // max(least, size(data)))
