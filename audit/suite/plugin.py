"""The plugin of pytest: options of the session, and the fixture that tests with `private` share.

It is loaded in each session of pytest, so it imports nothing of Subnormal that is heavy.
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

import pytest

from subnormal.audit.suite.private import SETTINGS, Settings
from subnormal.audit.text import short

ALPHA = 1e-6


def _number(convert: Callable[[str], Any], below: float = math.inf) -> Callable[[str], Any]:
    """Return what reads a positive number below a bound."""

    def read(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = math.nan
        if not 0 < value < below:
            kind = "whole number" if convert is int else "number"
            bound = "" if below == math.inf else f" below {short(below)}"
            raise ArgumentTypeError(f"must be a positive {kind}{bound}, got {text!r}")
        return value

    return read


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("subnormal", "differential privacy (Subnormal)")
    group.addoption("--dp-seconds", type=_number(float), metavar="S", help="time for each test with @private")
    group.addoption(
        "--dp-examples",
        type=_number(int),
        metavar="N",
        help="pairs of inputs that each test with @private tries, instead of a time: the same result on every machine",
    )
    group.addoption(
        "--dp-alpha",
        type=_number(float, 1.0),
        default=ALPHA,
        metavar="A",
        help="the chance that any sound function is accused in this session, at most (default: 1e-6)",
    )


@pytest.fixture(scope="session", name=SETTINGS)
def dp_settings(request: pytest.FixtureRequest) -> Settings:
    """Return the share of α and the budget of each test with `private` in this session."""
    sharing = sum(SETTINGS in getattr(item, "fixturenames", ()) for item in request.session.items)
    option = request.config.getoption
    return Settings(option("--dp-alpha") / max(1, sharing), option("--dp-seconds"), option("--dp-examples"))
