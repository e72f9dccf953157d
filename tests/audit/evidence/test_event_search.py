"""Events learned from outcomes of every kind, judged on fresh runs only."""

import dataclasses
import itertools
import json
import math
import struct
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal import Claim, Verdict
from subnormal.attacks.core.event_words import in_words
from subnormal.attacks.core.events import AllOf, Between, Event, Learned, OffGrid, OneOf, Refuses, Term
from subnormal.attacks.core.outcome_features import BEYOND, FEATURES, Kind, columns_of
from subnormal.audit.check.score import READ, SCREENED
from subnormal.audit.evidence import batches, event_search, half_lines, sampled
from subnormal.audit.evidence.rules import LEAST, rules
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes, Refused
from tests.support.rows import distinguish
from tests.support.synthetic import attack_on_one_bit, randomized_response

pytestmark = pytest.mark.usefixtures("families_of_tests")

ALPHA = 1e-6
CLAIM = Claim(1.0)
REFUSED = Refused("ZeroDivisionError: division by zero")


@dataclasses.dataclass
class Answer:
    """An outcome that is equal to others, and has no hash."""

    value: int


def gains(event: Any, first: Outcomes, second: Outcomes) -> tuple[float, float]:
    return float(event(first).mean()), float(event(second).mean())


def loss(one: float, other: float) -> float:
    """Return the largest loss that an event of these shares, or its complement, shows in either direction."""
    return max(abs(math.log(one / other)), abs(math.log((1 - one) / (1 - other))))


def learned_on(
    make: Any, n: int = 4_000, claim: Claim = CLAIM, fresh: int = 0, **options: Any
) -> tuple[Any, float, float]:
    """Learn on one draw of both worlds, and return the event with its shares on another, of as many or `fresh` runs."""
    rng = np.random.default_rng(1)
    event = event_search.learn((make(rng, n, 1), make(rng, n, 0)), claim, **options)
    return (event, *gains(event, make(rng, fresh or n, 1), make(rng, fresh or n, 0)))


def laplace(rng: np.random.Generator, n: int, scale: float) -> NDArray[np.float64]:
    return np.where(rng.integers(0, 2, n) == 1, 1.0, -1.0) * -scale * np.log(1 - rng.random(n))


def test_the_grid_that_a_float_sum_falls_on_is_found_from_nothing() -> None:
    """fl(1 + n) is a multiple of 2^−53, and n is not: Haney et al. 2022 found it by thought. It never happens at 1."""
    event, at_one, at_zero = learned_on(lambda rng, n, value: value + laplace(rng, n, 1.0))
    assert event.to_json() == {"kind": "off-grid", "grid": -53, "portable": True}
    assert at_one == 0
    assert at_zero > 0.2


@pytest.mark.parametrize("form", ["array", "tuples of two lengths", "mapping"])
def test_one_part_of_a_hundred_that_differs_is_found(form: str) -> None:
    """A part far behind the first sixteen: all are looked at before any is left out."""
    rng = np.random.default_rng(1)

    def outcomes(value: float) -> Outcomes:
        table = laplace(rng, 128 * 100, 100.0).reshape(128, 100)
        table[:, 50] = value
        if form == "array":
            return table
        if form == "mapping":
            return [tuple((f"key {place}", part) for place, part in enumerate(row)) for row in table.tolist()]
        return [tuple(row[: 99 + number % 2]) for number, row in enumerate(table.tolist())]

    event = event_search.learn((outcomes(1.0), outcomes(0.0)), CLAIM, features=("value",))
    assert sorted(gains(event, outcomes(1.0), outcomes(0.0))) == [0.0, 1.0]


def test_outputs_of_one_world_alone_are_found() -> None:
    def sixteen_bits(rng: np.random.Generator, n: int, value: int) -> NDArray[np.float64]:
        return np.float64(value / 8) + np.log(rng.integers(1, 1 << 10, n) / 1024)

    event, first, second = learned_on(sixteen_bits)
    assert min(first, second) == 0
    assert max(first, second) > 0.5
    assert event.to_json()["portable"] is False
    assert event.to_json()["one-of"] == len(event.outcomes)


