"""The scoreboard states what is green or public, and nothing else can be told from it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import benchmarks.scoreboard.__main__ as command
from benchmarks.scoreboard import libraries, page, tests_of
from benchmarks.scoreboard.libraries import CLASSES, EDGES, EXHIBITS, LAW, LIBRARIES, MAPS, PUBLIC, STABILITY
from museum.exhibits import exhibits
from subnormal.audit.targets.environments import NotInstalledError

THRESHOLD = "vectors/1 maps: map threshold"
ISSUE = "https://github.com/opendp/opendp/issues/2922"


def group(test: str, class_: str = MAPS, passed: int = 3, failed: int = 0) -> tests_of.Group:
    names = [f"{test}/{i}" for i in range(failed)]
    return {"test": test, "class": class_, "passed": passed, "failed": names, "why": "1 and not 2"}


def row(*groups: tests_of.Group, version: str = "0.16.0") -> page.Row:
    return {"name": "opendp", "version": version, "date": "2026-01-02", "groups": list(groups)}


def written(*groups: tests_of.Group, version: str = "0.16.0") -> str:
    return page.text([page.stated(row(*groups, version=version))], 50)


def cells(text: str) -> list[str]:
    return re.findall(r"<td.*?</td>", text)


def test_a_failure_without_a_source_is_not_told_from_a_class_that_was_not_tried() -> None:
    secret, green = group("vectors/1 maps: map laplace", failed=2), group("vectors/1 maps: map zcdp")
    law = group("vectors/1 samplers: discrete-laplace", LAW)
    assert page.unpublished(row(secret, green, law)) == [secret]
    assert written(secret, green, law) == written(law)
    assert written(secret) == written()


def test_a_public_failure_is_red_and_leads_to_its_source() -> None:
    text = written(group(THRESHOLD, passed=8, failed=10), group("vectors/1 maps: map zcdp"))
    red = cells(text)[list(CLASSES).index(MAPS)]
    assert f'class="VIOLATED"><b>✗ red</b> <a href="{ISSUE}">opendp#2922</a>' in red
    assert "21 tests" in red
    assert f"{THRESHOLD}: 8 of 18 pass" in red
    assert f"| {THRESHOLD} | **8 of 18 pass**: `{THRESHOLD}/0`, " in text
    assert text.count("not stated</td>") == len(CLASSES) - 1


def test_beside_a_public_failure_another_one_is_not_told() -> None:
    public, secret = group(THRESHOLD, failed=1), group("vectors/1 maps: map laplace", failed=2)
    assert written(public, secret) == written(public)


def test_a_source_is_of_exactly_one_release() -> None:
    assert written(group(THRESHOLD, failed=1), version="0.16.1") == written(version="0.16.1")


def test_a_cell_without_a_source_is_never_red() -> None:
    assert page.state([{**group("a", failed=9), "sources": []}]) == page.GREEN
    assert page.state([{**group("a"), "sources": [ISSUE]}]) == page.RED
    assert page.state([]) == page.NOT_STATED


def test_a_public_flaw_that_its_check_misses_is_red() -> None:
    text = written(group("museum: opendp-2922", passed=1))
    assert "museum: opendp-2922: public, and not found by this check" in text
    assert "✗ red" in cells(text)[list(CLASSES).index(MAPS)]
    assert "✓ green" in written(group("museum: opendp-2911", passed=1))


def test_green_says_how_many_tests() -> None:
    text = written(
        group("vectors/1 stability: sum", STABILITY, 1), group("vectors/1 stability: mean <b>", STABILITY, 2)
    )
    green = cells(text)[list(CLASSES).index(STABILITY)]
    assert '<td class="HOLDS"><b>✓ green</b>' in green
    assert "3 tests" in green
    assert "mean &lt;b&gt;" in green
    assert "N tests found nothing" in text


def test_what_does_not_install_has_a_row() -> None:
    assert "does not install" in page.text([page.stated(row(version=""))], 50)


def test_the_published_page_is_that_of_its_numbers_and_each_red_has_a_source() -> None:
    rows = json.loads(command.RESULTS.read_text(encoding="utf-8"))
    assert command.PAGE.read_text(encoding="utf-8") == page.text(rows, tests_of.EXAMPLES)
    assert len([one for one in rows if one["groups"]]) >= 10
    for one in rows:
        for each in one["groups"]:
            assert tuple(each["sources"]) == page.sources(one["name"], one["version"], each["test"])
            assert each["sources"] or not each["failed"]


def test_tables_name_what_there_is() -> None:
    known = {one.name: one for one in exhibits()}
    packages = {one.name for one in LIBRARIES}
    assert EXHIBITS.keys() <= known.keys()
    assert {known[name].package for name in EXHIBITS} <= packages
    assert {name for name, _, _ in PUBLIC} <= packages
    assert {*EXHIBITS.values(), *libraries.ATTACKS.values()} <= CLASSES.keys()
    assert all(source.startswith("https://") for found in PUBLIC.values() for source in found)
    attacks = json.loads((tests_of.VECTORS / "attacks.json").read_text("utf-8"))["tests"]
    assert libraries.ATTACKS.keys() <= {re.split("[@/]", test["id"])[0] for test in attacks}


def test_classes_of_tests() -> None:
    assert tests_of.class_of_kind("gaussian-zcdp") == MAPS
    assert tests_of.class_of_kind("composition") == libraries.ACCOUNTANTS
    assert tests_of.class_of_kind("discrete-laplace-draws") == LAW
    group_of = tests_of._group_of_vector
    nan = {"who": "", "what": "mean", "id": "mean/2"}
    assert group_of("stability", nan) == ("vectors/1 stability: mean", EDGES)
    assert group_of("stability", {**nan, "id": "mean/1"}) == ("vectors/1 stability: mean", STABILITY)
    attack = {"who": "", "what": "laplace", "id": "grid-precision@epsilon=0.1/f78c"}
    assert group_of("attacks", attack) == ("vectors/1 attacks: grid-precision@epsilon=0.1", libraries.FLOATS)


SUBJECT = """
import os

