"""The plugin of pytest, in sessions of their own."""

import sys
from importlib.metadata import entry_points

import pytest

from subnormal import private
from tests.support.processes import run
from tests.test_public_face import HEAVY

pytest_plugins = ["pytester"]

NAME = "subnormal.audit.suite.plugin"
ARGUMENTS = () if any(one.value == NAME for one in entry_points(group="pytest11")) else ("-p", NAME)

TESTS = """
import random
import pytest
from subnormal import private

@pytest.fixture
def scale():
    return 9.0

@private(epsilon=1.0, adjacent=[(1, 0)], runs=1_000)
def test_exact(data):
    return data

@private(epsilon=1.0, adjacent=[(1, 0)], runs=1_000, examples=1)
def test_noise(data, scale):
    return round(data + random.gauss(0.0, scale))

class TestOf:
    @private(epsilon=1.0, adjacent=[(1, 0)], runs=1_000, examples=1)
    def test_method(self, data):
        return random.getrandbits(1)

def test_other(dp_settings):
    assert dp_settings.alpha == pytest.approx({alpha} / 4)
    assert (dp_settings.seconds, dp_settings.examples) == {budget}
"""


def test_private_tests_fail_by_their_claim_and_share_one_alpha(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS.format(alpha=1e-4, budget=(3000.0, 2)))
    result = pytester.runpytest_subprocess(  # numpy cannot be imported twice, and a session in here forgets its modules
        *ARGUMENTS, "-q", "--dp-alpha=1e-4", "--dp-examples=2", "--dp-seconds=3000", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["*NotPrivateError: the release is not private as claimed, epsilon = 1:", "*import test_exact as function"]
    )
    result.stdout.fnmatch_lines(["*def test_function_keeps_its_claim():", "*(function.__wrapped__, adjacent=*"])


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--dp-alpha=1", "must be a positive number below 1, got '1'"),
        ("--dp-seconds=x", "must be a positive number, got 'x'"),
        ("--dp-examples=1.5", "must be a positive whole number, got '1.5'"),
    ],
)
def test_bad_options_are_named_with_their_values(pytester: pytest.Pytester, option: str, told: str) -> None:
    result = pytester.runpytest_inprocess(*ARGUMENTS, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option.partition('=')[0]}: {told}"])


def test_the_plugin_imports_nothing_heavy() -> None:
    """It is loaded in each session of pytest."""
    code = f"import sys, {NAME}; print([name for name in {HEAVY} if name in sys.modules])"
    assert run([sys.executable, "-c", code]).stdout == "[]\n"


def test_a_decorator_refuses_what_it_cannot_use() -> None:
    with pytest.raises(TypeError, match="takes no alpha, epsilom; it takes adjacent, claim, "):
        private(epsilom=1.0, alpha=0.1)
    with pytest.raises(TypeError, match=r"must take the data: def <lambda>\(data\)"):
        private(epsilon=1.0)(lambda: 1)
