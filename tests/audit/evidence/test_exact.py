"""Two laws prove what they prove: certified bounds, both directions, no tolerance."""

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Verdict
from subnormal.attacks.core.events import OneOf, Refuses
from subnormal.audit.evidence import exact
from subnormal.audit.evidence.hockey_stick_bounds import directions
from subnormal.mechanisms.core.law import Law, Powers, exact_law
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.exponential import naive
from subnormal.mechanisms.numerics.mpfr import exp_bounds


def weights(*values: int) -> Law[int]:
    return exact_law(range(len(values)), range(1, len(values) + 1), values, sum(values))


def test_an_event_is_judged_by_its_own_probabilities() -> None:
    """By all events of small laws, in rationals, on either side of e^ε: the pair may break what the event does not."""
    rng, seen = random.Random(2), set()
    for _ in range(40):
        p, q = ([rng.randrange(6) for _ in range(3)] + [1] for _ in range(2))
        law_in, law_out = weights(*p), weights(*q)
        delta = rng.choice([0.0, 0.125])
        low, high = exp_bounds(Fraction(1, 2))
        for chosen in itertools.chain.from_iterable(itertools.combinations(range(4), size) for size in range(5)):
            evidence = exact.compare(law_in, law_out, Claim(0.5, delta), OneOf(chosen))
            share_in, share_out = (Fraction(sum(w[i] for i in chosen), sum(w)) for w in (p, q))
            pairs = [(share_in, share_out), (share_out, share_in)]
            pairs += [(1 - one, 1 - other) for one, other in pairs]
            leaves = any(one > high * other + Fraction(delta) for one, other in pairs)
            stays = all(one <= low * other + Fraction(delta) for one, other in pairs)
            assert leaves != stays
            assert evidence.event_verdict is (Verdict.VIOLATED if leaves else Verdict.HOLDS)
            seen.add((evidence.verdict, evidence.event_verdict))
    assert seen == {
        (Verdict.VIOLATED, Verdict.VIOLATED),
        (Verdict.VIOLATED, Verdict.HOLDS),
        (Verdict.HOLDS, Verdict.HOLDS),
    }


def test_an_event_that_bounds_leave_open_is_unresolved() -> None:
    loose = Law(range(3), [1, 2, 3], [4, 2, 2], [6, 2, 2], 10, Fraction(0))
    verdicts = [exact.compare(loose, weights(5, 5, 0), Claim(0.1), OneOf((one,))).event_verdict for one in range(3)]
    assert verdicts == [Verdict.UNRESOLVED, Verdict.VIOLATED, Verdict.VIOLATED]
    assert exact.compare(loose, weights(5, 5, 0), Claim(0.1)).event_verdict is None
    rest = Law(range(2), [1, 2], [4, 4], [4, 4], 10, Fraction(1, 5))  # the mass outside the atoms is in no event
    assert exact.compare(rest, weights(4, 6), Claim(0.1), OneOf((0,))).event_verdict is Verdict.UNRESOLVED


def test_unlike_outcomes_are_kept_apart() -> None:
    refused: Law[int] = exact_law([Refused("ValueError: no")], [1], [1], 1)
    evidence = exact.compare(refused, weights(1, 1), Claim(1.0), Refuses())
    assert (evidence.epsilon, evidence.delta, evidence.advantage) == (math.inf, 1.0, 1.0)
    assert (evidence.event_in, evidence.event_out) == ((1.0, 1.0), (0.0, 0.0))


def test_worlds_that_refuse_in_every_run_hold_nothing_though_other_atoms_are_named() -> None:
    """All weights are 0 in both worlds; the law still lists the outcomes, each with probability 0."""
    failing = [naive.law(np.full(3, utility), 1.0) for utility in (5_000, 5_001)]
    assert len(failing[0].atoms) == 4
    with pytest.raises(ValueError, match=r"both worlds refuse in every run.*IndexError: the uniform"):
        exact.compare(failing[0], failing[1], Claim(1.0))
    working = naive.law(np.full(3, 0), 1.0)
    assert exact.compare(failing[0], working, Claim(1.0)).verdict is Verdict.VIOLATED


