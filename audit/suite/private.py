"""The decorator of a test: it turns a function of the data that returns a release into a test of the claim."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SETTINGS = "dp_settings"  # the fixture of the plugin that the test is given


@dataclass(frozen=True, slots=True)
class Settings:
    """What the tests of a session share. alpha: of one test. seconds, examples: None where the test has its own."""

    alpha: float
    seconds: float | None = None
    examples: int | None = None


def private(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turn a function of one input into a test that fails where what it returns is seen to break its claim::

        @private(epsilon=1.0, data=records, adjacent=add_or_remove(), grid=1e-6)
        def test_noisy_count(data):
            return noisy_count(data)

    The first argument is the data; others are fixtures of pytest, which are made once for the whole test. The plugin of
    Subnormal, which pytest finds where Subnormal is installed, gives each test its share of the α of the session
    (`--dp-alpha`); `--dp-seconds` and `--dp-examples` take the place of those of the tests.

    Args:
        options: of `assert_private`, except `release` and `alpha`.

    Returns:
        What turns the function into the test.

    Raises:
        TypeError: the function has no argument for the data, or an option is none of `assert_private`.
    """
    from subnormal.audit.check.assertion import assert_private

    known = set(inspect.signature(assert_private).parameters) - {"release", "fresh", "alpha"}
    if unknown := sorted(options.keys() - known):
        raise TypeError(f"private() takes no {', '.join(unknown)}; it takes {', '.join(sorted(known))}")

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        parameters = list(inspect.signature(function).parameters.values())
        is_method = bool(parameters) and parameters[0].name == "self"
        if len(parameters) <= is_method:
            raise TypeError(f"{function.__qualname__} must take the data: def {function.__name__}(data)")

        @functools.wraps(function)
        def test(*holder: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            settings: Settings = fixtures.pop(SETTINGS)
            of_test = dict(options)
            if settings.seconds is not None or settings.examples is not None:
                of_test |= {"seconds": settings.seconds, "examples": settings.examples}
            release = function
            if holder or fixtures:
                release = lambda data: function(*holder, data, **fixtures)  # noqa: E731
                release.__qualname__ = function.__qualname__
            assert_private(release, alpha=settings.alpha, **of_test)

        given = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters[1 + is_method :]]
        shared = inspect.Parameter(SETTINGS, inspect.Parameter.KEYWORD_ONLY)
        vars(test)["__signature__"] = inspect.Signature([*parameters[:is_method], *given, shared])
        function.__qualname__ += ".__wrapped__"  # so that a test to paste imports the function, and not the test of it
        return test

    return decorate
