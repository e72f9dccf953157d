"""A study: rows for every combination of options, with the numbers that a report has, and pictures of them."""

import csv
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from subnormal import load, plots, run, sweep
from subnormal.attacks import catalogue
from subnormal.audit import sweeps
from subnormal.audit.__main__ import main
from subnormal.audit.evidence import exact
from subnormal.audit.report import notebook
from subnormal.audit.statistics.binomial import ks_least

OVER = {"epsilon": [0.5, 4.0], "outcomes": "2:8", "float_type": ["float16", "float32"]}


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *arguments])


def test_a_study_has_both_twins_at_every_combination() -> None:
    study = sweep("zero-rounding", OVER)
    assert len(study) == 2 * 2 * 3 * 2
    assert list(study.columns[:3]) == list(OVER)
    naive, sound = study[~study.exact.astype(bool)], study[study.exact.astype(bool)]
    assert set(naive.mechanism) == {"exponential-naive-float16", "exponential-naive-float32"}
    assert set(sound.mechanism) == {"exponential-base2"}
    assert set(naive.verdict) == {"VIOLATED"}
    assert set(sound.verdict) == {"HOLDS"}
    assert all(naive.advantage == 1 - 1 / naive.outcomes)  # of the attack's own derivation
    assert list(naive.event_in_high - naive.event_out_low) == pytest.approx(list(naive.advantage))
    assert set(naive.loss) == {math.inf}
    assert [math.tanh(epsilon / 2) for epsilon in study.epsilon] == pytest.approx(list(study.allowed))
    assert all((sound.loss <= sound.epsilon) & (sound.delta == 0))
    assert all(study.event_in_low - study.event_out_high <= study.advantage + 1e-15)
    assert study.note.isna().all()
    assert (study.seconds > 0).all()


def test_a_study_and_a_report_have_the_same_numbers() -> None:
    """By two ways: the study compares laws alone, the report's distance comes from the bins of its charts."""
    over = {"outcomes": [2, 1000]}
    study = sweep("zero-rounding@epsilon=2", over)
    report = run([f"zero-rounding@epsilon=2,outcomes={k}" for k in (2, 1000)], jobs=1, runs=0).to_frame()
    for _, row in study.iterrows():
        same = report[(report.attack == row.attack) & (report.mechanism == row.mechanism)]
        assert same[list(notebook.STUDY)].to_numpy().tolist() == [row[list(notebook.STUDY)].tolist()]
    assert study.ks.tolist() == pytest.approx(study.total_variation.tolist())  # here the order does not hide anything


def test_a_combination_that_makes_no_attack_is_a_row_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    study = sweep("zero-rounding", {"outcomes": [1, 2], "float_type": ["float64", "float12"]})
    notes = study[study.verdict.isna()]
    assert notes[["outcomes", "float_type"]].to_numpy().tolist() == [[1, "float64"], [1, "float12"], [2, "float12"]]
    assert notes.note.iloc[0] == "outcomes must be at least 2, got 1"
    assert notes.note.iloc[2].startswith("float_type must be one of float64, float32, float16, bfloat16, ")
    assert notes.note.iloc[2].endswith("got 'float12'")
    assert list(study[study.note.isna()].verdict) == ["VIOLATED", "HOLDS"]

    def broken(*laws: Any) -> None:
        raise ZeroDivisionError("of the law")

    monkeypatch.setattr(exact, "compare", broken)
    assert set(sweep("zero-rounding", {}).note) == {"ZeroDivisionError: of the law"}


def test_no_verdict_without_a_law() -> None:
    study = sweep("subnormal-time", {})
    assert study.note.tolist() == ["the attack measures times, which have no law: `subnormal run` does so"]
    without = sweep("box-muller-inversion", {})
    assert without[without.mechanism == "gaussian-naive-float64"][["verdict", "note"]].to_numpy().tolist() == [
        ["UNRESOLVED", "no law for these data: runs are needed"]
    ]


def test_runs_share_one_alpha() -> None:
    study = sweep("zero-rounding", {"outcomes": [2, 4]}, runs=2_000)
    assert study["sampled.runs"].tolist() == [2_000] * 4
    assert study["sampled.confidence"].tolist() == pytest.approx([1 - sweeps.ALPHA / 4] * 4)
    assert (study["sampled.advantage_low"] <= study.advantage).all()  # the event of these worlds has no chance to miss
    assert study["sampled.ks.margin"].notna().all()


@pytest.mark.parametrize(
    ("text", "values"),
    [("2:9", [2, 4, 8]), ("3", [3]), ("0.1:0.4", [0.1, 0.2, 0.4]), ("float16, bfloat16", ["float16", "bfloat16"])],
)
def test_values_are_lists_or_ranges(text: str, values: list[object]) -> None:
    assert sweeps.values_of("option", text) == values


