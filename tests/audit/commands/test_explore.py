"""explore opens the page of docs/, says where it is, and fails in one line without a browser."""

import tomllib
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.commands import explore
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "explorer.html"


def test_the_page_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_page(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", open_page)
    result = CliRunner().invoke(main, ["explore"])
    assert (result.exit_code, result.output) == (0, "")
    (address,) = opened
    assert urlparse(address).scheme == "file"
    assert Path(unquote(urlparse(address).path)).samefile(PAGE)


def test_the_path_is_printed_and_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: pytest.fail("opened"))
    result = CliRunner().invoke(main, ["explore", "--path"])
    assert result.exit_code == 0
    assert Path(result.stdout.strip()).samefile(PAGE)


def test_without_a_browser_it_exits_2_and_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    result = CliRunner().invoke(main, ["explore"])
    assert result.exit_code == 2
    assert result.stderr == f"Error: no browser could be opened; open this file in one: {explore.CHECKOUT}\n"


def test_a_wheel_has_the_page_where_the_command_looks_for_it() -> None:
    """`make wheel` runs it; here the two names are compared. In the wheel `subnormal/audit` is a folder, not a link."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    packaged = Path("subnormal", "audit", *explore.PACKAGED.parts[-1:])
    assert Path(build["force-include"]["docs/explorer.html"]) == packaged
    assert explore.PACKAGED.parent.samefile(ROOT / "audit")
