"""The folder vectors/1 is what this version makes, keeps its schemas, and says the same in JSON and in text."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from subnormal.audit.__main__ import main
from subnormal.audit.vectors import folder
from tests.support.paths import ROOT

VECTORS = ROOT / "vectors" / "1"
MEGABYTE = 1 << 20


def document(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", folder.SETS)
def test_the_files_of_a_set_are_what_this_version_makes(name: str) -> None:
    for file, content in folder.made(lambda: None, (name,)).items():
        assert (VECTORS / file).read_bytes() == content, f"{file}: subnormal vectors make"


@pytest.mark.parametrize("name", folder.SETS)
def test_a_set_keeps_its_schema(name: str) -> None:
    known: Registry[Any] = Registry().with_resource(
        "vector.schema.json", Resource.from_contents(document("vector.schema.json"))
    )
    schema = document(f"{name}.schema.json")
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema, registry=known).validate(document(f"{name}.json"))


@pytest.mark.parametrize("name", folder.SETS)
def test_the_text_says_what_the_json_says(name: str) -> None:
    tests = document(f"{name}.json")["tests"]
    lines = (VECTORS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [folder.line(test) for test in tests]
    assert all(all("=" in word for word in line.split(" ")) for line in lines)
    assert len({test["id"] for test in tests}) == len(tests)


def test_the_folder_is_small_and_each_set_has_a_page() -> None:
    assert sum(path.stat().st_size for path in VECTORS.iterdir()) < 3 * MEGABYTE
    assert {path.stem for path in VECTORS.glob("*.md")} == set(folder.SETS)


def test_a_file_that_was_changed_is_told(tmp_path: Path) -> None:
    text = (VECTORS / "stability.txt").read_text(encoding="utf-8")
    copy = tmp_path / "stability.txt"
    copy.write_text(text, encoding="utf-8")
    same = CliRunner().invoke(main, ["vectors", "check", str(copy)])
    assert (same.exit_code, same.stdout) == (0, f"{copy} is what this version makes\n")
    copy.write_text(text.replace("bound=1.0", "bound=2.0", 1), encoding="utf-8")
    changed = CliRunner().invoke(main, ["vectors", "check", str(copy)])
    assert (changed.exit_code, changed.stdout) == (1, "stability.txt: line 1 differs\n")
    copy.write_text(text + text, encoding="utf-8")
    longer = CliRunner().invoke(main, ["vectors", "check", str(copy)])
    assert (longer.exit_code, longer.stdout) == (1, "stability.txt: the number of lines differs\n")


def test_files_that_are_missing_or_unknown_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "SETS", {"stability": folder.SETS["stability"]})
    for name in ("stability.txt", "other.json", "stability.md"):
        (tmp_path / name).write_bytes((VECTORS / "stability.txt").read_bytes())
    found = CliRunner().invoke(main, ["vectors", "check", str(tmp_path)])
    assert found.exit_code == 1, found.exception
    assert found.stdout.splitlines() == ["other.json: this version makes no such file", "stability.json: missing"]


def test_a_file_of_another_name_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    result = CliRunner().invoke(main, ["vectors", "check", str(tmp_path / "mine.txt")])
    assert result.exit_code == 2
    assert "mine.txt is none of the files of a folder of vectors" in result.stderr
