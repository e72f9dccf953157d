"""The table of promises: what it shows, and that it shows no violation that is not public."""

from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import claims


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


def test_what_is_not_public_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(claims, "PAGE", tmp_path / "claims.md")
    monkeypatch.setattr(claims, "RELEASES", (("opendp==0.16.0", (), 10),))
    found = [row("map", "threshold", True)]
    monkeypatch.setattr(claims, "held", lambda *asked: found)
    assert CliRunner().invoke(claims.main).exit_code == 0
    assert claims.PAGE.is_file()
    claims.PAGE.unlink()
    found.append(row("map", "laplace", True))
    result = CliRunner().invoke(claims.main)
    assert result.exit_code == 1
    assert "not public, so the page is not written" in result.output
    assert not claims.PAGE.exists()
