"""explore opens the page of docs/, says where it is, and fails in one line without a browser."""

import tomllib
import webbrowser
from pathlib import Path

import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.commands import explore
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "explorer.html"


@pytest.mark.parametrize(
    ("options", "has_browser", "code", "said"),
    [
        ([], True, 0, ""),
        (["--path"], False, 0, f"{explore.CHECKOUT}\n"),
        ([], False, 2, f"Error: no browser could be opened; open this file in one: {explore.CHECKOUT}\n"),
    ],
)
def test_the_page_is_opened_or_named(
    options: list[str], has_browser: bool, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_page(address: str) -> bool:
        opened.append(address)
        return has_browser

    monkeypatch.setattr(webbrowser, "open", open_page)
    result = CliRunner().invoke(main, ["explore", *options])
    assert (result.exit_code, result.output) == (code, said)
    assert opened == ([] if options else [explore.CHECKOUT.as_uri()])
    assert explore.CHECKOUT.samefile(PAGE)


def test_a_wheel_has_the_page_where_the_command_looks_for_it() -> None:
    """`make wheel` runs it; here the two names are compared. In the wheel `subnormal/audit` is a folder, not a link."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    packaged = Path("subnormal", "audit", *explore.PACKAGED.parts[-1:])
    assert Path(build["force-include"]["docs/explorer.html"]) == packaged
    assert explore.PACKAGED.parent.samefile(ROOT / "audit")
