"""Many runs -> evidence, with confidence. The event is fixed before the runs that judge it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attacks.attack import Attack
from audit import learning, statistics
from audit.report import Fit, KolmogorovSmirnov, SampledEvidence, Verdict
from mechanisms.bits import seeded_bits
from mechanisms.interface import Mechanism, NoLawError, Outcomes
from mechanisms.law import Law, integers, runs_of
from mechanisms.privacy import Claim
from mechanisms.product import Product

BATCH = 1 << 17  # runs a batch: fixed, because a batch is a pure function of its number
CELLS = 4096  # at the most; binning is post-processing, so distances over cells stay sound lower bounds
MANY = 1 << 23  # atoms from which an even part of them fixes the cells
PART = 1 << 20  # atoms of that part
PILOT = 4096  # runs that fix the cells where there is no law to fix them

SMALL_RANGE = 1 << 14  # integers so close together are counted before anything is asked of them

AnyAttack = Attack[Any, Any, Any]
AnyMechanism = Mechanism[Any, Any, Any]
Laws = tuple[Law[Any], Law[Any]]
Described = tuple[Law[Any] | Any, Law[Any] | Any]  # or two products of laws
Batch = tuple[int, int]  # its number, and its runs in each world


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What runs of a mechanism leave behind: never samples."""

    event: int
    cells: NDArray[np.int64]

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.event + other.event, self.cells + other.cells)

    @property
    def runs(self) -> int:
        """The number of runs counted."""
        return int(self.cells.sum())


class Sums:
    """The counts of a row's batches, added up in whatever order they come."""

    __slots__ = ("counted", "counts", "done", "runs")

    def __init__(self, runs: int, cells: int) -> None:
        self.runs = runs  # wanted, of each world
        self.counted = 0  # of them
        self.counts = nothing(cells), nothing(cells)
        self.done: set[int] = set()  # the numbers of the batches counted

    def todo(self) -> Iterator[Batch]:
        """Give the batches that are not counted yet."""
        return (batch for batch in batches(self.runs) if batch[0] not in self.done)

    def add(self, span: Sequence[Batch], counts: tuple[Counts, Counts]) -> None:
        """Add the counts of some batches."""
        self.counts = self.counts[0] + counts[0], self.counts[1] + counts[1]
        self.done.update(number for number, _ in span)
        self.counted += sum(size for _, size in span)

    def reached(self, number: int) -> bool:
        """Whether all batches before this one are counted."""
        return all(before in self.done for before in range(number))

    def to_json(self) -> dict[str, Any]:
        """Return what `restore` reads."""
        events, cells = [world.event for world in self.counts], [world.cells.tolist() for world in self.counts]
        return {"batches": _joined(self.done), "events": events, "cells": cells}

    def restore(self, stored: dict[str, Any]) -> None:
        """Add what `to_json` returned, of the same row."""
        done = {number for first, last in stored["batches"] for number in range(first, last + 1)}
        counts = [Counts(*pair) for pair in zip(stored["events"], map(np.array, stored["cells"]), strict=True)]
        self.add([batch for batch in batches(self.runs) if batch[0] in done], (counts[0], counts[1]))
        if any(len(world.cells) != len(counts[0].cells) or world.runs != self.counted for world in self.counts):
            raise ValueError("the counts that were kept are not of this row")

    @property
    def complete(self) -> bool:
        """Whether all runs are counted."""
        return self.counted == self.runs


def _joined(numbers: Iterable[int]) -> list[list[int]]:
    """Return numbers as ascending ranges [first, last]."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def nothing(cells: int) -> Counts:
    """Return the counts of no runs."""
    return Counts(0, np.zeros(cells, dtype=np.int64))


def batches(runs: int) -> Iterator[Batch]:
    """Give the batches of so many runs."""
    return ((number, min(BATCH, runs - start)) for number, start in enumerate(range(0, runs, BATCH)))


def distinguish(
    mechanism: AnyMechanism, attack: AnyAttack, *, seed: int = 1, runs: int = 100_000, alpha: float = 0.05
) -> SampledEvidence:
    """Run the mechanism `runs` times in each world and return what the attack's event shows, at confidence 1 − α.

    An attack without an event has one learned first, on as many runs again, which judge nothing.
    The same arguments give the same evidence to the byte, for members whose randomness is seeded.
    """
    attack = learning.with_event(mechanism, attack, seed=seed, runs=max(2, runs))
    data_in, data_out = attack.worlds()
    laws = whole(both_laws(mechanism, attack, (data_in, data_out)))
    edges = cell_edges(mechanism, attack, (data_in, data_out), laws, seed)
    counts = observe(mechanism, attack, (data_in, data_out), edges, seed=seed, runs=runs)
    claim = mechanism.claim(attack.parameters, data_in, data_out)
    masses = None if laws is None else (cell_masses(laws[0], attack, edges), cell_masses(laws[1], attack, edges))
    return judge(counts, claim, alpha, masses, row_seed(seed, attack, mechanism))


def both_laws(mechanism: AnyMechanism, attack: AnyAttack, worlds: tuple[Any, Any]) -> Described | None:
    """Return the member's laws in both worlds, or None where it has none for them."""
    if mechanism.law is None:
        return None
    try:
        return mechanism.law(worlds[0], attack.parameters), mechanism.law(worlds[1], attack.parameters)
    except NoLawError:
        return None


