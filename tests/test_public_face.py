"""`import subnormal`: the names that users need, documented and typed; nothing heavy is imported before one is used."""

import doctest
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, assert_type

import pytest

import subnormal
from subnormal import plots
from subnormal.attacks.core.attack import Attack
from subnormal.audit.api import Report
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Mechanism
from tests.support.paths import ROOT
from tests.support.processes import run

HEAVY = ("numpy", "scipy", "gmpy2", "matplotlib", "click", "rich", "jinja2", "cryptography", "pandas", "hypothesis")
COMMANDS = ("click", "rich", "jinja2", "cryptography", "filelock", "pytest", "matplotlib", "pandas")
FUNCTIONS = [name for name in subnormal.__all__ if inspect.isfunction(getattr(subnormal, name))]
CLAIMS = [subnormal.Claim, subnormal.Eta, subnormal.Zcdp, subnormal.Gdp, subnormal.Renyi, subnormal.Profile]
PICTURES = [function for name in plots.__all__ if inspect.isfunction(function := getattr(plots, name))]
METHODS = [subnormal.Report.to_frame, subnormal.Report.to_latex, subnormal.Report.save]

EXAMPLES = """
>>> import subnormal
>>> from subnormal import Claim, Eta, NotPrivateError, Report, Verdict, Zcdp
>>> from subnormal import assert_private, attack, load, member, run, system_bits
>>> from subnormal import Gdp, Profile, Renyi, add_or_remove, change_one, check, conforms, stability, sweep, within
>>> from subnormal import private
>>> Claim(epsilon=1.0, delta=1e-9).epsilon, Zcdp(0.5).rho, Eta(1, 1, 1).bits
(1.0, 0.5, 1.0)
>>> naive, zero = member("exponential-naive-float64"), attack("zero-rounding")
>>> data_in, data_out = zero.worlds()
>>> set(naive.sample(data_in, zero.parameters, system_bits(), 100).tolist())  # every other weight rounds to zero
{0}
>>> report = run([zero], [naive.name], runs=2_000, jobs=1)
>>> isinstance(report, Report), [row.verdict is Verdict.VIOLATED for row in report.violated]
(True, [True])
>>> report
<Report: 1 row: 1 VIOLATED>
>>> report.save(folder)
>>> load(folder / "report.json").rows[0].exact == report.rows[0].exact
True
>>> try:
...     assert_private(lambda records: len(records), [1], [], epsilon=1.0, runs=2_000)
... except NotPrivateError as error:
...     str(error.result.verdict)
'VIOLATED'
>>> from hypothesis.strategies import floats, lists
>>> found = check(sum, lists(floats(0, 1), min_size=1), change_one(), Claim(1.0))
>>> str(found.verdict), found.stage, sorted(found.worlds)
('VIOLATED', 'stability', [[0.0], [1.0]])
>>> str(conforms(lambda data, bits: bits.take(1), lists(floats(0, 1)), lambda data: {0: 0.5, 1: 0.5}).verdict)
'NOT REFUTED'
>>> apart = stability(len, lists(floats(0, 1)), add_or_remove(), "l1", bound=0.5)
>>> str(apart.verdict), sorted(apart.worlds), sorted(apart.evidence["exact"].outputs)
('VIOLATED', [[], [0.0]], [0, 1])
>>> import random
>>> from subnormal import law
>>> law(lambda data: random.random() < 0.75, None).probability(True)
(Fraction(3, 4), Fraction(3, 4))
>>> from numpy import arange, flatnonzero, zeros
>>> from numpy.random import default_rng
>>> from subnormal import check_training
>>> def train(data, steps):  # a sum of ones, whatever the clipping norm is
...     noise, total = default_rng(), zeros(1)
...     for _ in range(steps):
...         batch = data[flatnonzero(noise.random(len(data)) < 0.1)]
...         total = total + len(batch) + noise.normal(0.0, 0.5, 1)
...     return total
>>> trained = check_training(train, arange(100), clip=0.5, noise_multiplier=1.0, steps=100, sample_rate=0.1)
>>> trained.violated, str(trained.stage("clipping").verdict)
(('clipping',), 'VIOLATED')
>>> sweep("zero-rounding", {"outcomes": [10, 100]}).mechanism.tolist()[:2]
['exponential-naive-float64', 'exponential-base2']
>>> add_or_remove(), within(2, norm="l1")
(add_or_remove, within(2, norm='l1'))
>>> Gdp(1.0).mu, Renyi(2.0, 0.5).alpha, Profile(Gdp(1.0).delta).delta(0.0) < 0.4
(1.0, 2.0, True)
>>> from subnormal import audit_one_run
>>> audit_one_run([0.3, 2.1] * 50, [False, True] * 50).epsilon_lower > 2
True
"""


