"""The timing figures: the fit, the numbers and the files. No test judges how fast anything is."""

import json
import os
from dataclasses import asdict, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from benchmarks.figures import curves, figures, rounding
from benchmarks.figures.__main__ import NAMES, main
from benchmarks.figures.curves import PLANS
from benchmarks.figures.figures import Plan, Series, Timings
from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, scripted_bits
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import Limits

PNG = b"\x89PNG"


def tiny(plan: Plan) -> Plan:
    """The plan with three sizes a curve."""
    last = round(plan.first * plan.ratio**2)
    return replace(plan, curves=tuple(replace(curve, last=last) for curve in plan.curves))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture(scope="module")
def measured() -> list[Timings]:
    return [figures.measure(tiny(plan), rounds=3, seed=1) for plan in PLANS]


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 0.93, 2.0])
def test_the_fit_finds_the_exponent_of_a_power_law_at_the_larger_sizes(exponent: float) -> None:
    at = (16, 32, 64, 128, 256)
    assert figures.fitted_exponent(at, [3e-6 * size**exponent for size in at]) == pytest.approx(exponent)
    assert figures.fitted_exponent(at, [1.0, 1.0, *(size**exponent for size in at[2:])]) == pytest.approx(exponent)
    assert figures.fitted_exponent(at[:2], [size**exponent for size in at[:2]]) == pytest.approx(exponent)