@pytest.mark.parametrize(
    ("attack", "over", "error", "message"),
    [
        ("zero-roundin", {}, LookupError, "did you mean 'zero-rounding'"),
        ("zero-rounding", {"outcome": [1]}, LookupError, "did you mean 'outcomes'"),
        ("zero-rounding@outcome=3", {}, LookupError, "did you mean 'outcomes'"),
        ("zero-rounding@epsilon=1,epsilon=2", {"outcomes": [1]}, ValueError, "'epsilon' is given twice"),
        ("zero-rounding", {"outcomes": "4:2"}, ValueError, "outcomes=4:2 is no range: A:B needs 0 < A <= B"),
        ("zero-rounding", {"outcomes": "0:2"}, ValueError, "outcomes=0:2 is no range"),
        ("zero-rounding", {"epsilon": "1:inf"}, ValueError, "epsilon=1:inf is no range"),
        ("zero-rounding", {"outcomes": "a:b"}, ValueError, "outcomes=a:b is no range"),
        ("zero-rounding", {"outcomes": ""}, ValueError, "outcomes has no values"),
    ],
)
def test_mistakes_are_named(attack: str, over: dict[str, str], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        sweep(attack, over)
    assert message in str(raised.value)
    asked = [word for name, values in over.items() for word in ("--over", f"{name}={values if values != [1] else 1}")]
    shown = call(attack, *asked)
    assert shown.exit_code == 2
    assert message in " ".join(shown.output.split())


def test_options_with_the_name_of_a_column_have_their_own() -> None:
    taken = {option for one in catalogue.constructors().values() for option in one.defaults if option in sweeps.COLUMNS}
    assert taken == {"delta", "mechanism"}
    study = sweep("uniform-floor", {"delta": [1e-3, 1e-2]})
    assert set(study["option.delta"]) == {1e-3, 1e-2}


def test_progress_counts_combinations_and_tasks_can_be_sent() -> None:
    seen: list[tuple[int, int]] = []
    sweep("zero-rounding", {"outcomes": [2, 3, 4]}, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    task = sweeps.Study("zero-rounding", 0, 1, 0.05), sweeps.points("zero-rounding", OVER)[0]
    assert pickle.loads(pickle.dumps(task)) == task


def test_the_command_writes_the_frame_and_the_figure(tmp_path: Path) -> None:
    table, figure = tmp_path / "study.csv", tmp_path / "study.png"
    asked = ["--over", "outcomes=1:4", "--over", "float_type=float16,float64"]
    shown = call("zero-rounding", *asked, "--csv", str(table), "--figure", str(figure))
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("10 rows: 2 a note, 4 VIOLATED, 4 HOLDS\n")
    assert figure.read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    study = sweep("zero-rounding", {"outcomes": "1:4", "float_type": "float16,float64"})
    assert list(rows[0]) == list(study.columns)
    assert [float(row["advantage"] or "nan") for row in rows] == pytest.approx(list(study.advantage), nan_ok=True)
    assert [row["note"] for row in rows] == list(study.note.fillna(""))
    printed = call("zero-rounding", *asked).stdout
    assert printed.count("exponential-naive-float16") == 2
    assert "outcomes must be at least 2, got 1" in printed


def test_the_figure_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = call("zero-rounding", "--figure", str(tmp_path / "study.csv"))
    assert shown.exit_code == 2
    assert "must end in .png, .svg, .pdf" in shown.output
    assert call("zero-rounding", "--over", "epsilon").exit_code == 2
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "subnormal.plots")
    monkeypatch.delattr("subnormal.plots")
    shown = call("zero-rounding", "--figure", str(tmp_path / "study.png"))
    assert shown.exit_code == 2
    assert "subnormal.plots needs matplotlib: pip install matplotlib" in shown.output


def test_the_figure_draws_the_numbers_of_the_study() -> None:
    study = sweep("zero-rounding", OVER)
    figure = plots.sweep(study)
    assert [axes.get_title() for axes in figure.axes] == ["float_type = float16", "float_type = float32"]
    drawn = {str(line.get_label()): line for line in figure.axes[1].get_lines()}
    assert len(drawn) == 6
    for is_exact, name in ((False, "naive"), (True, "exact twin")):
        rows = study[(study.float_type == "float32") & (study.exact == is_exact) & (study.epsilon == 4)]
        line = drawn[f"{name}, epsilon = 4"]
        np.testing.assert_array_equal(line.get_xdata(), rows.outcomes)
        np.testing.assert_array_equal(line.get_ydata(), rows.advantage)
    np.testing.assert_allclose(np.asarray(drawn["allowed, epsilon = 4"].get_ydata()), math.tanh(2))
    with pytest.raises(ValueError, match="no row of the study has a number in 'nothing'"):
        plots.sweep(study, "nothing")
    assert plots.sweep(sweep("zero-rounding", {"float_type": ["float16", "float32"]}), "ks").axes


def test_without_runs_a_report_has_laws_alone(tmp_path: Path) -> None:
    report = run(["zero-rounding", "box-muller-inversion", "subnormal-time"], jobs=1, runs=0)
    assert all(row.sampled is None and row.timing is None and row.error is None for row in report.rows)
    judged = [row for row in report.rows if row.attack == "zero-rounding" and row.package is None]
    assert {row.mechanism: str(row.verdict) for row in judged}["exponential-naive-float64"] == "VIOLATED"
    assert {row.verdict for row in report.rows if row.channel == "time"} == {None}
    report.save(tmp_path)
    assert load(tmp_path / "report.json").runs == 0
    shown = CliRunner().invoke(main, ["run", "--attack", "zero-rounding", "--runs", "0", "--out", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "VIOLATED" in shown.stdout


def test_open_mass_counts_against_the_distance() -> None:
    """Whatever distributions have these bounds: the distance of no pair of them is smaller."""
    low_in, low_out = np.array([0.5, 0.0, 0.25]), np.array([0.125, 0.5, 0.125])
    least = min(
        max(abs(np.cumsum(low_in + one) - np.cumsum(low_out + other)))
        for one in 0.25 * np.eye(3)
        for other in 0.25 * np.eye(3)
    )
    assert ks_least(low_in, low_out) <= least
    assert ks_least(low_in, low_out) == 0.125
    assert ks_least(low_in, low_in) == 0
