"""subnormal suite: all checks that a file names, at the same time, with one α for all of them."""

from __future__ import annotations

import datetime
import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from subnormal.audit.commands.check import arguments_of, check, failed, names_in_child, result_of
from subnormal.audit.commands.common import (
    Failure,
    file_mistakes,
    jobs_option,
    line_progress,
    mistakes,
    out_option,
    output,
    print_table,
)
from subnormal.audit.commands.watched import EndedError, watched
from subnormal.audit.text import counted, quoted

if TYPE_CHECKING:
    from subnormal.audit.suite.entry import Accepted, Entry

ALPHA = 1e-6
SHARED = ("seconds", "examples", "runs", "seed", "grid", "timeout")  # keys that hold for checks without their own
OTHERS = ("format", "report", "fail-on-violation", "alpha")  # options of a check that a suite has for all
NAMES_SECONDS = 60.0  # to import what the checks name


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file names. checks: the arguments of each check, by its name."""

    alpha: float
    checks: Mapping[str, dict[str, Any]]
    accepted: Mapping[tuple[str, str], Accepted]


@click.command()
@click.argument("file", default="subnormal.toml", type=click.Path(dir_okay=False, path_type=Path))
@jobs_option("Checks at the same time")
@out_option("Folder of suite.html, suite.json, suite.xml (JUnit), suite.sarif and the pages.", default="reports/suite")
@click.option(
    "--unchanged",
    metavar="SUITE.JSON",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Of an earlier run: what it did not refute is not checked again where code, libraries and options are "
    "the same.",
)
@click.option("--fail-on-violation", is_flag=True, help="Exit with 1 when a claim is violated that is not accepted.")
def suite(file: Path, jobs: int | None, out: Path, unchanged: Path | None, fail_on_violation: bool) -> None:
    """Run all checks that FILE names, and write one index of their pages.

    FILE is TOML. The keys of a check are the options of `subnormal check`, with
    the same values; seconds, examples, runs, seed, grid and timeout above the
    first table hold for all checks without their own. One alpha is shared.

    \b
      alpha = 1e-6
      seconds = 30
      [[check]]
      function = "mylib.mechanisms:noisy_count"
      data = "mylib.domains:records"
      adjacent = "add-or-remove:user"
      epsilon = 1.0
      [[accepted]]
      check = "mylib.mechanisms:noisy_count"
      severity = "last bits"
      reason = "float noise is replaced in the next release"
      until = 2030-06-30

    A check is called by its function, or by its key `name`. An accepted finding
    does not fail up to and with its day, and hides no other severity.

    Exit codes: 0 done, 1 a claim is violated (with --fail-on-violation), 2 a
    mistake in the file, 3 a check failed: its function raised in every run,
    ended the process, or did not return; 130 interrupted.
    """
    from subnormal.audit.engine.process_pool import cores
    from subnormal.audit.report.table import grid
    from subnormal.audit.suite import document
    from subnormal.audit.suite.entry import FAILED, Status
    from subnormal.audit.suite.formats import to_html, to_junit, to_sarif

    plan = _read(file)
    pages = _pages(plan, file)
    with output(out) as files:
        with line_progress() as tell:
            tell(f"importing what {len(plan.checks)} checks name")
            fingerprints = _fingerprints(plan, file, tell)
            kept = {} if unchanged is None else _kept(unchanged, fingerprints)
            checks = {name: arguments for name, arguments in plan.checks.items() if name not in kept}
            results = {**kept, **_results(checks, jobs or cores(), tell)}
        entries = [_entry(name, results[name], plan, file) for name in plan.checks]
        files["suite.html"] = to_html(entries, pages, plan.alpha).encode()
        files["suite.json"] = document.written(entries, pages, fingerprints).encode()
        files["suite.xml"] = to_junit(entries, plan.alpha).encode()
        files["suite.sarif"] = to_sarif(entries, version("subnormal")).encode()
        files |= {name: one.page.encode() for one, name in zip(entries, pages, strict=True)}
    table = grid(("check", "status", "finding", "where"), ("check", "status", "finding", "where"))
    for one in entries:
        table.add_row(one.name, str(one.status), one.finding, ":".join(map(str, one.place)))
    print_table(table)
    if kept:
        click.echo(f"{counted(len(kept), 'check')} not made again: nothing changed since {unchanged}", err=True)
    click.echo(f"report: {out / 'suite.html'}", err=True)
    found = {one.status for one in entries}
    if Status.ERROR in found:
        sys.exit(3)
    if fail_on_violation and found.intersection(FAILED):
        sys.exit(1)


def _fingerprints(plan: Plan, file: Path, tell: Callable[[str], None]) -> dict[str, str | None]:
    """Import what the checks name, in a process of its own, before any check begins. Raises Failure for a mistake.

    Returns what each check depends on, by its name.
    """
    try:
        return watched(names_in_child, dict(plan.checks), seconds=NAMES_SECONDS, tell=tell)
    except Failure as error:
        raise Failure(f"{file}: {error}") from None
    except EndedError as error:
        raise Failure(f"{file}: importing what the checks name: {error}") from None


def _kept(unchanged: Path, fingerprints: Mapping[str, str | None]) -> dict[str, dict[str, Any]]:
    """Return the results of an earlier run that refuted nothing and would be made again, by the check's name."""
    from subnormal.audit.suite import document
    from subnormal.audit.suite.entry import Status

    with file_mistakes("--unchanged"), mistakes(ValueError, option="--unchanged", of=f"{unchanged} "):
        earlier = document.parse(unchanged.read_bytes())
    kept: dict[str, dict[str, Any]] = {}
    for name, known in fingerprints.items():
        check = earlier.get(name)
        if known is None or check is None or (check.status, check.fingerprint) != (Status.NOT_REFUTED, known):
            continue
        page = unchanged.parent / check.page
        if page.is_file():
            text = f"{check.text}\nnot made again: code, libraries and options are the same"
            html = page.read_text(encoding="utf-8")
            kept[name] = {"json": json.dumps(check.check), "text": text, "html": html, "place": check.place}
    return kept