def whole(laws: Described | None) -> Laws | None:
    """Return the laws of whole outcomes: products with all their keys multiplied out; None where that is too large."""
    if laws is None:
        return None
    try:
        law_in, law_out = (law.on(law.parts) if isinstance(law, Product) else law for law in laws)
    except NoLawError:
        return None
    return law_in, law_out


def cell_edges(
    mechanism: AnyMechanism, attack: AnyAttack, worlds: tuple[Any, Any], laws: Laws | None, seed: int
) -> NDArray[np.float64]:
    """Return the largest value of each cell of the attack's statistic, ascending, at most `CELLS` of them.

    The last cell has no end: it holds what is larger, too.
    From the atoms of the laws; without laws, from a pilot of `PILOT` runs a world that judge nothing, or
    of a quarter of the runs that a slow member takes.
    """
    if laws is None:
        values = []
        for world, data in zip(("pilot-in", "pilot-out"), worlds, strict=True):
            bits = seeded_bits(seed, attack.name, mechanism.name, world)
            pilot = PILOT if mechanism.runs is None else min(PILOT, mechanism.runs(data, attack.parameters) // 4 + 1)
            values.append(attack.statistic(mechanism.sample(data, attack.parameters, bits, pilot)))
    else:
        values = [attack.statistic(_part(law.atoms)) for law in _distinct(laws)]
    distinct = np.sort(np.concatenate(values), kind="stable")
    distinct = distinct[runs_of(distinct) - 1]
    if len(distinct) > CELLS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, CELLS + 1).round().astype(np.int64)[1:]]
    return distinct


