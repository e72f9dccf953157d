"""A part of a lab: its points, and the function that grades an answer, which it gets as data.

A part never raises because of an answer: what raises, does not end or has the wrong type gets 0 points and a message.
"""

from __future__ import annotations

import _thread
import inspect
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from random import Random
from typing import Any, TypeVar

from grader.answers import AnswerError, RaisedError
from grader.functions import as_data

LABS = {
    "lab1_worlds": "grader.worlds",
    "lab2_event": "grader.event",
    "lab3_repair": "grader.repair",
    "lab4_library": "grader.library",
    "lab5_codebase": "grader.codebase",
}
T = TypeVar("T")

SECONDS = 120.0  # of one part or cell: a check of ten seconds for each of three queries, on a slow machine


@dataclass(frozen=True, slots=True)
class Marks:
    """Points, what was found, and where they are not all the points, what may have been misunderstood."""

    points: int
    message: str
    hint: str = ""


class TooLongError(Exception):
    """A call did not end within its time."""


@dataclass(frozen=True, slots=True)
class Part:
    """One question. answers: the names that the student defines, in the order of the function's arguments.

    A function with the argument `draw` chooses some of its inputs at random.
    """

    number: int
    title: str
    points: int
    function: Callable[..., Marks]
    answers: tuple[str, ...]
    draws: bool

    def grade(self, *answers: Any, seconds: float = SECONDS, seed: str = "") -> Marks:
        """Return the marks of an answer, 0 points where its code raises, exits, or does not end in time.

        seed: of the inputs at random.
        """
        chosen = {"draw": Random(f"{seed} {self.title}")} if self.draws else {}

        def graded() -> Marks:
            return self.function(*map(as_data, answers, self.answers), **chosen)

        try:
            marks = limited(graded, seconds)
            return replace(marks, points=min(max(marks.points, 0), self.points))
        except AnswerError as error:
            return Marks(0, str(error), error.hint)
        except TooLongError:
            message = f"Your code did not end within {seconds:g} seconds."
            return Marks(0, message, "Look for a loop without an end, and for work that grows with 2^bits.")
        except RaisedError as error:
            hint = "Call your function by hand on one small input, and read the traceback."
            return Marks(0, f"Your code raised {error}", hint)
        except Exception as error:
            return Marks(
                0, f"Your answer does not have the right form: {type(error).__name__}: {error}", "Look at its type."
            )

    def __call__(self, *answers: Any) -> int:
        """Print the marks of an answer, and return the points, which nbgrader reads from the cell's output."""
        marks = self.grade(*answers)
        print(f"Part {self.number}: {marks.points} of {self.points} points. {marks.message}")
        if marks.hint:
            print(f"Hint: {marks.hint}")
        return marks.points


def part(number: int, title: str, points: int) -> Callable[[Callable[..., Marks]], Part]:
    """Return a decorator that makes a part of a grading function; its parameters are the names of the answers."""

    def made(function: Callable[..., Marks]) -> Part:
        *answers, last = inspect.signature(function).parameters
        draws = last == "draw"
        return Part(number, title, points, function, tuple(answers if draws else [*answers, last]), draws)

    return made


def parts_of(lab: str) -> tuple[Part, ...]:
    """Return the parts of a lab, in order."""
    found = [value for value in vars(import_module(LABS[lab])).values() if isinstance(value, Part)]
    return tuple(sorted(found, key=lambda one: one.number))


def limited(call: Callable[[], T], seconds: float) -> T:
    """Return what a call returns. Raises TooLongError where it does not end in time.

    A timer interrupts the main thread, as the interrupt key does, so that this works on every system and in Jupyter.
    Code that waits inside a library, or that catches the interrupt, is not stopped; `submissions` ends its process.
    """
    lock, over, fired = threading.Lock(), False, False

    def interrupt() -> None:
        nonlocal fired
        with lock:
            if not over:
                fired = True
                _thread.interrupt_main()

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        try:
            return call()
        finally:
            with lock:
                over = True
            if fired:
                time.sleep(1)  # the interrupt arrives here, if it did not before
    except KeyboardInterrupt:
        if fired:
            raise TooLongError from None
        raise
    finally:
        timer.cancel()
