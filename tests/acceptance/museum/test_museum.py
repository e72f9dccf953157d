"""The museum: every exhibit has its form, the page says what was found, and the machinery finds it.

Each check of a sound release accuses it with probability 1e-6 at most.
"""

import ast
import json
import re
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from museum import checks, environments, readme
from museum.checks import checked, keep, records
from museum.environments import environment
from museum.exhibits import MUSEUM, Exhibit, ExhibitError, Release, exhibit, exhibits
from subnormal.audit.targets import serve
from subnormal.audit.targets.environments import Environment, NotInstalledError, install

EXHIBITS = exhibits()
HERE = Path(sys.executable)

TOML = """
title = "a title"
flawed = "bare"
source = "https://example.org/1"
public = 2024-08-15
claim = "a claim"
seconds = 30
"""
CODE = """
from hypothesis import strategies as st
from subnormal import Claim, within

claim, data, adjacent = Claim(1.0), st.integers(0, 9), within(1)
bare = lambda value: value
constant = lambda value: 0
"""


def made(folder: Path, toml: str = TOML, code: str = CODE, **files: str) -> Path:
    """Return the folder of an exhibit."""
    folder = folder / "a-name"
    folder.mkdir()
    for name, text in {"exhibit.toml": toml, "exhibit.py": code, **files}.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("one", EXHIBITS, ids=lambda one: one.name)
def test_an_exhibit_was_public_before_and_gives_no_hint(one: Exhibit) -> None:
    assert one.public is None or one.public < date.today()
    names = {
        target.id
        for node in ast.walk(ast.parse((one.folder / "exhibit.py").read_text()))
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert not names & {"pairs", "event", "attack", "seed"}
    assert one.releases


def test_the_page_is_that_of_the_results() -> None:
    """`python -m museum --table` writes it."""
    assert (MUSEUM / "README.md").read_text() == readme.text(EXHIBITS)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('public = "2024-08-15"', "public must be a date"),
        ('source = "a friend"', "source must be an address"),
        ('title = ""', "title must be a text"),
        ('sound = "0.1"', "exactly one of flawed, reported, sound"),
        ("seconds = 1000", "seconds must be above 0"),
        ("hint = 1", "unknown keys: hint"),
        ("requires = [1]", "requires must be a list"),
        ("dependencies = 1", "dependencies must be true or false"),
        ('python = "3.9"', "python goes with release.py"),
    ],
)
def test_what_does_not_have_the_form_is_refused_by_its_key(tmp_path: Path, line: str, problem: str) -> None:
    kept = [other for other in TOML.splitlines() if other.split(" ")[0] != line.split(" ")[0]]
    with pytest.raises(ExhibitError, match=f"a-name/exhibit.toml: {problem}"):
        exhibit(made(tmp_path, "\n".join([*kept, line])))


def test_rows_without_noise_are_equal_to_the_byte(tmp_path: Path) -> None:
    """Two checks, each in a process of its own."""
    one = exhibit(made(tmp_path))
    rows = []
    for _ in range(2):
        checks.check_all([one], told=lambda message: None)
        rows.append(readme.text([one]).partition("## Time")[0])
    assert rows[0] == rows[1]
    assert "| [VIOLATED](a-name/check.html) | stability | sequential: " in rows[0]
    assert "1 of 1 flaws are convicted" in rows[0]
    assert "VIOLATED" in (one.folder / "check.html").read_text()


LAW = """
import random
from hypothesis import strategies as st

data = st.integers(0, 9)
biased = lambda value: value + (random.random() < 0.75)
law = lambda value: {value: 0.5, value + 1: 0.5}
"""


def test_an_exhibit_may_declare_a_law(tmp_path: Path) -> None:
    one = exhibit(made(tmp_path, TOML.replace("bare", "biased"), LAW))
    record = checked(one, one.releases[0], HERE)
    assert record["verdict"] == "VIOLATED"
    keep(one, one.releases[0], record)
    assert "| runs | law: the outcome is" in readme.text([one])


