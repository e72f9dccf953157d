"""Notes about outcomes and events: outcomes that are all equal or were rounded, events that read the last bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from subnormal.attacks.core.outcome_paths import leaves
from subnormal.audit.text import quoted
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

DIGITS = 15
FEW = 5  # digits, or decimals, that a user may ask for: %g and %f leave 6
ENOUGH = 16  # outcomes, or distinct floats, that say something: see `outcome_notes`
LAST_BITS = (
    "the event reads the last bits of floats: the rounding of the noise tells the inputs apart, whatever its scale; "
    "a grid (grid=1e-6, --grid) leaves them out of the comparison"
)
TRUTHS = "where the event names numbers, True is 1 and False is 0"


def outcome_notes(outcomes: Sequence[Any], *, others_differ: bool = False) -> list[str]:
    """Return what a reader of NOT REFUTED has to know of the outcomes of a few runs of both inputs, as sentences.

    others_differ: further runs had outcomes that are not all equal.

    A float fits 15 digits when its nearest decimal of 15 digits reads back as that float. Between powers of ten at most
    10^15/2^52 = 22 % of floats do, so 16 that differ all fit with a chance below 10^−10 where their last bits are
    uniform. Integers and dyadics of few bits are decimals of few digits exactly (0.375); they say nothing. Nor do
    floats that a user may have rounded on purpose, see `_are_printed`.
    """
    found, floats = [], {one for one in leaves(tuple(outcomes)).values() if isinstance(one, float) and one - one == 0}
    rounded = {one for one in floats if Decimal(f"{one:.{DIGITS}g}") != Decimal(one)}
    fit = all(float(f"{one:.{DIGITS}g}") == one for one in floats)
    if len(rounded) >= ENOUGH and fit and _are_printed(rounded):
        found.append(
            f"{_looked_at(outcomes, 'outcomes')} are decimals of at most {DIGITS} digits: if a %g or the like "
            "rounds them on their way, the last bits that would show a loss are gone; print hexadecimal floats "
            "(%a), or 17 digits"
        )
    are_one = len(outcomes) >= ENOUGH and len(set(map(identity, outcomes))) == 1
    if are_one and not others_differ and not isinstance(outcomes[0], Refused):
        runs, one = _looked_at(outcomes, "runs"), quoted(repr(outcomes[0]))
        found.append(f"{runs}, of both inputs, returned {one}: does the function read its data, and add noise?")
    return found


def _are_printed(rounded: Iterable[float]) -> bool:
    """Return whether decimals are rounded as printing does, and not as a user who asks for a few digits.

    %f leaves 6 decimals, %g 6 digits of small and of large numbers alike; round(x, 2) leaves more digits of a larger
    number, and never more than 2 decimals.

    >>> _are_printed([0.25, 12.34]), _are_printed([0.251467, 12.3457])
    (False, True)
    """
    longest = dict[int, int]()  # by the power of ten of the first digit
    for one in rounded:
        digits = Decimal(f"{one:.{DIGITS}g}").normalize()
        longest[digits.adjusted()] = max(len(digits.as_tuple().digits), longest.get(digits.adjusted(), 0))
    alike = len(longest) > 1 and len(set(longest.values())) == 1
    decimals = max(length - 1 - size for size, length in longest.items())
    return max(longest.values()) > FEW and (alike or decimals > FEW)


def _looked_at(outcomes: Sequence[Any], what: str) -> str:
    return f"all {len(outcomes):,} {what} that were looked at"


def event_notes(event: Mapping[str, Any], outcomes: Sequence[Any]) -> list[str]:
    """Return what a reader of VIOLATED has to know of the event, as JSON. outcomes: some of the same inputs.

    An event does not say which errors the runs raised: one of each type is named. One of numbers does not say that they
    are truth values.
    """
    errors = [one.error for one in outcomes if isinstance(one, Refused)]
    by_type = {error.partition(":")[0]: error for error in reversed(errors)}
    raised = " or ".join(map(quoted, sorted(by_type.values())))
    if event["kind"] == "refuses":
        return [f"the error is {raised}"] if raised else []
    of_numbers = event["kind"] == "between" or "terms" in event or "all-of" in event
    of_truths = of_numbers and any(isinstance(one, bool) for one in leaves(tuple(outcomes)).values())
    found = [*([LAST_BITS] if reads_bits(event) else []), *([TRUTHS] if of_truths else [])]
    return [*found, *([f"some of the runs raise {raised}"] if raised else [])]


def reads_bits(event: Mapping[str, Any]) -> bool:
    """Return whether an event, as JSON, looks at nothing but the last bits of numbers.

    >>> reads_bits({"kind": "off-grid", "grid": -53}), reads_bits({"kind": "between", "low": 0, "high": 1})
    (True, False)
    """
    features = [term["feature"] for term in event.get("terms", ())]
    bits = [one in ("grid", "trailing-zeros") or one.startswith("bit-") for one in features]
    return event["kind"] == "off-grid" or (len(bits) > 0 and all(bits))