@pytest.mark.parametrize("at", [(), (16,)])
def test_one_size_is_no_power_law(at: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least two sizes"):
        figures.fitted_exponent(at, [1.0] * len(at))


@pytest.mark.parametrize(
    ("seconds", "growth"),
    [
        ((9, 9, 1, 2, 4), "$n^{1.00}$"),
        ((9, 9, 1, 2.2, 4), "$n^{1.00}$"),
        ((9, 9, 1, 1, 4), ""),  # flat, and then a jump
        ((9, 9, 1, 1.2, 1.44), ""),  # hardly a growth: the start of a bend
        ((1, 2, 4), ""),  # of two larger sizes, through which every law goes
    ],
)
def test_a_curve_that_follows_no_power_law_is_given_none(seconds: tuple[float, ...], growth: str) -> None:
    at = tuple(2**power for power in range(len(seconds)))
    series = figures.Series("one", at, seconds, seconds, seconds, figures.fitted_exponent(at, seconds))
    assert series.growth == growth


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
@pytest.mark.parametrize("quick", [False, True])
def test_curves_share_one_grid_and_have_enough_sizes_to_fit(plan: Plan, quick: bool) -> None:
    grids = [figures.sizes(plan.first, curve.last, plan.ratio, quick=quick) for curve in plan.curves]
    longest = max(grids, key=len)
    assert all(grid == longest[: len(grid)] and len(grid) >= 3 for grid in grids)
    if not quick:
        assert [grid[-1] for grid in grids] == [curve.last for curve in plan.curves]


def test_the_settings_are_the_papers() -> None:
    assert curves.outcomes(4).tolist() == [0, 1, 2, 3]
    wide = curves.wide(30)
    assert len(np.unique(wide)) == 1_000
    assert (wide[0], wide[1], wide[-1]) == (0, 31, 1029)


def test_every_member_is_timed_at_every_size_of_its_own(measured: list[Timings]) -> None:
    for plan, timings in zip(PLANS, measured, strict=True):
        assert [series.name for series in timings.series] == [curve.name for curve in plan.curves]
        for series in timings.series:
            assert series.sizes == figures.sizes(plan.first, series.sizes[-1], plan.ratio)
            rows = np.array([series.low, series.median, series.high])
            assert rows.shape == (3, len(series.sizes))
            assert (rows > 0).all()
            assert (np.diff(rows, axis=0) >= 0).all()


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_what_is_timed_is_one_draw(plan: Plan) -> None:
    for curve in plan.curves:
        drawn = curve.call(plan.first)()
        assert isinstance(drawn, int) if curve.name == "precision search, once" else len(drawn) == 1  # type: ignore[arg-type]


def test_ratios_compare_at_the_largest_size_that_all_share() -> None:
    short = Series("short", (16, 32), (2.0, 4.0), (2.0, 4.0), (2.0, 4.0), 1.0)
    long = Series("long", (16, 32, 64), (1.0, 1.0, 9.0), (1.0, 1.0, 9.0), (1.0, 1.0, 9.0), 0.0)
    timings = Timings("name", "title", "axis", 1, (short, long))
    assert timings.common_size == 32
    assert timings.ratios() == {"short": 1.0, "long": 0.25}


def test_the_numbers_that_are_written_are_those_of_the_picture(measured: list[Timings]) -> None:
    document = json.loads(figures.to_json(measured, seed=1))
    assert document["figures"] == json.loads(json.dumps([asdict(timings) for timings in measured]))
    assert figures.to_png(measured[0]).startswith(PNG)


@pytest.mark.parametrize("minimum", [1, 2])
def test_the_advantage_of_counting_bits_is_that_of_every_string_of_bits(minimum: int) -> None:
    limits = Limits(0, 1, 2)
    size = base2.working_precision(curves.ETA, limits)

    def draw(data: NDArray[np.int64], bits: BitSource) -> object:
        return base2.sample(data, curves.ETA, bits, 1, limits=limits, minimum_tries=minimum)

    law_in, law_out = (
        exhaustive.bits_consumed(partial(draw, data), depth=minimum * size)
        for data in (np.array([0, 1]), np.array([1, 1]))
    )
    assert law_out.probability(minimum * size) == (1, 1)
    assert law_in.rest == curves.tries_advantage(minimum, outcomes=2)


def test_the_advantages_of_figure_9() -> None:
    assert curves.tries_advantage(1) == Fraction(255, 512)
    assert curves.tries_advantage(9) > Fraction(1, 1000) > curves.tries_advantage(10)
    plan = next(plan for plan in PLANS if plan.advantage is not None)
    assert plan.name == "figure-9-tries"
    timings = figures.measure(tiny(plan), rounds=1, seed=1)
    assert timings.advantage == tuple(0.498046875**minimum for minimum in range(1, 5))
    assert figures.to_png(timings).startswith(PNG)


def test_the_command_writes_pictures_and_numbers_and_prints_exponents(tmp_path: Path) -> None:
    """Figures without times too."""
    (tmp_path / "figure-4-outcomes.png").write_text("of an earlier run")
    names = ["figure-10-error", "figure-11-bounds", "figure-6-range"]
    chosen = [word for name in names for word in ("--figure", name)]
    result = call("--quick", "--rounds", "1", *chosen, "--out", str(tmp_path))
    assert result.exit_code == 0
    assert sorted(os.listdir(tmp_path)) == [*(f"{name}.png" for name in names), "figures.json"]
    assert all((tmp_path / f"{name}.png").read_bytes().startswith(PNG) for name in names)
    document = json.loads((tmp_path / "figures.json").read_text())
    assert document["schema"] == "subnormal/figures/1"
    assert [figure["name"] for figure in document["figures"]] == ["figure-6-range"]
    for series in document["figures"][0]["series"]:
        assert series["name"] in result.stdout
        assert f"n^{series['exponent']:z.2f}" in result.stdout


def test_figures_10_and_11_have_the_numbers_of_the_paper() -> None:
    (errors,), (bounds,) = rounding.figure_10().axes, rounding.figure_11().axes
    coarse, *_, fine = (np.asarray(line.get_ydata()) for line in errors.get_lines())
    assert (round(coarse.max(), 5), len(coarse), len(fine)) == (0.02157, 81, 1281)
    (unrounded,) = (np.asarray(line.get_ydata()) for line in bounds.get_lines())
    assert round(unrounded.max(), 5) == 0.17157
    (band,) = (np.asarray(path.vertices) for one in bounds.collections for path in one.get_paths())
    at_the_value = band[band[:, 0] == 0, 1]
    assert round(np.ptp(at_the_value), 5) == 0.01542
    assert errors.get_title() == "η = 2, ε = 2.773"


def test_figure_8_draws_both_distributions() -> None:
    frequencies, cumulated = rounding.figure_8().axes
    assert [len(axes.get_lines()) for axes in (frequencies, cumulated)] == [2, 2]
    rounded, naive = (np.asarray(line.get_ydata()) for line in cumulated.get_lines())
    assert rounded[-1] == naive[-1] == 1
    # The laws are less than 0.002 apart; each sample is within 0.007 of its own, but with probability 10^-4.
    assert 0 < np.abs(rounded - naive).max() < 0.016


def test_figure_7_has_the_baseline_of_the_paper_and_noise_of_one_uniform() -> None:
    (plan,) = [plan for plan in PLANS if plan.name == "figure-7-granularity"]
    naive = ["naive float64", "naive, as in Figure 1", "inverse CDF, float64"]
    assert [curve.name for curve in plan.curves[:3]] == naive


@pytest.mark.parametrize("uniform", [at / 64 for at in range(1, 64, 2)])
@pytest.mark.parametrize("size", [1, 4])
def test_both_ways_to_add_up_select_the_same_outcome(
    size: int, uniform: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No uniform lies near the edge of an outcome's cell, so that no last bit decides."""
    word = f"{int(uniform * 2**53):053b}"
    monkeypatch.setattr(curves, "system_bits", lambda: scripted_bits(word))
    index: Any = curves.naive_selection_laplace(size).call(size)()
    outcome: Any = curves.figure_1_laplace(size).call(size)()
    assert outcome[0] == index[0] / size - curves.BOUND


def test_what_the_command_cannot_do_exits_2_and_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments, error in (
        (["--figure", "figure-5-precison"], "unknown figure 'figure-5-precison'; did you mean 'figure-5-precision'?"),
        (["--quick", "--out", str(tmp_path / "file" / "reports")], "Error: --out: "),
    ):
        result = call(*arguments)
        assert result.exit_code == 2
        assert error in result.stderr
    assert all(name in call("--help").stdout for name in NAMES)
