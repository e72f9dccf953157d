"""Certificates of violations, and the checker that shares no code with what writes them."""

import ast
import copy
import json
import sys
from collections.abc import Callable
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
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.families import member
from subnormal.mechanisms.numerics.mpfr import exp_bounds
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
    [(written, 0), (lambda: written().replace('"epsilon": "1"', '"epsilon": "2"'), 1), (dict, 2)],
)
def test_exit_codes(text: Callable[[], object], code: int, tmp_path: Path) -> None:
    (tmp_path / "certificate.json").write_text(str(text()))
    done = run([sys.executable, "-I", str(CHECKER), "certificate.json"], cwd=tmp_path)
    assert done.returncode == code, done.stderr


def _first(form: Any) -> Any:
    return form["first"]["outcomes"][form["event"][0]]


FORGED: dict[str, tuple[Callable[[Any], object], str]] = {
    "a larger ε": (lambda form: form["claim"].update(epsilon="1001/1000"), "does not exceed"),
    "a larger δ": (lambda form: form["claim"].update(delta="1/100"), "does not exceed"),
    "a negative ε": (lambda form: form["claim"].update(epsilon="-1"), "no claim has"),
    "another probability": (lambda form: form["numerators"].reverse(), "stated probabilities"),
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


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(382, 10), Fraction(1000)])
def test_the_bound_on_the_exponential_is_one_and_is_near(exponent: Fraction) -> None:
    low, _ = exp_bounds(exponent, 512)
    assert low <= exp_up(exponent, 256) <= low * (1 + Fraction(1, 1 << 200))


def test_no_certificate_without_a_violation_or_a_law() -> None:
    domain = domain_of("exponential", "utilities@most=2,outcomes=2")
    with pytest.raises(ValueError, match="do not show a violation"):
        certificate(member("exponential-exact"), domain.parameters, np.array([0, 1]), np.array([1, 1]))
    with pytest.raises(NoLawError, match="has no law"):
        certificate(member("noisy-max-naive-float64"), domain.parameters, np.array([0, 1]), np.array([1, 1]))
