"""audit claims: functions, installed packages, and mistakes that are named."""

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from subnormal.audit.claims.holding import Answer, RefusedError
from subnormal.audit.claims.packages import subnormal as packages_subnormal

MODULE = """
import math
import os

def classic(sigma, steps, delta):  # proved for epsilon below 1 alone
    return math.sqrt(2 * steps * math.log(1.25 / delta)) / sigma

def nothing(**parameters):
    raise ArithmeticError("no idea")

def nearly(scale, alpha):
    return -scale * math.log(alpha) * (1 - 1e-6)

def last_bit(scale, alpha):
    return math.nextafter(-scale * math.log(alpha), 0) * (1 - 2**-50)

def negative(scale, alpha):
    return -2.0

def endlessly_negative(scale, alpha):
    return -math.inf

def wrong_below(scale, steps, delta):
    return 0.0 if delta < 1e-7 else math.inf

def wrong_above(sigma, steps, delta):
    return 10.0

def gone(sigma, steps, delta):
    os._exit(0)

def endless(sigma, steps, delta):
    while True:
        pass

def generous(sigma, steps, delta):
    return float("inf")
"""


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["claims", "--jobs", "1", *arguments])


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "claimed_numbers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "claimed_numbers"


def test_the_classic_bound_of_gaussian_noise_is_violated_where_it_was_never_proved(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (f"{module}:classic", "--kind", "gaussian", "--examples", "40")
    result = call(*arguments, "--fail-on-violation")
    assert result.exit_code == 1, result.output
    whole = next(line for line in result.stdout.splitlines() if line.startswith("VIOLATED"))
    assert "gaussian(delta=" in whole
    said, least = (float(part) for part in whole.split("says ")[1].split(", at least "))
    assert said < least
    assert len(whole) > 80
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # for rich a terminal
    lines = call(*arguments).stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("VIOLATED"))
    assert max(map(len, lines[first:])) <= 80
    assert " ".join(line.strip() for line in lines[first:]) == whole


def test_json_has_both_numbers(module: str) -> None:
    result = call(f"{module}:classic", "--kind", "gaussian", "--examples", "40", "--format", "json")
    assert result.exit_code == 0
    (row,) = json.loads(result.stdout)
    assert row["verdict"] == "VIOLATED"
    assert row["violated"]["said"] < row["violated"]["low"] <= row["violated"]["up"]
    (row,) = json.loads(call(f"{module}:generous", "--kind", "gaussian", "--examples", "5", "--format", "json").stdout)
    assert (row["verdict"], row["loose"], row["violated"]) == ("NOT REFUTED", "inf", None)


def test_what_is_rounded_is_listed_and_convicts_without_a_tolerance(module: str) -> None:
    arguments = (f"{module}:nearly", "--kind", "laplace-accuracy", "--examples", "20", "--fail-on-violation")
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    line = next(line for line in result.stdout.splitlines() if line.startswith("ROUNDED: "))
    assert "answers, at most " in line
    assert "misses 1e-06 of the truth: says " in line
    assert call(*arguments, "--tolerance", "1e-7").exit_code == 1
    (row,) = json.loads(call(*arguments, "--format", "json").stdout)
    assert row["verdict"] == "ROUNDED"
    assert row["rounded"] >= 10
    assert row["shortest"]["shortfall"] == pytest.approx(1e-6)


def test_a_proof_has_the_number_that_was_said_and_tells_it_from_what_is_true(module: str) -> None:
    def proof(name: str) -> list[str]:
        shown = call(f"{module}:{name}", "--kind", "laplace-accuracy", "--examples", "20").stdout
        return next(line for line in shown.splitlines() if ": says " in line).split(": says ")[1].split(", at least ")

    said, least = proof("last_bit")
    assert float(said) < float(least)
    assert proof("negative")[0] == "-2"
    assert proof("endlessly_negative")[0] == "-inf"
    arguments = (f"{module}:endlessly_negative", "--kind", "laplace-accuracy", "--examples", "5", "--format", "json")
    assert json.loads(call(*arguments).stdout)[0]["violated"]["said"] == "-inf"


def test_the_least_delta_reaches_the_parameters(module: str) -> None:
    arguments = (f"{module}:wrong_below", "--kind", "laplace", "--examples", "60", "--format", "json")
    verdicts = [json.loads(call(*arguments, *more).stdout)[0]["verdict"] for more in ((), ("--least-delta", "1e-7"))]
    assert verdicts == ["VIOLATED", "NOT REFUTED"]


def test_the_most_epsilon_reaches_the_parameters(module: str) -> None:
    arguments = (f"{module}:wrong_above", "--kind", "gaussian", "--examples", "60", "--format", "json")
    verdicts = [json.loads(call(*arguments, *more).stdout)[0]["verdict"] for more in ((), ("--most-epsilon", "10"))]
    assert verdicts == ["VIOLATED", "NOT REFUTED"]


