"""The judges of a sampler: one outcome of given bits, and the counts of many outcomes."""

import math

from .attacks import outcome_of


def stream(f, test, _):
    bits = f"{int('1' + test['bits'], 16):b}"[1:][: test["consumed"]]
    left = iter(bits)
    outcome = f(test["parameters"], lambda k: int("0" + "".join(next(left) for _ in range(k)), 2))
    if outcome is None:
        return None, ""
    passed = outcome == test["outcome"] and next(left, None) is None
    return passed, f"{outcome} instead of {test['outcome']}, {len([*left])} bits left"


def law(f, test, _):
    draws, parameters = test["draws"], test["parameters"]
    outcomes = outcome_of(f, parameters, draws)
    if isinstance(outcomes, Exception):  # a refusal does not depend on random bits: one draw raises too
        return (None if isinstance(outcome_of(f, parameters, 1), Exception) else False), repr(outcomes)
    for event in test["events"] if outcomes is not None else ():
        low, high = (-math.inf if event["from"] is None else event["from"]), event["to"]
        count = sum(low <= one <= (math.inf if high is None else high) for one in outcomes)
        if not event["least"] <= count <= event["most"]:
            return False, f"{count} of {draws} from {low} to {high}, not {event['least']} to {event['most']}"
    return (None if outcomes is None else True), ""
