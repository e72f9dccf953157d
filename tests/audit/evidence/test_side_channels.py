"""A mechanism seen through a channel: what is counted, what is refused, and what the law becomes."""

import dataclasses
import json
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from subnormal import Claim, member
from subnormal.attacks.core.attack import Channel
from subnormal.attacks.side_channels.rejection_tries import rejection_tries
from subnormal.audit.__main__ import main
from subnormal.audit.engine.pairs import Crossing, crossings, planned_runs
from subnormal.audit.engine.row import examine
from subnormal.audit.evidence import exhaustive, side_channels
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Refused, Trace


def stubborn(data: Any, parameters: Any, bits: BitSource, n: int) -> list[int]:
    """Tries until it draws a 1, and refuses at the third 0."""
    return [_one(bits) for _ in range(n)]


def _one(bits: BitSource) -> int:
    for zeros in range(3):
        bits.tries += 1
        bits.steps += 1
        if bits.take(1):
            return zeros
    raise ValueError("three zeros")


STUBBORN: Mechanism[Any, Any, Any] = Mechanism("stubborn", "none", stubborn, lambda *given: Claim(1.0))
REFUSAL = Refused("ValueError: three zeros")


def test_each_draw_is_counted_on_its_own() -> None:
    seen = side_channels.traced(STUBBORN, "tries").sample(None, None, scripted_bits("101001"), 3)
    assert list(seen) == [(0, 1), (1, 2), (2, 3)]
    whole = side_channels.traced(STUBBORN).sample(None, None, scripted_bits("101"), 2)
    assert list(whole) == [(0, Trace(1, 1, 1)), (1, Trace(2, 2, 2))]


def test_an_error_is_an_outcome_beside_its_count() -> None:
    walked = exhaustive.law(lambda bits: side_channels.traced(STUBBORN, "bits").sample(None, None, bits, 1)[0], depth=3)
    assert walked.rest == 0
    assert walked.probability((REFUSAL, 3)) == (Fraction(1, 8), Fraction(1, 8))
    assert walked.probability((0, 1))[0] == Fraction(1, 2)


def test_a_mistake_in_the_code_is_none() -> None:
    def misspelt(data: Any, parameters: Any, bits: Any, n: int) -> list[int]:
        return [bits.taek(1)]

    broken: Mechanism[Any, Any, Any] = Mechanism("broken", "none", misspelt, lambda *given: Claim(1.0))
    with pytest.raises(AttributeError):
        side_channels.traced(broken, "bits").sample(None, None, seeded_bits(1), 1)


def test_numpy_scalars_become_numbers() -> None:
    attack = rejection_tries()
    seen = side_channels.traced(member("exponential-exact"), "bits")
    ((outcome, count),) = seen.sample(attack.worlds()[0], attack.parameters, seeded_bits(1), 1)
    assert (type(outcome), count) == (int, 64)


def test_a_member_without_a_law_of_traces_has_none_through_a_channel() -> None:
    assert side_channels.traced(STUBBORN, "tries").law is None
    assert side_channels.traced(member("exponential-naive-float64"), "tries").law is None


def test_the_law_through_a_channel_sums_what_the_channel_does_not_show() -> None:
    attack, base2 = rejection_tries(), member("exponential-base2")
    assert base2.trace_law is not None
    data = attack.worlds()[1]
    whole = base2.trace_law(data, attack.parameters)
    seen: Any = side_channels.traced(base2, "steps").law
    law = seen(data, attack.parameters)
    assert len(law.atoms) == 256
    every = [whole.probability(atom)[0] for atom in whole.atoms if isinstance(atom, tuple) and atom[0] == 7]
    assert law.probability((7, 0))[0] == sum(every)


def coin(bits: BitSource, most: int) -> int:
    """A fair bit, thrown again after every other 0 that comes up; no more than `most` times."""
    for _ in range(most):
        bits.tries += 1
        if (drawn := bits.take(2)) != 1:
            return drawn >> 1
    return 0


