"""The exact law of any callable that takes a BitSource, from all strings of random bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeVar

from subnormal.attacks.core.attack import Attack
from subnormal.mechanisms.bits import BitSource, OutOfBitsError, scripted_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Draw, Mechanism, Refused, draw_of
from subnormal.mechanisms.core.outcome_identity import identity

T = TypeVar("T", bound=Hashable)

DIFFER = "the sampler is not a function of its bits: two runs on the same ones differ"


class UndecidedError(ValueError):
    """So many bits decide no outcome."""


def law(
    sampler: Callable[[BitSource], T],
    depth: int,
    word_bits: int = 64,
    *,
    again: int = 0,
    condition: Callable[[Any], bool] = lambda outcome: True,
) -> Law[T]:
    """Return the law of the sampler's outcome over all strings of `depth` random bits.

    The sampler returns a hashable value. It is called once for every string that decides a draw. Strings that `depth`
    bits do not decide may lead to any outcome: their mass is the law's `rest`, and part of the upper bound of every
    atom. word_bits: the size of the sampler's words; smaller words make the walk shorter. An exception is an outcome,
    `Refused`, except for NameError and AttributeError, which are mistakes in the code. again: further calls for these
    strings, at least; where it is positive, every string is asked again, in the opposite order each time. Raises
    ValueError if two calls with the same bits differ, because the sampler then has its own randomness, or a memory.
    Without `again`, only the first string is asked twice.

    condition: of an outcome; the law is that of the outcome given the condition. Let a be the mass of the strings that
    lead to an outcome, A the sum of these masses over all outcomes that meet the condition, and r the mass that is cut
    off. Of r, y meets the condition, and x ≤ y leads to the outcome: its probability is (a + x)/(A + y). That is least
    for x = 0 and y = r, and as a ≤ A it is largest for x = y = r: it lies between a/(A + r) and (a + r)/(A + r).
    Outcomes that are not named have at most r/(A + r). So the strings that miss the condition leave the denominator,
    and nothing else changes. Raises UndecidedError if no string meets the condition.

    >>> law(lambda bits: bits.take(1) + bits.take(1), depth=2).probability(1)
    (Fraction(1, 2), Fraction(1, 2))
    >>> law(lambda bits: bits.take(2), depth=2, condition=lambda outcome: outcome < 3).probability(1)
    (Fraction(1, 3), Fraction(1, 3))
    """
    found, counts, cut_off = _string_counts(_walk(sampler, depth, word_bits, again), depth)
    kept = [(atom, mass) for atom, mass in zip(found, counts, strict=True) if condition(atom)]
    if not kept:
        raise UndecidedError(f"no outcome of a string of depth = {depth} bits meets the condition")
    atoms, masses = [atom for atom, _ in kept], [mass for _, mass in kept]
    high = [mass + cut_off for mass in masses] if cut_off else masses
    total = sum(masses) + cut_off
    return Law(atoms, range(1, len(atoms) + 1), masses, high, total, Fraction(cut_off, total))


def both_laws(
    mechanism: Mechanism[Any, Any, Any], attack: Attack[Any, Any, Any], worlds: tuple[Any, Any]
) -> tuple[Law[Any], Law[Any]] | None:
    """Return the laws of single draws in both worlds, walked to the member's own depth; None if it has none."""
    depth = None if mechanism.depth is None else mechanism.depth(worlds[0], attack.parameters)
    if depth is None:
        return None
    draw_in, draw_out = (partial(_one, draw_of(mechanism, data, attack.parameters)) for data in worlds)
    return law(draw_in, depth), law(draw_out, depth)


def _one(draw: Draw, bits: BitSource) -> Any:
    return draw(bits, 1)[0]


def bits_consumed(sampler: Callable[[BitSource], Any], depth: int, word_bits: int = 64) -> Law[int]:
    """Return the law of the number of bits that the sampler consumes, over all strings of `depth` random bits.

    Exact: strings that `depth` bits do not decide are the law's `rest`, and consume more bits than `depth`.

    >>> tries = bits_consumed(lambda bits: bits.take(1) or bits.take(2), depth=3)
    >>> tries.probability(3)
    (Fraction(1, 2), Fraction(1, 2))
    """
    leaves = ((consumed, consumed) for _, consumed in _walk(sampler, depth, word_bits))
    atoms, masses, longer = _string_counts(leaves, depth)
    return Law(atoms, range(1, len(atoms) + 1), masses, masses, 1 << depth, Fraction(longer, 1 << depth))


def _walk(sampler: Callable[[BitSource], Any], depth: int, word_bits: int, again: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield (outcome, bits consumed) for every leaf of the sampler's decision tree, in the order of the strings.

    Each call gets the successor of the last leaf's string, padded with zeros. The bits that it reads are the next leaf.
    """
    if depth < 0:
        raise ValueError(f"depth must not be negative, got {depth}")
    prefix, asked = "", list[tuple[str, _Call]]()
    while True:
        string = prefix.ljust(depth, "0")
        call = _call(sampler, string, word_bits)
        if not prefix and not _alike(call, _call(sampler, string, word_bits)):
            raise ValueError(DIFFER)
        if again:
            asked.append((string, call))
        if not call.exhausted:
            yield call.outcome, call.consumed
        leaf = string[: call.consumed]  # if the bits ran out, `depth` bits decide no string with this prefix
        if len(leaf) < len(prefix):
            raise ValueError(f"the sampler is not a function of its bits: it read {prefix!r} once and {leaf!r} later")
        if "0" not in leaf:
            for _ in range(-(-again // max(1, len(asked)))):
                asked.reverse()
                if not all(_alike(before, _call(sampler, one, word_bits)) for one, before in asked):
                    raise ValueError(DIFFER)
            return
        prefix = leaf[: leaf.rindex("0")] + "1"


class _Call(NamedTuple):
    outcome: Any
    consumed: int
    exhausted: bool


def _alike(one: _Call, other: _Call) -> bool:
    if (one.consumed, one.exhausted) != (other.consumed, other.exhausted):
        return False
    try:
        return identity(one.outcome) == identity(other.outcome)  # NaN equals itself
    except TypeError:  # a sampler may return values of any type
        return one.outcome is other.outcome or bool(one.outcome == other.outcome)


def _call(sampler: Callable[[BitSource], Any], string: str, word_bits: int) -> _Call:
    bits = scripted_bits(string, word_bits)
    try:
        outcome = sampler(bits)
    except OutOfBitsError:
        outcome = None
    except (NameError, AttributeError):
        raise
    except Exception as error:  # an exception is an outcome
        outcome = Refused(f"{type(error).__name__}: {error}")
    return _Call(outcome, bits.consumed, bits.exhausted)


def _string_counts(leaves: Iterator[tuple[T, int]], depth: int) -> tuple[list[T], list[int], int]:
    """Return the outcomes, the number of strings of `depth` bits that lead to each, and the number not decided."""
    weights: Counter[Hashable] = Counter()
    atoms: dict[Hashable, T] = {}
    for atom, consumed in leaves:
        key = identity(atom)
        atoms.setdefault(key, atom)
        weights[key] += 1 << (depth - consumed)
    if not weights:
        raise UndecidedError(f"no string of depth = {depth} bits decides an outcome")
    return list(atoms.values()), [weights[key] for key in atoms], (1 << depth) - weights.total()
