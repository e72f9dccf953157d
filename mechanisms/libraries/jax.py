"""JAX (https://docs.jax.dev): value + σ·jax.random.normal on a CPU, in bfloat16, float16 and float32.

JAX promises no privacy (`enumerated_normals`).

The generator's key is 64 bits of ours, so rows can be reproduced. The law is found by JAX's own operations: a generator
that hands out 0, 1, 2, … takes the place of its own, and so `jax.random.normal` returns the normal of every word. What
the law takes at its word is that the bits of Threefry are uniform.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.family import Data
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.libraries.enumerated_normals import enumerated
from subnormal.mechanisms.samplers.float_normals import DIGITS, FloatType

PACKAGE = "jax"


def normals(key: Any, shape: tuple[int, ...], float_type: FloatType) -> Any:
    """Return JAX's standard normals of that shape, for a key, on the CPU."""
    import jax

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        return jax.random.normal(key, shape, float_type)


def key_of(first: int, second: int) -> Any:
    """Return the key of JAX's default generator that these two integers below 2^32 are."""
    import jax

    return jax.random.wrap_key_data(np.array([first, second], dtype=np.uint32), impl="threefry2x32")


@lru_cache(maxsize=len(DIGITS))
def every_normal(float_type: FloatType) -> NDArray[np.float32]:
    """Return the normal of every word, shape (2^(p−1),) for the p digits of the type, as float32.

    The word is the upper p − 1 bits of the 8, 16 or 32 that JAX draws for a number; it drops the others.
    """
    import jax
    from jax.extend.random import define_prng_impl

    width = DIGITS[float_type] - 1

    def words(key: Any, bits: int, shape: tuple[int, ...]) -> Any:
        return (jax.numpy.arange(np.prod(shape), dtype="uint32") << (bits - width)).astype(f"uint{bits}").reshape(shape)

    counter = define_prng_impl(
        key_shape=(1,),
        seed=lambda seed: jax.numpy.zeros(1, dtype="uint32"),
        split=lambda key, shape: jax.numpy.zeros((*shape, 1), dtype="uint32"),
        random_bits=words,
        fold_in=lambda key, data: key,
        name=f"every word of {width} bits",
        tag="every",
    )
    drawn = normals(jax.random.key(0, impl=counter), (1 << width,), float_type)
    every: NDArray[np.float32] = np.asarray(drawn).astype(np.float32)
    every.flags.writeable = False
    return every


def noisy(data: Data, sigma: float, noise: Any, float_type: FloatType) -> NDArray[np.float32]:
    """Return data + σ·noise by JAX, with the data, σ and the noise rounded to the type, as float32; too large: ∞."""
    import jax

    with jax.default_device(jax.local_devices(backend="cpu")[0]), np.errstate(over="ignore"):
        value, scale = (jax.numpy.asarray(np.asarray(number, dtype=np.float32), float_type) for number in (data, sigma))
        return np.asarray(value + scale * jax.numpy.asarray(noise, float_type)).astype(np.float32)


def _draw(bits: BitSource, n: int, shape: tuple[int, ...], float_type: FloatType) -> Any:
    return normals(key_of(bits.take(32), bits.take(32)), (n, *shape), float_type)


BFLOAT16, FLOAT16, FLOAT32 = (enumerated(PACKAGE, kind, _draw, every_normal, noisy) for kind in DIGITS)
