"""Gaussian noise by the float32 ziggurat of numpy's Generator: its draws, to the last bit, and its law. Not private.

A word of 32 bits chooses one of 256 layers, a sign, and one of 2^23 sizes; the noise is size times the layer's width.
Nearly every size is accepted at once. One near the layer's end is accepted by a uniform of 24 bits that lies below the
curve, or else a new word is drawn. The last layer's end is a tail, with a rejection of its own from two such uniforms.

The law is found by monotone pieces: within a layer the outcome never decreases with the size, and so the sizes that
lead to an outcome are an interval, whose ends are found by bisection.

Sources: Marsaglia and Tsang 2000; Doornik 2005; numpy's random_standard_normal_f.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.additive.family import gaussian_claim
from subnormal.mechanisms.additive.float_sums import float_member
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.core.outcome_identity import at_places, places
from subnormal.mechanisms.numerics.bisection import least_holding
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.samplers.float_normals import Floats, noisy

Integers = NDArray[np.int64]

TAIL_SIGN = 8  # the bit of a size that is the sign in the tail
FEW = 1 << 11  # floats between the extreme outcomes, up to which a law is found
NEAR = 8  # steps of a uniform within which a guess of the curve nearly always is right
FLOAT = np.dtype(np.float32)
CHUNK = 1 << 16  # sizes at a time: what a cache holds


@dataclass(frozen=True, slots=True, eq=False)
class Ziggurat:
    """The tables of a ziggurat: for each layer the sizes accepted at once, the width of a size, the curve's height."""

    edge: float  # where the tail begins
    size_bits: int
    uniform_bits: int
    quick: Integers
    widths: Floats
    heights: Floats

    @property
    def word_bits(self) -> int:
        """The bits of the first word: of the layer, the lowest ones, the sign, and the size."""
        return (len(self.quick) - 1).bit_length() + 1 + self.size_bits

    def draw(self, bits: BitSource, n: int) -> Floats:
        """Return n normals, shape (n,). A try is a word."""
        drawn, left = np.empty(n, dtype=np.float32), np.arange(n)
        while len(left):
            bits.tries += len(left)
            layer, size, noise = self.parts(bits.words(len(left), self.word_bits))
            accepted = size < self.quick[layer]
            wedge, tail = ((~accepted & of).nonzero()[0] for of in (layer != 0, layer == 0))
            uniforms = bits.words(len(wedge), self.uniform_bits).astype(np.int64)
            accepted[wedge] = self.below_curve(layer[wedge], np.abs(noise[wedge]), uniforms)
            noise[tail], accepted[tail] = self._tail(bits, size[tail]), True
            drawn[left[accepted]] = noise[accepted]
            left = left[~accepted]
        return drawn

    def parts(self, words: NDArray[np.uint64]) -> tuple[Integers, Integers, Floats]:
        """Return the layer, the size and the noise of words, each of shape (words,)."""
        given = words.astype(np.int64)
        layers = len(self.quick)
        layer, size = given % layers, given // (2 * layers)
        noise = self.magnitude(layer, size)
        return layer, size, np.where(given // layers % 2 == 1, -noise, noise)

    def magnitude(self, layer: Integers, size: Integers) -> Floats:
        """Return the noise without its sign, never decreasing with the size."""
        return size.astype(np.float32) * self.widths[layer]

    def below_curve(self, layer: Integers, magnitude: Floats, uniforms: Integers) -> NDArray[np.bool_]:
        """Return whether uniforms accept magnitudes near the ends of their layers, layer ≥ 1."""
        return np.asarray(self.height(layer, uniforms) < curve(magnitude))

    def height(self, layer: Integers | int, uniforms: Integers) -> Floats:
        """Return height + uniform·(height of the layer above − height), never decreasing with the uniform."""
        lowest = self.heights[layer]
        place: Floats = (self.heights[layer - 1] - lowest) * self.uniform(uniforms) + lowest
        return place

    def uniform(self, uniforms: Integers) -> Floats:
        """Return k·2^−b in float32."""
        return uniforms.astype(np.float32) * np.float32(0.5**self.uniform_bits)

    def beyond_edge(self, uniforms: Integers) -> tuple[Floats, Floats]:
        """Return what two uniforms of the tail are turned into: the distance to the edge, and twice an exponential.

        The first is accepted if its square is less than the second. Both never decrease.
        """
        exponential = -np.log1p(-self.uniform(uniforms).astype(np.float64)).astype(np.float32)
        return np.float32(1 / self.edge) * exponential, exponential + exponential

    def tail_sign(self, size: Integers) -> NDArray[np.bool_]:
        """Return whether the noise of a size in the tail is negative."""
        return np.asarray(size >> min(TAIL_SIGN, self.size_bits - 1) & 1 == 1)

    def _tail(self, bits: BitSource, size: Integers) -> Floats:
        drawn, left = np.empty(len(size), dtype=np.float32), np.arange(len(size))
        while len(left):
            pairs = bits.words(2 * len(left), self.uniform_bits).astype(np.int64).reshape(-1, 2)
            distance, limit = self.beyond_edge(pairs[:, 0])[0], self.beyond_edge(pairs[:, 1])[1]
            accepted = limit > distance * distance
            drawn[left[accepted]] = np.float32(self.edge) + distance[accepted]
            left = left[~accepted]
        return np.where(self.tail_sign(size), -drawn, drawn)


def curve(magnitude: Floats) -> NDArray[np.float64]:
    """Return e^(−x²/2), in float64."""
    return np.asarray(np.exp(-0.5 * magnitude.astype(np.float64) * magnitude))


def ziggurat(edge: float, area: float, layers: int, size_bits: int, uniform_bits: int) -> Ziggurat:
    """Return the tables, from where the tail begins and the area of each layer. Source: Doornik 2005, as in numpy."""
    sizes, places, heights = 1 << size_bits, np.zeros(layers), np.ones(layers)
    quick = np.zeros(layers, dtype=np.int64)
    places[-1], heights[-1] = edge, exp(-0.5 * edge * edge)
    quick[0], places[0] = int(edge * heights[-1] / area * sizes), area / heights[-1]
    for layer in range(layers - 2, 0, -1):
        places[layer] = sqrt(-2 * log(area / places[layer + 1] + heights[layer + 1]))
        heights[layer] = exp(-0.5 * places[layer] ** 2)
        quick[layer + 1] = int(places[layer] / places[layer + 1] * sizes)
    widths = (places / sizes).astype(np.float32)
    return Ziggurat(edge, size_bits, uniform_bits, quick, widths, heights.astype(np.float32))


NUMPY = ziggurat(3.6541528853610088, 0.0049286732339746519, layers=256, size_bits=23, uniform_bits=24)


def sample(value: ArrayLike, sigma: float, bits: BitSource, n: int, *, tables: Ziggurat = NUMPY) -> Floats:
    """Return n times value + σ·normal in float32, shape (n,), or (n, coordinates) for a vector.

    Raises ValueError for a negative n, and for a σ that is not positive and finite. Leaks: rejections.
    """
    require_draws(n)
    require_positive("sigma", sigma)
    vector = np.asarray(value)
    return noisy(vector, sigma, tables.draw(bits, n * vector.size).reshape(n, *vector.shape), "float32")


def law(value: float, sigma: float, *, tables: Ziggurat = NUMPY) -> Law[float]:
    """Return the exact distribution of `sample` for a number, where few floats lie between the extreme outcomes.

    Else raises NoLawError: then nearly every float has a probability of its own.
    """
    require_positive("sigma", sigma)
    return _law(float(value), float(sigma), tables)


@lru_cache(maxsize=2)
def _law(value: float, sigma: float, tables: Ziggurat) -> Law[float]:
    last = np.array([(1 << tables.uniform_bits) - 1])
    extreme = np.float32(tables.edge) + tables.beyond_edge(last)[0]
    lowest, highest = places(noisy(value, sigma, np.append(-extreme, extreme), "float32")).tolist()
    if highest - lowest >= FEW:
        raise NoLawError(f"more than {FEW} floats between the extreme outcomes")
    outcomes = at_places(np.arange(lowest, highest + 1), FLOAT)
    outcomes = np.unique(outcomes + np.float32(0))  # −0 is 0
    atoms: Any = outcomes
    if len(outcomes) == 1:
        return exact_law(atoms, [1], [1], 1)
    weights = np.diff(_strings(tables, _largest_noise(outcomes, value, sigma, extreme)), prepend=0)
    hit = weights > 0
    atoms = outcomes[hit]
    counts = [int(weight) for weight in weights[hit]]
    return exact_law(atoms, np.arange(1, len(atoms) + 1), counts, sum(counts))


def _largest_noise(outcomes: Floats, value: float, sigma: float, extreme: Floats) -> Floats:
    """Return for each outcome the largest noise, at most `extreme`, that leads to it or to a lesser one; −∞: none."""

    def exceeds(place: Integers) -> NDArray[np.bool_]:
        return np.asarray(noisy(value, sigma, at_places(place, FLOAT), "float32") > outcomes)

    least, most = places(np.append(-extreme, extreme)).tolist()
    ends = np.full(len(outcomes), least - 1), np.full(len(outcomes), most + 1)
    found = least_holding(exceeds, *ends) - 1
    return np.where(found < least, np.float32(-np.inf), at_places(np.maximum(found, least), FLOAT))


def _strings(tables: Ziggurat, noise: Floats) -> NDArray[Any]:
    """Return how many strings lead to at most each noise, as Python's integers, in a unit that depends on the tables.

    An accepted word with its uniform, if any, weighs as much as the pairs of the tail that are accepted.
    """
    uniforms = 1 << tables.uniform_bits
    accepted = np.zeros(len(noise), dtype=np.int64)
    for layer in range(len(tables.quick)):
        accepted += _of_layer(tables, layer, noise)
    distance, limit = tables.beyond_edge(np.arange(uniforms))
    pairs = np.append(0, np.cumsum(uniforms - np.searchsorted(limit, distance * distance, side="right")))
    reached = np.float32(tables.edge) + distance
    negative = tables.tail_sign(np.arange(tables.quick[0], 1 << tables.size_bits))
    above = pairs[np.searchsorted(reached, noise, side="right")]
    below = pairs[-1] - pairs[np.searchsorted(reached, -noise, side="left")]
    words = 2 * int((~negative).sum()) * above.astype(object) + 2 * int(negative.sum()) * below.astype(object)
    strings: NDArray[Any] = accepted.astype(object) * int(pairs[-1]) + words * uniforms
    return strings


def _of_layer(tables: Ziggurat, layer: int, noise: Floats) -> Integers:
    """Return how many pairs of a word of the layer and a uniform are accepted, with at most each noise; no tail."""
    sizes, quick = 1 << tables.size_bits, int(tables.quick[layer])
    layers = np.full(len(noise), layer)
    wedge = _below_curve(tables, layer) if layer else np.zeros(sizes - quick, dtype=np.int64)
    weights = np.append(0, np.cumsum(wedge))

    def before(size: Integers) -> Integers:
        return np.asarray(np.minimum(size, quick) * (1 << tables.uniform_bits) + weights[np.maximum(size - quick, 0)])

    ends = np.full(len(noise), -1), np.full(len(noise), sizes)
    larger = least_holding(lambda size: tables.magnitude(layers, np.clip(size, 0, sizes)) > noise, *ends)
    reaching = least_holding(lambda size: tables.magnitude(layers, np.clip(size, 0, sizes)) >= -noise, *ends)
    counted: Integers = before(larger) + before(np.array([sizes])) - before(reaching)
    return counted


def _below_curve(tables: Ziggurat, layer: int) -> Integers:
    """Return for each size of a layer that is not accepted at once how many uniforms accept it.

    A float32 holds the height to 2^−24, which is so many steps of the uniform. The search begins as far below a guess,
    and what it finds is checked: the height never decreases, so the uniform and the one before it tell.
    """
    first, sizes, uniforms = int(tables.quick[layer]), 1 << tables.size_bits, 1 << tables.uniform_bits
    found = np.empty(sizes - first, dtype=np.int64)
    lowest, above = (float(tables.heights[at]) for at in (layer, layer - 1))
    reach = 1 << ceil(uniforms * 0.5**22 * above / (above - lowest) + 8).bit_length()
    for start in range(first, sizes, CHUNK):
        size = np.arange(start, min(start + CHUNK, sizes))
        limit = curve(tables.magnitude(np.full(len(size), layer), size))
        count = np.maximum(((limit - lowest) / (above - lowest) * uniforms).astype(np.int64) - reach, 0)
        step = 2 * reach
        while step:
            count += step * (tables.height(layer, count + (step - 1)) < limit)
            step >>= 1
        np.minimum(count, uniforms, out=count)
        right = (count == 0) | (tables.height(layer, count - 1) < limit)
        right &= (count == uniforms) | (tables.height(layer, count) >= limit)
        if not right.all():
            raise ArithmeticError(f"the heights of layer {layer} are not where the curve is")
        found[start - first : start - first + len(size)] = count
    return found


FLOAT32 = float_member(
    "gaussian-ziggurat-float32",
    "gaussian",
    gaussian_claim,
    np.float32,
    lambda value, parameters, bits, n: sample(value, parameters.sigma, bits, n),
    lambda value, parameters: law(value, parameters.sigma),
)
