"""Pictures say what is on their axes, and never call refused what is only not there."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

from subnormal import plots
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
    row = replace(_row("singleton-key", "threshold-exact"), sketch=Sketch(edges, None, (masses, masses), None))
    panel: Any = plots.side_by_side([row]).axes[0]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["5 or less", "more"]


def _drawn(name: str, mechanism: str) -> Any:
    return plots.side_by_side([_row(name, mechanism)]).axes[0]


def _row(name: str, mechanism: str) -> Row:
    return examine(Crossing(attack(name), member(mechanism)), seed=1, runs=200, alpha=0.05)


FLAT = plots.Panel(
    curves={"a": ([1, 2], [3, 4], "in joined"), "b": ([1, 2], [1, 2], "out bars")}, x="x", numbers="{:g}"
)


@pytest.mark.parametrize(
    "figure",
    [
        plots.picture(FLAT, FLAT, size=(8, 3)),
        plots.cells({"row": [(0, 1, "cell", "in"), (1, 2, "rest", "")]}, "x", (6, 2)),
        plots.ticks({"title": {"row": ([1, 2], "in"), "other": ([2, 3], "out")}}, "x", (6, 2)),
    ],
    ids=["picture", "cells", "ticks"],
)
def test_every_letter_can_be_read_from_the_last_row(figure: plots.Figure) -> None:
    shown: list[Any] = [text for text in figure.findobj(Text) if text.get_text()]
    assert shown
    assert {text.get_text(): text.get_fontsize() for text in shown if text.get_fontsize() < 12} == {}
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_every_letter_of_a_row_can_be_read_from_the_last_row() -> None:
    figure = plots.side_by_side([_row("zero-rounding-two-outcomes", "exponential-exact")], title="a title")
    shown: list[Any] = [text for text in figure.findobj(Text) if text.get_text()]
    assert shown
    assert all(text.get_fontsize() >= 12 for text in shown)


def test_a_tick_that_two_rows_share_is_black() -> None:
    figure = plots.ticks({"": {"one": ([1, 2], "in"), "two": ([2, 3], "out"), "all": ([1, 2, 3], "pale")}})
    collections: Any = figure.axes[0].collections
    black = [lines for lines in collections if np.array_equal(lines.get_colors()[:1], [[0, 0, 0, 1]])]
    assert [[path.vertices[0, 0] for path in lines.get_paths()] for lines in black if lines.get_paths()] == [[2], [2]]


def test_bars_of_one_place_stand_side_by_side() -> None:
    both = plots.Panel(curves={"a": ([1, 2], [3, 4], "in bars"), "b": ([1, 2], [1, 2], "out bars")}, x="")
    assert _middles(FLAT) == pytest.approx([1, 2])
    assert _middles(both) == pytest.approx([0.8, 1.8, 1.2, 2.2])


def _middles(panel: plots.Panel) -> list[float]:
    bars: Any = plots.picture(panel).axes[0].patches
    return [bar.get_x() + bar.get_width() / 2 for bar in bars]
