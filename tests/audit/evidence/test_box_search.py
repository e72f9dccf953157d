"""Branch and bound over boxes of pairs, against every pair by hand.

`make prove` takes ten thousand random domains: SUBNORMAL_DOMAINS.
"""

import os
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, attack
from subnormal.audit.evidence import box_search, every_pair, exact
from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.model import DomainVerdict
from subnormal.mechanisms.core.domain import Domain
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import AnyMechanism, NoLawError
from subnormal.mechanisms.core.pair_boxes import Ceiling, Cube, PairBox, single
from subnormal.mechanisms.exponential import float_ceiling, naive
from subnormal.mechanisms.exponential.family import utilities
from subnormal.mechanisms.families import FAMILIES, member, members
from subnormal.mechanisms.numerics.mpfr import log_ratio
from subnormal.mechanisms.samplers.float_uniforms import FELL_OFF

DOMAINS = int(os.environ.get("SUBNORMAL_DOMAINS", "60"))  # random ones
BOUNDED = [one.name for of in FAMILIES for one in members(of) if one.ceiling is not None and not one.variant_of]
EXACT = [name for name in BOUNDED if member(name).exact]
LARGE = "utilities@most=1000000,outcomes=1000"
SHAPES = ((1, 3), (2, 2), (2, 3), (3, 2), (6, 2), (9, 1))  # (most, outcomes)
ALL = 1 << 30  # boxes


def drawn(random: Random) -> tuple[AnyMechanism, Domain[Any, Any], Cube[Any]]:
    """Return a member with a claim that it may break, and a small domain, listed and as a cube."""
    mechanism = member(random.choice(BOUNDED))
    (most, outcomes), apart = random.choice(SHAPES), random.choice((1, 1, 2))
    epsilon = random.choice((0.1, 1.0, 3.0, 9.0, 20.0, 60.0)) * random.uniform(0.5, 1.5)
    claim = Claim(epsilon * random.choice((1.0, 1.0, 0.99, 0.8, 0.4)), random.choice((0.0, 0.0, 0.0, 1e-3)))
    domain = utilities(most, outcomes, epsilon, apart)
    assert isinstance(domain, Domain)
    cube: Cube[Any] = Cube(domain.text, domain.parameters, most, outcomes, apart)
    return replace(mechanism, claim=lambda *of: claim), domain, cube


def test_random_domains_as_boxes_and_listed() -> None:
    random, seen, cut = Random(3), Counter[DomainVerdict](), 0
    for _ in range(DOMAINS):
        mechanism, domain, cube = drawn(random)
        listed, found = every_pair.decide(mechanism, domain), box_search.decide(mechanism, cube, ALL)
        told = f"{mechanism.name}, {cube.text}, {listed.claim}: {listed}, {found}"
        assert found.verdict is listed.verdict, told
        assert found.boxes is not None
        assert found.boxes.left == 0
        assert found.epsilon[1] is not None
        assert found.epsilon[0] <= listed.epsilon[0] <= found.epsilon[1] * (1 + 1e-15), told
        if listed.verdict is DomainVerdict.VIOLATED:
            assert found.delta == pytest.approx(listed.delta, rel=1e-12), told
        assert (cube.data, cube.pairs) == (listed.data, listed.pairs)
        seen[found.verdict] += 1
        cut += found.boxes.bounded > 9
    assert min(seen[DomainVerdict.VIOLATED], seen[DomainVerdict.HOLDS], cut) > DOMAINS / 8


def pairs_in(box: PairBox) -> list[tuple[Any, Any]]:
    ends = zip(box.low_in.tolist(), box.high_in.tolist(), box.low_out.tolist(), box.high_out.tolist(), strict=True)
    entries = [
        [(x, y) for x in range(a, b + 1) for y in range(c, d + 1) if abs(x - y) <= box.apart] for a, b, c, d in ends
    ]
    return [(np.array([x for x, _ in one]), np.array([y for _, y in one])) for one in product(*entries)]