CASES: dict[str, Any] = {
    "shifted": lambda rng, n, value: np.round(value * 3 + laplace(rng, n, 1.0), 2),
    "one outcome of many": lambda rng, n, value: np.where(rng.random(n) < 0.2 * value, 7, rng.integers(0, 50, n)),
    "parity": lambda rng, n, value: 2 * rng.integers(0, 1 << 40, n) + value,
    "big integers": lambda rng, n, value: [int(one) * 2**70 + value for one in rng.integers(0, 1 << 40, n)],
    "sign of zero": lambda rng, n, value: np.where(rng.random(n) < 0.5, -0.0 if value else 0.0, 1.0),
    "nan": lambda rng, n, value: np.where(rng.random(n) < 0.3 * value, np.nan, rng.random(n)),
    "infinity": lambda rng, n, value: np.where(rng.random(n) < 0.3 * value, -np.inf, rng.random(n)),
    "refusals": lambda rng, n, value: [REFUSED] * n if value else rng.random(n).tolist(),
    "two errors": lambda rng, n, value: [Refused(f"KeyError: {value}")] * n,
    "strings": lambda rng, n, value: ["yes" if one < 0.2 + 0.6 * value else "no" for one in rng.random(n)],
    "lengths": lambda rng, n, value: [f"{one:.15f}" + "!" * value for one in rng.random(n)],
    "third coordinate": lambda rng, n, value: np.add(rng.normal(size=(n, 3)).round(3), [0, 0, 3 * value]),
    "tuple": lambda rng, n, value: [(float(one), "x", value) for one in rng.random(n)],
    "mapping": lambda rng, n, value: [(("a", float(one)), ("b", 3.0 * value - one)) for one in rng.random(n)],
    "a key that is missing": lambda rng, n, value: [(("a", float(one)),)[:value] for one in rng.random(n)],
    "numbers in texts": lambda rng, n, value: [
        (f"x {rng.random()}", f"y {one + 0.1 * rng.normal() + 0.2 * value}", f"z {0.2 * value - 2 * one}")
        for one in rng.normal(size=n)
    ],
    "two coordinates": lambda rng, n, value: np.round(
        np.multiply(rng.normal(size=(n, 1)), [1, -2]) + 0.1 * rng.normal(size=(n, 2)) + 0.2 * value, 3
    ),
}

TOLD: dict[str, Callable[[float], Any]] = {  # a number, in an outcome that hardly occurs twice
    "text": lambda x: f"{x:.6f}",
    "json": lambda x: json.dumps({"noise": -abs(x) % 1, "count": x}),
    "ascii bytes": lambda x: f"{x:.6f}".encode(),
    "bytes": lambda x: struct.pack(">d", x),
    "complex": lambda x: complex(x, 0.0),
    "date": lambda x: date(2020, 1, 1) + timedelta(days=round(1_000 * x)),
    "datetime": lambda x: datetime(2020, 1, 1) + timedelta(days=x),
    "time": lambda x: (datetime(2020, 1, 1, 12) + timedelta(minutes=x)).time(),
    "timedelta": lambda x: timedelta(days=x),
    "value of a new key": lambda x: ((f"user {x.hex()}", x),),
    "key": lambda x: ((f"user {x}", 1),),
    "first of two equal keys": lambda x: (("user", x), ("user", x % 1)),
}
SIDES: dict[str, Callable[[bool, float, float], Any]] = {  # a bit, beside two numbers that are noise
    "word and noise in a text": lambda bit, x, y: f"{'yes' if bit else 'no!'} {x}",
    "word and noise": lambda bit, x, y: (x, "yes" if bit else "no!"),
    "equal parts": lambda bit, x, y: (x, x if bit else -x),
    "order of items": lambda bit, x, y: (("a", x), ("b", y))[:: 1 if bit else -1],
    "order of nested items": lambda bit, x, y: (("all", (("a", (1, x)), ("b", (1, y)))[:: 1 if bit else -1]),),
    "order of items with texts": lambda bit, x, y: (("a", f"{x:.3f}"), ("b", f"{y:.3f}"))[:: 1 if bit else -1],
}
CASES |= {
    name: lambda rng, n, value, told=told: [told(x) for x in (10.0 * value + laplace(rng, n, 1.0)).tolist()]
    for name, told in TOLD.items()
}
CASES |= {
    name: lambda rng, n, value, told=told: [
        told(bool(share < 0.95) == bool(value), x, y) for share, x, y in rng.random((n, 3)).tolist()
    ]
    for name, told in SIDES.items()
}


