"""Runs -> evidence: reproducible, fixed beforehand, and never more than a sample can show."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal import Claim, Verdict, member
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.evidence import batches, sampled
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism
from tests.support.rows import distinguish
from tests.support.synthetic import attack_on_one_bit, randomized_response

pytestmark = pytest.mark.usefixtures("families_of_tests")

NAIVE = member("exponential-naive-float64")


def test_intervals_contain_the_exact_probabilities() -> None:
    # Each world's interval errs with probability at most 1e-6 / 2.
    evidence = distinguish(NAIVE, zero_rounding(), seed=3, runs=100_000, alpha=1e-6)
    assert evidence.event_in[0] <= 1 <= evidence.event_in[1]
    assert evidence.event_out[0] <= 0.01 <= evidence.event_out[1]
    assert evidence.advantage[0] <= 0.99 <= evidence.advantage[1]
    assert evidence.ks.statistic == pytest.approx(0.99, abs=evidence.ks.margin)
    assert evidence.verdict is Verdict.VIOLATED


def test_bins_are_at_most_4096_whatever_the_outcomes() -> None:
    attack = zero_rounding(outcomes=10_000)
    worlds = attack.worlds()
    assert NAIVE.law is not None
    laws = NAIVE.law(worlds[0], attack.parameters), NAIVE.law(worlds[1], attack.parameters)
    edges = sampled.bin_edges(NAIVE, attack, worlds, laws, 1, 0)
    assert len(edges) == sampled.BINS
    masses = sampled.bin_masses(laws[1], attack, edges)
    assert masses.sum() == pytest.approx(1)
    assert masses.max() <= 3.1 / 10_000


def test_batches_are_pure_functions_of_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 1_000)
    attack = attack_on_one_bit()
    mechanism = randomized_response("batched", 0.5, Claim(1.0))
    edges = np.array([0.0, np.inf])
    found = batches.total(
        [batches.count_worlds(mechanism, attack, edges, 5, *batch) for batch in batches.batches(2_500)]
    )
    assert found is not None
    whole, _ = found
    parts = [
        batches.count_batch(mechanism, attack, "in", 1, edges, 5, number, size)
        for number, size in ((2, 500), (0, 1_000), (1, 1_000))
    ]
    assert whole.runs == 2_500
    assert whole.event == sum(part.event for part in parts)
    assert len({part.event / part.runs for part in parts}) == 3


def test_bad_input_is_named_with_its_value() -> None:
    with pytest.raises(ValueError, match=r"alpha must be between 0 and 1, got 1\.0"):
        distinguish(NAIVE, zero_rounding(outcomes=3), alpha=1.0)


def observed(events: tuple[int, int], runs: int) -> tuple[batches.Counts, batches.Counts]:
    first, second = (batches.Counts(event, np.array([runs - event, event])) for event in events)
    return first, second


def test_event_and_distance_have_half_of_alpha_each_and_the_event_a_quarter_of_its_half_in_each_tail() -> None:
    evidence = sampled.judge(observed((300, 100), 1_000), Claim(5.0), 0.04, None, 1)
    assert evidence.event_in == binomial.clopper_pearson(300, 1_000, 0.005)
    assert evidence.event_out == binomial.clopper_pearson(100, 1_000, 0.005)
    assert evidence.ks.margin == binomial.dkw_margin(1_000, 0.02)
    assert evidence.ks.statistic == pytest.approx(0.2)


def test_one_bin_has_no_distance_and_leaves_all_of_alpha_to_the_event() -> None:
    first, second = (batches.Counts(event, np.array([1_000])) for event in (300, 100))
    evidence = sampled.judge((first, second), Claim(5.0), 0.04, None, 1)
    assert evidence.event_in == binomial.clopper_pearson(300, 1_000, 0.01)
    assert (evidence.ks.statistic, evidence.ks.margin) == (0, 0)
    unlike = batches.Counts(1_000, np.array([1_000])), batches.Counts(0, np.array([1_000]))
    assert sampled.judge(unlike, Claim(1.0), 0.04, None, 1).convicted_by == "event"


def test_disjoint_worlds_are_convicted_by_their_distance_where_the_event_misses() -> None:
    missed = batches.Counts(0, np.array([1_000, 0])), batches.Counts(0, np.array([0, 1_000]))
    evidence = sampled.judge(missed, Claim(1.0), 0.05, None, 1)
    assert (evidence.verdict, evidence.convicted_by, evidence.ks.statistic) == (Verdict.VIOLATED, "distance", 1)
    assert 1 < evidence.epsilon_lower == Claim(1.0).budget_of(1 - evidence.ks.margin)
    both = batches.Counts(1_000, np.array([1_000, 0])), batches.Counts(0, np.array([0, 1_000]))
    assert sampled.judge(both, Claim(1.0), 0.05, None, 1).convicted_by == "event"
    alike = sampled.judge((missed[0], missed[0]), Claim(1.0), 0.05, None, 1)
    assert (alike.verdict, alike.convicted_by, alike.epsilon_lower) == (Verdict.NOT_REFUTED, None, 0)


def test_an_event_convicts_from_the_bound_above_the_claimed_epsilon() -> None:
    """In one bin, where no distance can: on either side of the ε that the counts prove, and of its complement's."""
    for events in ((300, 100), (700, 900)):
        counts = tuple(batches.Counts(event, np.array([1_000])) for event in events)
        bound = sampled.judge((counts[0], counts[1]), Claim(5.0), 0.05, None, 1).epsilon_lower
        for claimed, convicted in ((bound * (1 - 1e-9), "event"), (bound * (1 + 1e-9), None)):
            assert sampled.judge((counts[0], counts[1]), Claim(claimed), 0.05, None, 1).convicted_by == convicted


