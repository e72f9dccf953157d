"""What may be stated of the tests of a release, and the page of it: results.json and results.md.

A failure is stated only beside a public source. All else is "not stated", in one form: what was not tried, what was
not answered, and what is not public cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from benchmarks.scoreboard.libraries import CLASSES, PUBLIC
from benchmarks.scoreboard.tests_of import Group, release_of
from museum.exhibits import FLAWED, exhibits

GREEN, RED, NOT_STATED = "green", "red", "not stated"
Row = dict[str, Any]  # name, version, date, and groups

HEAD = """# Scoreboard of released libraries

`make scoreboard` installs the newest release of each library, each in an environment of its own, and holds it against
three things: [vectors/1](../../vectors/README.md), the kinds of [claims](../../docs/claims.md) with {examples} sets of
parameters each, and the checks of the [museum](../../museum/README.md). This page is of {date}, and of the versions in
its rows. No other version was tried.

**Green does not mean private.** It means: N tests found nothing. Tests that draw at random miss rare flaws, and nobody
has tested what is not in the list below. A number that misses its bound by at most a ten-thousandth counts as rounded,
not as red. **Red** means: a flaw of this release is public, and its source was read. A red cell links to it.
**Not stated** means nothing. A cell says so where no test was tried, where none was answered or finished, as in a run
that was interrupted, and where something may be known that is not public. So such a cell may hide a flaw that was
reported to the maintainers. Red cells may too: of their other tests those are shown that are green or public. Absence
of red is no praise, and its presence is no blame: libraries with a public list of issues and many tests here have more
of it. The list below has all that was tried and may be stated.

"""


def unpublished(row: Row) -> list[Group]:
    """Return the groups of a release that fail without a public source: they go to the maintainers first."""
    return [one for one in row["groups"] if one["failed"] and not sources(row["name"], row["version"], one["test"])]


def sources(name: str, version: str, test: str) -> tuple[str, ...]:
    """Return the public sources that a test of exactly this release has; none where nobody has read one."""
    return (*PUBLIC.get((name, version, test), ()), *_exhibited(name, version, test))


@cache
def _exhibited(name: str, version: str, test: str) -> tuple[str, ...]:
    """Return the source of an exhibit of the museum that has this release as its flawed one."""
    for one in exhibits():
        release = release_of(one, version)
        if one.package == name and test == f"museum: {one.name}" and release is not None and release.role == FLAWED:
            return (one.source,)
    return ()


def stated(row: Row) -> Row:
    """Return a release with what may be stated of it: groups, each with its sources, and red where it has some.

    Where a class has failures, and none of them is public, nothing of it is stated: it is not green.
    """
    public_of = {one["test"]: sources(row["name"], row["version"], one["test"]) for one in row["groups"]}
    red = {one["class"] for one in row["groups"] if public_of[one["test"]]}
    secret = {one["class"] for one in unpublished(row)} - red
    groups = []
    for one in row["groups"]:
        public = public_of[one["test"]]
        if public or (not one["failed"] and one["class"] not in secret):
            kept = {key: one[key] for key in ("test", "class", "passed")} | {"failed": one["failed"] if public else []}
            groups.append(kept | {"sources": list(public)})
    return {**{key: row[key] for key in ("name", "version", "date")}, "groups": groups}


def state(groups: Sequence[Group]) -> str:
    """Return the state of the cell with these groups, which are stated: red needs a source, and nothing else."""
    if any(one["sources"] for one in groups):
        return RED
    return GREEN if groups else NOT_STATED


def text(rows: Sequence[Row], examples: int) -> str:
    """Return the page of rows that are stated."""
    dates = sorted({row["date"] for row in rows})
    head = HEAD.format(date=dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}", examples=examples)
    described = "".join(f"- *{name}*: {what}\n" for name, what in CLASSES.items())
    return f"{head}{_table(rows)}\n## The classes\n\n{described}\n## What was tried\n\n{_details(rows)}"


def _table(rows: Sequence[Row]) -> str:
    """Return the table of libraries and classes, as HTML: Markdown has no colours."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in CLASSES)
    lines = [f'<table class="scoreboard">\n<thead><tr><th scope="col">library</th>{head}</tr></thead>\n<tbody>']
    for row in rows:
        cells = "".join(_cell(row["name"], name, _of(row, name)) for name in CLASSES)
        version, date = escape(row["version"] or "does not install"), row["date"]
        lines.append(f'<tr><th scope="row">{escape(row["name"])} {version}<br><small>{date}</small></th>{cells}</tr>')
    return "\n".join([*lines, "</tbody></table>", ""])


def _cell(library: str, name: str, groups: Sequence[Group]) -> str:
    """Return a cell: its state, its number of tests, its sources, and the names of its tests behind a click."""
    kind = state(groups)
    if kind == NOT_STATED:
        return f'<td class="none">{NOT_STATED}</td>'
    count = sum(one["passed"] + len(one["failed"]) for one in groups)
    found = list(dict.fromkeys(source for one in groups for source in one["sources"]))
    links = " ".join(f'<a href="{escape(source)}">{escape(short(source))}</a>' for source in found)
    names = "".join(f"<li>{escape(_words(one))}</li>" for one in groups)
    noun = "test" if count == 1 else "tests"
    tests = f"<details><summary>{count:,} {noun}</summary><ul>{names}</ul></details>"
    mark = "✗ red" if kind == RED else "✓ green"
    return f'<td class="{"VIOLATED" if kind == RED else "HOLDS"}"><b>{mark}</b> {links}{tests}</td>'


def short(source: str) -> str:
    """Return the words of a link.

    >>> short("https://github.com/opendp/opendp/issues/2922"), short("https://arxiv.org/abs/2207.13793")
    ('opendp#2922', 'arXiv:2207.13793')
    """
    parts = source.removeprefix("https://").split("/")
    if parts[0] == "github.com" and len(parts) == 5 and parts[3] in ("issues", "pull"):
        return f"{parts[2]}#{parts[4]}"
    return f"arXiv:{parts[-1]}" if parts[0] == "arxiv.org" else parts[0]


def _of(row: Row, name: str) -> list[Group]:
    return [one for one in row["groups"] if one["class"] == name]


def _words(group: Mapping[str, Any]) -> str:
    """Return what a group of tests found."""
    failed = len(group["failed"])
    if group["sources"] and not failed:
        return f"{group['test']}: public, and not found by this check"
    return f"{group['test']}: {group['passed']} of {group['passed'] + failed} pass"


def _details(rows: Sequence[Row]) -> str:
    """Return the second table: a line for each group of tests of each release."""
    lines = ["| release | class | tests | found | source |", "|---|---|---|---|---|"]
    for row in rows:
        for one in sorted(row["groups"], key=lambda one: (list(CLASSES).index(one["class"]), one["test"])):
            test, _, found = _words(one).rpartition(": ")
            links = ", ".join(f"[{short(source)}]({source})" for source in one["sources"])
            shown = ", ".join(f"`{name}`" for name in one["failed"][:3]) + " …" * (len(one["failed"]) > 3)
            found = f"**{found}**: {shown}".rstrip(": ") if links else found
            lines.append(f"| {row['name']} {row['version']} | {one['class']} | {test} | {found} | {links} |")
    return "\n".join([*lines, ""])
