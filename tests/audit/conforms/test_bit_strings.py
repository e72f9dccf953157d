"""A sampler that takes its bits as an argument is held against its law by all strings of bits, exactly.

The one test of runs accuses a sound sampler with probability 1e-6 at most.
"""

import itertools
import json
import os
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Verdict, conforms, member
from subnormal.audit.check.document import to_json
from subnormal.audit.check.evidence import WalkEvidence
from subnormal.audit.check.page import to_html
from subnormal.audit.check.result import Result
from subnormal.audit.conforms.bit_strings import difference
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits

DATA = st.integers(-3, 3)
GENERATORS = [np.random.default_rng(1)]  # without a name


def evidence_of(result: Result) -> WalkEvidence:
    evidence = result.evidence["walk"]
    assert isinstance(evidence, WalkEvidence)
    return evidence


def words_of(result: Result) -> str:
    return " ".join(str(result).split())


def geometric(data: int, bits: BitSource) -> int:
    """Count tails until the first head: never decided by strings of any length."""
    count = 0
    while not bits.take(1):
        count += 1
    return data + count


def halves(data: int) -> dict[int, Fraction]:
    return {data + count: Fraction(1, 2 << count) for count in range(60)}


def test_a_sampler_that_has_its_law_is_confirmed_by_a_few_runs() -> None:
    result = conforms(geometric, DATA, law=halves)
    assert result.verdict is Verdict.NOT_REFUTED
    assert (result.stage, result.runs, list(result.evidence)) == ("walk", 4 << 12, ["walk"])
    assert result.notes == ()
    evidence = evidence_of(result)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.inputs == 4
    assert (evidence.bits, evidence.undecided) == (40, 2.0**-40)
    assert "have the declared law" in words_of(result)
    assert "and of 3 other inputs" in words_of(result)


def test_a_part_of_2_to_the_30_is_a_proof() -> None:
    """No number of runs would show it."""

    def biased(data: int, bits: BitSource) -> int:
        count = geometric(data, bits)
        return data if count == data + 29 else count

    result = conforms(biased, st.just(0), law=halves, seconds=20)
    assert result.verdict is Verdict.VIOLATED
    assert (result.stage, result.runs) == ("walk", 0)
    evidence: Any = evidence_of(result)
    assert evidence.event in ("the outcome is 0", "the outcome is 29")
    assert evidence.walked[0] > evidence.declared[1] or evidence.walked[1] < evidence.declared[0]
    assert f"all strings of {evidence.bits} bits at 0: {evidence.event} with probability" in words_of(result)
    kept = json.loads(to_json(result))
    assert kept["stage"] == "walk"
    assert kept["evidence"]["walk"]["verdict"] == "VIOLATED"
    assert "all strings of the sampler&#39;s random bits" in to_html(result).replace("All", "all")


def test_a_member_has_the_law_that_it_declares_and_not_its_twins() -> None:
    """Exact to one of the 2^11 uniforms of float16."""
    one, twin = member("exponential-naive-float16"), member("exponential-exact")
    parameters = ExponentialParameters(1.0, Limits(0, 9, 4))

    def sample(data: Any, runs: int, bits: BitSource) -> Any:
        return one.sample(data, parameters, bits, runs)

    for declares, verdict in ((one, Verdict.NOT_REFUTED), (twin, Verdict.VIOLATED)):

        def declared(data: Any, law: Any = declares.law) -> Any:
            return law(data, parameters)

        result = conforms(sample, st.sampled_from([[0, 1, 5], [2, 2]]), law=declared, batch=True)
        assert (result.verdict, result.stage) == (verdict, "walk")
        assert evidence_of(result).bits == 12


def coin(data: int, bits: BitSource) -> int:
    return bits.take(1)


HALF = {0: Fraction(1, 2), 1: Fraction(1, 2)}


def either(one: Any, two: Any) -> Any:
    """Return what is `one` at 0 and `two` at 1."""
    return lambda data, *bits: (two if data else one)(0, *bits)


def of_either(one: Any, two: Any, *laws: Any) -> Result:
    def sample(data: int, bits: BitSource) -> Any:
        return either(one, two)(data, bits)

    return conforms(sample, st.sampled_from([0, 1]), law=either(*laws), runs=64)


