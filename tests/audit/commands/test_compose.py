"""audit compose: tables, charts, and mistakes that are named."""

import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from subnormal.attacks.catalogue import attack
from subnormal.audit.__main__ import main
from subnormal.audit.commands import common
from subnormal.audit.commands.composed import recorded
from subnormal.audit.composition import leak_growth
from subnormal.audit.composition.buckets import count_bounds
from subnormal.audit.composition.comparison import Subject
from subnormal.audit.composition.other_accountants import kairouz_oh_viswanath
from subnormal.audit.report.svg import RIGHT, TOP, Axis, Frame
from subnormal.mechanisms.composition.closed_forms import gaussian
from subnormal.mechanisms.curves import Gdp
from subnormal.mechanisms.privacy import Claim
from tests.support.paths import ROOT
from tests.support.processes import run

LINES = ("t i", "l i", "l o", "t c", "t k")  # of both bounds and the other accountants


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["compose", *arguments])


def rows(output: str) -> list[list[str]]:
    """The lines of the tables that begin with a number, in cells: a title may be folded before one."""
    return [line.split() for line in output.splitlines() if re.match(r" *\d\S* {2,}\S", line)]


def charts(folder: Path) -> list[Element]:
    """The charts of the page, all that is written, each with its caption."""
    assert os.listdir(folder) == ["compose.html"]
    found = re.findall("<figure>.*?</figure>", (folder / "compose.html").read_text(encoding="utf-8"))
    assert not [one for one in found if re.search("nan|inf(?!<)", re.sub("<(text|figcaption).*?</\\1>", "", one))]
    return [ElementTree.fromstring(one) for one in found]


