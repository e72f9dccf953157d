"""Describes events in words, from their JSON objects.

A row and a saved report hold an event only as JSON, so the description is a function of the JSON. The words of a new
kind of event go here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from subnormal.attacks.core.outcome_features import BEYOND, Kind

HEAVIEST = 3  # terms of a long sum that are named
KINDS = {
    Kind.NUMBER: "a number",
    Kind.NAN: "NaN",
    Kind.PLUS_INFINITY: "∞",
    Kind.MINUS_INFINITY: "−∞",
    Kind.REFUSED: "a refusal",
    Kind.OTHER: "something that is no number",
    Kind.MISSING: "missing",
}
FEATURES = {
    "kind": "the kind of {}",
    "value": "{}",
    "length": "the length of {}",
    "others": "the number of parts without a number of {}",
    "least": "the smallest number of {}",
    "largest": "the largest number of {}",
    "sum": "the sum of the numbers of {}",
    "norm": "the Euclidean norm of {}",
    "repeats": "the number of numbers of {} that equal the one before",
    "sign": "the sign bit of {}",
    "exponent": "the exponent of {}",
    "grid": "the exponent of the last bit of {}",
    "trailing-zeros": "the number of zero bits at the end of {}",
}


def in_words(described: Mapping[str, Any] | None, number: str = "outcome") -> str:
    """Return an event in words, from its `to_json`. number: the noun for the compared number of an outcome.

    >>> in_words({"kind": "between", "low": 3, "high": "inf"})
    'the outcome is at least 3'
    >>> in_words({"kind": "between", "low": 1.0, "high": 1.0})
    'the outcome is 1'
    """
    if not described:
        return "none is named: it is learned, on runs that judge nothing"
    match described["kind"]:
        case "one-of":
            return f"the outcome is {_one_of(map(str, described['outcomes']))}"
        case "refuses":
            return "the mechanism refuses: it raises an error instead of answering"
        case "releases":
            return f"the key {described['key']!r} is released, with whatever value"
        case "between":
            low, high = (
                _whole(one) if isinstance(one, float) else one for one in (described["low"], described["high"])
            )
            return f"the {number} is {_range(low, high)}"
        case "largest":
            return f"the largest number of the outcome is {_range(described['low'], math.inf)}"
        case "off-grid":
            return f"the outcome is no multiple of {_power(described['grid'])}"
        case "counted":
            return f"the outcome lies exactly (count − 1)·{described['step']:g} from {described['value']:g}"
        case "part" if described["place"] == 1 and described["event"]["kind"] == "between":
            return f"the count is {_range(described['event']['low'], described['event']['high'])}"
        case "part":
            return f"of the outcome's part {described['place']}: {in_words(described['event'])}"
        case "reachable":
            return (
                f"noise in {described['float_type']} on {described['value']:g}, of scale {described['scale']:g}, can "
                "reach the outcome from some uniform"
            )
        case "unreachable-by-box-muller":
            return f"Box–Muller noise in float64 cannot reach the outcome from {tuple(described['data'])}"
        case "unreachable":
            return f"{described['mechanism']} cannot release the outcome for {described['data']}"
        case "predicate":
            return f"{described['name']} is true of the outcome"
        case "learned" if "paths" in described:
            return f"learned on other runs: {_subjects(described['paths'])} {_one_of(described['one-of'])}"
        case "learned" if "one-of" in described:
            return f"learned on other runs: the outcome is one of {described['one-of']:,}"
        case "learned" if "all-of" in described:
            return f"learned on other runs: {' and '.join(map(_learned, described['all-of']))}"
        case "learned":
            return f"learned on other runs: {_learned(described)}"
    return ", ".join(f"{name}: {value}" for name, value in described.items())


def _one_of(outcomes: Iterable[Any] | int) -> str:
    """Return outcomes as a choice; of many, only how many they are is known."""
    if isinstance(outcomes, int):
        return f"one of {outcomes:,}"
    named = list(map(_value, outcomes))
    return f"{'one of ' if len(named) > 1 else ''}{', '.join(named)}"


def _value(one: Any) -> str:
    if isinstance(one, list):
        return f"({', '.join(repr(part) if isinstance(part, str) else _value(part) for part in one)})"
    if isinstance(one, dict):
        return "missing"
    return str(_whole(one) if isinstance(one, float) else one)


def _learned(described: Mapping[str, Any]) -> str:
    terms, low, high = described["terms"], float(described["low"]), float(described["high"])
    plain = (
        len(terms) == 1 and terms[0]["weight"] == 1 and list(map(float, terms[0]["within"])) == [-math.inf, math.inf]
    )
    if plain:
        return _one_feature(terms[0]["feature"], _subject(terms[0]["path"]), low, high)
    return f"{_sum(terms)} is {_range(low, high)}"


def _subjects(paths: Sequence[Sequence[int | str | Sequence[str]]]) -> str:
    """Return parts of an outcome as the subject of a sentence, and its verb."""
    named = list(map(_subject, paths))
    return f"{named[0]} is" if len(named) == 1 else f"({', '.join(named)}) is"


def _subject(path: Sequence[int | str | Sequence[str]]) -> str:
    """Return the part of an outcome that a path names, the innermost first."""
    return " of ".join([*map(_step, reversed(path)), "the outcome"])


def _step(step: int | str | Sequence[str]) -> str:
    if isinstance(step, int):
        return f"part {step}"
    return f"the value for {step!r}" if isinstance(step, str) else f"the {step[0]}"


def _one_feature(feature: str, subject: str, low: float, high: float) -> str:
    """Return in words that a feature lies between two bounds. Every feature but the value is a whole number."""
    among = [one for one in (0, 1) if low <= one <= high]
    match feature:
        case "kind":
            return f"{subject} is {' or '.join(name for kind, name in KINDS.items() if low <= kind <= high)}"
        case "sign" if len(among) == 1:
            return f"the sign bit of {subject} is {'set' if among == [1] else 'not set'}"
        case "exponent":
            return f"the size of {subject} is {_sizes(low, high)}"
        case "grid" if high >= BEYOND and -BEYOND < low < BEYOND:
            return f"{subject} is a multiple of {_power(math.ceil(low))}"
        case "grid" if low < BEYOND and high < BEYOND:
            return f"the last bit of {subject} is {_range(_bound(low), _bound(high))}"
        case "trailing-zeros" if low < BEYOND:
            return f"{subject}, written with all its bits, ends in {_range(*map(_whole, (low, high)))} zero bits"
        case "grid" | "trailing-zeros" if low >= BEYOND:
            return f"{subject} is 0"
        case _ if feature.startswith("bit-") and len(among) == 1:
            place = int(feature.removeprefix("bit-"))
            which = "the last bit" if place == 0 else f"bit {place}, counted from the last,"
            return f"{which} of {subject}, written with all its bits, is {among[0]}"
    return f"{_feature(feature, subject)} is {_range(*map(_whole, (low, high)))}"


def _sizes(low: float, high: float) -> str:
    """Return in words the sizes |x| of a range of exponents. Numbers from 2^e to below 2^(e+1) have the exponent e."""
    if high <= -BEYOND:
        return "0"
    above = "" if low <= -BEYOND else f"at least {_power(math.ceil(low))}"
    below = "" if high >= BEYOND else f"below {_power(math.floor(high) + 1)}"
    return " and ".join(filter(None, (above, below))) or "finite"


def _feature(feature: str, subject: str) -> str:
    if feature.startswith("bit-"):
        return f"bit {feature.removeprefix('bit-')} of {subject}"
    return FEATURES[feature].format(subject)


def _sum(terms: Sequence[Mapping[str, Any]]) -> str:
    """Return a weighted sum in words; for a long one, only the terms with the largest range."""

    def reach(term: Mapping[str, Any]) -> float:
        low, high = map(float, term["within"])
        return abs(float(term["weight"])) * (high - low)

    shown = sorted(terms, key=reach, reverse=True)[:HEAVIEST] if len(terms) > HEAVIEST else terms
    parts = [
        ("" if term["weight"] == 1 else f"{term['weight']:.3g}·")
        + f"({_feature(term['feature'], _subject(term['path']))})"
        for term in shown
    ]
    text = " + ".join(parts)
    return text if len(shown) == len(terms) else f"a weighted sum of {len(terms)} features, above all {text},"


def _range(low: Any, high: Any) -> str:
    below, above = high in ("inf", math.inf), low in ("-inf", -math.inf)
    if low == high:
        return f"{low}"
    if below and above:
        return "any number"
    return f"at least {low}" if below else f"at most {high}" if above else f"from {low} to {high}"


def _bound(exponent: float) -> Any:
    return exponent if math.isinf(exponent) else _power(round(exponent))


def _whole(number: float) -> Any:
    return int(number) if number.is_integer() else number


def _power(exponent: int) -> str:
    return f"2^{exponent}".replace("-", "−")
