"""One step of a loop on a bench: what a record moves in its outcome, in units of what the noise moves.

All numbers come from runs with the same seeds, in which only records and the noise are changed. A run without noise
stands for the sum before noise. A run in which one draw of noise is moved by its deviation shows what this draw does to
each coordinate of the outcome; τ, the root of the sum of squares over all draws, is the deviation of a coordinate that
the noise causes. A record that moves the coordinates by c has the privacy loss of Gaussian noise with μ = |c/τ|,
whatever the learning rate, the size of the batch and the units of the noise are. A step with multiplier σ has μ ≤ 1/σ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from subnormal.audit.training.hooks import Draw, Floats
from subnormal.audit.training.loop import Loop, Run
from subnormal.audit.training.records import Records

SEEDS = 60  # tried, to find a batch of several records
USUAL = (2, 40)  # records of a batch that is taken at once
ROUNDING = 16 * 2.0**-23  # of float32, the share of a number that it may be off by
EFFECT_PLACES = 32  # of records that are tried where the loop does not tell what it reads
LINEAR = 0.02  # by which share the effect of noise may depend on the noise

Record = tuple[object, ...]


def no_noise(number: int, draw: Draw) -> Floats:
    """Return the location of a draw: a run without noise."""
    return draw.location


def all_moved(number: int, draw: Draw, by: float = 1.0) -> Floats:
    """Return what a draw is where it lies so many deviations above its location."""
    return draw.location + by * draw.scale


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """A step on copies of a record.

    seed: of all runs. records: the copies. batch: the places of the records that the step read. names: the parts of the
    outcome that hold the noisy sum. zero: these parts without noise, flat. effects: what each draw moves, in a row, by
    its deviation. deviation: τ, of shape (coordinates,). others: all parts, without noise. linear: whether twice the
    noise moves twice as far. scales: the deviations that the step's draws state.
    """

    loop: Loop
    seed: int
    records: Records
    batch: tuple[int, ...]
    names: tuple[str, ...]
    zero: Floats
    effects: Floats
    deviation: Floats
    others: Mapping[str, Floats]
    linear: bool
    scales: Floats

    @property
    def rounding(self) -> float:
        """By how much float32 may round a coordinate."""
        return ROUNDING * float(np.abs(self.zero).max(initial=0.0))

    @property
    def covered(self) -> Floats:
        """Which coordinates the noise reaches, as 1 and 0."""
        return (self.deviation > 0).astype(np.float64)

    def run(self, edits: Mapping[int, Record], *, records: Records | None = None) -> Run:
        """Run the step without noise, with other records at some places."""
        return self.loop.run((records or self.records).replaced(edits), 1, self.seed, no_noise)

    def vector(self, run: Run) -> Floats:
        """Return the coordinates of the noisy sum of a run. Raises ValueError where the loop raised."""
        if run.error is not None:
            raise ValueError(run.error)
        leaves = parts(run)
        if any(name not in leaves for name in self.names):
            raise ValueError("the outcome has other parts")
        return np.concatenate([leaves[name] for name in self.names])

    def moved(self, edits: Mapping[int, Record]) -> Floats:
        """Return by how much other records move the noisy sum."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self.vector(self.run(edits)) - self.zero

    def by_noise(self, records: Records, more: int = 0) -> tuple[Run, Floats] | None:
        """Return a run on other records without noise, and what noise of one deviation moves there.

        None where the step fails or draws no noise, or the outcome has no place for it. more: added to the seed.
        """
        runs = [self.loop.run(records, 1, self.seed + more, change) for change in (no_noise, all_moved)]
        if any(run.error is not None or not self.loop.of_steps(run) for run in runs):
            return None
        without, moved = map(self.vector, runs)
        return (runs[0], moved - without) if len(without) == len(moved) == len(self.zero) else None

    def loss(self, moved: Floats) -> float:
        """Return μ of a movement: its length in deviations of the noise; ∞ for one that is not finite."""
        reached = self.deviation > 0
        if not np.isfinite(moved).all():
            return float("inf")
        return float(np.linalg.norm(moved[reached] / self.deviation[reached]))

    @property
    def slack(self) -> float:
        """By how much rounding may move a loss."""
        reached = self.deviation[self.deviation > 0]
        return self.rounding * float(np.linalg.norm(1 / reached)) if len(reached) else 0.0


