"""The noise of the steps: drawn anew in each of them and in each run, in every coordinate, with a normal law.

Equal numbers are no matter of chance: two draws of a continuous law are never equal, and two of float32 are in three
numbers with a probability of 10^-18. The law is judged by two exact tests of the draws over the deviations
that they state: their sum is normal, and their sum of squares has a χ² law. Each test gets its share of α.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subnormal.audit.text import counted, short
from subnormal.audit.training.hooks import Draw, Floats
from subnormal.audit.training.loop import Loop, Run
from subnormal.audit.training.step import Facts

TESTS = 2  # of chance
EQUAL = 3  # numbers in a row that are equal by no chance
SCALE = 1e-6  # relative, by which stated deviations of the steps may differ


def judge_draws(facts: Facts, loop: Loop, runs: Sequence[Run], steps: int, alpha: float) -> None:
    """Judge the draws of several runs with different seeds. alpha: of each test of chance."""
    drawn = [loop.of_steps(run) for run in runs if run.error is None]
    if not loop.steady:
        facts.wrong("noise", "how often a step draws noise depends on its batch")
        return
    fewest = min(map(len, drawn), default=steps)
    if fewest < steps and not loop.skips_empty:
        facts.wrong("noise", f"a run of {steps} steps drew noise for only {fewest}: some step adds none", steps=fewest)
    if not drawn or not drawn[0]:
        return
    one, other = ([_joined(step) for step in run] for run in (drawn[0], drawn[-1]))
    if same := _equal_draws([draw for step in one for draw in step]):
        facts.wrong("noise", f"two draws of one run are equal: {same[0].site} and {same[1].site} ({same[0].primitive})")
    if len(drawn) > 1 and one and other and (same := _equal_draws(one[0], other[0])):
        facts.wrong("noise", f"two runs draw the same noise at {same[0].site} ({same[0].primitive}): its seed is fixed")
    scales = [np.concatenate([draw.scale for draw in step]) for step in one if len(step) == loop.each]
    for number, scale in enumerate(scales):
        if scale.shape != scales[0].shape or np.abs(scale - scales[0]).max(initial=0.0) > SCALE * scales[0].max(
            initial=0.0
        ):
            facts.wrong("noise", f"the deviation of the noise changes between step 1 and step {number + 1}")
            break
    standard = np.concatenate([draw.standard for run in drawn for step in run for draw in step])
    if wrong := law_of(standard, alpha):
        facts.wrong("noise", wrong)
    facts.passes("noise", f"{counted(len(standard), 'draw')} have the mean and the deviation that they state")
    facts.passes("noise", f"{counted(sum(map(len, drawn)), 'step')}: each draws anew, no two draws are equal")


def _joined(step: list[Draw]) -> list[Draw]:
    """Return the draws of a step, or all in one where each has too few numbers to compare."""
    if any(len(draw.values) >= EQUAL for draw in step):
        return step
    together = (np.concatenate([getattr(draw, name) for draw in step]) for name in ("location", "scale", "values"))
    return [Draw(step[0].primitive, step[0].site, *together)]


def _equal_draws(draws: Sequence[Draw], others: Sequence[Draw] | None = None) -> tuple[Draw, Draw] | None:
    """Return two draws that begin with the same numbers. others: those that the first ones are compared with."""
    known: dict[bytes, Draw] = {}
    for draw in draws:
        start = np.abs(draw.standard[:EQUAL]).round(6)
        if len(start) == EQUAL and start.any():
            if others is None and start.tobytes() in known:
                return known[start.tobytes()], draw
            known[start.tobytes()] = draw
    for draw in others or ():
        start = np.abs(draw.standard[:EQUAL]).round(6)
        if start.tobytes() in known:
            return known[start.tobytes()], draw
    return None


def law_of(standard: Floats, alpha: float) -> str | None:
    """Return what is wrong with numbers that ought to be standard normal; None where both tests pass at α."""
    from scipy.stats import chi2, norm

    square, number = float(np.square(standard).sum()), len(standard)
    centred = 2 * float(norm.sf(abs(float(standard.sum())) / np.sqrt(number)))
    spread = 2 * min(float(chi2.sf(square, number)), float(chi2.cdf(square, number)))
    if min(centred, spread) > alpha:
        return None
    ratio = short(float(np.sqrt(square / number)), 4)
    p = short(min(centred, spread), 2)
    return f"{number:,} draws do not have the law that they state: {ratio} times its deviation (p = {p})"


def judge_cover(facts: Facts) -> None:
    """Judge whether noise reaches each coordinate of the sum that a record moves."""
    bench = facts.bench
    if not facts.moved:
        return
    reached = np.max([np.abs(moved) for moved in facts.moved.values()], axis=0) > 4 * bench.rounding
    bare = reached & (bench.deviation == 0)
    if bare.any():
        ends = np.cumsum([len(bench.others[name]) for name in bench.names])
        part = bench.names[int(np.searchsorted(ends, int(np.flatnonzero(bare)[0]), side="right"))]
        facts.wrong("noise", f"{counted(int(bare.sum()), 'coordinate')} of the sum get no noise, in {part}", part=part)
