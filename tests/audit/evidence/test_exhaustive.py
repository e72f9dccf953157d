"""The walk visits every string once and says what it did not decide."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, count, product

import pytest

from subnormal import Claim, Verdict
from subnormal.audit.evidence import exact, exhaustive
from subnormal.audit.evidence.hockey_stick_bounds import directions
from subnormal.mechanisms.bits import BitSource, OutOfBitsError
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Refused


def uniform_of_three(bits: BitSource) -> int:
    while (drawn := bits.take(2)) == 3:
        pass
    return drawn


def test_what_is_cut_off_may_end_anywhere() -> None:
    law = exhaustive.law(uniform_of_three, depth=6)
    assert law.rest == Fraction(1, 64)
    assert law.probability(0) == (Fraction(21, 64), Fraction(22, 64))  # the truth, 1/3, lies between
    assert law.probability("never") == (0, law.rest)  # type: ignore[arg-type]


def test_a_sampler_that_fails_on_every_string_holds_nothing() -> None:
    """Both laws are equal then, as those of a sound sampler are; one world alone that refuses is the loudest event."""
    failing = exhaustive.law(lambda bits: bits.take(1) + "0", depth=3)  # type: ignore[operator]
    working = exhaustive.law(lambda bits: bits.take(1), depth=3)
    with pytest.raises(ValueError, match=r"both worlds refuse in every run.*TypeError: unsupported operand"):
        exact.compare(failing, failing, Claim(1.0))
    for pair in ((failing, working), (working, failing)):
        assert exact.compare(*pair, Claim(1.0)).verdict is Verdict.VIOLATED


def by_rejection(bits: BitSource) -> int:
    """A fair bit: of two, the first one that is followed by a 0."""
    while True:
        drawn = bits.take(2)
        if drawn & 1 == 0:
            return drawn >> 1


def test_equal_distributions_are_not_told_apart_by_what_is_cut_off() -> None:
    law_in, law_out = (exhaustive.law(sampler, 2) for sampler in (by_rejection, lambda bits: bits.take(1)))
    assert law_in.probability(1) == (Fraction(1, 4), Fraction(3, 4))
    for claim in (Claim(0.0), Claim(0.1), Claim(1.0)):
        evidence = exact.compare(law_in, law_out, claim)
        assert (evidence.verdict, evidence.epsilon, evidence.delta) == (Verdict.UNRESOLVED, 0, 0)


def completions(decided: tuple[int, ...], cut_off: int, outside: int) -> Iterator[list[Fraction]]:
    """Every way in which that many more strings may end in one of the outcomes, or in some others."""
    for ends in combinations_with_replacement(range(len(decided) + outside), cut_off):
        weights = [*decided, *[0] * outside]
        for end in ends:
            weights[end] += 1
        yield [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize(
    ("decided_in", "decided_out"),
    [((5, 2, 0), (2, 2, 1)), ((1, 6, 1), (6, 0, 1)), ((3, 2, 1), (3, 3, 2)), ((7, 1, 0), (0, 1, 4)), ((4, 3), (4, 2))],
)
def test_the_bounds_of_a_walk_hold_for_every_way_in_which_it_may_go_on(
    decided_in: tuple[int, ...], decided_out: tuple[int, ...]
) -> None:
    """Eight strings in each world. Some way attains both bounds, but that a lower one may need a part of a string."""

    def law(decided: tuple[int, ...]) -> Law[int]:
        outcomes = [outcome for outcome, count in enumerate(decided) for _ in range(count)]

        def draw(bits: BitSource) -> int:
            drawn = bits.take(3)
            return outcomes[drawn] if drawn < len(outcomes) else bits.take(1)

        return exhaustive.law(draw, depth=3)

    law_in, law_out = law(decided_in), law(decided_out)
    forth = directions(law_in, law_out)[0]
    pairs = list(product(*(completions(decided, 8 - sum(decided), outside=2) for decided in (decided_in, decided_out))))
    for factor in (Fraction(1), Fraction(2), Fraction(3)):
        sticks = [sum(max(Fraction(0), p - factor * q) for p, q in zip(*pair, strict=True)) for pair in pairs]
        least, most = (
            Fraction(bound.numerator, bound.denominator) for bound in (forth.at_least(factor), forth.at_most(factor))
        )
        assert max(sticks) == most
        assert least <= min(sticks) < least + factor / 8
    losses = [max(p / q if q else Fraction(10**9) for p, q in zip(*pair, strict=True) if p) for pair in pairs]
    assert math.exp(forth.loss()) <= float(min(losses)) * (1 + 1e-12)


def test_a_condition_takes_what_misses_it_from_the_denominator() -> None:
    """Without anything cut off it is the conditional law; all bounds hold for every way in which the rest may go on."""
    three = exhaustive.law(lambda bits: bits.take(2), depth=2, condition=lambda outcome: outcome != 3)
    assert [three.probability(outcome) for outcome in range(4)] == [(Fraction(1, 3), Fraction(1, 3))] * 3 + [(0, 0)]
    assert three.rest == 0

    def sampler(bits: BitSource) -> int:
        first = bits.take(3)
        return first if first < 6 else bits.take(3)

    law = exhaustive.law(sampler, depth=5, condition=lambda outcome: outcome in (0, 1, 9))  # 6 and 7 are cut off
    assert list(law.atoms) == [0, 1]
    ends = (0, 1, 2, 9)  # 2 misses the condition; 9 meets it, and only the rest may lead to it
    for where in combinations_with_replacement(ends, 8):  # the rest, in eight parts
        masses = {end: Fraction(where.count(end), 32) + (Fraction(1, 8) if end < 2 else 0) for end in (0, 1, 9)}
        for end, mass in masses.items():
            low, high = law.probability(end)
            assert low <= mass / sum(masses.values()) <= high
    all_to_0 = (Fraction(1, 8) + Fraction(1, 4)) / Fraction(1, 2)
    assert law.probability(0) == (Fraction(1, 4), all_to_0)  # both bounds are attained
    assert law.probability(9) == (0, law.rest) == (0, Fraction(1, 2))
    with pytest.raises(exhaustive.UndecidedError, match="no outcome of a string of depth = 2 bits meets the condition"):
        exhaustive.law(lambda bits: bits.take(2), depth=2, condition=lambda outcome: False)


def test_the_number_of_bits_has_a_law_too() -> None:
    law = exhaustive.bits_consumed(uniform_of_three, depth=6)
    assert [law.probability(bits)[0] for bits in (2, 4, 6)] == [Fraction(3, 4), Fraction(3, 16), Fraction(3, 64)]


def test_a_sampler_that_someone_else_wrote_by_words() -> None:
    law = exhaustive.law(lambda bits: int(bits.words(2).sum()), depth=6, word_bits=3)
    assert law.probability(14)[0] == Fraction(1, 64)
    assert law.probability(7)[0] == Fraction(8, 64)


def test_each_leaf_is_visited_once() -> None:
    runs = count()

    def sampler(bits: BitSource) -> int:
        next(runs)
        return 0 if bits.take(1) == 0 else bits.take(3)

    exhaustive.law(sampler, depth=12)
    assert next(runs) == 1 + 8 + 1  # and the first string once more


def test_an_exception_is_an_outcome() -> None:
    law = exhaustive.law(lambda bits: 1 // bits.take(1), depth=1)
    with pytest.raises(ZeroDivisionError) as error:
        _ = 1 // 0  # its words change by version of Python
    refused = Refused(f"ZeroDivisionError: {error.value}")
    assert law.probability(refused)[0] == Fraction(1, 2)


def swallowing(bits: BitSource) -> int:
    try:
        return bits.take(4)
    except OutOfBitsError:
        return 0


@pytest.mark.parametrize("sampler", [swallowing, lambda bits: bits.take(4)])
def test_nothing_is_concluded_from_a_sampler_that_ran_out(sampler: Callable[[BitSource], int]) -> None:
    with pytest.raises(ValueError, match="no string of depth = 3 bits decides an outcome"):
        exhaustive.law(sampler, depth=3)


def test_a_sampler_with_randomness_of_its_own_is_refused() -> None:
    state = count()
    with pytest.raises(ValueError, match="it read '001' once and '0' later"):
        exhaustive.law(lambda bits: bits.take(3 if next(state) < 2 else 1), depth=3)


def test_the_first_string_is_tried_twice() -> None:
    state = count()
    with pytest.raises(ValueError, match="two runs on the same ones differ"):
        exhaustive.law(lambda bits: next(state), depth=3)


def test_nan_is_an_outcome_like_itself_and_one_is_not_true() -> None:
    found = exhaustive.law(lambda bits: float("nan") if bits.take(1) == 0 else 0.5, depth=1)
    assert found.probability(float("nan"))[0] == found.probability(0.5)[0] == Fraction(1, 2)
    state = iter((1, True))
    with pytest.raises(ValueError, match="two runs on the same ones differ"):
        exhaustive.law(lambda bits: next(state), depth=0)


def test_whoever_counts_bits_may_return_anything() -> None:
    assert exhaustive.bits_consumed(lambda bits: [bits.take(2)], depth=2).probability(2)[0] == 1


def test_a_typing_mistake_is_no_outcome() -> None:
    with pytest.raises(AttributeError, match="tak"):
        exhaustive.law(lambda bits: bits.tak(1), depth=3)  # type: ignore[attr-defined]


def test_bad_input_is_named_with_its_value() -> None:
    with pytest.raises(ValueError, match="depth must not be negative, got -1"):
        exhaustive.law(lambda bits: 0, depth=-1)