def test_every_input_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(data: int, bits: BitSource) -> int:
        return bits.take(60) >> 59

    three_quarters = {0: Fraction(3, 4), 1: Fraction(1, 4)}
    result = of_either(geometric, coin, halves, lambda data: three_quarters)
    assert (result.verdict, evidence_of(result).data, evidence_of(result).undecided) == (Verdict.VIOLATED, "1", 0)
    result = of_either(coin, wide, lambda data: HALF, lambda data: HALF)
    assert (evidence_of(result).verdict, result.stage) == (Verdict.UNRESOLVED, "runs")
    monkeypatch.setattr("subnormal.audit.conforms.bit_strings.CALLS", 30)
    result = of_either(coin, geometric, lambda data: HALF, halves)
    assert (evidence_of(result).verdict, evidence_of(result).data, result.stage) == (Verdict.UNRESOLVED, "1", "runs")


def test_where_strings_are_too_many_runs_judge() -> None:
    def wide(data: int, bits: BitSource) -> bool:
        return bits.take(53) < 1 << 51

    quarter = {True: Fraction(1, 4), False: Fraction(3, 4)}
    result = conforms(wide, st.just(0), law=lambda data: quarter, runs=1 << 12)
    assert (result.verdict, result.stage, list(result.evidence)) == (Verdict.NOT_REFUTED, "runs", ["law"])
    half = {True: Fraction(1, 2), False: Fraction(1, 2)}
    assert conforms(wide, st.just(0), law=lambda data: half, runs=1 << 12).verdict is Verdict.VIOLATED


def test_randomness_of_its_own_is_noted_and_runs_judge() -> None:
    def own(data: int, bits: BitSource) -> int:
        return bits.take(1) ^ random.getrandbits(30)

    result = conforms(own, st.just(0), law=lambda data: {0: Fraction(1, 1 << 30)}, runs=64)
    assert result.stage == "runs"
    assert "not a function of its bits" in result.notes[0]


def leaks_by(chance: Callable[[], float]) -> Callable[[int, BitSource], int]:
    return lambda data, bits: data if chance() < 0.001 else bits.take(1)


def fair_by(draw: Callable[[], int]) -> Callable[[int, BitSource], int]:
    return lambda data, bits: draw()


def remembers(after: int) -> Callable[[int, BitSource], int]:
    calls = itertools.count(1)
    return lambda data, bits: bits.take(1) if next(calls) <= after else 7


@pytest.mark.parametrize(
    ("sampler", "note"),
    [
        (leaks_by(random.random), "it draws from random.random, too; so runs judge"),
        (leaks_by(lambda: secrets.randbelow(1000) / 1000), "it draws from secrets.randbelow, too; so runs judge"),
        (leaks_by(lambda: GENERATORS[0].random()), "it draws from a generator, too; so runs judge"),
        # nobody watches this one, so that it is seen by its leaks alone: of one call in 1,000, 1 of 400 checks saw none
        (leaks_by(lambda: int.from_bytes(os.getrandom(2)) / 262_144), "random beside its bits"),
        (remembers(21), "two runs on the same ones differ; so runs judge"),
        (remembers(1_000), "random beside its bits, or remembers"),
    ],
)
def test_a_sampler_that_leaks_beside_its_bits_has_no_proof(sampler: Any, note: str) -> None:
    """A leak of one call in a thousand may be seen in the walk, too. The one that is random and not watched leaks in
    one call of 250: a check misses it with a probability below 10^-9."""
    result = conforms(sampler, st.just(7), law=lambda data: HALF, seconds=20)
    assert (result.verdict, result.stage, list(result.evidence)) == (Verdict.VIOLATED, "runs", ["law"])
    assert note in result.notes[0] or "two runs on the same ones differ; so runs judge" in result.notes[0]


@pytest.mark.parametrize("draw", [lambda: int.from_bytes(os.getrandom(1)) & 1, lambda: random.getrandbits(1)])
def test_a_fair_sampler_that_does_not_read_its_bits_is_not_accused(draw: Callable[[], int]) -> None:
    """Of one string alone, all 64 calls agree with probability 2^-63."""
    for _ in range(8):
        result = conforms(fair_by(draw), st.just(7), law=lambda data: HALF, runs=256)
        assert (result.verdict, result.stage) == (Verdict.NOT_REFUTED, "runs")


