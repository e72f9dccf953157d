"""Checks a certificate of a violation: python certificate_checker.py FILE. Needs nothing but Python's own library.

A certificate holds two distributions as integers, a set of outcomes, and a claim (ε, δ). The check recomputes from
these integers alone that the set is more probable in the first world than the claim allows: P(S) > e^ε·Q(S) + δ. It
does not check that the distributions are those of the program that is named: compute them again with Subnormal.

Exit codes: 0 the violation is proved, 1 it is not, 2 the file is no certificate.

A distribution is {"outcomes": {name: [low, high]}, "denominator": D, "rest": [r, s]}: each outcome has a probability
from low/D to high/D, all others together at most r/s. Integers are hexadecimal strings, because of their length; ε and
δ are decimals or ratios, and no number passes through a float. `SHAPE` is the whole form: what departs from it, or
could be read in two ways, is no certificate.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

EPSILON_MAX = 100_000  # nats: more is no claim
PRECISIONS = (256, 1024, 4096)  # bits of an upper bound on e^ε behind the point

TEXT, INTEGER, POSITIVE = ".*", "-?0x[0-9a-f]+", "0x0*[1-9a-f][0-9a-f]*"
NUMBER = "-?[0-9]+([.][0-9]+|/0*[1-9][0-9]*)?([eE][+-]?[0-9]{1,4})?"  # a longer power of ten would fill the memory
PAIR = [INTEGER, INTEGER]
WORLD = {
    "outcomes": {...: PAIR},
    "denominator": POSITIVE,
    "rest": [INTEGER, POSITIVE],
}  # ...: any key, or any number of elements
CLAIMED = {"worlds": {"first": TEXT, "second": TEXT}, "claim": {"epsilon": NUMBER, "delta": NUMBER}}
SHAPE = {
    **CLAIMED,
    "mechanism": TEXT,
    "parameters": TEXT,
    "first": WORLD,
    "second": WORLD,
    "event": [TEXT, ...],
    "numerators": PAIR,
    "denominator": POSITIVE,
}


class NotProvedError(Exception):
    """The certificate does not show what it states."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError for two equal keys, of which a reader may take either."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has a key twice")
    return dict(pairs)


def require(form: Any, shape: Any) -> None:
    """Raise ValueError unless the form has the shape: keys and elements as it has, and texts that match its pattern."""
    if isinstance(shape, str):
        right = isinstance(form, str) and form.isprintable() and re.fullmatch(shape, form) is not None
        parts: list[Any] = []
    elif isinstance(shape, dict):
        right = isinstance(form, dict) and (... in shape or form.keys() == shape.keys())
        parts = [(part, shape.get(key, shape.get(...))) for key, part in form.items()] if right else []
    else:
        right = isinstance(form, list) and (... in shape or len(form) == len(shape))
        parts = list(zip(form, shape[:1] * len(form) if ... in shape else shape, strict=True)) if right else []
    if not right:
        raise ValueError(f"{repr(form)[:40]} where the form has {repr(shape)[:60]}")
    for part, shape_of_part in parts:
        require(part, shape_of_part)


def distribution(form: Any) -> tuple[dict[str, tuple[int, int]], int, Fraction]:
    """Return bounds by outcome, their denominator, and the bound on the rest. NotProvedError for what cannot be one."""
    bounds = {name: (int(low, 16), int(high, 16)) for name, (low, high) in form["outcomes"].items()}
    denominator, rest = int(form["denominator"], 16), Fraction(*(int(part, 16) for part in form["rest"]))
    if rest < 0 or any(not 0 <= low <= high for low, high in bounds.values()):
        raise NotProvedError("a bound is negative, or a lower bound is above its upper bound")
    least, most = (sum(pair[side] for pair in bounds.values()) for side in (0, 1))
    if least > denominator or most + rest * denominator < denominator:
        raise NotProvedError("no distribution has these bounds")
    return bounds, denominator, rest