def loosened(rng: random.Random, masses: list[Fraction], hidden: int) -> Law[int]:
    """A law whose bounds and rest contain the masses: some atoms widened, the last `hidden` ones left to the rest."""
    named = len(masses) - hidden
    low, high = [], []
    for mass in masses[:named]:
        slack = Fraction(rng.choice([0, 0, 1, 3]), 400)
        low.append(max(Fraction(0), mass - slack))
        high.append(min(Fraction(1), mass + slack))
    order = rng.sample(range(named), named)
    common = math.lcm(*(bound.denominator for bound in (*low, *high))) * rng.choice([1, 7])
    least, most = ([int(side[i] * common) for i in order] for side in (low, high))
    return Law(
        order, range(1, named + 1), least, most, common, sum(masses[named:], Fraction(rng.choice([0, 0, 1]), 50))
    )


def loosened_pair(rng: random.Random) -> tuple[Law[int], Law[int]]:
    worlds = []
    for _ in range(2):
        weights = [rng.choice([0, 1, 2, 5, 9]) for _ in range(5)]
        weights[rng.randrange(5)] += 1
        worlds.append([Fraction(weight, sum(weights)) for weight in weights])
    one, other = (loosened(rng, masses, rng.choice([0, 0, 1, 2])) for masses in worlds)
    return one, other