def _results(checks: Mapping[str, dict[str, Any]], jobs: int, tell: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Return the result of each check in every form, by its name."""

    def result(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return result_of(arguments, lambda told: tell(f"{len(results)} of {len(checks)} done; {name}: {told}"))
        except Failure as error:  # as an outcome that cannot be compared: the other checks go on
            return failed(arguments, str(error))

    results: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(jobs) as threads:  # each waits for the process of a check
        names = {threads.submit(result, name, arguments): name for name, arguments in checks.items()}
        try:
            for done in as_completed(names):
                results[names[done]] = done.result()
                verdict = results[names[done]]["verdict"] or "ERROR"
                tell(f"{len(results)} of {len(names)} done; {names[done]}: {verdict}")
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def _entry(name: str, result: dict[str, Any], plan: Plan, file: Path) -> Entry:
    from subnormal.audit.suite.entry import Entry

    document = json.loads(result["json"])
    place = result["place"] or (file.as_posix(), 1)
    accepted = plan.accepted.get((name, document["severity"]))
    return Entry(name, document, result["text"], result["html"], tuple(place), accepted, datetime.date.today())


def _pages(plan: Plan, file: Path) -> list[str]:
    """Return the file of each check's page. Raises Failure where two have the same."""
    pages = [f"check-{re.sub(r'[^0-9A-Za-z.-]+', '-', name).strip('-')}.html" for name in plan.checks]
    written: dict[str, str] = {}
    for name, page in zip(plan.checks, pages, strict=True):
        if (other := written.setdefault(page.lower(), name)) != name:  # some file systems do not tell case apart
            raise Failure(f"{file}: the pages of {other!r} and {name!r} have one name, {page}: give one another name")
    return pages


def _read(file: Path) -> Plan:
    """Return what a file names. Raises Failure, which names the key and its value."""
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except ValueError as error:  # of TOML, and of UTF-8
        raise Failure(f"{file}: {error}") from None
    _require_keys(file, read, ("alpha", "check", "accepted", *SHARED))
    alpha = read.get("alpha", ALPHA)
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        _refuse(file, "alpha", alpha, "a number between 0 and 1")
    tables = {key: _tables(file, read, key) for key in ("check", "accepted")}
    if not tables["check"]:
        raise Failure(f"{file}: no [[check]] is named")
    share, shared = alpha / len(tables["check"]), {key: read[key] for key in SHARED if key in read}
    checks: dict[str, dict[str, Any]] = {}
    for number, table in enumerate(tables["check"], 1):
        where = f"{file}: check {number}"
        name = table.pop("name", table.get("function"))
        if not isinstance(name, str) or not name:
            _refuse(where, "function", name, "package.module:function or 'cmd: …'")
        if name in checks:
            _refuse(where, "name", name, "that of no other check")
        checks[name] = _arguments(f"{where} ({name})", {**shared, **table}, share)
    accepted: dict[tuple[str, str], Accepted] = {}
    for number, table in enumerate(tables["accepted"], 1):
        where = f"{file}: accepted {number}"
        one = _accepted(where, table, checks)
        if accepted.setdefault((one.check, one.severity), one) is not one:
            _refuse(where, "severity", one.severity, f"accepted once in {one.check!r}")
    return Plan(alpha, checks, accepted)


def _tables(file: Path, read: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    tables = read.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        _refuse(file, key, tables, f"tables: [[{key}]]")
    return tables


def _arguments(where: str, table: dict[str, Any], alpha: float) -> dict[str, Any]:
    """Return the arguments of a check, as its command line would have them. alpha: of this check."""
    options = {one.opts[0].removeprefix("--"): one for one in check.params if isinstance(one, click.Option)}
    known = [name for name in options if name not in OTHERS]
    _require_keys(where, table, ("name", "function", *known))
    arguments = [f"--alpha={alpha!r}"]
    for key, value in table.items():
        if key == "function":
            continue
        if options[key].is_flag:
            if not isinstance(value, bool):
                _refuse(where, key, value, "true or false")
            arguments += [f"--{key}"] if value else []
        elif key in ("in", "out"):
            arguments.append(f"--{key}={json.dumps(value, default=str)}")
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            arguments.append(f"--{key}={value}")
        else:
            _refuse(where, key, value, "a number or a text")
    function = table.get("function")
    if not isinstance(function, str):
        _refuse(where, "function", function, "package.module:function or 'cmd: …'")
    try:
        with check.make_context("check", [*arguments, "--", function]) as context:
            return arguments_of(context)
    except click.ClickException as error:
        raise Failure(f"{where}: {error.format_message()}") from None


def _accepted(where: str, table: Mapping[str, Any], checks: Mapping[str, Any]) -> Accepted:
    from subnormal.audit.check.severity import Severity
    from subnormal.audit.suite.entry import Accepted

    must: dict[str, tuple[str, Callable[[Any], object]]] = {
        "check": ("the name of a check", lambda value: value in checks),
        "severity": (", ".join(map(repr, map(str, Severity))), lambda value: value in tuple(Severity)),
        "reason": ("a text", lambda value: isinstance(value, str) and value.strip()),
        "until": ("a date, as 2030-06-30", lambda value: type(value) is datetime.date),
    }
    _require_keys(where, table, tuple(must))
    for key, (what, holds) in must.items():
        if not holds(table.get(key)):
            _refuse(where, key, table.get(key), what)
    return Accepted(**table)


def _require_keys(where: object, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in known:
            raise Failure(f"{where}: unknown key {key} = {quoted(repr(value))}; known are {', '.join(known)}")


def _refuse(where: object, key: str, value: object, must: str) -> NoReturn:
    shown = "is missing" if value is None else f"= {quoted(repr(value))}"
    raise Failure(f"{where}: {key} {shown}: it must be {must}")
