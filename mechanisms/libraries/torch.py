"""PyTorch (https://pytorch.org): value + σ·torch.randn on a CPU, in bfloat16 and float16, as up to version 2.11.

PyTorch promises no privacy (`enumerated_normals`). These versions do Box-Muller in the type itself, from the lowest 8
or 11 bits of two words of MT19937, so no bfloat16 normal is beyond ±3.33. Later versions (2.12 to 2.14 are alike to the
last bit) do it in float32, from 48 bits, and round once: there the members take no data.

The generator's seed is 32 bits of ours, so rows can be reproduced. The law is found by PyTorch's own operations: its
generator is given a state that makes it hand out the words that are wanted. What the law takes at its word is that the
words of MT19937 are uniform.
Source: pytorch/pytorch#166853, "torch.randn on CPU is not accurate with dtype=bfloat16".
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.family import Data, GaussianParameters
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.libraries import Additive, takes_numbers
from subnormal.mechanisms.libraries.enumerated_normals import enumerated
from subnormal.mechanisms.samplers.float_normals import DIGITS, Floats, FloatType

PACKAGE = "torch"

BLOCK = 16  # normals at a time: the cosines of 8 pairs of words, then the sines
HALF = BLOCK // 2
STATE = 624  # words of MT19937 until it makes new ones
STATE_AT, LEFT_AT, NEXT_AT = 3, 1, 2  # where a generator's state holds the words, in units of 8 bytes

# A normal takes the lowest bits of its words alone. These words differ in the others.
PROBE = np.random.default_rng(1).integers(0, 1 << 32, 36 * BLOCK, dtype=np.uint32)


def normals(generator: Any, count: int, float_type: FloatType) -> Floats:
    """Return so many of torch.randn's standard normals, a multiple of 16, as float32 of shape (count/16, 2, 8).

    [:, 0] are cosines, [:, 1] sines.
    """
    import torch

    drawn = torch.randn(count, dtype=getattr(torch, float_type), device="cpu", generator=generator)
    found: Floats = drawn.to(torch.float32).numpy().reshape(-1, 2, HALF)
    return found


def generator_of(words: NDArray[np.uint32]) -> Any:
    """Return a generator of PyTorch's that hands out these words, fewer than 624, before it makes new ones."""
    import torch

    generator = torch.Generator(device="cpu")
    state = generator.get_state().numpy().copy()
    fields = state.view(np.uint64)
    fields[LEFT_AT : LEFT_AT + 1].view(np.int32)[0] = STATE
    fields[NEXT_AT] = 0
    fields[STATE_AT : STATE_AT + len(words)] = untempered(words)
    generator.set_state(torch.from_numpy(state))
    return generator


def untempered(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the words of MT19937's state that it hands out as these.

    Source: Matsumoto and Nishimura 1998, the tempering of MT19937.
    """
    state = words ^ words >> np.uint32(18)
    state ^= state << np.uint32(15) & np.uint32(0xEFC60000)
    found = state
    for _ in range(4):  # 7 more of the 32 bits are known after each
        found = state ^ found << np.uint32(7) & np.uint32(0x9D2C5680)
    state = found
    for _ in range(2):  # 11 more
        found = state ^ found >> np.uint32(11)
    return found


def normals_of_words(words: NDArray[np.uint32], float_type: FloatType) -> Floats:
    """Return the normals that PyTorch makes of words, whose number is a multiple of 16, as `normals` does."""
    most = STATE // BLOCK * BLOCK - BLOCK
    parts = (words[start : start + most] for start in range(0, len(words), most))
    return np.concatenate([normals(generator_of(part), len(part), float_type) for part in parts])


@cache
def enumerable(float_type: FloatType) -> bool:
    """Return whether the normals of this PyTorch depend on the lowest 8 or 11 bits of each word alone."""
    lowest = PROBE & np.uint32((1 << DIGITS[float_type]) - 1)
    whole, part = (normals_of_words(words, float_type) for words in (PROBE, lowest))
    return whole.tobytes() == part.tobytes()


@cache
def every_normal(float_type: FloatType) -> Floats:
    """Return the first normal (the cosine) of every pair of words, as float32.

    Shape (2^(2p),) for the p digits of the type: a pair's number has the lowest p bits of the first word above those of
    the second. Raises NoLawError where a normal depends on more bits.
    """
    if not enumerable(float_type):
        raise NoLawError(f"this PyTorch makes a {float_type} normal of 48 bits: its law cannot be enumerated")
    digits = DIGITS[float_type]
    pairs = np.arange(1 << 2 * digits, dtype=np.uint32).reshape(-1, 1, HALF)
    words = np.concatenate([pairs >> np.uint32(digits), pairs & np.uint32((1 << digits) - 1)], axis=1)
    every = normals_of_words(words.reshape(-1), float_type)[:, 0].reshape(-1)
    every.flags.writeable = False
    return every


def noisy(data: Data, sigma: float, noise: Any, float_type: FloatType) -> Floats:
    """Return data + σ·noise by PyTorch, with the data, σ and the noise rounded to the type, as float32."""
    import torch

    value, scale, normal = (
        torch.from_numpy(np.array(number, dtype=np.float32)).to(getattr(torch, float_type))
        for number in (data, sigma, noise)
    )
    found: Floats = (value + scale * normal).to(torch.float32).numpy()
    return found


def _draw(bits: BitSource, n: int, shape: tuple[int, ...], float_type: FloatType) -> Any:
    import torch

    count = n * int(np.prod(shape, dtype=np.int64))
    blocks = -(-count // HALF)
    cosines = normals(torch.Generator(device="cpu").manual_seed(bits.take(32)), blocks * BLOCK, float_type)[:, 0]
    return cosines.reshape(-1)[:count].reshape(n, *shape)


def _member(float_type: FloatType) -> Mechanism[Data, GaussianParameters, Any]:
    def takes(data: Data, parameters: Additive) -> bool:
        return takes_numbers(data, parameters) and enumerable(float_type)

    return enumerated(PACKAGE, float_type, _draw, every_normal, noisy, takes)


BFLOAT16 = _member("bfloat16")
FLOAT16 = _member("float16")
