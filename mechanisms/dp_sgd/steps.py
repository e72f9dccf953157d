"""A run of DP-SGD with discrete Gaussian noise, and its law. Members differ in a function or two: see `Step`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, lcm, prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import NoLawError, Outcomes
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.dp_sgd import batches
from subnormal.mechanisms.dp_sgd.clipping import clipped
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients, as_gradients
from subnormal.mechanisms.numerics.grid import from_steps
from subnormal.mechanisms.samplers import discrete_gaussian
from subnormal.mechanisms.samplers.wide_noise import gaussian_noise

PRECISION = 128  # bits of the enclosures of a law
REACH = 64  # −log₂ of the noise's mass that a law leaves to its rest, about
ATOMS_MAX = 1 << 16
WORK_MAX = 1 << 21  # outcomes of all states, one by one: seconds
CONVOLUTION_MAX = 1 << 28  # products of a convolution: ten seconds

Integers = NDArray[np.int64]


def ones(gradients: Gradients, parameters: DpSgdParameters) -> Integers:
    """Return 1 for each record: their sum is the size of a batch."""
    return np.ones(len(gradients), dtype=np.int64)


def sums(batch: Integers, marks: Integers, parameters: DpSgdParameters) -> Integers:
    """Return the sums unchanged."""
    return batch


def one_draw(marks: Integers, parameters: DpSgdParameters) -> Integers:
    """Return one draw of noise for each step, whatever its batch."""
    return np.ones_like(marks)


def on_grid(noisy: Integers, marks: Integers, parameters: DpSgdParameters) -> NDArray[Any]:
    """Return noisy sums in the units of the gradients: int64 where grid ≥ 0, else float64."""
    return from_steps(noisy, parameters.grid)


@dataclass(frozen=True, slots=True)
class Step:
    """What a step of training does. Arrays have a row for each batch; `marks` is the sum of `mark` over its records.

    of_record: what a record adds to the sum, in steps of the grid, shape (records, coordinates). mark: an integer for
    each record. centre: what noise is added to. draws: how many draws of noise. released: what a step releases.
    """

    batching: Literal["poisson", "shuffled"] = "poisson"
    of_record: Callable[[Gradients, DpSgdParameters], Integers] = clipped
    mark: Callable[[Gradients, DpSgdParameters], Integers] = ones
    centre: Callable[[Integers, Integers, DpSgdParameters], Integers] = sums
    draws: Callable[[Integers, DpSgdParameters], Integers] = one_draw
    released: Callable[[Integers, Integers, DpSgdParameters], NDArray[Any]] = on_grid

    def sample(self, data: Gradients, parameters: DpSgdParameters, bits: BitSource, n: int) -> Outcomes:
        """Return n outcomes, shape (n, steps·coordinates), or (n,) where that is one number.

        Raises ValueError for a negative n, and for data that are no gradients.
        """
        require_draws(n)
        columns = self._columns(data, parameters)
        batch = batches.poisson if self.batching == "poisson" else batches.shuffled
        whole = self.batching == "poisson" and parameters.rate == 1  # then all runs have the same batches
        each = batch(parameters, len(columns), bits, 1 if whole else n).astype(np.int64) @ columns
        states = np.broadcast_to(each, (n, *each.shape[1:])).reshape(n * parameters.steps, columns.shape[1])
        centres, marks = self.centre(states[:, :-1], states[:, -1], parameters), states[:, -1]
        noisy = centres + self._noise(self.draws(marks, parameters), centres.shape[1], parameters, bits)
        outcomes = self.released(noisy, marks, parameters).reshape(n, -1)
        return outcomes[:, 0] if outcomes.shape[1] == 1 else outcomes

    def law(self, data: Gradients, parameters: DpSgdParameters) -> Law[Any]:
        """Return the distribution of `sample` as enclosures. Raises NoLawError where it has more than 2^16 atoms."""
        columns = self._columns(data, parameters)
        if self.batching == "shuffled":
            return self._law(batches.shuffled_sums(columns, parameters), parameters)
        states = batches.poisson_sums(columns, Fraction(parameters.rate))
        one = self._law({(state,): chance for state, chance in states.items()}, parameters)
        return repeated(one, parameters.steps)

    def _columns(self, data: Gradients, parameters: DpSgdParameters) -> Integers:
        """Return what each record adds to the sums, and its mark, shape (records, coordinates + 1)."""
        gradients = as_gradients(data)
        return np.column_stack([self.of_record(gradients, parameters), self.mark(gradients, parameters)])

    def _noise(self, draws: Integers, coordinates: int, parameters: DpSgdParameters, bits: BitSource) -> Integers:
        """Return the sum of so many draws for each row and coordinate, shape (rows, coordinates)."""
        drawn = gaussian_noise(parameters.variance).draw(bits, int(draws.sum()) * coordinates)
        if (draws == 1).all():
            return drawn.reshape(len(draws), coordinates)
        noise = np.zeros((len(draws), coordinates), dtype=np.int64)
        np.add.at(noise, np.repeat(np.arange(len(draws)), draws), drawn.reshape(-1, coordinates))
        return noise

    def _draws(self, state: batches.History, parameters: DpSgdParameters) -> list[int]:
        """Return how many draws of noise each released number has."""
        rows = np.array(state, dtype=np.int64)
        drawn: list[int] = np.repeat(self.draws(rows[:, -1], parameters), rows.shape[1] - 1).tolist()
        return drawn

    def _law(self, states: Mapping[batches.History, Fraction], parameters: DpSgdParameters) -> Law[Any]:
        """Return the law of the outcomes, given that of the states of all batches: a mixture of products of noises.

        Beyond the reach of its noise, a state may still lead to outcomes that another one names: `rest` is in each
        upper bound.
        """
        shared = lcm(*(chance.denominator for chance in states.values()))
        masses: dict[Hashable, list[Any]] = {}  # of each outcome: itself, and bounds on its probability
        rest = Fraction(0)
        draws = {state: self._draws(state, parameters) for state in states}
        if sum(_outcomes(parameters.variance, counts) for counts in draws.values()) > WORK_MAX:
            raise NoLawError(f"{len(states)} states of all batches have more than {WORK_MAX} outcomes, one by one")
        for state, chance in states.items():
            rows, counts = np.array(state, dtype=np.int64), draws[state]
            marks, centres = rows[:, -1], self.centre(rows[:, :-1], rows[:, -1], parameters)
            noises = [noise_bounds(parameters.variance, count) for count in counts]
            places = [range(c - z.reach, c + z.reach + 1) for c, z in zip(centres.flat, noises, strict=True)]
            noisy = np.array(list(product(*places)), dtype=np.int64).reshape(-1, centres.shape[1])
            outcomes = self.released(noisy, np.tile(marks, len(noisy) // len(marks)), parameters)
            low = map(prod, product(*(noise.low for noise in noises)))
            high = map(prod, product(*(noise.high for noise in noises)))
            weight = int(chance * shared)
            for outcome, least, most in zip(_flat(outcomes, len(places)), low, high, strict=True):
                mass = masses.setdefault(identity(outcome), [outcome, 0, 0])
                mass[1] += weight * least
                mass[2] += weight * most
            rest += chance * sum((noise.rest for noise in noises), Fraction(0))
        denominator = shared << PRECISION * len(places)
        above = ceil(rest * denominator)
        atoms, lows, highs = zip(*masses.values(), strict=True)
        named: Any = np.array(atoms) if len(places) == 1 else atoms
        return Law(named, range(1, len(atoms) + 1), lows, [most + above for most in highs], denominator, rest)


def _outcomes(variance: Fraction, draws: Sequence[int]) -> int:
    """Return how many combinations of released numbers one state leads to, by the noise of so many draws for each.

    Raises NoLawError for more than 2^16, and where the noise of one number takes too many products.
    """
    reach = discrete_gaussian.gaussian_reach(variance, REACH)
    found = prod(2 * count * reach + 1 for count in draws)
    if found > ATOMS_MAX:
        raise NoLawError(f"{len(draws)} released numbers have more than {ATOMS_MAX} outcomes together")
    if any(count > 1 and (count * reach) ** 2 > CONVOLUTION_MAX for count in draws):
        raise NoLawError(
            f"the noise of {max(draws)} draws, of {reach} steps each, takes more than {CONVOLUTION_MAX} products"
        )
    return found


def _flat(outcomes: NDArray[Any], length: int) -> list[Any]:
    """Return rows of so many numbers as outcomes: tuples of numbers, or numbers."""
    listed: list[Any] = outcomes.reshape(-1, length).tolist()
    return [row[0] for row in listed] if length == 1 else [tuple(row) for row in listed]


def repeated(law: Law[Any], steps: int) -> Law[Any]:
    """Return the law of independent steps that have the same law. Raises NoLawError for more than 2^16 atoms."""
    if steps == 1:
        return law
    if len(law.atoms) ** steps > ATOMS_MAX:
        raise NoLawError(f"{steps} steps have more than {ATOMS_MAX} outcomes together")
    listed = law.atoms.tolist() if isinstance(law.atoms, np.ndarray) else law.atoms
    parts = [one if isinstance(one, tuple) else (one,) for one in listed]
    atoms = [sum(several, ()) for several in product(parts, repeat=steps)]
    low, high = ([prod(several) for several in product(side, repeat=steps)] for side in (law.low, law.high))
    rest = 1 - (1 - law.rest) ** steps
    return Law(atoms, range(1, len(atoms) + 1), low, high, law.denominator**steps, rest)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseBounds:
    """Bounds, over 2^PRECISION, on the probabilities of −reach, …, reach; and a bound on mass left out, `rest`.

    Of several draws, what is left out may lie anywhere: none of the bounds holds it.
    """

    reach: int
    low: list[int]
    high: list[int]
    rest: Fraction


@lru_cache(maxsize=64)
def noise_bounds(variance: Fraction, draws: int) -> NoiseBounds:
    """Return bounds on the distribution of the sum of so many discrete Gaussian draws."""
    whole = 1 << PRECISION
    if draws == 0:
        return NoiseBounds(0, [whole], [whole], Fraction(0))
    if draws > 1:
        one, others = noise_bounds(variance, draws // 2), noise_bounds(variance, draws - draws // 2)
        rest = one.rest + others.rest
        low, high = (_convolution(*of) for of in ((one.low, others.low), (one.high, others.high)))
        lows, highs = [mass >> PRECISION for mass in low], [-(-mass >> PRECISION) for mass in high]
        return NoiseBounds(one.reach + others.reach, lows, highs, rest)
    reach = discrete_gaussian.gaussian_reach(variance, REACH)
    half = [discrete_gaussian.bell(variance, distance, PRECISION) for distance in range(reach + 1)]
    sides = [[*reversed(of), *of[1:]] for of in zip(*half, strict=True)]
    tail = 2 * discrete_gaussian.bell_tail(variance, reach, half[-1][1])
    least, most = sum(sides[0]), sum(sides[1]) + tail
    low = [(mass << PRECISION) // most for mass in sides[0]]
    high = [-((-mass << PRECISION) // least) for mass in sides[1]]
    return NoiseBounds(reach, low, high, Fraction(tail, least))


def _convolution(one: list[int], other: list[int]) -> list[int]:
    both: list[int] = np.convolve(np.array(one, dtype=object), np.array(other, dtype=object)).tolist()
    return both
