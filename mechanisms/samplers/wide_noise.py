"""Discrete Gaussian and Laplace noise of a large scale, exactly, at the speed of a table: for arrays of any size.

The integers are cut into cells of 2^m. Under the probabilities P(z) of each cell T fits a box: each integer of the cell
has c_T/2^(b+m) of its probability there, c_T the largest integer that certified bounds allow. So c_T of the 2^b
prefixes of a word stand for the box, and the last m digits of the word for the place in it: one look at a table. About
1 % of the prefixes stand for no box. They stand for the rest of the probabilities, P(z) − c_T/2^(b+m), which is drawn
by rejection: a cell by certified bounds, a uniform place in it, and a comparison that takes as many bits as it needs.

Side channels. Whether a draw comes from a box depends on the draw. So of n draws a number is drawn from the rest that
depends on n alone: more than are needed, except with probability 2^−64. The number of candidates that the rest takes is
independent of the result, as in any rejection. Time: memory access, and the copy of what is taken from the rest.

Source: Marsaglia 1963 (CACM 6), a table of the digits of probabilities; the cells, the rest and the bounds are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.samplers.bernoulli import GUARD
from subnormal.mechanisms.samplers.discrete_gaussian import Bell, Gaussian, cumulative_bounds, gaussian, uniform
from subnormal.mechanisms.samplers.discrete_laplace import COARSE
from subnormal.mechanisms.samplers.float_weights import EXPONENTIAL_ERROR, UNIT, exponential
from subnormal.mechanisms.samplers.inverse_transform import DRAWS_AT_ONCE, FAR, WORD, DistributionBounds, Table

PREFIX = 16  # digits of a word that choose a cell: a table of half a MiB
CELLS = 7  # a scale of 2^7 steps or more holds 2^6 to 2^7 cells
PRECISION = 128  # bits of the bounds by which boxes are made
PART = 1 << 20  # draws whose rest is drawn together
BLOCK = 1 << 14  # draws decided at a time, so that they stay in the cache
EXCEEDED = 45  # nats, more than 64·ln 2: how unlikely it is that more of the rest is needed than is drawn

Integers = NDArray[np.int64]
Bounds = tuple[int, int]


class Shape(Protocol):
    """The weight w(|z|) of noise: 1 at 0, and never more at a larger magnitude."""

    def __hash__(self) -> int:
        """Return the hash of a value: equal shapes share a sampler."""

    @property
    def steps(self) -> int:
        """The scale, in whole steps, rounded down."""

    def require_scale(self) -> None:
        """Raise ValueError for a scale that no 64-bit integer holds."""

    def reach(self, precision: int) -> int:
        """Return a magnitude whose weight is at most 2^−precision."""

    def weight(self, magnitude: int, precision: int) -> Bounds:
        """Return bounds on 2^precision·w."""

    def weights(self, start: int, split: int, count: int, precision: int) -> list[Bounds]:
        """Return bounds on 2^precision·w(start + j·2^split) for j < count, at most a few units apart."""

    def tail(self, last: int, weight: int, split: int) -> int:
        """Return a bound on Σ w(last + j·2^split), j ≥ 1, where w(last) is `weight` at most, in the same units."""

    def normaliser(self, precision: int) -> Bounds:
        """Return bounds on 2^precision·Σ w(|z|) over all integers."""

    def exponents(self, magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return −ln w of each, x, off by 5x units of 2^−53 at most. The argument is overwritten."""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The boxes: cell first + i has counts[i] of the 2^prefix prefixes, and 2^split integers."""

    shape: Shape
    prefix: int
    split: int
    first: int
    counts: tuple[int, ...]

    def weight(self, cell: int, precision: int) -> tuple[int, int]:
        """Return bounds on 2^precision times the height of a cell's box, where P(0) is 1."""
        at = cell - self.first
        count = self.counts[at] if 0 <= at < len(self.counts) else 0
        low, high = self.shape.normaliser(precision)
        return count * low >> self.prefix + self.split, -(-count * high >> self.prefix + self.split)

    def nearest(self, cell: int) -> int:
        """Return the least magnitude in a cell, which is that of its most likely integer."""
        return cell << self.split if cell >= 0 else ((-cell - 1) << self.split) + 1

    def largest(self, cell: int) -> int:
        """Return the largest magnitude in a cell."""
        return self.nearest(cell) + (1 << self.split) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """A sampler of what is left of P(z) above the boxes: of q(z) ∝ w(|z|) − h, h the height of z's box.

    Candidates are uniform in a cell that is chosen by its largest q. One is kept with its own q over that.
    """

    boxes: Boxes
    cells: Table
    top: NDArray[np.float64]  # of each cell from boxes.first on: w of the nearest z, where it is largest
    floor: NDArray[np.float64]  # and the height of its box

    def draw(self, bits: BitSource, n: int) -> Integers:
        """Return n integers, shape (n,). Takes three words for a candidate; at least a third of them are kept."""
        drawn = np.empty(n, dtype=np.int64)
        filled = 0
        while filled < n:
            size = 1 if n == 1 else min(DRAWS_AT_ONCE, 2 * (n - filled))
            bits.tries += size
            kept = self._kept(bits, size)[: n - filled]
            drawn[filled : filled + len(kept)] = kept
            filled += len(kept)
        return drawn

    def _kept(self, bits: BitSource, n: int) -> Integers:
        """Return those of n candidates that are kept.

        U lies below the ratio of the q's iff floor + U·(top − floor) lies below w = e^−x. In units of 2^−53, x is off
        by 5x, and so is e^−x by 5x·e^−x ≤ 2; both table entries are off by 1, their difference by 3, its product with U
        by 5, the sum by 7: with `EXPONENTIAL_ERROR` less than that and 16.
        """
        split = self.boxes.split
        cell = np.clip(self.cells.draw(bits, n), -(FAR >> split), (FAR >> split) - 1)
        place, words = uniform(bits, n, split), bits.words(n)
        negative = cell < 0
        magnitude = (np.where(negative, ~cell, cell) << np.int64(split)) + negative + place
        at = cell - self.boxes.first
        ratio = words.astype(np.float64) * 0.5**bits.word_bits
        floor = self.floor.take(at, mode="clip")
        least = floor + ratio * (self.top.take(at, mode="clip") - floor)
        weight = exponential(self.boxes.shape.exponents(magnitude.astype(np.float64)))
        kept: NDArray[np.bool_] = least < weight
        unsure = np.abs(least - weight) <= (EXPONENTIAL_ERROR + 16) * UNIT + 0.5**bits.word_bits
        unsure |= (at < 0) | (at >= len(self.floor))
        for one in unsure.nonzero()[0].tolist():
            kept[one] = self._decided(int(cell[one]), int(magnitude[one]), bits, int(words[one]))
        return np.where(negative, -magnitude, magnitude)[kept]

    def _decided(self, cell: int, magnitude: int, bits: BitSource, drawn: int) -> bool:
        """Return the same by certified bounds, for a U that begins with `drawn`, a word, and as many more as decide."""
        shape, known = self.boxes.shape, bits.word_bits
        while True:
            precision = known + GUARD
            weight = shape.weight(magnitude, precision)
            top = shape.weight(self.boxes.nearest(cell), precision)
            floor = self.boxes.weight(cell, precision)
            if floor[1] * ((1 << known) - drawn - 1) + top[1] * (drawn + 1) <= weight[0] << known:
                return True
            if floor[0] * ((1 << known) - drawn) + top[0] * drawn >= weight[1] << known:
                return False
            drawn, known = drawn << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits


@dataclass(frozen=True, slots=True, eq=False)
class WideNoise:
    """A sampler of discrete noise: P(Z = z) ∝ w(|z|)."""

    starts: Integers  # the first integer of the cell of each prefix; 0 for those of the rest
    chosen: int  # how many prefixes stand for boxes, the first ones
    rest: Rest

    def draw(self, bits: BitSource, n: int) -> Integers:
        """Return n integers, int64 of shape (n,)."""
        drawn = np.empty(n, dtype=np.int64)
        self.fill(bits, drawn)
        return drawn

    def fill(self, bits: BitSource, out: Integers) -> None:
        """Fill an int64 array of shape (n,). Memory: that of some 10^5 draws of the rest, and of a block."""
        for start in range(0, len(out), PART):
            part = out[start : start + PART]
            missing = np.concatenate([self._boxed(bits, part, at) for at in range(0, len(part), BLOCK)])
            drawn = self.rest.draw(bits, self.spare(len(part)))
            if len(drawn) < len(missing):
                drawn = np.append(drawn, self.rest.draw(bits, len(missing) - len(drawn)))
            part[missing] = drawn[: len(missing)]

    def spare(self, n: int) -> int:
        """Return how many draws of the rest are made for n draws: more are needed with probability 2^−64 at most.

        By Bernstein's inequality, P(X ≥ μ + √(2μL) + 2L/3) ≤ e^−L for the mean μ of a binomial X.
        """
        mean: float = n - n * self.chosen / len(self.starts)
        return min(n, ceil(mean + sqrt(2 * mean * EXCEEDED) + 2 * EXCEEDED / 3))

    def undecided(self) -> Fraction:
        """Return a bound on the probability that a draw takes more than a word, and three for each candidate.

        A word of U decides for all but two values. A third of the candidates are kept, at least. The last term is for
        a rest that does not suffice.
        """
        return 3 * (self.rest.cells.undecided() + Fraction(2, 1 << WORD)) + Fraction(1, 1 << WORD)

    def _boxed(self, bits: BitSource, part: Integers, at: int) -> NDArray[np.intp]:
        """Draw a block of a part from the boxes, and return the places in the part that take a draw of the rest."""
        block, boxes = part[at : at + BLOCK], self.rest.boxes
        width = max(bits.word_bits, boxes.prefix + boxes.split)
        words = bits.words(len(block), width)
        prefixes = (words >> np.uint64(width - boxes.prefix)).view(np.int64)
        np.take(self.starts, prefixes, out=block, mode="clip")
        missing = (prefixes >= self.chosen).nonzero()[0] + at
        words &= np.uint64((1 << boxes.split) - 1)
        block += words.view(np.int64)
        return missing