@pytest.mark.parametrize("case", CASES)
def test_a_difference_of_any_kind_is_found(case: str) -> None:
    """Fresh runs show more than ε = 1, at bounds that err with probability at most ALPHA."""
    _, first, second = learned_on(CASES[case])
    bounds = [binomial.clopper_pearson(round(share * 4_000), 4_000, ALPHA / 4) for share in (first, second)]
    assert binomial.epsilon_lower(bounds[0], bounds[1], 0.0) > 1


def test_the_regression_finds_what_no_single_feature_shows() -> None:
    """Both coordinates carry the same noise, the second −2 times: only 2a + b tells the worlds apart."""
    event, _, _ = learned_on(CASES["two coordinates"])
    assert isinstance(event, Learned)
    weights = {term.path: term.weight for term in event.terms if term.feature == "value"}
    assert weights[(0,)] == pytest.approx(2 * weights[(1,)], rel=0.2)
    assert event.mass in half_lines.MASSES
    assert event.to_json()["mass"] == event.mass


@pytest.mark.parametrize("runs", [64, 1024])
def test_small_losses_of_many_parts_add_up(runs: int) -> None:
    """Each of ten parts has a loss of .7, less than the claim."""

    def make(rng: np.random.Generator, n: int, world: int) -> Outcomes:
        return list(map(tuple, (0.7 * world + rng.laplace(0, 1, (n, 10))).round(2).tolist()))

    event, first, second = learned_on(make, runs, fresh=20_000, features=("value",))
    assert isinstance(event, Learned)
    assert len({term.path for term in event.terms}) == 10
    assert loss(first, second) > 1.3


def test_a_part_may_speak_for_one_world_far_from_its_middle() -> None:
    """Noise of another scale moves no mean: the score of each part bends at its median."""

    def make(rng: np.random.Generator, n: int, world: int) -> Outcomes:
        return list(map(tuple, rng.normal(0, 1.5 if world else 1.0, (n, 16)).round(2).tolist()))

    _, first, second = learned_on(make, 512, fresh=20_000, features=("value",))
    assert loss(first, second) > 2


def test_the_norm_of_very_many_parts_tells_scales_apart() -> None:
    def make(rng: np.random.Generator, n: int, world: int) -> Outcomes:
        return list(map(tuple, rng.normal(0, 1.05 if world else 1.0, (n, 1000)).tolist()))

    event, first, second = learned_on(make, 256, fresh=400, features=("value", "sum", "norm"))
    assert "the Euclidean norm of the outcome" in in_words(event.to_json())
    assert abs(first - second) > 0.5


def test_delta_counts_when_the_event_is_chosen() -> None:
    """A rare certain loss that δ forgives, beside a ratio of 3 that ε = 1 does not."""

    def make(rng: np.random.Generator, n: int, value: int) -> NDArray[np.int64]:
        likely = np.where(rng.random(n) < (0.75 if value else 0.25), 2, 1)
        return np.where(rng.random(n) < 0.01 * value, 9, likely)

    _, first, second = learned_on(make, 20_000, Claim(1.0, 0.05))
    assert max(first, second) > 0.7
    worlds = [make(np.random.default_rng(seed), 20_000, value).astype(np.float64) for seed, value in ((1, 1), (2, 0))]
    proposed = [
        next(half_lines.best((Term("value"),), half_lines.cut((worlds[0], worlds[1])), Claim(1.0, delta))).low
        for delta in (0.0, 0.05)
    ]
    assert proposed[0] == 9
    assert proposed[1] in (1, 2)


def test_outcomes_that_tell_nothing_give_an_event_that_shows_nothing() -> None:
    constant = np.zeros(100)
    event = event_search.learn((constant, constant), CLAIM)
    assert gains(event, constant, constant)[0] == gains(event, constant, constant)[1]
    nothing = event_search.learn((np.full(4, np.nan), np.full(4, np.nan)), CLAIM)
    assert gains(nothing, constant, constant) == (0, 0)


