"""Hold a library against the vectors: python runner.py FOLDER SUBJECT.py [SET …]. The standard library is enough.
attacks.py and stability.py beside this file judge two of the sets.

SUBJECT.py defines some of these dictionaries; tests of other functions are skipped, and those where it returns None.
  STREAMS: sampler -> f(parameters, take) -> outcome, where take(k) returns k random bits as an integer
  DRAWS: sampler -> f(parameters, n) -> n outcomes, by any algorithm and with random bits from anywhere
  MAPS: kind -> f(**parameters) -> number; the kinds in EXACT must not say much more than the truth either
  QUERIES: query -> f(parameters, records) -> answer; BOUNDS: query -> f(parameters, bound) -> what the library promises
  MECHANISMS: family -> f(parameters, data) -> outcome
Exit code: 1 if a test fails. By chance that happens with a probability of 10^-12 for each count of draws.
"""

import json
import math
import pathlib
import runpy
import sys

from attacks import attack
from stability import stability

TOLERANCE = 1e-4  # the share of its bound that a map may miss by rounding


def stream(f, test, _):
    bits = f"{int('1' + test['bits'], 16):b}"[1:][: test["consumed"]]
    left = iter(bits)
    outcome = f(test["parameters"], lambda k: int("0" + "".join(next(left) for _ in range(k)), 2))
    passed = outcome == test["outcome"] and next(left, None) is None
    return passed if outcome is not None else None, f"{outcome} instead of {test['outcome']}, {len([*left])} bits left"


def law(f, test, subject):
    draws = test["draws"]
    outcomes = f(test["parameters"], draws)
    for event in test["events"] if outcomes else ():
        low, high = (-math.inf if event["from"] is None else event["from"]), event["to"]
        count = sum(low <= one <= (math.inf if high is None else high) for one in outcomes)
        if not event["least"] <= count <= event["most"]:
            return False, f"{count} of {draws} from {low} to {high}, not {event['least']} to {event['most']}"
    return (True if outcomes else None), ""


def bound(f, test, subject):
    said, low, high = f(**test["parameters"]), float(test["low"]), float(test["high"])
    loose = test["function"] in subject.get("EXACT", ()) and said > high * (1 + TOLERANCE)
    passed = None if said is None or said != said else max(said, 0.0) >= low * (1 - TOLERANCE) and not loose
    return passed, f"{said}, and the truth lies between {low} and {high}"


def find(test, subject):
    """Return the judge of a test and the function that it is about; None where the subject has none."""
    name = test.get("function", test.get("family"))
    if "family" in test:
        return attack, subject.get("MECHANISMS", {}).get(name)
    if "distance" in test:
        return stability, subject.get("QUERIES", {}).get(name)
    if "asks" in test:
        return bound, subject.get("MAPS", {}).get(name)
    if test["kind"] == "stream":
        return stream, subject.get("STREAMS", {}).get(name)
    return law, subject.get("DRAWS", {}).get(name)


def judge(test, subject):
    """Return whether the subject passes, and why not; None where it does not answer."""
    one, function = find(test, subject)
    try:
        verdict, why = one(function, test, subject) if function else (None, "")
        return None if verdict is None else bool(verdict), why  # numpy has booleans of its own
    except Exception as error:  # of a stream, that it wants more bits; of a map, that it refuses the parameters
        return (None if one is bound else False), repr(error)


def main(folder, path, *sets):
    subject, failed = runpy.run_path(path), 0
    for name in sets or ("samplers", "maps", "stability", "attacks"):
        passed = {True: 0, False: 0, None: 0}
        for test in json.loads(pathlib.Path(folder, f"{name}.json").read_text("utf-8"))["tests"]:
            verdict, why = judge(test, subject)
            passed[verdict] += 1
            if verdict is False:
                print(f"FAILED {test['id']} {json.dumps(test['parameters'])[:200]}: {why[:300]}")
        failed += passed[False]
        print(f"{name}: {passed[True]} passed, {passed[False]} failed, {passed[None]} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
