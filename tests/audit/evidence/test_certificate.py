"""Certificates of violations, and the checker that shares no code with what writes them."""

import ast
import copy
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subnormal.audit import certificate_checker
from subnormal.audit.certificate_checker import NotProvedError, check, exp_up
from subnormal.audit.evidence.certificate import certificate
from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.model import DomainVerdict
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.families import member
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Claim
from tests.support.processes import run

CHECKER = Path(certificate_checker.__file__)
BROKEN = {
    "exponential-naive-float16": "utilities@most=20,outcomes=2,epsilon=2",
    "partitions-naive-float16": "frequencies@most=4,rows=2,sensitivity=1,epsilon=8",
    "randomized-response-naive-float16": "categories@categories=5",  # a finite loss
    "threshold-naive-open-tail": "mappings@most=2,keys=2,scale=1,threshold=3,limit=5,apart=1",  # a δ, and enclosures
}


@cache
def written(name: str = "randomized-response-naive-float16") -> str:
    mechanism = member(name)
    domain = domain_of(mechanism.family, BROKEN[name])
    evidence = decide(mechanism, domain)
    assert evidence.verdict is DomainVerdict.VIOLATED
    assert evidence.pair is not None
    return json.dumps(certificate(mechanism, domain.parameters, *evidence.pair))


@pytest.mark.parametrize("name", BROKEN)
def test_a_violation_has_a_certificate_that_the_checker_accepts(name: str) -> None:
    assert check(json.loads(written(name))).startswith(f"VIOLATED: {name} with ")


