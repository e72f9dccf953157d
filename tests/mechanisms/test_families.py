"""Members by name, and those of libraries that need not be installed."""

import dataclasses
import re
import sys
import tomllib
from typing import Any

import pytest

from subnormal.attacks.catalogue import attack, attacks
from subnormal.audit.engine.pairs import crossings
from subnormal.mechanisms import families
from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.families import FAMILIES, absent, is_member, member, members, package
from tests.support.paths import ROOT
from tests.support.processes import run

WITH_LIBRARIES = {of.name for of in FAMILIES if any(".libraries." in reference for reference in of.members)}
LIBRARIES = {"opendp", "diffprivlib", "python-dp", "jax", "torch", "ml_dtypes"}


@pytest.fixture
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "installed", lambda distribution: None)


@pytest.fixture
def _everything_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "installed", lambda distribution: "9.9")


@pytest.mark.usefixtures("_everything_installed")
def test_names_are_unique_and_a_package_is_a_library() -> None:
    everyone = [one for of in FAMILIES for one in members(of)]
    assert len({one.name for one in everyone}) == len(everyone)
    assert {one.package for one in everyone} == {"", *LIBRARIES}
    for one in everyone:
        foreign = bool(one.package)
        assert foreign == (one.takes is not None)
        assert one.seeded == (not foreign or one.law is not None)  # JAX, PyTorch: the key is ours, and the bits are few
        assert package(one) == (f"{one.package} 9.9" if foreign else None)
        assert not foreign or (not one.exact and (one.law is None) == (one.runs is not None))


@pytest.mark.usefixtures("_everything_installed")
@pytest.mark.parametrize("of", FAMILIES, ids=lambda of: of.name)
def test_members_know_the_family_that_lists_them(of: Family[Any, Any]) -> None:
    others = {one.name: one.family for one in members(of) if one.family != of.name}
    assert not others, f"{of.name} lists members that name another family: {others}"


@pytest.mark.parametrize("of", FAMILIES, ids=lambda of: of.name)
@pytest.mark.parametrize("data", [None, "a", [1, 2]], ids=repr)
def test_data_of_the_wrong_type_are_not_adjacent(data: Any, of: Family[Any, Any]) -> None:
    parameters = next(one.parameters for one in attacks() if one.family == of.name)
    try:
        found = of.adjacent(parameters, data, data)
    except ValueError as error:
        assert "data must be " in str(error)  # noqa: PT017 - either is right
    else:
        assert found is False


@pytest.mark.parametrize("of", FAMILIES, ids=lambda of: of.name)
def test_a_family_has_a_row_in_the_table_of_families(of: Family[Any, Any]) -> None:
    document = "docs/mechanisms.md"
    cells = [line.split("|")[1] for line in (ROOT / document).read_text().splitlines() if line.startswith("|")]
    assert any(f"`{of.name}`" in cell for cell in cells), f"{document}: no table has a row for the family {of.name!r}"


@pytest.mark.usefixtures("_nothing_installed")
def test_members_of_packages_that_are_not_installed_are_left_out() -> None:
    for of in FAMILIES:
        assert not any(one.package for one in members(of))
        assert bool(absent(of)) == (of.name in WITH_LIBRARIES)
        assert len(absent(of)) + len(members(of)) == len(of.members)
    with pytest.raises(
        LookupError, match=r"'opendp-laplace' needs opendp; in a checkout, pip install -e '.\[libraries\]'"
    ):
        member("opendp-laplace")
    with pytest.raises(LookupError, match="unknown mechanism 'opendp-laplase'"):
        member("opendp-laplase")


@pytest.mark.usefixtures("_nothing_installed")
def test_without_libraries_nothing_of_them_is_run() -> None:
    met = crossings(attacks())
    assert not any(crossing.mechanism.package for crossing in met)
    assert "sensitivity-rounding-float64" not in {crossing.attack.name for crossing in met}
    named = crossings([attack("sensitivity-rounding-float64")], everything=True)
    assert "laplace-naive-float64" in {crossing.mechanism.name for crossing in named}


def test_finding_members_imports_no_library() -> None:
    code = (
        "import sys; from subnormal.mechanisms.families import FAMILIES, members; [members(of) for of in FAMILIES]; "
        "print({'opendp', 'diffprivlib', 'pydp', 'sklearn', 'jax', 'torch', 'ml_dtypes'} & set(sys.modules))"
    )
    assert run([sys.executable, "-c", code]).stdout == "set()\n"


def test_members_are_known_as_such() -> None:
    known = member("laplace-exact")
    assert is_member(known)
    assert not is_member(dataclasses.replace(known))
    assert not is_member(dataclasses.replace(known, family="a family of nobody"))


def test_every_hint_to_install_works_in_a_checkout() -> None:
    """The package is on no index: what is installed is this folder, with extras that it declares. It stays editable,
    because a copy would take the place of an editable install, and no longer follow the folder."""
    root = ROOT
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    files = [*(file for file in root.glob("*.md") if file.name != "CHANGELOG.md"), *root.glob("docs/*.md")]
    files += [file for name in ("mechanisms", "attacks", "audit", "notebooks") for file in (root / name).rglob("*.py")]
    hints = [
        hint for file in files for hint in re.findall(r"pip install ((?:-e )?['\"][^'\"]+)['\"]", file.read_text())
    ]
    assert len(hints) > 5
    assert {hint for hint in hints if hint not in {f"-e '.[{extra}]" for extra in extras}} == set()
