"""Laws of independent numbers, compared with the law of the whole outcome by all strings of short words."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from subnormal import Claim, Verdict, law
from subnormal.audit.laws import independent
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.draws.sources import replaced
from subnormal.audit.laws.independent import Numbers, laws_of_numbers
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity
from tests.audit.laws import samplers
from tests.audit.laws.draws import helpers
from tests.audit.laws.short_uniforms import short_uniforms

SIZE = 8  # numbers of a uniform
PAIRS = ([1, 1, 2], [1, 2, 2]), ([1, 1, 2], [1, 2, 4]), ([0, 3, 1], [0, 3, 1])
FACTORS = Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4)


def noise() -> float:
    """Return noise that fails for one uniform."""
    u = random.random()
    return math.floor(-math.log2(u))


def rounded(numbers: list[int]) -> list[int]:
    return [round(number + 3 * random.random()) for number in numbers]


def differences(numbers: list[int]) -> tuple[int, ...]:
    return tuple(round(number + 2 * random.random() - 2 * random.random()) for number in numbers)


def fails(numbers: list[int]) -> dict[str, Any]:
    return {"noisy": [number + noise() for number in numbers], "of": "three", "how many": len(numbers)}


def fails_for_a_value(numbers: list[int]) -> list[Any]:
    """Return what is also the outcome of another path: one that catches what another number raises."""
    try:
        return [number + noise() for number in numbers]
    except ValueError:
        return [number + 3 for number in numbers]


def fails_for_a_rare_value(numbers: list[int]) -> list[Any]:
    """Return two numbers, of which the outcome of the other path is unlikely."""
    try:
        return [numbers[0] + noise(), numbers[1] + math.floor(SIZE * random.random())]
    except ValueError:
        return [numbers[0] + 3, numbers[1]]


FUNCTIONS: list[Callable[[list[int]], Any]] = [rounded, differences, fails, fails_for_a_value]


@contextmanager
def short_words(rare: float = 1.0) -> Iterator[None]:
    """Let uniforms be short, and let less be likely than the likeliest path is."""
    with short_uniforms(SIZE), patch.object(independent, "RARE", rare):
        yield


def outcomes(function: Callable[[Any], Any], data: Any, draws: int) -> Counter[Any]:
    """Return how often each outcome comes, of all strings of so many uniforms."""
    found: Counter[Any] = Counter()
    for numbers in itertools.product(range(SIZE), repeat=draws):
        drawn = (number / SIZE for number in numbers)
        with patch.object(random, "random", lambda drawn=drawn: next(drawn)):
            try:
                found[identity(as_outcome(function(data)))] += 1
            except ValueError as error:
                found[identity(Refused(repr(error)))] += 1
    return found


def excess(one: Counter[Any], other: Counter[Any], factor: Fraction) -> Fraction:
    total = Fraction(sum(one.values()))
    return sum(
        (max(count / total - factor * other[key] / total, Fraction(0)) for key, count in one.items()), Fraction(0)
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_bounds_hold_for_the_law_of_the_whole_outcome(
    function: Callable[[Any], Any], pair: tuple[Any, Any]
) -> None:
    if function is differences:  # which draws twice for each number
        pair = pair[0][1:], pair[1][1:]
    draws = 4 if function is differences else 3
    with short_words(), replaced(function) as source:
        found = laws_of_numbers(source, function, pair, 60.0)
    assert found is not None
    numbers, laws = found
    assert [place[-1] for place in numbers.places] == [at for at, one in enumerate(pair[0]) if one != pair[1][at]]
    true = [outcomes(function, data, draws) for data in pair]
    for known, data in zip(laws, pair, strict=True):
        whole = outcomes(lambda data: numbers(as_outcome(function(data))), data, draws)
        for atom in known.law.atoms:
            low, high = known.law.probability(atom)
            assert low <= Fraction(whole[identity(atom)], SIZE**draws) <= high
    for (law_in, law_out), (one, other) in zip((laws, laws[::-1]), (true, true[::-1]), strict=True):
        atoms = {identity(atom): atom for law in laws for atom in law.law.atoms}.values()
        bounds = [(law_in.law.probability(atom), law_out.law.probability(atom)) for atom in atoms]
        for factor in FACTORS:
            least = sum((max(low - factor * high, Fraction(0)) for (low, _), (_, high) in bounds), Fraction(0))
            most = sum((max(high - factor * low, Fraction(0)) for (_, high), (low, _) in bounds), Fraction(0))
            assert least <= excess(one, other, factor) <= most + law_in.rest


def test_what_other_paths_lead_to_counts_for_each_outcome() -> None:
    pair = [0, 0], [1, 1]
    with short_words(), replaced(fails_for_a_rare_value) as source:
        found = laws_of_numbers(source, fails_for_a_rare_value, pair, 20.0)
    assert found is not None
    numbers, laws = found
    for one, data in zip(laws, pair, strict=True):
        true = outcomes(lambda data: numbers(as_outcome(fails_for_a_rare_value(data))), data, 2)
        for atom in one.law.atoms:
            low, high = one.law.probability(atom)
            assert low <= Fraction(true[identity(atom)], SIZE**2) <= high


@pytest.mark.parametrize("pair", PAIRS[:2])
def test_bounds_are_equal_where_one_path_has_all_of_the_probability(pair: tuple[Any, Any]) -> None:
    with short_words(), replaced(rounded) as source:
        found = laws_of_numbers(source, rounded, pair, 60.0)
    assert found is not None
    true = [outcomes(rounded, data, 3) for data in pair]
    laws = [one.law for one in found[1]]
    assert all(law.rest == 0 for law in laws)
    for factor in FACTORS:
        bounds = [(laws[0].probability(atom), laws[1].probability(atom)) for atom in laws[0].atoms]
        assert sum(max(low - factor * high, Fraction(0)) for (low, _), (_, high) in bounds) == excess(
            true[0], true[1], factor
        )


def fails_with_what_it_knows(numbers: list[int]) -> Any:
    try:
        return [number + noise() for number in numbers[:2]]
    except ValueError:
        return numbers[2]


def test_what_happens_seldom_may_tell_all() -> None:
    with short_words():
        found = decide(fails_with_what_it_knows, [0, 3, 1], [0, 3, 2], Claim(0.0, 0.2), seconds=20.0)
        assert found.verdict is not Verdict.HOLDS  # δ is 1 − (7/8)²
        assert decide(fails_with_what_it_knows, [0, 3, 1], [0, 3, 2], Claim(0.0, 0.25), seconds=20.0).keeps is not None


@pytest.mark.parametrize(
    "function", [helpers.leaks_by_an_exception, helpers.leaks_by_a_value, helpers.leaks_by_a_normal]
)
def test_what_a_law_that_is_nearly_known_leaves_out_may_tell_all(function: Callable[[int], Any]) -> None:
    found = decide(function, 1, 2, Claim(1.0), seconds=4.0)
    assert found.verdict is Verdict.UNRESOLVED
    assert found.keeps is not None
    assert 0 < found.keeps.delta < 1e-6


def test_what_a_law_that_is_nearly_known_leaves_out_convicts_of_nothing() -> None:
    assert decide(helpers.differs_seldom, 2.0**-40, 0.0, Claim(20.0), seconds=4.0).verdict is not Verdict.VIOLATED


RNG = np.random.default_rng(1)


def of_normals(numbers: list[int]) -> Any:
    return [round(number + RNG.normal()) for number in numbers]


def of_normals_with_a_branch(numbers: list[int]) -> Any:
    drawn = [RNG.normal() for _ in numbers]
    return [round(one) for one in drawn] if drawn[0] > -8 else None


def test_what_is_known_nearly_counts_for_its_own_number() -> None:
    alone, pair = law(lambda number: of_normals([number])[0], 1, seconds=20.0), ([1] * 20, [1] * 19 + [2])
    with replaced(of_normals) as source:
        found = laws_of_numbers(source, of_normals, pair, 20.0)
    assert found is not None
    assert found[1][0].rest < 22 * alone.rest  # once for each of them, and not in each path
    with replaced(of_normals_with_a_branch) as source:
        assert laws_of_numbers(source, of_normals_with_a_branch, pair, 20.0) is None


def with_values(numbers: list[int]) -> Any:
    return [numbers[0] + round(random.random()), *numbers[1:]]


def one_noise_twice(numbers: list[int]) -> Any:
    drawn = random.random()
    return [round(number + drawn) for number in numbers]


def with_a_branch(numbers: list[int]) -> Any:
    drawn = [random.random() for _ in numbers]
    return [round(one) for one in drawn] if drawn[0] < 0.5 else [2 + round(one) for one in drawn]


def with_a_comparison(numbers: list[int]) -> Any:
    one, other = random.random(), random.random()
    return [round(one), round(other)] if one + numbers[0] < other + numbers[1] else [2 + round(one), 3 + round(other)]


def with_an_exact_number(numbers: list[int]) -> Any:
    return [round(number + random.random()) for number in numbers[:2]], numbers[2]


def of_two_types(numbers: list[int]) -> Any:
    noisy = [round(number + random.random()) for number in numbers]
    return noisy if numbers[2] == 2 else tuple(noisy)


@pytest.mark.parametrize(
    "function", [with_values, one_noise_twice, with_a_branch, with_a_comparison, with_an_exact_number, of_two_types]
)
def test_numbers_that_may_depend_on_each_other_are_not_multiplied(function: Callable[[Any], Any]) -> None:
    with short_words(0.4), replaced(function) as source:
        assert laws_of_numbers(source, function, PAIRS[1], 10.0) is None


def test_a_path_that_others_take_too_often_is_none() -> None:
    with short_words(0.3), replaced(fails) as source:
        assert laws_of_numbers(source, fails, PAIRS[0], 10.0) is None
    with short_words(0.4), replaced(fails) as source:  # 1 − (7/8)³ is between
        assert laws_of_numbers(source, fails, PAIRS[0], 10.0) is not None


@pytest.mark.parametrize("histogram", samplers.HISTOGRAMS)
def test_twenty_noisy_counts_are_decided(histogram: Callable[[list[int]], Any]) -> None:
    counts, neighbour = [1] * 20, [1] * 19 + [2]
    kept = decide(histogram, counts, neighbour, Claim(1.0 + 1e-9, 1e-9), seconds=60.0)
    assert kept.verdict is Verdict.HOLDS
    pair = [2, *neighbour[1:]]
    broken = decide(histogram, counts, pair, Claim(1.5), seconds=60.0)
    assert broken.verdict is Verdict.VIOLATED
    assert isinstance(broken.cells, Numbers)
    assert broken.evidence.epsilon == pytest.approx(2.0)
    assert broken.event is not None
    shares = [broken.event([broken.cells(as_outcome(histogram(data))) for _ in range(400)]) for data in (counts, pair)]
    bounds = [[share.sum() / 400 for share in shares], [broken.evidence.event_in, broken.evidence.event_out]]
    for share, bound in zip(*bounds, strict=True):  # wrong with P < 4e-7 each, by Hoeffding's inequality
        assert bound is not None
        assert bound[0] - 0.14 < share < bound[1] + 0.14


def test_what_is_not_decided_keeps_the_least_delta() -> None:
    def histogram(counts: list[int]) -> list[int]:
        return [round(count + random.expovariate(1) - random.expovariate(1)) for count in counts]

    found = decide(histogram, [1] * 20, [1] * 19 + [2], Claim(1.0), seconds=4.0)
    assert found.verdict is Verdict.UNRESOLVED
    assert isinstance(found.cells, Numbers)
    assert found.keeps is not None
    assert found.keeps.delta < 1.0  # all paths together tell nothing
