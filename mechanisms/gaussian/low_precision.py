"""Gaussian noise in bfloat16, float16 and float32 from few random bits, as array libraries draw it. Not private.

The noise takes at most one value for each word of 7, 10, 23, 16 or 22 bits (`samplers.float_normals`), so the law of a
number is written down by trying every word. Released is value + σ·normal in the float type.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.additive.family import Data, GaussianParameters, gaussian_claim
from subnormal.mechanisms.additive.float_sums import float_member
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.samplers import float_normals
from subnormal.mechanisms.samplers.float_normals import FloatNormal, Floats, law_of_normals, noisy

KEPT = 2  # laws, of 100 MB or so each in float32: those of both worlds


def sample(value: ArrayLike, sigma: float, bits: BitSource, n: int, *, normal: FloatNormal) -> Floats:
    """Return n times value + noise in the float type, as float32, shape (n,), or (n, coordinates) for a vector.

    Coordinates take the normals of a word in order; those of the last word that are left over are discarded.
    Raises ValueError for a negative n, and for a σ that is not positive and finite.
    """
    require_draws(n)
    require_positive("sigma", sigma)
    vector = np.asarray(value)
    each = -(-vector.size // normal.normals)  # words a draw
    noise = normal.draw(bits, n * each).reshape(n, each * normal.normals)[:, : vector.size]
    return noisy(vector, sigma, noise.reshape(n, *vector.shape), normal.float_type)


def law(value: float, sigma: float, *, normal: FloatNormal) -> Law[float]:
    """Return the exact distribution of `sample` for a number, over 2^bits. The atoms ascend; −0 is not among them."""
    require_positive("sigma", sigma)
    return _law(float(value), float(sigma), normal)


@lru_cache(maxsize=KEPT)
def _law(value: float, sigma: float, normal: FloatNormal) -> Law[float]:
    values, counts = law_of_normals(normal)
    sums = noisy(value, sigma, values.astype(np.float32), normal.float_type)
    return law_of_sums(sums, counts, 1 << normal.bits)


def law_of_sums(sums: Floats, counts: NDArray[np.int64], strings: int) -> Law[float]:
    """Return the law of noisy values that never decrease (rounding is monotone), and the number of strings of each.

    What is not a number stays so with any noise: then all of them are NaN, one outcome.
    """
    if np.isnan(sums[0]):
        sums, counts = sums[:1], counts.sum(keepdims=True)
    sums = sums + np.float32(0)  # −0 is 0
    ends = block_ends(sums)
    weights = np.add.reduceat(counts, np.append(0, ends[:-1]))
    atoms: Any = sums[ends - 1]
    atoms.flags.writeable = False  # the law is kept
    blocks = block_ends(weights)
    return exact_law(atoms, blocks, weights[blocks - 1], strings)


def _member(name: str, normal: FloatNormal) -> Mechanism[Data, GaussianParameters, Any]:
    return float_member(
        name,
        "gaussian",
        gaussian_claim,
        np.float32,  # libraries add up bfloat16 and float16 in float32
        lambda value, parameters, bits, n: sample(value, parameters.sigma, bits, n, normal=normal),
        lambda value, parameters: law(value, parameters.sigma, normal=normal),
    )


INVERSE_BFLOAT16 = _member("gaussian-inverse-bfloat16", float_normals.INVERSE_BFLOAT16)
INVERSE_FLOAT16 = _member("gaussian-inverse-float16", float_normals.INVERSE_FLOAT16)
INVERSE_FLOAT32 = _member("gaussian-inverse-float32", float_normals.INVERSE_FLOAT32)
BOX_MULLER_BFLOAT16 = _member("gaussian-box-muller-bfloat16", float_normals.BOX_MULLER_BFLOAT16)
BOX_MULLER_FLOAT16 = _member("gaussian-box-muller-float16", float_normals.BOX_MULLER_FLOAT16)
