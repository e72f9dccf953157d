"""The judge of an attack: how often the event happens with Alice and without her, against what the claim allows."""

import math

LOOKS = (1_000, 10_000, 100_000)  # runs in each world, after which the counts are judged
ALPHA = 1e-12  # the chance that a mechanism that keeps its claim fails an attack, at most


def attack(mechanism, test, _):
    """Return whether the mechanism keeps its claim, as far as its runs tell; None where it does not answer."""
    parameters, event, claim = (decoded(test[name]) for name in ("parameters", "event", "claim"))
    worlds = [records(test[name]) for name in ("data_in", "data_out")]
    hits, done, why, answers = [0, 0], 0, "", False
    for runs in LOOKS:
        for place, data in enumerate(worlds):
            outcomes = (outcome_of(mechanism, parameters, data) for _ in range(runs - done))
            for outcome in outcomes:
                if outcome is None:
                    return None, ""
                hits[place] += happens(event, outcome)
                answers |= not isinstance(outcome, Exception)
        if not answers:
            return None, repr(outcome)
        done, why = runs, f"the event happens in {hits[0]} and in {hits[1]} of {runs} runs, against {claim}"
        opposite = [runs - count for count in hits]
        pairs = (hits, hits[::-1], opposite, opposite[::-1])
        if any(end(p, runs, 0.0) > math.exp(claim["epsilon"]) * end(q, runs, 1.0) + claim["delta"] for p, q in pairs):
            return False, why
    return True, why


def outcome_of(function, *values, **named):
    """Return what a function of the subject returns, or the exception that it raises."""
    try:
        return function(*values, **named)
    except Exception as error:
        return error


def end(count, runs, outside):
    """Return an end of the interval of a probability, by Chernoff's bound: below the share or, from 1.0, above it.

    Each of four ends has a quarter of ALPHA, and each look a third of that.
    """
    share = inside = count / runs
    for _ in range(60):
        middle = (inside + outside) / 2
        if runs * divergence(share, middle) >= math.log(4 * len(LOOKS) / ALPHA):
            outside = middle
        else:
            inside = middle
    return outside


def divergence(share, probability):
    """Return the relative entropy of two coins, in nats."""
    terms = ((share, probability), (1 - share, 1 - probability))
    return sum(a * math.log(a / b) if b else math.inf for a, b in terms if a)


def happens(event, outcome):
    """Return whether an outcome is in the event. An exception is an outcome, and in none but `refuses`."""
    kind, outcome = event["kind"], [*outcome] if isinstance(outcome, tuple) else outcome
    if kind == "refuses" or isinstance(outcome, Exception):
        return kind == "refuses" and isinstance(outcome, Exception)
    if kind == "releases":
        return event["key"] in outcome
    if kind == "largest":
        return max(outcome) >= event["low"]
    if kind == "one-of":
        return any(one == outcome or (one != one and outcome != outcome) for one in event["outcomes"])
    if kind == "off-grid":
        return math.isfinite(outcome) and math.fmod(outcome, 2.0 ** event["grid"]) != 0
    return event["low"] <= outcome <= event["high"]


def decoded(value):
    """Return what a vector holds: floats have two notations, and large integers, infinities and NaN are texts."""
    if isinstance(value, dict):
        return value["decimal"] if "hex" in value else {name: decoded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [decoded(part) for part in value]
    if isinstance(value, str) and (value.lstrip("-").isdigit() or value in ("inf", "-inf", "nan")):
        return int(value) if value[-1].isdigit() else float(value)
    return value


def records(data):
    """Return one world: a mapping, a number, or a list; a matrix is a list of rows."""
    if "items" in data:
        return dict(decoded(data["items"]))
    if "runs" not in data:
        return decoded(data["value"])
    flat = [decoded(value) for count, value in data["runs"] for _ in range(count)]
    width = data.get("shape", [0, 0])[1]
    return [flat[start : start + width] for start in range(0, len(flat), width)] if width else flat
