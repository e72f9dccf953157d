"""Sensitivity underestimation: one changed record moves a float sum many times further than a real sum.

Noise is scaled to the sensitivity of a sum of real numbers: U − L if a record in [L, U] is replaced, the largest
magnitude if one is added. Floats round every partial sum, so one record can change the rounding of one addition
(`rounding_worlds`) or of all that follow (`repeated_rounding_worlds`). Both are deterministic.

Source: Casacuberta, Shoemate, Vadhan, Wagaman 2022 (arXiv:2207.10635).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.mechanisms.additive.family import LaplaceParameters, exact_values
from subnormal.mechanisms.additive.float_sums import sequential

SOURCE = "Casacuberta et al. 2022 (arXiv:2207.10635)"
RECORDS = 1 << 16  # of each of two kinds
STEPS = 256  # of the grid, on both sides of the exact sum: the bounds of exact members

Records = NDArray[Any]


class Worlds(NamedTuple):
    """Two adjacent vectors of records, and the sensitivity of their sum in real numbers."""

    data_in: Records
    data_out: Records
    claimed: Fraction


def rounding_worlds(bits: int = 17, float_type: DTypeLike = np.float32) -> Worlds:
    """Return 2^bits + 1 records at L = ½(1 + 2^(bits−q) − 2^(1−q)), with Alice the last of them at U = L + 2^−q.

    q is the type's precision. The sum of all but the last lies above 2^(bits−1), where floats lie 2^(bits−q) apart, and
    the last record is rounded down at L and up at U: sequential sums move by 2^bits times the sensitivity. The exact
    sums lie below a midpoint of two floats and on it, a tie that is rounded up: correctly rounded sums move as far.
    Raises ValueError for bits outside 3 … q − 1.
    """
    kind = np.dtype(float_type).type
    digits = int(np.finfo(kind).nmant) + 1
    if not 2 < bits < digits:
        raise ValueError(f"bits must lie between 2 and {digits} in {np.dtype(float_type).name}, got {bits}")
    upper = (1 + 2.0 ** (bits - digits)) / 2
    lower = upper - 2.0**-digits
    data_out = np.full((1 << bits) + 1, lower, dtype=kind)
    data_in = data_out.copy()
    data_in[-1] = upper
    return Worlds(data_in, data_out, Fraction(1, 1 << digits))


def repeated_rounding_worlds() -> Worlds:
    """Return float32 records in [−3·2^−10, 1]: 2^16 ones, with Alice one more, then 2^16 times −3·2^−10.

    Below 2^16 floats lie 2^−8 apart, and each −¾·2^−8 is rounded to −2^−8. Above they lie 2^−7 apart, and it is lost.
    The sequential sums are 2^16 − 256 and 2^16 + 1, the exact ones 65,344 and 65,345: the claimed sensitivity is 1.
    """
    data_out = np.repeat(np.array([1, -3 * 2.0**-10], dtype=np.float32), RECORDS)
    return Worlds(np.insert(data_out, RECORDS, 1), data_out, Fraction(1))


@constructor("sensitivity-rounding")
def sensitivity_rounding(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack by the rounding of one addition: the sum moves by 2^17 times the sensitivity.

    Noise for that sensitivity is below half a unit in the last place of the sum, so it is absorbed.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    description = "2^17 + 1 records, the last one float higher with Alice: one rounding moves the sum 2^17 times as far"
    return _attack(name, rounding_worlds(), epsilon, -24, description)


@constructor("sensitivity-rounding-float64")
def sensitivity_rounding_float64(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack on float64 sums by 65 records: the sum moves by 2^6 times the sensitivity.

    numpy's sum moves as far, because it adds the last record separately. Exact members round to the grid 2^−47 of the
    floats around the sum, where noise is scaled to a whole step.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    worlds = rounding_worlds(6, np.float64)
    records = float(worlds.data_out[-1]), float(worlds.data_in[-1])
    description = "65 records, the last one float higher with Alice: one rounding moves the sum 64 times as far"
    beyond = sequential(worlds.data_in, np.float64)
    return _attack(name, worlds, epsilon, -47, description, Between(beyond, np.inf), ("diffprivlib-sum",), records)


@constructor("sensitivity-repeated-rounding")
def sensitivity_repeated_rounding(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack by roundings that all go the same way: the sum moves by 257 times the sensitivity.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    description = "with Alice's 1 the partial sums stay above 2^16, where floats absorb 2^16 small negative records"
    return _attack(name, repeated_rounding_worlds(), epsilon, 0, description)


def _attack(
    name: str,
    worlds: Worlds,
    epsilon: float,
    grid: int,
    description: str,
    event: Between | None = None,
    breaks: tuple[str, ...] = ("laplace-naive-float32",),
    record_bounds: tuple[float, float] | None = None,
) -> AnyAttack:
    """event: by default, the outcome lies above the middle of the two sequential float32 sums."""
    step = Fraction(2) ** grid
    centre = round(exact_values(worlds.data_out, "sum")[0] / step) * step
    parameters = LaplaceParameters(
        epsilon=epsilon,
        sensitivity=float(worlds.claimed),
        query="sum",
        grid=grid,
        lower=float(centre - STEPS * step),
        upper=float(centre + STEPS * step),
        record_bounds=record_bounds,
    )
    middle = (sequential(worlds.data_in, np.float32) + sequential(worlds.data_out, np.float32)) / 2
    return Attack(
        name=name,
        family="laplace",
        worlds=lambda: (worlds.data_in, worlds.data_out),
        parameters=parameters,
        event=event or Between(middle, np.inf),
        breaks=breaks,
        source=SOURCE,
        description=description,
    )
