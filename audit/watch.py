"""What the outcomes of a target give away about the way they came: digits lost, nothing but refusals or one answer."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from mechanisms.interface import Refused

DIGITS = 15
ENOUGH = 16  # distinct floats: see Watch


class Watch:
    """Sees the outcomes of one row.

    A float fits 15 digits when its nearest decimal of 15 digits reads back as that float. Between powers of ten at most
    10^15/2^52 = 22 % of floats do, so 16 that differ all fit with a chance below 10^−10 where their last bits are
    uniform. Integers and dyadics of few bits are decimals of few digits exactly (0.375); they say nothing.
    """

    def __init__(self) -> None:
        self._short: set[float] = set()  # floats that fit 15 digits and are not those decimals
        self._whole = False  # whether a float has shown more digits
        self._seen = 0
        self._answered = False  # whether any outcome was not a refusal
        self._refusal = ""
        self._first: Any = None  # the first answer, and whether another came
        self._varies = False

    def see(self, outcomes: Iterable[Any]) -> None:
        """Take note of these outcomes."""
        for outcome in outcomes:
            self._seen += 1
            if isinstance(outcome, Refused):
                self._refusal = outcome.error
                continue
            if not self._answered:
                self._first = outcome
            self._answered = True
            if not self._varies:  # an index or a list may well be always the same, a number with noise not
                self._varies = not isinstance(outcome, float) or outcome != self._first
            if not self._whole:
                for part in outcome if isinstance(outcome, tuple) else (outcome,):
                    self._measure(part[1] if isinstance(part, tuple) else part)  # an item of a mapping

    def _measure(self, number: int | float) -> None:
        if isinstance(number, int):
            return
        decimal = f"{number:.{DIGITS}g}"
        self._whole |= float(decimal) != number
        if len(self._short) < ENOUGH and Decimal(decimal) != Decimal(number):
            self._short.add(number)

    def warnings(self) -> tuple[str, ...]:
        """Return what a reader of the row has to know."""
        found = []
        if len(self._short) >= ENOUGH and not self._whole:
            found.append(
                f"all outcomes are decimals of at most {DIGITS} digits: if a %g or the like rounds them on their way, "
                "the last bits that would show a loss are gone; print hexadecimal floats (%a), or 17 digits"
            )
        if self._seen and not self._answered:
            found.append(f"every run of both worlds was refused, the last with {self._refusal!r}")
        if self._answered and not self._varies and not self._refusal and self._seen >= ENOUGH:
            found.append(
                f"every run of both worlds gave {float(self._first)!r}: does it read its data, and add noise? "
                "docs/protocol.md says in what form data come"
            )
        return tuple(found)