def test_outcomes_without_a_hash_are_learned_from() -> None:
    worlds = [Answer(place % 3) for place in range(300)], [Answer(place % 2) for place in range(300)]
    shares = gains(event_search.learn(worlds, CLAIM), *worlds)
    assert abs(shares[0] - shares[1]) == pytest.approx(1 / 3)


def test_judging_needs_fresh_runs() -> None:
    """On the runs that chose it, an event accuses a mechanism that ignores its data; on fresh ones it does not.

    False alarms of the second part: the quantile 1 − 1e-6 of Binomial(100, 0.05).
    """
    stale = fresh = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        first, second, other_first, other_second = (rng.integers(0, 400, 400) for _ in range(4))
        event = OneOf(tuple(set(first.tolist()) - set(second.tolist())))  # one of those proposed
        counts = [
            tuple(batches.Counts(int(event(one).sum()), np.array([400])) for one in pair)
            for pair in ((first, second), (other_first, other_second))
        ]
        verdicts = [sampled.judge((one, other), Claim(0.0), 0.05, None, 1).verdict for one, other in counts]
        stale += verdicts[0] is Verdict.VIOLATED
        fresh += verdicts[1] is Verdict.VIOLATED
    assert stale == 100
    assert fresh <= stats.binom.ppf(1 - ALPHA, 100, 0.05)


def test_an_attack_without_an_event_is_given_one() -> None:
    attack = dataclasses.replace(attack_on_one_bit(), event=None)
    broken, sound = (randomized_response(f"spent-{spent}", spent, CLAIM) for spent in (2.0, 0.5))
    learned = event_search.with_event(broken, attack, seed=1, runs=2_000)
    assert learned.event is not None
    assert distinguish(broken, attack, seed=1, runs=5_000).verdict is Verdict.VIOLATED
    assert distinguish(sound, attack, seed=1, runs=5_000).verdict is Verdict.NOT_REFUTED
    named = attack_on_one_bit()
    assert event_search.with_event(broken, named, seed=1, runs=2_000) is named
    with pytest.raises(ValueError, match="runs to learn an event on must be at least 2, got 1"):
        event_search.with_event(broken, attack, seed=1, runs=1)


def test_training_and_judging_never_share_their_bits() -> None:
    drawn: list[int] = []

    def sample(data: int, parameters: None, bits: Any, n: int) -> Outcomes:
        words = bits.words(n)
        drawn.extend(words.tolist())
        outcomes: NDArray[np.int64] = (words & np.uint64(15)).astype(np.int64)
        return outcomes

    recording: Mechanism[Any, None, Any] = Mechanism("recording", "synthetic", sample, lambda *worlds: CLAIM)
    distinguish(recording, dataclasses.replace(attack_on_one_bit(), event=None), seed=1, runs=1_000)
    assert len(drawn) >= 2 * (500 + 500)
    assert len(set(drawn)) == len(drawn)


def test_features_read_the_bits_of_floats_and_integers() -> None:
    floats = np.array([1.0, -0.75, 0.0, 5e-324, np.nan, -np.inf, 1 + 2.0**-52])
    integers = [1, -6, 0, 2**80 + 2**70, -(2**63), 2**53 + 1, 12]
    of_floats, of_integers = columns_of(floats), columns_of(integers)
    np.testing.assert_array_equal(of_floats((), "grid"), [0, -2, BEYOND, -1074, np.nan, np.nan, -52])
    np.testing.assert_array_equal(of_integers((), "grid"), [0, 1, BEYOND, BEYOND, 63, 0, 2])
    np.testing.assert_array_equal(of_floats((), "exponent"), [0, -1, -BEYOND, -1074, np.nan, np.nan, 0])
    np.testing.assert_array_equal(of_floats((), "trailing-zeros"), [52, 51, BEYOND, 52, np.nan, np.nan, 0])
    np.testing.assert_array_equal(of_floats((), "sign"), [0, 1, 0, 0, np.nan, 1, 0])
    np.testing.assert_array_equal(of_floats((), "bit-0"), [0, 0, 0, 0, np.nan, np.nan, 1])
    np.testing.assert_array_equal(of_integers((), "bit-1"), [0, 1, 0, 0, 0, 0, 0])
    kinds = [Kind.NUMBER] * 4 + [Kind.NAN, Kind.MINUS_INFINITY, Kind.NUMBER]
    np.testing.assert_array_equal(of_floats((), "kind"), kinds)
    np.testing.assert_array_equal(columns_of(floats.astype(np.float32))((), "trailing-zeros")[:2], [23, 22])


