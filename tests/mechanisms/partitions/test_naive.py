"""The naive dynamic program and the attack on it: laws are those of the code, and a record decides what is possible."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.attacks.partitions.negligible_region import negligible_region
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Refused
from subnormal.mechanisms.families import member
from subnormal.mechanisms.partitions import naive as partitions_naive
from subnormal.mechanisms.partitions.bounds import by_total
from subnormal.mechanisms.partitions.family import PartitionParameters
from subnormal.mechanisms.samplers.float_uniforms import FELL_OFF, uniform_bits
from tests.support.walks import evidence, law_of

TYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


class Prepared:
    """A source of given words, shape (rows, draws): those of each row in turn."""

    word_bits = 64

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.left = list(words)

    def words(self, count: int, width: int) -> NDArray[np.uint64]:
        words: NDArray[np.uint64] = self.left.pop(0)
        assert len(words) == count
        assert int(words.max()) < 1 << width
        return words


def starts_of(law: Law[Any], width: int, rows: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return, for each beginning of a list, the first uniform that leads there and the first that leads no longer."""
    mass: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    atoms: list[Any] = list(law.atoms)
    for atom in atoms:
        for length in range(1, rows + 1):
            mass[atom[:length]] = mass.get(atom[:length], Fraction(0)) + law.probability(atom)[0]
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    ends: dict[tuple[int, ...], int] = {}
    for prefix in sorted(mass, key=lambda one: (len(one), one))[1:]:
        count = mass[prefix] / mass[prefix[:-1]] * (1 << width)
        assert count.denominator == 1
        start = ends.get(prefix[:-1], 0)
        ends[prefix[:-1]] = start + int(count)
        found[prefix] = start, start + int(count)
    assert set(ends.values()) == {1 << width}  # nothing else is possible, and nothing is left over
    return found


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """A count ascends with its uniform, so a law holds for all of them when it does for the first and the last of each
    count of each row. Of float16 all 2^22 pairs of uniforms go through a case of two rows."""
    width = uniform_bits(TYPES[mechanism.name.removeprefix("partitions-naive-")])
    for data, (lower, upper) in (([9, 4], by_total(14, 2)), ([3, 1, 1], by_total(6, 3)), ([30, 2], ((0, 0), (40, 3)))):
        parameters = PartitionParameters(1.5, tuple(map(int, lower)), tuple(map(int, upper)))
        law = law_of(mechanism, np.array(data), parameters)
        uniforms = starts_of(law, width, len(data))
        words, expected = [], []
        atoms: list[Any] = list(law.atoms)
        for atom in atoms:
            for last in (False, True):
                ends = [uniforms[atom[:length]] for length in range(1, len(atom) + 1)]
                words.append([stop - 1 if last else start for start, stop in ends])
                expected.append(list(atom))
        source: Any = Prepared(np.array(words, dtype=np.uint64).T)
        drawn = np.asarray(mechanism.sample(np.array(data), parameters, source, len(words)))
        assert drawn.tolist() == expected
        if width == 11 and len(data) == 2:
            every = np.arange(1 << 22, dtype=np.uint64)
            pairs: Any = Prepared(np.stack([every >> np.uint64(11), every & np.uint64(2047)]))
            drawn = np.asarray(mechanism.sample(np.array(data), parameters, pairs, 1 << 22))
            counts = np.bincount(drawn @ [100, 1], minlength=10_000).tolist()
            expected_counts = {one * 100 + two: law.probability((one, two))[0] * (1 << 22) for one, two in atoms}
            assert {at: count for at, count in enumerate(counts) if count} == expected_counts


def test_sums_that_overflow_leave_no_list() -> None:
    """In float16 the weights of 40 small counts exceed 65504: ∞/∞ is no number, and no uniform is below it."""
    data, (lower, upper) = [1] * 5, ((0,) * 5, (40,) * 5)
    options: dict[str, Any] = {"lower": lower, "upper": upper, "float_type": np.float16}
    assert np.isinf(partitions_naive.weights(data, 0.01, **options)[0]).any()
    drawn = partitions_naive.sample(data, 0.01, seeded_bits(1), 5, **options)
    assert FELL_OFF in drawn
    assert all(isinstance(one, Refused | tuple) for one in drawn)
    law = partitions_naive.law([18] * 4, 0.001, lower=(0,) * 4, upper=(36,) * 4, float_type=np.float16)
    assert law.probability(FELL_OFF) == (1, 1)  # 91,390 lists, each of a weight near 1


def mass_alone(law: Law[Any], other: Law[Any]) -> Fraction:
    """Return the mass that a law has where another has none."""
    possible = set(other.atoms)
    return sum((law.probability(atom)[0] for atom in law.atoms if atom not in possible), Fraction(0))


def test_the_negligible_region_tells_on_one_record() -> None:
    """40 records at ε = 1, against 39: what only the one can show has a mass of 4.88e-4, only the other 7.65e-4."""
    attack = negligible_region()
    assert [int(world.sum()) for world in attack.worlds()] == [40, 39]
    naive, sound = member("partitions-naive-float16"), member("partitions-exact")
    law_in, law_out = (law_of(naive, world, attack.parameters) for world in attack.worlds())
    assert float(mass_alone(law_out, law_in)) == pytest.approx(7.65e-4, rel=1e-3)
    assert mass_alone(law_in, law_out) == Fraction(1, 2048)
    laws = [law_of(sound, world, attack.parameters) for world in attack.worlds()]
    assert mass_alone(*laws) == mass_alone(*laws[::-1]) == 0
    assert len(law_in.atoms) < 0.6 * len(laws[0].atoms)  # nearly half of the lists have become impossible


@pytest.mark.parametrize("epsilon", [0.7, 1.5, 2.0, 4.0])
def test_the_region_of_another_budget(epsilon: float) -> None:
    attack = negligible_region(epsilon)
    found = evidence(attack, member("partitions-naive-float16"))
    assert found.epsilon == np.inf
    assert (found.advantage or 0) >= 2**-11


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_finer_floats_push_the_region_out_of_sight(kind: str) -> None:
    """On these worlds float32 and float64 lose no list: a negative result is a result. float32 spoils rare ones."""
    attack = negligible_region()
    naive, sound = member(f"partitions-naive-{kind}"), member("partitions-exact")
    losses = []
    for mechanism in (naive, sound):
        laws = [law_of(mechanism, world, attack.parameters) for world in attack.worlds()]
        assert mass_alone(*laws) == mass_alone(*laws[::-1]) == 0
        losses.append(exact.compare(laws[0], laws[1], mechanism.claim(attack.parameters, *attack.worlds())).epsilon)
    assert losses[1] == pytest.approx(0.5421, abs=1e-4)
    assert losses[0] == pytest.approx(losses[1], abs=1e-3 if kind == "float64" else 0.2)
