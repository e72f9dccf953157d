"""The runners of vectors/runners pass what is right and fail what is flawed; those without a compiler are skipped."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.vectors.mutants import MUTANTS, mutated
from tests.support.paths import ROOT
from tests.support.processes import run

VECTORS = ROOT / "vectors" / "1"
RUNNERS = ROOT / "vectors" / "runners"
PYTHON = [sys.executable, str(RUNNERS / "python" / "runner.py"), str(VECTORS)]

# How each is built, {} being a folder, and started.
LANGUAGES: dict[str, tuple[list[list[str]], list[str]]] = {
    "c": (
        [["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", '-DSUBJECT="example.c"',
            "-DFLAWED=getenv(\"FLAWED\")", "-o", "{}/runner", "runner.c", "-lm"]],
        ["{}/runner", *(str(VECTORS / f"{name}.txt") for name in ("samplers", "maps", "stability"))],
    ),
    "rust": ([["rustc", "-O", "-D", "warnings", "-o", "{}/runner", "runner.rs"]], ["{}/runner", str(VECTORS)]),
    "java": ([["javac", "-Xlint:all", "-Werror", "-d", "{}", "Runner.java"]], ["java", "-cp", "{}", "Runner",
        str(VECTORS)]),
    "go": ([["go", "build", "-o", "{}/runner", *(f"{name}.go" for name in ("runner", "samplers", "stability",
        "example"))]], ["{}/runner", str(VECTORS)]),
    "javascript": ([], ["node", "runner.js", str(VECTORS), "example.js"]),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_runner_passes_its_example_and_fails_the_flawed_one(language: str, tmp_path: Path) -> None:
    builds, start = LANGUAGES[language]
    needed = (builds[0] if builds else start)[0]
    if shutil.which(needed) is None:
        pytest.skip(f"the runner in {language} needs {needed}")
    place = RUNNERS / language
    for build in builds:
        made = run([word.replace("{}", str(tmp_path)) for word in build], cwd=place)
        assert made.returncode == 0, made.stderr
    command = [word.replace("{}", str(tmp_path)) for word in start]
    sound = run(command, cwd=place)
    assert (sound.returncode, sound.stderr) == (0, ""), sound.stdout[-500:]
    counts = [line.split(": ")[1].split(" ") for line in sound.stdout.splitlines()]
    assert all(int(count[0]) > 0 and int(count[2]) == 0 for count in counts), sound.stdout
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("samplers", "maps", "stability"):
        (empty / f"{name}.txt").write_text("")
        (empty / f"{name}.json").write_text('{"tests": []}')
    unanswered = run([word.replace(str(VECTORS), str(empty)) for word in command], cwd=place)
    assert unanswered.returncode == 2, unanswered.stdout + unanswered.stderr
    flawed = run(command, cwd=place, env={**os.environ, "FLAWED": "1"})
    assert flawed.returncode == 1
    for failed in ("gaussian-zcdp/1", "randomized-response/", "count/2"):
        assert any("FAILED" in line and failed in line for line in flawed.stdout.splitlines()), flawed.stdout[-800:]


@pytest.mark.parametrize("name", ["samplers", "maps", "stability", "attacks"])
def test_the_reference_passes_the_runner_in_python(name: str) -> None:
    result = run([*PYTHON, str(RUNNERS / "python" / "reference.py"), name])
    assert result.returncode == 0, result.stdout
    assert " 0 failed" in result.stdout
    assert ": 0 passed" not in result.stdout


@pytest.mark.parametrize("row", [MUTANTS[0], MUTANTS[36], MUTANTS[-1]], ids=["sampler", "snapping", "map"])
def test_a_mutant_fails(row: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "mutant.py").write_text(mutated((RUNNERS / "python" / "reference.py").read_text(), row))
    result = run([*PYTHON, str(tmp_path / "mutant.py"), "samplers", "maps"])
    assert result.returncode == 1
    assert "FAILED" in result.stdout


def test_a_runner_has_a_hundred_lines_at_most() -> None:
    files = [path for path in RUNNERS.rglob("*.*") if path.suffix != ".pyc"]
    long = [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 100]
    assert long == ["reference.py"]  # the subject, which no library needs


def test_a_query_that_raises_for_one_dataset_fails(tmp_path: Path) -> None:
    subject = tmp_path / "subject.py"
    subject.write_text("QUERIES = {'count': lambda parameters, records: 1 // all(x == x for x in records)}\n")
    result = run([*PYTHON, str(subject), "stability"])
    assert result.returncode == 1
    assert "FAILED count/2" in result.stdout


BROKEN = {
    "a name that no test asks for": ("MAPS = {'laplas': print}", "laplas", "no test asks for it"),
    "other arguments": ("MAPS = {'threshold': lambda scale: 1.0}", "threshold", "unexpected keyword"),
    "a mechanism that always raises": ("MECHANISMS = {'laplace': lambda data: 0}", "laplace", "1 positional"),
    "draws that always raise": ("DRAWS = {'discrete-laplace': lambda n: []}", "discrete-laplace", "1 positional"),
    "a query that always raises": ("QUERIES = {'count': len}", "count", "exactly one argument"),
    "None": ("MAPS = {'laplace': lambda **parameters: None}", "laplace", "it returns None"),
    "no name": ("MAP = {}", "subject.py", "answers no test"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_subject_that_answers_nothing_is_no_success(name: str, tmp_path: Path) -> None:
    source, *said = BROKEN[name]
    subject = tmp_path / "subject.py"
    subject.write_text(source + "\n")
    result = run([*PYTHON, str(subject)])
    assert result.returncode == 2
    (wrong,) = [line for line in result.stdout.splitlines() if line.startswith("WRONG")]
    assert all(one in wrong for one in said)


RAISES = {
    "for some random bits": (
        "def f(parameters, n):\n    if n > 1:\n        raise OverflowError\n    return [0]\n"
        "DRAWS = {'discrete-laplace': f}",
        "OverflowError",
    ),
    "where its answer is read": ("DRAWS = {'discrete-laplace': lambda parameters, n: ['0'] * n}", "TypeError"),
    "by a longer answer": ("calls = []\nQUERIES = {'count': lambda *data: [*calls, calls.append(0)][:-1]}", "[], [0]"),
    "where its number is read": ("MAPS = {'laplace': lambda **parameters: '1'}", "TypeError"),
}


@pytest.mark.parametrize("name", RAISES)
def test_what_is_no_refusal_fails(name: str, tmp_path: Path) -> None:
    source, said = RAISES[name]
    subject = tmp_path / "subject.py"
    subject.write_text(source + "\n")
    result = run([*PYTHON, str(subject), "samplers", "maps", "stability"])
    assert result.returncode == 1
    assert said in result.stdout


def test_a_law_may_refuse_some_parameters(tmp_path: Path) -> None:
    subject = tmp_path / "subject.py"
    subject.write_text(
        "from reference import draws_of_response\n"
        "def f(parameters, n):\n    if parameters['probability'] == '1':\n        raise ValueError\n"
        "    return draws_of_response(parameters, n)\nDRAWS = {'randomized-response': f}\n"
    )
    result = run([*PYTHON, str(subject), "samplers"])
    assert result.returncode == 0, result.stdout
    assert " 0 failed, 0 raised" not in result.stdout


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    subject = tmp_path / "subject.py"
    subject.write_text("import sibling\nMAPS = {'laplace': sibling.laplace}\n")
    broken = run([*PYTHON, str(subject), "maps"])
    assert (broken.returncode, broken.stdout) == (2, "")
    assert "No module named 'sibling'" in broken.stderr
    (tmp_path / "sibling.py").write_text("def laplace(scale, steps, delta):\n    return steps / scale\n")
    assert run([*PYTHON, str(subject), "maps"]).returncode == 0
    for arguments, missing in (([str(tmp_path), str(subject)], "samplers.json"), ([*PYTHON[2:], "gone.py"], "gone.py")):
        result = run([*PYTHON[:2], *arguments])
        assert result.returncode == 2
        assert f"there is no file {'' if missing == 'gone.py' else tmp_path}" in result.stderr
        assert missing in result.stderr


def in_javascript(source: str, folder: Path) -> Any:
    if shutil.which("node") is None:
        pytest.skip("the runner in javascript needs node")
    (folder / "subject.js").write_text(source)
    return run(["node", str(RUNNERS / "javascript" / "runner.js"), str(VECTORS), str(folder / "subject.js")])


THROWS = {
    "for some random bits": "exports.draws = { 'discrete-laplace': (_, n) => { if (n > 1) throw ''; return [0]; } };",
    "where its answer is read": "exports.draws = { 'discrete-laplace': () => 7 };",
    "for a stream": "exports.streams = { 'discrete-laplace': () => { throw ''; } };",
    "a longer answer": "let calls = 0; exports.queries = { count: () => Array(++calls).fill(0) };",
}


@pytest.mark.parametrize("name", THROWS)
def test_what_is_no_refusal_fails_in_javascript(name: str, tmp_path: Path) -> None:
    assert in_javascript(THROWS[name], tmp_path).returncode == 1


def test_a_subject_in_javascript_that_answers_nothing_is_no_success(tmp_path: Path) -> None:
    result = in_javascript("exports.maps = { laplas: () => 1, zcdp: () => gone };\n", tmp_path)
    assert result.returncode == 2
    wrong = [line for line in result.stdout.splitlines() if line.startswith("WRONG")]
    assert wrong == [
        "WRONG maps.laplas answers no test: no test asks for it",
        "WRONG maps.zcdp answers no test: ReferenceError: gone is not defined",
    ]