def test_processes_find_the_same() -> None:
    kinds = [part for name in ("zcdp-delta", "zcdp", "gaussian") for part in ("--kind", name)]
    one, two = (
        call("--against", "subnormal", *kinds, "--examples", "10", "--format", "json", "--jobs", jobs).stdout
        for jobs in ("1", "2")
    )
    assert json.loads(one) == json.loads(two)
    assert [row["kind"] for row in json.loads(one)] == ["zcdp-delta", "zcdp", "gaussian"]


def test_what_answers_nothing_is_an_error(module: str) -> None:
    result = call(f"{module}:nothing", "--kind", "gaussian", "--examples", "5")
    assert result.exit_code == 3
    assert "nothing was answered; the last reason: ArithmeticError: no idea" in result.stderr


def test_a_function_that_exits_is_no_success(module: str) -> None:
    result = call(f"{module}:gone", "--kind", "gaussian", "--examples", "3", "--fail-on-violation")
    assert result.exit_code == 3, result.output
    assert "nothing was answered" in result.stderr
    assert "exit code 0" in result.stderr


def test_a_function_that_never_returns_is_ended_with_the_time(module: str) -> None:
    result = call(f"{module}:endless", "--kind", "gaussian", "--seconds", "1", "--examples", "1000")
    assert result.exit_code == 3, result.output
    assert "no answer within 1.0 s of processor time" in result.stderr


@pytest.mark.parametrize("code", ["raise SystemExit(0)", "import os; os._exit(0)"])
def test_a_module_that_exits_when_it_is_imported_is_a_mistake(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaving_numbers.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    result = call("leaving_numbers:f", "--kind", "gaussian")
    assert result.exit_code == 2, result.output
    assert "FUNCTION" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a FUNCTION, or a package with --against"),
        (("a:b", "--against", "opendp"), "name a FUNCTION, or a package with --against"),
        (("a:b",), "a FUNCTION answers one --kind"),
        (("nowhere_at_all:b", "--kind", "gaussian"), "cannot be imported"),
        (("--against", "numpy"), "'numpy' is none of subnormal, dp-accounting, "),
        (
            ("--against", "opacus"),
            "opacus is not installed here: install it, or name one of its versions, ",
        ),
        (("--against", "opendp", "--kind", "gauss"), "'gauss' is none of gaussian, "),
        (("--against", "opendp", "--kind", "noisy-max-laplace"), "opendp is not asked about noisy-max-laplace"),
        (("--against", "opendp", "--seconds", "nan"), "is not a finite number"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_threshold_that_leaves_itself_out_is_found_by_package_and_kind() -> None:
    """opendp 0.16.0: https://github.com/opendp/opendp/issues/2922; its thresholds on real sums are right."""
    result = call("--against", "opendp", "--kind", "threshold", "--kind", "threshold-real", "--format", "json")
    integers, reals = json.loads(result.stdout)
    assert integers["verdict"] == "VIOLATED"
    assert integers["violated"]["parameters"] == {"scale": 1.0, "threshold": 1}
    assert integers["violated"]["low"] == pytest.approx(1 / (1 + math.exp(-1)))
    assert reals["verdict"] == "NOT REFUTED"
    assert reals["answered"] > 50


def test_an_accountant_of_loss_distributions_is_not_accused() -> None:
    kinds = [part for name in ("laplace", "sampled-gaussian") for part in ("--kind", name)]
    result = call("--against", "dp-accounting", *kinds, "--examples", "4", "--format", "json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["accountant"] for row in rows} == {"pld", "rdp"}
    assert not {row["verdict"] for row in rows} & {"VIOLATED", "NO ANSWER"}
    assert sum(row["answered"] for row in rows) >= 8


def test_our_own_are_not_accused_nor_a_mistake_of_theirs_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    from subnormal.audit.claims.holding import hold
    from subnormal.audit.claims.kinds import kind

    for (who, name), said in packages_subnormal.ANSWERS.items():
        if name in ("sampled-gaussian", "renyi"):  # by the long version alone: subnormal claims --against subnormal
            continue

        def answer(said: Answer = said, **parameters: float) -> float:
            try:
                return said(**parameters)
            except Exception as error:
                raise RefusedError from error

        held = hold(who, answer, kind(name), examples=6)
        assert held.violated is None, held.violated
        assert held.examples > 1

        def less(answer: Answer = answer, **parameters: float) -> float:
            return 0.9 * answer(**parameters)

        if name != "zcdp-delta":  # its bounds are far apart
            assert hold(who, less, kind(name), examples=30).violated is not None, name
