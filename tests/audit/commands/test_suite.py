"""The command suite: what it runs, writes and refuses, and its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from subnormal.audit.commands import suite

MODULE = """
import random
from hypothesis import strategies as st

records = st.lists(st.integers(0, 9), max_size=3)

def exact(records):
    return len(records)

def coin(records):
    return random.getrandbits(1)

def iterates(records):
    return iter(records)
"""
CHECK = (
    '[[check]]\nfunction = "of_suite:{name}"\ndata = "of_suite:records"\nadjacent = "add-or-remove"\nepsilon = 1.0\n'
)
EXACT, COIN, ITERATES = (CHECK.format(name=name) for name in ("exact", "coin", "iterates"))
ACCEPTED = '[[accepted]]\ncheck = "of_suite:exact"\nseverity = "deterministic"\nreason = "public"\nuntil = {until}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("of_suite.py").write_text(MODULE)
    return tmp_path


def ran(text: str, *options: str) -> Result:
    Path("subnormal.toml").write_text(text)
    return CliRunner().invoke(main, ["suite", *options])


def test_a_suite_runs_all_checks_and_writes_an_index_junit_and_sarif() -> None:
    result = ran("alpha = 1e-4\nexamples = 2\nruns = 600\n" + EXACT + COIN + ITERATES, "--jobs=2")
    assert result.exit_code == 3, result.output
    out = Path("reports/suite")
    names = [f"check-of_suite-{name}.html" for name in ("exact", "coin", "iterates")]
    names = [name.replace("_", "-") for name in names]
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*names, "suite.html", "suite.json", "suite.sarif", "suite.xml"]
    )
    index = (out / "suite.html").read_text()
    assert all(f'href="{name}"' in index for name in names)
    assert "1 VIOLATED, 1 ERROR, 1 NOT REFUTED" in index
    (run,) = json.loads((out / "suite.sarif").read_text())["runs"]
    (violated,) = run["results"]
    place = violated["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("of_suite.py", 7)
    assert violated["ruleId"] == "privacy/deterministic"
    page = (out / names[0]).read_text()
    assert "subnormal check of_suite:exact --alpha" in page
    assert f"--alpha {1e-4 / 3!r}" in page
    assert "subnormal suite" not in page


def made_up(monkeypatch: pytest.MonkeyPatch, verdicts: dict[str, str], fingerprint: str | None = "one") -> list[str]:
    """Let no process start: checks have these verdicts. Returns the functions that are checked, as they are."""
    checked: list[str] = []

    def result_of(arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
        checked.append(arguments["function"])
        verdict = verdicts[arguments["function"]]
        severity = "deterministic" if verdict == "VIOLATED" else None
        found = {"verdict": verdict, "error": None, "severity": severity, "claim": "epsilon = 1", "event": None}
        spent = {"function": arguments["function"], "worlds": None, "pairs": 1, "runs": 1, "seconds": 0.1}
        text = f"{verdict} {len(checked)}"
        return {"json": json.dumps(found | spent), "text": text, "html": text, "verdict": verdict, "place": None}

    monkeypatch.setattr(suite, "result_of", result_of)
    monkeypatch.setattr(suite, "watched", lambda *arguments, **options: dict.fromkeys(verdicts, fingerprint))
    return checked


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("", 1),
        (ACCEPTED.format(until="2999-01-01"), 0),
        (ACCEPTED.format(until="2001-01-01"), 1),
        (ACCEPTED.format(until="2999-01-01").replace("deterministic", "last bits"), 1),
    ],
)
def test_only_a_finding_that_is_accepted_until_today_or_later_does_not_fail(
    more: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up(monkeypatch, {"of_suite:exact": "VIOLATED"})
    assert ran(EXACT + more, "--fail-on-violation").exit_code == code
    assert ran(EXACT + more).exit_code == 0


BOTH = {"of_suite:exact": "VIOLATED", "of_suite:coin": "NOT REFUTED"}


def test_what_was_not_refuted_is_not_checked_again_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = made_up(monkeypatch, BOTH)
    ran(EXACT + COIN, "--jobs=1", "--out=first")
    again = ran(EXACT + COIN, "--jobs=1", "--out=second", "--unchanged=first/suite.json")
    assert checked == ["of_suite:exact", "of_suite:coin", "of_suite:exact"]
    assert "1 check not made again: nothing changed since first/suite.json" in again.stderr
    page = "check-of-suite-coin.html"
    assert Path("second", page).read_bytes() == Path("first", page).read_bytes()
    ran(EXACT + COIN, "--jobs=1", "--unchanged=second/suite.json")  # also of one that was kept itself
    assert checked[3:] == ["of_suite:exact"]


@pytest.mark.parametrize("change", ["fingerprint", "no fingerprint", "page", "name", "verdict"])
def test_what_changed_is_checked_again(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = None if change == "no fingerprint" else "one"  # that of a program, each time
    made_up(monkeypatch, BOTH | ({"of_suite:coin": "UNDERPOWERED"} if change == "verdict" else {}), first)
    ran(COIN, "--jobs=1", "--out=first")
    if change == "page":
        Path("first/check-of-suite-coin.html").unlink()
    fingerprint = {"fingerprint": "another", "no fingerprint": None}.get(change, "one")
    checked = made_up(monkeypatch, BOTH | {"other": "NOT REFUTED"}, fingerprint)
    ran(COIN + ('name = "other"\n' if change == "name" else ""), "--jobs=1", "--unchanged=first/suite.json")
    assert checked == ["of_suite:coin"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"schema": "other"}', "is not of the schema 'subnormal/suite/1'"),
        ('{"schema": "subnormal/suite/1"', "ends too early"),
        ('{"schema": "subnormal/suite/1", "checks": [{"name": 1}]}', "checks[0].name is 1"),
        ('{"schema": "subnormal/suite/1", "checks": [{"name": "one"}]}', "has no checks[0].status"),
    ],
)
def test_a_suite_that_cannot_be_read_is_named(text: str, told: str) -> None:
    Path("old.json").write_text(text)
    result = ran(COIN, "--unchanged=old.json")
    assert result.exit_code == 2
    assert f"--unchanged: old.json {told}" in result.stderr
    assert CliRunner().invoke(main, ["compare", "old.json", "old.json"]).exit_code == 2


def test_two_suites_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, BOTH)
    ran(EXACT + COIN, "--jobs=1", "--out=old")
    made_up(monkeypatch, {"of_suite:coin": "VIOLATED", "of_suite:iterates": "NOT REFUTED"})
    ran(COIN + ITERATES, "--jobs=1", "--out=new")
    compared = CliRunner().invoke(main, ["compare", "--format=markdown", "old/suite.json", "new/suite.json"])
    assert compared.exit_code == 1
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in compared.stdout.splitlines()[2:]]
    assert [(row[0], row[2], row[3].partition(":")[0], row[4].partition(":")[0]) for row in cells] == [
        ("of\\_suite:coin", "status", "NOT REFUTED", "VIOLATED"),
        ("of\\_suite:exact", "check", "VIOLATED", "–"),
        ("of\\_suite:iterates", "check", "–", "NOT REFUTED"),
    ]
    same = CliRunner().invoke(main, ["compare", "old/suite.json", "old/suite.json"])
    assert (same.exit_code, same.output) == (0, "")


def test_a_suite_is_not_compared_with_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, BOTH)
    ran(COIN, "--jobs=1", "--out=old")
    Path("report.json").write_text("{}")
    compared = CliRunner().invoke(main, ["compare", "old/suite.json", "report.json"])
    assert compared.exit_code == 2
    assert "old/suite.json is of the schema 'subnormal/suite/1'" in compared.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no [[check]] is named"),
        ("alpha = 2.0\n" + EXACT, "alpha = '2.0': it must be a number between 0 and 1"),
        ("alpah = 0.1\n" + EXACT, "unknown key alpah = '0.1'; known are alpha, check, accepted, seconds"),
        ("check = 3", "check = '3': it must be tables: [[check]]"),
        ("= 3", "Invalid"),
        ("[[check]]\nepsilon = 1.0", "check 1: function is missing: it must be package.module:function"),
        (EXACT + EXACT, "check 2: name = \"'of_suite:exact'\": it must be that of no other check"),
        (EXACT + "epsilom = 2", "check 1 (of_suite:exact): unknown key epsilom = '2'; known are name, function, data"),
        (EXACT + "grid = -1.0", "check 1 (of_suite:exact): Invalid value for '--grid': -1.0 is not in the range x>0"),
        (EXACT + 'runs = "many"', "Invalid value for '--runs': 'many' is not a valid integer range"),
        (EXACT + "runs = [1]", "runs = '[1]': it must be a number or a text"),
        (EXACT + 'batch = "yes"', "batch = \"'yes'\": it must be true or false"),
        (EXACT + "rho = 1.0", "state one claim: --epsilon (with --delta), --rho, --mu or --renyi"),
        (EXACT + "in = [1]", "--in and --out go together"),
        (EXACT + ACCEPTED.format(until='"soon"'), "accepted 1: until = \"'soon'\": it must be a date, as 2030-06-30"),
        (EXACT + ACCEPTED.format(until="2030-01-01").replace("exact", "exakt"), "it must be the name of a check"),
        (EXACT + 2 * ACCEPTED.format(until="2030-01-01"), "it must be accepted once in 'of_suite:exact'"),
        (EXACT + EXACT.replace("of_suite:exact", "Of_suite:exact"), "have one name, check-Of-suite-exact.html"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_value_and_writes_nothing(text: str, told: str) -> None:
    result = ran(text)
    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert result.stderr.startswith("Error: subnormal.toml: ")
    assert not Path("reports").exists()


def test_a_name_that_cannot_be_imported_is_a_mistake_before_any_check_begins() -> None:
    result = ran(EXACT + COIN.replace("of_suite:records", "of_suite:recods"))
    assert result.exit_code == 2
    assert "subnormal.toml: of_suite:coin: " in result.stderr
    assert "'of_suite:recods' cannot be imported" in result.stderr
    assert not Path("reports").exists()
