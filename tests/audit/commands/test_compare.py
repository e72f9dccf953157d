"""`audit compare` as a user meets it: silence, a named row, or a mistake in one line."""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from subnormal.audit.report.load import parse
from tests.audit.report.test_diff import Json, alone, named


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["compare", *arguments])


def written(path: Path, document: Json) -> str:
    path.write_text(json.dumps(document))
    return str(path)


def test_compare_is_silent_or_names_the_row_and_exits_1(document: Json, tmp_path: Path) -> None:
    old = written(tmp_path / "old.json", document)
    silent = call(old, old)
    assert (silent.exit_code, silent.stdout, silent.stderr) == (0, "", "")
    other = written(tmp_path / "other.json", document | {"seed": 2, "environment": {"python": "4"}})
    silent = call(old, other)
    assert (silent.exit_code, silent.stdout, silent.stderr) == (0, "", "")  # nothing changed because of it
    rows = copy.deepcopy(document["rows"])
    (place,) = (
        place
        for place, row in enumerate(rows)
        if (row["attack"], row["mechanism"]) == ("zero-rounding", "exponential-base2")
    )
    rows[place]["exact"]["verdict"] = "VIOLATED"
    told = call(old, written(tmp_path / "new.json", document | {"rows": rows, "seed": 2}))
    assert told.exit_code == 1
    (line,) = [line for line in told.stdout.splitlines() if "zero-rounding" in line]
    assert line.split() == ["zero-rounding", "exponential-base2", "exact.verdict", "HOLDS", "VIOLATED"]
    assert told.stderr == "the reports differ in seed 1 → 2\n"
    markdown = call(old, str(tmp_path / "new.json"), "--format", "markdown")
    assert markdown.stdout.splitlines()[2] == "| zero-rounding | exponential-base2 | exact.verdict | HOLDS | VIOLATED |"


def test_runs_that_are_made_again_do_not_differ(tmp_path: Path) -> None:
    asked = ["run", "--attack", "zero-rounding", "--quick", "--mechanism", "exponential-naive-float64"]
    for name, more in (("one", []), ("two", []), ("seed", ["--seed", "2"]), ("few", ["--runs", "5"])):
        assert CliRunner().invoke(main, [*asked, *more, "--out", str(tmp_path / name)]).exit_code == 0
    one, two, seed, few = (str(tmp_path / name / "report.json") for name in ("one", "two", "seed", "few"))
    assert [call(one, other).exit_code for other in (one, two, seed)] == [0, 0, 0]
    changed = call(one, few)
    assert changed.exit_code == 1
    assert "sampled.verdict" in changed.stdout
    assert changed.stderr == "the reports differ in runs 2000 → 5\n"


def test_a_pipe_gets_whole_lines_and_no_control_characters(document: Json, tmp_path: Path) -> None:
    row = named(document, "zero-rounding", "exponential-base2") | {"mechanism": "cmd: \x1b[31m " + "long " * 40}
    paths = (
        written(tmp_path / "old.json", alone(document, row)),
        written(tmp_path / "new.json", document | {"rows": []}),
    )
    shown = call(*paths)
    assert shown.exit_code == 1
    assert "\x1b" not in shown.stdout
    assert r"cmd: \x1b[31m" in shown.stdout
    assert shown.stdout.count("long") == 40


MISTAKES: dict[str, Callable[[Json], object]] = {  # test_report_schema.py has those of single values
    "is of the schema 'subnormal/report/2', and this version reads 'subnormal/report/1'": lambda document: (
        document.update(schema="subnormal/report/2")
    ),
    "is no report: it has no schema": lambda document: document.pop("schema"),
    "rows[0] is 7, not an object": lambda document: document.update(rows=[7]),
    "rows[1] is a second row of 'zero-rounding' and 'exponential-naive-float64'": lambda document: document.update(
        rows=document["rows"][:1] * 2
    ),
}


@pytest.mark.parametrize("told", MISTAKES)
def test_a_document_that_is_no_report_is_a_mistake_and_named(told: str, document: Json, tmp_path: Path) -> None:
    made = copy.deepcopy(alone(document, document["rows"][0]))
    good = written(tmp_path / "good.json", made)
    MISTAKES[told](made)
    bad = written(tmp_path / "bad.json", made)
    for paths, name in (((good, bad), "NEW"), ((bad, good), "OLD")):
        result = call(*paths)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"Error: Invalid value for {name}: {bad} {told}" in result.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "ends too early: it is empty, or was cut off"),
        (b"subnormal\n", "is not JSON"),
        (b"[]", "is no report: it has no schema"),
        (b'{"schema": NaN}', "is not JSON (NaN is not a number in JSON)"),
        (b'{"seed": 1, "seed": 2}', "is not JSON ('seed' is given twice)"),
        (b"\xff\xfe{", "is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"seed": ' + b"9" * 5_000 + b"}", "is not JSON (Exceeds the limit"),
    ],
)
def test_a_file_that_is_no_document_is_a_mistake_and_named(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    result = call(str(path), str(path))
    assert result.exit_code == 2
    assert f"Error: Invalid value for OLD: {path} {told}" in result.stderr
    assert len(result.stderr.splitlines()) == 4  # usage, a hint, nothing, and the mistake in one line


def test_a_file_that_was_cut_off_is_named_wherever_it_ends(document: Json) -> None:
    whole = as_saved(document)
    for end in random.Random(5).sample(range(1, len(whole) - 2), 300):
        with pytest.raises(ValueError, match=r"^(ends too early|is not UTF-8|is not JSON)") as error:
            parse(whole[:end])
        assert "\n" not in str(error.value)
        if whole[:end].rstrip()[-1:] in b'[{,:"':
            assert str(error.value).startswith("ends too early")


def as_saved(document: Json) -> bytes:
    return json.dumps(alone(document, document["rows"][0]), ensure_ascii=False, indent=1).encode()
