"""What an accountant says of the steps, against certified bounds on the true ε.

σ is the deviation of the noise over the sensitivity of the sum: the clipping norm C with add-or-remove, 2C with
replace.
"""

from __future__ import annotations

import math

from subnormal.audit.claims import sampling_kinds
from subnormal.audit.claims.fixed_sample_kinds import FIXED_SAMPLE_KINDS
from subnormal.audit.claims.kind import Bounds
from subnormal.audit.claims.noise_kinds import gaussian_epsilon, mu_of
from subnormal.audit.model import Verdict
from subnormal.audit.text import given, short
from subnormal.audit.training.result import Stage
from subnormal.audit.training.sampling import Sampler
from subnormal.mechanisms.numerics.interval import Interval, interval, log, normal_tail
from subnormal.mechanisms.privacy import Claim

ROUNDED = 1e-4  # the share of a bound that the rounding of an accountant may miss, as in `subnormal claims`
PLACES = 64  # of a threshold


def bounds(sampler: Sampler, multiplier: float, steps: int, delta: float, length: int, relation: str) -> Bounds | None:
    """Return certified bounds on the true ε at δ; None where this project has none.

    Of batches in a fixed order, a record takes part in ⌈steps/epoch⌉ of them, and the composition of so much noise is
    exact. Shuffling only hides in which step: this is an upper bound of shuffled batches (Chua et al. 2024, How Private
    are DP-SGD Implementations?), and `shuffled_low` a lower one.
    """
    if sampler.name in ("cyclic", "shuffled", "full") or sampler.rate == 1:
        times = -(-steps // sampler.epoch(length))
        exact = gaussian_epsilon(mu_of(multiplier, times), delta)
        if sampler.name != "shuffled":
            return exact
        size = int(sampler.size or length)
        batches = min(steps, length // size)
        return min(exact[1], shuffled_low(multiplier, batches, size / length, delta, relation)), exact[1]
    if sampler.name == "poisson" and relation == "add-or-remove":
        return sampling_kinds.gaussian(multiplier, float(sampler.rate or 0.0), steps, delta)
    if sampler.name == "fixed size" and relation == "replace":
        size = int(sampler.size or 0)
        kind = FIXED_SAMPLE_KINDS[0]
        return kind.bounds(sigma=2 * multiplier, sample=size, left_out=length - size, steps=steps, delta=delta)
    return None


def shuffled_low(multiplier: float, steps: int, share: float, delta: float, relation: str) -> float:
    """Return a lower bound on ε of the first steps of an epoch of shuffled batches of full size.

    share: of the records in a batch. The event is that some noisy sum exceeds a threshold; the best of 64 is taken. All
    other gradients are equal, so that what they add is known: they are 0 or, with add-or-remove, −1. Then a batch with
    a record of gradient 1 lies 2 above the others, and without it, as if its gradient were 0, 1 above them.
    """
    best = 0.0
    for place in range(PLACES):
        threshold = 0.5 + 8 * multiplier * place / PLACES
        for shift in (0, 1) if relation == "add-or-remove" else (0,):
            at = threshold + shift
            with_it, without = (exceeding(multiplier, steps, share, at, shift + more) for more in (1, 0))
            if with_it.low > delta and without.low > 0:
                best = max(best, log((with_it - delta) / without).floats()[0])
    return best


def exceeding(multiplier: float, steps: int, share: float, threshold: float, shift: int) -> Interval:
    """Return the probability that some of the noisy sums of so many batches exceeds a threshold, where the batch that
    holds the record, each with the chance of its share, lies higher by the shift, and all others at 0.
    """
    below, shifted = (1 - normal_tail((interval(threshold) - at) / multiplier) for at in (0, shift))
    held = steps * interval(share)
    return 1 - _power(below, steps - 1) * (held * shifted + (1 - held) * below)


def _power(base: Interval, times: int) -> Interval:
    made = interval(1)
    while times:
        made = made * base if times % 2 else made
        base, times = base * base, times // 2
    return made


def judge_accounting(
    claim: Claim | None,
    sampler: Sampler,
    multiplier: float,
    steps: int,
    length: int,
    relation: str,
    actual: Sampler | None,
) -> Stage:
    """Judge a claim for the assumed sampler; with `actual`, say what the sampler that is there has at least."""
    if claim is None:
        return Stage("accounting", Verdict.UNRESOLVED, ("no claim was given",))
    found = bounds(sampler, multiplier, steps, claim.delta, length, relation)
    if found is None:
        said = f"there are no certified bounds for {sampler} with {relation}"
        return Stage("accounting", Verdict.UNRESOLVED, (said,))
    low, up = found
    evidence = {"low": low, "up": up, "epsilon": claim.epsilon, "delta": claim.delta}
    truth = f"the true ε of {sampler}, {steps:,} steps, at δ = {given(claim.delta)} "
    truth += f"lies between {short(low)} and {short(up)}"
    others = []
    if actual is not None and (other := bounds(actual, multiplier, steps, claim.delta, length, relation)):
        evidence["low_of_the_sampler_that_is_there"] = other[0]
        others.append(f"{actual}, which the batches look like, have ε of at least {short(other[0])}")
    if claim.epsilon < low * (1 - ROUNDED):
        said = f"ε = {given(claim.epsilon)} is claimed, and {truth}"
        return Stage("accounting", Verdict.VIOLATED, (said, *others), evidence)
    kept = "is above it" if claim.epsilon >= up else "lies in between" if math.isfinite(up) else "is not below it"
    return Stage(
        "accounting", Verdict.NOT_REFUTED, (f"{truth}; the claimed {given(claim.epsilon)} {kept}", *others), evidence
    )