LOOP = """
import numpy as np

data = np.random.default_rng(1).normal(size=(100, 2))
training = {"clip": 1.0, "noise_multiplier": 1.0, "steps": 4, "sampler": "full", "runs": 2}

def loop(data, steps, clip=2.0):
    random, theta = np.random.default_rng(), np.zeros(2)
    for _ in range(steps):
        batch = np.clip(np.nan_to_num(data[:]), -1e6, 1e6)
        clipped = batch / np.maximum(1, np.linalg.norm(batch, axis=1, keepdims=True) / clip)
        theta = theta - 0.1 * (clipped.sum(axis=0) + random.normal(0, 1.0, 2))
    return theta

def right(data, steps):
    return loop(data, steps, clip=1.0)
"""


def test_an_exhibit_may_be_a_training_loop(tmp_path: Path) -> None:
    """The loop that clips to twice the norm is convicted, by its stage; the right one is not."""
    one = exhibit(made(tmp_path, TOML.replace('"bare"', '"loop"\nfixed = "right"'), LOOP))
    for release in one.releases:
        keep(one, release, checked(one, release, HERE))
    known, page = records(one), readme.text([one])
    assert known["flawed"]["verdict"] == "VIOLATED"
    assert set(known["flawed"]["evidence"]) == {"clipping"}
    assert known["fixed"]["verdict"] != "VIOLATED"
    assert "| [VIOLATED](a-name/check.txt) | training | clipping: " in page
    assert "VIOLATED: clipping" in (one.folder / "check.txt").read_text()
    assert f"| a-name | `loop` | {known['flawed']['spent']['seconds']:,} |  | " in page


def test_a_sound_release_is_not_accused(tmp_path: Path) -> None:
    one = exhibit(made(tmp_path, TOML.replace("flawed", "sound").replace("bare", "constant").replace("30", "2")))
    checks.check_all([one], told=lambda message: None)
    verdict = records(one)["sound"]["verdict"]  # a busy machine leaves no time for enough runs
    assert verdict in {"NOT REFUTED", "UNDERPOWERED"}
    assert f"| `constant` | [not accused ({verdict})](a-name/check.html) |" in readme.text([one])
    assert "0 of 1 releases are accused" in readme.text([one])


def test_a_release_that_is_alone_speaks_through_the_protocol(tmp_path: Path) -> None:
    """Its file needs nothing of ours; here it runs on the interpreter of the tests."""
    release = "def function(value):\n    print('noise')\n    return {'sum': [value / 3]}\n"
    code = CODE.replace("bare = lambda value: value\n", "")
    toml = TOML.replace('flawed = "bare"', 'package = "nothing"\nflawed = "1.0"')
    one = exhibit(made(tmp_path, toml, code, **{"release.py": release}))
    record = checked(one, one.releases[0], HERE)
    assert record["verdict"] == "VIOLATED", record


def test_a_program_is_an_exhibit_too(tmp_path: Path) -> None:
    program = f"{HERE} {serve.__file__} release.py"
    toml = TOML.replace('"bare"', json.dumps(f"cmd: {program}"))
    folder = made(tmp_path, toml, CODE)
    (folder / "release.py").write_text("function = lambda value: value\n")
    one = exhibit(folder)
    assert checked(one, one.releases[0], HERE)["verdict"] == "VIOLATED"