def some_box(random: Random, cube: Cube[Any]) -> PairBox:
    box = cube.whole(cube.width)
    for _ in range(random.randrange(9)):
        if not box.is_pair:
            box = random.choice(list(box.halves()))
    return box


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_over_a_box_hold_for_each_of_its_pairs(name: str) -> None:
    """And for a single pair those of a naive member are its loss and its divergence."""
    random = Random(name)
    for _ in range(40):
        _, _, cube = drawn(random)
        mechanism, box = member(name), some_box(random, cube)
        assert mechanism.ceiling is not None
        claim = Claim(cube.parameters.epsilon * random.choice((1.0, 0.5)), 0.0)
        bounds, pairs = mechanism.ceiling(box, cube.parameters, claim), pairs_in(box)
        for points_in, points_out in random.sample(pairs, min(6, len(pairs))):
            loss, delta = one_way(mechanism, cube, claim, points_in, points_out)
            alone = mechanism.ceiling(single(points_in, points_out, box.apart), cube.parameters, claim)
            for one in (bounds, alone):
                assert loss <= one.epsilon * (1 + 1e-12)
                assert delta <= one.delta * (1 + 1e-12) + 1e-15
            if not mechanism.exact:
                assert alone.epsilon == pytest.approx(loss, rel=1e-12, abs=1e-12)
                assert alone.delta == pytest.approx(delta, rel=1e-12, abs=1e-15)


def one_way(
    mechanism: AnyMechanism, cube: Cube[Any], claim: Claim, points_in: Any, points_out: Any
) -> tuple[float, float]:
    """Return the largest ln(P/Q) and Σ(P − e^ε·Q)₊ of a pair from the first world to the second, from the laws."""
    assert mechanism.law is not None
    first, second = (mechanism.law(points, cube.parameters) for points in (points_in, points_out))
    loss, delta, factor = 0.0, Fraction(0), Fraction(np.exp(claim.epsilon))
    for atom in first.atoms:
        p, q = first.probability(atom)[0], second.probability(atom)[1]
        if p:
            loss = max(loss, log_ratio(p.numerator * q.denominator, p.denominator * q.numerator))
            delta += max(Fraction(0), p - factor * q)
    return loss, float(delta)


def test_halves_of_a_box_have_all_of_its_pairs() -> None:
    random = Random(5)

    def told(box: PairBox) -> set[str]:
        return {str((one.tolist(), other.tolist())) for one, other in pairs_in(box)}

    for _ in range(60):
        _, _, cube = drawn(random)
        box = some_box(random, cube)
        if not box.is_pair:
            first, second = map(told, box.halves())
            assert first | second == told(box)
            assert not first & second
        points_in, points_out = box.corner()
        assert str((points_in.tolist(), points_out.tolist())) in told(box)
        lowered = box.lowered()
        with_zero = {one for one in told(box) if " 0" in one or "[0" in one}
        assert with_zero <= (set() if lowered is None else told(lowered)) <= told(box)


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_member_keeps_its_claim_over_a_thousand_outcomes_and_a_million_utilities(name: str) -> None:
    found: Any = decide(member(name), domain_of("exponential", LARGE))
    assert found.verdict is DomainVerdict.HOLDS
    assert (found.boxes.left, found.pairs, found.data) == (0, None, None)
    assert 6477 < found.boxes.log10_pairs < 6478
    low, high = found.epsilon
    assert high is not None
    assert 1 - 1e-9 < low <= high <= 1  # the bound is attained, as far as floats tell
    assert sorted(set(found.pair[0].tolist())) == [1, 10**6 - 1]


def test_the_worst_pair_of_a_naive_member_is_at_least_as_bad_as_zero_rounding() -> None:
    tried, mechanism = attack("zero-rounding", epsilon=1.0, outcomes=1000), member("exponential-naive-float64")
    worlds = tried.worlds()
    laws = exact.both_laws(mechanism, tried, worlds)
    assert laws is not None
    known = exact.compare(*laws, mechanism.claim(tried.parameters, *worlds))
    found = decide(mechanism, domain_of("exponential", LARGE))
    assert found.verdict is DomainVerdict.VIOLATED
    assert found.claim == mechanism.claim(tried.parameters, *worlds)
    assert 0.99 < known.delta < found.delta == 1.0
    assert known.epsilon == found.epsilon[0] == inf
    assert found.pair is not None
    points_in, points_out = found.pair
    assert abs(points_in - points_out).max() == 1