def test_arrays_and_lists_of_the_same_numbers_have_the_same_features() -> None:
    floats = np.random.default_rng(1).normal(size=100) * 2.0 ** np.arange(-50, 50)
    mixed = [*floats.tolist(), REFUSED]
    for feature in ("value", "sign", "exponent", "grid", "trailing-zeros", "bit-0", "bit-3", "kind"):
        expected = columns_of(floats)((), feature)
        np.testing.assert_array_equal(columns_of(floats.tolist())((), feature), expected)
        np.testing.assert_array_equal(columns_of(mixed)((), feature)[:-1], expected)
        np.testing.assert_array_equal(columns_of(floats[:, None])((0,), feature), expected)
        np.testing.assert_array_equal(columns_of([(one,) for one in floats.tolist()])((0,), feature), expected)


def test_features_of_a_table_are_those_of_its_rows() -> None:
    table = np.array([[1.0, math.nan, -2.5], [0.0, math.inf, 3.0], [0.1, 0.2, 0.3]])
    of_rows = columns_of(list(map(tuple, table.tolist())))
    for feature in FEATURES:
        np.testing.assert_allclose(columns_of(table)((), feature), of_rows((), feature), rtol=1e-15, err_msg=feature)


def test_features_of_tuples_do_not_depend_on_the_order_of_their_parts() -> None:
    column = columns_of([(None, 2, 0.5, "a"), (), REFUSED, (float("nan"), (7,)), (True, -1)])
    np.testing.assert_array_equal(column((), "others"), [2, 0, np.nan, 2, 0])
    np.testing.assert_array_equal(column((), "least"), [0.5, np.nan, np.nan, np.nan, -1])
    np.testing.assert_array_equal(column((), "largest"), [2, np.nan, np.nan, np.nan, 1])
    np.testing.assert_array_equal(column((), "sum"), [2.5, np.nan, np.nan, np.nan, 0])
    np.testing.assert_array_equal(column((), "norm"), [math.hypot(2, 0.5), np.nan, np.nan, np.nan, math.hypot(1, 1)])
    for feature in ("others", "least", "largest", "sum", "norm", "repeats"):
        assert np.isnan(columns_of(np.zeros(3))((), feature)).all()
        assert np.isnan(columns_of(["b", None])((), feature)).all()


def test_repeats_are_numbers_that_equal_the_one_before() -> None:
    nan = float("nan")
    column = columns_of([(2, "a", 2.0, True, 1, None), (), REFUSED, (nan, nan), (2, 3, 2), (0, 0, 0)])
    np.testing.assert_array_equal(column((), "repeats"), [2, np.nan, np.nan, np.nan, 0, 2])
    table = columns_of(np.array([[1.0, nan, 1.0], [2.0, 2.0, 2.0], [2.0, 3.0, 2.0], [nan, 2.0, 2.0]]))
    np.testing.assert_array_equal(table((), "repeats"), [1, 2, 0, 1])


@pytest.mark.parametrize("part", [pd.NA, Decimal("sNaN"), b"a"], ids=["NA", "sNaN", "bytes"])
def test_every_feature_is_known_of_tuples_whose_parts_no_one_can_compare(part: Any) -> None:
    column = columns_of([(part, part, "a", 1), (1, 1, "a", part)])
    for feature in FEATURES:
        assert len(column((), feature)) == 2, feature


