"""Aggregation at other lengths of the data: with add-or-remove, how many records there are must not set a scale.

The noisy sum of a step may be divided by the expected size of a batch where that is a public number. A divisor that
follows the number of records is none: the deviation of the noise then differs between neighbouring data, and many
coordinates and steps tell them apart. With replace, the length is public, and nothing is tried.

Nothing here is a matter of chance. What the noise moves is the difference of two runs on the same records with the same
seeds, so it does not depend on records, on batches or on the initial model of a correct loop. Chance may set it, as a
random part of the coordinates or a noisy count does, or a bound on the outcome. Such a loop has several scales at one
length already, and other lengths tell nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subnormal.audit.text import short
from subnormal.audit.training.bench import SEEDS, Bench
from subnormal.audit.training.hooks import Floats
from subnormal.audit.training.step import NEAR, Facts, bent, furthest

UNTOLD = "whether the length sets it could not be told"
SAME = 8  # seeds whose scale is that of another one, before the length is blamed


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """What noise of one deviation moves on so many records, and how many of them the step read; None: not known."""

    moved: Floats
    batch: int | None


def judge_lengths(facts: Facts, multiplier: float) -> None:
    """Judge the scale of the noise, and what a record moves, on more and fewer records."""
    usual = len(facts.bench.records)
    compared = _same_noise(facts, (usual - 1, usual + 1, 2 * usual))
    for length in (usual - 1, usual // 2):
        if not {"isolation", "clipping", "aggregation", "noise"} & set(facts.found):
            _still_bounded(facts, length, multiplier)
    if compared:
        seen = ", ".join(map(str, compared))
        facts.passes("aggregation", f"data of {seen} records: noise moves the outcome as far as on those of {usual}")


def _scale(bench: Bench, length: int, more: int = 0) -> _Scale | None:
    """Return the scale on so many records, None where there is none. more: added to the seed."""
    found = bench.by_noise(bench.records.copies(bench.records.record(0), length), more)
    batches = bench.loop.batches(found[0], length) if found else None
    return _Scale(found[1], len(batches[0]) if batches else None) if found else None


def _same_noise(facts: Facts, lengths: Sequence[int]) -> list[int]:
    """Judge whether noise moves the outcome as far as on the bench. Returns the lengths that could be compared.

    Where batches of two sizes have two scales, the size may be what sets them, which is said already.
    """
    bench, usual, compared = facts.bench, len(facts.bench.records), []
    here = _Scale(bench.effects.sum(axis=0), len(bench.batch))
    for length in lengths:
        other = _scale(bench, length)
        if other is None:
            continue
        differs = _differ(bench, here, other)
        if differs and not _steady(facts, length):
            facts.passes("aggregation", f"noise moves the outcome by chance, or as far as records let it: {UNTOLD}")
            break
        compared.append(length)
        if differs:
            (fewer, less), (more, most) = _neighbours(bench, {usual: here, length: other})
            if "aggregation" not in facts.found or less.batch == most.batch:
                ratio = float(np.linalg.norm(less.moved) / np.linalg.norm(most.moved))
                facts.wrong(
                    "aggregation",
                    f"the noise is scaled by what depends on the number of records: with {fewer} records it moves the "
                    f"outcome {short(ratio, 4)} times as far as with {more}",
                    lengths=[fewer, more],
                    noise_ratio=ratio,
                )
                break
    return compared


def _apart(one: _Scale, other: _Scale) -> float:
    return float(np.linalg.norm(one.moved - other.moved))


def _differ(bench: Bench, one: _Scale, other: _Scale) -> bool:
    rounded = 4 * bench.rounding * math.sqrt(len(bench.zero))
    return bool(_apart(one, other) > NEAR * np.linalg.norm(one.moved) + rounded)


def _steady(facts: Facts, length: int) -> bool:
    """Return whether seeds show one scale for batches of one size, on so many records, and no bound on the outcome."""
    bench, same = facts.bench, 0
    usual = _scale(bench, length)
    if usual is None or bent(facts, length):
        return False
    scales = {usual.batch: usual}
    for more in range(1, SEEDS + 1):
        other = _scale(bench, length, more)
        if other is None:
            continue
        known = scales.setdefault(other.batch, other)
        if _differ(bench, known, other):
            return False
        same += known is not other
        if same == SAME:
            return True
    return False


def _neighbours(bench: Bench, ends: dict[int, _Scale]) -> list[tuple[int, _Scale]]:
    """Return two neighbouring lengths between two with other scales: the larger difference lies in one of the halves.

    They stay further apart where the step fails in between.
    """
    while max(ends) - min(ends) > 1:
        first, last = sorted(ends)
        middle = (first + last) // 2
        found = _scale(bench, middle)
        if found is None:
            break
        del ends[first if _apart(found, ends[first]) < _apart(found, ends[last]) else last]
        ends[middle] = found
    return sorted(ends.items())


def _still_bounded(facts: Facts, length: int, multiplier: float) -> None:
    """Judge whether the two records that lie furthest apart on the bench are within the bound on fewer records too."""
    bench = facts.bench
    (one, other), _ = furthest(facts)
    copies = bench.records.copies(bench.records.record(0), length)
    batches = bench.loop.batches(bench.run({}, records=copies), length)
    if not batches or not len(batches[0]):
        return
    place = int(batches[0][0])
    runs = [bench.run({place: facts.records[name]}, records=copies) for name in (one, other)]
    if any(run.error is not None or len(bench.vector(run)) != len(bench.zero) for run in runs):
        return
    most = bench.loss(bench.vector(runs[0]) - bench.vector(runs[1]))
    allowed = 2 / multiplier
    if most > allowed * (1 + NEAR) + bench.slack and _steady(facts, length):
        facts.wrong(
            "aggregation",
            f"the sum is divided by what depends on the number of records: with {length} records {one} instead of "
            f"{other} moves the noisy sum by {short(most)} deviations of its noise, {short(allowed)} are allowed",
            length=length,
            mu=most,
        )
