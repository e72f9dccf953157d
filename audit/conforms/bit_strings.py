"""Does a sampler that takes its random bits as an argument follow its law? All strings of bits say so, without runs."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from subnormal.audit.check.evidence import WalkEvidence
from subnormal.audit.check.function import all_refused, copied
from subnormal.audit.check.words import shown
from subnormal.audit.evidence import exhaustive
from subnormal.audit.evidence.exact import WITHIN
from subnormal.audit.laws.followed import FollowedLaw
from subnormal.audit.model import Verdict
from subnormal.audit.randomness.primitives import drawn_from
from subnormal.audit.values.outcomes import as_outcome, refused
from subnormal.mechanisms.bits import BitSource, OutOfBitsError
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.outcome_identity import identity

DEPTHS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128, 192, 256)  # bits
CALLS = 1 << 15  # of the sampler, for one input, until its strings are decided
WALKS = 3  # of the strings that decide: one finds the law, and two ask again
AGAIN = 64  # calls for the same strings at least, in the opposite order each time
NAMED = 3  # outcomes of an event that its words name

Sampler = Callable[[Any, BitSource], Hashable]
Chances = tuple[Fraction, Fraction]  # low ≤ probability ≤ high


@dataclass(frozen=True, slots=True)
class Difference:
    """An event whose probabilities by the declared law and by all strings exclude each other."""

    event: str
    declared: Chances
    walked: Chances


class _EndedError(BaseException):
    """Too many calls, or no time left, in words: no Exception, because those are outcomes."""


class _UnfitError(BaseException):
    """An input cannot be copied, or an outcome cannot be compared: no outcome either."""


def takes_bits(function: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter `bits`."""
    try:
        return "bits" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def sampler(function: Callable[..., Any], *, batch: bool) -> Sampler:
    """Return the function of (data, bits) that returns one outcome."""

    def sample(data: Any, bits: BitSource) -> Hashable:
        own = _fit(copied, data)
        outcome: Hashable = _fit(as_outcome, function(own, 1, bits=bits)[0] if batch else function(own, bits=bits))
        return outcome

    return sample


def _fit(made: Callable[[Any], Any], data: Any) -> Any:
    try:
        return made(data)
    except TypeError as error:
        raise _UnfitError(error) from None


def walked(
    sample: Sampler, function: Any, inputs: Sequence[tuple[Any, Law[Any]]], seconds: float
) -> tuple[WalkEvidence | None, str]:
    """Return what all strings of bits say of these inputs and their laws, and why they do not decide, or "".

    None where no input can be decided. The first input that has another law than the declared one decides. HOLDS needs
    all inputs. function: what `sample` calls. Raises ValueError where it is no function of its bits, and TypeError
    where an input cannot be copied or an outcome cannot be compared.
    """
    walks, why = list[WalkEvidence](), ""
    started = time.monotonic()
    for number, (data, declared) in enumerate(inputs, 1):
        walk, ended = _walk(sample, function, data, declared, started + seconds * number / len(inputs))
        why = why or ended
        if walk is not None:
            walks.append(walk)
            if walk.verdict is Verdict.VIOLATED:
                return replace(walk, inputs=number), ""
    if not walks:
        return None, why
    least = max(walks, key=lambda walk: walk.undecided)
    verdict = least.verdict if len(walks) == len(inputs) else Verdict.UNRESOLVED
    return replace(least, verdict=verdict, inputs=len(walks)), why


@dataclass(slots=True)
class _Calls:
    """The sampler on one input, until a time and for so many calls; an exception is an outcome, as in runs."""

    sample: Sampler
    data: Any
    until: float
    most: int = CALLS
    made: int = 0

    def __call__(self, bits: BitSource) -> Hashable:
        """Return the outcome of one call. Raises _EndedError where the time or the calls are over."""
        if time.monotonic() > self.until:
            raise _EndedError("the time for them was over")
        self.made += 1
        if self.made > self.most:
            raise _EndedError(f"there are too many for {CALLS:,} calls")
        try:
            return self.sample(self.data, bits)
        except OutOfBitsError:
            raise
        except Exception as error:
            return refused(error)


