"""Checks the certificate of a function of Python: python -m subnormal.audit.function_certificate FILE FUNCTION.

A certificate has a claim (ε, δ), and for two inputs, the worlds, boxes of the random numbers that the function draws.
A box has a range [low, end) of each number, one after the other, from 0 … size − 1, and the outcome that they lead to:
its text, or "< x" or "> x" for floats on one side of a float x. Numbers outside of the boxes may lead to any outcome.
The check sees that the boxes of a world are disjoint, and adds up their probabilities as rationals.

- VIOLATED: P(S) is at least the share of the boxes of the first world with outcomes in S, and Q(S) at most what the
  boxes of the second world with other outcomes leave. The check is that P(S) > e^ε·Q(S) + δ.
- HOLDS: P(S) ≤ e^ε·Q(S) + δ for all S in both directions, whatever the numbers outside of the boxes lead to.

FUNCTION is module:name, as the file names it: it is run with the file's inputs, so that a file alone runs nothing. Its
numbers come from the boxes: those of `random`, `secrets`, `os.urandom`, numpy's `default_rng`, and the functions of
`numpy.random`, whose own C code runs on these numbers. The function must draw numbers of the sizes stated, and no more.
Each box is tried at its corners: at all of them for up to 8 numbers, and else at so many that any three of its numbers
have all eight of theirs. Then `DRAWN` points of the boxes of each world are drawn anew, and must have their outcomes: a
wrong share s of the boxes is missed with probability (1 − s)^DRAWN. What is assumed:

- The numbers that the function draws are uniform and independent, and nothing else in it is random.
- Where the corners of a box have one outcome, or lie on one side of x, all of the box does. It is so if each comparison
  in the function changes once, at most, along each number, and is of three numbers at most. If not, the draws tell.

It shares no code with what follows functions and writes certificates, and knows nothing of lazy numbers. Exit codes: 0
proved, 1 not proved, 2 the file is no certificate.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import json
import math
import os
import random
import secrets
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from subnormal.audit.certificate_checker import (
    CLAIMED,
    INTEGER,
    POSITIVE,
    PRECISIONS,
    TEXT,
    NotProvedError,
    claim_in_words,
    claimed,
    in_words,
    read,
    require,
    result,
    violation,
)

ALL, DRAWN = 8, 4096  # numbers of a box whose corners are all tried; points drawn from the boxes of a world
SIDES = ("<", ">")  # of a float, in place of an outcome
BOXES = [{"outcome": TEXT, "draws": [[POSITIVE, INTEGER, INTEGER], ...]}, ...]  # size, low, end
SHAPE = {
    **CLAIMED,
    "function": TEXT,  # its inputs, the worlds, are JSON
    "verdict": "VIOLATED|HOLDS",
    "event": [TEXT, ...],  # S
    "first": BOXES,
    "second": BOXES,
}
WORDS: list[tuple[str, Any, int]] = [  # of numpy: their names, types and bits
    ("uint64", ctypes.c_uint64, 64),
    ("uint32", ctypes.c_uint32, 32),
    ("double", ctypes.c_double, 53),
    ("raw", ctypes.c_uint64, 64),
]

Draw = tuple[int, int, int]  # size, low, end
Box = tuple[str, list[Draw]]  # of an outcome


def check(form: Any, function: str) -> str:
    """Return what the certificate proves. NotProvedError where it proves nothing, ValueError where it is none."""
    require(form, SHAPE)
    shown = decided(form)
    if function != form["function"]:
        raise ValueError(f"it is of the function {form['function']}, which is run: name it behind the file")
    tried = {world: list(points(ranges(form, world))) for world in ("first", "second")}
    words = Words()
    with words.installed(), redirect_stdout(sys.stderr):
        called = imported(function)
        for world, expected in tried.items():
            data = form["worlds"][world]
            for outcome, numbers in expected:
                found, wrong = words.outcome(called, json.loads(data), numbers)
                if wrong or not is_named(found, outcome):
                    wrong = wrong or f"{name_of(found)[:60]} where its box has {outcome[:60]}"
                    raise NotProvedError(f"the function on {data[:60]} does not do what a box states: {wrong}")
    return shown


def imported(function: str) -> Callable[[Any], Any]:
    """Return the function module:name, as Python finds it from the current folder. Raises ValueError without one."""
    module, _, name = function.partition(":")
    try:
        found: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise ValueError(f"{function} cannot be imported: {error!r}") from None
    return found


def ranges(form: Any, world: str) -> list[Box]:
    """Return the boxes of a world."""
    return [
        (box["outcome"], [(int(size, 16), int(low, 16), int(end, 16)) for size, low, end in box["draws"]])
        for box in form[world]
    ]


def decided(form: Any) -> str:
    """Return what the boxes prove if their outcomes are as stated. NotProvedError where that is not what they state."""
    (epsilon, delta), event = claimed(form), set(form["event"])
    first, second = (masses(ranges(form, world)) for world in ("first", "second"))
    if any(outcome[:1] in SIDES for outcome in event):
        raise NotProvedError("an event has outcomes, not sides of one")
    if form["verdict"] == "VIOLATED":
        p = sum((mass for outcome, mass in first.items() if outcome in event), Fraction(0))
        q = 1 - sum((mass for outcome, mass in second.items() if is_outside(outcome, event)), Fraction(0))
        return violation(form, form["function"], p, q)
    if any(outcome[:1] in SIDES for outcome in (*first, *second)):
        raise NotProvedError("HOLDS needs outcomes, not sides of one")
    for one, other in ((first, second), (second, first)):
        left = 1 - sum(one.values())
        if not any(
            left + sum(max(Fraction(0), mass - factor * other[outcome]) for outcome, mass in one.items()) <= delta
            for factor in (exp_down(epsilon, precision) for precision in PRECISIONS)
        ):
            raise NotProvedError("the boxes leave room for P(S) > e^ε·Q(S) + δ")
    subject = in_words(form, form["function"])
    return f"HOLDS: {subject}: P(S) ≤ e^ε·Q(S) + δ for all S, both ways, with {claim_in_words(form)}"


def exp_down(exponent: Fraction, precision: int) -> Fraction:
    """Return a lower bound on e^exponent ≥ 1: a part of Taylor's sum, squared again and again, all rounded down."""
    halvings = max(0, (2 * exponent).__ceil__().bit_length())
    part, one = exponent / 2**halvings, 1 << precision
    bound, term, n = Fraction(0), Fraction(1), 0
    while term:
        bound, n = bound + term, n + 1
        term = Fraction(term * part / n * one // 1, one)
    for _ in range(halvings):
        bound = Fraction(bound * bound * one // 1, one)
    return bound


def is_outside(outcome: str, event: set[str]) -> bool:
    """Return whether a box with this outcome has no outcome of the event; one side of a float has not that float."""
    return event == {outcome[2:]} if outcome[:1] in SIDES else outcome not in event


def masses(boxes: list[Box]) -> defaultdict[str, Fraction]:
    """Return the probability of each outcome in the boxes. NotProvedError where they are none, or overlap."""
    if any(not 0 <= low < end <= size for _, draws in boxes for size, low, end in draws):
        raise NotProvedError("a box has a range that is empty, or beyond its numbers")
    if overlap([draws for _, draws in boxes], 0):
        raise NotProvedError("two boxes of one world overlap")
    found = defaultdict[str, Fraction](Fraction)
    for outcome, draws in boxes:
        found[outcome] += share(draws)
    return found


def overlap(boxes: list[list[Draw]], at: int) -> bool:
    """Return whether two boxes overlap, whose draws before a place do. Draws of other sizes are of other functions."""
    if len(boxes) < 2 or any(len(draws) == at for draws in boxes):
        return len(boxes) > 1
    groups = defaultdict[Draw, list[list[Draw]]](list)
    for draws in boxes:
        groups[draws[at]].append(draws)
    ordered = sorted(groups, key=lambda draw: draw[1])
    if not any(are_one(*pair) for pair in itertools.pairwise(ordered)):
        return any(overlap(group, at + 1) for group in groups.values())
    left = [draws for draw in ordered for draws in groups[draw]]
    while left:
        draws, *left = left
        for other in left:
            if not are_one(draws[at], other[at]):
                break  # as are those behind it
            if all(itertools.starmap(are_one, zip(draws, other, strict=False))):
                return True
    return False


def are_one(draw: Draw, other: Draw) -> bool:
    """Return whether two ranges may have a number in common."""
    return draw[0] != other[0] or (draw[1] < other[2] and other[1] < draw[2])


def share(draws: list[Draw]) -> Fraction:
    """Return the probability of a box."""
    return Fraction(math.prod(end - low for _, low, end in draws), math.prod(size for size, _, _ in draws))


def points(boxes: list[Box]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the corners of each box, and points drawn from all of them: the outcome that is stated, and the numbers."""
    for outcome, draws in boxes:
        for corner in corners(len(draws)):
            ends = zip(draws, corner, strict=True)
            yield outcome, [(size, end - 1 if is_high else low) for (size, low, end), is_high in ends]
    drawn, weights = random.SystemRandom(), [float(share(draws)) for _, draws in boxes]
    for outcome, draws in drawn.choices(boxes, weights, k=DRAWN) if any(weights) else []:
        yield outcome, [(size, drawn.randrange(low, end)) for size, low, end in draws]


def corners(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield corners of a box of so many numbers: which of them are at their high ends.

    Where there are many numbers, corner i has number j at its high end if i and 2j + 1 have an odd number of bits in
    common. No three of the numbers 2j + 1 have the sum 0 modulo 2, bit by bit, so that any three numbers have all ends.
    """
    if count <= ALL:
        yield from itertools.product((False, True), repeat=count)
        return
    for i in range(2 << (count - 1).bit_length()):
        yield tuple((i & (2 * j + 1)).bit_count() % 2 == 1 for j in range(count))


def is_named(found: Any, outcome: str) -> bool:
    """Return whether an outcome is the stated one, or a float on the stated side of one."""
    if outcome[:1] in SIDES:
        beyond = float(outcome[2:])
        return isinstance(found, float) and (found < beyond if outcome[0] == "<" else found > beyond)
    return name_of(found) == outcome


def name_of(value: Any) -> str:
    """Return the text of an outcome. A list is told from no tuple, nor an array; the order of a set tells nothing.

    Raises NotProvedError for an outcome of another type.
    """
    if isinstance(value, BaseException):
        return f"raises {type(value).__name__}({str(value)!r})"
    value = value.tolist() if hasattr(value, "tolist") else value
    if type(value) in (bool, int, float, complex, str, bytes, type(None)):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"({', '.join(map(name_of, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(name_of, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{name_of(key)}: {name_of(one)}' for key, one in value.items()))}}}"
    raise NotProvedError(f"an outcome of type {type(value).__name__} has no text here")


class Words:
    """Where the generators of Python and numpy get their numbers from: those of one call, in their order."""

    def __init__(self) -> None:
        self.left: Iterator[tuple[int, int]] = iter(())
        self.wrong, self.spare = "", 0
        self.pairs: dict[int, Any] = {}  # the second number of each Gaussian pair

    def outcome(self, function: Callable[[Any], Any], data: Any, numbers: list[tuple[int, int]]) -> tuple[Any, str]:
        """Return the outcome that numbers lead to, and how the draws differ from them. An exception is an outcome."""
        self.left, self.wrong, self.pairs = iter(numbers), "", {}
        try:
            found = function(data)
        except (Exception, SystemExit) as error:
            found = error
        left = next(self.left, None)
        return found, self.wrong or ("" if left is None else "it draws fewer numbers")

    def draw(self, size: int) -> int:
        """Return the next number, of 0 … size − 1; where another size is stated, or none, any number."""
        expected, number = next(self.left, (0, 0))
        if expected == size and not self.wrong:
            return number
        self.wrong = self.wrong or f"it draws one of {size} numbers where one of {expected} is stated"
        self.spare = (self.spare * 6364136223846793005 + 1442695040888963407) % (1 << 64)  # so that loops end
        return self.spare * size >> 64

    def below(self, size: int) -> int:
        """Return a number below a size, of which there may be one."""
        return self.draw(size) if size > 1 else 0

    def random(self) -> float:
        """Return a float of 53 bits."""
        return self.draw(1 << 53) * 2.0**-53

    def bytes(self, count: int) -> bytes:
        """Return so many bytes."""
        return self.below(1 << 8 * count).to_bytes(count, "big")

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let all code that is imported now draw from here."""
        with suppress(ImportError):
            importlib.import_module("numpy.random")  # before the words come from here: it draws some
        with ExitStack() as stack:
            bits = lambda count: self.below(1 << count)  # noqa: E731
            replaced: list[tuple[Any, str, Any]] = [
                *((random, "random", self.random), (random, "getrandbits", bits)),
                *((os, "urandom", self.bytes), (secrets, "randbits", bits)),
            ]
            for kind in (random.Random, random.SystemRandom):
                replaced.append((kind, "random", lambda _: self.random()))
                replaced.append((kind, "getrandbits", lambda _, count: self.below(1 << count)))
                replaced.append((kind, "_randbelow", lambda _, size: self.below(size)))
                replaced.append((kind, "randbytes", lambda _, count: self.bytes(count)))
            for owner, name, other in replaced:
                stack.enter_context(patch.object(owner, name, other))
            pairs = property(
                lambda own: self.pairs.get(id(own)), lambda own, second: self.pairs.update({id(own): second})
            )
            stack.enter_context(patch.object(random.Random, "gauss_next", pairs, create=True))
            numpy: Any = sys.modules.get("numpy.random")
            if numpy is not None:
                ours = BitGenerator(self.draw)
                stack.callback(numpy.set_bit_generator, numpy.get_bit_generator())
                numpy.set_bit_generator(ours)
                stack.enter_context(patch.object(numpy, "default_rng", lambda *_, **__: numpy.Generator(ours)))
            yield


class Functions(ctypes.Structure):
    """What numpy's C code calls for its words: `bitgen_t` of numpy/random/bitgen.h."""

    _fields_ = [
        ("state", ctypes.c_void_p),
        *((f"next_{name}", ctypes.CFUNCTYPE(kind, ctypes.c_void_p)) for name, kind, _ in WORDS),
    ]


class BitGenerator:
    """What numpy's generators draw from, with the attributes that they read of one."""

    def __init__(self, draw: Callable[[int], int]) -> None:
        self.lock, self.name = threading.Lock(), b"BitGenerator"
        self.functions = Functions(None, *(_returning(draw, kind, bits) for _, kind, bits in WORDS))
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = capsule(ctypes.addressof(self.functions), self.name, None)


def _returning(draw: Callable[[int], int], kind: Any, bits: int) -> Any:
    unit = 2.0**-53 if kind is ctypes.c_double else 1
    return ctypes.CFUNCTYPE(kind, ctypes.c_void_p)(lambda _: draw(1 << bits) * unit)


def main(arguments: list[str]) -> int:
    """Check the file that is named, print the result, and return the exit code."""
    usage = "a file and a function, as FILE my_module:function"
    return result(arguments, 2, usage, lambda file, function: check(read(file), function))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
