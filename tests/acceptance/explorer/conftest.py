"""A browser for the tests of the explorer, and its page for the tests of a file that call its functions."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import Opened, launched
from tests.support.paths import ROOT


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One for all files: a browser takes a second of a processor to start."""
    with launched() as opened:
        yield opened


@pytest.fixture(scope="module")
def explorer(browser: Any) -> Iterator[Any]:
    """The page docs/explorer.html, with its functions in the object `explorer`. Its console stays empty."""
    with Opened(browser, (ROOT / "docs" / "explorer.html").as_uri()) as page:
        yield page