def law_of_bits(function: Callable[..., Any], data: Any, seconds: float, rest: float = 2.0**-40) -> FollowedLaw:
    """Return the law of function(data, bits=…), from all strings of bits; `paths` are its outcomes.

    Strings become longer until they decide all but `rest`, or the time or `CALLS` calls are over. What is found is
    asked again, while the known sources of randomness are watched. Raises ValueError where no string decides, or where
    the function is no function of its bits, and TypeError where an outcome cannot be compared.

    >>> def third(_, bits):
    ...     while (drawn := bits.take(2)) == 3:
    ...         pass
    ...     return drawn
    >>> law_of_bits(third, None, 10.0, rest=0.1).probability(0)
    (Fraction(5, 16), Fraction(3, 8))
    """
    started, found, depth = time.monotonic(), None, 0
    counted = _Calls(sampler(function, batch=False), data, started + seconds / WALKS)
    try:
        for bits in DEPTHS:
            with suppress(exhaustive.UndecidedError):
                found, depth = exhaustive.law(counted, bits), bits
            if found is not None and found.rest <= rest:
                break
    except _EndedError as error:
        if found is None:
            raise ValueError(f"no string of bits decides an outcome at {shown(data)}: {error}") from None
    except _UnfitError as error:
        raise TypeError(str(error)) from None
    if found is None:
        raise ValueError(f"no string of {DEPTHS[-1]} bits decides an outcome at {shown(data)}")
    counted = _Calls(counted.sample, data, started + seconds, WALKS * CALLS + AGAIN)
    try:
        _require_function_of_bits(function, partial(exhaustive.law, counted, depth, again=AGAIN), found)
    except _EndedError as error:
        raise ValueError(f"the strings at {shown(data)} were not all asked again: {error}") from None
    return FollowedLaw(found, len(found.atoms), found.rest == 0, time.monotonic() - started)


def _walk(
    sample: Sampler, function: Any, data: Any, declared: Law[Any], until: float
) -> tuple[WalkEvidence | None, str]:
    """Return the evidence of the last walk, at this input alone, and why no longer one decides.

    Strings become longer until they decide all but WITHIN, refute the law, or are too many. What decides is asked
    again, while the known sources of randomness are watched.
    """
    counted, found, why = _Calls(sample, data, until), None, ""
    try:
        for depth in DEPTHS:
            try:
                law = exhaustive.law(counted, depth)
            except exhaustive.UndecidedError:
                continue
            differs = difference(law, declared)
            if differs is not None and all_refused(law.atoms):  # a mistake, which the first runs name
                continue
            walk = _evidence(data, depth, law.rest, differs)
            if walk.verdict is not Verdict.UNRESOLVED:
                counted.most = WALKS * CALLS + AGAIN
                _require_function_of_bits(function, partial(exhaustive.law, counted, depth, again=AGAIN), law)
                return walk, ""
            found = walk
        why = f"those of {DEPTHS[-1]} bits do not decide"
    except _EndedError as error:
        why = str(error)
    except _UnfitError as error:
        raise TypeError(str(error)) from None
    return found, f"all strings of bits at {shown(data)} do not judge: {why}"


def _require_function_of_bits(function: Any, walk: Callable[[], Law[Any]], before: Law[Any]) -> None:
    """Raise ValueError where one more walk finds another law, or the function draws from a known source meanwhile."""
    laws: list[Law[Any]] = []
    drawn, is_all = drawn_from(function, lambda: laws.append(walk()))
    if drawn or not is_all:
        source = str(drawn[0]) if drawn else "a generator"
        raise ValueError(f"the sampler is not a function of its bits: it draws from {source}, too")
    masses = ({key: bounds for key, (_, *bounds) in _by_outcome(one).items()} for one in (laws[0], before))
    if next(masses) != next(masses):
        raise ValueError(exhaustive.DIFFER)


