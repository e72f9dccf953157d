"""Attacks are descriptions: their worlds are adjacent, and their numbers those of the derivations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.attacks.catalogue import attacks
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.events import Between, OffGrid, OneOf, Refuses
from subnormal.attacks.exponential.float_boundaries import last_added, last_normal, last_positive
from subnormal.attacks.exponential.rounded_addition import rounded_addition
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.mechanisms.additive.family import of_coordinates
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.families import absent, family, members
from subnormal.mechanisms.samplers import float_uniforms
from tests.support.attack_files import file_of
from tests.support.family_cases import family_cases


def broken_rules(attack: Attack[Any, Any, Any]) -> list[str]:
    """Return what the worlds of an attack do not keep to, one line for each rule, with the file to edit."""
    data_in, data_out = attack.worlds()
    rules = {"the worlds are adjacent": family(attack.family).adjacent(attack.parameters, data_in, data_out)}
    for world, data in (("in", data_in), ("out", data_out)):
        kept = family_cases()[attack.family].bounds(attack.parameters, data)
        rules |= {f"world {world}: {rule}": holds for rule, holds in kept.items()}
    where = f"{file_of(attack)}: {attack.name}"
    return [f"{where}: broken rule: {rule}" for rule, holds in rules.items() if not holds]


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_the_worlds_are_adjacent_and_within_public_bounds(attack: Attack[Any, Any, Any]) -> None:
    assert broken_rules(attack) == []


def test_a_broken_rule_is_told_with_the_file_to_edit() -> None:
    worlds = np.array([0, 2981]), np.array([0, 2983])
    assert broken_rules(replace(zero_rounding(), worlds=lambda: worlds)) == [
        "attacks/exponential/zero_rounding.py: zero-rounding: broken rule: the worlds are adjacent",
        "attacks/exponential/zero_rounding.py: zero-rounding: broken rule: "
        "world out: utility_min ≤ utilities ≤ utility_max",
    ]


def test_names_are_unique_and_members_exist() -> None:
    assert len({attack.name for attack in attacks()}) == len(attacks())
    for attack in attacks():
        assert attack.breaks, f"{file_of(attack)}: {attack.name} breaks no mechanism"
        of = family(attack.family)
        missing = {*attack.breaks, *attack.fixes} - {mechanism.name for mechanism in (*members(of), *absent(of))}
        assert not missing, (
            f"{file_of(attack)}: {attack.name} names {missing}; mechanisms/families.py knows no such member"
        )


ON_ONE_NUMBER = [
    attack
    for attack in attacks()
    if attack.channel is None
    and attack.family in ("laplace", "gaussian")
    and not of_coordinates(attack.worlds()[0], attack.parameters.query)
]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("attack", ON_ONE_NUMBER, ids=lambda attack: attack.name)
def test_an_attack_on_a_number_takes_outcomes_of_every_float_type(attack: Attack[Any, Any, Any], kind: type) -> None:
    """And without a warning: a member in a float type meets every attack of its family."""
    assert attack.event is not None
    if {one.name for one in absent(family(attack.family))}.issuperset(attack.breaks):
        pytest.skip(f"the packages of {', '.join(attack.breaks)} are not installed")
    outcomes: NDArray[Any] = np.array([-np.inf, -1.5, 0.0, 65504.0, np.inf], dtype=kind)
    assert attack.event(outcomes).shape == outcomes.shape, file_of(attack)
    assert np.array_equal(attack.statistic(outcomes)[[0, -1]], [-np.inf, np.inf]), file_of(attack)


def test_a_name_tells_what_is_not_the_default() -> None:
    assert zero_rounding().name == "zero-rounding"
    assert zero_rounding(epsilon=1.0, float_type=np.float32).name == "zero-rounding@epsilon=1.0,float_type=float32"


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_one_unit_of_utility_makes_every_weight_subnormal(kind: type) -> None:
    attack = subnormal_time(outcomes=3, float_type=kind)
    with_alice, without = (
        exponential_naive.weights(data, attack.parameters.epsilon, float_type=kind) for data in attack.worlds()
    )
    assert (without >= np.finfo(kind).tiny).all()
    assert ((with_alice > 0) & (with_alice < np.finfo(kind).tiny)).all()


def test_the_last_utility_with_a_normal_weight() -> None:
    assert last_normal(1.0, np.float64) == 1416
    assert [int(data[0]) for data in subnormal_time().worlds()] == [1417, 1416]


def test_the_last_utility_with_a_positive_weight() -> None:
    assert last_positive(0.5, np.float64) == 2980
    # float32: 2^−150·… rounds to 0 beyond 150·ln 2·2/ε; float16: 25·ln 2·2/ε.
    assert last_positive(0.5, np.float32) == 415
    assert last_positive(0.5, np.float16) == 69


def test_the_least_utility_that_is_swallowed() -> None:
    assert last_added(37.0, np.float64) + 1 == 2
    assert last_added(1.0, np.float64) == 73  # 106·ln 2 = 73.47
    assert last_added(1.0, np.float32) == 33  # 48·ln 2 = 33.27


def test_the_worlds_of_truncated_addition() -> None:
    data_in, data_out = truncated_addition().worlds()
    assert (data_in[0], set(data_in[1:].tolist())) == (0, {2})
    assert set(data_out.tolist()) == {1}


@pytest.mark.parametrize(("epsilon", "kind", "expected"), [(0.02, np.float16, 762), (0.001, np.float32, 33271)])
def test_rounded_addition_straddles_half_a_unit_in_the_last_place(epsilon: float, kind: type, expected: int) -> None:
    data_in, data_out = rounded_addition(epsilon, 3, kind).worlds()
    assert (data_in[1], data_out[1]) == (expected + 1, expected)
    for data, unit in ((data_in, 0.0), (data_out, 2.0 ** (1 - float_uniforms.uniform_bits(kind)))):
        sums = np.cumsum(exponential_naive.weights(data, epsilon, float_type=kind))
        assert sums[-1] == 1 + 2 * unit


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("epsilon", [*np.geomspace(0.005, 10, 40), 0.0074, 0.014, 0.0181])
def test_the_boundaries_are_boundaries_at_any_epsilon(epsilon: float, kind: type) -> None:
    x, g = last_positive(epsilon, kind), last_added(epsilon, kind)
    positive = exponential_naive.weights([x, x + 1], epsilon, float_type=kind) > 0
    added = exponential_naive.weights([g, g + 1], epsilon, float_type=kind) + kind(1) > 1
    assert positive.tolist() == added.tolist() == [True, False]


@pytest.mark.parametrize("outcomes", [range(4), np.arange(4), [0, 1, 2, Refused("x")]])
def test_events_are_vectorised_predicates(outcomes: Any) -> None:
    assert OneOf((0, 2))(outcomes).tolist() == [True, False, True, False]
    assert Refuses()(outcomes).tolist() == [False, False, False, isinstance(outcomes, list)]


def test_events_are_json_objects() -> None:
    assert OneOf((0,)).to_json() == {"kind": "one-of", "outcomes": [0], "portable": True}
    assert Refuses().to_json() == {"kind": "refuses", "portable": True}


def test_events_compare_numbers_without_rounding() -> None:
    large = np.array([2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
    assert OneOf((2.0**53,))(large).tolist() == [True, False, False, False]
    assert OneOf((2**53 + 1, "a", 0.5))(large).tolist() == [False, True, False, False]
    assert OneOf((0.1, 1))(np.array([0.1, 1.0], dtype=np.float32)).tolist() == [False, True]  # no float32 is 0.1
    assert Between(2.0**53, 2.0**53)(large).tolist() == [True, False, False, False]
    assert Between(-np.inf, np.inf)(large).all()
    assert not Between(2.0**64, np.inf)(large).any()
    assert Between(0, 1)(np.array([0.0, 1.0, 2.0, np.nan])).tolist() == [True, True, False, False]
    assert OffGrid(1)(large).tolist() == [False, True, True, False]
    assert OffGrid(1)(np.array([5e-324, 2.0, np.nan, np.inf])).tolist() == [True, False, False, False]
    assert OffGrid(-53)(np.array([2.0**-53, 3 * 2.0**-54, -(2.0**-54)])).tolist() == [False, True, True]


def test_a_vector_is_one_outcome() -> None:
    vectors = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert OneOf(((0.0, 0.0),))(vectors).tolist() == [True, False]
    assert OneOf(((0.0, 0.0),))([(0.0, 0.0), (1.0, 0.0)]).tolist() == [True, False]
