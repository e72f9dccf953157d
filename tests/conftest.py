"""The default report, made once for all tests that read it, a browser for the tests of a file, and a clock."""

import ctypes
import gc
import mmap
import pickle
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from subnormal.attacks.catalogue import attacks
from subnormal.attacks.core.attack import Attack
from subnormal.audit.engine.pairs import crossings, resisting
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.model import Report, Row
from subnormal.audit.report.load import Json, parse
from subnormal.audit.report.to_json import to_json
from subnormal.mechanisms import families
from subnormal.mechanisms.core.mechanism import Family
from tests.support import synthetic, textbook
from tests.support.browser import launched
from tests.support.work_clock import work_counted

LONG = Path(__file__).with_name("long.txt")
HEAVY = 600  # megabytes of a test process, above which it gives memory back after a file

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # a check of jsonschema's that takes seconds to import


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that `make test` leaves out."""
    named = set(LONG.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in named:
            item.add_marker("long")


def pytest_collection_finish() -> None:
    """Each collection would walk through a million objects of the tests, and each check look for generators there."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Large laws leave a gigabyte behind. Checks start processes by `fork`, which then takes ten times as long."""
    if nextitem is not None and nextitem.path != item.path and resident_megabytes() > HEAVY:
        for name, module in list(sys.modules.items()):
            if name.startswith("subnormal.mechanisms."):
                for value in list(vars(module).values()):
                    getattr(value, "cache_clear", int)()
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)


def resident_megabytes() -> int:
    """Return the memory of this process; 0 where the system does not say."""
    file = Path("/proc/self/statm")
    return int(file.read_text().split()[1]) * mmap.PAGESIZE >> 20 if file.exists() else 0


@pytest.fixture
def families_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the families of the tests' own mechanisms known: no claim is tried where nobody says what is adjacent."""
    own: tuple[Family[Any, Any], ...] = (synthetic.FAMILY, textbook.FAMILY)
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, *own))


@pytest.fixture
def own_clock() -> Iterator[None]:
    """A clock that counts work: what a check decides then depends neither on the machine nor on its load.

    For functions that neither sleep nor ask another process. Not for fixtures of a file: those are made before it.
    """
    with work_counted():
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for the tests of a file, which are marked with `NEEDS_BROWSER`."""
    with launched() as opened:
        yield opened


@pytest.fixture(scope="session")
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Report:
    """The report of `python -m audit run`, and of every attack on every exact member that must resist it.

    Made by the test process that comes first, for all of them. Where each test chosen by `-k` is about one attack, only
    the rows of those attacks are made.
    """
    names = attacks_read(request.session.items)
    if worker_id == "master":  # there is no other
        return _made(names)
    kept = tmp_path_factory.getbasetemp().parent / "report.pickle"
    with FileLock(f"{kept}.lock"):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(_made(names)))
        made: Report = pickle.loads(kept.read_bytes())
    return made


def attacks_read(items: Iterable[Any]) -> set[str]:
    """Return the names of the attacks whose rows the tests read: all, where a test is not about one attack alone."""
    readers = [item for item in items if "report" in getattr(item, "fixturenames", ())]
    read = [item.callspec.params.get("attack") if hasattr(item, "callspec") else None for item in readers]
    alone = [one for one in read if isinstance(one, Attack)]
    return {one.name for one in (alone if len(alone) == len(read) else attacks())}


def _made(names: set[str]) -> Report:
    """Return the rows of these attacks: α is smaller by as much as there are fewer of them than of all attacks.

    Without those of other libraries that no attack names: they draw one by one, and `test_libraries.py` has its own.
    """
    shown = [
        one for one in crossings(attacks()) if not one.mechanism.package or one.mechanism.name in one.attack.breaks
    ]
    meeting, pairs = {one.attack for one in shown}, {(one.attack, one.mechanism) for one in shown}
    met = [
        one
        for one in crossings([one for one in attacks() if one in meeting], everything=True)
        if (one.attack, one.mechanism) in pairs or one.mechanism in resisting(one.attack)
    ]
    asked = [one for one in met if one.attack.name in names]
    return examine_all(asked, seed=1, runs=100_000, alpha=0.05 * len(asked) / len(met))


@pytest.fixture(scope="session")
def document(report: Report) -> Json:
    """The same as it is saved."""
    return parse(to_json(report).encode())


@pytest.fixture(scope="session")
def rows(report: Report) -> dict[tuple[str, str], Row]:
    """Its rows by attack and mechanism."""
    return {(row.attack, row.mechanism): row for row in report.rows}
