"""Faults planted in exact members, one at a time: each is found on a small domain, with the worst pair.

Without the fault the same domain holds. What is broken is the code that a law and its sampler share, or the law alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import pytest

from subnormal import Eta, member
from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.model import DomainVerdict
from subnormal.mechanisms.additive import clamped_noise
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.exponential import base2, permute_and_flip
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.private_selection import exact as private_selection_exact
from subnormal.mechanisms.randomized_response import exact as randomized_response_exact
from subnormal.mechanisms.sparse_vector import answer_law
from subnormal.mechanisms.sparse_vector import exact as sparse_vector_exact
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold import family as threshold_family

UTILITIES = "utilities@most=4,outcomes=3"
NUMBERS = "numbers@most=2,grid=-1,resolution=-2"
STREAMS = "streams@most=2,queries=4"
LONG = "streams@most=1,queries=5,epsilon=4,width=2"
MAPPINGS = "mappings@most=4,keys=2,threshold=3,limit=5,apart=1"
CATEGORIES = "categories@categories=4"
LISTS = "frequencies@most=6,rows=2,sensitivity=2"

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Fault:
    """plant(patch, member) breaks the code, and returns the member to decide."""

    mechanism: str
    domain: str
    plant: Callable[[Patch, AnyMechanism], AnyMechanism | None]


def of(module: Any, name: str, broken: Callable[..., Any]) -> Callable[[Patch, AnyMechanism], None]:
    """Return what replaces a function of a module; `broken` has the original one as its first argument."""

    def plant(patch: Patch, mechanism: AnyMechanism) -> None:
        original = getattr(module, name)
        patch.setattr(module, name, lambda *given, **options: broken(original, *given, **options))

    return plant


def twice_the_budget(original: Callable[..., Eta], epsilon: Any, *others: Any, **options: Any) -> Eta:
    return original(2 * epsilon, *others, **options)


def four_budgets(original: Callable[..., Eta], epsilon: Any, *others: Any) -> Eta:
    return original(4 * epsilon, *others)


def rounded_down(original: Callable[..., Eta], *given: Any) -> Eta:
    eta = original(*given)
    return Eta(eta.x - 1, eta.y, eta.z)


def half_the_steps(original: Callable[..., int], *given: Any) -> int:
    return max(1, original(*given) // 2)


def a_third_of_the_steps(original: Callable[..., Eta], epsilon: Any, steps: int) -> Eta:
    return original(epsilon, max(1, steps // 3))


def lightest_vanishes(original: Callable[..., list[int]], *given: Any) -> list[int]:
    found = original(*given)
    return [0 if weight == min(found) < max(found) else weight for weight in found]


def half_even(original: Any, value: Any, grid: int, rounding: str = "half-up") -> int:
    return round(Fraction(value) / Fraction(2) ** grid)


def near_the_data(original: Any, *given: Any, **options: Any) -> tuple[int, int, int]:
    center, low, high = original(*given, **options)
    return center, max(low, center - 4), high


def fresh_sparse_vector(plant: Callable[[Patch, AnyMechanism], None]) -> Callable[[Patch, AnyMechanism], AnyMechanism]:
    def planted(patch: Patch, mechanism: AnyMechanism) -> AnyMechanism:
        plant(patch, mechanism)
        return sparse_vector_exact._member(mechanism.name, with_gap=mechanism.name.endswith("gap"))  # no cached setting

    return planted


def never_stops(original: Any, prior: Any, unit: int, answers: Any, answer_unit: int, positives: int | None) -> Any:
    return original(prior, unit, answers, answer_unit, None)


def one_query_only(patch: Patch, mechanism: AnyMechanism) -> AnyMechanism:
    """The promise of a single changed key, for releases in which two may change."""

    def claim(parameters: Any, data_in: Any, data_out: Any) -> Any:
        _, _, most = parameters.sensitivities
        return threshold_family.privacy(parameters, (1, most, most))

    return replace(mechanism, claim=claim)


def laplace_budget(broken: Callable[..., Any]) -> Callable[[Patch, AnyMechanism], None]:
    """The rates are cached, being public: the caches go before and after."""

    def plant(patch: Patch, mechanism: AnyMechanism) -> None:
        of(laplace_exact, "l1_steps", broken)(patch, mechanism)
        for cached in ("member_eta", "_base_e_scale"):
            getattr(laplace_exact, cached).cache_clear()

    return plant


FAULTS = {
    "selection spends the budget twice": Fault(
        "exponential-exact", UTILITIES, of(exponential_exact, "selection_eta", twice_the_budget)
    ),
    "selection in base e forgets the factor 2": Fault(
        "exponential-exact-base-e",
        UTILITIES,
        of(exponential_exact, "budget_rate", lambda original, *given: 2 * original(*given)),
    ),
    "the lightest weight vanishes": Fault("exponential-exact", UTILITIES, of(base2, "numerators", lightest_vanishes)),
    "a utility too large is the best": Fault(
        "exponential-exact",
        UTILITIES,
        of(exponential_exact, "clamped", lambda original, data, parameters: data * (data < 4)),
    ),
    "a rate is rounded in favour of the claim": Fault(
        "permute-and-flip", UTILITIES, of(permute_and_flip, "selection_eta", rounded_down)
    ),
    "permute-and-flip squares its coins": Fault(
        "permute-and-flip",
        UTILITIES,
        of(permute_and_flip, "selection_eta", lambda original, *given: replace(original(*given), z=2)),
    ),
    "a sensitivity off the grid is rounded down": Fault(
        "laplace-exact",
        "numbers@most=2,sensitivity=0.75,grid=-1,resolution=-2",
        laplace_budget(lambda original, sensitivity, grid, count=1: floor(sensitivity * 2.0**-grid)),
    ),
    "half the sensitivity": Fault("laplace-exact-base-e", NUMBERS, laplace_budget(half_the_steps)),
    "ties are rounded to even": Fault(
        "laplace-exact", "numbers@most=2,grid=0,resolution=-1", of(clamped_noise, "to_steps", half_even)
    ),
    "bounds follow the data": Fault("laplace-exact-base-e", NUMBERS, of(laplace_exact, "on_grid", near_the_data)),
    "half the sensitivity, in base 2": Fault("laplace-exact", NUMBERS, laplace_budget(half_the_steps)),
    "a deviation in place of a variance": Fault(
        "gaussian-exact",
        "numbers@most=2,sigma=2,grid=-1,resolution=-2",
        of(gaussian_exact, "variance_of", lambda original, sigma, grid: sigma / Fraction(2) ** grid),
    ),
    "half the deviation": Fault(
        "gaussian-exact", NUMBERS, of(gaussian_exact, "variance_of", lambda original, *given: original(*given) / 4)
    ),
    "the answers' noise forgets the factor 2": Fault(
        "sparse-vector-exact", STREAMS, fresh_sparse_vector(of(sparse_vector_exact, "noise_eta", twice_the_budget))
    ),
    "sparse vector never stops": Fault("sparse-vector-exact", LONG, of(answer_law, "law", never_stops)),
    "sparse vector counts one positive answer": Fault(
        "sparse-vector-exact",
        f"{LONG},positives=3",
        fresh_sparse_vector(of(sparse_vector_exact, "noise_eta", a_third_of_the_steps)),
    ),
    "gaps with a quarter of the noise": Fault(
        "sparse-vector-exact-gap", STREAMS, fresh_sparse_vector(of(sparse_vector_exact, "noise_eta", four_budgets))
    ),
    "each score spends the whole budget": Fault(
        "private-selection-exact",
        "scores@most=3,candidates=3",
        of(private_selection_exact, "noise_eta", lambda original, epsilon, steps: original(3 * epsilon, steps)),
    ),
    "partitions forget the factor 2": Fault(
        "partitions-exact", LISTS, of(partitions_exact, "selection_eta", twice_the_budget)
    ),
    "far lists are left out": Fault(
        "partitions-exact",
        LISTS,
        of(
            partitions_exact,
            "weights",
            lambda original, eta, largest: [
                weight if at < 5 else 0 for at, weight in enumerate(original(eta, largest))
            ],
        ),
    ),
    "counts are one too high at the threshold": Fault(
        "threshold-exact", MAPPINGS, of(threshold_exact, "vector", lambda original, *given: original(*given) + 1)
    ),
    "a threshold for one key, two change": Fault("threshold-exact", MAPPINGS, one_query_only),
    "randomized response spends the budget twice": Fault(
        "randomized-response-exact", CATEGORIES, of(randomized_response_exact, "noise_eta", twice_the_budget)
    ),
    "randomized response rounds in favour of the claim": Fault(
        "randomized-response-exact", CATEGORIES, of(randomized_response_exact, "noise_eta", rounded_down)
    ),
    "half the sensitivity of the utilities": Fault(
        "randomized-response-exact-base-e",
        CATEGORIES,
        lambda patch, mechanism: patch.setattr(randomized_response_exact, "HALF", 0.25),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    mechanism = member(fault.mechanism)
    domain = domain_of(mechanism.family, fault.domain)
    assert decide(mechanism, domain).verdict is DomainVerdict.HOLDS
    try:
        broken = decide(fault.plant(monkeypatch, mechanism) or mechanism, domain)
    finally:
        monkeypatch.undo()
        for cached in (laplace_exact.member_eta, laplace_exact._base_e_scale):
            cached.cache_clear()
    assert broken.verdict is DomainVerdict.VIOLATED
    assert broken.worst is not None
    assert broken.delta > broken.claim.delta


def test_there_are_twenty() -> None:
    assert len(FAULTS) >= 20
    assert len({fault.mechanism for fault in FAULTS.values()}) >= 12
