"""The stages of one step: isolation, clipping, aggregation, and how the noise compares with what a record moves.

Nothing here is a matter of chance: all runs of a comparison have the same seeds. Tolerances are those of float32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from subnormal.audit.model import Verdict
from subnormal.audit.text import counted, given, short
from subnormal.audit.training.bench import Bench, Record, all_moved, no_noise
from subnormal.audit.training.hooks import Floats
from subnormal.audit.training.records import Records, extreme_records
from subnormal.audit.training.result import Stage, StageName

SCALES = (0.01, 1.0, -1.0, 1e2, -1e2, 1e4, -1e4, 1e30)
GROWN = 1.5  # by which factor a clipped movement does not grow from records times 100 to records times 10,000
TOLERANCE = 1e-3  # of a norm that is clipped in float32, and of comparisons
NEAR = 0.02  # how near a stated deviation is to the one that is meant
MULTIPLES = (1, 2, 4, 8)  # of the records that make up batches of other sizes
PAIRS = 6  # of records, for isolation
COPIED = "the copied record"


@dataclass(slots=True)
class Facts:
    """What was measured. records: those that are tried, by name. moved: by each that replaces a copy, from the copies'
    sum. refused: records that make the step raise, with what it raises. own: what one copy moves alone; None where it
    cannot be told. comparable: whether data of other lengths give the same sum for the same batch; None where that was
    not seen.
    """

    bench: Bench
    records: dict[str, Record]
    moved: dict[str, Floats] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    own: Floats | None = None
    comparable: bool | None = None
    found: dict[StageName, list[str]] = field(default_factory=dict)
    tried: dict[StageName, list[str]] = field(default_factory=dict)
    evidence: dict[StageName, dict[str, Any]] = field(default_factory=dict)

    def wrong(self, stage: StageName, said: str, **evidence: Any) -> None:
        """Note what is wrong with a stage."""
        self.found.setdefault(stage, []).append(said)
        self.evidence.setdefault(stage, {}).update(evidence)

    def passes(self, stage: StageName, said: str) -> None:
        """Note what a stage passed."""
        self.tried.setdefault(stage, []).append(said)

    def stage(self, name: StageName) -> Stage:
        """Return what was found of a stage."""
        common = {"seed": self.bench.seed, "length": len(self.bench.records), "batch": list(self.bench.batch[:8])}
        if name in self.found:
            return Stage(name, Verdict.VIOLATED, tuple(self.found[name]), common | self.evidence.get(name, {}))
        if name in self.tried:
            return Stage(name, Verdict.NOT_REFUTED, tuple(self.tried[name]), common)
        return Stage(name, Verdict.UNRESOLVED, ("it was not judged, because of what is said of the others",), common)


def measure(bench: Bench, data: Records, extreme: Mapping[str, Record], *, non_finite: bool, sizes_vary: bool) -> Facts:
    """Measure what records move, and judge isolation, clipping of what is not finite, and aggregation."""
    tried = {**extreme_records(data, SCALES, non_finite=non_finite), **extreme}
    facts = Facts(bench, {COPIED: bench.records.record(0), **tried})
    place = bench.batch[0]
    for name, record in tried.items():
        try:
            facts.moved[name] = bench.moved({place: record})
        except ValueError as error:
            facts.refused[name] = str(error)
    _not_finite(facts)
    _isolation(facts, tried)
    _sizes(facts, tried, sizes_vary=sizes_vary)
    return facts


def _not_finite(facts: Facts) -> None:
    """Judge whether each record moves the sum by something finite."""
    infinite = [name for name, moved in facts.moved.items() if not np.isfinite(moved).all()]
    for name in infinite:
        del facts.moved[name]
    if infinite:
        facts.wrong(
            "clipping", f"a record moves the sum without limit, to inf or NaN: {infinite[0]}", record=infinite[0]
        )
    for name, error in list(facts.refused.items())[:1]:
        facts.wrong("clipping", f"a record makes the step raise, which others do not: {name}: {error}", record=name)


def _isolation(facts: Facts, tried: Mapping[str, Record]) -> None:
    """Judge whether what a record moves depends on another record of the batch: the second difference is 0."""
    bench = facts.bench
    if len(bench.batch) < 2:
        return
    one, other = bench.batch[:2]
    names = sorted(facts.moved, key=lambda name: -float(np.abs(facts.moved[name]).max(initial=0.0)))
    usual = [name for name in names if name.endswith((" times 1", " times -1", " times 100"))] or names
    pairs = list(combinations(usual[:4], 2))[:PAIRS]
    for first, second in pairs:
        alone = facts.moved[first], bench.moved({other: tried[second]})
        both = bench.moved({one: tried[first], other: tried[second]})
        size = max(float(np.linalg.norm(part)) for part in alone)
        apart = float(np.linalg.norm(both - alone[0] - alone[1]))
        if not apart <= TOLERANCE * 4 * size + 4 * bench.rounding * math.sqrt(len(both)):
            share = apart / size if size else math.inf
            facts.wrong(
                "isolation",
                f"what a record moves depends on another record of its batch, by {short(100 * share, 3)} % of it: "
                f"{first} at place {one}, and {second} at place {other}",
                places=[one, other],
                records=[first, second],
                share=share,
            )
            return
    facts.passes(
        "isolation", f"{counted(len(pairs), 'pair')} of records in one batch: neither changes what the other moves"
    )


def _sizes(facts: Facts, tried: Mapping[str, Record], *, sizes_vary: bool) -> None:
    """Judge whether the sum and its noise are divided by what depends on the data, in batches of other sizes.

    A batch of b copies of a record moves the sum by b times what one copy moves, where nothing is divided. Batches of
    other sizes come from more or fewer copies, with the same seeds. They are compared only where two lengths with
    batches of one size agree: a loop may begin with, or drop out, what depends on the length.
    """
    if not sizes_vary:
        facts.passes("aggregation", "its batches have one size")
        return
    bench = facts.bench
    share = len(bench.batch) / len(bench.records)
    found = {len(bench.batch): (bench.records, list(bench.batch), bench.zero)}
    for length in {max(1, round(count / share) + more): None for count in MULTIPLES for more in (0, 1)}:
        copies = bench.records.copies(bench.records.record(0), length)
        run = bench.loop.run(copies, 1, bench.seed, no_noise)
        batches = bench.loop.batches(run, length)
        if run.error is None and batches is not None and length != len(bench.records):
            batch, vector = batches[0].tolist(), bench.vector(run)
            if len(vector) != len(bench.zero):
                continue
            if len(batch) in found:
                apart = np.abs(found[len(batch)][2] - vector).max(initial=0.0)
                facts.comparable = facts.comparable is not False and bool(apart <= 4 * bench.rounding)
            found.setdefault(len(batch), (copies, batch, vector))
    if not facts.comparable or len(found) < 2:
        facts.passes("aggregation", "batches of other sizes could not be compared, so that one size was tried")
        return
    for copies, batch, vector in found.values():
        if batch and "isolation" not in facts.found:
            _same_noise(facts, copies, len(batch), vector)
            _same_movement(facts, copies, batch, vector, tried)
        if "aggregation" in facts.found:
            return
    _on_a_line(facts, {size: (len(copies), vector) for size, (copies, _, vector) in found.items()})


def bent(facts: Facts, length: int) -> bool:
    """Return whether noise moves the outcome less far on so many copies than on as many small records.

    A bound on the parameters does so, which is post-processing. Sums and noise are then no longer what they were.
    """
    bench = facts.bench
    pair = bench.records.record(0), facts.records[f"data[0] times {given(SCALES[0])}"]
    usual, small = (bench.by_noise(bench.records.copies(record, length)) for record in pair)
    if usual is None or small is None:
        return False
    rounded = 4 * bench.rounding * math.sqrt(len(bench.zero))
    return bool(np.linalg.norm(small[1]) > np.linalg.norm(usual[1]) * (1 + TOLERANCE) + rounded)


def _on_a_line(facts: Facts, found: Mapping[int, tuple[int, Floats]]) -> None:
    """Judge whether batches of b copies move the sum by b times what one moves, which is noted as `own`.

    found: the length of the data and the sum, by the size of the batch.
    """
    sums = {size: vector for size, (_, vector) in found.items()}
    bench, sizes = facts.bench, sorted(sums)
    own = (sums[sizes[-1]] - sums[sizes[0]]) / (sizes[-1] - sizes[0])
    slack = 4 * TOLERANCE * float(np.linalg.norm(own)) * sizes[-1] + 8 * bench.rounding * math.sqrt(len(own))
    apart = [float(np.linalg.norm(sums[one] - sums[sizes[0]] - (one - sizes[0]) * own)) for one in sizes]
    seen = f"batches of {', '.join(map(str, sizes))} copies of a record"
    if max(apart) <= slack:
        facts.own = own
        facts.passes("aggregation", f"{seen}: neither sum nor noise are divided by their size")
    elif "isolation" not in facts.found and not any(bent(facts, length) for length, _ in found.values()):
        said = f"the sum is divided by what depends on the data: {seen} do not lie on a line"
        facts.wrong("aggregation", said, sizes=sizes)


def _same_noise(facts: Facts, copies: Records, size: int, zero: Floats) -> None:
    """Judge whether noise moves the outcome as far as on the bench."""
    bench = facts.bench
    run = bench.loop.run(copies, 1, bench.seed, all_moved)
    moved, usual = bench.vector(run) - zero, bench.effects.sum(axis=0)
    apart = float(np.linalg.norm(moved - usual) - 4 * bench.rounding * math.sqrt(len(usual)))
    if apart > NEAR * np.linalg.norm(usual) and not bent(facts, len(copies)):
        ratio = float(np.linalg.norm(moved) / np.linalg.norm(usual)) if usual.any() else math.nan
        facts.wrong(
            "aggregation",
            f"the noise is scaled by what depends on the data: in a batch of {size} it moves the outcome "
            f"{short(ratio, 4)} times as far as in one of {len(bench.batch)}",
            noise_ratio=ratio,
        )


def _same_movement(facts: Facts, copies: Records, batch: Any, zero: Floats, tried: Mapping[str, Record]) -> None:
    """Judge whether a record moves the sum as far as on the bench."""
    bench = facts.bench
    if not facts.moved:
        return
    usual = [name for name in facts.moved if name.endswith((" times 1", " times -1"))] or list(facts.moved)
    name = max(usual, key=lambda one: float(np.linalg.norm(facts.moved[one])))
    run = bench.run({int(batch[0]): tried[name]}, records=copies)
    if run.error is not None:
        return
    moved, before = bench.vector(run) - zero, facts.moved[name]
    apart = float(np.linalg.norm(moved - before))
    slack = 4 * TOLERANCE * np.linalg.norm(before) + 8 * bench.rounding * math.sqrt(len(zero))
    if apart > slack and not bent(facts, len(copies)):
        ratio = float(np.linalg.norm(moved) / np.linalg.norm(before))
        facts.wrong(
            "aggregation",
            f"what a record moves depends on the size of its batch: in a batch of {len(batch)} it moves the sum "
            f"{short(ratio, 4)} times as far as in one of {len(bench.batch)}: {name}",
            movement_ratio=ratio,
            record=name,
        )


def judge_norms(facts: Facts, clip: float, multiplier: float, relation: str, step_size: float | None) -> None:
    """Judge what a record moves against the noise, and say which of the two is wrong.

    With add-or-remove a record alone must move the noisy sum by at most 1/σ deviations of its noise; where only
    differences of two records are known, they by at most 2/σ. With replace, differences by at most 1/σ.
    """
    bench = facts.bench
    if not facts.moved or not bench.covered.any():
        return
    every = _every(facts)
    (one, other), most = furthest(facts)
    allowed = 1.0 if relation == "replace" else 2.0
    said, ratio = f"{one} instead of {other}", most * multiplier / allowed
    if facts.own is not None and relation != "replace":
        alone = {name: bench.loss(moved + facts.own) for name, moved in every.items()}
        name = max(alone, key=lambda each: alone[each])
        if alone[name] * multiplier > ratio:
            said, ratio, most, allowed = name, alone[name] * multiplier, alone[name], 1.0
    slack = TOLERANCE + bench.slack * multiplier
    evidence = {"record": said, "mu": most, "allowed": allowed / multiplier}
    limit = short(allowed / multiplier)
    seen = f"{said} moves the noisy sum by {short(most)} deviations of its noise, {limit} are allowed"
    if ratio <= 1 + slack:
        _passes(facts, ratio, len(facts.moved))
        return
    if grown := _grown(every):
        why = f"no norm bounds what a record moves (100 times larger records move {grown} times as much)"
        facts.wrong("clipping", f"{why}: {seen}", **evidence)
        return
    if "isolation" in facts.found or "aggregation" in facts.found:  # then the movement is theirs
        return
    stage, why = _blamed(facts, clip, multiplier, relation, every, step_size)
    facts.wrong(stage, f"{why}: {seen}", **evidence)
    if stage != "clipping":
        facts.passes(
            "clipping", f"{counted(len(facts.moved), 'record')}, scaled up to 1e30 times: what they move is bounded"
        )


def _every(facts: Facts) -> dict[str, Floats]:
    return dict(facts.moved) | {COPIED: np.zeros_like(facts.bench.zero)}


def furthest(facts: Facts) -> tuple[tuple[str, str], float]:
    """Return the two records that lie furthest apart in deviations of the noise, and how far."""
    every = _every(facts)
    pairs = {(one, other): facts.bench.loss(every[one] - every[other]) for one, other in combinations(every, 2)}
    return max(pairs.items(), key=lambda pair: pair[1])


def _passes(facts: Facts, ratio: float, tried: int) -> None:
    share = short(100 * min(ratio, 1.0), 3)
    facts.passes(
        "clipping", f"{counted(tried, 'record')}, the largest of which moves the sum by {share} % of the clipping norm"
    )
    facts.passes("noise", "its deviation is that of the noise multiplier, measured on what records move")


def _grown(every: Mapping[str, Floats]) -> str | None:
    """Return how many times as much 100 times larger records move; None where that is bounded."""
    at = {
        scale: [moved for name, moved in every.items() if name.endswith(f" times {given(scale)}")]
        for scale in (1e2, 1e4)
    }
    largest = {scale: max((float(np.linalg.norm(one)) for one in moved), default=0.0) for scale, moved in at.items()}
    return short(largest[1e4] / largest[1e2]) if largest[1e4] > GROWN * largest[1e2] > 0 else None


def _blamed(
    facts: Facts, clip: float, multiplier: float, relation: str, every: Mapping[str, Floats], step_size: float | None
) -> tuple[StageName, str]:
    """Return the stage that is wrong where records move too much for the noise, and why it is that one.

    The unit of the sum decides: it is known by step_size; or else the noise is taken to be drawn in this unit, where it
    states the deviation that is meant.
    """
    bench = facts.bench
    needed = multiplier * clip * (2 if relation == "replace" else 1)
    noise = float(bench.scales[0]) if len(set(np.round(bench.scales, 12))) == 1 else math.nan
    if step_size is not None:
        noise = float(bench.deviation[bench.deviation > 0].min()) / step_size
    if relation == "replace" and abs(noise / (multiplier * clip) - 1) < NEAR:
        return (
            "aggregation",
            f"noise of {short(noise)} is for the clipping norm, and a replaced record moves twice as much",
        )
    if abs(noise / needed - 1) < NEAR:
        return (
            "clipping",
            f"noise of {short(noise)} is right, and a record moves more than the clipping norm {short(clip)}",
        )
    if step_size is None and (apart := _clipped_apart(facts, every)):
        return "clipping", f"each of {apart} parts of the gradient is clipped on its own"
    return "noise", f"records are clipped, and the deviation of the noise is {short(noise)}, not {short(needed)}"


def _clipped_apart(facts: Facts, every: Mapping[str, Floats]) -> int:
    """Return how many parts of the gradient have one norm each where records are large; 0 where they have not."""
    bench = facts.bench
    ends = np.cumsum([len(bench.others[name]) for name in bench.names])[:-1]
    large = [moved for name, moved in every.items() if name.endswith(" times 10000")]
    for moved in large:
        norms = [
            float(np.linalg.norm(part)) for part in np.split(moved + (0 if facts.own is None else facts.own), ends)
        ]
        if len(norms) > 1 and min(norms) > 0.9 * max(norms) > 0:
            return len(norms)
    return 0
