"""Private selection: its law against every string of bits and every sequence of draws; losses of all neighbours."""

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal.attacks.private_selection.absorbed_scores import selection_absorption
from subnormal.audit.evidence import exact, exhaustive
from subnormal.audit.model import Verdict
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.families import family, member
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.privacy import Eta, noise_eta
from subnormal.mechanisms.private_selection import exact as private_selection_exact
from subnormal.mechanisms.private_selection import family as private_selection_family
from subnormal.mechanisms.private_selection import naive as private_selection_naive
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters, least_steps
from tests.support.family_cases import EPSILON, VECTORS, FamilyCases
from tests.support.walks import assert_between, law_of

ETA = Eta(1, 1, 1)


def by_every_sequence(laws: list[Law[Any]], stop: Fraction, steps: int) -> dict[Any, Fraction]:
    """Follow the algorithm as it is written, draw by draw and coin by coin."""
    draws = {
        (candidate, value): law.probability(value)[0] / len(laws)
        for candidate, law in enumerate(laws)
        for value in np.asarray(law.atoms).tolist()
    }
    released = dict.fromkeys(draws, Fraction(0))
    kept: dict[Any, Fraction] = {None: Fraction(1)}
    for step in range(steps):
        following = dict.fromkeys(draws, Fraction(0))
        for (best, reached), (drawn, chance) in itertools.product(kept.items(), draws.items()):
            better = drawn if best is None else min(best, drawn, key=lambda one: (one[1], one[0]))
            following[better] += reached * chance
        ends = Fraction(1) if step == steps - 1 else stop
        for atom, reached in following.items():
            released[atom] += reached * ends
            following[atom] = reached * (1 - ends)
        kept = following
    return released


@pytest.mark.parametrize(("stop", "steps"), [(Fraction(1, 2), 1), (Fraction(1, 2), 3), (Fraction(3, 8), 5)])
def test_the_law_is_that_of_every_sequence(stop: Fraction, steps: int) -> None:
    for scores in ([0], [0, 1], [2, 0, 2]):
        options: Any = {"lower": 0, "upper": 2, "stop": stop, "steps": steps}
        law = private_selection_exact.law(scores, ETA, **options)
        laws = [laplace_exact.law(score, ETA, lower=0, upper=2) for score in scores]
        expected = by_every_sequence(laws, stop, steps)
        assert {atom: law.probability(atom) for atom in law.atoms} == {atom: (p, p) for atom, p in expected.items()}


def walked(sampler: Any, depth: int) -> Law[Any]:
    def draw(bits: BitSource) -> Any:
        candidate, score = sampler(bits)[0].tolist()
        return int(candidate), score

    return exhaustive.law(draw, depth=depth, word_bits=2)


