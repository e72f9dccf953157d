"""The ε of a training run: between what an audit proves from below and what an accountant certifies from above."""

from __future__ import annotations

from collections.abc import Sequence

from subnormal.audit.statistics.one_run import OneRun
from subnormal.plots.figure import Figure
from subnormal.plots.panels import Panel, picture


def epsilon_between(steps: Sequence[int], audits: Sequence[OneRun], certified: Sequence[float]) -> Figure:
    """Return the audits' lower bounds on ε over the steps of training, below the certified upper bounds.

    A note at the last step says between which numbers the truth lies. Each lower bound has its own confidence, as
    training is audited once for each.

    Args:
        steps: numbers of steps, ascending, at which a run was audited.
        audits: what `audit_one_run` returned there, at one δ and one confidence.
        certified: upper bounds on ε at that δ after so many steps, as an accountant says.

    Returns:
        A figure of matplotlib.

    Raises:
        ValueError: the three have different lengths, there are none, or audits differ in δ or confidence.
    """
    if not steps or not len(steps) == len(audits) == len(certified):
        raise ValueError(f"as many steps, audits and bounds, got {len(steps)}, {len(audits)} and {len(certified)}")
    if len({(one.delta, one.confidence) for one in audits}) > 1:
        raise ValueError("all audits must have one delta and one confidence")
    proved = [one.epsilon_lower for one in audits]
    panel = Panel(
        curves={
            "certified by the accountant": (steps, certified, "claim joined squares"),
            f"proved by the audit, confidence {audits[0].confidence:g}": (steps, proved, "exact joined"),
            "_between": (steps, (proved, certified), "pale band"),
        },
        x="steps",
        y=f"ε at δ = {audits[0].delta:g}",
        title=f"after {steps[-1]:,} steps the truth lies between {_down(proved[-1])} and {_up(certified[-1])}",
        ylim=(0.0, None),
        legend="upper left",
    )
    return picture(panel, size=(8, 4.6))


def _down(number: float) -> str:
    """Return a number to two decimals, rounded towards zero.

    >>> _down(1.999), _up(3.001)
    ('1.99', '3.01')
    """
    return f"{number // 0.01 / 100:.2f}"


def _up(number: float) -> str:
    return f"{-(-number // 0.01) / 100:.2f}"
