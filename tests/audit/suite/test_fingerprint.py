"""What a check depends on: its fingerprint changes with it, and with nothing else."""

import sys
from pathlib import Path

import pytest

from subnormal.audit.suite.fingerprint import code_of, fingerprint

ASKED = {"function": "owned.noise:f", "data": None, "epsilon": 1.0, "alpha": 1e-6, "command": "subnormal check"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a module that nothing imports yet, and a module beside it."""
    folder = tmp_path / "owned"
    (folder / "parts").mkdir(parents=True)
    for name in ("owned/__init__.py", "owned/noise.py", "owned/parts/later.py", "beside.py"):
        (tmp_path / name).write_text("def f(data): return data\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("owned", "owned.noise", "beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    __import__("owned.noise")
    return tmp_path


@pytest.mark.parametrize("changed", ["owned/noise.py", "owned/parts/later.py"])
def test_the_code_of_a_package_is_all_its_files(changed: str, package: Path) -> None:
    before = code_of(["owned.noise"])
    assert code_of(["owned.noise"]) == before
    (package / changed).write_text("def f(data): return 0\n")
    assert code_of(["owned.noise"]) != before


def test_a_module_that_is_imported_on_the_way_counts_and_so_do_those_beside_it(package: Path) -> None:
    alone = code_of(["owned.noise"])
    (package / "beside.py").write_text("x = 2\n")
    assert code_of(["owned.noise"]) == alone  # nothing has imported it
    __import__("beside")
    imported = code_of(["owned.noise"])
    (package / "next.py").write_text("x = 3\n")
    assert code_of(["owned.noise"]) != imported


def test_subnormal_counts_by_its_code_wherever_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two commits of it have one version."""
    asked: list[str] = []

    def no_files(top: str) -> list[Path]:
        asked.append(top)
        return []

    monkeypatch.setattr("subnormal.audit.suite.fingerprint._local", list)
    monkeypatch.setattr("subnormal.audit.suite.fingerprint._files", no_files)
    code_of(["owned.noise"])
    assert asked == ["owned", "subnormal"]


def test_folders_that_are_links_count(package: Path) -> None:
    """Those of Subnormal are, in a checkout."""
    inner = package / "owned/parts"
    (package / "owned/link").symlink_to(inner.rename(package / "elsewhere"))
    before = code_of(["owned.noise"])
    (package / "elsewhere/later.py").write_text("def f(data): return 0\n")
    assert code_of(["owned.noise"]) != before


def test_environments_do_not_count(package: Path) -> None:
    before = code_of(["owned.noise"])
    (package / "owned/.venv").mkdir()
    (package / "owned/.venv/pyvenv.cfg").touch()
    (package / "owned/.venv/installed.py").touch()
    assert code_of(["owned.noise"]) == before


def test_what_is_installed_counts_by_its_version(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_of(["owned.noise"])
    monkeypatch.setattr("subnormal.audit.suite.fingerprint.distributions", list)
    assert code_of(["owned.noise"]) != before


def test_options_and_the_domain_count_and_the_share_of_alpha_does_not(tmp_path: Path) -> None:
    of = fingerprint(ASKED, "code")
    assert fingerprint(ASKED | {"alpha": 1e-9, "command": "another"}, "code") == of
    assert len({of, fingerprint(ASKED | {"epsilon": 2.0}, "code"), fingerprint(ASKED, "other code")}) == 3
    domain = tmp_path / "domain.json"
    domain.write_text("{}")
    first = fingerprint(ASKED | {"data": str(domain)}, "code")
    domain.write_text('{"type": "integer"}')
    assert fingerprint(ASKED | {"data": str(domain)}, "code") != first
