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

from subnormal import Claim, member
from subnormal.audit import certificate_checker
from subnormal.audit.certificate_checker import NotProvedError, check, exp_up
from subnormal.audit.evidence.certificate import certificate
from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.model import DomainVerdict
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import NoLawError
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
    assert names <= {*sys.stdlib_module_names, "collections.abc"}
    assert len(CHECKER.read_text().splitlines()) <= 190


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
    "the largest ε": (lambda form: form["claim"].update(epsilon="100000"), "does not exceed"),
    "a negative δ": (lambda form: form["claim"].update(delta="-1/2"), "no claim has"),
    "a δ above 1": (lambda form: form["claim"].update(delta="2"), "no claim has"),
    "a larger probability": (lambda form: form["numerators"].__setitem__(0, form["denominator"]), "stated"),
    "a smaller probability": (lambda form: form["numerators"].__setitem__(1, "0x0"), "stated probabilities"),
    "the worlds exchanged": (
        lambda form: form.update(first=form["second"], second=form["first"], numerators=form["numerators"][::-1]),
        "does not exceed",
    ),
    "a negative bound": (lambda form: _first(form).__setitem__(0, "-0x1"), "negative"),
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
        "parameters": "None",
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


def apart(difference: Fraction) -> str:
    """Return a certificate that one outcome has 1/3 in the second world, and so much more in the first. ε = δ = 0."""
    p, q = Fraction(1, 3) + difference, Fraction(1, 3)
    unit = p.denominator * q.denominator
    first, second = ([hex(int(one * unit)), hex(int((1 - one) * unit))] for one in (p, q))
    worlds = (
        {"outcomes": {"a": [a, a], "b": [b, b]}, "denominator": hex(unit), "rest": ["0x0", "0x1"]}
        for a, b in (first, second)
    )
    form = certified({}, Fraction(1), Fraction(0), Fraction(0))
    form |= dict(zip(("first", "second"), worlds, strict=True))
    return json.dumps(form | {"numerators": [first[0], second[0]], "denominator": hex(unit)})


def result(text: str, folder: Path) -> int:
    (folder / "certificate.json").write_text(text, encoding="utf-8")
    return certificate_checker.main([str(folder / "certificate.json")])


@pytest.mark.parametrize(
    ("difference", "old", "new"),
    [  # each new number is what its text says: exactly the difference, or more, though its float is less
        ("0.3", '"delta": "0"', '"delta": 0.3'),
        ("0.299999999999999995", '"delta": "0"', '"delta": 0.299999999999999995'),
        ("1e-400", '"delta": "0"', '"delta": 1e-400'),
        ("1e-401", '"epsilon": "0"', '"epsilon": 1e-400'),
        ("1e-401", '"epsilon": "0"', '"epsilon": "1e-400"'),
        ("0.3", '"delta": "0"', '"delta": 1'),
    ],
)
def test_numbers_are_read_exactly(difference: str, old: str, new: str, tmp_path: Path) -> None:
    text = apart(Fraction(difference))
    assert text.count(old) == 1
    assert result(text, tmp_path) == 0
    assert result(text.replace(old, new), tmp_path) == 1


def test_bounds_are_printed_as_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert result(apart(Fraction(1, 3)).replace('"delta": "0"', '"delta": 0.333333'), tmp_path) == 0
    assert "P(S) ≥ 0.666666, Q(S) ≤ 0.333334, ε = 0, δ = 0.333333\n" in capsys.readouterr().out
    assert result(apart(Fraction(1, 6)), tmp_path) == 0
    assert "P(S) ≥ 0.5, Q(S) ≤ 0.333334, ε = 0, δ = 0\n" in capsys.readouterr().out


