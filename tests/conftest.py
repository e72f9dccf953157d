"""The default report, made once for all tests that read it."""

import pytest

from attacks.catalogue import ATTACKS
from audit.crossings import crossings
from audit.documents import to_json
from audit.report import Report, Row
from audit.saved import Json, parsed
from audit.scheduling import examine_all


@pytest.fixture(scope="session")
def report() -> Report:
    """The report of `python -m audit run --full`."""
    return examine_all(crossings(ATTACKS), seed=1, runs=100_000, alpha=0.05)


@pytest.fixture(scope="session")
def document(report: Report) -> Json:
    """The same as it is saved."""
    return parsed(to_json(report).encode())


@pytest.fixture(scope="session")
def rows(report: Report) -> dict[tuple[str, str], Row]:
    """Its rows by attack and mechanism."""
    return {(row.attack, row.mechanism): row for row in report.rows}