def by_definition(law: Law[int], other: Law[int], factor: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Bounds on the hockey stick and on the likelihood ratio, in rationals, no shortcuts: the better of those atom by
    atom, and of those for which all that the lower bounds leave open is one mass."""
    least, alone, most = Fraction(0), Fraction(0), law.rest
    ratio = Fraction(1)
    lows = [(law.probability(atom)[0], other.probability(atom)[0]) for atom in law.atoms]
    left = 1 - sum((low for low, _ in lows), Fraction(0))
    other_left = 1 - sum((other.probability(atom)[0] for atom in other.atoms), Fraction(0))
    at_once = sum((max(Fraction(0), low - factor * other_low) for low, other_low in lows), Fraction(0))
    for some in itertools.chain.from_iterable(itertools.combinations(lows, size) for size in range(len(lows) + 1)):
        mass, other_mass = (sum((pair[world] for pair in some), Fraction(0)) for world in (0, 1))
        if mass:
            ratio = max(ratio, mass / (other_mass + other_left) if other_mass + other_left else Fraction(10**30))
    for atom in law.atoms:
        low, high = law.probability(atom)
        if atom in other.atoms:
            other_low, other_high = other.probability(atom)
            least += max(Fraction(0), low - factor * other_high)
            ratio = max(ratio, low / other_high if other_high else Fraction(10**30) if low else Fraction(1))
        else:
            other_low = Fraction(0)
            alone += low
        most += max(Fraction(0), high - factor * other_low)
    least += max(Fraction(0), alone - factor * other.rest)
    if alone:
        ratio = max(ratio, alone / other.rest if other.rest else Fraction(10**30))
    return max(least, at_once - factor * other_left), min(most, at_once + left), ratio


def test_bounds_rests_and_missing_atoms_are_weighed_as_defined() -> None:
    rng = random.Random(7)
    seen = set()
    for _ in range(600):
        law_in, law_out = loosened_pair(rng)
        claim = Claim(rng.choice([0.0, 0.3, 1.0, 2.0]), rng.choice([0.0, 0.0, 0.1, 0.4]))
        evidence = exact.compare(law_in, law_out, claim, OneOf((0, 3)))
        factor = Fraction(math.exp(claim.epsilon))
        forth, back = by_definition(law_in, law_out, factor), by_definition(law_out, law_in, factor)
        least, most, ratio = (max(pair) for pair in zip(forth, back, strict=True))
        assert evidence.delta == pytest.approx(float(least), abs=1e-12)
        assert math.exp(min(evidence.epsilon, 60)) == pytest.approx(min(float(ratio), math.exp(60)), rel=1e-9)
        assert (evidence.verdict is Verdict.VIOLATED) == (least > Fraction(claim.delta) + Fraction(1, 10**13))
        if evidence.verdict is Verdict.VIOLATED:
            assert evidence.within is None
        else:
            assert evidence.within is not None
            assert evidence.within == pytest.approx(float(max(Fraction(0), most - Fraction(claim.delta))), abs=1e-12)
            assert (evidence.verdict is Verdict.HOLDS) == (evidence.within <= 1e-12)
        events = [_event(law, (0, 3)) for law in (law_in, law_out)]
        assert evidence.event_in == pytest.approx(events[0], abs=1e-12)
        assert evidence.event_out == pytest.approx(events[1], abs=1e-12)
        gap = max(0.0, events[0][0] - events[1][1], events[1][0] - events[0][1])
        assert evidence.advantage == pytest.approx(gap, abs=1e-12)
        total = max(by_definition(*pair, Fraction(1))[0] for pair in ((law_in, law_out), (law_out, law_in)))
        assert evidence.total_variation == pytest.approx(float(total), abs=1e-12)
        seen.add(evidence.verdict)
    assert seen == {Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED}


def test_a_curve_of_bounds_is_weighed_as_defined_at_each_epsilon() -> None:
    rng = random.Random(8)
    for _ in range(100):
        law_in, law_out = loosened_pair(rng)
        epsilons = [1.0, 0.0, 2.0, 0.3]
        for epsilon, *bounds in zip(epsilons, *exact.curve(law_in, law_out, epsilons), strict=True):
            factor = Fraction(math.exp(epsilon))
            forth, back = by_definition(law_in, law_out, factor), by_definition(law_out, law_in, factor)
            least, most = (float(max(pair)) for pair in zip(forth[:2], back[:2], strict=True))
            assert bounds == pytest.approx([least, min(1.0, most)], abs=1e-12)


def test_groups_in_order_weigh_as_all_groups_do() -> None:
    """Ratios that hardly differ, equal ones, and zeros; factors are these ratios and what lies between two of them."""
    rng = random.Random(9)
    for bits, rest in itertools.product((4, 60, 300), (0, 1)):
        masses = [[rng.choice([0, (1 << bits) - rng.randrange(8)]) for _ in range(40)] for _ in range(2)]
        highs = [[low + (rng.randrange(2) if rest else 1) for low in lows] for lows in masses]
        most = rest * max(map(sum, masses))  # over one denominator, masses are as long as they are given
        laws: list[Law[int]] = [
            Law(range(40), range(1, 41), low, high, max(most, sum(low)) + 20, Fraction(rest))
            for low, high in zip(masses, highs, strict=True)
        ]
        ratios = sorted({Fraction(*pair) for pair in zip(*masses, strict=True) if all(pair)})
        factors = [*ratios, *((one + other) / 2 for one, other in itertools.pairwise(ratios)), Fraction(3)]
        for one in directions(*laws):
            ordered, narrow = one.in_order(), one.narrow()
            for factor in factors:
                for bounds in ("low", "other_high"), ("low", "other_low"), ("high", "other_low"):
                    assert ordered._excess(*bounds, factor).numerator == one._excess(*bounds, factor).numerator
                assert narrow.at_least(factor) <= one.at_least(factor)
                assert not narrow.at_most(factor) < one.at_most(factor)


def _event(law: Law[int], wanted: tuple[int, ...]) -> tuple[float, float]:
    low = sum((law.probability(atom)[0] for atom in wanted if atom in law.atoms), Fraction(0))
    high = sum((law.probability(atom)[1] for atom in wanted if atom in law.atoms), law.rest)
    others = sum((law.probability(atom)[0] for atom in law.atoms if atom not in wanted), Fraction(0))
    return float(low), float(min(1 - others, high))


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_what_lies_between_the_first_bounds_of_e_to_the_epsilon_is_decided_by_narrower_ones(share: Fraction) -> None:
    low, high = exp_bounds(Fraction(1, 2))
    ratio = low + share * (high - low)
    p = ratio / (1 + ratio)
    rest = p.denominator - p.numerator
    law_in, law_out = weights(p.numerator, rest), weights(rest, p.numerator)
    evidence = exact.compare(law_in, law_out, Claim(0.5), OneOf((0,)))
    verdict = Verdict.VIOLATED if ratio > exp_bounds(Fraction(1, 2), 512)[1] else Verdict.HOLDS
    assert (evidence.verdict, evidence.event_verdict) == (verdict, verdict)
    assert (evidence.delta > 0) == (verdict is Verdict.VIOLATED)
    assert evidence.within == (None if verdict is Verdict.VIOLATED else 0)


@pytest.mark.parametrize("power", [139, 600, 1_060])
def test_a_loss_of_next_to_nothing_is_compared_with_a_budget_of_less(power: int) -> None:
    unit = 1 << power
    law_in, law_out = weights(unit + 1, unit - 1), weights(1, 1)
    loss = math.ldexp(1.0, -power)  # −ln(1 − 2^−power), to the nearest float
    for epsilon, verdict in (
        (0.0, Verdict.VIOLATED),
        (5e-324, Verdict.VIOLATED),
        (loss, Verdict.VIOLATED),
        (math.nextafter(loss, 1.0), Verdict.HOLDS),
    ):
        evidence = exact.compare(law_in, law_out, Claim(epsilon), OneOf((1,)))
        assert (evidence.verdict, evidence.event_verdict, evidence.epsilon) == (verdict, verdict, loss)
        assert evidence.within == (None if verdict is Verdict.VIOLATED else 0)
    # δ(0) = 2^−(power + 1): a claimed δ is met with equality, where no precision of e^ε can tell and none is needed
    tight = Claim(0.0, loss / 2)
    assert exact.compare(law_in, law_out, tight).verdict is Verdict.HOLDS
    assert exact.compare(weights(unit + 1, unit - 1, 0), weights(unit, unit - 1, 1), tight).verdict is Verdict.HOLDS


def test_bounds_that_never_meet_are_not_narrowed_for_ever() -> None:
    low, high = exp_bounds(Fraction(1, 2))
    unit = 1 << 200
    ends = [int(end / (1 + end) * unit) for end in (low, high)]
    wide: Law[int] = Law(range(2), [1, 2], [ends[0], unit - ends[1]], [ends[1], unit - ends[0]], unit, Fraction(0))
    other: Law[int] = Law(range(2), [1, 2], [unit - ends[1], ends[0]], [unit - ends[0], ends[1]], unit, Fraction(0))
    evidence = exact.compare(wide, other, Claim(0.5))
    assert evidence.verdict is Verdict.HOLDS  # within far less than what counts
    assert 0 < (evidence.within or 0) < 1e-37


def test_a_loss_known_by_its_exponent_convicts_where_enclosures_do_not() -> None:
    """Probabilities constant·e^(−rate·|x − c|) within 2^−64: the loss is the rate, and the claim is the float below."""

    def law(center: int) -> Law[int]:
        exponents = np.abs(np.arange(3) - center)
        powers = Powers(Fraction(1, 1 << 80), exponents, np.zeros(3, dtype=np.int64))
        third = (1 << 64) // 3
        return Law(range(3), [1, 2, 3], [third - 1] * 3, [third + 2] * 3, 1 << 64, Fraction(0), powers)

    rate = math.ldexp(1.0, -80)
    assert exact.compare(law(0), law(1), Claim(rate)).verdict is Verdict.HOLDS
    below = exact.compare(law(0), law(1), Claim(math.nextafter(rate, 0.0)))
    assert (below.verdict, below.epsilon) == (Verdict.VIOLATED, rate)
    assert exact.compare(law(0), law(1), Claim(math.nextafter(rate, 0.0), 0.5)).verdict is Verdict.HOLDS  # δ covers it


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (Powers(Fraction(1, 8), np.array([0, 1]), np.array([0, 1])), "another constant of one block"),
        (Powers(Fraction(1, 8), np.array([0, 1]), np.array([1, 1])), "another constant of both"),
        (Powers(Fraction(1, 4), np.array([0, 1]), np.array([0, 0])), "another rate"),
        (None, "no exact form"),
    ],
)
def test_laws_of_equal_shape_do_not_hold_by_their_exponents_alone(other: Powers | None, what: str) -> None:
    """Bounds so wide that only the exact forms could decide, and these differ: their constants do not cancel."""

    def law(powers: Powers | None, atoms: Sequence[int] = (3, 5), rest: Fraction = Fraction(0)) -> Law[int]:
        return Law(atoms, [1, 2], [0, 0], [9, 9], 10, rest, powers)

    own = Powers(Fraction(1, 8), np.array([0, 1]), np.array([0, 0]))
    assert exact.compare(law(own), law(own), Claim(0.5)).verdict is Verdict.HOLDS
    for one in (law(other), law(own, (3, 6)), law(own, rest=Fraction(1, 10))):
        for pair in ((law(own), one), (one, law(own))):
            assert exact.compare(*pair, Claim(0.5)).verdict is Verdict.UNRESOLVED, what


def test_a_tiny_excess_over_a_tiny_delta_does_not_hold() -> None:
    loose: Law[int] = Law(range(2), [1, 2], [5 * 10**13 - 5] * 2, [5 * 10**13 + 5] * 2, 10**14, Fraction(0))
    assert exact.compare(loose, weights(1, 1), Claim(0.0)).verdict is Verdict.HOLDS  # within 1e-13
    assert exact.compare(loose, weights(1, 1), Claim(0.0, 1e-14)).verdict is Verdict.UNRESOLVED  # beyond 1 % of δ
    looser: Law[int] = Law(range(2), [1, 2], [5 * 10**13 - 500] * 2, [5 * 10**13 + 500] * 2, 10**14, Fraction(0))
    assert exact.compare(looser, weights(1, 1), Claim(0.0)).verdict is Verdict.UNRESOLVED


@pytest.mark.parametrize(("one", "other"), [(-0.0, 0.0), (1, True), (1, 1.0), ((0.0,), (-0.0,)), (0, None), ("1", 1)])
def test_outcomes_that_an_attacker_can_tell_apart_are_not_the_same(one: object, other: object) -> None:
    law_in: Law[Any] = exact_law([one], [1], [1], 1)
    law_out: Law[Any] = exact_law([other], [1], [1], 1)
    assert exact.compare(law_in, law_out, Claim(1.0)).delta == 1


def test_every_nan_is_one_outcome() -> None:
    first: Law[Any] = exact_law([float("nan")], [1], [1], 1)
    second: Law[Any] = exact_law([np.float64(np.nan)], [1], [1], 1)
    assert exact.compare(first, second, Claim(1.0)).verdict is Verdict.HOLDS
    assert first.probability(-np.nan) == second.probability(np.nan) == (1, 1)


def test_bounds_apart_are_narrowed_until_the_lower_one_convicts() -> None:
    """The lower bound's loss lies between ε and its first bound from above; the upper bound's is far above."""
    share = 1 / (1 + exp_bounds(Fraction(1))[1] - Fraction(1, 1 << 190))
    assert exp_bounds(Fraction(1), 400)[1] < (1 - share) / share < exp_bounds(Fraction(1))[1]
    one, unit = share.numerator, share.denominator
    loose: Law[int] = Law(range(2), [1, 2], [unit - one, 0], [unit, one], unit, Fraction(0))
    assert exact.compare(loose, weights(one, unit - one), Claim(1.0)).verdict is Verdict.VIOLATED


def test_a_curve_is_bounded_from_below_with_more_than_e_to_the_epsilon_and_from_above_with_less() -> None:
    """Of losses between the first bounds of e^ε: δ(ε) is 0 just below e^ε, and positive just above."""
    for power, bound in zip((0, 1), exp_bounds(Fraction(1), 200), strict=True):
        law_in, law_out = (
            exact_law(range(3), [1, 2, 3], masses, 1 << 210)
            for masses in (
                [round(bound * (1 << 200)), 1 << 200, (1 << 210) - round(bound * (1 << 200)) - (1 << 200)],
                [1 << 200, 1 << 200, (1 << 210) - (1 << 201)],
            )
        )
        (lower,), (upper,) = exact.curve(law_in, law_out, [1.0])
        assert lower == 0 < upper < 1e-30, power
