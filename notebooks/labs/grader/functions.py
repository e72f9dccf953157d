"""Functions of students: a grader calls them with data, and gets data or an exact law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from grader.answers import AnswerError, Json, decoded, encoded, reply, shown, value_of
from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Refused

DEPTH = 56  # bits of the strings that are tried
REPEATED = 64  # runs with the same bits, which must be alike
STRINGS = 1 << 16  # that a sampler may ask for; those of two series of coins are 1,540
CALL, LAW = "call", "law"  # what a grader asks of a function


@dataclass(frozen=True, slots=True)
class Function:
    """A student's function. ask: sends a request to where the student's code runs, and returns the reply, as JSON."""

    ask: Callable[[str, list[Json]], Json]

    def __call__(self, *arguments: Any) -> Any:
        """Return what it returns, as data. Raises RaisedError where it raises."""
        return value_of(self.ask(CALL, list(map(encoded, arguments))))

    def law(self, *arguments: Any) -> Law[int]:
        """Return the law of its integer over all strings of DEPTH bits, which follow the arguments. Raises AnswerError.

        Raises ValueError for what is no law.
        """
        found = value_of(self.ask(LAW, list(map(encoded, arguments))))
        match found:
            case [list(atoms), list(masses)] if atoms and len(atoms) == len(masses) == len(set(map(repr, atoms))):
                if all(type(atom) is int for atom in atoms) and all(type(mass) is int and mass > 0 for mass in masses):
                    return _law(atoms, masses)
        raise ValueError(f"no law has the form {shown(found)}")

    def __repr__(self) -> str:
        return "a function"


def _law(atoms: list[int], masses: list[int]) -> Law[int]:
    undecided = (1 << DEPTH) - sum(masses)
    if undecided < 0:
        raise ValueError(f"a law has more than 2^{DEPTH} strings of bits")
    high = [mass + undecided for mass in masses]
    return Law(atoms, range(1, len(atoms) + 1), masses, high, 1 << DEPTH, Fraction(undecided, 1 << DEPTH))


def as_data(answer: Any, name: str) -> Any:
    """Return an answer as a grader gets it: a function that gives data, or data."""
    if isinstance(answer, Function):
        return answer
    return Function(partial(answered, answer, name)) if callable(answer) else decoded(encoded(answer))


def answered(function: Callable[..., Any], name: str, action: str, arguments: list[Json]) -> Json:
    """Return the reply of a function to a grader's request. This runs where the student's code does."""
    given = [decoded(argument) for argument in arguments]
    return reply(lambda: _listed(walked(partial(function, *given), name)) if action == LAW else function(*given))


def _listed(law: Law[int]) -> list[list[int]]:
    return [[int(atom) for atom in law.atoms], list(law.low)]  # type: ignore[arg-type]  # walked


def walked(sampler: Callable[[BitSource], Any], name: str) -> Law[int]:
    """Return the exact law of a sampler of integers over all strings of DEPTH bits. Raises AnswerError."""
    if len({_outcome(sampler) for _ in range(REPEATED)}) > 1:
        hint = "All randomness must come from the argument: bits.take(1) is one fair coin."
        raise AnswerError(f"`{name}` has randomness of its own.", hint)
    asked = 0

    def counted(bits: BitSource) -> Any:
        nonlocal asked
        asked += 1
        if asked > STRINGS:
            raise _TooManyStringsError
        return sampler(bits)

    try:
        law = exhaustive.law(counted, DEPTH)
    except _TooManyStringsError:
        hint = "One coin for each step is enough: bits.take(1). Strings multiply when each step takes several bits."
        raise AnswerError(f"`{name}` asks for more than {STRINGS:,} different strings of bits.", hint) from None
    except ValueError as error:
        if "not a function of its bits" in str(error):
            hint = "All randomness must come from the argument, and nothing may be remembered from call to call."
            raise AnswerError(f"`{name}` does not depend on its bits alone.", hint) from None
        hint = "Take few bits at a time, as bits.take(1), and only as many as you need."
        raise AnswerError(f"`{name}` takes more than {DEPTH} bits in every run.", hint) from None
    for atom in law.atoms:
        if isinstance(atom, Refused):
            raise AnswerError(
                f"`{name}` raised {atom.error}", "An exception is an outcome too, and the attacker sees it."
            )
        if not isinstance(atom, int | np.integer) or isinstance(atom, bool):
            raise AnswerError(f"`{name}` must return an integer, got {shown(atom)}.", "Integers never round.")
    return law


class _TooManyStringsError(BaseException):
    """Ends a walk. No Exception, which would be an outcome."""


def _outcome(sampler: Callable[[BitSource], Any]) -> str:
    """Return the outcome of a run, always with the same bits."""
    try:
        return repr(sampler(seeded_bits(1)))
    except Exception as error:  # an outcome too
        return repr(error)
