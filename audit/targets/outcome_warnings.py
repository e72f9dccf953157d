"""Warnings about a target's outcomes: rounded, constant, or all refused."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.model import Row
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import SHOWN, quoted
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity

DIGITS = 15
ENOUGH = 16  # distinct floats: see OutcomeMonitor
SILENT = "does it read its data, and add noise? docs/protocol.md says in what form data come"


class OutcomeMonitor:
    """Collects properties of the outcomes of one row.

    A float fits 15 digits when its nearest decimal of 15 digits reads back as that float. Between powers of ten at most
    10^15/2^52 = 22 % of floats do, so 16 that differ all fit with a chance below 10^−10 where their last bits are
    uniform. Integers and dyadics of few bits are decimals of few digits exactly (0.375); they say nothing.
    """

    def __init__(self) -> None:
        self._short: set[float] = set()  # floats that fit 15 digits and differ from their decimal
        self._whole = False  # whether any float needs more digits
        self._seen = 0
        self._answered = False  # whether any outcome was not a refusal
        self._refusal = ""
        self._refused: Counter[str] = Counter()  # refused runs by their data, as `_written`
        self._first: Any = None  # the first outcome
        self._varies = False  # whether another outcome differs from it

    def see(self, outcomes: Iterable[Any], data: Any = None) -> None:
        """Collect these outcomes of some data."""
        refused = 0
        for outcome in outcomes:
            self._seen += 1
            if isinstance(outcome, Refused):
                self._refusal = outcome.error
                refused += 1
                continue
            if not self._answered:
                self._first = outcome
            self._answered = True
            if not self._varies:
                self._varies = identity(outcome) != identity(self._first)
            if not self._whole:
                for part in outcome if isinstance(outcome, tuple) else (outcome,):
                    self._measure(part[1] if isinstance(part, tuple) else part)  # an item of a mapping

        if refused:
            self._refused[_written(data)] += refused

    def _measure(self, number: int | float) -> None:
        if isinstance(number, int):
            return
        decimal = f"{number:.{DIGITS}g}"
        self._whole |= float(decimal) != number
        if len(self._short) < ENOUGH and Decimal(decimal) != Decimal(number):
            self._short.add(number)

    @property
    def only_raised(self) -> str | None:
        """The last exception if every run was refused, so that the row shows nothing; else None."""
        return self._refusal if self._seen and not self._answered else None

    @property
    def constant(self) -> bool:
        """Whether all runs of both worlds returned the same outcome, and there were at least `ENOUGH`."""
        return self._answered and not self._varies and not self._refusal and self._seen >= ENOUGH

    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the row, as sentences for its reader."""
        found = []
        if len(self._short) >= ENOUGH and not self._whole:
            found.append(
                f"all outcomes are decimals of at most {DIGITS} digits: if a %g or the like rounds them on their way, "
                "the last bits that would show a loss are gone; print hexadecimal floats (%a), or 17 digits"
            )
        if self.constant and isinstance(self._first, float):  # a constant index or list may be correct
            found.append(f"every run of both worlds gave {self._first!r}: {SILENT}")
        return tuple(found)

    def refusals(self, worlds: tuple[Any, Any]) -> tuple[str, ...]:
        """Return a warning, with both inputs, if one world was refused more often than the other.

        This may be a leak, or one input may lie outside the target's domain: the reader has to decide.
        """
        if not self._refused:
            return ()
        inputs = [_written(data) for data in worlds]
        first, second = (self._refused[one] for one in inputs)
        if first == second:
            return ()
        given = [one if len(one) <= SHOWN else f"{one[: SHOWN - 1]}…" for one in inputs]
        return (
            f"refused {first:,} runs on {given[0]} and {second:,} on {given[1]}, the last with "
            f"{quoted(self._refusal)}: where an input is none that it takes, --domain says which it takes",
        )


def _written(data: Any) -> str:
    return json.dumps(data, default=lambda vector: vector.tolist())


def with_warnings(
    rows: Sequence[Row], monitors: Sequence[OutcomeMonitor], attacks: Sequence[AnyAttack], *, constant_fails: bool
) -> tuple[Row, ...]:
    """Return the rows of a target with their warnings, and with errors for rows that show nothing.

    A row in which every run of both worlds raised is an error. If each row has one constant outcome, every row gets a
    warning, or an error if constant_fails is set.
    """
    constant = all(monitor.constant for monitor in monitors)
    message = f"in each row, every run of both worlds gave one outcome: {SILENT}"
    found = []
    for row, monitor, attack in zip(rows, monitors, attacks, strict=True):
        warnings = (*monitor.warnings(), *monitor.refusals(attack.worlds()))
        if monitor.only_raised is not None:
            row = _failed(row, f"every run of both worlds raised, the last {quoted(monitor.only_raised)}")
        elif constant and constant_fails:
            row = _failed(row, message)
        elif constant and not warnings:
            warnings = (message,)
        found.append(dataclasses.replace(row, warnings=warnings))
    return tuple(found)


def _failed(row: Row, message: str) -> Row:
    """Return the row with an error and without evidence from runs. An error that the row has already is kept."""
    error = row.error or f"{TargetError.__name__}: {message}"
    return dataclasses.replace(row, error=error, sampled=None, sequential=None, sketch=None)
