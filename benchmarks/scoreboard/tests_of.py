"""What one release is held against: vectors/1, the kinds of claims, the exhibits of the museum.

Each function returns groups of tests, as JSON values: test, class, passed, failed (names of tests), and why, the last
failure in words. What a library does not answer is in none.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.scoreboard import libraries
from benchmarks.scoreboard.libraries import ATTACKS, EXHIBITS, HERE, SEVERAL, Library
from museum.checks import checked, records
from museum.environments import environment
from museum.exhibits import MUSEUM, Exhibit, Release, exhibits
from subnormal.audit.claims.answers import PACKAGES, Row, held, of_package
from subnormal.audit.claims.kinds import kind
from subnormal.audit.targets.environments import NotInstalledError, install

ROOT = HERE.parents[1]
VECTORS, RUNNERS = ROOT / "vectors" / "1", ROOT / "vectors" / "runners" / "python"
SECONDS = {"stability": 60, "maps": 10, "attacks": 300, "samplers": 300}  # of one test; it is not answered then
EXAMPLES, LEAST_DELTA = 50, 1e-7  # of a kind of claims: as `make claims`, with half as many sets of parameters

Group = dict[str, Any]
Told = Callable[[str], None]


def release_of(exhibit: Exhibit, version: str) -> Release | None:
    """Return the release of an exhibit with this version; None where it has none."""
    return next((one for one in exhibit.releases if one.name == version), None)


def vectors(name: str, library: Library, interpreter: Path, tell: Told) -> list[Group]:
    """Return what the release answers to a set of vectors/1."""
    claims = next((str(one.file) for one in PACKAGES if one.name == library.name), "")
    subject = str(library.subject) if library.subject.is_file() else ""
    if not claims and not subject:
        return []
    groups: dict[tuple[str, str], Group] = {}
    command = [str(interpreter), str(HERE / "answer.py"), str(RUNNERS), str(VECTORS / f"{name}.json"), subject, claims]
    for test, found in _answers([*command, str(SECONDS[name])]):
        key = title, class_ = _group_of_vector(name, test)
        group = groups.setdefault(key, {"test": title, "class": class_, "passed": 0, "failed": [], "why": ""})
        if found["passed"]:
            group["passed"] += 1
        elif found["passed"] is False:
            group["failed"].append(test["id"])
            group["why"] = found["why"]
    tell(f"{library.name}: {name}, {sum(one['passed'] + len(one['failed']) for one in groups.values())} tests")
    return [group for group in groups.values() if group["passed"] or group["failed"]]


def _answers(command: list[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each test and what was found. A test that ends the process has no answer, and the next one is tried."""
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    done, last = 0, -1
    while done > last:  # a process that ends before its first test ends all
        last, test = done, None
        with subprocess.Popen(
            [*command, str(done)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=outside
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                found = json.loads(line)
                if "who" in found:
                    test, done = found, done + 1
                elif test is not None:
                    yield test, found
        if process.returncode == 0:
            return
    raise RuntimeError(f"{command[1]} ended with {process.returncode} before its first test")


def _group_of_vector(name: str, test: dict[str, Any]) -> tuple[str, str]:
    """Return the name of the group of a test of a set of vectors, and its class."""
    if name == "attacks":
        attack = test["id"].split("/")[0]
        return f"vectors/1 attacks: {attack}", ATTACKS.get(attack.split("@")[0], libraries.FLOATS)
    title = f"vectors/1 {name}: {' '.join(filter(None, (test['who'], test['what'])))}"
    if name == "stability":
        return title, libraries.EDGES if test["id"] in _edges() else libraries.STABILITY
    return title, libraries.LAW if name == "samplers" else class_of_kind(test["what"])


@cache
def _edges() -> set[str]:
    """Return the tests of stability with empty data, NaN or infinities."""
    tests = json.loads((VECTORS / "stability.json").read_text("utf-8"))["tests"]
    odd = {"nan", "inf", "-inf"}
    return {
        test["id"]
        for test in tests
        if any(not test[world] or odd & {record for _, record in test[world]} for world in ("in", "out"))
    }


@cache
def class_of_kind(name: str) -> str:
    """Return the class of a kind of claims."""
    if name.endswith("-draws"):
        return libraries.LAW
    tests = json.loads((VECTORS / "maps.json").read_text("utf-8"))["tests"]
    parameters = next(test["parameters"] for test in tests if test["function"] == name)
    return libraries.ACCOUNTANTS if SEVERAL & parameters.keys() else libraries.MAPS


def claims(library: Library, interpreter: Path, tell: Told) -> list[Group]:
    """Return what the release's accountants and maps answer to the kinds of `subnormal claims`."""
    package = next((one for one in PACKAGES if one.name == library.name), None)
    if package is None:
        return []
    groups = []
    with of_package(package, interpreter) as answers:
        for accountant, name in answers:
            one = held(answers, Row(accountant, name, options={"examples": EXAMPLES, "least_delta": LEAST_DELTA}))
            tell(f"{library.name}: claims, {accountant} {name}: {one.verdict}")
            bad = one.violated
            group = {"test": f"claims: {accountant} {kind(name).name}", "class": class_of_kind(name)}
            why = "" if bad is None else f"{dict(bad.parameters)}: {bad.said} is promised, {bad.low} is true"
            if one.examples:
                failed = [] if bad is None else ["a set of parameters"]
                groups.append({**group, "passed": one.examples - len(failed), "failed": failed, "why": why})
    return groups


def museum(library: Library, version: str, tell: Told) -> list[Group]:
    """Return what the museum's checks say of the release: what `make museum` has kept of it, or a check of now."""
    groups = []
    for exhibit in exhibits():
        if exhibit.package != library.name or exhibit.name not in EXHIBITS:
            continue
        release = release_of(exhibit, version)
        record = None if release is None else records(exhibit).get(release.role)
        if record is None:
            tell(f"{library.name}: the check of {exhibit.name} on {version}")
            record = _checked(exhibit, version)
        verdict = record.get("verdict")
        if not verdict:
            tell(f"{library.name}: {exhibit.name} has no verdict: {record.get('failed') or record.get('error')}")
            continue
        failed = [exhibit.name] if verdict == "VIOLATED" else []
        group = {"test": f"museum: {exhibit.name}", "class": EXHIBITS[exhibit.name]}
        groups.append({**group, "passed": 1 - len(failed), "failed": failed, "why": json.dumps(record["evidence"])})
    return groups


def _checked(exhibit: Exhibit, version: str) -> dict[str, Any]:
    """Check an exhibit on another release, on a copy of its folder: the museum keeps what it has."""
    old, release = exhibit.releases[0].name, Release(exhibit.kind, version)
    requires = tuple(one.replace(f"=={old}", f"=={version}") for one in exhibit.requires)
    with tempfile.TemporaryDirectory() as folder:
        copy = replace(exhibit, folder=Path(folder) / exhibit.name, requires=requires)
        shutil.copytree(MUSEUM / exhibit.name, copy.folder)
        wanted = environment(copy, release)
        try:
            install(wanted)
        except NotInstalledError as error:
            return {"failed": str(error)}
        return checked(copy, release, wanted.interpreter)
