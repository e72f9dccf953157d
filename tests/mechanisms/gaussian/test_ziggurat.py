"""The float32 ziggurat: numpy's draws to the last bit, and a law that is that of every string, on small tables."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.gaussian import ziggurat
from subnormal.mechanisms.gaussian.ziggurat import NUMPY, Ziggurat
from subnormal.mechanisms.samplers.float_normals import noisy
from tests.support.walks import law_of

ALPHA = 1e-6
FIGURES = 1 << 20  # draws


def small(layers: int, size_bits: int, uniform_bits: int) -> Ziggurat:
    """Return the tables of few layers: the edge at which the area of the uppermost layer is that of the others."""

    def area(edge: float) -> float:
        return float(edge * exp(-0.5 * edge**2) + np.sqrt(np.pi / 2) * special.erfc(edge / np.sqrt(2)))

    def excess(edge: float) -> float:
        place, height = edge, exp(-0.5 * edge**2)
        for _ in range(layers - 2):
            height += area(edge) / place
            if height >= 1:
                return 1.0
            place = np.sqrt(-2 * np.log(height))
        return height + area(edge) / place - 1

    edge = optimize.brentq(excess, 0.5, 5)
    return ziggurat.ziggurat(edge, area(edge), layers, size_bits, uniform_bits)


def by_force(tables: Ziggurat, value: float, sigma: float) -> dict[float, Fraction]:
    """Return the law by trying every word with every uniform: what is accepted, over all that is."""
    uniforms = np.arange(1 << tables.uniform_bits)
    inner = Counter[float]()
    distance, limit = tables.beyond_edge(uniforms)
    for first, second in product(uniforms.tolist(), repeat=2):
        if limit[second] > distance[first] * distance[first]:
            inner[float(np.float32(tables.edge) + distance[first])] += 1
    found = Counter[float]()
    for word in range(1 << tables.word_bits):
        layer, size, noise = tables.parts(np.array([word], dtype=np.uint64))
        if size[0] < tables.quick[layer[0]]:
            found[_released(value, noise[0], sigma)] += len(uniforms) * inner.total()
        elif layer[0] == 0:
            for magnitude, count in inner.items():
                signed = -magnitude if tables.tail_sign(size)[0] else magnitude
                found[_released(value, signed, sigma)] += len(uniforms) * count
        else:
            below = tables.below_curve(np.repeat(layer, len(uniforms)), np.repeat(noise, len(uniforms)), uniforms)
            found[_released(value, noise[0], sigma)] += int(below.sum()) * inner.total()
    return {outcome: Fraction(count, found.total()) for outcome, count in found.items() if count}


def _released(value: float, noise: Any, sigma: float) -> float:
    return float(noisy(value, sigma, np.array([noise], dtype=np.float32), "float32")[0])


def probabilities(law: Law[Any]) -> dict[float, Fraction]:
    return {float(atom): law.probability(float(atom))[0] for atom in np.asarray(law.atoms)}


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """The code that finds the law, on tables whose strings can all be tried; and numpy's tables, by a sample."""
    halves = small(8, 6, 3)  # noise that lies halfway between two outcomes, where rounding turns
    halves = replace(halves, edge=2.375, widths=(np.rint(halves.widths * 256) / 256).astype(np.float32))
    for tables in (small(4, 5, 4), small(8, 6, 3), small(8, 10, 2), halves):
        for value, sigma in ((2.0**22, 1.0), (2.0**20 + 3, 0.3), (-(2.0**21), 2.5), (2.0**30 + 64, 1.0)):
            assert probabilities(ziggurat.law(value, sigma, tables=tables)) == by_force(tables, value, sigma)
    parameters = GaussianParameters(sigma=1.0, delta=1e-6)
    law = probabilities(law_of(mechanism, 2.0**22, parameters))
    drawn = np.asarray(mechanism.sample(2.0**22, parameters, seeded_bits(1), FIGURES))
    counts = Counter(drawn.tolist())
    assert set(counts) <= set(law)
    common = [outcome for outcome, mass in law.items() if mass * FIGURES > 20]
    observed = [counts[outcome] for outcome in common]
    expected = np.array([float(law[outcome]) for outcome in common])
    rest = FIGURES - sum(observed)
    assert stats.chisquare([*observed, rest], [*expected * FIGURES, (1 - expected.sum()) * FIGURES]).pvalue > ALPHA


def test_numpys_generator_draws_the_same() -> None:
    """From the same words of 32 bits, of which numpy drops 8 for a uniform: a million draws, to the last bit.

    In the tail the C library's logarithm may be off by a unit in the last place, and then so is the draw.
    """
    theirs = np.random.Generator(np.random.MT19937(7)).standard_normal(FIGURES, dtype=np.float32)
    words = np.random.MT19937(7).random_raw(FIGURES + FIGURES // 16)
    layer, size, noise = NUMPY.parts(words)
    slow = (size >= NUMPY.quick[layer]).nonzero()[0]
    at = done = tails = wedges = 0
    while done < FIGURES:
        quick = min(int(slow[slow.searchsorted(at)]) - at, FIGURES - done)  # draws of one word
        assert np.array_equal(theirs[done : done + quick], noise[at : at + quick])
        at, done = at + quick, done + quick
        if done == FIGURES:
            break
        script = f"{int(words[at]):032b}" + "".join(f"{int(word) >> 8:024b}" for word in words[at + 1 : at + 40])
        bits = scripted_bits(script + "0" * 32)
        if layer[at] == 0:
            tails += 1
            found = NUMPY.draw(bits, 1)[0]
            assert abs(found - theirs[done]) <= np.spacing(np.abs(found))
            found = theirs[done]
            at += 1 + (bits.consumed - 32) // 24
        else:
            wedges += 1
            uniform = np.array([int(words[at + 1]) >> 8])
            if not NUMPY.below_curve(layer[at : at + 1], noise[at : at + 1], uniform)[0]:
                at += 2
                continue
            found, at = noise[at], at + 2
        assert found == theirs[done]
        done += 1
    assert (tails, wedges) > (200, 10_000)