def points(chart: Element, css: str) -> list[tuple[int, int]]:
    """Where the line of a class goes, in pixels: SVG's moves, absolute at first, relative after."""
    (path,) = (one.attrib["d"] for one in chart.iter("path") if one.get("class") == css)
    found: list[tuple[int, int]] = []
    x = y = 0
    for kind, one, other in re.findall(r"([Mlhv])(-?\d+) ?(-?\d+)?", path):
        across, down = (0, one) if kind == "v" else (one, other or 0)
        x, y = x + int(across), y + int(down)
        found.append((x, y))
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("--gaussian", "10"),
        ("--gaussian", "1", "--sampling", "0.01"),
        ("--laplace", "200"),
        ("--laplace", "200", "--truncation", "2500"),
        ("--response", "0.1"),
        ("--attack", "zero-rounding", "--mechanism", "exponential-base2"),
    ],
)
def test_a_mechanism_is_told_and_drawn(arguments: tuple[str, ...], tmp_path: Path) -> None:
    result = call(*arguments, "--runs", "12", "--buckets", "1000", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert len(charts(tmp_path)) == 2
    found = rows(result.stdout)
    assert [row[0] for row in found[-5:]] == ["1", "2", "4", "8", "12"]
    for row in found:
        low, up, *others = (float(cell.replace("∞", "inf")) for cell in row[1:])
        assert low <= up
        assert all(other >= low * (1 - 1e-3) for other in others)


def test_a_chart_has_the_numbers_of_its_table(tmp_path: Path) -> None:
    """Lines end where the last row of the table says: both bounds and the other accountants."""
    result = call("--gaussian", "10", "--runs", "12", "--buckets", "40", "--out", str(tmp_path))
    low, up, *others = map(float, rows(result.stdout)[-1][1:])
    _, chart = charts(tmp_path)
    assert chart.findtext("figcaption/strong") == "ε at δ = 1e-06."
    first = [float(cell) for cell in rows(result.stdout)[-5][1:]]
    axis = Axis("", 10.0 ** math.floor(math.log10(min(first))), 10.0 ** math.ceil(math.log10(max(others))), True)
    frame = Frame(Axis("", 1, 12, True), axis)
    for css, value in zip(LINES, (low, up, *others), strict=True):
        ((x,), (y,)) = frame.pixels([12], [value])
        assert points(chart, css)[-1] == (x, y)


@pytest.mark.parametrize(
    ("runs", "told"),
    [("64", "26 runs are proved to exceed (ε, δ) = (2, 1e-05)"), ("25", "25 runs are not proved to exceed")],
)
def test_the_number_of_runs_beyond_a_budget(runs: str, told: str, tmp_path: Path) -> None:
    """σ = 10: r runs are Gaussian with μ = √r/10, and δ(2) is above 10^-5 from 26 on."""
    assert Gdp(math.sqrt(25) / 10).delta(2.0) < 1e-5 < Gdp(math.sqrt(26) / 10).delta(2.0) - 1e-11
    asked = ("--gaussian", "10", "--runs", runs, "--budget", "2", "--delta", "1e-5")
    result = call(*asked, "--out", str(tmp_path))
    assert told in result.stdout


@pytest.mark.parametrize("epsilon", [0.5, 0.8, 1.0, 1.5, 1.8, 2.0, 2.2, 3.5])
def test_the_number_of_runs_is_the_first_that_exceeds_the_budget(epsilon: float) -> None:
    subject = Subject("σ = 3", (gaussian(3.0, count=400),))
    first = next(runs for runs in range(1, 99) if subject.delta(runs, epsilon)[0] > 0.01)
    assert subject.runs_beyond(Claim(epsilon, 0.01), first) == subject.runs_beyond(Claim(epsilon, 0.01)) == first
    assert first == 1 or subject.runs_beyond(Claim(epsilon, 0.01), first - 1) is None


def test_no_line_goes_through_infinity(tmp_path: Path) -> None:
    of_file({"in": [0, 1], "out": [1, 0]}, tmp_path, "--runs", "2")
    delta, epsilon = charts(tmp_path / "out")
    assert [css for css in LINES if delta.find(f".//path[@class='{css}']") is not None] == list(LINES[:4])
    assert [css for css in LINES if epsilon.find(f".//path[@class='{css}']") is not None] == []


def of_file(pair: object, folder: Path, *arguments: str) -> Result:
    path = folder / "pair.json"
    path.write_text(json.dumps(pair))
    return call("--file", str(path), "--buckets", "1000", "--out", str(folder / "out"), *arguments)


def bounds(result: Result) -> tuple[float, float]:
    """What is told of δ(0), the first line of the first table."""
    assert result.exit_code == 0, result.output
    low, up = rows(result.stdout)[0][1:3]
    return float(low), float(up)


def test_a_recorded_pair_of_probabilities(tmp_path: Path) -> None:
    low, up = bounds(of_file({"in": [0.6, 0.3, 0.1], "out": [0.3, 0.5, 0.2]}, tmp_path, "--runs", "8"))
    assert low <= 0.6322253 <= up < low + 1e-4


def histograms(folder: Path, *texts: str) -> list[str]:
    """Write a file for each, and return the options that name them."""
    asked = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.txt"
        path.write_text(text)
        asked += ["--file", str(path)]
    return asked


@pytest.mark.parametrize(
    ("one", "other"), [("0.6\n0.3\n1e-1\n", "0.3\r\n0.5\r\n0.2"), ("6000000000000\n0", "5999999999999\n1\n")]
)
def test_two_histograms_are_read_as_a_pair_is(one: str, other: str, tmp_path: Path) -> None:
    """One number a line, as in the demonstration of privacy buckets: probabilities, or counts."""
    asked = histograms(tmp_path, one, other)
    result = call(*asked, "--runs", "8", "--buckets", "1000", "--out", str(tmp_path / "out"))
    pair = {"in": list(map(json.loads, one.split())), "out": list(map(json.loads, other.split()))}
    assert rows(result.stdout) == rows(of_file(pair, tmp_path, "--runs", "8").stdout) != []
    assert "0.txt and 1.txt" in result.stdout


def test_the_delays_of_the_example_hold_the_gaussian_that_they_are_of(tmp_path: Path) -> None:
    """Means one twentieth of a deviation apart: 64 delays are Gaussian with μ = 8/20. The seed is the example's own."""
    run([sys.executable, str(ROOT / "docs" / "examples" / "delays.py"), str(tmp_path)])
    asked = ("--file", str(tmp_path / "sending.txt"), "--file", str(tmp_path / "passive.txt"))
    low, up = bounds(call(*asked, "--runs", "64", "--out", str(tmp_path / "out")))
    assert 0.09 < low < Gdp(8 / 20).delta(0.0) < up < 0.26


def test_counts_are_bounds_at_a_stated_confidence(tmp_path: Path) -> None:
    """The more runs were counted, the nearer to the probabilities that they are shares of."""
    path, gaps = tmp_path / "pair.json", []
    for runs in (10**4, 10**8, 10**12):
        path.write_text(json.dumps({"in": [6 * runs, 3 * runs, runs], "out": [3 * runs, 5 * runs, 2 * runs]}))
        subject = recorded([path], 0.001, 1_000)
        assert subject.name == "pair.json, counts, at confidence 0.999"
        low, up = subject.delta(8, 0.0)
        assert low <= 0.6322253 <= up
        gaps.append(up - low)
    assert gaps[0] > 0.1 > 10 * gaps[1]
    assert gaps[2] < 1e-3
    assert recorded([path], None, 1_000).name == "pair.json, counts, at confidence 0.95"


@pytest.mark.parametrize(
    "pair",
    [
        {"in": [5_102, 4_898], "out": [4_951, 5_049]},
        {"in": [49, 51], "out": [60, 40]},
        {"in": [5_000, 5_000, 1], "out": [5_000, 5_001, 0]},
        {"in": [1, 0], "out": [0, 2]},
    ],
)
def test_noise_of_counts_is_no_loss(pair: dict[str, list[int]], tmp_path: Path) -> None:
    """Two samples of one coin, and a stray count: nothing is proved, however many runs are composed."""
    result = of_file(pair, tmp_path, "--runs", "64", "--alpha", "0.01")
    assert bounds(result)[0] == 0
    assert "pair.json, counts, at confidence 0.99: 64 runs" in " ".join(result.stdout.split())
    for row in rows(result.stdout):
        assert float(row[1]) == 0
    assert rows(result.stdout)[-1][2] == "∞"


def test_counts_that_differ_by_more_than_noise_are_a_loss(tmp_path: Path) -> None:
    result = of_file({"in": [9_000, 1_000, 0], "out": [1_000, 8_900, 100]}, tmp_path, "--runs", "4")
    assert bounds(result)[0] > 0.85  # of 0.96
    assert float(rows(result.stdout)[-1][1]) > 1


def test_bounds_of_counts_hold_together() -> None:
    """At α = 1/2 both worlds' bounds fail in at most half of 200 samples, and each atom's in far fewer."""
    probabilities, random = np.array([0.5, 0.3, 0.15, 0.05]), np.random.default_rng(1)
    wrong = 0
    for _ in range(200):
        found = count_bounds("'in'", random.multinomial(500, probabilities).tolist(), 0.5)
        wrong += bool(((found.low > [*probabilities, 0]) | ([*probabilities, 0] > found.high)).any())
    assert 0 < wrong <= stats.binom.ppf(1 - 1e-6, 200, 0.5)
    assert len(found.low) == 5  # whatever never came up
    assert (found.low[4], found.high[4]) == (0, pytest.approx(1 - 0.05 ** (1 / 500)))


@pytest.mark.parametrize(
    "of",
    [
        ("--gaussian", "1e300"),
        ("--laplace", "1e300"),
        ("--response", "1e-300"),
        {"in": [1, 1], "out": [1, 1]},
        {"in": [0, 1], "out": [1, 0]},
    ],
)
def test_worlds_that_nothing_or_everything_tells_apart_are_drawn(of: Any, tmp_path: Path) -> None:
    asked = ("--runs", "2", "--buckets", "40", "--out", str(tmp_path / "out"))
    result = call(*of, *asked) if isinstance(of, tuple) else of_file(of, tmp_path, *asked)
    assert result.exit_code == 0, result.output
    assert len(charts(tmp_path / "out")) == 2


def test_a_narrow_terminal_cuts_no_number_off(tmp_path: Path) -> None:
    asked = ["compose", "--attack", "rounded-addition-float16", "--out", str(tmp_path)]
    shown = CliRunner(env={"FORCE_COLOR": "1", "COLUMNS": "80"}).invoke(main, asked).stdout
    assert "(e" in shown
    assert "…" not in shown


def test_a_leak_compounds_and_its_twin_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "PROGRESS_INTERVAL", 0.0)
    result = call("--attack", "rounded-addition-float16", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("composing: 1 of 1\n")
    (drawn,) = charts(tmp_path)
    broken, twin = leak_growth.measure_leaks([attack("rounded-addition-float16")])
    assert (broken.exact, twin.exact) == (False, True)
    for runs, (low, _) in zip(leak_growth.RUNS, broken.beyond, strict=True):
        assert low == pytest.approx(1 - 0.5**runs, rel=1e-9)
    assert max(up for _, up in twin.beyond) < 1e-12
    for runs, (low, _), (_, up) in zip(leak_growth.RUNS, broken.advantage, twin.advantage, strict=True):
        allowed = kairouz_oh_viswanath(0.02, 0.0, runs, 0.0)
        assert up <= allowed + 1e-4
        assert low > allowed or allowed > 0.99
    grown, bounded = points(drawn, "l o"), points(drawn, "l i")
    assert grown[-1] == (RIGHT, TOP)  # the advantage is 1
    assert bounded[0][1] > grown[0][1]  # pixels count down
    assert f"Dashed: {broken.mechanism}, at least. Line: its exact twin, {twin.mechanism}, at most." in "".join(
        drawn.itertext()
    )
    assert broken.mechanism in result.stdout
    assert twin.mechanism in result.stdout


def test_what_tries_tell_compounds_of_a_member_whose_outcomes_are_exact() -> None:
    broken, twin = leak_growth.measure_leaks([attack("rejection-tries")])
    assert (broken.mechanism, broken.exact, twin.exact) == ("exponential-base2", False, True)
    for runs, (low, _) in zip(leak_growth.RUNS, broken.advantage, strict=True):
        assert low >= 1 - (257 / 512) ** runs - 1e-9
    assert max(up for _, up in twin.beyond) < 1e-9


def test_more_runs_make_no_less_certain() -> None:
    for row in leak_growth.measure_leaks([attack("selection-absorption")]):
        assert sorted(low for low, _ in row.advantage) == [low for low, _ in row.advantage]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gaussian", "1e-200"), "sigma must be at least 0.03125"),
        (("--response", "1e300"), "epsilon must be at most 700 nats"),
        (("--gaussian", "1", "--laplace", "1"), "--gaussian and --laplace exclude each other"),
        (("--sampling", "0.1"), "--sampling needs --gaussian"),
        (("--truncation", "5"), "--truncation needs --laplace"),
        (("--alpha", "0.01"), "--alpha needs --file"),
        (("--mechanism", "laplace-exact"), "--mechanism laplace-exact needs one --attack"),
        (("--attack", "absorption", "--gaussian", "1"), "--gaussian excludes --attack"),
        (("--attack", "absorptoin"), "did you mean 'absorption'?"),
        (("--attack", "zero-rounding", "--mechanism", "laplace-exact"), "laplace-exact is of the family laplace"),
        (("--attack", "absorption", "--mechanism", "laplace-exakt"), "did you mean 'laplace-exact'?"),
        (("--attack", "box-muller-inversion", "--mechanism", "gaussian-naive-float64"), "has no exact law"),
        (("--runs", "5"), "--runs needs a mechanism"),
        (("--attack", "absorption", "--delta", "0.1"), "--delta needs a mechanism"),
    ],
)
def test_mistakes_exit_2_and_name_the_argument(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = call(*arguments, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("1\n2", "1\n2\n3"), "'in' and 'out' must be over the same atoms, got 2 and 3"),
        (("1\nmany", "1\n2"), "could not convert string to float: 'many'"),
        (("1", "1", "1"), "one file with a pair, or one for each of two worlds, got 3"),
        ('{"in": [1], "in": [2], "out": [3]}', "'in' is given twice"),
        ("no json", "Expecting value"),
        ('{"in": [1]}', "no 'out'"),
        ('{"in": [0.5, 0.6], "out": [0.5, 0.5]}', "'in' must hold probabilities that sum up to 1, got [0.5, 0.6]"),
        ('{"in": 3, "out": [3]}', "'in' must be a list of numbers, got 3"),
        ('{"in": [true, false], "out": [0.5, 0.5]}', "'in' must be a list of numbers"),
        ('{"in": [NaN, 0.5], "out": [0.5, 0.5]}', "'in' must hold probabilities"),
        ('{"in": [3, -1], "out": [1, 1]}', "'in' must hold counts of 0 or more, from 1 to 2^53 in all, got [3, -1]"),
        (
            '{"in": [1' + "0" * 400 + ', 0.5], "out": [0.5, 0.5]}',
            "'in' must hold probabilities that sum up to 1, got [1000",
        ),
        ("[" * 100_000, "recursion"),
        ("[[0.5, 0.5], [0.5, 0.5]]", 'no \'in\': a pair is {"in": […], "out": […]}'),
        ('{"in": [1, 1], "out": [0, 0]}', "'out' must hold counts of 0 or more, from 1 to 2^53 in all, got [0, 0]"),
        ('{"in": [1, 9007199254740992], "out": [1, 1]}', "'in' must hold counts of 0 or more, from 1 to 2^53 in all"),
    ],
)
def test_files_that_hold_no_pair_are_named(texts: str | tuple[str, ...], message: str, tmp_path: Path) -> None:
    asked = histograms(tmp_path, *([texts] if isinstance(texts, str) else texts))
    result = call(*asked, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert all(str(path) in result.stderr for path in asked[1::2])