@pytest.mark.parametrize("features", [READ, SCREENED], ids=["read", "screened"])
def test_numbers_that_repeat_more_often_in_one_world_are_learned(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(1)

    def world(share: float) -> Outcomes:
        fresh, kept = rng.integers(0, 8, (256, 30)), rng.random((256, 30)) < share
        for place in range(1, 30):
            fresh[:, place] = np.where(kept[:, place], fresh[:, place - 1], fresh[:, place])
        return list(map(tuple, fresh.tolist()))

    event = event_search.learn((world(0.4), world(0.0)), Claim(1.0, 1e-5), features=features)
    assert isinstance(event, Learned)
    assert [term.feature for term in event.terms] == ["repeats"]


def test_rules_are_grown_once_for_all_points_of_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = Mock(return_value=iter(()))
    monkeypatch.setattr(event_search, "rules", grow)
    rng = np.random.default_rng(1)
    both = event_search.halves((rng.random((4096, 3)), rng.random((4096, 3))), event_search.FEW)
    for features in (READ, tuple(FEATURES)):
        event_search.learn_of(both, [Claim(1.0), Claim(0.5, 1e-3)], features)
    grow.assert_called_once()


def blanks_and_numbers(rng: np.random.Generator, n: int, world: int) -> Outcomes:
    """Return tuples of up to six blanks and two numbers, in any order. Those of six blanks whose smaller number is 0
    are six times as many in one world."""
    blanks, least = rng.integers(0, 7, n), rng.integers(0, 7, n)
    moved = (rng.random(n) < 5 / 6) & (blanks == 6) & (least == 0) & (world == 0)
    blanks[moved] = least[moved] = 3
    return [
        tuple(rng.permutation(np.array([*[None] * int(one), int(other), 10 + float(large)], dtype=object)))
        for one, other, large in zip(blanks, least, rng.random(n), strict=True)
    ]


def test_a_loss_in_a_corner_of_two_features_is_found() -> None:
    event, event_in, event_out = learned_on(blanks_and_numbers, 16_384)
    assert isinstance(event, AllOf)
    assert {term.feature for one in event.events for term in one.terms} in ({"least", "length"}, {"least", "others"})
    assert event_in > math.exp(1) * event_out > 0
    assert event_in == pytest.approx(1 / 49, rel=0.2)


def test_a_portable_description_means_what_the_event_means() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=300) * 2.0 ** rng.integers(-9, 9, 300)
    values[:5] = [0.0, -0.0, np.inf, np.nan, -1.0]
    mixed = [*values.tolist(), REFUSED]
    pairs: list[tuple[Event, Event]] = [
        (Learned((Term("value"),), -np.inf, 0.5), Between(-np.inf, 0.5)),
        (Learned((Term("grid"),), -np.inf, -53.0), OffGrid(-52)),
        (Learned((Term("kind"),), 4.0, 4.0), Refuses()),
    ]
    for learned, plain in pairs:
        assert learned(values).tolist() == plain(values).tolist()
        assert learned(mixed).tolist() == plain(mixed).tolist()
        assert learned.to_json() == plain.to_json()


def digits(rng: np.random.Generator, n: int, width: int) -> NDArray[np.int64]:
    return rng.integers(0, 10, (n, width))


def three_parts_at_once(rng: np.random.Generator, n: int, value: int) -> Outcomes:
    """Part 5 is odd or even by the value, where part 0 is above 5 and part 1 below 3."""
    table = digits(rng, n, 6)
    chosen = (table[:, 0] > 5) & (table[:, 1] < 3)
    table[chosen, 5] = table[chosen, 5] // 2 * 2 + value
    return table


def sum_of_two_parts(rng: np.random.Generator, n: int, value: int) -> Outcomes:
    """Part 5 is the sum of parts 0 and 3 in a third of the runs where the value is 1."""
    table = rng.integers(0, 500, (n, 6))
    is_sum = (value == 1) & (rng.random(n) < 1 / 3)
    table[:, 5] = np.where(is_sum, table[:, 0] + table[:, 3], rng.integers(0, 999, n))
    return table


def letter_at_a_place(rng: np.random.Generator, n: int, value: int) -> Outcomes:
    """Letter 7 of twelve is more often a q where the value is 1."""
    letters = rng.integers(ord("a"), ord("z") + 1, (n, 12))
    letters[:, 7] = np.where((value == 1) & (rng.random(n) < 0.2), ord("q"), letters[:, 7])
    return ["".join(map(chr, row)) for row in letters.tolist()]


def many_of_a_letter(rng: np.random.Generator, n: int, value: int) -> Outcomes:
    """Of forty letters, 65 % or 40 % are b."""
    is_b = rng.random((n, 40)) < (0.65 if value else 0.4)
    return ["".join(row) for row in np.where(is_b, "b", rng.choice(["a", "c", "d"], (n, 40))).tolist()]