def parts(run: Run) -> Mapping[str, Floats]:
    """Return the parts of an outcome, after the gradients that an optimizer of torch was given in the last step."""
    if not run.tap.gradients:
        return run.leaves
    last = run.tap.gradients[-1]
    return {f"gradient[{place}]": one for place, one in enumerate(last)} | dict(run.leaves)


def bench_of(loop: Loop, records: Records, seed: int) -> Bench | None:
    """Return a step whose batch holds several records, or one; None where no batch is found to hold any."""
    copies = records.copies(records.record(0), len(records))
    best: tuple[int, tuple[int, ...], Run] | None = None
    for number in range(seed, seed + SEEDS):
        run = loop.run(copies, 1, number, no_noise)
        found = loop.batches(run, len(copies))
        batch = _by_effect(loop, records, copies, run, number) if found is None else tuple(found[0].tolist())
        if batch and (best is None or len(batch) > len(best[1])):
            best = number, batch, run
        if best is not None and USUAL[0] <= len(best[1]):
            break
    if best is None or best[2].error is not None:
        return None
    return _measured(loop, copies, best[0], tuple(dict.fromkeys(best[1])), best[2])


def _by_effect(loop: Loop, records: Records, copies: Records, run: Run, seed: int) -> tuple[int, ...]:
    """Return places of records that the step used: those at which another record changes the outcome."""
    found = []
    for place in range(min(len(copies), EFFECT_PLACES)):
        other = loop.run(copies.replaced({place: records.record(1)}), 1, seed, no_noise)
        if other.error is None and any(not np.array_equal(one, parts(run)[name]) for name, one in parts(other).items()):
            found.append(place)
        if len(found) == USUAL[0]:
            break
    return tuple(found)


def _measured(loop: Loop, copies: Records, seed: int, batch: tuple[int, ...], run: Run) -> Bench:
    base = parts(run)
    drawn = run.draws[loop.initial :]

    def with_noise(by: float, only: int | None = None) -> Mapping[str, Floats]:
        def change(number: int, draw: Draw) -> Floats:
            return all_moved(number, draw, by) if only in (None, number) else draw.location

        return parts(loop.run(copies, 1, seed, change))

    each = [with_noise(1.0, number) for number in range(len(drawn))]
    moves = {
        name: np.array([one.get(name, zero) - zero for one in each]).reshape(len(each), -1)
        for name, zero in base.items()
        if all(one.get(name, zero).shape == zero.shape for one in each)
    }
    names = _noisy_parts({name: np.abs(one).sum(axis=0) > 0 for name, one in moves.items()}, drawn)
    zero = np.concatenate([np.zeros(0), *(base[name] for name in names)])
    effects = np.concatenate([np.zeros((len(each), 0)), *(moves[name] for name in names)], axis=1)
    opposite = with_noise(-2.0)
    back = np.concatenate([np.zeros(0), *(opposite[name] for name in names)]) - zero
    together = effects.sum(axis=0)
    apart = np.abs(back + 2 * together) > LINEAR * np.abs(together) + 4 * ROUNDING * np.abs(zero).max(initial=0.0)
    scales = np.concatenate([np.zeros(0), *(draw.scale for draw in drawn)])
    deviation = np.sqrt(np.square(effects).sum(axis=0))
    return Bench(loop, seed, copies, batch, names, zero, effects, deviation, base, not apart.any(), scales)


def _noisy_parts(reached: Mapping[str, Floats], drawn: list[Draw]) -> tuple[str, ...]:
    """Return the parts of an outcome that hold the noisy sum. reached: which of their coordinates the noise moves.

    These are the gradients that an optimizer of torch gets. Without them, neighbouring parts that the noise moves
    everywhere and that have, together, as many coordinates as are drawn, or a whole share of it where a coordinate gets
    several draws; and what lies in one container with them, as a bias that is not noised. Without such, all that noise
    moves for the most part.
    """
    gradients = tuple(name for name in reached if name.startswith("gradient["))
    if gradients:
        return gradients
    names, total = list(reached), sum(len(draw.values) for draw in drawn)
    sizes = [total // times for times in range(1, len(drawn) + 1) if total % times == 0]
    for size in sizes:
        for start in range(len(names)):
            taken = 0
            for stop in range(start, len(names)):
                if not reached[names[stop]].all():
                    break
                taken += len(reached[names[stop]])
                if taken == size:
                    chosen = names[start : stop + 1]
                    inside = chosen[0].rpartition("[")[0]
                    return tuple(name for name in names if name in chosen or (inside and name.startswith(inside)))
    return tuple(name for name in names if len(reached[name]) > 1 and reached[name].mean() >= 0.5)
