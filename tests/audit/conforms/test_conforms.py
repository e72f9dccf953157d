"""A sampler is held against the law that it declares.

Each test of a sampler that follows its law accuses it with probability 1e-6 at most.
"""

import itertools
import json
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import integrate, stats

from subnormal import Verdict, conforms
from subnormal.audit.check.document import to_json
from subnormal.audit.check.evidence import LawEvidence
from subnormal.audit.check.page import to_html
from subnormal.audit.check.result import Result
from subnormal.audit.conforms.declared_law import ATOMS, events, judged_input, reachable
from subnormal.audit.evidence.sequential import FIRST, SLACK
from subnormal.audit.statistics.conformance import log_e_values, log_mean
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

GENERATOR, MANY = np.random.default_rng(1), (1 << 20) + 1


def law(data: int, scale: float = 3.0) -> dict[int, float]:
    """Integer Laplace noise."""
    p = math.exp(-1 / scale)
    return {x: (1 - p) / (1 + p) * p ** abs(x - data) for x in range(data - 150, data + 151)}


def noisy(data: int, runs: int, scale: float = 3.0) -> list[int]:
    p = math.exp(-1 / scale)
    return (data + GENERATOR.geometric(1 - p, runs) - GENERATOR.geometric(1 - p, runs)).tolist()  # type: ignore[no-any-return]


def evidence_of(result: Result) -> LawEvidence:
    evidence = result.evidence["law"]
    assert isinstance(evidence, LawEvidence)
    return evidence


def judged(function: Any, **options: Any) -> Result:
    return conforms(function, st.integers(-5, 5), law=law, batch=True, **{"runs": 1 << 16, **options})


def test_noise_that_follows_its_law_is_not_accused() -> None:
    result = judged(noisy)
    assert result.verdict is Verdict.NOT_REFUTED
    assert evidence_of(result).runs == 1 << 16
    assert "the declared law" in str(result)


def test_a_scale_five_percent_too_small_is_found() -> None:
    result = judged(lambda data, runs: noisy(data, runs, 2.85), runs=1 << 18)
    assert result.verdict is Verdict.VIOLATED
    evidence = evidence_of(result)
    assert not evidence.low <= evidence.seen / evidence.runs <= evidence.high


def test_a_bias_of_one_outcome_is_named() -> None:
    """One run in thirty that would return its input returns the next number."""

    def biased(data: int, runs: int) -> list[int]:
        return [data + 1 if one == data and random.random() < 1 / 8 else one for one in noisy(data, runs)]

    result = judged(biased, runs=1 << 17)
    assert result.verdict is Verdict.VIOLATED
    assert evidence_of(result).event.startswith("the outcome is ")


def test_one_outcome_that_the_law_does_not_have_is_enough() -> None:
    def coin(data: int) -> Any:
        return "edge" if random.random() < 0.01 else random.random() < 0.5

    half = {True: Fraction(1, 2), False: Fraction(1, 2)}
    result = conforms(coin, st.just(0), law=lambda data: half, runs=1 << 13)
    assert result.verdict is Verdict.VIOLATED
    assert evidence_of(result).event == "the outcome is none of the law's"
    assert evidence_of(result).log_e_value == math.inf
    assert json.loads(to_json(result))["evidence"]["law"]["log_e_value"] == "inf"
    assert "the declared law" in to_html(result)


