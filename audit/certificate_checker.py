"""Checks a certificate of a violation: python certificate_checker.py FILE. Needs nothing but Python's own library.

A certificate holds two distributions as integers, a set of outcomes, and a claim (ε, δ). The check recomputes from
these integers alone that the set is more probable in the first world than the claim allows: P(S) > e^ε·Q(S) + δ. It
does not check that the distributions are those of the program that is named: compute them again with Subnormal.

Exit codes: 0 the violation is proved, 1 it is not, 2 the file is no certificate.

A distribution is {"outcomes": {name: [low, high]}, "denominator": D, "rest": [r, s]}: each outcome has a probability
from low/D to high/D, all others together at most r/s. Integers are hexadecimal strings, because of their length.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any

EPSILON_MAX = 100_000  # nats: more is no claim
DIGITS_MAX = 4  # of a power of ten, which would fill the memory
PRECISIONS = (256, 1024, 4096)  # bits of an upper bound on e^ε behind the point


class NotProvedError(Exception):
    """The certificate does not show a violation."""


def distribution(form: Any) -> tuple[dict[str, tuple[int, int]], int, Fraction]:
    """Return bounds by outcome, their denominator, and the bound on the rest. NotProvedError for what cannot be one."""
    bounds = {name: (int(low, 16), int(high, 16)) for name, (low, high) in form["outcomes"].items()}
    denominator, rest = int(form["denominator"], 16), Fraction(*(int(part, 16) for part in form["rest"]))
    if denominator <= 0 or rest < 0 or any(not 0 <= low <= high for low, high in bounds.values()):
        raise NotProvedError("a bound is negative, or a lower bound is above its upper bound")
    least, most = (sum(pair[side] for pair in bounds.values()) for side in (0, 1))
    if least > denominator or most + rest * denominator < denominator:
        raise NotProvedError("no distribution has these bounds")
    return bounds, denominator, rest


def number(form: Any) -> Fraction:
    """Return ε or δ. Raises NotProvedError for a power of ten that no claim has."""
    if isinstance(form, str) and any(len(power) > DIGITS_MAX + 1 for power in form.lower().split("e")[1:]):
        raise NotProvedError("no claim has this ε or δ")
    return Fraction(form)


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


def check(form: Any) -> str:
    """Return what the certificate proves. Raises NotProvedError where it proves nothing."""
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
    epsilon, delta = (number(form["claim"][name]) for name in ("epsilon", "delta"))
    if not 0 <= epsilon <= EPSILON_MAX or not 0 <= delta <= 1:
        raise NotProvedError("no claim has this ε or δ")
    if not any(p > exp_up(epsilon, precision) * q + delta for precision in PRECISIONS):
        raise NotProvedError("P(S) does not exceed e^ε·Q(S) + δ")
    worlds = f"{form['worlds']['first']} and {form['worlds']['second']}"
    numbers = f"P(S) ≥ {float(p):.6g}, Q(S) ≤ {float(q):.6g}, ε = {float(epsilon):.6g}, δ = {float(delta):.6g}"
    return f"VIOLATED: {form['mechanism']} with {worlds}: P(S) > e^ε·Q(S) + δ with {numbers}"


def main(arguments: list[str]) -> int:
    """Check the file that is named, print the result, and return the exit code."""
    try:
        (name,) = arguments
        with open(name, encoding="utf-8") as file:
            print(check(json.load(file)))
    except NotProvedError as error:
        print(f"not proved: {error}")
        return 1
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        print(f"no certificate: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
