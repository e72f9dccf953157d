"""The picture of a training run's ε says between which numbers it lies."""

from dataclasses import replace

import pytest

from subnormal import audit_one_run, plots

AUDIT = audit_one_run([3.0, 0.0] * 40, [True, False] * 40, delta=1e-5)


def test_the_truth_lies_between_numbers_that_are_rounded_outwards() -> None:
    audits = [replace(AUDIT, epsilon_lower=1.0), replace(AUDIT, epsilon_lower=1.999)]
    axes = plots.epsilon_between([10, 1000], audits, [2.0, 3.201]).axes[0]
    assert axes.get_title() == "after 1,000 steps the truth lies between 1.99 and 3.21"
    assert axes.get_ylabel() == "ε at δ = 1e-05"
    drawn = {str(line.get_label()): list(map(float, line.get_ydata())) for line in axes.lines}  # type: ignore[arg-type]
    assert drawn == {
        "certified by the accountant": [2.0, 3.201],
        "proved by the audit, confidence 0.95": [1.0, 1.999],
    }


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="got 1, 1 and 0"):
        plots.epsilon_between([1], [AUDIT], [])
    with pytest.raises(ValueError, match="one delta and one confidence"):
        plots.epsilon_between([1, 2], [AUDIT, replace(AUDIT, delta=0.1)], [5.0, 6.0])