@lru_cache(maxsize=8)
def sampler(shape: Shape, prefix: int = PREFIX, cells: int = CELLS) -> WideNoise:
    """Return the sampler of a shape. Cached: it is public.

    prefix: b. cells: a scale holds at most 2^cells of them. Raises ValueError for a scale that is not positive, and for
    one of more than SCALE_MAX steps.
    """
    shape.require_scale()
    split = max(0, shape.steps.bit_length() - cells)
    boxes = boxes_of(shape, prefix, split)
    starts = np.repeat(np.arange(len(boxes.counts)) + boxes.first, boxes.counts) << np.int64(split)
    return WideNoise(np.append(starts, np.zeros((1 << prefix) - len(starts), np.int64)), len(starts), rest_of(boxes))


def boxes_of(shape: Shape, prefix: int, split: int) -> Boxes:
    """Return the largest boxes below the probabilities: c/2^(b+m) ≤ P(z) for the least likely z of a cell."""
    last = (shape.reach(PREFIX + GUARD) >> split) + 2  # beyond, boxes are empty and candidates rare
    total = shape.normaliser(PRECISION)[1]
    # The largest magnitude of cell T is (T+1)·2^m − 1 for T ≥ 0, and |T|·2^m for T < 0.
    negative = shape.weights(1 << split, split, last, PRECISION)
    positive = shape.weights((1 << split) - 1, split, last + 1, PRECISION)
    least = [low for low, _ in (*reversed(negative), *positive)]
    return Boxes(shape, prefix, split, -last, tuple((low << prefix + split) // total for low in least))


def _nearest_weights(shape: Shape, split: int, last: int, precision: int) -> list[Bounds]:
    """Return bounds on the largest weight in each of the cells −last, …, last, in units of 2^−precision."""
    return [
        *reversed(shape.weights(1, split, last, precision)),  # of cell T < 0: (|T|−1)·2^m + 1
        *shape.weights(0, split, last + 1, precision),
    ]


def rest_of(boxes: Boxes) -> Rest:
    """Return the sampler of the rest."""
    cells = range(boxes.first, boxes.first + len(boxes.counts))
    scale = 0.5**PRECISION
    top = [low * scale for low, _ in _nearest_weights(boxes.shape, boxes.split, -boxes.first, PRECISION)]
    floor = [boxes.weight(cell, PRECISION)[0] * scale for cell in cells]
    bounds: Callable[[int], DistributionBounds] = lru_cache(maxsize=8)(partial(_rest_bounds, boxes))
    return Rest(boxes, Table.of(bounds), np.array(top), np.array(floor))


def _rest_bounds(boxes: Boxes, precision: int) -> DistributionBounds:
    """Bounds on the distribution function of a candidate's cell, whose weight is its largest q."""
    working = precision + GUARD
    last = (boxes.shape.reach(working) >> boxes.split) + 2
    weights = []
    for cell, (low, high) in enumerate(_nearest_weights(boxes.shape, boxes.split, last, working), -last):
        floor_low, floor_high = boxes.weight(cell, working)
        weights.append((max(0, low - floor_high), high - floor_low))
    tail = boxes.shape.tail(boxes.nearest(-last), weights[0][1], boxes.split)
    return cumulative_bounds(-last, weights, tail, precision)


def gaussian_noise(variance: Fraction) -> Gaussian | WideNoise:
    """Return the sampler of noise of that variance, in steps: one table up to σ = 64, boxes beyond."""
    return sampler(Bell(variance)) if variance > COARSE**2 else gaussian(variance)
