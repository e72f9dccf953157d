"""Rows that a clock decides: where they stand, what they say, and that they say it of whatever the clock showed."""

import dataclasses
import json
import os
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.text import Text

from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.attacks.side_channels.rejection_time import rejection_time
from subnormal.attacks.side_channels.rejection_tries import rejection_tries
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.engine.row import examine
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.evidence import timing
from subnormal.audit.evidence.timing import Times
from subnormal.audit.model import Report, Row, Verdict
from subnormal.audit.report import junit, page, row_charts, terminal, to_html, to_json
from subnormal.audit.report.diff import differences
from subnormal.audit.report.load import parse
from subnormal.mechanisms.families import member
from tests.support.synthetic import clocked

NAIVE = member("exponential-naive-float64")
SMALL = subnormal_time(outcomes=50)


@pytest.fixture(scope="module")
def row() -> Row:
    return examine(Crossing(SMALL, NAIVE), seed=1, runs=100, alpha=0.05)


def reported(*of: Row) -> Report:
    return Report("0", 1, 100, 0.05, 0.05, {}, of)


def leaking(row: Row, times: Times) -> Row:
    """The row, had the clock shown these times."""
    assert row.claim is not None
    return dataclasses.replace(row, timing=timing.judge(times, row.claim, 0.05, seed=1), sketch=timing.sketch(times))


def test_a_row_of_time_has_no_other_evidence_and_cannot_be_reproduced(row: Row) -> None:
    assert row.timing is not None
    assert (row.error, row.timing.measurements, row.timing.median_in > 0) == (None, 100, True)
    assert (row.exact, row.exhaustive, row.sampled, row.sequential) == (None, None, None, None)
    assert (row.channel, row.event, row.reproducible) == ("time", None, False)


def test_the_sketch_holds_every_measurement(row: Row) -> None:
    assert row.sketch is not None
    assert row.sketch.sampled is not None
    assert [shares.sum() for shares in row.sketch.sampled] == [pytest.approx(1), pytest.approx(1)]
    assert [panel.title for panel in row_charts.of(row)] == ["Times", "The event"]


def test_no_fewer_measurements_than_can_be_judged() -> None:
    row: Any = examine(Crossing(SMALL, NAIVE), seed=1, runs=1, alpha=0.05)
    assert row.timing.measurements == timing.LEAST


def test_a_member_too_slow_to_be_timed_is_not_met() -> None:
    met = {(one.attack.name, one.mechanism.name) for one in crossings([subnormal_time(), rejection_time()])}
    assert ("subnormal-time", "exponential-base2") not in met
    assert {("subnormal-time", NAIVE.name), ("rejection-time", "exponential-base2")} < met


def test_rows_of_time_share_their_seconds_and_run_here_when_the_others_are_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[tuple[str, float, int]] = []

    def observe(mechanism: object, attack: AnyAttack, *, seconds: float, **given: object) -> Times:
        order.append((attack.name, seconds, os.getpid()))
        return clocked(1, 100)

    monkeypatch.setattr(timing, "observe", observe)
    met = crossings([SMALL, zero_rounding(), rejection_time()], mechanisms=[NAIVE.name, "exponential-exact"])
    report = examine_all(met, seed=1, runs=100, alpha=0.05)
    clocked_rows = [one.attack for one in report.rows if one.channel == "time"]
    assert [one.attack for one in report.rows[-len(clocked_rows) :]] == clocked_rows
    part = timing.SECONDS / 8  # the naive member is to be broken, and takes six of them
    assert order == [
        (SMALL.name, 6 * part, os.getpid()),
        (SMALL.name, part, os.getpid()),
        ("rejection-time", part, os.getpid()),
    ]
    assert report.alpha_per_row == pytest.approx(0.05 / len(report.rows))


def test_a_leak_is_a_violation_and_a_difference_is_not(row: Row) -> None:
    large, small = leaking(row, clocked(1, 1_000, extra=2.0)), leaking(row, clocked(1, 4_000, extra=0.1))
    assert [one.timing and one.timing.verdict for one in (large, small)] == [Verdict.VIOLATED, Verdict.NOT_REFUTED]
    assert all(one.timing is not None and one.timing.detected for one in (large, small))


CLOCKED = (clocked(1, 1_000, extra=2.0), clocked(1, 4_000, extra=0.1), clocked(1, 40))
SHOWN = [Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.UNDERPOWERED]


def test_what_a_clock_showed_changes_nothing_but_its_own_row(row: Row) -> None:
    """No count, order, layout, comparison, exit code or summary: in the next run the clock may show something else."""
    exact, base2 = member("exponential-exact"), member("exponential-base2")
    met = [(zero_rounding(), NAIVE), (zero_rounding(), exact), (rejection_tries(), base2), (rejection_tries(), exact)]
    counted = [examine(Crossing(*one), seed=1, runs=100, alpha=0.05) for one in met]
    assert [one.verdict for one in counted] == [Verdict.VIOLATED, Verdict.HOLDS] * 2
    timed = [row, dataclasses.replace(row, mechanism=exact.name), dataclasses.replace(row, attack="rejection-time")]
    made = [reported(*counted, *(leaking(one, times) for one in timed)) for times in CLOCKED]
    assert [one.rows[-1].timing and one.rows[-1].timing.verdict for one in made] == SHOWN
    for look in (summary, lines_of_others, first_screen, order_of_the_page, cases, violated):
        one, *others = (look(report) for report in made)
        assert one, look
        assert others == [one, one], look
    documents = [parse(to_json.to_json(one).encode()) for one in made]
    assert [differences(one, other) for one in documents for other in documents] == [[]] * 9


def summary(report: Report) -> list[str]:
    told = terminal.conclusion(report)
    clocked_rows = sum(one.timing is not None for one in report.rows)
    assert f", {clocked_rows} MEASURED." in " ".join(told)
    return told


def lines_of_others(report: Report) -> list[str]:
    """What a terminal shows without the lines of rows that a clock measured, which come last."""
    text = "\n".join(line.plain for line in terminal.lines(report) if isinstance(line, Text))
    others, rest = text[: text.index("(side channel: time)")], text[text.index("Claims that hold") :]
    assert "VIOLATED" in others
    return [others, rest]


def first_screen(report: Report) -> list[str]:
    return [one.split("</section>")[0] for one in to_html.to_html(report).split("<section")[1:5]]


def order_of_the_page(report: Report) -> list[tuple[str, str]]:
    parts = page.parts(report)
    return [
        (one.row.attack, one.mechanism) for one in (*page.table(parts), *(row for part in parts for row in part.rows))
    ]


def cases(report: Report) -> list[tuple[str, str, str]]:
    """The counts of JUnit, and what each case is."""
    suite = ElementTree.fromstring(junit.to_junit(report))[0]
    counts = [(name, number, "") for name, number in suite.items()]
    return counts + [(one.get("classname", ""), one.get("name", ""), one[0].tag) for one in suite.iter("testcase")]


def violated(report: Report) -> list[tuple[str, str]]:
    """What `Report.violated` and the exit code follow."""
    return [(one.attack, one.mechanism) for one in report.rows if one.violated]


def test_a_clock_of_one_tick_is_still_json(row: Row) -> None:
    is_in = np.arange(100) % 3 == 0
    for nanoseconds, name, told in ((0 * is_in, "needed", ["inf", "inf"]), (np.where(is_in, 5, 9), "welch_t", "-inf")):
        still = leaking(row, Times(nanoseconds, is_in))
        assert json.loads(to_json.to_json(reported(still)))["rows"][0]["timing"][name] == told
