"""One path of a function: the boxes of its uniforms, and the answers to comparisons that no box decides.

A question of one uniform splits its box, so that it is decided in each part. A question of several uniforms splits
nothing: the path takes an answer as a constraint, and another path takes the other one. What a path leaves for others
is in `pending`. The paths of a function are disjoint, and together they have probability 1.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any, NamedTuple, NoReturn

import numpy as np

STEP = 2.0**-64  # a path that is less likely waits, until no likelier one is left; then this is the next step
NEAR = Fraction(1, 1 << 40)  # how far shares of an interval lie apart in the law of a number and in that used, at most
LEAST = 2.0**-960  # weight of a path that is followed
OTHERWISE = "calls with the same random numbers ask otherwise later"
HERE = FilePath(__file__).parent
OWN = {os.path.dirname(os.__file__), *map(str, (HERE, HERE / "draws", HERE.parent / "randomness"))}  # no user's code
NUMPY = os.path.dirname(np.__file__) + os.sep

Box = tuple[int, int]


class NotFollowedError(Exception):
    """A function does what cannot be followed, so that nothing is known of its law."""


class StoppedError(BaseException):
    """A path ends before the function returns. No `except Exception` of the function catches it."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A comparison of several uniforms, with the answer that a path takes.

    rising: whether it becomes true or false as each uniform rises. test: of the numbers drawn, or of arrays of them.
    order: (left, right, strict) where it says left < right or left ≤ right, with the names of two lazy numbers. name:
    of another test, equal for the opposite one. sides: the lazy numbers that are compared; cut:
    what the one number is compared with.
    """

    rising: Mapping[int, bool]
    test: Callable[[Any], Any]
    order: tuple[Hashable, Hashable, bool] | None = None
    name: Hashable = None
    sides: tuple[Any, ...] = ()
    cut: Any = None


class Other(NamedTuple):
    """A path that another one leaves, by its answers. share, halvings: as those of a path."""

    answers: dict[int, Any]
    share: float
    halvings: float

    @property
    def weight(self) -> float:
        """About how likely it is."""
        return self.share / math.exp2(self.halvings)


@dataclass(slots=True)
class Path:
    """boxes: [low, high) of each uniform drawn; sizes: how many numbers each one has; draws: how many uniforms may be
    drawn before the path stops. share: the probability of the boxes, about. answers: by the number of the question; of
    a choice, the option, and of a split, the box. halvings: of the probability, by answers; expected: by those that the
    path begins with. pending: the paths that it leaves. ranges: by the name of a number of several uniforms, between
    which values answers leave it. near: how far the shares of an interval lie apart, at most, in the law of a number
    and in that used, by its uniform. least: a path of less weight stops; where it `waits`, it begins again later.
    ended: whether the function has returned. stopped: whether the path ended early; impossible: whether that is because
    no numbers lead there; failed: why the function is not followed.
    """

    boxes: list[Box] = field(default_factory=list)
    answers: dict[int, Any] = field(default_factory=dict)
    deadline: float = math.inf
    sizes: list[int] = field(default_factory=list)
    share: float = 1.0
    draws: float = math.inf
    constraints: list[Constraint] = field(default_factory=list)
    near: dict[int, Fraction] = field(default_factory=dict)
    pending: list[Other] = field(default_factory=list)
    ranges: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)
    asked: int = 0
    halvings: float = 0.0
    expected: float = 0.0
    least: float = STEP
    waits: bool = False
    ended: bool = False
    stopped: bool = False
    impossible: bool = False
    failed: str | None = None
    thread: int = field(default_factory=threading.get_ident)
    memory: dict[int, Any] = field(default_factory=dict)

    def draw(self, size: int) -> int:
        """Return the number of a new uniform on 0 … size − 1."""
        self.go_on()
        at = len(self.sizes)
        if at >= self.draws:
            self.stop()
        self.sizes.append(size)
        if at == len(self.boxes):
            self.boxes.append((0, size))
            if self.asked >= len(self.answers):  # no answers of the path before are left
                self._go_on_if_likely()
        return at

    def mass(self) -> Fraction:
        """Return the probability of the boxes."""
        numerator = math.prod(high - low for low, high in self.boxes[: len(self.sizes)])
        return Fraction(numerator, math.prod(self.sizes))

    def is_within(self, boxes: Sequence[Box]) -> bool:
        """Return whether as many uniforms as there are boxes were drawn, each of them in its box."""
        own = self.boxes[: len(self.sizes)]
        return len(own) == len(boxes) and all(
            low <= first and end <= high for (first, end), (low, high) in zip(own, boxes, strict=True)
        )

    @property
    def slack(self) -> Fraction:
        """How far the probability of the path may lie from that of its boxes and constraints. As the other uniforms are
        given, they leave an interval of each one, which has two ends."""
        return 2 * sum(self.near.values(), Fraction(0))

    def weight(self) -> float:
        """Return about how likely the path is: each answer halves it, and options are taken to be equally likely."""
        return self.share / math.exp2(self.halvings)

    def split(self, at: int, middle: int, *, further: bool = False) -> None:
        """Keep the larger part of a box, [low, middle) or [middle, high), and leave the other one. further: the box is
        the answer to the question before, whose answer becomes that part."""
        self.asked += not further
        number = self.asked - 1
        low, high = self.boxes[at]
        kept, left = (low, middle), (middle, high)
        if middle - low < high - middle:
            kept, left = left, kept
        share = self.share * (left[1] - left[0]) / (high - low)
        self.pending.append(Other({**self.answers, number: left}, share, max(self.halvings, self.expected)))
        self.answers[number] = kept
        self._keep(at, kept)

    def is_split(self, at: int) -> bool:
        """Return whether this question splits a box as a path before did, and split it.

        A path begins with all numbers, and comes to each question with the boxes that it had before: what is asked
        depends on them.
        """
        if self.asked not in self.answers:
            return False
        box, (low, high) = self.answers[self.asked], self.boxes[at]
        if type(box) is not tuple or not low <= box[0] < box[1] <= high:
            self.refuse(OTHERWISE)
        self._keep(at, box)
        self.asked += 1
        return True

    def _keep(self, at: int, box: Box) -> None:
        (low, high), (first, end) = self.boxes[at], box
        self.share *= (end - first) / (high - low)
        self.boxes[at] = box

    def ask(self, question: Constraint, opposite: Constraint, chance: float = 0.5) -> bool:
        """Return the answer of this path to a question of several uniforms, which the boxes do not decide.

        chance: of a yes, about: the path takes the likelier answer first.
        """
        self.go_on()
        number, self.asked = self.asked, self.asked + 1
        implied = self._implied(question, opposite)
        if implied is not None:
            return implied
        halvings = -math.log2(chance), -math.log2(1.0 - chance)
        if number not in self.answers:
            likelier = chance >= 0.5
            left = self.halvings + halvings[likelier]
            self.pending.append(Other({**self.answers, number: not likelier}, self.share, left))
            self.answers[number] = likelier
        answer = self.answers[number]
        if type(answer) is not bool:
            self.refuse(OTHERWISE)
        self.constraints.append(question if answer else opposite)
        self.halvings += halvings[not answer]
        self._go_on_if_likely()
        return answer

    def choose(self, options: Mapping[int, list[Constraint]]) -> int:
        """Return one of several options, which exclude each other, with the constraints of this one; other paths take
        the others."""
        self.go_on()
        number, self.asked = self.asked, self.asked + 1
        halvings = self.halvings + math.log2(len(options))
        if number not in self.answers:
            first, *others = options
            self.pending += [Other({**self.answers, number: other}, self.share, halvings) for other in others]
            self.answers[number] = first
        chosen: int = self.answers[number]
        if chosen not in options:
            self.impossible = True
            self.stop()
        self.constraints += options[chosen]
        self.halvings = halvings
        self._go_on_if_likely()
        return chosen

    def decided(self, answer: bool) -> bool:
        """Return the answer to a question that the boxes decide. In a path with larger boxes, the same one was asked.

        Where the path was to take the other answer, no numbers lead here.
        """
        self.go_on()
        number, self.asked = self.asked, self.asked + 1
        if self.answers.get(number, answer) != answer:
            self.impossible = True
            self.stop()
        return answer

    def _implied(self, question: Constraint, opposite: Constraint) -> bool | None:
        for answer, one in ((True, question), (False, opposite)):
            if one.order is not None and follows(one.order, self.constraints):
                return answer
        return None

    def stop(self) -> NoReturn:
        """End the path: its outcome stays unknown."""
        self.stopped = True
        raise StoppedError

    def refuse(self, why: str) -> NoReturn:
        """End the path, and say that the function is not followed, and where."""
        self.failed = self.failed or f"not followed: {place()}: {why}"
        raise StoppedError

    def _go_on_if_likely(self) -> None:
        weight = self.weight()
        if weight < self.least:
            self.waits = weight >= LEAST
            self.stop()

    def go_on(self) -> None:
        """End the path where its time is over, or where it was refused, or where another thread has come in. A loop of
        comparisons may have no end. Raises StoppedError where the path has ended: this is another call."""
        if self.ended:
            raise StoppedError
        if threading.get_ident() != self.thread:
            self.refuse("another thread draws random numbers")
        if self.stopped or self.failed or time.monotonic() > self.deadline:
            self.stop()


def follows(order: tuple[Hashable, Hashable, bool], constraints: list[Constraint]) -> bool:
    """Return whether left < right, or left ≤ right, follows from the order that constraints tell."""
    left, right, strict = order
    reached, ahead = {(left, False)}, [(left, False)]
    while ahead:
        at, is_strict = ahead.pop()
        for one in constraints:
            if one.order is not None and one.order[0] == at:
                step = (one.order[1], is_strict or one.order[2])
                if step not in reached:
                    reached.add(step)
                    ahead.append(step)
    return (right, True) in reached or (not strict and (right, False) in reached)


def place() -> str:
    """Return the file and the line of the user's code that is running."""
    found = next((frame for frame in _frames() if not _is_own(frame.f_code.co_filename)), None)
    return "?" if found is None else f"{found.f_code.co_filename}:{found.f_lineno}"


def _is_own(file: str) -> bool:
    return os.path.dirname(file) in OWN or file.startswith(NUMPY)


def _frames() -> Iterator[Any]:
    frame: Any = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back
