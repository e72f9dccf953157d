"""Two laws prove what they prove: certified bounds, both directions, no tolerance."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from attacks.events import OneOf, Refuses
from audit import exact
from audit.report import Verdict
from mechanisms.arithmetic import log_ratio
from mechanisms.interface import Refused
from mechanisms.law import Law, exact_law
from mechanisms.privacy import Claim


def weights(*values: int) -> Law[int]:
    return exact_law(range(len(values)), range(1, len(values) + 1), values, sum(values))


def hockey_stick(p: list[Fraction], q: list[Fraction], factor: Fraction) -> Fraction:
    """By brute force over all events."""
    events = itertools.product((0, 1), repeat=len(p))
    return max(
        sum((e * (a - factor * b) for e, a, b in zip(event, p, q, strict=True)), Fraction(0)) for event in events
    )


def test_delta_is_the_best_event_of_all() -> None:
    rng = random.Random(1)
    for _ in range(60):
        p, q = ([rng.randrange(4) for _ in range(5)] for _ in range(2))
        if not (sum(p) and sum(q)):
            continue
        law_in, law_out = weights(*p), weights(*q)
        share_in, share_out = ([law.probability(i)[0] for i in range(5)] for law in (law_in, law_out))
        evidence = exact.compare(law_in, law_out, Claim(0.5))
        factor = Fraction(math.exp(0.5))
        expected = max(hockey_stick(share_in, share_out, factor), hockey_stick(share_out, share_in, factor))
        assert evidence.delta == pytest.approx(float(expected), abs=1e-15)
        assert evidence.total_variation == pytest.approx(
            float(hockey_stick(share_in, share_out, Fraction(1))), abs=1e-15
        )
        assert (evidence.verdict is Verdict.VIOLATED) == (expected > 0)


def test_the_loss_is_exact_and_infinite_where_only_one_world_can_land() -> None:
    assert exact.compare(weights(3, 1), weights(1, 1), Claim(1.0)).epsilon == pytest.approx(math.log(2), rel=1e-15)
    assert exact.compare(weights(1, 1), weights(1, 0), Claim(1.0)).epsilon == math.inf
    assert exact.compare(weights(1, 0), weights(1, 1), Claim(1.0)).epsilon == math.inf
    assert exact.compare(weights(1, 2), weights(1, 2), Claim(1.0)).epsilon == 0


def test_a_claim_is_decided_at_the_last_bit() -> None:
    # e^ε is between two rationals 2^-60 apart: the ratio just below holds, just above violates.
    near = Fraction(math.exp(0.5)).limit_denominator(10**6)
    for step, verdict in ((Fraction(-1, 10**9), Verdict.HOLDS), (Fraction(1, 10**9), Verdict.VIOLATED)):
        ratio = near + step
        p = ratio / (1 + ratio)
        law_in, law_out = weights(p.numerator, p.denominator - p.numerator), weights(1, 1)
        loss = max(2 * p, 1 / (2 * (1 - p)))
        epsilon = float(log_ratio(loss.numerator, loss.denominator)) - float(step)
        assert exact.compare(law_in, law_out, Claim(epsilon)).verdict is verdict


def test_a_delta_of_the_claim_is_allowed_for() -> None:
    law_in, law_out = weights(9, 1), weights(10, 0)
    assert exact.compare(law_in, law_out, Claim(0.2, 0.1)).verdict is Verdict.HOLDS
    assert exact.compare(law_in, law_out, Claim(0.2, 0.0999)).verdict is Verdict.VIOLATED


def test_bounds_that_do_not_decide_are_unresolved() -> None:
    loose = Law(range(2), [1, 2], [4, 4], [6, 6], 10, Fraction(0))
    evidence = exact.compare(loose, weights(1, 1), Claim(0.1))
    assert evidence.verdict is Verdict.UNRESOLVED
    assert evidence.within == pytest.approx(2 * (0.5 - 0.4 * math.exp(0.1)), rel=1e-12)


def test_a_rest_is_counted_once_and_never_forgotten() -> None:
    # Ten atoms of 1/20 that the other law does not name, and which share its rest of 1/5: at e^ε = 2 the event "one of
    # them" proves 10/20 − 2·1/5. Taken atom by atom it would prove nothing; without the rest, too much.
    named = weights(10, *[1] * 10)
    vague: Law[int] = Law(range(1), [1], [4], [4], 5, Fraction(1, 5))
    evidence = exact.compare(named, vague, Claim(math.log(2)))
    assert evidence.delta == pytest.approx(0.1, rel=1e-12)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.epsilon == pytest.approx(math.log(2.5))
    evidence = exact.compare(named, vague, Claim(1.0))
    assert evidence.delta == 0
    assert evidence.verdict is Verdict.UNRESOLVED  # the rest may lie elsewhere altogether


def test_unlike_outcomes_are_kept_apart() -> None:
    refused: Law[int] = exact_law([Refused("ValueError: no")], [1], [1], 1)
    evidence = exact.compare(refused, weights(1, 1), Claim(1.0), Refuses())
    assert (evidence.epsilon, evidence.delta, evidence.advantage) == (math.inf, 1.0, 1.0)
    assert (evidence.event_in, evidence.event_out) == ((1.0, 1.0), (0.0, 0.0))


def test_the_event_is_measured_in_both_worlds() -> None:
    evidence = exact.compare(weights(1, 3), weights(3, 1), Claim(2.0), OneOf((0,)))
    assert (evidence.event_in, evidence.event_out, evidence.advantage) == ((0.25, 0.25), (0.75, 0.75), 0.5)
    assert exact.compare(weights(1, 3), weights(3, 1), Claim(2.0)).advantage is None


def test_the_curve_falls_from_the_total_variation_to_zero_at_the_loss() -> None:
    law_in, law_out = weights(3, 1), weights(1, 1)
    lower, upper = exact.curve(law_in, law_out, [0.0, 0.3, math.log(2) + 1e-12])
    assert lower[0] == 0.25
    assert (np.diff(lower) < 0).all()
    assert lower[2] == upper[2] == 0
    assert (lower <= upper).all()
    assert (upper - lower < 1e-30).all()
