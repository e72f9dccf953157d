"""The table of promises: what it shows, and that it shows no violation that is not public."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchmarks import claims
from benchmarks.claims import Asked
from subnormal.audit.claims.answers import Row
from subnormal.audit.claims.holding import Held, Said


def row(accountant: str, kind: str, violated: bool) -> dict[str, Any]:
    said = {"parameters": {"scale": 1.0, "threshold": 1}, "said": 0.25, "low": 0.5, "up": 0.5}
    return {
        "accountant": accountant,
        "kind": kind,
        "answered": 9,
        "verdict": "VIOLATED" if violated else "NOT REFUTED",
        "violated": said if violated else None,
        "loose": 1.25,
        "loosest": {**said, "said": "inf"},
    }


def test_a_row_has_its_factors_and_a_violation_its_two_numbers() -> None:
    rows = [row("map", "threshold", True), row("map", "laplace", False)]
    page = claims.text({"opendp==0.16.0": [*rows, {**rows[1], "verdict": "ROUNDED"}]})
    assert "| opendp==0.16.0 | map | `threshold` | 9 | **VIOLATED** | 1.25 | ∞ |" in page
    assert "| opendp==0.16.0 | map | `laplace` | 9 | not refuted | 1.25 | ∞ |" in page
    assert "| opendp==0.16.0 | map | `laplace` | 9 | rounded | 1.25 | ∞ |" in page
    assert "at scale = 1, threshold = 1: 0.25 is promised, at least 0.5 is true. https://" in page
    assert page.count("is promised") == 1


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(claims, "PAGE", tmp_path / "claims.md")
    monkeypatch.setattr(claims, "FOLDER", tmp_path / "reports")
    monkeypatch.setattr(
        claims,
        "asked",
        lambda tell: [Asked("opendp==0.16.0", Row("map", name, options={"examples": 10})) for name in NAMES],
    )
    return tmp_path / "claims.md"


NAMES = ("threshold", "laplace", "discrete-laplace")


def held(false: str) -> Callable[[Any, Row], Held]:
    """What is found of a row: a violation where its kind is `false`."""

    def found(here: Any, row: Row) -> Held:
        said = Said({"scale": 1.0, "threshold": 1}, 0.25, 0.5, 0.5)
        return Held(row.accountant, row.kind, 10, violated=said if row.kind == false else None)

    return found


def call(*arguments: str) -> Result:
    return CliRunner().invoke(claims.main, ["--jobs", "1", *arguments])


def test_what_is_not_public_is_not_written(monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    monkeypatch.setattr(claims, "held", held("threshold"))
    assert call().exit_code == 0
    assert "| opendp==0.16.0 | map | `threshold` | 10 | **VIOLATED** |" in page.read_text()
    page.unlink()
    monkeypatch.setattr(claims, "held", held("laplace"))
    result = call()
    assert result.exit_code == 1
    assert "not public, so the page is not written" in result.output
    assert not page.exists()


def test_an_interrupted_run_keeps_the_rows_that_are_finished(monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    rows: list[str] = []

    def interrupted(here: Any, row: Row) -> Held:
        rows.append(row.kind)
        if rows == ["threshold", "laplace"]:
            raise KeyboardInterrupt
        return held("none")(here, row)

    monkeypatch.setattr(claims, "held", interrupted)
    assert call().exit_code != 0
    assert not page.exists()
    assert call("--resume").exit_code == 0
    assert rows == ["threshold", "laplace", "laplace", "discrete-laplace"]
    resumed = page.read_text()
    assert call().exit_code == 0  # all rows again
    assert rows[4:] == list(NAMES)
    assert page.read_text() == resumed


def test_a_release_is_asked_about_its_kinds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "RELEASES", (("subnormal", ("zcdp", "laplace"), 7),))
    rows = [one.row for one in claims.asked(lambda message: None)]
    assert [(row.accountant, row.kind, row.options["examples"]) for row in rows] == [
        ("buckets", "laplace", 7),
        ("curves", "zcdp", 7),
    ]
    assert all(row.options["least_delta"] == claims.LEAST_DELTA and row.ends == math.inf for row in rows)