def exp_up(exponent: Fraction, precision: int) -> Fraction:
    """Return an upper bound on e^exponent ≥ 1: Taylor's sum for a small part of the exponent, squared again and again.

    For x ≤ 1/2 the terms from x^n/n! on are at most twice the first of them. Every number is rounded up.
    """
    halvings = max(0, (2 * exponent).__ceil__().bit_length())
    part, one = exponent / 2**halvings, 1 << precision
    total, term, n = Fraction(0), Fraction(1), 0
    while term * one > 1:
        total, n = total + term, n + 1
        term = Fraction(-((-term * part / n * one * one) // 1), one * one)
    bound = total + 2 * term
    for _ in range(halvings):
        bound = Fraction(-(-(bound * bound) * one // 1), one)
    return bound


def rounded(value: Fraction, rounding: str) -> str:
    """Return six digits, rounded up or down, so that a bound stays one."""
    return str(Context(prec=6, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator)))


def check(form: Any) -> str:
    """Return what the certificate proves. NotProvedError where it proves nothing, ValueError where it is none."""
    require(form, SHAPE)
    (own, own_unit, _), (other, other_unit, rest) = (distribution(form[world]) for world in ("first", "second"))
    event = form["event"]
    if len(set(event)) != len(event) or not set(event) <= {*own, *other}:
        raise NotProvedError("the event names an outcome twice, or one that neither world has")
    # At least: the lower bounds. At most: the upper bounds and the rest, or the lower bounds and all mass they leave.
    least = sum(own.get(name, (0, 0))[0] for name in event)
    listed = [other.get(name, (0, 0)) for name in event]
    left = other_unit - sum(low for low, _ in other.values())
    most = min(sum(high for _, high in listed) + rest * other_unit, Fraction(sum(low for low, _ in listed) + left))
    p, q = Fraction(least, own_unit), most / other_unit
    stated = [Fraction(int(one, 16), int(form["denominator"], 16)) for one in form["numerators"]]
    if stated != [p, q]:
        raise NotProvedError("the stated probabilities are not those of the distributions")
    return violation(form, form["mechanism"], p, q)


def claimed(form: Any) -> tuple[Fraction, Fraction]:
    """Return ε and δ. NotProvedError where no claim has them."""
    epsilon, delta = (Fraction(form["claim"][name]) for name in ("epsilon", "delta"))
    if not 0 <= epsilon <= EPSILON_MAX or not 0 <= delta <= 1:
        raise NotProvedError("no claim has this ε or δ")
    return epsilon, delta


def violation(form: Any, subject: str, p: Fraction, q: Fraction) -> str:
    """Return in words that p > e^ε·q + δ for the claim of a certificate. NotProvedError where it is not so."""
    epsilon, delta = claimed(form)
    if not any(p > exp_up(epsilon, precision) * q + delta for precision in PRECISIONS):
        raise NotProvedError("P(S) does not exceed e^ε·Q(S) + δ")
    bounds = f"P(S) ≥ {rounded(p, ROUND_FLOOR)}, Q(S) ≤ {rounded(q, ROUND_CEILING)}"
    return f"VIOLATED: {in_words(form, subject)}: P(S) > e^ε·Q(S) + δ with {bounds}, {claim_in_words(form)}"


def in_words(form: Any, subject: str) -> str:
    """Return what a certificate is of, and its worlds."""
    return f"{subject} with {form['worlds']['first']} and {form['worlds']['second']}"


def claim_in_words(form: Any) -> str:
    """Return the claim of a certificate."""
    return ", ".join(f"{name} = {form['claim'][key]}" for name, key in (("ε", "epsilon"), ("δ", "delta")))


def main(arguments: list[str]) -> int:
    """Check the file that is named, print the result, and return the exit code."""
    return result(arguments, 1, "one file, as certificate_checker.py FILE", lambda file: check(read(file)))


def read(file: str) -> Any:
    """Return the JSON of a file, with numbers as their texts. Raises ValueError or OSError where it has none."""
    with open(file, encoding="utf-8") as opened:
        return json.load(opened, object_pairs_hook=unique, parse_float=str, parse_int=str, parse_constant=str)


def result(arguments: list[str], count: int, usage: str, checked: Callable[..., str]) -> int:
    """Print what a check of so many arguments returns, or why nothing is proved, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a console without ε must not change the exit code
    try:
        if len(arguments) != count:
            raise ValueError(f"it is called with {usage}")
        print(checked(*arguments))
    except NotProvedError as error:
        print(f"not proved: {error}")
        return 1
    except (OSError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        print(f"no certificate: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