def test_a_distance_convicts_from_the_margin_above_what_the_claim_allows() -> None:
    claim, margin = Claim(1.0, 0.1), binomial.dkw_margin(10_000, 0.025)
    for beyond, convicted in ((-1, None), (2, "distance")):
        shift = int(10_000 * (claim.advantage_allowed + margin)) + beyond
        moved = batches.Counts(5, np.array([0, 10_000])), batches.Counts(5, np.array([shift, 10_000 - shift]))
        assert sampled.judge(moved, claim, 0.05, None, 1).convicted_by == convicted


def test_the_advantage_does_not_depend_on_the_direction() -> None:
    forth, back = (
        sampled.judge(observed(events, 1_000), Claim(5.0), 0.05, None, 1) for events in ((300, 100), (100, 300))
    )
    assert forth.advantage == back.advantage
    assert forth.epsilon_lower == back.epsilon_lower
    assert 0.1 < forth.advantage[0] < 0.2 < forth.advantage[1] < 0.3


def test_a_delta_is_taken_off_before_the_ratio() -> None:
    with_delta = sampled.judge(observed((300, 100), 1_000), Claim(0.5, 0.1), 0.05, None, 1)
    low, high = with_delta.event_in[0], with_delta.event_out[1]
    assert with_delta.epsilon_lower == pytest.approx(np.log((low - 0.1) / high))
    # A perfect distinguisher of 1,000 runs shows more than ε = 5 at δ = 0, and nothing at δ = 0.999.
    assert sampled.judge(observed((1, 1), 1_000), Claim(5.0), 0.05, None, 1).verdict is Verdict.NOT_REFUTED
    assert sampled.judge(observed((1, 1), 1_000), Claim(5.0, 0.999), 0.05, None, 1).verdict is Verdict.UNDERPOWERED


def test_worlds_pilots_and_fits_never_share_their_bits() -> None:
    words: dict[tuple[int, int], list[int]] = {}

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> NDArray[np.int64]:
        drawn = bits.words(n)
        words[data, len(words)] = drawn[:8].tolist()
        return (drawn >> np.uint64(63)).astype(np.int64)

    recording: Mechanism[int, None, int] = Mechanism("recording", "synthetic", sample, lambda *worlds: Claim(1.0))
    distinguish(recording, attack_on_one_bit(), runs=100)
    firsts = [tuple(first) for first in words.values()]
    assert len(firsts) == 4  # two pilots, two worlds
    assert len(set(firsts)) == 4
    other: Mechanism[int, None, int] = Mechanism("other", "synthetic", sample, lambda *worlds: Claim(1.0))
    seeds = {sampled.row_seed(1, attack_on_one_bit(), mechanism) for mechanism in (recording, other)}
    assert len(seeds) == 2


def test_a_row_is_underpowered_by_the_part_of_alpha_that_its_event_has() -> None:
    few, enough = (binomial.runs_needed(part, 3.0) for part in (0.05, 0.025))
    assert few < enough
    for runs in (enough - 1, enough):
        verdict = sampled.judge(observed((runs // 2, runs // 2), runs), Claim(3.0), 0.05, None, 1).verdict
        assert (verdict is Verdict.UNDERPOWERED) == (runs < enough)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6], [4, 1, 2, 3, 0, 5, 6]], ids=["ascending", "not ascending"])
def test_masses_in_bins_do_not_depend_on_how_many_atoms_are_taken_at_a_time(
    order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    atoms: Any = np.array([-1.0, 0.0, 0.5**9, 0.5, 3.0, 7.0, 8.0])[order]
    law: Law[float] = exact_law(atoms, range(1, 8), np.arange(1, 8)[order], 28)
    attack, edges = attack_on_one_bit(), np.array([-0.5, 0.5, 6.0])
    weights = dict(zip(atoms.tolist(), np.asarray(law.low).tolist(), strict=True))
    expected = [sum(weights[atom] for atom in some) for some in ((-1,), (0, 0.5, 0.5**9), (3, 7, 8))]
    for part in (1, 2, 3, 100):
        monkeypatch.setattr(sampled, "PART", part)
        assert sampled.bin_masses(law, attack, edges) * 28 == pytest.approx(expected, rel=1e-15)