def check_exact(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of 14 bits: what is decided lies below the law, and the law below that and the rest."""
    for scores, stop, steps in (([1, 0], Fraction(1, 2), 2), ([0, 0], Fraction(3, 4), 2), ([1], Fraction(1, 2), 3)):
        options: Any = {"lower": 0, "upper": 1, "stop": stop, "steps": steps}
        law = private_selection_exact.law(scores, ETA, **options)
        sampler = partial(private_selection_exact.sample, scores, ETA, n=1, **options)
        assert_between(walked(lambda bits, sampler=sampler: sampler(bits=bits), 14), law, rest=1 / 2)
    parameters = PrivateSelectionParameters(3.0, 0, 3, stop=0.5, reserve=0.5)
    ours = law_of(mechanism, np.array([1, 2]), parameters)
    theirs = private_selection_exact.law([1, 2], noise_eta(0.5), lower=0, upper=3, stop=Fraction(1, 2), steps=3)
    assert [ours.probability(atom) for atom in ours.atoms] == [theirs.probability(atom) for atom in ours.atoms]


def check_naive(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Two bits of a uniform where the code has 52: every string, for scores that absorb the noise, or do not."""
    given: Any = {"float_type": np.float64, "uniform_bits": 2}
    for scores in ([0, 1], [2**60 + 129, 2**60 + 128], [2**53, 2**53 + 1]):
        laws = [laplace_naive.law(score, 1.0, **given) for score in scores]
        law = private_selection_family.law(laws, stop=Fraction(1, 2), steps=2)

        def sampler(bits: BitSource, scores: list[int] = scores) -> Any:
            def noisy(candidate: int, n: int) -> Any:
                return laplace_naive.sample(scores[candidate], 1.0, bits, n, **given)

            return private_selection_family.sample(noisy, 2, bits, 1, stop=Fraction(1, 2), steps=2)

        seen = walked(sampler, 9)
        assert seen.rest == 0
        assert {atom: seen.probability(atom) for atom in seen.atoms} == {
            atom: law.probability(atom) for atom in law.atoms
        }
    attack = selection_absorption()
    drawn = mechanism.sample(attack.worlds()[0], attack.parameters, seeded_bits(1), 2_000)
    atoms = set(law_of(mechanism, attack.worlds()[0], attack.parameters).atoms)
    assert {(int(candidate), score) for candidate, score in np.asarray(drawn).tolist()} <= atoms


@pytest.mark.parametrize(("stop", "reserve"), [(0.5, 0.5), (0.25, 0.2), (0.75, 0.05)])
def test_the_loss_of_every_pair_of_neighbours_is_within_the_claim(stop: float, reserve: float) -> None:
    parameters = PrivateSelectionParameters(2.0, 0, 2, stop=stop, reserve=reserve)
    mechanism = member("private-selection-exact")
    losses = []
    laws = {scores: law_of(mechanism, np.array(scores), parameters) for scores in itertools.product(range(3), repeat=2)}
    for (one, law_one), (other, law_other) in itertools.combinations(laws.items(), 2):
        data = np.array(one), np.array(other)
        if not family("private-selection").adjacent(parameters, *data):
            continue
        evidence = exact.compare(law_one, law_other, mechanism.claim(parameters, *data))
        assert (evidence.verdict, evidence.within) == (Verdict.HOLDS, 0)
        losses.append(evidence.epsilon)
    assert len(losses) == 20
    assert float(parameters.score_epsilon) < max(losses) <= 3 * float(parameters.score_epsilon) + reserve


@pytest.mark.parametrize("reserve", [Fraction(1), Fraction(1, 4), Fraction(1, 100)])
@pytest.mark.parametrize("stop", [Fraction(1, 2), Fraction(1, 16), Fraction(1, 128), Fraction(15, 16)])
def test_stopping_after_the_least_steps_costs_no_more_than_is_reserved(stop: Fraction, reserve: Fraction) -> None:
    """h′ with a last step over h′ without: what lies between its extremes is what hard stopping can add to a loss."""
    steps, ratios = least_steps(stop, reserve), []
    for place in range(1001):
        q = float((1 - stop) * Fraction(place, 1000))
        without = float(stop) / (1 - q) ** 2
        with_last = float(stop) * sum(t * q ** (t - 1) for t in range(1, steps)) + steps * q ** (steps - 1)
        ratios.append(with_last / without)
    assert 0 < math.log(max(ratios) / min(ratios)) <= 3 * float(reserve)


def test_fewer_steps_break_the_promise() -> None:
    """γ = 2^−20 asks for millions of steps. The best of 12, which hardly ever stop before, tells more than 3ε₁."""
    epsilon = Fraction(1, 2)
    eta = noise_eta(epsilon)
    options: Any = {"lower": 0, "upper": 6, "stop": Fraction(1, 1 << 20), "steps": 12}
    law_in, law_out = (private_selection_exact.law([score] * 2, eta, **options) for score in (3, 4))
    loss = exact.compare(law_in, law_out, member("private-selection-exact").claim(PARAMETERS, None, None)).epsilon
    assert loss > 3 * epsilon


PARAMETERS = PrivateSelectionParameters(1.0, 0, 6)


def test_no_more_steps_are_taken_than_the_last_draw_needs() -> None:
    """T is 2^62 here: whoever counts to it hangs."""
    drawn = private_selection_naive.sample([3], 1.0, seeded_bits(1), 9, stop=Fraction(1, 2), steps=1 << 62)
    assert drawn.shape == (9, 2)


def test_of_equal_scores_the_first_candidates_is_kept() -> None:
    """Every score is 0: the second of two candidates is released only where it alone was drawn, 1/4 + 1/16 + 1/32."""

    def draw(bits: BitSource) -> tuple[int, int]:
        equal: Any = partial(np.zeros, dtype=np.int64)
        ((candidate, score),) = private_selection_family.sample(
            lambda candidate, draws: equal(draws), 2, bits, 1, stop=Fraction(1, 2), steps=3
        ).tolist()
        return candidate, score

    walked = exhaustive.law(draw, depth=5, word_bits=1)
    assert walked.rest == 0
    assert walked.probability((1, 0)) == (Fraction(11, 32), Fraction(11, 32))


def test_the_least_steps_are_the_larger_of_both_terms() -> None:
    """1 + 1/(eγ) is the larger one where ln(2/ε₀) < γ + 1/e."""
    assert [least_steps(stop, Fraction(19, 10)) for stop in (Fraction(1, 2), Fraction(1, 8))] == [2, 4]


def bounds(parameters: Any, data: Any) -> dict[str, bool]:
    kept = parameters.lower <= data.min() <= data.max() <= parameters.upper
    return {"scores are int64": data.dtype == np.int64, "lower ≤ scores ≤ upper": kept}


CASES = {
    "private-selection": FamilyCases(
        laws={"private-selection-naive": check_naive, "private-selection-exact": check_exact},
        bounds=bounds,
        parameters=PrivateSelectionParameters(1.0, -64, 64, 1, reserve=1 / 16),
        data=VECTORS,
        noiseless=lambda data: int(data.argmin()),
        domain="scores@most=2,candidates=3",
        options={
            "most": st.integers(1, 3),
            "candidates": st.integers(1, 3),
            "epsilon": EPSILON,
            "sensitivity": st.integers(1, 2),
            "stop": st.sampled_from([0.125, 0.5, 0.75]),
        },
        tight={"most": 2, "candidates": 2},
    )
}
