"""The judge of a query: how far apart the answers to two neighbouring datasets are, against what is promised."""

import math
from fractions import Fraction

from .attacks import outcome_of


def stability(f, test, subject):
    name, answers = test["function"], []
    parameters = {key: number(value) for key, value in test["parameters"].items()}
    for runs in (test["in"], test["out"]):
        answers.append(outcome_of(f, parameters, [number(x, name) for n, x in runs for _ in range(n)]))
    if None in answers or all(isinstance(answer, Exception) for answer in answers):
        return None, "" if None in answers else repr(answers[0])
    bounds, promised = subject.get("BOUNDS", {}), number(test["bound"])
    promised = bounds[name](parameters, promised) if name in bounds else promised
    raised = any(isinstance(answer, Exception) for answer in answers)
    return not raised and distance(test["distance"], *answers) <= promised, f"{answers}: the bound is {promised}"


def number(value, query=""):
    """Return a record: the integers beyond 2^53, the infinities and NaN are texts. Some queries take texts."""
    if not isinstance(value, str) or "of-numbers" in query:
        return value
    return int(value) if value.lstrip("-").isdigit() else float(value)


def distance(kind, one, other):
    if kind == "multiset":
        return sum(abs(one.count(x) - other.count(x)) for x in {*one, *other})
    one, other = ([*answer] if hasattr(answer, "__iter__") else [answer] for answer in (one, other))
    if len(one) != len(other):
        return math.inf
    parts = list(map(apart, one, other))
    return math.hypot(*parts) if kind == "l2" else max(parts) if kind == "linf" else sum(parts)


def apart(a, b):
    if math.isfinite(a) and math.isfinite(b):
        return abs(Fraction(a) - Fraction(b))
    return 0 if a == b or (a != a and b != b) else math.inf
