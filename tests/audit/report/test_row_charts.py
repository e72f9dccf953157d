"""Pictures of a row: what they show is what the row's evidence says, at its place."""

import dataclasses
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from subnormal.attacks.catalogue import attack
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.model import Report, Row, Sketch, Verdict
from subnormal.audit.report import bins, row_charts, svg
from subnormal.audit.report.finding import allowed_in
from subnormal.audit.report.svg import Panel
from subnormal.audit.statistics import curve_band
from subnormal.mechanisms.families import member
from subnormal.mechanisms.privacy import Claim

HEIGHT = svg.BOTTOM - svg.TOP
ALL = ["Both worlds", "The event", "Distribution functions", "Privacy curve δ(ε)"]


def examined(name: str, mechanism: str, runs: int = 200) -> Row:
    return examine(Crossing(attack(name), member(mechanism)), seed=1, runs=runs, alpha=0.05)


def panel(row: Row, title: str) -> Panel:
    return next(one for one in row_charts.of(row) if one.title == title)


def heights(drawn: Panel, css: str) -> list[int]:
    """How high above the axis the paths of a class reach: of bars, and of the centres of crosses."""
    paths = [path.attrib["d"] for path in ElementTree.fromstring(drawn.svg).iter("path") if path.get("class") == css]
    return [svg.BOTTOM - int(re.findall(r"V(\d+)H|M\d+ (\d+)l", path)[0][0 if "V" in path else 1]) for path in paths]


def test_every_picture_of_the_report_is_well_formed_and_says_what_it_is(report: Report) -> None:
    for row in report.rows:
        made = row_charts.of(row)
        assert row.sketch is None or made
        for one in made:
            label = ElementTree.fromstring(one.svg).attrib["aria-label"]
            assert label == f"{one.title}: {row.attack} on {row.mechanism}"
            assert len(one.svg) < 16_000
            assert not re.search("nan|inf(?!<)", re.sub("<text.*?</text>", "", one.svg))


def test_a_row_with_a_law_and_runs_has_every_picture_and_one_of_two_outcomes_no_distribution_function() -> None:
    many, two = (
        examined("zero-rounding", "exponential-exact"),
        examined("zero-rounding-two-outcomes", "exponential-exact"),
    )
    assert [one.title for one in row_charts.of(many)] == ALL
    assert [one.title for one in row_charts.of(two)] == [title for title in ALL if title != "Distribution functions"]


@pytest.mark.parametrize(
    ("name", "mechanism", "axis"),
    [
        ("rejection-tries", "exponential-base2", "tries"),
        ("sparse-vector-noisy-value", "sparse-vector-exact", "answers ⊥ before the first ⊤"),
        ("zero-rounding-two-outcomes", "exponential-exact", "outcome"),
    ],
)
def test_an_axis_says_what_is_on_it(name: str, mechanism: str, axis: str) -> None:
    assert f">{axis}</text>" in panel(examined(name, mechanism), "Both worlds").svg


def test_the_event_of_a_violation_lies_outside_what_the_claim_allows_and_that_of_a_sound_row_inside(
    report: Report,
) -> None:
    judged = 0
    for row in report.rows:
        proved = row.exact or row.exhaustive
        if proved is None or row.claim is None or proved.event_in is None or proved.event_out is None:
            continue
        least, most = allowed_in(proved.event_out, row.claim)
        inside = least - 1e-12 <= proved.event_in[1] and proved.event_in[0] <= most + 1e-12
        assert inside or proved.verdict is Verdict.VIOLATED
        if not inside:
            judged += 1
    assert judged > 20


def test_what_the_claim_allows_is_attained_by_randomized_response() -> None:
    truth = math.e / (1 + math.e)
    assert allowed_in((truth, truth), Claim(1.0)) == pytest.approx((1 - truth, 1 - (1 - truth) / math.e))
    assert allowed_in((1 - truth,) * 2, Claim(1.0)) == pytest.approx(((1 - truth) / math.e, truth))


def test_a_violation_too_small_for_the_axis_is_seen_on_a_logarithmic_one() -> None:
    """A δ of 2^−25 for a claim of 1e-10."""
    small = examined("uniform-floor", "threshold-naive-float32")
    assert small.exact is not None
    assert small.claim is not None
    drawn = panel(small, "Privacy curve δ(ε)")
    assert ">10⁻⁹</text>" in drawn.svg
    broken, allowed = heights(panel(small, "The event"), "f i")[0], heights(panel(small, "The event"), "b")[0]
    assert broken > allowed + HEIGHT / 10
    large = panel(examined("zero-rounding", "exponential-naive-float64"), "Privacy curve δ(ε)")
    assert ">0.8</text>" in large.svg


def test_bars_of_the_law_stand_at_its_probabilities() -> None:
    row = examined("zero-rounding-two-outcomes", "exponential-naive-float64")
    drawn = panel(row, "Both worlds")
    assert heights(drawn, "l i") == heights(drawn, "l o") == [HEIGHT]  # each world knows its outcome


