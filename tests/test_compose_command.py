"""audit compose: tables, pictures, and mistakes that are named."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from attacks.catalogue import attack
from audit import compounding
from audit.__main__ import main
from audit.accountants import kairouz_oh_viswanath

PNG = b"\x89PNG"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["compose", *arguments])


def rows(output: str) -> list[list[str]]:
    """The lines of the tables that begin with a number, in cells."""
    return [line.split() for line in output.splitlines() if line.strip()[:1].isdigit()]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--gaussian", "10"),
        ("--gaussian", "1", "--sampling", "0.01"),
        ("--laplace", "200", "--truncation", "2500"),
        ("--response", "0.1"),
        ("--attack", "zero-rounding", "--mechanism", "exponential-base2"),
    ],
)
def test_a_mechanism_is_told_and_drawn(arguments: tuple[str, ...], tmp_path: Path) -> None:
    result = call(*arguments, "--runs", "12", "--buckets", "1000", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir(tmp_path)) == ["compose-delta.png", "compose-epsilon.png"]
    assert all((tmp_path / name).read_bytes().startswith(PNG) for name in os.listdir(tmp_path))
    found = rows(result.stdout)
    assert [row[0] for row in found[-5:]] == ["1", "2", "4", "8", "12"]
    for row in found:
        low, up, *others = (float(cell.replace("∞", "inf")) for cell in row[1:])
        assert low <= up
        assert all(other >= low * (1 - 1e-3) for other in others)


def test_a_recorded_pair_may_be_counts_or_probabilities(tmp_path: Path) -> None:
    told = []
    for name, pair in {"counts": ([6, 3, 1], [3, 5, 2]), "shares": ([0.6, 0.3, 0.1], [0.3, 0.5, 0.2])}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"in": pair[0], "out": pair[1]}))
        result = call("--file", str(path), "--runs", "8", "--buckets", "1000", "--out", str(tmp_path / name))
        assert result.exit_code == 0, result.output
        told.append(rows(result.stdout))
    for counts, parts in zip(*told, strict=True):
        assert [float(cell) for cell in counts] == pytest.approx([float(cell) for cell in parts], rel=1e-3)
    assert float(told[0][0][1]) <= 0.6322253 <= float(told[0][0][2])


@pytest.mark.parametrize("arguments", [(), ("--gaussian", "1e300"), ("--laplace", "1e300"), ("--response", "1e-300")])
@pytest.mark.parametrize("pair", [[[1, 1], [1, 1]], [[0, 1], [1, 0]]])
def test_worlds_that_nothing_or_everything_tells_apart_are_drawn(
    arguments: tuple[str, ...], pair: list[list[int]], tmp_path: Path
) -> None:
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(dict(zip(("in", "out"), pair, strict=True))))
    result = call(
        *(arguments or ("--file", str(path))), "--runs", "2", "--buckets", "40", "--out", str(tmp_path / "out")
    )
    assert result.exit_code == 0, result.output
    assert len(os.listdir(tmp_path / "out")) == 2


def test_a_leak_compounds_and_its_twin_does_not(tmp_path: Path) -> None:
    result = call("--attack", "rounded-addition-float16", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert os.listdir(tmp_path) == ["compose-leaks.png"]
    broken, twin = compounding.compounded([attack("rounded-addition-float16")])
    assert (broken.exact, twin.exact) == (False, True)
    for runs, (low, _) in zip(compounding.RUNS, broken.beyond, strict=True):
        assert low == pytest.approx(1 - 0.5**runs, rel=1e-9)
    assert max(up for _, up in twin.beyond) < 1e-12
    for runs, (low, _), (_, up) in zip(compounding.RUNS, broken.advantage, twin.advantage, strict=True):
        allowed = kairouz_oh_viswanath(0.02, 0.0, runs, 0.0)
        assert up <= allowed + 1e-4
        assert low > allowed or allowed > 0.99
    assert broken.mechanism in result.stdout
    assert twin.mechanism in result.stdout


def test_what_tries_tell_compounds_of_a_member_whose_outcomes_are_exact() -> None:
    broken, twin = compounding.compounded([attack("rejection-tries")])
    assert (broken.mechanism, broken.exact, twin.exact) == ("exponential-base2", False, True)
    for runs, (low, _) in zip(compounding.RUNS, broken.advantage, strict=True):
        assert low >= 1 - (257 / 512) ** runs - 1e-9
    assert max(up for _, up in twin.beyond) < 1e-9


def test_more_runs_make_no_less_certain() -> None:
    for row in compounding.compounded([attack("selection-absorption")]):
        assert sorted(low for low, _ in row.advantage) == [low for low, _ in row.advantage]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gaussian", "0"), "Invalid value for '--gaussian': 0.0 is not in the range x>0"),
        (("--gaussian", "1e-200"), "sigma must be at least 0.03125"),
        (("--laplace", "1e-3", "--truncation", "1"), "scale must be at least 0.03125"),
        (("--response", "1e300"), "epsilon must be at most 700 nats"),
        (("--gaussian", "nan"), "nan is not a finite number"),
        (("--gaussian", "1", "--laplace", "1"), "--gaussian and --laplace exclude each other"),
        (("--sampling", "0.1"), "--sampling needs --gaussian"),
        (("--truncation", "5"), "--truncation needs --laplace"),
        (("--mechanism", "laplace-exact"), "--mechanism laplace-exact needs one --attack"),
        (("--attack", "absorption", "--gaussian", "1"), "--gaussian excludes --attack"),
        (("--attack", "absorptoin"), "did you mean 'absorption'?"),
        (("--attack", "zero-rounding", "--mechanism", "laplace-exact"), "laplace-exact is of the family laplace"),
        (("--attack", "absorption", "--mechanism", "laplace-exakt"), "did you mean 'laplace-exact'?"),
        (("--attack", "box-muller-inversion", "--mechanism", "gaussian-naive-float64"), "has no exact law"),
        (("--file", "nowhere.json"), "File 'nowhere.json' does not exist"),
        (("--runs", "0"), "0 is not in the range 1<=x<="),
        (("--buckets", "7"), "7 is not in the range 8<=x<="),
        (("--runs", "5"), "--runs needs a mechanism"),
        (("--attack", "absorption", "--delta", "0.1"), "--delta needs a mechanism"),
    ],
)
def test_mistakes_exit_2_and_name_the_argument(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = call(*arguments, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "Expecting value"),
        ('{"in": [1]}', "no 'out'"),
        ('{"in": [0.5, 0.6], "out": [0.5, 0.5]}', "p must hold probabilities that sum up to 1"),
        ('{"in": [1, 2], "out": [3]}', "over the same atoms, got 2 and 1"),
        ('{"in": 3, "out": [3]}', "'in' and 'out' must be lists of numbers"),
        ('{"in": [true, false], "out": [0.5, 0.5]}', "must be lists of numbers"),
        ('{"in": ["0.5", "0.5"], "out": [0.5, 0.5]}', "must be lists of numbers"),
        ('{"in": {"0.5": 1, "0.50": 2}, "out": [0.5, 0.5]}', "must be lists of numbers"),
        ('{"in": [NaN, 0.5], "out": [0.5, 0.5]}', "p must hold probabilities"),
        ('{"in": [3, -1], "out": [1, 1]}', "p must hold probabilities"),
        ('{"in": [1' + "0" * 400 + ', 0.5], "out": [0.5, 0.5]}', "int too large to convert to float"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_file_that_holds_no_pair_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    path.write_text(text)
    result = call("--file", str(path), "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert str(path) in result.stderr