def test_subtracting_the_best_has_a_worst_pair_too() -> None:
    cube = domain_of("exponential", "utilities@most=1000,outcomes=9")
    assert isinstance(cube, Cube)
    found: Any = box_search.decide(member("exponential-naive-shifted"), cube, 1 << 12)
    assert found.verdict is DomainVerdict.VIOLATED
    assert 0 < found.delta < 1e-13
    assert found.boxes.left > 0  # it is the worst of those that were compared


def test_boxes_are_left_out_by_the_symmetries_of_the_member_alone() -> None:
    """Of three boxes of two entries: the entries of the second are exchanged, those of the third in one world only."""
    cube = domain_of("exponential", LARGE)
    assert isinstance(cube, Cube)
    low, high, high_out = np.array([0, 0]), np.array([4, 2]), np.array([5, 3])
    boxes = [
        PairBox(low, high, low, high_out, 1),
        PairBox(low, high[::-1], low, high_out[::-1], 1),
        PairBox(low, high, low, high_out[::-1], 1),
    ]

    def standing(name: str, entries: int, some: list[PairBox] = boxes) -> list[bool]:
        search = box_search.Search(member(name), cube, Claim(1.0))
        return [search._standing(one, np.arange(entries)) is not None for one in some]

    assert standing("exponential-exact", 2) == [True, False, True]
    assert standing("exponential-naive-float64", 2) == [True, True, True]
    assert standing("exponential-exact", 3) == [True, True, True]  # some entries stand for several of the data
    above = [PairBox(one.low_in + 1, one.high_in + 1, one.low_out + 1, one.high_out + 1, 1) for one in boxes[:1]]
    assert standing("exponential-exact", 2, above) == [False]
    assert standing("exponential-naive-float64", 2, above) == [True]


def test_what_the_boxes_do_not_decide_is_left() -> None:
    cube = domain_of("exponential", "utilities@most=20,outcomes=6,epsilon=0.5")
    assert isinstance(cube, Cube)
    found: Any = box_search.decide(member("exponential-naive-float64"), cube, 40)
    assert found.verdict is DomainVerdict.UNRESOLVED
    assert found.boxes.left > 0
    assert found.boxes.delta > 0
    assert found.epsilon[1] is None


def test_numpy_exponentials_are_the_same_wherever_they_stand() -> None:
    """What the bounds over boxes of naive members assume, on this machine: at other places, and in shorter arrays."""
    random = np.random.default_rng(1)
    for kind in (np.float16, np.float32, np.float64):
        utilities = np.arange(4000)
        table = naive.weights(utilities, 0.5, float_type=kind)
        for length in (1, 2, 3, 5, 8, 17, 100, 1000):
            some = random.permutation(utilities)[:length]
            assert (naive.weights(some, 0.5, float_type=kind) == table[some]).all()


def test_bounds_on_weights_follow_an_exponential_that_is_not_monotone() -> None:
    table = float_ceiling.WeightTable.of(np.array([1.0, 0.5, 0.6, 0.25]))
    least, largest = table.between(np.array([0, 1, 1, 2]), np.array([1, 1, 2, 3]))
    assert least.tolist() == [0.5, 0.5, 0.5, 0.25]
    assert largest.tolist() == [1.0, 0.5, 0.6, 0.6]


def test_members_without_bounds_are_refused() -> None:
    domain = domain_of("exponential", LARGE)
    with pytest.raises(NoLawError, match="its pairs are too many to list, and there are no bounds over boxes"):
        decide(replace(member("exponential-exact"), ceiling=None), domain)
    with pytest.raises(NoLawError, match="the weights of 33554433 utilities are too many to tabulate"):
        decide(member("exponential-naive-float64"), domain_of("exponential", "utilities@most=33554432,outcomes=3"))