def test_what_a_law_of_traces_leaves_out_may_look_like_what_it_names() -> None:
    """Draws of three tries are left to the rest: by their bits they are none of the atoms, by their steps they are."""

    def trace_law(data: int, parameters: None) -> Law[Any]:
        walked: Law[Any] = exhaustive.law(partial(one, data), depth=6)
        assert walked.rest == 0
        named = [atom for atom in walked.atoms if not isinstance(atom, Refused) and atom[1].bits <= 4]
        weights = [int(walked.probability(atom)[0] * 64) for atom in named]
        return Law(named, range(1, len(named) + 1), weights, weights, 64, Fraction(64 - sum(weights), 64))

    def one(data: int, bits: BitSource) -> tuple[int, Trace]:
        drawn = coin(bits, data)
        return drawn, Trace(bits.tries, bits.consumed, 0)

    sampled: Mechanism[Any, Any, Any] = Mechanism(
        "coin", "none", lambda data, parameters, bits, n: [coin(bits, data)], lambda *given: Claim(1.0)
    )
    coins = dataclasses.replace(sampled, trace_law=trace_law)

    def drawn(seen: Mechanism[Any, Any, Any], bits: BitSource) -> Any:
        return seen.sample(3, None, bits, 1)[0]

    some: tuple[Channel | None, ...] = (None, "bits", "tries", "steps")
    for channel in some:
        seen: Any = side_channels.traced(coins, channel)
        walked = exhaustive.law(partial(drawn, seen), depth=6)
        law = seen.law(3, None)
        for atom in walked.atoms:
            low, high = law.probability(atom)
            assert low <= walked.probability(atom)[0] <= high
    assert side_channels.traced(coins).law(3, None).rest == Fraction(1, 16)  # type: ignore[misc]


def test_time_is_not_counted() -> None:
    with pytest.raises(ValueError, match="channel 'time' is measured, not counted"):
        side_channels.traced(STUBBORN, "time")


def test_runs_are_a_number_that_the_bits_of_a_draw_decide() -> None:
    attack = rejection_tries()
    assert planned_runs(Crossing(attack, member("exponential-base2")), 10**6) == side_channels.DRAWS
    assert planned_runs(Crossing(attack, member("exponential-base2")), 10) == 10
    greedy: Mechanism[Any, Any, Any] = Mechanism(
        "greedy", "none", lambda data, parameters, bits, n: [bits.take(1 << 20) & 1], lambda *given: Claim(1.0)
    )
    runs: Any = side_channels.traced(greedy, "bits").runs
    assert runs(None, None) == 0


def test_a_row_says_what_was_seen_and_where_it_becomes_visible() -> None:
    row = examine(Crossing(rejection_tries(), member("exponential-base2")), seed=1, runs=100, alpha=0.05)
    assert (row.error, row.channel) == (None, "tries")
    assert row.visible_below == pytest.approx(1.0935, abs=1e-4)
    assert Claim(row.visible_below or 0).advantage_allowed == pytest.approx(255 / 512)
    assert Claim(1.0, 0.3).advantage_allowed == pytest.approx(0.6235, abs=1e-4)
    assert Claim(9.0, 0.3).budget_of(Claim(1.0, 0.3).advantage_allowed) == pytest.approx(1.0)
    assert (Claim(1.0, 0.3).budget_of(0.3), Claim(1.0).budget_of(1.0)) == (0, np.inf)


def test_variants_meet_the_attacks_that_name_them() -> None:
    names = {one.mechanism.name for one in crossings([rejection_tries()])}
    assert "exponential-base2-ten-tries" not in names
    everyone = {one.mechanism.name for one in crossings([rejection_tries()], everything=True)}
    assert {"exponential-naive-float64"} <= everyone
    assert "exponential-base2-ten-tries" not in everyone
    asked = crossings([rejection_tries()], mechanisms=["exponential-base2-ten-tries"])
    assert [one.mechanism.name for one in asked] == ["exponential-base2-ten-tries"]


def test_what_needs_our_counters_is_refused_elsewhere() -> None:
    result = CliRunner().invoke(main, ["vectors", "make", "--attack", "early-termination"])
    assert (result.exit_code, "early-termination looks at steps, not at outcomes alone" in result.stderr) == (2, True)


def test_channels_alone(tmp_path: Any) -> None:
    chosen = ["--attack", "early-termination", "--attack", "zero-rounding"]
    result = CliRunner().invoke(main, ["run", "--channels", "--quick", *chosen, "--out", str(tmp_path)])
    assert result.exit_code == 0
    rows = json.loads((tmp_path / "report.json").read_text())["rows"]
    assert {row["channel"] for row in rows} == {"steps"}
    assert rows[0]["visible_below"] == pytest.approx(1.946, abs=1e-3)


def test_no_law_of_traces_for_these_data_is_no_error() -> None:
    def none(data: Any, parameters: Any) -> Any:
        raise NoLawError("too large")

    lawless: Any = side_channels.traced(
        Mechanism("x", "none", stubborn, lambda *given: Claim(1.0), trace_law=none), "tries"
    )
    with pytest.raises(NoLawError, match="too large"):
        lawless.law(None, None)