def _part(atoms: Sequence[Any]) -> Sequence[Any]:
    return atoms if len(atoms) < MANY else atoms[:: len(atoms) // PART]


def _distinct(laws: Laws) -> Sequence[Law[Any]]:
    both_ranges = isinstance(laws[0].atoms, range) and isinstance(laws[1].atoms, range)
    return laws[:1] if both_ranges and laws[0].atoms == laws[1].atoms else laws


def cell_masses(law: Law[Any], attack: AnyAttack, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the law's mass in each cell as floats, for tests of fit and for pictures only, shape (cells,)."""
    values, low = attack.statistic(law.atoms), integers(law.low)
    edges = np.append(edges[:-1], np.inf)
    if low.dtype == np.int64 and law.denominator < 1 << 62 and (values[1:] >= values[:-1]).all():
        return np.diff(_mass_before(law, np.searchsorted(values, edges, side="right")), prepend=0) / law.denominator
    cells = np.minimum(np.searchsorted(edges, values), len(edges) - 1)  # of a NaN too
    shares = low / law.denominator if low.dtype == np.int64 else np.array([mass / law.denominator for mass in law.low])
    return np.bincount(cells, weights=np.repeat(shares, law.counts()), minlength=len(edges)).astype(np.float64)


def _mass_before(law: Law[Any], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the mass of the atoms before each position, over the denominator, shape (positions,). Exact."""
    low, counts = integers(law.low), law.counts()
    ends = np.append(0, np.cumsum(counts))
    masses = np.append(0, np.cumsum(counts * low))
    run = np.searchsorted(ends, positions, side="right") - 1
    inside: NDArray[np.int64] = masses[run] + (positions - ends[run]) * np.append(low, 0)[run]
    return inside


def observe(
    mechanism: AnyMechanism,
    attack: AnyAttack,
    worlds: tuple[Any, Any],
    edges: NDArray[np.float64],
    *,
    seed: int,
    runs: int,
) -> tuple[Counts, Counts]:
    """Return the counts of `runs` runs in each world."""
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    return count_batches(mechanism, attack, worlds, edges, seed, batches(runs))


def count_batches(
    mechanism: AnyMechanism,
    attack: AnyAttack,
    worlds: tuple[Any, Any],
    edges: NDArray[np.float64],
    seed: int,
    span: Iterable[Batch],
) -> tuple[Counts, Counts]:
    """Return the counts of these batches in both worlds: a pure function of its arguments for a seeded mechanism."""
    seen_in = seen_out = nothing(len(edges))
    for number, size in span:
        seen_in += count_batch(mechanism, attack, "in", worlds[0], edges, seed, number, size)
        seen_out += count_batch(mechanism, attack, "out", worlds[1], edges, seed, number, size)
    return seen_in, seen_out


def count_batch(
    mechanism: AnyMechanism,
    attack: AnyAttack,
    world: str,
    data: Any,
    edges: NDArray[np.float64],
    seed: int,
    batch: int,
    runs: int,
) -> Counts:
    """Return the counts of one batch: a pure function of its arguments for a seeded mechanism."""
    if attack.event is None:
        raise ValueError(f"attack {attack.name!r} names no event")
    bits = seeded_bits(seed, attack.name, mechanism.name, world, batch)
    drawn = mechanism.sample(data, attack.parameters, bits, runs)
    if len(drawn) != runs:
        raise ValueError(f"{mechanism.name} returned {len(drawn)} outcomes, not {runs}")
    outcomes, times = tallied(drawn)
    found = np.searchsorted(edges[:-1], attack.statistic(outcomes))  # what is larger, or a NaN, falls into the last
    happened = attack.event(outcomes)
    if happened.shape != (len(outcomes),):
        raise ValueError(
            f"attack {attack.name!r}: its event returned an array of shape {happened.shape}, not ({len(outcomes)},)"
        )
    if times is None:
        return Counts(int(happened.sum()), np.bincount(found, minlength=len(edges)).astype(np.int64))
    cells = np.zeros(len(edges), dtype=np.int64)
    np.add.at(cells, found, times)
    return Counts(int(times[happened].sum()), cells)


def tallied(outcomes: Outcomes) -> tuple[Outcomes, NDArray[np.int64] | None]:
    """Return integers of a small range as the distinct ones and how often each came; whatever else as it is, and None.

    An event and a statistic speak of each outcome by itself, so that they need not be asked a million times.
    """
    if not isinstance(outcomes, np.ndarray) or outcomes.ndim != 1 or outcomes.dtype.kind != "i" or not len(outcomes):
        return outcomes, None
    least = int(outcomes.min())
    if int(outcomes.max()) - least >= SMALL_RANGE or len(outcomes) < SMALL_RANGE:
        return outcomes, None
    times = np.bincount(outcomes if least == 0 else outcomes - least)
    seen = times.nonzero()[0]
    return (seen + least).astype(outcomes.dtype), times[seen].astype(np.int64)


def judge(
    counts: tuple[Counts, Counts],
    claim: Claim,
    alpha: float,
    masses: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    seed: int,
) -> SampledEvidence:
    """Return what counts show of a claim. The event's bounds hold together with probability 1 − α: tails of α/4 each.
    The margin of the Kolmogorov-Smirnov distance is at confidence 1 − α on its own, and no verdict rests on it.

    VIOLATED: the event, or its complement, is more likely in one world than the claim allows. UNDERPOWERED: so few runs
    could not have shown it. Else NOT REFUTED.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    runs = counts[0].runs
    event_in, event_out = (statistics.clopper_pearson(world.event, runs, alpha / 4) for world in counts)
    bound = statistics.epsilon_lower(event_in, event_out, claim.delta)
    if bound > claim.epsilon:
        verdict = Verdict.VIOLATED
    elif statistics.underpowered(runs, alpha, claim.epsilon, claim.delta):
        verdict = Verdict.UNDERPOWERED
    else:
        verdict = Verdict.NOT_REFUTED
    gap = max(event_in[0] - event_out[1], event_out[0] - event_in[1], 0.0)
    reach = max(event_in[1] - event_out[0], event_out[1] - event_in[0])
    fit = None
    if masses is not None:
        fit_in, p_in = statistics.monte_carlo_fit(counts[0].cells, masses[0], seed)
        fit_out, p_out = statistics.monte_carlo_fit(counts[1].cells, masses[1], seed + 1)
        fit = Fit(fit_in, p_in, fit_out, p_out)
    distance = statistics.ks_distance(counts[0].cells / runs, counts[1].cells / runs)
    return SampledEvidence(
        verdict=verdict,
        runs=runs,
        confidence=1 - alpha,
        epsilon_lower=bound,
        event_in=event_in,
        event_out=event_out,
        advantage=(gap, reach),
        ks=KolmogorovSmirnov(distance, claim.advantage_allowed, statistics.dkw_margin(runs, alpha)),
        fit=fit,
    )


def row_seed(seed: int, attack: AnyAttack, mechanism: AnyMechanism) -> int:
    """Return the seed of a row's Monte Carlo tests, whatever else the report holds."""
    return seeded_bits(seed, attack.name, mechanism.name, "fit").take(63)
