"""Several threads of one process, as some workers have: laws and samples are the same as one thread's."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest

from attacks import catalogue
from mechanisms.families import member
from mechanisms.interface import NoLawError
from mechanisms.law import Law
from tests.clusters import counts

THREADS = 3
# Base e, which MPFR rounds in both directions; base 2, which traps what is not exact; floats, under errstate.
MET = [
    ("zero-rounding", "exponential-exact"),
    ("truncated-addition", "exponential-base2"),
    ("zero-rounding", "exponential-naive-float16"),
    ("least-significant-bits", "laplace-exact-base-e"),
    ("least-significant-bits", "laplace-base2"),
    ("box-muller-inversion", "gaussian-exact"),
]


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads take turns a hundred times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(usual)


def forget() -> None:
    """Empty every cache of the mechanisms, so that whoever comes next computes anew."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "mechanisms":
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


@pytest.mark.usefixtures("switching")
def test_threads_compute_what_one_does() -> None:
    alone = []
    for met in MET:
        forget()
        alone.append(computed(*met))
    for _ in range(2):
        forget()
        begin = Barrier(THREADS)

        def together(shift: int, begin: Barrier = begin) -> list[tuple[object, ...]]:
            begin.wait(60)
            order = [(place + shift) % len(MET) for place in range(len(MET))]
            found = {place: computed(*MET[place]) for place in order}
            return [found[place] for place in range(len(MET))]

        with ThreadPoolExecutor(THREADS) as pool:
            for found in pool.map(together, (0, 0, 3)):
                assert found == alone
