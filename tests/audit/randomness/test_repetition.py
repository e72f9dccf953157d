"""What is drawn once can be drawn again: from generators wherever they are held, and from the system."""

from __future__ import annotations

import gc
import os
import random
import secrets
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal.audit.randomness.generators import alive
from subnormal.audit.randomness.repetition import Repetition


class Slot:
    __slots__ = ("rng",)

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)


HELD, SLOT, OLDER, PYTHON = [np.random.default_rng(5)], Slot(), np.random.RandomState(5), random.Random(5)
METHOD = np.random.default_rng(5).random


def by_default(rng: Any = np.random.default_rng(5)) -> float:  # noqa: B008  # as people write it
    return float(rng.random())


@pytest.mark.parametrize(
    "draw",
    [
        HELD[0].random,
        by_default,
        lambda: SLOT.rng.integers(2**31),
        lambda: METHOD(),
        OLDER.normal,  # in pairs, of which one is kept
        np.random.normal,
        PYTHON.random,
        PYTHON.gauss,
        random.random,
        lambda: np.random.default_rng().random(),
        lambda: np.random.default_rng(np.random.SeedSequence().spawn(1)[0]).random(),
        lambda: os.urandom(3),
        lambda: random.SystemRandom().random(),
        secrets.token_hex,
        lambda: secrets.randbelow(10**9),
    ],
)
def test_what_is_drawn_once_is_drawn_again(draw: Callable[[], Any]) -> None:
    draw()
    repetition = Repetition()
    with repetition.once():
        first = [draw() for _ in range(5)]
    with repetition.again():
        again = [draw() for _ in range(5)]
    assert first == again
    assert [draw() for _ in range(5)] != first


def test_what_the_system_gives_without_python_is_not_drawn_again() -> None:
    repetition = Repetition()
    with repetition.once():
        first = os.getrandom(8)
    with repetition.again():
        assert os.getrandom(8) != first


def test_another_thread_is_given_bytes_of_its_own() -> None:
    """They may be a key. Two of 16 bytes are equal with a chance of 2^-128."""
    given: list[bytes] = []

    def draw() -> None:
        given.append(os.urandom(16))

    repetition = Repetition()
    for during in (repetition.once, repetition.again):
        with during():
            thread = threading.Thread(target=draw)
            thread.start()
            draw()
            thread.join(timeout=60)
    one, two, three, four = given
    assert len({one, two, three, four}) == 3  # this thread was given one of them twice


def test_more_bytes_or_others_than_before_come_from_the_system() -> None:
    repetition = Repetition()
    with repetition.once():
        first = os.urandom(16)
    with repetition.again():
        assert len(os.urandom(8)) == 8
        assert os.urandom(16) != first


def test_the_sources_of_the_system_are_as_before() -> None:
    before = os.urandom, random._urandom  # type: ignore[attr-defined]  # of Python's own
    repetition = Repetition()
    for during in (repetition.once, repetition.again):
        with pytest.raises(KeyError), during():
            raise KeyError
    assert (os.urandom, random._urandom) == before  # type: ignore[attr-defined]  # of Python's own


class Own(random.Random):
    pass


class OwnOfOwn(Own):
    pass


def test_generators_are_seen_beside_objects_of_a_type_without_a_hash() -> None:
    class Odd(type):
        def __eq__(cls, other: object) -> bool:
            return True  # and so Python lets it have no hash

    class OfOdd(metaclass=Odd):
        pass

    made, beside = random.Random(), OfOdd()
    assert gc.is_tracked(beside)
    found = set(map(id, alive()))
    assert id(made) in found
    assert id(beside) not in found


@pytest.mark.parametrize("freeze", [False, True])
def test_generators_of_any_class_are_seen_also_where_the_collector_passes_over_them(freeze: bool) -> None:
    made = [random.Random(), OwnOfOwn(), np.random.PCG64(1), np.random.default_rng(1).bit_generator]
    legacy = np.random.RandomState(1)
    if freeze:
        gc.freeze()
    garbage = OwnOfOwn()
    garbage.itself, gone = garbage, weakref.ref(garbage)  # type: ignore[attr-defined]
    del garbage
    passed_over = gc.get_freeze_count()
    for _ in range(2):
        assert set(map(id, alive())) >= set(map(id, made))
    assert id(legacy) not in map(id, alive())
    assert not any(isinstance(one, random.SystemRandom) for one in alive())
    assert (gc.get_freeze_count() > 0) == (passed_over > 0)
    gc.collect()
    assert gone() is None