def often_exact(rng: np.random.Generator, n: int, value: int) -> Outcomes:
    """A number with much noise, in a twentieth of the runs without any."""
    noise = rng.integers(-500, 501, n)
    return value + np.where(rng.random(n) < 0.05, 0, noise)


def forty_small_moves(rng: np.random.Generator, n: int, value: int) -> Outcomes:
    """Forty integers with Laplace noise of scale 10, of which each moves by 1."""
    return value + rng.geometric(1 - math.exp(-0.1), (n, 40)) - rng.geometric(1 - math.exp(-0.1), (n, 40))


@pytest.mark.parametrize(
    ("make", "least", "words"),
    [
        (three_parts_at_once, 4.0, "part 0 of the outcome is at least 6"),
        (sum_of_two_parts, 4.0, "sum of parts 0 and 3 less part 5 of the outcome is 0"),
        (letter_at_a_place, 1.5, "character at place 7 of the outcome is q"),
        (many_of_a_letter, 2.0, "count of 'b' of the outcome is "),
        (often_exact, 3.0, "the outcome is "),
        (forty_small_moves, 1.2, "weighted sum of 120 features"),
    ],
    ids=["rule", "relation", "character", "count of a character", "frequent value", "sum of many parts"],
)
def test_an_event_of_several_features_is_found(make: Any, least: float, words: str) -> None:
    """One draw of 16,384 runs in each world, from a fixed seed; the shares are those of another draw."""
    event, one, other = learned_on(make, 1 << 14, fresh=1 << 16)
    assert words in in_words(event.to_json())
    assert loss(max(one, 1e-5), max(other, 1e-5)) > least


def test_a_rule_needs_all_of_its_bounds() -> None:
    """Each two of them say nothing of the world: the rule of three is the only event, and its share is 1/8."""
    table = np.array(list(itertools.product((0, 1), repeat=3)) * 64)
    one, other = (table[(table != pattern).any(axis=1)] for pattern in ((0, 1, 0), (1, 0, 1)))
    found = list(rules((columns_of(one), columns_of(other)), [(0,), (1,), (2,)]))
    shares = {tuple(float(event.among(columns_of(each)).mean()) for each in (one, other)) for event in found}
    assert (1 / 7, 0.0) in shares
    assert (0.0, 1 / 7) in shares
    assert {len(event.events) for event in found} == {2, 3}


def test_a_rule_holds_many_outcomes() -> None:
    """No rule has fewer than LEAST outcomes of its world, however well they tell the worlds apart."""
    table = np.array(list(itertools.product((0, 1), repeat=3)) * (LEAST - 1))
    one, other = (table[(table != pattern).any(axis=1)] for pattern in ((0, 1, 0), (1, 0, 1)))
    found = list(rules((columns_of(one), columns_of(other)), [(0,), (1,), (2,)]))
    assert all(max(event.among(columns_of(each)).sum() for each in (one, other)) >= LEAST for event in found)


@pytest.mark.parametrize(("seldom", "is_chosen"), [(4, False), (40, True)])
def test_a_set_of_values_must_be_stronger_by_a_margin(seldom: int, is_chosen: bool) -> None:
    """A set of outcomes fits the runs that proposed it. The bound holds the set, and `seldom` outcomes more of the
    second world."""
    worlds = np.repeat([0, 1, 9], [100, 100, 300]), np.repeat([0, 1, 2, 9], [10, 10, seldom, 480 - seldom])
    chosen, bound = OneOf((0, 1), by_type=True), Learned((Term("value"),), -np.inf, 2.0)
    event = event_search._strongest([bound, chosen], event_search._Half(worlds, many=False), CLAIM)
    assert event == (chosen if is_chosen else bound)


@pytest.mark.parametrize("numbers", [(math.inf, -math.inf), (1.7e308, 1.7e308)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_without_a_sum_are_no_error(numbers: tuple[float, float]) -> None:
    def made(rng: np.random.Generator, n: int, world: int) -> list[Any]:
        return [
            (*numbers, None if place % 2 else "a", one)
            for place, one in enumerate(rng.normal(9 * world, 1, n).tolist())
        ]

    _, event_in, event_out = learned_on(made, 600)
    assert abs(event_in - event_out) > 0.9
