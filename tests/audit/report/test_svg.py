"""Small charts: round ticks, zero on a logarithmic axis, and paths that are short and lose nothing."""

import re
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest

from subnormal.audit.report import svg
from subnormal.audit.report.svg import BOTTOM, LEFT, RIGHT, TOP, ZERO, Axis, Frame

UNIT = Frame(Axis("x", 0.0, 1.0), Axis("y", 0.0, 1.0))


@pytest.mark.parametrize(
    ("axis", "names"),
    [
        (Axis("", 0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (Axis("", -17.0, 16.0), ["−10", "0", "10"]),
        (Axis("", 0.0, 1.2e-4), ["0", "5e−5", "0.0001"]),
        (Axis("", 1e-12, 1.0, logarithmic=True), ["0", "10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "1"]),
        (Axis("", 64.0, 2000.0, logarithmic=True), ["0", "100", "200", "500", "1000", "2000"]),
        (Axis("", -0.5, 1.5, names=("none", "5")), ["none", "5"]),
    ],
)
def test_ticks_are_round_and_few(axis: Axis, names: list[str]) -> None:
    assert [name for _, name in axis.ticks()] == names


def test_ticks_far_from_zero_count_from_a_number_that_the_axis_names() -> None:
    axis = Axis("outcome", 2.0**60, 2.0**60 + 1024)
    assert [name for _, name in axis.ticks()] == ["0", "500", "1000"]
    assert f"outcome − {axis.origin:.0f}" in svg.chart(Frame(axis, UNIT.y), "told", [])


def test_a_logarithmic_axis_has_a_place_for_zero_below_its_least_number() -> None:
    shares = Axis("", 1e-6, 1.0, logarithmic=True).shares(np.array([0.0, 1e-9, 1e-6, 1e-3, 1.0, 10.0]))
    assert shares.tolist() == pytest.approx([0, 0, ZERO, (1 + ZERO) / 2, 1, 1])


def test_what_lies_beyond_an_axis_stands_at_its_end() -> None:
    xs, ys = UNIT.pixels([-5.0, 0.5, np.inf], [0.0, 0.5, 7.0])
    assert xs == [LEFT, (LEFT + RIGHT) // 2, RIGHT]
    assert ys == [BOTTOM, (TOP + BOTTOM) // 2, TOP]


def decoded(path: str) -> list[tuple[int, int]]:
    """The points of a path, as a reader of SVG goes through them."""
    at, points = (0, 0), []
    for letter, numbers in re.findall(r"([Mhvl])([-0-9 ]+)", path):
        moved = [int(one) for one in re.findall(r"-?\d+", numbers)]
        x, y = (moved[0], 0) if letter == "h" else (0, moved[0]) if letter == "v" else (moved[0], moved[1])
        at = (x, y) if letter == "M" else (at[0] + x, at[1] + y)
        points.append(at)
    return points


def passed(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every pixel on the way along level and upright lines, turns where they are; slanted ones jump."""
    way = points[:1]
    for x, y in points[1:]:
        while (x == way[-1][0]) != (y == way[-1][1]) and way[-1] != (x, y):
            way.append((way[-1][0] + np.sign(x - way[-1][0]), way[-1][1] + np.sign(y - way[-1][1])))
        if way[-1] != (x, y):
            way.append((x, y))
    return way


def test_no_path_loses_a_turn() -> None:
    """All ways through four points of a small grid."""
    places = list(product(range(3), range(2)))
    for points in product(places, repeat=4):
        xs, ys = (list(numbers) for numbers in zip(*points, strict=True))
        assert passed(decoded(svg._path(xs, ys))) == passed(list(points))


def test_equal_neighbours_cost_nothing() -> None:
    heights = np.concatenate([np.full(500, 0.25), np.full(500, 0.5)])
    path = svg.line(UNIT, *svg.steps(np.linspace(0, 1, 1001), heights), "l")
    assert len(decoded(path.split('"')[1])) == 4


def test_a_chart_is_well_formed_whatever_it_is_told() -> None:
    frame = Frame(Axis("<&>", -0.5, 1.5, names=('"', "'")), UNIT.y)
    marks = [
        svg.text(frame, 0, 0.5, "a < b & c"),
        svg.cross(frame, 0, 1, "c"),
        svg.interval(frame, 1, (0, 1), ""),
    ]
    made = svg.chart(frame, 'a "b" <c>', marks)
    assert ElementTree.fromstring(made).attrib["aria-label"] == 'a "b" <c>'
    assert made == svg.chart(frame, 'a "b" <c>', marks)


def test_labels_do_not_run_into_each_other_nor_out_of_the_picture() -> None:
    names = tuple(f"115292150460684{number}" for number in range(8))
    drawn = ElementTree.fromstring(svg.chart(Frame(Axis("", -0.5, 7.5, names=names), UNIT.y), "told", []))
    places = [int(text.attrib["x"]) for text in drawn.iter("text") if text.text in names]
    assert 1 < len(places) < 8
    assert min(np.diff(places)) >= 12 * len(names[0])
    assert places[0] >= 6 * len(names[0])
    assert places[-1] <= svg.WIDTH - 6 * len(names[0])
