"""What is searched where no attack is named: noise that is missing is found, exact members keep the claim."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.evidence import exact, neighbouring_inputs
from subnormal.audit.model import Verdict
from subnormal.audit.targets.stated_claim import SEARCH, StatedClaim
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.core.domain import Domain, domain
from subnormal.mechanisms.core.mechanism import Family, Mechanism
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.families import FAMILIES, exact_members, family
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.sparse_vector import exact as sparse_vector_exact
from subnormal.mechanisms.threshold import family as threshold_family

AnyFamily = Family[Any, Any, Any]


def selection(data: Any, parameters: dict[str, Any], runs: int) -> list[int]:
    return [int(np.argmin(data))] * runs


def addition(data: Any, parameters: dict[str, Any], runs: int) -> list[Any]:
    released = sum(data.tolist()) if parameters["query"] == "sum" else data
    return [released] * runs


def above_threshold(data: Any, parameters: dict[str, Any], runs: int) -> list[tuple[int, ...]]:
    answers = [int(query >= parameters["threshold"]) for query in data.tolist()]
    return [tuple(answers[: answers.index(1) + 1] if 1 in answers else answers)] * runs


def best(data: Any, parameters: dict[str, Any], runs: int) -> list[tuple[int, int]]:
    return [(int(np.argmin(data)), int(min(data)))] * runs


def itself(data: Any, parameters: dict[str, Any], runs: int) -> list[Any]:
    return [data] * runs


def histogram(data: Any, parameters: dict[str, Any], runs: int) -> list[Any]:
    return [{key: value for key, value in data.items() if value >= parameters["threshold"]}] * runs


NOISELESS: dict[str, Callable[..., Any]] = {
    "exponential": selection,
    "laplace": addition,
    "gaussian": addition,
    "sparse-vector": above_threshold,
    "private-selection": best,
    "partitions": itself,
    "randomized-response": itself,
    "threshold": histogram,
}

NOT_IN_EVERY_DOMAIN = ("partitions", "threshold", "private-selection", "randomized-response")  # are their usual inputs


def geometric(data: Any, parameters: dict[str, Any], runs: int) -> list[int]:
    """Exact noise of scale 1 on one number, which must be an integer from 0 to 255."""
    if np.ndim(data) or not 0 <= data <= 255 or data != int(data):
        raise OverflowError(f"{data} is no unsigned 8-bit integer")
    return [int(one) for one in data + laplace_exact.sample(0, 1.0, system_bits(), runs)]


def exactly(of: AnyFamily, data: Any, parameters: dict[str, Any], runs: int) -> Any:
    """The family's first exact member, in base e where it has one: that takes floats, too."""
    if "limits" in parameters:
        parameters["limits"] = Limits(**parameters["limits"])
    member = min(exact_members(of), key=lambda one: not one.name.endswith("-base-e"))
    outcomes = member.sample(data, of.parameters(**parameters), system_bits(), runs)
    return [dict(released) for released in outcomes] if of.name == "threshold" else outcomes


HOUSE = SimpleNamespace(**{of.name: partial(exactly, of) for of in FAMILIES})


def rows(tmp_path: Path, target: str, *arguments: str) -> dict[str, Any]:
    asked = ["run", "--target", target, "--runs", "4000", "--format", "json", "--out", str(tmp_path), *arguments]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.stderr
    return {row["attack"]: row for row in json.loads(result.stdout)["rows"]}


@pytest.mark.parametrize("name", [one.name for one in FAMILIES])
def test_a_target_without_noise_is_found_unaided(name: str, tmp_path: Path) -> None:
    """Its outcomes are certain, so that nothing here is left to chance."""
    assert name in NOISELESS, f"NOISELESS in {__file__} has no target of the family {name!r}"
    found = rows(tmp_path, f"{__name__}:{NOISELESS[name].__name__}", "--family", name)
    assert found[SEARCH]["sampled"]["verdict"] == "VIOLATED"


