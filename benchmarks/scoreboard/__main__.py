"""Hold the newest releases of libraries against vectors, claims and museum: python -m benchmarks.scoreboard.

Writes results.json and results.md beside this file. What fails without a public source is printed, and is in neither.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from benchmarks.scoreboard import page, tests_of
from benchmarks.scoreboard.libraries import HERE, LIBRARIES, Library
from museum.environments import ENVIRONMENTS
from subnormal.audit.report.atomic_write import prepare, write
from subnormal.audit.targets.environments import Environment, NotInstalledError, install

RESULTS, PAGE = HERE / "results.json", HERE / "results.md"
FOLDER, KEPT = Path("reports"), "scoreboard.json"  # what was found, public or not, until the next run

Found = dict[str, list[tests_of.Group]]  # by release and step


def newest(library: Library) -> str:
    """Return the newest version that pip would install. Raises NotInstalledError where there is none."""
    options = ["--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--disable-pip-version-check"]
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--report", "-", library.name],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode:
        raise NotInstalledError((asked.stderr.strip().splitlines() or ["no message"])[-1])
    version: str = json.loads(asked.stdout)["install"][0]["metadata"]["version"]
    return version


def row_of(library: Library, kept: Found, keep: Callable[[], None], tell: tests_of.Told) -> page.Row:
    """Return what is found of the newest release of a library; steps that are kept are not made again."""
    row: page.Row = {"name": library.name, "version": "", "date": f"{datetime.now(UTC):%Y-%m-%d}", "groups": []}
    try:
        row["version"] = version = newest(library)
        pinned = f"{library.name}=={version}"
        wanted = Environment((pinned, *library.requires), (pinned,) if library.bare else (), ENVIRONMENTS)
        tell(f"installing {pinned}")
        install(wanted)
    except NotInstalledError as error:
        tell(f"{library.name}: not installed: {error}")
        return {**row, "version": ""}
    steps: dict[str, Callable[[], list[tests_of.Group]]] = {
        "museum": partial(tests_of.museum, library, version, tell),
        **{name: partial(tests_of.vectors, name, library, wanted.interpreter, tell) for name in tests_of.SECONDS},
        "claims": partial(tests_of.claims, library, wanted.interpreter, tell),
    }
    for name, step in steps.items():
        key = f"{pinned} {name}"
        if key not in kept:
            try:
                kept[key] = step()
            except Exception as error:  # of a library that cannot be asked: the others are
                tell(f"{key}: {error!r}")
                continue
            keep()
        row["groups"] += kept[key]
    return row


def written(rows: list[page.Row]) -> None:
    """Write both files from rows that are stated."""
    kept = json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False)
    RESULTS.write_text(kept + "\n", encoding="utf-8")
    PAGE.write_text(page.text(rows, tests_of.EXAMPLES), encoding="utf-8")


def known(path: Path) -> Any:
    """Return what a file of JSON holds; None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


@click.command()
@click.option("--only", metavar="NAME", multiple=True, help="Try these libraries; the others keep their rows.")
@click.option("--resume", is_flag=True, help=f"Keep what {FOLDER / KEPT} has of an interrupted run.")
def main(only: tuple[str, ...], resume: bool) -> None:
    """Hold the newest release of each library against the tests, and write the scoreboard."""
    names = [one.name for one in LIBRARIES]
    if unknown := [name for name in only if name not in names]:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(names)}", param_hint="--only")
    prepare(FOLDER)
    found: Found = (known(FOLDER / KEPT) or {}) if resume else {}
    rows = {row["name"]: row for row in known(RESULTS) or []}

    def keep() -> None:
        write(FOLDER, {KEPT: json.dumps(found, indent=1).encode()})

    for library in LIBRARIES:
        if only and library.name not in only:
            continue
        row = row_of(library, found, keep, partial(click.echo, err=True))
        for group in page.unpublished(row):
            click.echo(f"NOT PUBLIC {row['name']} {row['version']}, {group['test']}: {group['failed']} {group['why']}")
        rows[library.name] = page.stated(row)
        written([rows[name] for name in names if name in rows])


if __name__ == "__main__":
    main()