def test_runs_of_a_batch_that_raises_are_no_fewer_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal of chance 1/256 makes a batch of 64 raise. If only that one were drawn again, a fifth would be seen."""
    monkeypatch.setattr("subnormal.audit.conforms.conforms.BATCH", 64)
    draw = random.Random(1)

    def coins(data: int, runs: int) -> list[int]:
        numbers = [draw.getrandbits(8) for _ in range(runs)]
        if 0 in numbers:
            raise ValueError("refused")
        return numbers

    of_bytes: dict[Any, Fraction] = dict.fromkeys([Refused("ValueError: refused"), *range(1, 256)], Fraction(1, 256))
    result = conforms(coins, st.just(0), law=lambda data: of_bytes, batch=True, runs=1 << 15)
    assert result.verdict is Verdict.NOT_REFUTED
    assert evidence_of(result).runs == 1 << 15


def test_an_input_that_begins_again_calls_no_other_for_no_runs() -> None:
    sizes: list[int] = []

    def coins(data: int, runs: int) -> list[int]:
        sizes.append(runs)
        if data and len(sizes) > 8 and runs > 1:  # in its last look
            raise ValueError("refused")
        return [random.getrandbits(1) for _ in range(runs)]

    half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    result = conforms(coins, st.sampled_from([0, 1]), law=lambda data: half, batch=True, runs=1 << 10)
    assert result.verdict is Verdict.NOT_REFUTED
    assert 0 not in sizes
    assert sizes.count(1) >= 1 << 10  # all of its runs, those before its last look too


def test_runs_that_no_outcome_could_refute_the_law_with_are_underpowered() -> None:
    """Of a law with some mass left out: the fewest runs that refute a constant say NOT REFUTED of another sampler."""
    declared = {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.24}
    draw = random.Random(1)

    def verdict(function: Any, runs: int) -> Result:
        return conforms(function, st.just(0), law=lambda data: declared, runs=runs)

    assert verdict(lambda data: draw.randrange(4), 1).verdict is Verdict.UNDERPOWERED
    few, many = 1, 64
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (
            (few, middle) if verdict(lambda data: "none", middle).verdict is Verdict.VIOLATED else (middle, many)
        )
    assert verdict(lambda data: draw.randrange(4), many).verdict is Verdict.NOT_REFUTED
    below = verdict(lambda data: draw.randrange(4), few)
    assert (below.verdict, evidence_of(below).verdict) == (Verdict.UNDERPOWERED, Verdict.UNDERPOWERED)
    assert "4 of an input may do" in below.notes[0]


def test_one_input_that_could_have_refuted_the_law_is_enough() -> None:
    """Of input 0 no outcome is impossible, and two runs are too few; of input 1 all but two are."""
    laws: list[Any] = [{0: 0.25}, {0: Fraction(1, 2), 1: Fraction(1, 2)}]
    for inputs, verdict in (([0], Verdict.UNDERPOWERED), ([0, 1], Verdict.NOT_REFUTED)):
        result = conforms(lambda data: 0, st.sampled_from(inputs), law=laws.__getitem__, runs=2)
        assert (result.verdict, result.examples) == (verdict, len(inputs))


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("batch", [False, True])
def test_a_law_is_refuted_from_the_stated_wealth_on(inputs: int, batch: bool) -> None:
    """α is shared by the inputs, and a batch function needs twice as much: to a millionth of a nat."""
    half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    one, runs = judged_input(0, lambda data: half), 40
    seen = [event.atoms is not None and identity(0) in event.atoms for event in one.events]
    shown = log_mean(log_e_values([event.chances for event in one.events], [runs * some for some in seen], runs))

    def verdict(margin: float) -> Verdict | None:
        """What the evidence says too: the wealth that it has, and the wealth that refutes."""
        alpha = inputs * (2 if batch else 1) * math.exp(margin - shown)
        function = (lambda data, runs: [0] * runs) if batch else lambda data: 0
        data = st.sampled_from(range(inputs))
        result = conforms(function, data, law=lambda data: half, batch=batch, runs=runs, alpha=alpha)
        law = result.evidence["law"]
        assert isinstance(law, LawEvidence)
        assert law.log_e_value == pytest.approx(math.log(law.inputs / law.alpha) + margin)
        return result.verdict

    assert verdict(2 * SLACK) is Verdict.VIOLATED
    assert verdict(SLACK / 2) is Verdict.NOT_REFUTED


def test_no_outcomes_show_more_than_what_is_reachable() -> None:
    """Over all counts of seven runs. The events are five: each of two outcomes, up to each, and any other outcome."""
    one = judged_input(0, lambda data: {0: 0.4, 1: 0.5})
    chances = [event.chances for event in one.events]

    def shown(counts: Any) -> float:
        seen = [
            7 - sum(counts) if event.atoms is None else sum(counts[at] for at in event.atoms) for event in one.events
        ]
        return log_mean(log_e_values(chances, seen, 7))

    best = max(shown(counts) for counts in itertools.product(range(8), repeat=2) if sum(counts) <= 7)
    assert reachable(one, 7) == pytest.approx(best)


def test_events_of_a_law_over_a_large_denominator() -> None:
    """Its sums do not fit 64 bits."""
    made = {event.words: event.chances for event in events(exact_law([1, 2, 3], [1, 2, 3], [1 << 62] * 3, 3 << 62))}
    low, high = made["the outcome is at most 2"]
    assert low <= 2 / 3 <= high


def test_events_have_the_bounds_of_an_enclosure() -> None:
    law: Law[int] = Law([2, 1], [1, 2], [100, 200], [200, 300], 800, Fraction(5, 8))
    made = {event.words: event.chances for event in events(law)}
    for words, low, high in (
        ("the outcome is 2", 0.125, 0.25),
        ("the outcome is at most 1", 0.25, 0.375),
        ("the outcome is at most 2", 0.375, 0.625),
        ("the outcome is none of the law's", 0.375, 0.625),
    ):
        assert made[words] == pytest.approx((low, high), abs=1e-15)
        assert made[words][0] <= low < high <= made[words][1]


def test_floats_of_a_mapping_are_known_to_nine_digits() -> None:
    one = judged_input(0, lambda data: {0: 0.25, 1: 0.5})
    low, high = one.law.probability(0)
    assert (float(low), float(high)) == pytest.approx((0.25 * (1 - 1e-9), 0.25 * (1 + 1e-9)), rel=1e-15)
    assert float(one.law.rest) == pytest.approx(0.25 + 0.75e-9, rel=1e-15)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_short_floats_of_a_mapping_are_known_to_their_own_digits(kind: Any) -> None:
    one = judged_input(0, lambda data: dict.fromkeys(range(3), kind(1 / 3)))
    low, high = one.law.probability(0)
    assert low < Fraction(1, 3) < high
    assert high - low < Fraction(1, 3) * 3 * Fraction(float(np.finfo(kind).eps))


def test_the_likeliest_outcomes_are_events() -> None:
    weights = [3, 1] + ATOMS * [2]
    made = {event.words for event in events(exact_law(range(50), range(1, 51), weights, sum(weights)))}
    assert "the outcome is 0" in made
    assert "the outcome is 1" not in made


def test_the_wealth_is_that_of_the_mixture() -> None:
    """By quadrature over all chances, with the density of the Beta distribution of 1/2 and 1/2."""
    for chance, count, runs in ((0.3, 4, 9), (0.5, 0, 12), (0.01, 2, 20)):
        mixed = integrate.quad(
            lambda x, count=count, runs=runs: x ** (count - 0.5) * (1 - x) ** (runs - count - 0.5) / math.pi, 0, 1
        )[0]
        (found,) = log_e_values([(chance, chance)], [count], runs)
        assert found == pytest.approx(math.log(mixed / (chance**count * (1 - chance) ** (runs - count))), rel=1e-6)
    assert log_e_values([(0.2, 0.4)], [3], 10) < log_e_values([(0.2, 0.2)], [3], 10)
    assert log_e_values([(0.0, 0.0), (0.0, 0.0)], [1, 0], 10)[0] == math.inf
    assert log_e_values([(0.2, 0.4)], [0], 0) == [0.0]


def test_the_wealth_of_several_events_is_their_mean() -> None:
    assert log_mean([0.0, math.log(3.0), math.log(8.0)]) == pytest.approx(math.log(4.0))
    assert log_mean([0.0, 2_000.0]) == pytest.approx(2_000.0 - math.log(2.0))
    assert log_mean([-2_000.0, -2_000.0]) == -2_000.0


@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(1, 7)])
def test_the_mean_wealth_is_one_by_enumeration(chance: Fraction) -> None:
    """Of both events together, over all counts of 12 runs."""
    p, runs = float(chance), 12
    counts = range(runs + 1)
    wealth = [log_mean(log_e_values([(p, p), (1 - p, 1 - p)], [count, runs - count], runs)) for count in counts]
    mean = sum(stats.binom.pmf(counts, runs, p) * np.exp(wealth))
    assert mean == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"law": lambda data: 3}, TypeError, "must return a Law or a mapping"),
        ({"law": lambda data: {0: 2.0}}, ValueError, "probabilities between 0 and 1"),
        ({"law": lambda data: {0: -0.5, 1: 0.5}}, ValueError, "probabilities between 0 and 1"),
        ({"law": lambda data: {0: math.nan}}, ValueError, "probabilities between 0 and 1"),
        ({"law": lambda data: {0: "half"}}, TypeError, "must map outcomes to probabilities: 'half' of type str"),
        ({"law": lambda data: {}}, ValueError, "probabilities between 0 and 1"),
        (
            {"law": lambda data: dict.fromkeys(range(2), Fraction(2, 3))},
            ValueError,
            r"sum is 1 at most, not 1 \+ 0.3333",
        ),
        ({"law": lambda data: {0: 0.5, 1: 0.75}}, ValueError, r"whose sum is 1 at most, not 1 \+ 0.25"),
        ({"law": lambda data: {0: Fraction(1), 1: Fraction(1, 10**30)}}, ValueError, r"not 1 \+ 1e-30"),
        ({"law": lambda data: exact_law(range(MANY), [MANY], [1], MANY)}, ValueError, "more than 1,048,576"),
        ({"data": st.just(0), "law": lambda data: {0: 1 / data}}, ValueError, r"law\(0\) raised 'ZeroDivisionError: "),
        ({"law": law, "data": None}, TypeError, "data must be a Hypothesis strategy"),
        ({"law": law, "seconds": 0}, ValueError, "seconds must be positive"),
        ({"law": law, "alpha": 1.0}, ValueError, "alpha must be between 0 and 1, got 1.0"),
    ],
)
def test_mistakes_are_named(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        conforms(lambda data: data, **{"data": st.integers(0, 3), **arguments})


def test_a_sampler_that_always_raises_is_an_error() -> None:
    def broken(data: int) -> int:
        raise OSError("no entropy")

    for function in (broken, lambda data, bits: broken(data)):
        with pytest.raises(ValueError, match="every run at 0 raised"):
            conforms(function, st.just(0), law=law, runs=64)
    refused = {Refused("OSError: no entropy"): Fraction(1)}
    assert conforms(broken, st.just(0), law=lambda data: refused, runs=64).verdict is Verdict.NOT_REFUTED


def test_a_last_run_that_raises_refutes_a_law_without_refusals() -> None:
    calls = itertools.count(1)

    def coin(data: int) -> int:
        if next(calls) == FIRST + 1:
            raise OSError("no entropy")
        return random.getrandbits(1)

    half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert conforms(coin, st.just(0), law=lambda data: half, runs=FIRST + 1).verdict is Verdict.VIOLATED
