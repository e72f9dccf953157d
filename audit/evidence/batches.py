"""Counts of runs, batch by batch. The counts of a batch are a pure function of its number if the member's randomness is
seeded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism, Outcomes

BATCH = 1 << 17  # runs of a batch: fixed, because a batch is a pure function of its number
SMALL_RANGE = 1 << 14  # integers in so small a range are counted before the event and the statistic see them

Batch = tuple[int, int]  # its number, and its runs in each world


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Counts of a mechanism's outcomes, by event and by bin."""

    event: int
    bins: NDArray[np.int64]

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.event + other.event, self.bins + other.bins)

    @property
    def runs(self) -> int:
        """The number of runs counted."""
        return int(self.bins.sum())


class BatchTotals:
    """The sum of the counts of a row's batches, which may arrive in any order."""

    __slots__ = ("counted", "counts", "done", "runs")

    def __init__(self, runs: int, bins: int) -> None:
        self.runs = runs  # requested, of each world
        self.counted = 0  # of them
        self.counts = zero_counts(bins), zero_counts(bins)
        self.done: set[int] = set()  # the numbers of the batches counted

    def todo(self) -> Iterator[Batch]:
        """Yield the batches that are not counted yet."""
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
        """Return the counts so far, for `restore`."""
        events, bins = [world.event for world in self.counts], [world.bins.tolist() for world in self.counts]
        return {"batches": _joined(self.done), "events": events, "bins": bins}

    def restore(self, stored: dict[str, Any]) -> None:
        """Add the counts that `to_json` returned for this row. Raises ValueError if they are of another row."""
        done = {number for first, last in stored["batches"] for number in range(first, last + 1)}
        counts = [Counts(*pair) for pair in zip(stored["events"], map(np.array, stored["bins"]), strict=True)]
        self.add([batch for batch in batches(self.runs) if batch[0] in done], (counts[0], counts[1]))
        if any(len(world.bins) != len(counts[0].bins) or world.runs != self.counted for world in self.counts):
            raise ValueError("the stored counts are not of this row")

    @property
    def complete(self) -> bool:
        """Whether all runs are counted."""
        return self.counted == self.runs


def _joined(numbers: Iterable[int]) -> list[list[int]]:
    """Return numbers as ascending ranges [first, last]."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def zero_counts(bins: int) -> Counts:
    """Return the counts of no runs."""
    return Counts(0, np.zeros(bins, dtype=np.int64))


def batches(runs: int) -> Iterator[Batch]:
    """Yield the batches of so many runs."""
    return ((number, min(BATCH, runs - start)) for number, start in enumerate(range(0, runs, BATCH)))


def count_worlds(
    mechanism: AnyMechanism, attack: AnyAttack, edges: NDArray[np.float64], seed: int, batch: int, runs: int
) -> tuple[Counts, Counts]:
    """Return the counts of one batch in both worlds (see `count_batch`)."""
    data_in, data_out = attack.worlds()
    return (
        count_batch(mechanism, attack, "in", data_in, edges, seed, batch, runs),
        count_batch(mechanism, attack, "out", data_out, edges, seed, batch, runs),
    )


def total(counted: Sequence[tuple[Counts, Counts]]) -> tuple[Counts, Counts] | None:
    """Return the sum of the counts of batches; None without any batch."""
    return reduce(lambda one, other: (one[0] + other[0], one[1] + other[1]), counted) if counted else None


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
    """Return the counts of one batch: a pure function of its arguments for a seeded mechanism.

    Raises ValueError if the attack has no event, or if the mechanism or the event returns an array of another length.
    """
    if attack.event is None:
        raise ValueError(f"attack {attack.name!r} names no event")
    bits = seeded_bits(seed, attack.name, mechanism.name, world, batch)
    drawn = mechanism.sample(data, attack.parameters, bits, runs)
    if len(drawn) != runs:
        raise ValueError(f"{mechanism.name} returned {len(drawn)} outcomes, not {runs}")
    outcomes, times = distinct_counts(drawn)
    places = np.searchsorted(edges[:-1], attack.statistic(outcomes))  # larger values and NaN fall into the last bin
    happened = attack.event(outcomes)
    if happened.shape != (len(outcomes),):
        raise ValueError(
            f"attack {attack.name!r}: its event returned an array of shape {happened.shape}, not ({len(outcomes)},)"
        )
    if times is None:
        return Counts(int(happened.sum()), np.bincount(places, minlength=len(edges)).astype(np.int64))
    bins = np.zeros(len(edges), dtype=np.int64)
    np.add.at(bins, places, times)
    return Counts(int(times[happened].sum()), bins)


def distinct_counts(outcomes: Outcomes) -> tuple[Outcomes, NDArray[np.int64] | None]:
    """Return integers of a small range, and objects that recur, once each, with their counts; others unchanged.

    An event and a statistic are functions of a single outcome, so each distinct one is evaluated once. Objects are
    distinct by their identity, which tells apart whatever an event may tell apart.
    """
    if isinstance(outcomes, list) and outcomes:
        addresses = np.fromiter(map(id, outcomes), np.uint64, len(outcomes))
        _, first, times = np.unique(addresses, return_index=True, return_counts=True)
        return ([outcomes[at] for at in first.tolist()], times) if 2 * len(first) <= len(outcomes) else (outcomes, None)
    if not isinstance(outcomes, np.ndarray) or outcomes.ndim != 1 or outcomes.dtype.kind != "i" or not len(outcomes):
        return outcomes, None
    least = int(outcomes.min())
    if int(outcomes.max()) - least >= SMALL_RANGE or len(outcomes) < SMALL_RANGE:
        return outcomes, None
    times = np.bincount(outcomes if least == 0 else outcomes.astype(np.int64) - least)  # an int8 would overflow
    seen = times.nonzero()[0]
    return (seen + least).astype(outcomes.dtype), times[seen].astype(np.int64)
