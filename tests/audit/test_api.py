"""`subnormal.run` and `subnormal.load`: the report of the command line, as a Python object."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subnormal import Report, attack, load, run
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.audit import model
from subnormal.audit.api import chosen
from subnormal.audit.report import sentences
from subnormal.audit.report.finding import finding
from tests.support import processes
from tests.support.processes import SUBNORMAL

ATTACKS = ["zero-rounding", "grid-precision", "rejection-tries"]
MECHANISMS = ["exponential-naive-float64", "exponential-base2", "laplace-naive-float64", "laplace-exact"]


def broken_worlds() -> tuple[Any, Any]:
    raise ValueError("<no> worlds")


@pytest.fixture(scope="module")
def report() -> Report:
    """Every kind of evidence but exhaustive, a side channel, a clock, and an error."""
    failing = dataclasses.replace(attack("zero-rounding"), name="failing", worlds=broken_worlds)
    decided = run(["grid-precision", "rejection-tries"], runs=2_000, jobs=1, until_decided=True)
    others = run(["zero-rounding", subnormal_time(outcomes=50), failing], runs=500, jobs=1)
    assert {kind for row in (*decided.rows, *others.rows) for kind in row.evidence} == {
        "exact",
        "sampled",
        "sequential",
        "timing",
    }
    rows = (*decided.rows, *others.rows)
    return Report("0", 1, 500, 0.05, 0.01, {"numpy": np.__version__}, rows)


def test_the_command_writes_the_same_report(tmp_path: Path) -> None:
    """To the byte but for the command line, even in a script that does not guard its main part, with two processes."""
    asked = [word for name in ATTACKS for word in ("--attack", name)]
    asked += [word for name in MECHANISMS for word in ("--mechanism", name)]
    shown = processes.run([*SUBNORMAL, "run", *asked, "--quick", "--jobs", "1", "--out", "command"], cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    script = tmp_path / "script.py"
    script.write_text(
        "import subnormal\nprint('begun')\n"
        f"subnormal.run({ATTACKS[::-1]}, {MECHANISMS[::-1]}, quick=True, jobs=2).save('script')\n"
    )
    shown = processes.run([sys.executable, str(script)], cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (0, "begun\n"), shown.stderr
    line = f"subnormal run {' '.join(asked)} --quick"
    for name, written, absent in (
        ("report.json", f'"command": "{line}"', '"command": null'),
        ("report.html", f"<dt>command</dt><dd>{line}</dd>\n", ""),
    ):
        by_command = (tmp_path / "command" / name).read_text()
        assert by_command.count(written) == 1
        assert (tmp_path / "script" / name).read_text() == by_command.replace(written, absent)


def test_a_report_that_is_read_back_is_the_same(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    again = load(tmp_path / "report.json")
    assert type(again) is Report
    assert again == dataclasses.replace(
        report,
        rows=tuple(
            dataclasses.replace(row, sketch=None, event=ours.event, parameters=ours.parameters)
            for row, ours in zip(report.rows, again.rows, strict=True)
        ),
    )
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "report.json").read_bytes() == (tmp_path / "report.json").read_bytes()
    assert [finding(row) for row in again.rows] == [finding(row) for row in report.rows]


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[]")
    with pytest.raises(ValueError, match=r"report\.json .*no schema"):
        load(tmp_path / "report.json")


def test_a_report_is_shown_by_its_verdicts(report: Report) -> None:
    assert repr(report).startswith(f"<Report: {len(report.rows)} rows: {len(report.violated)} VIOLATED, 5 ERROR, ")


def test_a_frame_has_a_line_for_each_row(report: Report) -> None:
    frame = report.to_frame()
    assert len(frame) == len(report.rows)
    assert list(frame["verdict"]) == [sentences.verdict(row) for row in report.rows]
    assert list(frame["found"]) == [finding(row).found for row in report.rows]
    for kind, name in (("exact", "epsilon"), ("sampled", "epsilon_lower"), ("sequential", "runs")):
        expected = [np.nan if (part := getattr(row, kind)) is None else getattr(part, name) for row in report.rows]
        np.testing.assert_array_equal(frame[f"{kind}.{name}"].to_numpy(dtype=float), expected)


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"attacks": "zero-rounding"}, TypeError, "attacks must be a list of names, got the string 'zero-rounding'"),
        ({"mechanisms": "laplace-exact"}, TypeError, "mechanisms must be a list"),
        ({"attacks": ["zero-roundin"]}, LookupError, "did you mean 'zero-rounding'"),
        ({"mechanisms": ["laplace-exakt"]}, LookupError, "did you mean 'laplace-exact'"),
        ({"family": "laplac"}, LookupError, "did you mean 'laplace'"),
        ({"runs": -1}, ValueError, "runs must be at least 0, got -1"),
        ({"runs": 1e5}, TypeError, "runs must be a whole number, got 100000.0"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"jobs": 0}, ValueError, "jobs must be at least 1, got 0"),
        ({"alpha": float("nan")}, ValueError, "alpha must be between 0 and 1, got nan"),
        ({"attacks": ["zero-rounding"], "mechanisms": ["laplace-exact"]}, ValueError, "everything=True"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error) as raised:
        run(**options)
    assert told in str(raised.value)


def test_a_quick_look_leaves_out_what_is_slow_unless_it_is_named() -> None:
    slow = {one.name for one in chosen([]) if one.slow}
    assert slow
    assert slow.isdisjoint(one.name for one in chosen([], slow=False))
    assert [one.name for one in chosen(sorted(slow)[:1], slow=False)] == sorted(slow)[:1]
    assert run(["zero-rounding"], ["exponential-exact"], quick=True, jobs=1).runs == 2_000


def test_an_attack_may_be_given_itself() -> None:
    own = dataclasses.replace(attack("zero-rounding"), name="own")
    assert chosen(["zero-rounding", attack("zero-rounding"), own]) == [attack("zero-rounding"), own]
    with pytest.raises(ValueError, match="two different attacks are named 'own'"):
        chosen([own, dataclasses.replace(own)])
    report = run([own], ["exponential-naive-float64"], runs=100, jobs=1)
    assert [(row.attack, row.verdict) for row in report.rows] == [("own", model.Verdict.VIOLATED)]