def test_a_refusal_outside_of_the_domain_is_shown_with_both_inputs_and_is_none_inside(tmp_path: Path) -> None:
    """False-alarm rate: the α of the report, at most 1e-6 for each of the two."""
    asked = ["--family", "laplace", "--epsilon", "1", "--alpha", "1e-6"]
    target = f"{__name__}:geometric"
    found = CliRunner().invoke(main, ["run", "--target", target, *asked, "--quick", "--out", str(tmp_path)])
    report = json.loads((tmp_path / "report.json").read_text())
    (row,) = (row for row in report["rows"] if row["attack"] == SEARCH)
    assert row["sampled"]["verdict"] == "VIOLATED"
    (told,) = row["warnings"]
    assert re.match(r"refused (0 runs on 0.* and [1-9]|[1-9][\d,]* runs on .* and 0 on )", told)
    assert "OverflowError: " in told
    assert "is no unsigned 8-bit integer" in told
    assert told[:20] in " ".join(found.stdout.split())
    within = rows(tmp_path, target, *asked, "--domain", "uint8")
    assert within[SEARCH]["sampled"]["verdict"] == "NOT REFUTED"
    assert {row["sampled"]["verdict"] for row in within.values()} == {"NOT REFUTED"}
    assert not any(row["warnings"] for row in within.values())


def test_attacks_outside_of_the_domain_are_left_out_by_name(tmp_path: Path) -> None:
    asked = ["run", "--target", f"{__name__}:geometric", "--quick", "--out", str(tmp_path), "--domain", "uint8"]
    left = CliRunner().invoke(main, [*asked, "--family", "laplace"])
    assert "left out: --domain: the inputs of absorption lie outside: 1152921504606847105 is not in" in left.stderr
    named = CliRunner().invoke(main, [*asked, "--attack", "absorption"])
    assert named.exit_code == 2
    assert "--domain: the inputs of absorption lie outside" in named.stderr


def test_a_refusal_inside_of_the_domain_stays_a_violation(tmp_path: Path) -> None:
    found = rows(tmp_path, f"{__name__}:geometric", "--family", "laplace", "--alpha", "1e-6", "--domain", "-1..255")
    assert found[SEARCH]["sampled"]["verdict"] == "VIOLATED"
    assert "and 0 on" in found[SEARCH]["warnings"][0] or "refused 0 runs" in found[SEARCH]["warnings"][0]


EXACT: list[Mechanism[Any, Any, Any]] = [
    exponential_exact.BASE_E,
    gaussian_exact.EXACT,
    sparse_vector_exact.EXACT,
    partitions_exact.EXACT,
]
CLAIMS = [StatedClaim(), StatedClaim(0.5, 1e-4, 2.0, domain("int32")), StatedClaim(2.0, 1e-3, 1.0, domain("5.25.."))]


@pytest.mark.parametrize("member", EXACT, ids=lambda member: member.name)
@pytest.mark.parametrize("stated", CLAIMS, ids=str)
def test_an_exact_member_keeps_the_claim_that_it_is_searched_for(member: Any, stated: StatedClaim) -> None:
    known = family(member.family)
    parameters, pairs = known.search(stated.epsilon, stated.delta, stated.sensitivity, stated.domain or Domain())
    covered = [pair for pair in pairs if known.adjacent(parameters, pair.data_in, pair.data_out)]
    if member.family == "partitions" and stated.domain == domain("5.25.."):
        assert not covered
        return
    if isinstance(parameters, GaussianParameters) and parameters.upper > 1 << 20:  # too many outcomes for a law
        rho = gaussian_exact.claim(parameters.sigma, sensitivity=parameters.sensitivity, grid=parameters.grid)
        assert rho.delta(stated.epsilon or 1.0) <= parameters.delta
        return
    pair = covered[2]
    laws = [member.law(data, parameters) for data in (pair.data_in, pair.data_out)]
    claim = stated.claim(known, parameters, pair.data_in, pair.data_out)
    assert exact.compare(laws[0], laws[1], claim).verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", [one.name for one in FAMILIES])