@pytest.mark.parametrize(
    ("kind", "words", "shown"),
    [
        (
            "exact",
            "the outputs 3 and 0 lie 3 apart (l1), more than the bound 2",
            "exact: the outputs 3 and 0 lie 3 apart",
        ),
        (
            "sequential",
            "the event in 0 of 128 runs in, 9 out: e-value 2e+06, 1e+06 refutes",
            "0 of 128 runs in, 9 out |",
        ),
        (
            "modelled",
            "a.py:1, gauss of scale 1 is added to 1: epsilon is at least 2, if …",
            "modelled: epsilon is at least 2 |",
        ),
    ],
)
def test_a_row_has_the_numbers_of_the_evidence(tmp_path: Path, kind: str, words: str, shown: str) -> None:
    one = exhibit(made(tmp_path))
    keep(one, one.releases[0], {"verdict": "VIOLATED", "stage": "runs", "evidence": {kind: words}, "worlds": None})
    assert shown in readme.text([one])


def test_what_goes_wrong_is_said_in_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that is missing, a package that no longer installs, a miss with its reason, a release accused."""
    one = exhibit(made(tmp_path, TOML.replace('"bare"', '"nowhere"\nfixed = "constant"')))
    flawed, fixed = one.releases
    keep(one, flawed, checked(one, flawed, HERE))
    assert "**no verdict**: museum.exhibits.ExhibitError: a-name/exhibit.py: nowhere must be defined" in readme.text(
        [one]
    )

    def refused(wanted: Environment) -> None:
        raise NotInstalledError("No matching distribution found for nothing==1.0")

    monkeypatch.setattr(checks, "install", refused)
    package = replace(one, package="nothing", releases=(Release("flawed", "1.0"),))
    checks.check_all([package], told=lambda message: None)
    assert "does not install: No matching distribution found for nothing==1.0" in readme.text([package])

    keep(one, flawed, {"verdict": "NOT REFUTED", "stage": "runs", "evidence": {}, "worlds": None, "spent": None})
    assert "| [**missed**](a-name/check.html) (NOT REFUTED) |  | nobody has said why |" in readme.text([one])
    assert "|  | no hook \\| for it |" in readme.text([replace(one, missed="no hook | for it")])
    assert "0 of 1 flaws are convicted" in readme.text([one])

    accused: dict[str, Any] = {"verdict": "VIOLATED", "stage": "runs", "evidence": {"exact": "said"}, "worlds": None}
    keep(one, fixed, accused)
    assert readme.is_accused(one, fixed)
    assert "`constant`: **accused**: exact: said" in readme.text([one])
    assert "1 of 1 releases are accused" in readme.text([one])
    assert "| none |" in readme.text([replace(one, releases=(flawed,))])
    assert set(records(one)) == {"flawed", "fixed"}
    assert set(records(replace(one, releases=(replace(flawed, name="2.0"), fixed)))) == {"fixed"}


def test_processor_time_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = exhibit(made(tmp_path, code="while True: pass\n"))
    monkeypatch.setattr(checks, "PROCESSOR_SECONDS", 1)
    assert checked(one, one.releases[0], HERE) == {"failed": "no verdict within 1 s of processor time"}


def test_an_environment_is_named_by_what_is_in_it(tmp_path: Path) -> None:
    one = exhibit(made(tmp_path))
    assert environment(one, one.releases[0]).interpreter == HERE
    pinned = replace(one, package="opendp", requires=("numpy<2",))
    wanted = environment(pinned, Release("flawed", "0.16.0"))
    assert wanted.folder == environments.ENVIRONMENTS / "opendp-0.16.0-numpy-2"
    assert wanted.interpreter == wanted.folder / "bin" / "python"
    assert environment(replace(pinned, dependencies=False), Release("flawed", "0.16.0")).bare == ("opendp==0.16.0",)
    with pytest.raises(NotInstalledError, match=r"python0\.1 is not on the path"):
        install(replace(wanted, editable=None, python="0.1"))


def test_no_page_holds_a_path_of_the_machine_that_made_it() -> None:
    root = str(MUSEUM.parent)
    pages = [*MUSEUM.glob("*/check.*"), *MUSEUM.glob("*/result.json"), MUSEUM / "README.md"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert root not in text, page
        assert re.search(r"(?<![\w.~/])/(home|work|tmp|root|Users)/", text) is None, page
