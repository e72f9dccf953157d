"""Pictures of results: what they draw is what the rows say."""

import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from subnormal import load, plots, run
from subnormal.audit.api import Report


@pytest.fixture(scope="module")
def report() -> Report:
    names = ["exponential-naive-float64", "exponential-base2"]
    return run(["zero-rounding", "truncated-addition-half"], names, runs=0, jobs=1)


def test_bars_reach_from_world_to_world(report: Report) -> None:
    axes = plots.twin_bars(report).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["zero-rounding", "truncated-addition-half"]
    bars = [one for one in axes.patches if isinstance(one, Rectangle)]
    widths = [row.exact.advantage for row in report.rows if row.exact is not None]
    assert [bar.get_width() for bar in bars] == pytest.approx([max(0.004, width or 0) for width in widths])
    assert bars[0].get_x() == pytest.approx(0.01)  # the first of 100 outcomes, without Alice
    marks = [float(np.asarray(path.vertices)[0, 0]) for one in axes.collections for path in one.get_paths()]
    assert len(marks) == 4
    assert 1 - marks[0] == pytest.approx(0, abs=1e-9)  # from 1, e^-0.5 times 0 chances of the others are allowed
    with pytest.raises(ValueError, match="no row has the probabilities of an event"):
        plots.twin_bars([])


def test_profiles_are_the_curves_of_the_rows(report: Report, tmp_path: Path) -> None:
    figure = plots.loss_profile(report)
    assert [axes.get_title() for axes in figure.axes] == ["zero-rounding", "truncated-addition-half"]
    naive, claim, exact, _ = figure.axes[0].get_lines()
    assert report.rows[0].sketch is not None
    assert report.rows[0].sketch.curve is not None
    np.testing.assert_array_equal(naive.get_ydata(), report.rows[0].sketch.curve[1])
    assert min(np.asarray(naive.get_ydata())) > 0.9
    assert (np.asarray(claim.get_xdata()).tolist(), np.asarray(claim.get_ydata()).tolist()) == ([0.5], [0.0])
    xs, ys = np.asarray(exact.get_xdata()), np.asarray(exact.get_ydata())
    assert ys[0] > 0
    assert (ys[xs >= 0.5] == 0).all()
    assert figure._repr_png_().startswith(b"\x89PNG")
    report.save(tmp_path)
    with pytest.raises(ValueError, match="a loaded report has none"):
        plots.loss_profile(load(tmp_path / "report.json"))
    assert math.isclose(len(plots.loss_profile(report.rows[:1]).axes), 1)
