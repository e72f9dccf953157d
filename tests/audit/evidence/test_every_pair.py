"""Claims over whole domains: neighbours, symmetries, floats and classes of laws against every pair by hand."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import every_pair, exact
from subnormal.audit.evidence.every_pair import Subject, decide, domain_of
from subnormal.audit.model import DomainVerdict, ExactEvidence, Verdict
from subnormal.mechanisms.core.domain import PERMUTATION, SHIFT, Domain, Index, box
from subnormal.mechanisms.core.law import Law, Powers, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Refused
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.families import FAMILIES, family, member, members
from subnormal.mechanisms.privacy import Claim, Eta
from tests.support.family_cases import family_cases

DOMAINS = int(os.environ.get("SUBNORMAL_DOMAINS", "300"))  # random ones; `make prove` takes ten thousand
SMALL = {name: cases.domain for name, cases in family_cases().items() if cases.domain is not None}
WITH_DOMAIN = [of for of in FAMILIES if of.domain is not None]
EXACT = [
    one.name for of in WITH_DOMAIN for one in members(of) if one.exact and one.law is not None and not one.variant_of
]
SYMMETRIC = [one.name for of in FAMILIES for one in members(of) if one.symmetries]
NAIVE = {
    "exponential-naive-float16": ("utilities@most=6,outcomes=2,epsilon=4", DomainVerdict.VIOLATED),
    "exponential-naive-shifted": ("utilities@most=2,outcomes=3", DomainVerdict.HOLDS),
    "partitions-naive-float16": ("frequencies@most=4,rows=2,sensitivity=1,epsilon=8", DomainVerdict.VIOLATED),
    "randomized-response-naive-float16": ("categories@categories=5", DomainVerdict.VIOLATED),
    "sparse-vector-unclamped": ("streams@most=1,queries=3,positives=2,width=2", DomainVerdict.HOLDS),
}


def listed(family_name: str, text: str | None = None) -> Domain[Any, Any]:
    domain = domain_of(family_name, text)
    assert isinstance(domain, Domain)
    return domain


def test_every_family_has_a_small_domain() -> None:
    assert SMALL.keys() == {of.name for of in WITH_DOMAIN}


@pytest.mark.parametrize("name", SMALL)
def test_neighbours_are_those_that_the_family_calls_adjacent(name: str) -> None:
    domain, of = listed(name, SMALL[name]), family(name)
    for point in domain.points:
        found = {tuple(one) for one in domain.neighbours(point).tolist()}
        data = domain.data_of(point)
        adjacent = {
            tuple(other.tolist())
            for other in domain.points
            if (other != point).any() and of.adjacent(domain.parameters, data, domain.data_of(other))
        }
        assert found == adjacent


def of_ratios(law_in: Law[Any] | Product[Any], law_out: Law[Any] | Product[Any]) -> dict[Any, Fraction]:
    """Return how much of the second world's mass, and of the first's where it has none, lies at each likelihood ratio.

    Every divergence of the pair is a function of this. For enclosures the bounds are compared, lower and upper.
    """
    law_in, law_out = (law.on(law.parts) if isinstance(law, Product) else law for law in (law_in, law_out))
    found: dict[Any, Fraction] = {}
    for atom in dict.fromkeys([*law_in.atoms, *law_out.atoms]):
        for p, q in zip(law_in.probability(atom), law_out.probability(atom), strict=True):
            ratio = p / q if q else None
            found[ratio] = found.get(ratio, Fraction(0)) + (q or p)
    return found


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetries_keep_all_that_can_be_told_of_a_pair(name: str) -> None:
    mechanism = member(name)
    domain = listed(mechanism.family, SMALL[mechanism.family])
    if mechanism.family == "threshold":  # in base 2 its laws are exact, over all keys too
        domain = replace(domain, parameters=replace(domain.parameters, scale=Eta(3, 2, 1)))
    laws = list(map(Subject(mechanism, domain).law, range(len(domain.points))))
    for symmetry in mechanism.symmetries:
        moved = 0
        for point in range(len(domain.points)):
            others = domain.index.find(domain.neighbours(domain.points[point]))
            points_in, points_out = domain.points[[point] * len(others)], domain.points[others]
            mapped = symmetry.map(points_in, points_out)
            numbers = [domain.index.find(points) for points in mapped]
            for other, one_in, one_out in zip(others.tolist(), *(number.tolist() for number in numbers), strict=True):
                moved += (one_in, one_out) != (point, other)
                assert of_ratios(laws[one_in], laws[one_out]) == of_ratios(laws[point], laws[other])
        assert moved


def test_floats_that_are_summed_in_order_have_no_permutation() -> None:
    """The check above is able to fail."""
    law: Any = member("exponential-naive-float16").law
    parameters = listed("exponential", SMALL["exponential"]).parameters
    orders = {
        frozenset(of_ratios(law(np.array(one), parameters), law(np.array(one) + 1, parameters)).items())
        for one in permutations([0, 1, 2])
    }
    assert len(orders) > 1


def by_hand(subject: Subject) -> Iterator[Any]:
    domain = subject.domain
    laws = [subject.law(point) for point in range(len(domain.points))]
    for point in range(len(domain.points)):
        for other in domain.index.find(domain.neighbours(domain.points[point])).tolist():
            if point < other:
                yield exact.compare(laws[point], laws[other], subject.claim(point, other))


@pytest.mark.parametrize("name", [*EXACT, *NAIVE])
def test_the_result_is_that_of_every_pair_by_hand(name: str) -> None:
    mechanism = member(name)
    text, verdict = NAIVE.get(name, (SMALL[mechanism.family], DomainVerdict.HOLDS))
    domain = listed(mechanism.family, text)
    found, pairs = decide(mechanism, domain), list(by_hand(Subject(mechanism, domain)))
    assert found.pairs == 2 * len(pairs)
    verdicts = {one.verdict for one in pairs}
    assert (found.verdict is DomainVerdict.VIOLATED) == (Verdict.VIOLATED in verdicts)
    assert (found.verdict is DomainVerdict.HOLDS) == (verdicts == {Verdict.HOLDS})
    assert found.epsilon[0] == max(one.epsilon for one in pairs)
    assert found.delta == max(one.delta for one in pairs)
    assert found.verdict is verdict


def synthetic(random: Random) -> tuple[Mechanism[Any, Any, Any], Domain[Any, None], list[list[Fraction]]]:
    """Return a mechanism with random laws on a few data, all of them neighbours, and the probabilities."""
    data, outcomes = random.randint(2, 4), random.randint(1, 3)
    weights = []
    for _ in range(data):
        drawn = [random.choice((0, 1, 2, 3, 1 << 70)) for _ in range(outcomes)]
        weights.append(drawn if any(drawn) else [1] * outcomes)
    claim = Claim(random.choice((0.0, 0.5, float(np.log(2)), 1.0, 40.0)), random.choice((0.0, 0.0, 0.1)))
    points = np.arange(data)[:, np.newaxis]
    domain: Domain[Any, None] = Domain(
        "synthetic", None, points, lambda point: int(point[0]), lambda point: np.delete(points, int(point[0]), axis=0)
    )
    mechanism: Mechanism[Any, Any, Any] = Mechanism(
        "synthetic",
        "synthetic",
        lambda data, parameters, bits, n: [],
        lambda parameters, data_in, data_out: claim,
        lambda data, parameters: exact_law(range(outcomes), range(1, outcomes + 1), weights[data], sum(weights[data])),
    )
    return mechanism, domain, [[Fraction(one, sum(of)) for one in of] for of in weights]


def test_random_domains_against_rationals() -> None:
    """The largest ratio and the largest divergence, from Fractions alone."""
    random, seen = Random(1), Counter[DomainVerdict]()
    for _ in range(DOMAINS):
        mechanism, domain, probabilities = synthetic(random)
        found = decide(mechanism, domain)
        pairs = [(p, q) for one, other in combinations(probabilities, 2) for p, q in ((one, other), (other, one))]
        ratios = [p[i] / q[i] if q[i] else None for p, q in pairs for i in range(len(p)) if p[i]]
        largest = np.inf if None in ratios else float(np.log(max(float(one) for one in ratios if one is not None)))
        assert found.epsilon[0] == pytest.approx(max(0.0, largest), abs=1e-12)
        factor = Fraction(np.exp(found.claim.epsilon))
        delta = max(sum(max(0.0, float(a - factor * b)) for a, b in zip(p, q, strict=True)) for p, q in pairs)
        assert found.delta == pytest.approx(delta, abs=1e-12)
        assert found.pairs == len(pairs)
        if found.claim.delta == 0 and found.claim.epsilon != float(np.log(2)):  # else e^ε is next to a ratio of them
            assert (found.verdict is DomainVerdict.VIOLATED) == (largest > found.claim.epsilon + 1e-12)
        seen[found.verdict] += 1
    assert min(seen[DomainVerdict.VIOLATED], seen[DomainVerdict.HOLDS]) > DOMAINS / 10


@pytest.mark.parametrize("name", ["exponential-exact", "exponential-naive-shifted", "partitions-naive-float16"])
def test_small_tasks_and_few_candidates_find_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = member(name)
    domain = listed(mechanism.family, NAIVE[name][0] if name in NAIVE else SMALL[mechanism.family])
    usual = decide(mechanism, domain)
    for size in ("LISTED", "BUILT", "COMPARED", "CLAIMED", "CANDIDATES"):
        monkeypatch.setattr(every_pair, size, 1 if size == "CANDIDATES" else 5)
    found = decide(mechanism, domain)
    assert (found.verdict, found.pairs, found.laws) == (usual.verdict, usual.pairs, usual.laws)
    assert (found.epsilon, found.delta) == (usual.epsilon, usual.delta)


def test_the_worst_pair_is_one_of_the_domain() -> None:
    """And not the pair that stands for it, of which the two need not be neighbours."""
    found: Any = decide(member("exponential-exact"), listed("exponential", "utilities@most=3,outcomes=3"))
    worlds = [eval(text, {"np": np}) for text in (found.worst.in_, found.worst.out)]
    assert max(abs(worlds[0] - worlds[1])) == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("utility@most=2", "unknown domain of the family exponential 'utility'; did you mean 'utilities'"),
        ("utilities@mots=2", "unknown option of utilities 'mots'; did you mean 'most'"),
        ("utilities@most=x", "most must be an integer, got 'x'"),
        ("utilities@most=1000,outcomes=2000000", "a domain has at most 1048576 entries"),
        ("utilities@most=2,outcomes=2,epsilon=-1", "epsilon must be positive"),
        ("utilities@most=2,outcomes=0", "max_outcomes must be at least 1"),
    ],
)
def test_a_domain_that_is_none_is_refused(text: str, error: str) -> None:
    with pytest.raises((LookupError, ValueError), match=error):
        listed("exponential", text)


def test_a_member_without_a_law_is_refused() -> None:
    with pytest.raises(NoLawError, match="noisy-max-naive-float64 has no law"):
        decide(member("noisy-max-naive-float64"), listed("exponential", SMALL["exponential"]))


def test_points_that_are_given_twice_or_too_far_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="points must be distinct"):
        Index(np.array([[0], [1], [0]]))
    for far in ([1 << 20] * 4, [(1 << 31) - 1] * 2, [1 << 62]):
        with pytest.raises(ValueError, match="points must span fewer than"):
            Index(np.array([[0] * len(far), far]))
    with pytest.raises(ValueError, match="points must span fewer than"):
        Index(np.array([[-(1 << 63)], [(1 << 63) - 1]]))
    assert Index(np.array([[0, 0], [(1 << 31) - 1, (1 << 31) - 2]])).find(np.array([[0, 0], [0, 1]])).tolist() == [
        0,
        -1,
    ]


def test_every_point_has_its_number_and_no_other_has_one() -> None:
    """Of every second vector in a box with three different sides, next to the largest integers of 64 bits."""
    most = np.array([(1 << 63) - 1, 7, 2])
    around = most - np.indices((4, 6, 8)).reshape(3, -1).T
    inside = (most - around < (2, 3, 5)).all(axis=1)
    points = np.random.default_rng(1).permutation(around[inside])[::2]
    numbers = {tuple(point): number for number, point in enumerate(points.tolist())}
    assert Index(points).find(around).tolist() == [numbers.get(tuple(point), -1) for point in around.tolist()]


@pytest.mark.parametrize("sides", [(0, 2, 3), (-2, 1, 2), (5, 5, 4), (0, 1, 9)])
def test_a_box_has_every_vector_once(sides: tuple[int, int, int]) -> None:
    low, high, width = sides
    points = box(low, high, width)
    assert points.shape == ((high - low + 1) ** width, width)
    assert (points.min(), points.max()) == (low, high)
    Index(points)  # they are distinct


@pytest.mark.parametrize(
    "sides", [(0, -1, 1), (0, 1, 0), (0, 1, 23), (0, 1 << 22, 1), (0, 10**20, 2), (0, 1, 10**20), (0, 0, 10**20)]
)
def test_a_box_of_no_data_or_too_many_is_refused(sides: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="a domain has from 1 to 4194304 data, got"):
        box(*sides)
    assert len(box(1, 1 << 22, 1)) == 1 << 22


def test_symmetries_map_to_the_same_pair_whatever_stands_for_it() -> None:
    points_in, points_out = np.array([[3, 5, 3], [1, 1, 0]]), np.array([[4, 4, 6], [2, 1, 5]])
    assert [one.tolist() for one in SHIFT.map(points_in, points_out)] == [
        [[0, 2, 0], [1, 1, 0]],
        [[0, 0, 2], [1, 0, 4]],
    ]
    assert [one.tolist() for one in PERMUTATION.map(points_in, points_out)] == [
        [[3, 3, 5], [0, 1, 1]],
        [[4, 6, 4], [5, 1, 2]],
    ]


def test_a_symmetry_that_leaves_the_domain_is_refused() -> None:
    domain = listed("exponential", SMALL["exponential"])
    part = Domain("part", None, domain.points[5:], domain.data_of, lambda point: domain.points[-1:])
    with pytest.raises(ValueError, match="a symmetry of exponential-exact leaves the domain part"):
        every_pair.pairs_of(Subject(member("exponential-exact"), part), np.array([0]))


def test_a_claim_that_depends_on_the_pair_is_refused_also_where_floats_decide_all_pairs() -> None:
    """Five pairs are within a claim of 2 nats by far. One of them, which is not the first, claims less."""
    points = np.arange(4)[:, np.newaxis]
    domain: Domain[Any, None] = Domain(
        "claims", None, points, lambda point: int(point[0]), lambda point: np.delete(points, int(point[0]), axis=0)
    )

    def law(data: int, parameters: None) -> Law[Any]:
        return exact_law(range(2), range(1, 3), [100 + 30 * data, 300 - 30 * data], 400)

    def claim(parameters: None, data_in: int, data_out: int) -> Claim:
        return Claim(0.01 if {data_in, data_out} == {1, 2} else 2.0)

    mechanism: Mechanism[Any, Any, Any] = Mechanism("two-claims", "claims", lambda *given: [], claim, law)
    with pytest.raises(ValueError, match="the claim of two-claims depends on the pair"):
        decide(mechanism, domain)


def test_laws_that_differ_anywhere_have_different_digests() -> None:
    """Pairs of laws with equal digests are compared once."""
    law: Law[Any] = Law(
        "abc", [1, 3], [1, 2], [2, 3], 6, Fraction(1, 3), Powers(Fraction(1), *np.array([[1, 2], [0, 1]]))
    )
    assert law.powers is not None
    numbers = ([1, 2, 3], [1, 2, 4], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    objects: list[Any] = [np.array([0, 1, 10**30 + one], dtype=object) for one in (0, 1)]  # not by where they lie
    arrays: list[Any] = [*map(np.array, numbers), np.array([1, 2, 3]).view(np.float64), *objects]
    others: list[Law[Any]] = [
        replace(law, atoms="abd"),
        replace(law, atoms=range(3)),
        replace(law, ends=[2, 3]),
        replace(law, low=[0, 2]),
        replace(law, high=[2, 4]),
        replace(law, denominator=7),
        replace(law, rest=Fraction(2, 3)),
        replace(law, powers=None),
        replace(law, powers=replace(law.powers, rate=Fraction(2))),
        replace(law, powers=replace(law.powers, exponents=np.array([1, 3]))),
        replace(law, powers=replace(law.powers, constants=np.array([0, 2]))),
        *(replace(law, atoms=atoms) for atoms in arrays),
    ]
    every = [law, *others]
    assert len(set(map(every_pair._digest, every))) == len(every)
    assert every_pair._digest(replace(law)) == every_pair._digest(law)
    again: Any = np.array([0, 1, int("1" + 30 * "0")], dtype=object)
    same = replace(law, atoms=again)
    assert every_pair._digest(same) == every_pair._digest(replace(law, atoms=objects[0]))
    parts: list[Law[Any]] = [exact_law(range(2), [1, 2], [1, one], 1 + one) for one in (1, 2)]
    products: list[Product[Any]] = [Product({"a": parts[0], key: parts[one]}) for key in "bc" for one in (0, 1)]
    assert len(set(map(every_pair._digest, products))) == len(products)
    long = [exact_law(range(2), [1, 2], [1, (1 << 20_000) + one], (1 << 20_000) + 1 + one) for one in (0, 1)]
    assert len(set(map(every_pair._digest, long))) == 2  # of more digits than Python writes


def wide_law(data: Any, parameters: Any) -> Law[Any]:
    """Return bounds that do not decide a claim of 1/2 nat: on any data, each of two outcomes has 1/4 to 3/4."""
    return Law(range(2), [1, 2], [1, 1], [3, 3], 4, Fraction(0))


def test_pairs_that_the_bounds_do_not_decide_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_pair, "CANDIDATES", 1)
    mechanism = replace(member("exponential-exact"), law=wide_law, symmetries=(), claim=lambda *of: Claim(0.5))
    domain = listed("exponential", "utilities@most=1,outcomes=2")
    found = decide(mechanism, domain)
    assert found.verdict is DomainVerdict.UNRESOLVED
    assert found.unresolved == 1  # all data have the same bounds
    by_value = replace(
        mechanism, law=lambda data, parameters: replace(wide_law(data, parameters), high=[3, 3 + data[0]])
    )
    assert decide(by_value, domain).unresolved == 3  # pairs of two laws, each with itself and with the other
    assert (found.epsilon[0], found.delta) == (0.0, 0.0)


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_a_violation_is_one_although_other_pairs_are_not_decided(delta: float) -> None:
    def law(data: Any, parameters: Any) -> Law[Any]:
        return exact_law(range(2), [1, 2], [0, 1], 1) if data[0] else wide_law(data, parameters)

    mechanism = replace(member("exponential-exact"), law=law, symmetries=(), claim=lambda *of: Claim(0.5, delta))
    found = decide(mechanism, listed("exponential", "utilities@most=1,outcomes=2"))
    assert found.verdict is DomainVerdict.VIOLATED
    assert found.delta >= 0.25


def test_the_worst_pair_is_that_of_the_verdict() -> None:
    def evidence(verdict: Verdict, epsilon: float, delta: float, within: float | None = None) -> ExactEvidence:
        return replace(some, verdict=verdict, epsilon=epsilon, delta=delta, within=within)

    law = exact_law(range(2), [1, 2], [1, 1], 2)
    some, pure = exact.compare(law, law, Claim(1.0)), Claim(1.0)
    held = [evidence(Verdict.HOLDS, 0.9, 0.01, 0.0), evidence(Verdict.HOLDS, 0.8, 0.02, 0.0)]
    left = [evidence(Verdict.UNRESOLVED, 1.0, 0.0, one) for one in (0.1, 0.3, 0.2)]
    broken = [evidence(Verdict.VIOLATED, 1.2, 0.1), evidence(Verdict.VIOLATED, 1.1, 0.2)]
    for pairs, claim, worst, verdict in (
        (held, pure, 0, DomainVerdict.HOLDS),
        (held, Claim(1.0, 0.05), 1, DomainVerdict.HOLDS),
        (held + left, pure, 3, DomainVerdict.UNRESOLVED),
        (broken + left, pure, 1, DomainVerdict.VIOLATED),
        (held + broken, Claim(1.0, 0.05), 3, DomainVerdict.VIOLATED),
    ):
        assert every_pair._worst(pairs, claim) == (worst, verdict)


@pytest.mark.parametrize("delta", [0.0, 0.5])
@pytest.mark.parametrize("refusing", [0, 1])
def test_a_world_that_refuses_beside_one_that_does_not_is_a_violation(refusing: int, delta: float) -> None:
    def law(data: Any, parameters: Any) -> Law[Any]:
        return exact_law([Refused("no")] if data[0] == refusing else [0], [1], [1], 1)

    mechanism = replace(member("exponential-exact"), law=law, symmetries=(), claim=lambda *of: Claim(1.0, delta))
    found = decide(mechanism, listed("exponential", "utilities@most=1,outcomes=1"))
    assert (found.verdict, found.delta, found.epsilon[0]) == (DomainVerdict.VIOLATED, 1.0, np.inf)


def test_worlds_that_refuse_alike_are_no_error() -> None:
    """Above a utility of 17 no weight is left in float16; the claim has a δ, so that every pair is compared exactly."""
    mechanism = replace(member("exponential-naive-float16"), claim=lambda *of: Claim(2.0, 1e-3))
    found = decide(mechanism, listed("exponential", "utilities@most=20,outcomes=1,epsilon=2"))
    assert (found.verdict, found.delta) == (DomainVerdict.VIOLATED, 1.0)
    part = listed("exponential", "utilities@most=20,outcomes=1,epsilon=2")
    high = replace(
        part, points=part.points[18:], neighbours=lambda point: part.points[18:][part.points[18:] != point][:, None]
    )
    with pytest.raises(
        ValueError, match="exponential-naive-float16 refuses in every run on the domain utilities@most=20"
    ):
        decide(mechanism, high)
