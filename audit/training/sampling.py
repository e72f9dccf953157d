"""Which records a step sees, held against the sampler that an accountant assumes.

Some samplers leave nothing to chance: batches of a fixed size have it, and in an epoch of shuffled batches each record
comes once. One step that does otherwise is a proof. The rest are counts that are binomial under the sampler, of events
that are fixed beforehand and independent of each other; each is judged by the exact two-sided binomial test. m tests
share α: each one accuses at α/m, so that the sampler is accused with probability α at most (Bonferroni), whatever the
dependence between tests is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.text import counted, short
from subnormal.audit.training.loop import Indices

SamplerName = Literal["poisson", "fixed size", "shuffled", "cyclic", "full"]
REPEATED = 3  # records that are twice in some batch: fewer may have been read again for their shape
LARGE = 0.1  # the chance of batches that are large, which a truncated batch is not
Batches = Sequence[Sequence[Indices]]  # of each run and step
Seen = NDArray[np.bool_]  # which records a step saw, of shape (runs, steps, records)


@dataclass(frozen=True, slots=True)
class Sampler:
    """What an accountant assumes. rate: of "poisson". size: of a batch of the others.

    "fixed size": each step draws so many records without replacement. "shuffled": an epoch cuts a random order of the
    records into batches. "cyclic": an epoch cuts the same order. "full": each step sees all.
    """

    name: SamplerName
    rate: float | None = None
    size: int | None = None

    def __str__(self) -> str:
        words = {
            "poisson": f"Poisson sampling with rate {self.rate}",
            "fixed size": f"samples of {self.size} without replacement",
            "shuffled": f"shuffled batches of {self.size}",
            "cyclic": f"batches of {self.size} in a fixed order",
            "full": "all records in each step",
        }
        return words[self.name]

    @property
    def sizes_vary(self) -> bool:
        """Whether the size of a batch depends on which records there are."""
        return self.name == "poisson"

    def epoch(self, length: int) -> int:
        """Return the steps of an epoch of so many records; the last batch may be smaller, or left out."""
        return max(1, -(-length // self.size)) if self.size else 1


@dataclass(frozen=True, slots=True)
class Count:
    """A number of events, of so many that are independent and each have this chance under the sampler."""

    what: str
    seen: int
    of: int
    chance: float

    @classmethod
    def among(cls, what: str, happened: Seen, chance: float) -> Count:
        """Return how many of these events happened, which are independent."""
        return cls(what, int(happened.sum()), happened.size, float(chance))

    @property
    def p_value(self) -> float:
        """The exact two-sided p-value."""
        from scipy.stats import binomtest

        return float(binomtest(self.seen, self.of, min(1.0, max(0.0, self.chance))).pvalue) if self.of else 1.0

    def __str__(self) -> str:
        expected = short(self.of * self.chance)
        return f"{self.what}: {self.seen:,} of {self.of:,}, expected {expected} (p = {short(self.p_value, 2)})"


def flaws(batches: Batches, length: int, sampler: Sampler) -> list[str]:
    """Return what the sampler never does, and these batches do."""
    found = []
    steps = [batch for run in batches for batch in run]
    if _repeat(steps, length):
        found.append("a batch holds a record twice")
    sizes = {len(batch) for batch in steps}
    if sampler.name == "full" and sizes != {length}:
        found.append(f"batches have {_range(sizes)} of {length} records")
    if sampler.name == "fixed size" and sizes != {sampler.size}:
        found.append(f"batches have sizes {_range(sizes)}, and not {sampler.size}")
    if sampler.name in ("shuffled", "cyclic"):
        each = sampler.epoch(length)
        if max(sizes) > (sampler.size or length):
            found.append(f"a batch has {max(sizes)} records, more than {sampler.size}")
        if _repeat([np.concatenate(run[at : at + each]) for run in batches for at in range(0, len(run), each)], length):
            found.append(f"a record takes part twice in an epoch of {each} steps")
    if sampler.name == "cyclic" and any(_orders(run) != _orders(batches[0]) for run in batches):
        found.append("the order of the records is not the same in each run")
    return found


def _repeat(batches: Sequence[Indices], length: int) -> bool:
    """Return whether several different records are twice in some batch."""
    repeated = [np.flatnonzero(np.bincount(batch, minlength=length) > 1) for batch in batches]
    return len(np.unique(np.concatenate(repeated))) >= REPEATED


def _orders(run: Sequence[Indices]) -> list[list[int]]:
    return [sorted(batch.tolist()) for batch in run]


def _range(sizes: set[int]) -> str:
    return str(min(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"


def counts(batches: Batches, length: int, sampler: Sampler) -> list[Count]:
    """Return the counts that judge the batches of several runs, all with equally many steps."""
    seen = np.zeros((len(batches), len(batches[0]), length), dtype=bool)
    for number, run in enumerate(batches):
        for step, batch in enumerate(run):
            seen[number, step, batch] = True
    if sampler.name == "poisson":
        return _of_poisson(seen, float(sampler.rate or 0.0))
    if sampler.name == "fixed size":
        return _of_fixed_size(seen, int(sampler.size or 0))
    return _of_shuffled(seen, sampler) if sampler.name == "shuffled" else []


def _of_poisson(seen: Seen, rate: float) -> list[Count]:
    """All entries of `seen`, of shape (runs, steps, records), are independent and True with the probability of rate."""
    from scipy.stats import binom

    runs, steps, length = seen.shape
    sizes = seen.sum(axis=2)
    usual = int(np.floor((length + 1) * rate))
    large = int(binom.isf(LARGE, length, rate))
    first, second = seen[:, 0 : steps - steps % 2 : 2], seen[:, 1::2]
    halves = seen[: runs // 2, 0], seen[runs - runs // 2 :, 0]
    made = [
        Count.among("records in a step", seen, rate),
        Count.among("steps with the first record", seen[:, :, 0], rate),
        Count.among("steps with the last record", seen[:, :, -1], rate),
        Count.among(f"steps with {counted(usual, 'record')}", sizes == usual, binom.pmf(usual, length, rate)),
        Count.among(f"steps with more than {counted(large, 'record')}", sizes > large, binom.sf(large, length, rate)),
        Count.among("records of a step in the next one too", first & second, rate**2),
        Count.among("records of a run's first step in that of another run", halves[0] & halves[1], rate**2),
    ]
    return [one for one in made if one.of]


def _of_fixed_size(seen: Seen, size: int) -> list[Count]:
    """The steps are independent; a record is in one with the chance size/records."""
    _, steps, _ = seen.shape
    pairs = seen[:, 0 : steps - steps % 2 : 2], seen[:, 1::2]
    return [*_of_places(seen, size, "steps"), _apart("pairs of steps", *pairs, size), _apart_in_runs(seen, size)]


def _of_shuffled(seen: Seen, sampler: Sampler) -> list[Count]:
    """The epochs are independent; in one, a record is in the first batch with the chance size/records."""
    size = min(int(sampler.size or 0), seen.shape[2])
    starts = seen[:, :: sampler.epoch(seen.shape[2])]
    pairs = starts[:, 0 : starts.shape[1] // 2 * 2 : 2], starts[:, 1::2]
    made = [*_of_places(starts, size, "first batches of epochs"), _apart_in_runs(seen, size)]
    return [*made, _apart("pairs of first batches", *pairs, size)] if pairs[0].size else made


def _of_places(seen: Seen, size: int, what: str) -> list[Count]:
    """Count the batches that hold the first record, the last one, and the first two."""
    length = seen.shape[2]
    share = size / length
    first, last, both = seen[:, :, 0], seen[:, :, -1], seen[:, :, 0] & seen[:, :, 1]
    return [
        Count.among(f"{what} with the first record", first, share),
        Count.among(f"{what} with the last record", last, share),
        Count.among(f"{what} with the first two records", both, share * (size - 1) / (length - 1)),
    ]


def _apart(what: str, one: Seen, other: Seen, size: int) -> Count:
    """Count the pairs of batches that have no record in common: independent samples have a hypergeometric law."""
    from scipy.stats import hypergeom

    length, other = one.shape[-1], other[..., : one.shape[-2], :]
    apart = np.asarray(~(one & other).any(axis=-1))
    return Count.among(f"{what} without a common record", apart, hypergeom.pmf(0, length, size, size))


def _apart_in_runs(seen: Seen, size: int) -> Count:
    half = len(seen) // 2
    return _apart("pairs of runs whose first steps are", seen[:half, 0], seen[half : 2 * half, 0], size)


def looks_like(batches: Batches, length: int) -> Sampler | None:
    """Return a sampler, other than Poisson's, of which these batches have all that leaves nothing to chance."""
    sizes = {len(batch) for run in batches for batch in run}
    size = max(sizes)
    if not size:
        return None
    names: tuple[SamplerName, ...] = ("full", "cyclic", "shuffled", "fixed size")
    for name in names:
        sampler = Sampler(name, size=size)
        enough = len(batches[0]) >= min(2, sampler.epoch(length)) and (name == "full" or size < length)
        if enough and not flaws(batches, length, sampler):
            return sampler
    return None
