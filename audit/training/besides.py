"""What leaves the loop besides noisy sums: losses, batch sizes, the best checkpoint, the moment of an early stop.

Nothing here is a matter of chance. Where the noise is moved so that it makes up for a changed record, the noisy sum is
as before, and so must everything be that is computed from noisy sums alone. And a record that no batch holds must
change nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from subnormal.audit.training.bench import ROUNDING, Record, all_moved, parts
from subnormal.audit.training.hooks import Draw, Floats
from subnormal.audit.training.loop import Loop, Run
from subnormal.audit.training.records import Records
from subnormal.audit.training.result import StageName
from subnormal.audit.training.step import Facts

NAME: StageName = "released besides"
LONGER = 4  # further records that are tried, to have a batch of another size
REMAINS = 0.01  # the share of an effect on a part of the outcome that rounding may leave
STEPS = 8  # of the run in which records that no batch holds are changed
CHANGED = 3  # of such records
SEEDS = 8
NONE = np.zeros(0)


def judge_step(facts: Facts, tried: Mapping[str, Record], *, lengths: bool) -> None:
    """Judge what a step releases besides its noisy sum. lengths: how many records there are must not show either."""
    bench = facts.bench
    place = bench.batch[0]
    finite = [name for name in facts.moved if name in tried][:8]
    for name in finite:
        run = bench.run({place: tried[name]})
        _compared(facts, run, {place: tried[name]}, bench.records, f"{name} at place {place}")
        if NAME in facts.found:
            return
    for more in range(1, LONGER + 1) if lengths and facts.comparable else ():
        length = len(bench.records)
        copies = bench.records.copies(bench.records.record(0), length + more * max(1, length // 2))
        _compared(facts, bench.run({}, records=copies), {}, copies, f"{len(copies)} records in place of {length}")
        if NAME in facts.found:
            return
    facts.passes(NAME, f"{len(finite)} changed records: all parts of the outcome follow from the noisy sum")


def _compared(facts: Facts, run: Run, edits: Mapping[int, Record], records: Records, what: str) -> None:
    """Compare a run with that of the bench, after the noise has made up for how far the noisy sum moved."""
    bench = facts.bench
    if run.error is not None:
        facts.wrong(NAME, f"the loop raises {run.error} with {what}, and not without")
        return
    moved = bench.vector(run) - bench.zero
    whole = bench.effects.sum(axis=0)
    if not np.isfinite(moved).all() or (whole == 0).any():
        return
    needed = -moved / whole

    def change(number: int, draw: Draw) -> Floats:
        shift: Floats = draw.scale * needed[starts[number] : starts[number] + len(draw.values)]
        return draw.location + shift

    sizes = [len(draw.values) for draw in run.draws[bench.loop.initial :]]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    if starts[-1] != len(needed):
        _unreached(facts, run, what)
        return
    made_up = bench.loop.run(records.replaced(edits), 1, bench.seed, change)
    if made_up.error is not None:
        return
    rest = bench.vector(made_up) - bench.zero
    if np.abs(rest).max(initial=0.0) > REMAINS * np.abs(moved).max(initial=0.0) + 8 * bench.rounding:
        _unreached(facts, run, what)  # a coordinate does not get the draws at its own place
        return
    _differing(facts, parts(made_up), parts(run), what)


def _differing(facts: Facts, made_up: Mapping[str, Floats], moved: Mapping[str, Floats], what: str) -> None:
    """Look for a part of the outcome that is not as on the bench though the noisy sum is."""
    bench = facts.bench
    for name, before in bench.others.items():
        now, effect = made_up.get(name, NONE), moved.get(name, NONE)
        if name in bench.names:
            continue
        if now.shape != before.shape:
            facts.wrong(NAME, f"the length of {name} depends on {what}", part=name)
            return
        apart, size = np.abs(now - before).max(initial=0.0), np.abs(effect - before).max(initial=0.0)
        if not apart <= REMAINS * size + 64 * ROUNDING * np.abs(before).max(initial=0.0):
            facts.wrong(NAME, f"{name} depends on {what}, though the noisy sum is the same", part=name)
            return


def _unreached(facts: Facts, run: Run, what: str) -> None:
    """Look for a part that data move and noise does not: what noise moves cannot be judged here."""
    bench, after = facts.bench, parts(run)
    noisy = parts(bench.loop.run(bench.records, 1, bench.seed, all_moved))
    for name, before in bench.others.items():
        moved = after[name].shape != before.shape or not np.array_equal(after[name], before, equal_nan=True)
        if moved and name not in bench.names and np.array_equal(noisy[name], before, equal_nan=True):
            facts.wrong(NAME, f"{name} depends on {what}, and noise does not move it", part=name)
            return


def judge_unused(facts: Facts, loop: Loop, data: Records, steps: int, tried: Mapping[str, Record], seed: int) -> None:
    """Judge whether records that no batch holds change the outcome of a run of several steps."""
    steps = min(steps, STEPS)
    for number in range(seed, seed + SEEDS):
        run = loop.run(data, steps, number)
        found = loop.batches(run, len(data))
        if run.error is not None or found is None:
            return
        unused = sorted(set(range(len(data))) - {int(one) for batch in found for one in batch})
        if unused:
            break
    else:
        return
    names = [name for name in facts.moved if name in tried][-CHANGED:]
    for name in names:
        place = unused[-1]
        other = loop.run(data.replaced({place: tried[name]}), steps, number)
        differing = [
            at for at, one in run.leaves.items() if not np.array_equal(one, other.leaves.get(at, NONE), equal_nan=True)
        ]
        if differing or other.error is not None:
            part = differing[0] if differing else f"the loop raises {other.error}: it"
            facts.wrong(
                NAME,
                f"{part} depends on a record that no batch of {steps} steps holds: {name} at place {place}",
                unused_seed=number,
                place=place,
                steps=steps,
            )
            return
    facts.passes(NAME, f"records that no batch of {steps} steps holds change nothing")
