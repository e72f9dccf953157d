"""Attack vectors: documents from which a program in another language runs an attack, with no Python in the judging."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from subnormal.attacks.additive.absorption import absorption
from subnormal.attacks.catalogue import on_outcomes
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.__main__ import main
from subnormal.audit.vectors import attacks as vectors_attacks
from subnormal.mechanisms.families import family
from tests.support.paths import ROOT
from tests.support.processes import run

SCHEMA = json.loads((ROOT / "vectors" / "1" / "vector.schema.json").read_text())


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    names = [option for of in on_outcomes() for option in ("--attack", of.name)]
    result = CliRunner().invoke(main, ["vectors", "make", "--out", str(folder), *names])
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == f"{len(on_outcomes())} vectors: {folder}"
    return folder


def read(folder: Path, of: Attack[Any, Any, Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / vectors_attacks.file_name(of)).read_text())
    return document


def floats(value: Any) -> list[dict[str, Any]]:
    """Return every {"decimal", "hex"} in a document."""
    if isinstance(value, dict):
        here = [value] if set(value) == {"decimal", "hex"} else []
        return here + [found for part in value.values() for found in floats(part)]
    return [found for part in value for found in floats(part)] if isinstance(value, list) else []


def decoded(given: dict[str, Any]) -> Any:
    """Return the data that a vector holds, as another program would read them."""
    if "items" in given:
        return {key: of_one(value) for key, value in given["items"]}
    if "runs" not in given:
        return of_one(given["value"])
    values = np.array([of_one(value) for _, value in given["runs"]], dtype=given["type"])
    vector = np.repeat(values, [count for count, _ in given["runs"]])
    return vector.reshape(given["shape"]) if "shape" in given else vector


def of_one(given: Any) -> int | float:
    return float.fromhex(given["hex"]) if isinstance(given, dict) else int(given)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("of", on_outcomes(), ids=lambda of: of.name)
def test_a_vector_holds_its_attack(of: Attack[Any, Any, Any], written: Path) -> None:
    document = read(written, of)
    Draft202012Validator(SCHEMA).validate(document)
    assert (document["attack"], document["family"], document["source"]) == (of.name, of.family, of.source)
    worlds = [decoded(document[name]) for name in ("data_in", "data_out")]
    for data, original in zip(worlds, of.worlds(), strict=True):
        assert type(data) is type(original)
        assert np.array_equal(np.asarray(data), np.asarray(original))
        assert np.asarray(data).dtype == np.asarray(original).dtype
    assert family(of.family).adjacent(of.parameters, *worlds)
    assert all(float.fromhex(one["hex"]) == one["decimal"] for one in floats(document))
    assert [one["mechanism"] for one in document["broken"]] == list(of.breaks)


def test_identities_differ_and_stay(written: Path) -> None:
    identities = [read(written, of)["id"] for of in on_outcomes()]
    assert len(set(identities)) == len(on_outcomes())
    assert read(written, zero_rounding())["id"] == vectors_attacks.vector(zero_rounding())["id"]
    assert vectors_attacks.vector(zero_rounding(outcomes=101))["id"].split("/")[1] not in "".join(identities)


def test_what_a_broken_mechanism_shows_is_its_exact_law(written: Path) -> None:
    (shown,) = read(written, zero_rounding())["broken"]
    assert shown["mechanism"] == "exponential-naive-float64"
    assert [bound["decimal"] for bound in shown["event_in"]] == [1.0, 1.0]
    # 100 equal weights: ⌈2^53/100⌉ of 2^53 uniforms.
    assert shown["event_out"][0]["decimal"] == -(-(2**53) // 100) / 2**53


def test_integers_that_floats_cannot_hold_are_strings(written: Path) -> None:
    document = read(written, absorption())
    assert document["data_in"] == {"type": "integer", "value": str((1 << 60) + 129)}


def test_a_vector_of_millions_is_a_small_file(written: Path) -> None:
    assert all(path.stat().st_size < 1 << 12 for path in written.iterdir())


def test_data_that_no_vector_can_hold_are_refused() -> None:
    what = r"data must be a vector or a matrix of integers or floats, got float64 of shape \(2, 2, 2\)"
    with pytest.raises(ValueError, match=what):
        vectors_attacks.data(np.zeros((2, 2, 2)))


def test_a_matrix_is_the_vector_of_its_rows_with_its_shape() -> None:
    document = vectors_attacks.data(np.array([[3, 3, 4], [4, 5, 5]]))
    assert document == {"type": "int64", "length": 6, "runs": [[2, 3], [2, 4], [2, 5]], "shape": [2, 3]}


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("c") / "vector_runner"
    source = ROOT / "docs" / "examples" / "vector_runner.c"
    assert len(source.read_text().splitlines()) <= 100
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]
    made = run([compiler, *strict, "-o", program, source, "-lm"])
    assert made.returncode == 0, made.stderr
    return program


@pytest.mark.parametrize(
    ("name", "sampler", "code"),
    [
        ("zero-rounding", "naive", 1),
        ("zero-rounding", "shifted", 0),
        ("zero-rounding-two-outcomes", "naive", 1),
        ("zero-rounding-two-outcomes", "shifted", 0),
    ],
)
def test_a_runner_in_c_breaks_a_naive_sampler_from_the_file_alone(
    name: str, sampler: str, code: int, runner: Path, written: Path
) -> None:
    # It states its own α, 10^-6: the chance that the sound sampler fails this test.
    result = run([runner, written / f"{name}.json", sampler])
    assert result.returncode == code, result.stdout + result.stderr
    assert result.stdout.endswith("VIOLATED\n" if code else "NOT REFUTED\n")


def test_the_runner_refuses_what_it_cannot_judge(runner: Path, written: Path) -> None:
    for path in (written / "absorption.json", written / "nowhere.json"):
        assert run([runner, path, "naive"]).returncode == 2


def test_one_vector_may_be_asked_for_and_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("mine")
    result = CliRunner().invoke(main, ["vectors", "make", "--out", str(tmp_path), "--attack", "zero-rounding"])
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json", "zero-rounding.json"]
    mistaken = CliRunner().invoke(main, ["vectors", "make", "--out", str(tmp_path), "--attack", "zero-roundin"])
    assert mistaken.exit_code == 2
    assert "did you mean 'zero-rounding'?" in mistaken.stderr


def test_a_family_that_is_not_ours_has_vectors_too() -> None:
    named = {of.name for of in on_outcomes()}
    others = [document for document in vectors_attacks.tests() if document["attack"] not in named]
    assert len(others) == len(vectors_attacks.QUERIES)
    for document in others:
        Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(document)))
