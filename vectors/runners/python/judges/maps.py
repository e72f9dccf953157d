"""The judge of a map: the number that is promised, against certified bounds on the truth."""

from .attacks import outcome_of

TOLERANCE = 1e-4  # the share of its bound that a map may miss by rounding


def bound(f, test, subject):
    said, low, high = outcome_of(f, **test["parameters"]), float(test["low"]), float(test["high"])
    if isinstance(said, Exception):
        return None, repr(said)
    if said is None or said != said:
        return None, ""
    loose = test["function"] in subject.get("EXACT", ()) and said > high * (1 + TOLERANCE)
    return max(said, 0.0) >= low * (1 - TOLERANCE) and not loose, f"{said}, and the truth lies between {low} and {high}"