def test_each_name_is_there_once_and_no_others_are() -> None:
    assert len(subnormal.__all__) == len(set(subnormal.__all__)) == 26
    assert set(subnormal.__all__) <= set(dir(subnormal))
    with pytest.raises(AttributeError, match="'nothing'"):
        subnormal.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_every_name_works_as_documented(tmp_path: Any) -> None:
    """One session that uses each of the names."""
    assert {name for name in subnormal.__all__ if re.search(rf"\b{name}\b", EXAMPLES)} == set(subnormal.__all__)
    test = doctest.DocTestParser().get_doctest(EXAMPLES, {"folder": tmp_path}, "examples", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("name", subnormal.__all__)
def test_every_name_has_a_docstring(name: str) -> None:
    assert len((getattr(subnormal, name).__doc__ or "").strip()) > 20


@pytest.mark.parametrize("function", [*(getattr(subnormal, name) for name in FUNCTIONS), *METHODS, *CLAIMS, *PICTURES])
def test_functions_and_claims_document_arguments_results_and_errors(function: Callable[..., Any]) -> None:
    told = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    parts = dict(zip(*[iter(re.split(r"^(Args|Returns|Raises):\n", told, flags=re.M)[1:])] * 2, strict=True))
    asked = [name for name in signature.parameters if name != "self"]
    assert re.findall(r"^    (\w+): ", parts.get("Args", ""), flags=re.M) == asked
    assert ("Returns" in parts) == (signature.return_annotation not in (None, "None"))
    assert re.search(r"^    \w+(Error): \S", parts.get("Raises", ""), flags=re.M)


def test_nothing_heavy_is_imported_before_a_name_is_used() -> None:
    code = (
        "import sys, subnormal; print([name for name in sys.modules if name.startswith('subnormal.')]); "
        f"print([name for name in {HEAVY} if name in sys.modules]); subnormal.Claim; print('subnormal' in sys.modules)"
    )
    shown = run([sys.executable, "-c", code], cwd=ROOT)
    assert (shown.stdout.splitlines(), shown.stderr) == (["[]", "[]", "True"], "")


def test_a_check_needs_no_library_of_pages_and_commands() -> None:
    """It finds and prints a violation where numpy, scipy, gmpy2 and Hypothesis alone are installed."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({COMMANDS}))\n"
        "from subnormal import Claim, add_or_remove, check; from hypothesis import strategies as st\n"
        "print(check(sum, st.lists(st.integers(0, 9)), add_or_remove(), Claim(1.0), seconds=20))"
    )
    shown = run([sys.executable, "-c", code], cwd=ROOT)
    assert (shown.stdout[:8], shown.stderr) == ("VIOLATED", "")


def test_types_are_seen_by_whoever_checks_them() -> None:
    """mypy reads these lines with the rest of the tests; the marker file tells it to do so for users as well."""
    assert_type(subnormal.attack("zero-rounding"), Attack[Any, Any, Any])
    assert_type(subnormal.member("laplace-exact"), Mechanism[Any, Any, Any])
    assert_type(subnormal.system_bits(), BitSource)
    assert_type(subnormal.Claim(1.0).epsilon, float)
    assert_type(subnormal.run(["zero-rounding"], ["exponential-exact"], runs=100, jobs=1), Report)
    assert (ROOT / "subnormal" / "py.typed").is_file()