def test_an_exact_member_as_a_target_is_never_accused(name: str, tmp_path: Path) -> None:
    """Whatever δ is stated; in the family gaussian σ is the attack's. False-alarm rate: the α of the report, 1e-6."""
    claim = ["--delta", "1e-6" if name == "gaussian" else "1e-3"]
    asked = ["run", "--target", f"{__name__}:HOUSE.{name}", "--family", name, "--quick", "--alpha", "1e-6", *claim]
    result = CliRunner().invoke(main, [*asked, "--fail-on-violation", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.stdout
    found = json.loads((tmp_path / "report.json").read_text())["rows"]
    judged = {row["attack"]: row["sampled"]["verdict"] for row in found}
    assert SEARCH in judged
    assert set(judged.values()) <= {"NOT REFUTED", "UNDERPOWERED"}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.9])
@pytest.mark.parametrize("kind", ["floats", "integers"])
def test_a_threshold_is_searched_where_it_promises_what_is_claimed(kind: str, epsilon: float, delta: float) -> None:
    for sensitivity in (1.0, 3.0) if kind == "integers" else (0.3, 1.0):
        parameters, _ = family("threshold").search(epsilon, delta, sensitivity, domain(kind))
        promised = threshold_family.claim(parameters, {}, {})
        assert promised.epsilon <= epsilon
        assert delta / 100 ** max(1, epsilon) < promised.delta <= delta


@pytest.mark.parametrize("known", FAMILIES, ids=lambda known: known.name)
@pytest.mark.parametrize("named", ["int32", "uint8", "floats", "-7..0", "5.25..", "..-1000000", "0.0..0.125"])
def test_nothing_is_searched_outside_of_the_domain(known: Any, named: str) -> None:
    within = domain(named)
    parameters, pairs = known.search(None, None, None, within)
    for pair in pairs:
        for data in (pair.data_in, pair.data_out):
            assert repr(within.taken(data)) == repr(data)
            if hasattr(parameters, "query"):
                assert parameters.lower <= data <= parameters.upper
    if known.name not in NOT_IN_EVERY_DOMAIN and named != "0.0..0.125":
        covered = neighbouring_inputs.among(pairs, lambda one, other: known.adjacent(parameters, one, other))
        assert covered, f"search of {known.name} has no pair in {named}: if it cannot, add it to NOT_IN_EVERY_DOMAIN"


def test_a_claim_is_the_parameters_where_none_is_stated() -> None:
    parameters, _ = family("laplace").search(None, None, None, Domain())
    assert StatedClaim().claim(family("laplace"), parameters, 0, 1) == Claim(1.0)


@pytest.mark.parametrize(
    ("given", "inside", "taken"),
    [("0..9", 3.0, 3), ("0..9", 9, 9), ("-1.5..1e3", 7, 7.0), ("floats", 2**53, 2.0**53), ("uint8", 255, 255)],
)
def test_numbers_of_a_domain_are_its_own(given: str, inside: float, taken: float) -> None:
    assert repr(domain(given).taken(inside)) == repr(taken)
    assert repr(domain(given).taken({"a": inside})) == repr({"a": taken})
    vector = domain(given).taken(np.array([inside, inside]))
    assert vector.tolist() == [taken, taken]
    assert type(vector.tolist()[0]) is type(taken)


@pytest.mark.parametrize(
    ("given", "outside"),
    [("0..9", 10), ("0..9", 0.5), ("int32", 2**31), ("int64", 2.0**63), ("floats", 2**53 + 1), ("0..", -1)],
)
def test_others_are_refused(given: str, outside: float) -> None:
    for data in (outside, {"a": outside}, np.array([1, outside])):
        with pytest.raises(ValueError, match="domain"):
            domain(given).taken(data)


@pytest.mark.parametrize("text", ["", "..", "int7", "9..0", "a..b", "1", "1e999..", "nan..1", "1.2.3..4"])
def test_a_domain_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is neither a type as in int32"):
        domain(text)
