"""Several threads of one process, as some workers have: laws and samples are the same as one thread's."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from threading import Barrier
from typing import TypeVar

from subnormal.attacks import catalogue
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.families import member
from subnormal.mechanisms.numerics.interval import normal_tail
from subnormal.mechanisms.numerics.mpfr import (
    exact,
    exp_bounds,
    fraction,
    log_bounds,
    power,
    power_bounds,
    real,
)
from tests.support.clusters import counts

T = TypeVar("T")

# Base e, which MPFR rounds in both directions; base 2, which traps what is not exact; floats, under errstate.
MET = [
    ("zero-rounding", "exponential-exact"),
    ("truncated-addition", "exponential-base2"),
    ("zero-rounding", "exponential-naive-float16"),
    ("least-significant-bits", "laplace-exact-base-e"),
    ("least-significant-bits", "laplace-exact-base-e"),
    ("box-muller-inversion", "gaussian-exact"),
]


def forget() -> None:
    """Empty every cache of the mechanisms, so that whoever comes next computes anew."""
    for name, module in list(sys.modules.items()):
        if name.startswith("subnormal.mechanisms"):
            for held in vars(module).values():
                if hasattr(held, "cache_clear"):
                    held.cache_clear()


def computed(attack_name: str, mechanism_name: str) -> tuple[object, ...]:
    """Return what tasks compute: counts of draws and, where the law can be written down, its bounds."""
    attack, mechanism = catalogue.attack(attack_name), member(mechanism_name)
    drawn = counts(attack_name, mechanism_name, 0, 2_000)
    assert mechanism.law is not None
    with suppress(NoLawError):
        law = mechanism.law(attack.worlds()[0], attack.parameters)
        assert isinstance(law, Law)
        return drawn, list(law.low), list(law.high), law.denominator, law.rest
    return drawn


def enclosed(precision: int) -> list[object]:
    """Return enclosures of many numbers, and exact powers, at a precision."""
    found: list[object] = []
    for place in range(1, 60):
        found += [exp_bounds(Fraction(-place, 7), precision), log_bounds(Fraction(place, 7), precision)]
        found += [power_bounds(Fraction(place, 64), 5, precision), normal_tail(Fraction(place, 9))]
        with exact(precision):
            found.append(fraction(power(real(place), 3)))
    return found


def in_threads(function: Callable[[int], T], arguments: Sequence[int]) -> list[T]:
    """Return what the function gives for each argument, all at once, in threads that take turns every moment."""
    usual, begin = sys.getswitchinterval(), Barrier(len(arguments))

    def begun(argument: int) -> T:
        begin.wait(60)
        return function(argument)

    try:
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(len(arguments)) as pool:
            return list(pool.map(begun, arguments))
    finally:
        sys.setswitchinterval(usual)


def test_each_thread_rounds_in_its_own_direction_and_precision() -> None:
    precisions = (64, 65, 200)
    assert in_threads(enclosed, precisions) == [enclosed(precision) for precision in precisions]


def test_tasks_in_threads_compute_what_one_does() -> None:
    alone = []
    for met in MET:
        forget()
        alone.append(computed(*met))

    def together(shift: int) -> list[tuple[object, ...]]:
        found = {(place + shift) % len(MET): computed(*MET[(place + shift) % len(MET)]) for place in range(len(MET))}
        return [found[place] for place in range(len(MET))]

    forget()
    assert in_threads(together, (0, 0, 3)) == [alone] * 3