def test_the_order_of_the_strings_decides_nothing() -> None:
    """It leaks where two calls in a row read a 1: no walk from 0 to 1 does so, however often it is repeated."""
    last = [0]

    def sampler(data: int, bits: BitSource) -> int:
        before, last[0] = last[0], bits.take(1)
        return data if before and last[0] else last[0]

    result = conforms(sampler, st.just(7), law=lambda data: HALF, seconds=20)
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, "runs")
    assert "two runs on the same ones differ" in result.notes[0]


def test_what_only_the_first_calls_do_proves_no_violation() -> None:
    calls = itertools.count(1)

    def sampler(data: int, bits: BitSource) -> int:
        drawn = bits.take(1)
        return drawn if next(calls) > 3 else 0

    result = conforms(sampler, st.just(0), law=lambda data: HALF, runs=256)
    assert (result.verdict, result.stage) == (Verdict.NOT_REFUTED, "runs")
    assert "two runs on the same ones differ" in result.notes[0]


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [("CALLS", 30, "there are too many for 30 calls"), ("DEPTHS", (1, 2), "those of 2 bits do not decide")],
)
def test_why_runs_judge_is_noted(monkeypatch: pytest.MonkeyPatch, limit: str, value: Any, why: str) -> None:
    monkeypatch.setattr(f"subnormal.audit.conforms.bit_strings.{limit}", value)
    result = conforms(geometric, st.just(3), law=halves, runs=256)
    assert (result.verdict, result.stage) == (Verdict.NOT_REFUTED, "runs")
    assert (evidence_of(result).verdict, evidence_of(result).event) == (Verdict.UNRESOLVED, None)
    assert "do not contradict the declared law" in words_of(result)
    assert result.notes[0] == f"all strings of bits at 3 do not judge: {why}; so runs judge"


def test_an_exception_is_an_outcome_of_the_law() -> None:
    def coin(data: int, bits: BitSource) -> Any:
        return [1] if bits.take(1) else data.absent  # type: ignore[attr-defined]

    result = conforms(coin, st.just(0), law=lambda data: {(1,): Fraction(1, 2)})
    assert evidence_of(result).verdict is Verdict.HOLDS
    result = conforms(coin, st.just(0), law=lambda data: {(1,): Fraction(3, 4)})
    assert result.verdict is Verdict.VIOLATED


def cut(masses: list[int], rest: int) -> Law[int]:
    """Return the law of strings that lead to 0, 1, … so often in 16, where `rest` strings are not decided."""
    return Law(
        range(len(masses)), range(1, len(masses) + 1), masses, [n + rest for n in masses], 16, Fraction(rest, 16)
    )


@pytest.mark.parametrize(
    ("walked", "declared", "event"),
    [
        (cut([8, 8], 0), exact_law([0, 1], [1, 2], [8, 8], 16), None),
        (cut([9, 7], 0), exact_law([0, 1], [1, 2], [8, 8], 16), "the outcome is 0"),
        (cut([8, 6], 2), exact_law([0, 1], [1, 2], [8, 8], 16), None),
        (cut([9, 5], 2), exact_law([0, 1], [1, 2], [8, 8], 16), "the outcome is 0"),
        (cut([8, 2, 2], 4), exact_law([0, 1, 2], [1, 2, 3], [8, 5, 3], 16), None),
        (
            cut([8, 2, 2], 4),
            Law([0, 1, 2], [1, 2, 3], [6, 6, 4], [9, 9, 9], 16, Fraction(0)),
            "the outcome is one of 1, 2",
        ),
        (cut([8, 4, 4], 0), Law([0, 1], [1, 2], [8, 4], [8, 4], 16, Fraction(4, 16)), None),
        (cut([8, 3, 5], 0), Law([0, 1], [1, 2], [8, 3], [8, 4], 16, Fraction(4, 16)), "the outcome is 2"),
    ],
)
def test_events_that_no_law_within_both_bounds_has(walked: Law[int], declared: Law[int], event: str | None) -> None:
    found = difference(walked, declared)
    assert (None if found is None else found.event) == event


@dataclass(frozen=True)
class Cell:
    row: int


class Pair(NamedTuple):
    row: int


class Color(IntEnum):
    RED = 0
    BLUE = 1


