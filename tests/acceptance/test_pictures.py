"""Pictures for notebooks say what is on their axes, and never call refused what is only not there."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from notebooks import pictures
from subnormal.attacks.catalogue import attack
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.model import Row, Sketch
from subnormal.mechanisms.families import member


@pytest.mark.parametrize(
    ("name", "mechanism", "axis"),
    [
        ("rejection-tries", "exponential-base2", "tries"),
        ("sparse-vector-noisy-value", "sparse-vector-exact", "answers ⊥ before the first ⊤"),
        ("negligible-region", "partitions-exact", "first count"),
        ("zero-rounding-two-outcomes", "exponential-exact", "outcome"),
    ],
)
def test_an_axis_says_what_is_on_it(name: str, mechanism: str, axis: str) -> None:
    panel = _drawn(name, mechanism)
    assert panel.get_xlabel() == axis


@pytest.mark.parametrize("mechanism", ["threshold-naive-float32", "threshold-exact"])
def test_a_key_that_is_not_released_is_no_refusal(mechanism: str) -> None:
    panel = _drawn("singleton-key", mechanism)
    assert panel.get_xlabel() == "value released for her key"
    assert next(label.get_text() for label in panel.get_xticklabels()) == "none"


def test_next_to_all_of_the_mass_on_one_value_keeps_its_name() -> None:
    edges = np.array([5.0, *range(7, 16)])
    masses = np.array([0.99991, *[0.00001] * 9])
    panel = _panel()
    pictures.draw_worlds(panel, Sketch(edges, None, (masses, masses), None))
    assert [label.get_text() for label in panel.get_xticklabels()] == ["5 or less", "more"]


def _drawn(name: str, mechanism: str) -> Any:
    return pictures.side_by_side([_row(name, mechanism)]).axes[0]


def _row(name: str, mechanism: str) -> Row:
    return examine(Crossing(attack(name), member(mechanism)), seed=1, runs=200, alpha=0.05)


def _panel() -> Any:
    return Figure().subplots()