def test_the_checker_imports_nothing_of_ours_and_is_short() -> None:
    tree = ast.parse(CHECKER.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= {*sys.stdlib_module_names, "__future__"}
    assert len(CHECKER.read_text().splitlines()) <= 110


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (written, 0),
        (lambda: written().replace('"epsilon": "1"', '"epsilon": "2"'), 1),
        (dict, 2),
        (lambda: written().replace('"epsilon": "1"', '"epsilon": Infinity'), 2),
        (lambda: written().replace('"epsilon": "1"', '"epsilon": NaN'), 2),
        (lambda: "[" * 100_000, 2),
    ],
)
def test_exit_codes(text: Callable[[], object], code: int, tmp_path: Path) -> None:
    (tmp_path / "certificate.json").write_text(str(text()))
    done = run([sys.executable, "-I", str(CHECKER), "certificate.json"], cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert len(f"{done.stdout}{done.stderr}".splitlines()) == 1


def _first(form: Any) -> Any:
    return form["first"]["outcomes"][form["event"][0]]


FORGED: dict[str, tuple[Callable[[Any], object], str]] = {
    "a larger ε": (lambda form: form["claim"].update(epsilon="1001/1000"), "does not exceed"),
    "a larger δ": (lambda form: form["claim"].update(delta="1/100"), "does not exceed"),
    "a negative ε": (lambda form: form["claim"].update(epsilon="-1"), "no claim has"),
    "an ε that no claim has": (lambda form: form["claim"].update(epsilon="1e7"), "no claim has"),
    "an ε beyond floats": (lambda form: form["claim"].update(epsilon="1e400"), "no claim has"),
    "an ε of a billion digits": (lambda form: form["claim"].update(epsilon="1E1000000000"), "no claim has"),
    "the largest ε": (lambda form: form["claim"].update(epsilon="100000"), "does not exceed"),
    "a negative δ": (lambda form: form["claim"].update(delta="-1/2"), "no claim has"),
    "a δ with a billion digits": (lambda form: form["claim"].update(delta="1e-1000000000"), "no claim has"),
    "a δ above 1": (lambda form: form["claim"].update(delta="2"), "no claim has"),
    "a larger probability": (lambda form: form["numerators"].__setitem__(0, form["denominator"]), "stated"),
    "a smaller probability": (lambda form: form["numerators"].__setitem__(1, "0x0"), "stated probabilities"),
    "the worlds exchanged": (
        lambda form: form.update(first=form["second"], second=form["first"], numerators=form["numerators"][::-1]),
        "does not exceed",
    ),
    "a negative bound": (lambda form: _first(form).__setitem__(0, "-0x1"), "negative"),
    "a negative denominator": (lambda form: form["first"].update(denominator="-0x1"), "negative"),
    "an outcome twice": (lambda form: form["event"].append(form["event"][0]), "twice"),
    "an unknown outcome": (lambda form: form["event"].append("'nothing'"), "neither world"),
    "a lower bound above the upper one": (lambda form: _first(form).__setitem__(1, "0x0"), "above its upper bound"),
    "more than a whole": (lambda form: _first(form).__setitem__(slice(None), ["0xffff", "0xffff"]), "no distribution"),
    "less than a whole": (lambda form: form["second"].update(denominator="0xfffff"), "no distribution"),
    "a negative rest": (lambda form: form["second"].update(rest=["-0x1", "0x1"]), "negative"),
    "mass that may lie anywhere": (
        lambda form: form["second"].update(
            outcomes={name: ["0x0", high] for name, (_, high) in form["second"]["outcomes"].items()},
            rest=["0x1", "0x1"],
        ),
        "stated probabilities",
    ),
    "no event": (lambda form: form.update(event=[], numerators=["0x0", "0x0"]), "does not exceed"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forgeries_are_refused(forgery: str) -> None:
    form = json.loads(written())
    check(copy.deepcopy(form))
    forge, message = FORGED[forgery]
    forge(form)
    with pytest.raises(NotProvedError, match=message):
        check(form)


def certified(
    second: dict[str, list[int]], rest: Fraction, p: Fraction, q: Fraction, claim: tuple[str, str] = ("0", "0")
) -> Any:
    """Return a certificate about outcome "a", which has half of the first world's mass; the second's is in tenths."""

    def world(outcomes: dict[str, list[int]], denominator: int, rest: Fraction) -> Any:
        return {
            "outcomes": {name: list(map(hex, bounds)) for name, bounds in outcomes.items()},
            "denominator": hex(denominator),
            "rest": list(map(hex, rest.as_integer_ratio())),
        }

    return {
        "mechanism": "by-hand",
        "worlds": {"first": "0", "second": "1"},
        "claim": {"epsilon": claim[0], "delta": claim[1]},
        "first": world({"a": [3, 5], "b": [1, 1]}, 6, Fraction(1, 6)),
        "second": world(second, 10, rest),
        "event": ["a"],
        "numerators": [hex(int(one * 60)) for one in (p, q)],
        "denominator": hex(60),
    }


@pytest.mark.parametrize(
    ("second", "rest", "q"),
    [
        ({"a": [1, 3], "b": [0, 9]}, Fraction(1, 10), Fraction(4, 10)),  # the upper bound, and the rest
        ({"a": [1, 3], "b": [1, 5]}, Fraction(2, 10), Fraction(5, 10)),  # no distribution without the rest
        ({"a": [2, 9], "b": [7, 8]}, Fraction(1), Fraction(3, 10)),  # the lower bound, and what all of them leave
        ({"b": [7, 8]}, Fraction(1), Fraction(3, 10)),
    ],
)
def test_what_an_event_has_at_most_by_hand(second: dict[str, list[int]], rest: Fraction, q: Fraction) -> None:
    p = Fraction(1, 2)
    if q < p:
        assert check(certified(second, rest, p, q)).startswith("VIOLATED: by-hand")
        assert check(certified(second, rest, p, q, ("0", str(p - q - Fraction(1, 10**9))))).startswith("VIOLATED")
    for claim in (("0", str(p - q)), ("1", "0")):  # the first is attained
        with pytest.raises(NotProvedError, match="does not exceed"):
            check(certified(second, rest, p, q, claim))
    for other in ((p + Fraction(1, 60), q), (p, q - Fraction(1, 60)), (p, q + Fraction(1, 60))):
        with pytest.raises(NotProvedError, match="stated"):
            check(certified(second, rest, *other))


def test_a_violation_by_2_to_the_minus_300_is_shown_with_more_bits() -> None:
    p, q = Fraction(1, 2), Fraction(3, 10)
    _, most = exp_bounds(Fraction(1, 4), 400)
    for excess, is_shown in ((Fraction(1, 1 << 300), True), (Fraction(0), True), (-Fraction(1, 1 << 300), False)):
        form = certified({"b": [7, 8]}, Fraction(1), p, q, ("1/4", str(p - most * q - excess)))
        if is_shown:
            assert check(form)
        else:
            with pytest.raises(NotProvedError, match="does not exceed"):
                check(form)


def test_the_bound_on_the_exponential_is_one_at_any_precision() -> None:
    for precision in range(1, 12):
        for part in range(1, 80):
            low, _ = exp_bounds(Fraction(part, 16), 128)
            assert low <= exp_up(Fraction(part, 16), precision)


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(382, 10), Fraction(1000)])
def test_the_bound_on_the_exponential_is_one_and_is_near(exponent: Fraction) -> None:
    low, _ = exp_bounds(exponent, 512)
    assert low <= exp_up(exponent, 256) <= low * (1 + Fraction(1, 1 << 236))


OPEN = {  # bounds in tenths on what two outcomes have in the second world, and on the rest
    "by the lower bounds": ([2, 7], [9, 8], Fraction(1)),
    "by the upper bounds": ([0, 0], [3, 10], Fraction(0)),
}


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("delta", [0.0, 0.1, 0.2])
def test_an_event_is_found_by_either_bound(name: str, delta: float) -> None:
    low, high, rest = OPEN[name]

    def law(data: Any, parameters: Any) -> Law[Any]:
        return Law(range(2), [1, 2], low, high, 10, rest) if data else exact_law(range(2), [1, 2], [1, 1], 2)

    mechanism = replace(member("exponential-exact"), law=law, claim=lambda *of: Claim(0.0, delta))
    if delta < 0.2:  # outcome 0 has 0.5 and at most 0.3
        assert check(certificate(mechanism, None, 0, 1)).startswith("VIOLATED: exponential-exact with 0 and 1")
        if not rest:  # the only proof, whichever world comes first
            assert check(certificate(mechanism, None, 1, 0)).startswith("VIOLATED: exponential-exact with 0 and 1")
    else:
        with pytest.raises(ValueError, match="do not show a violation"):
            certificate(mechanism, None, 0, 1)


def test_no_certificate_without_a_violation_or_a_law() -> None:
    domain = domain_of("exponential", "utilities@most=2,outcomes=2")
    with pytest.raises(ValueError, match="do not show a violation"):
        certificate(member("exponential-exact"), domain.parameters, np.array([0, 1]), np.array([1, 1]))
    long = replace(
        member("exponential-exact"), law=lambda data, parameters: exact_law(range(65537), [65537], [1], 65537)
    )
    with pytest.raises(NoLawError, match="a law of 65537 outcomes is too long for a certificate"):
        certificate(long, domain.parameters, np.array([0, 1]), np.array([1, 1]))
    with pytest.raises(NoLawError, match="has no law"):
        certificate(member("noisy-max-naive-float64"), domain.parameters, np.array([0, 1]), np.array([1, 1]))