def test_a_confidence_band_that_the_cells_are_too_coarse_for_says_so() -> None:
    drawn = panel(examined("least-significant-bits", "laplace-naive-float64", 2_000), "Privacy curve δ(ε)")
    assert "too coarse to show the violation; the event shows it" in drawn.caption


@pytest.mark.parametrize(
    "edges",
    [
        [-np.inf, np.inf],
        [-np.inf, *range(20), np.inf],
        [*np.linspace(0, 1, 20) ** 2, np.inf],
        [2.0**60, 2.0**60 + 256],
        [*np.arange(1000.0)],
        [*(2.0**60 + 256 * np.arange(1000))],
        [5.0],
        [0.0, 5e-324, 1.0],
        [*np.geomspace(5e-324, 1e308, 300)],
        [*range(20), np.nan],
    ],
)
@pytest.mark.parametrize("lawful", [True, False])
def test_any_cells_can_be_drawn(edges: list[float], lawful: bool) -> None:
    ends = np.array(edges)
    masses = np.full(len(ends), 1 / len(ends)), np.append(np.zeros(len(ends) - 1), 1.0)
    row = examined("zero-rounding", "exponential-exact")
    made = row_charts.of(dataclasses.replace(row, sketch=Sketch(ends, masses, masses if lawful else None, None)))
    assert "Both worlds" in [one.title for one in made]
    for one in made:
        ElementTree.fromstring(one.svg)
    shown = bins.of(Sketch(ends, masses, None, None), row_charts.BINS)
    assert shown.sampled is not None
    assert [world.sum() for world in shown.sampled] == [pytest.approx(1), pytest.approx(1)]


def test_runs_between_the_ends_of_a_pilots_cells_are_spread_over_the_bins() -> None:
    """No bin of an even density is empty because no cell happens to end in it."""
    ends = np.sort(np.random.default_rng(1).random(200))
    shares = np.diff(ends, prepend=0.0)
    shown = bins.of(Sketch(ends, (shares, shares), None, None))
    assert shown.sampled is not None
    inner = shown.sampled[0][1:-1]
    assert inner.max() < 2 * inner.min()


def test_whole_numbers_have_a_bin_each_though_some_of_them_are_impossible() -> None:
    ends = np.array([3.0, *range(9, 27), 28.0])
    shares = np.full(len(ends), 1 / len(ends))
    shown = bins.of(Sketch(ends, None, (shares, shares), None))
    assert shown.law is not None
    assert (shown.merged, shown.ends.tolist()) == (False, list(range(3, 29)))
    assert np.flatnonzero(shown.law[0] == 0).tolist() == [1, 2, 3, 4, 5, 24]


def test_the_running_e_value_crosses_its_threshold_where_the_claim_is_refuted() -> None:
    crossing = Crossing(attack("zero-rounding"), member("exponential-naive-float64"))
    row = examine(crossing, seed=1, runs=2_000, alpha=0.05, until_decided=True)
    drawn = panel(row, "Running e-value")
    lines = [path.attrib for path in ElementTree.fromstring(drawn.svg).iter("path")]
    (run,) = [line["d"] for line in lines if line.get("class") == "l k"]
    (limit,) = [line["d"] for line in lines if line.get("class") == "t c"]
    climbed = -sum(int(one) for one in re.findall(r"l\d+ ?(-?\d+)|v(-?\d+)", run)[0] if one)
    assert climbed > 0
    ups = [int(one[0] or one[1] or 0) for one in re.findall(r"l\d+ ?(-?\d+)|v(-?\d+)", run)]
    last = int(re.findall(r"M\d+ (\d+)", run)[0]) + sum(ups)
    assert last < int(re.findall(r"M\d+ (\d+)", limit)[0])
    assert "1/α = 20" in drawn.svg


def test_a_drawn_band_never_lies_above_the_law(report: Report) -> None:
    """At the seeds of the report; α is shared by its rows."""
    judged = 0
    for row in report.rows:
        if row.reproducible and row.sketch is not None and row.sketch.curve is not None and row.sketch.band is not None:
            assert (row.sketch.band.lower <= row.sketch.curve[1] + 1e-12).all()
            assert len(curve_band.groups(len(row.sketch.edges), row.sketch.law)) == len(row.sketch.edges)
            judged += 1
    assert judged > 50


def test_without_a_law_a_line_above_the_claim_is_not_said_to_break_it() -> None:
    counted = examined("grid-precision", "laplace-naive-float64", 500)
    assert counted.sketch is not None
    unlawful = dataclasses.replace(counted, exact=None, sketch=dataclasses.replace(counted.sketch, curve=None))
    assert "violated where all of the shaded band is above it" in panel(unlawful, "Privacy curve δ(ε)").caption
    assert (
        "violated where the line is above it"
        in panel(examined("zero-rounding", "exponential-exact"), "Privacy curve δ(ε)").caption
    )