LENIENT = {  # what readers of JSON, or Python's own conversions, may take for something else: never a certificate
    "true for ε": ('"epsilon": "0"', '"epsilon": true'),
    "false for δ": ('"delta": "0"', '"delta": false'),
    "null for δ": ('"delta": "0"', '"delta": null'),
    "a list for δ": ('"delta": "0"', '"delta": ["0"]'),
    "NaN": ('"delta": "0"', '"delta": NaN'),
    "infinity": ('"delta": "0"', '"delta": -Infinity'),
    "an ε of a billion digits": ('"epsilon": "0"', '"epsilon": "1E1000000000"'),
    "a δ with a billion digits": ('"delta": "0"', '"delta": 1e-1000000000'),
    "an ε with a mantissa of 5,000 digits": ('"epsilon": "0"', f'"epsilon": {"1" * 5000}e-5001'),
    "spaces around ε": ('"epsilon": "0"', '"epsilon": " 0 "'),
    "underscores in ε": ('"epsilon": "0"', '"epsilon": "0_0"'),
    "digits of another script": ('"epsilon": "0"', '"epsilon": "\u0660"'),
    "a line break behind ε": ('"epsilon": "0"', '"epsilon": "0\\n"'),
    "ε divided by 0": ('"epsilon": "0"', '"epsilon": "0/0"'),
    "ε twice": ('"epsilon": "0"', '"epsilon": "9", "epsilon": "0"'),
    "a claim twice": ('"claim": {', '"claim": {"epsilon": "9", "delta": "0"}, "claim": {'),
    "an outcome twice": ('"outcomes": {', '"outcomes": {"a": ["0x0", "0x1"], '),
    "a world twice": ('"first": {', '"first": {}, "first": {'),
    "another key of the claim": ('"delta": "0"', '"delta": "0", "Delta": "0.9"'),
    "another key": ('"event": ["a"]', '"event": ["a"], "note": "sound"'),
    "a key less": ('"parameters": "None", ', ""),
    "a text for a list": ('"event": ["a"]', '"event": "a"'),
    "an object for a list": ('"event": ["a"]', '"event": {"a": 1}'),
    "a text for two integers": ('"rest": ["0x0", "0x1"]', '"rest": "01"'),
    "three integers for two": ('"rest": ["0x0", "0x1"]', '"rest": ["0x0", "0x1", "0x1"]'),
    "an integer as a number": ('"rest": ["0x0", "0x1"]', '"rest": ["0x0", 1]'),
    "an integer without 0x": ('"rest": ["0x0", "0x1"]', '"rest": ["0", "1"]'),
    "underscores in an integer": ('"rest": ["0x0", "0x1"]', '"rest": ["0x0_0", "0x1"]'),
    "a rest over 0": ('"rest": ["0x0", "0x1"]', '"rest": ["0x0", "0x0"]'),
    "a negative denominator": (f'"denominator": "{hex(90)}"', '"denominator": "-0x1"'),
    "a denominator of 0": (f'"denominator": "{hex(90)}"', '"denominator": "0x0"'),
    "a second line of the result": ('"by-hand"', '"by-hand\\nVIOLATED: another"'),
    "a mechanism that is no text": ('"by-hand"', '["by-hand"]'),
    "half a character": ('"by-hand"', '"\\ud800"'),
    "a byte order mark": ('{"mechanism"', '\ufeff{"mechanism"'),
    "a second certificate": ('{"mechanism"', '{} {"mechanism"'),
    "a list of certificates": ('{"mechanism"', '[{"mechanism"'),
    "lists in lists": ('"event": ["a"]', '"event": ["a", ' + "[" * 100_000 + "]" * 100_000 + "]"),
}


@pytest.mark.parametrize("what", LENIENT)
def test_what_could_be_read_in_two_ways_is_no_certificate(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = apart(Fraction(3, 10))
    assert result(text, tmp_path) == 0
    old, new = LENIENT[what]
    assert old in text
    capsys.readouterr()
    assert result(text.replace(old, new, 1), tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("no certificate: ")
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [[], ["nowhere.json"], ["a.json", "b.json"]])
def test_a_call_without_a_certificate_is_a_mistake(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert certificate_checker.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert ("No such file" if len(arguments) == 1 else "called with one file, as certificate_checker.py FILE") in line


def test_a_console_without_epsilon_changes_no_exit_code(tmp_path: Path) -> None:
    (tmp_path / "certificate.json").write_text(apart(Fraction(3, 10)))
    done = run([sys.executable, str(CHECKER), "certificate.json"], cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("VIOLATED: by-hand with 0 and 1: P(S) > e^?")


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
