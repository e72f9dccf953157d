"""labs fetch writes what a student needs, from an installed package too; labs grade is the grading of a class."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.marks import LABS
from subnormal.audit.__main__ import main
from subnormal.audit.commands import labs
from tests.support.paths import ROOT
from tests.support.processes import run


def fetched(folder: Path, *options: str) -> Path:
    result = CliRunner().invoke(main, ["labs", "fetch", str(folder), *options])
    assert (result.exit_code, result.output.count("\n")) == (0, 1), result.output
    return folder


@pytest.mark.parametrize("repository", ["", "https://example.org/subnormal"])
def test_every_link_leads_somewhere(repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a file of the folder, or to one of the repository; there is none where the package names no repository."""
    monkeypatch.setattr(labs, "_repository", lambda: repository)
    folder, links = fetched(tmp_path / "labs"), []
    for lab in LABS:
        notebook = json.loads((folder / f"{lab}.ipynb").read_text("utf-8"))
        text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
        assert "the course" in text
        links += re.findall(r"\]\(([^)]*)\)", text)
    elsewhere = [link for link in links if link.startswith("https:")]
    assert all((folder / link).is_file() for link in links if link not in elsewhere)
    assert all((ROOT / link.removeprefix(f"{repository}/blob/main/")).is_file() for link in elsewhere)
    assert bool(elsewhere) == bool(repository)


def test_the_notebooks_find_their_graders(tmp_path: Path) -> None:
    folder = fetched(tmp_path / "labs")
    code = "import clinic, grader.worlds as lab; print(lab.__file__, lab.part_1('Ada', [0], [0]))"
    shown = run([sys.executable, "-c", code], cwd=folder)
    assert str(folder / "grader" / "worlds.py") in shown.stdout, shown.stderr


def test_solutions_are_for_the_teacher(tmp_path: Path) -> None:
    names = {path.name for path in fetched(tmp_path / "students").iterdir()}
    assert names == {"grader", "clinic", "explorer.html", *(f"{lab}.ipynb" for lab in LABS)}
    assert (fetched(tmp_path / "teachers", "--teacher") / "sources" / "lab1_worlds.py").is_file()


def test_answers_are_not_overwritten(tmp_path: Path) -> None:
    answers = tmp_path / "labs" / "lab1_worlds.ipynb"
    answers.parent.mkdir()
    answers.write_text("mine")
    result = CliRunner().invoke(main, ["labs", "fetch", str(answers.parent)])
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert answers.read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["labs", "fetch", str(tmp_path / "file" / "labs")])
    assert result.exit_code == 2
    assert result.stderr == f"Error: {tmp_path / 'file'}: File exists\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_grade_has_the_options_and_the_exit_code_of_the_grading(tmp_path: Path) -> None:
    shown = run([sys.executable, "-m", "subnormal.audit", "labs", "grade", "--help"], cwd=tmp_path)
    assert (shown.returncode, "--gradebook" in shown.stdout, shown.stderr) == (0, True, "")
    shown = run([sys.executable, "-m", "subnormal.audit", "labs", "grade", tmp_path], cwd=tmp_path)
    assert (shown.returncode, "no lab in" in shown.stderr) == (2, True), shown.stderr


def test_a_wheel_has_the_labs_where_the_command_looks_for_them() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert Path(build["sources"][labs.HOME]) == Path("subnormal", "audit", labs.PACKAGED.name)
    assert labs.PACKAGED.parent.samefile(ROOT / "audit")