def test_a_claim_that_depends_on_the_pair_is_refused() -> None:
    def claim(parameters: Any, data_in: Any, data_out: Any) -> Claim:
        return Claim(0.1 if data_in[0] == data_in[1] else 0.2)

    domain = utilities(20, 3, 1.0)
    cube: Cube[Any] = Cube(domain.text, domain.parameters, 20, 3, 1)
    with pytest.raises(ValueError, match="the claim of exponential-exact depends on the pair"):
        box_search.decide(replace(member("exponential-exact"), claim=claim), cube)


def test_a_cube_without_neighbours_is_refused() -> None:
    cube: Cube[Any] = Cube("alone", domain_of("exponential", LARGE).parameters, 0, 3, 1)
    with pytest.raises(ValueError, match="the domain alone has no two neighbours"):
        box_search.decide(member("exponential-exact"), cube)


def test_a_loss_within_the_claim_has_no_divergence() -> None:
    assert Ceiling.of_loss(Fraction(1), Claim(1.0)) == Ceiling(1.0, 0.0)
    beyond = Ceiling.of_loss(Fraction(3, 2), Claim(1.0))
    assert 1 - np.exp(-0.5) <= beyond.delta < 1 - np.exp(-0.5) + 1e-15


def test_pairs_that_the_bounds_on_their_laws_do_not_decide_are_counted() -> None:
    def wide(data: Any, parameters: Any) -> Law[Any]:
        return Law(range(2), [1, 2], [1, 1], [3, 3], 4, Fraction(0))

    mechanism = replace(member("exponential-exact"), law=wide, claim=lambda *of: Claim(0.4))
    cube: Cube[Any] = Cube("wide", utilities(1, 2, 1.0, 1).parameters, 1, 2, 1)
    found: Any = box_search.decide(mechanism, cube, ALL)
    assert found.verdict is DomainVerdict.UNRESOLVED
    assert found.unresolved > 0
    assert found.boxes.left == 0


@pytest.mark.parametrize("name", EXACT)
def test_an_outcome_that_may_fall_itself_is_bounded_by_the_falls_of_all_others(name: str) -> None:
    """Outcome 0 may rise or fall by 1, outcome 1 falls by 1, and outcome 2, which hardly counts, does not."""
    parameters, ceiling = utilities(9, 3, 6.0, 1).parameters, member(name).ceiling
    assert ceiling is not None
    low_in, high_in = np.array([5, 5, 9]), np.array([6, 5, 9])
    low_out, high_out = np.array([5, 4, 9]), np.array([6, 4, 9])
    bound = ceiling(PairBox(low_in, high_in, low_out, high_out, 1), parameters, Claim(1.0))
    law: Any = member(name).law
    p, q = (law(points, parameters).probability(0)[0] for points in (low_in, np.array([6, 4, 9])))
    assert 3 < np.log(float(p / q)) <= bound.epsilon <= 6


@pytest.mark.parametrize("variant", ["plain", "positive", "shifted"])
def test_counts_of_uniforms_are_between_their_bounds(variant: naive.Variant) -> None:
    random = Random(7)
    for epsilon in (1.0, 40.0) * 60:
        parameters = utilities(6, 3, epsilon, 1).parameters
        ends = np.sort([[random.randint(0, 6), random.randint(0, 6)] for _ in range(3)], axis=1)
        low, high = naive._counts_between(ends[:, 0], ends[:, 1], parameters, np.float16, variant)
        data = np.array([random.randint(*end) for end in ends.tolist()])
        law = naive.law(data, epsilon, float_type=np.float16, variant=variant)
        outcomes: tuple[Any, ...] = (0, 1, 2, FELL_OFF, naive.NOT_POSITIVE)
        for at, outcome in enumerate(outcomes):
            assert low[at] <= law.probability(outcome)[0] * 2**11 <= high[at]