def difference(law: Law[Any], declared: Law[Any]) -> Difference | None:
    """Return the event that tells a law of all strings from the declared one by most; None where none does for certain.

    Three events are looked at: the outcomes that are likelier than the declared law allows; those that it does not
    have; and those that are less likely, where the strings that need more bits may still lead to any of them.
    Raises TypeError where an outcome equals one of the declared law's that is of another type.
    """
    own, stated = _by_outcome(law), _by_outcome(declared)
    undecided = 1 - sum((low for _, low, _ in own.values()), Fraction(0))
    nothing = Fraction(0), Fraction(0)
    likelier = [key for key, (_, low, _) in own.items() if key in stated and low > stated[key][2]]
    others = [key for key in own if key not in stated]
    require_types([own[key][0] for key in others], declared)
    rarer = [key for key, (_, low, _) in stated.items() if low > own.get(key, (None, *nothing))[1]]
    events = []
    for keys, is_stated in ((likelier, True), (others, False), (rarer, True)):
        seen = sum((own[key][1] for key in keys if key in own), Fraction(0))
        limits = [sum((stated[key][side] for key in keys if is_stated), Fraction(0)) for side in (1, 2)]
        allowed = (limits[0], limits[1]) if is_stated else (Fraction(0), declared.rest)
        atoms = [(stated if is_stated else own)[key][0] for key in keys]
        events.append(Difference(_words(atoms), allowed, (seen, seen + undecided)))
    gaps = [max(one.walked[0] - one.declared[1], one.declared[0] - one.walked[1]) for one in events]
    largest = max(range(len(events)), key=lambda place: gaps[place])
    return events[largest] if gaps[largest] > 0 else None


def require_types(others: Sequence[Hashable], declared: Law[Any]) -> None:
    """Raise TypeError where an outcome outside the law equals one of the law's, and only their types differ.

    True and 1 are two outcomes, and so are 1.0 and 1, or a member of an IntEnum and its number. Who declares the one of
    a function that returns the other has most likely written the same thing in two ways.
    """
    if not others:
        return
    named = declared.atoms.tolist() if isinstance(declared.atoms, np.ndarray) else declared.atoms
    atoms = {atom: atom for atom in named}
    for outcome in others:
        atom = atoms.get(outcome, outcome)
        if _types(atom) != _types(outcome):
            returned, named_as = (f"{one!r} of type {_type_names(one)}" for one in (outcome, atom))
            raise TypeError(
                f"the function returns {returned} where the law has {named_as}: these are two outcomes, so let the law "
                "name what the function returns, or the function return what the law names"
            )


def _types(outcome: Any) -> Any:
    return tuple(map(_types, outcome)) if type(outcome) is tuple else type(outcome)


def _type_names(outcome: Any) -> str:
    return f"({', '.join(map(_type_names, outcome))})" if type(outcome) is tuple else type(outcome).__qualname__


def _by_outcome(law: Law[Any]) -> dict[Hashable, tuple[Any, Fraction, Fraction]]:
    """Return each outcome with the bounds on its probability, by its identity."""
    low, high = (np.repeat(integers(side).astype(object), law.counts()) for side in (law.low, law.high))
    bounds = ([Fraction(int(mass), law.denominator) for mass in side] for side in (low, high))
    return {identity(atom): (atom, *both) for atom, *both in zip(law.atoms, *bounds, strict=True)}


def _words(atoms: Sequence[Any]) -> str:
    named = ", ".join(map(repr, atoms[:NAMED]))
    if len(atoms) <= 1:
        return f"the outcome is {named}"
    return f"the outcome is one of {named}" + (f" and {len(atoms) - NAMED:,} more" if len(atoms) > NAMED else "")


def _evidence(data: Any, bits: int, undecided: Fraction, difference: Difference | None) -> WalkEvidence:
    verdict = Verdict.HOLDS if undecided <= WITHIN else Verdict.UNRESOLVED
    event, declared, walked = None, None, None
    if difference is not None:
        verdict, event = Verdict.VIOLATED, difference.event
        declared, walked = ((float(low), float(high)) for low, high in (difference.declared, difference.walked))
    return WalkEvidence(verdict, shown(data), 1, bits, float(undecided), event, declared, walked)