KINDS: dict[str, Callable[[int], Any]] = {
    "set": lambda bit: frozenset({bit, 2}),
    "dataclass": Cell,
    "named tuple": Pair,
    "range": lambda bit: range(bit, 3),
    "nested": lambda bit: (Cell(bit), frozenset({bit})),
    "numpy": np.int8,
    "text": np.str_,
    "member": Color,
}


@pytest.mark.parametrize(("name", "as_law"), [*((name, False) for name in KINDS), ("nested", True), ("numpy", True)])
def test_a_law_is_keyed_by_what_its_sampler_returns(name: str, as_law: bool) -> None:
    of = KINDS[name]
    keys = [of(0), of(1)]
    declared = exact_law(keys, [2], [1], 2) if as_law else dict.fromkeys(keys, 0.5)
    walk = conforms(lambda data, bits: of(bits.take(1)), st.just(None), law=lambda data: declared)
    assert (walk.verdict, walk.stage) == (Verdict.NOT_REFUTED, "walk")
    draw = random.Random(1)
    runs = conforms(lambda data: of(draw.getrandbits(1)), st.just(None), law=lambda data: declared, runs=256)
    assert (runs.verdict, runs.stage) == (Verdict.NOT_REFUTED, "runs")
    biased = conforms(lambda data, bits: of(bits.take(1) & bits.take(1)), st.just(None), law=lambda data: declared)
    assert biased.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "keys", [[frozenset({0}), (0,)], [range(2), (0, 1)], [Cell(0), (("__class__", "Cell"), ("row", 0))]], ids=str
)
def test_atoms_that_are_one_outcome_are_an_error(keys: list[Any]) -> None:
    with pytest.raises(ValueError, match="names one outcome twice"):
        conforms(lambda data: 0, st.just(None), law=lambda data: dict.fromkeys(keys, 0.25))


@pytest.mark.parametrize(
    ("of", "law_of", "words"),
    [
        (Color, int, "<Color.[A-Z]+: [01]> of type Color where the law has [01] of type int"),
        (int, Color, "[01] of type int where the law has <Color.[A-Z]+: [01]> of type Color"),
        (bool, int, "(True|False) of type bool where the law has [01] of type int"),
        (float, int, "[01].0 of type float where the law has [01] of type int"),
        (int, float, "[01] of type int where the law has [01].0 of type float"),
        (
            lambda bit: (bit, True),
            lambda bit: (bit, 1),
            r"\([01], True\) of type \(int, bool\) where the law has \([01], 1\) of type \(int, int\)",
        ),
    ],
    ids=["member", "member's key", "bool", "float", "integer", "nested"],
)
def test_an_outcome_that_equals_a_key_of_another_type_is_an_error(of: Any, law_of: Any, words: str) -> None:
    """Not an accusation: Color.RED == 0, and so the mapping has a probability for Color.RED."""
    declared = {law_of(0): 0.5, law_of(1): 0.5}
    for function in (lambda data, bits: of(bits.take(1)), lambda data: of(random.getrandbits(1))):
        with pytest.raises(TypeError, match=f"the function returns {words}: these are two outcomes, so let the law"):
            conforms(function, st.just(None), law=lambda data: declared)


@pytest.mark.parametrize("keys", [[0.0, 1.0], np.array([0.0, 1.0])], ids=["list", "array"])
def test_a_negative_zero_that_the_law_does_not_have_refutes_it(keys: Any) -> None:
    """It is of the type of 0.0, and equals it, but can be told apart."""
    declared = exact_law(keys, [2], [1], 2)
    result = conforms(lambda data, bits: (-0.0, 1.0)[bits.take(1)], st.just(None), law=lambda data: declared)
    assert result.verdict is Verdict.VIOLATED
    assert evidence_of(result).event == "the outcome is -0.0"


@pytest.mark.parametrize(
    ("power", "said"),
    [
        (30, "0.333251953, where the law has 0.333251952"),
        (70, "where the law has 0.333251953125, which no float tells from it"),
    ],
)
def test_a_small_difference_is_seen_in_the_words(power: int, said: str) -> None:
    own = Fraction(1365, 4096)
    law = {1: own - Fraction(1, 2**power), 0: 1 - own}

    def sampler(data: int, bits: BitSource) -> int:
        return int(bits.take(12) < 1365)

    result = conforms(sampler, st.just(0), law=lambda data: law)
    assert result.verdict is Verdict.VIOLATED
    assert words_of(result).endswith(said)