def zcdp(sigma):
    if sigma == DEADLY:
        os._exit(7)
    print("noise of the library")
    return 0.0 if sigma == 1.0 else 1 / (2 * sigma**2)

def refused(parameters, data):
    raise AttributeError("an interface of another release")

MAPS = {"gaussian-zcdp": zcdp}
MECHANISMS = {"noisy-max": refused}
"""


def test_a_test_that_ends_the_process_is_left_out_and_the_next_ones_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = json.loads((tests_of.VECTORS / "maps.json").read_text("utf-8"))["tests"]
    sigmas = [test["parameters"]["sigma"] for test in tests if test["function"] == "gaussian-zcdp"]
    deadly = next(sigma for sigma in sigmas if sigma != 1.0)
    path = tmp_path / "subject.py"
    path.write_text(SUBJECT.replace("DEADLY", repr(deadly)), encoding="utf-8")
    monkeypatch.setattr(libraries.Library, "subject", path)
    said: list[str] = []
    (found,) = tests_of.vectors("maps", libraries.Library("nobody"), Path(sys.executable), said.append)
    assert found["test"] == "vectors/1 maps: gaussian-zcdp"
    assert found["passed"] == len(sigmas) - 2
    assert len(found["failed"]) == 1
    assert said == [f"nobody: maps, {len(sigmas) - 1} tests"]
    assert tests_of.vectors("attacks", libraries.Library("nobody"), Path(sys.executable), print) == []  # it only raises


def test_a_process_that_cannot_start_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "subject.py"
    path.write_text("import nothing_of_this_name", encoding="utf-8")
    monkeypatch.setattr(libraries.Library, "subject", path)
    with pytest.raises(RuntimeError, match="before its first test"):
        tests_of.vectors("maps", libraries.Library("nobody"), Path(sys.executable), print)


def test_one_library_that_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(library: libraries.Library) -> str:
        raise NotInstalledError("no such release")

    def broken(*_: Any) -> list[tests_of.Group]:
        raise ValueError("no such interface")

    said: list[str] = []
    monkeypatch.setattr(command, "newest", version)
    assert command.row_of(LIBRARIES[0], {}, lambda: None, said.append)["version"] == ""
    monkeypatch.setattr(command, "newest", lambda _: "9.9")
    monkeypatch.setattr(command, "install", lambda _: None)
    for name in ("museum", "claims", "vectors"):
        monkeypatch.setattr(tests_of, name, broken)
    monkeypatch.setattr(tests_of, "museum", lambda *_: [group("museum: opendp-2911")])
    kept: dict[str, Any] = {}
    made = page.stated(command.row_of(LIBRARIES[0], kept, lambda: None, said.append))
    assert [one["test"] for one in made["groups"]] == ["museum: opendp-2911"]
    assert list(kept) == ["opendp==9.9 museum"]
    assert len(said) == 7
    assert "no such interface" in said[-1]
