"""No claim is tried on worlds that it does not cover, whoever is asked to try it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from subnormal import Claim, member
from subnormal.attacks.additive.absorption import absorption
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.audit.composition import leak_growth
from subnormal.audit.engine.pairs import Crossing, adjacent_worlds
from subnormal.audit.engine.row import examine
from subnormal.audit.vectors.attacks import vector
from tests.support.rows import distinguish
from tests.support.synthetic import attack_on_one_bit, randomized_response

FAR = dataclasses.replace(absorption(), worlds=lambda: (0.0, 9.0))


def refused(attack: Any, mechanism: Any, *, until_decided: bool = False) -> None:
    """Raise what the row says went wrong."""
    made = examine(Crossing(attack, mechanism), seed=1, runs=1_000, alpha=0.05, until_decided=until_decided)
    assert not made.violated
    raise ValueError(made.error)


CONVICT: dict[str, Callable[[Any, Any], object]] = {
    "sampled": lambda attack, mechanism: distinguish(mechanism, attack, runs=1_000),
    "learned": lambda attack, mechanism: distinguish(mechanism, dataclasses.replace(attack, event=None)),
    "row": refused,
    "sequential row": lambda attack, mechanism: refused(attack, mechanism, until_decided=True),
    "timed row": lambda attack, mechanism: refused(dataclasses.replace(attack, channel="time"), mechanism),
    "composed": lambda attack, mechanism: leak_growth.both_directions("far", mechanism, attack),
    "leak growth": lambda attack, mechanism: leak_growth.measure_leaks([attack]),
    "a file": lambda attack, mechanism: vector(attack),
}


@pytest.mark.parametrize("name", CONVICT)
def test_worlds_nine_apart_are_refused_before_the_first_run(name: str) -> None:
    exact = dataclasses.replace(member("laplace-exact-base-e"), sample=lambda *given: pytest.fail("has been run"))
    with pytest.raises(ValueError, match="the attack's worlds are not adjacent: no claim covers them"):
        CONVICT[name](FAR, exact)


def test_worlds_that_a_claim_covers_are_tried() -> None:
    near = dataclasses.replace(FAR, worlds=lambda: (0.0, 1.0))
    exact = member("laplace-exact-base-e")
    assert Crossing(near, exact).claimed() == ((0.0, 1.0), Claim(near.parameters.epsilon))
    assert adjacent_worlds(subnormal_time())
    assert vector(near)


def test_nothing_is_adjacent_in_a_family_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match=r"LookupError: unknown family 'synthetic'"):
        distinguish(randomized_response("any", 0.5, Claim(1.0)), attack_on_one_bit(), runs=100)
