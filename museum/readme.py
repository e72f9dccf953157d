"""museum/README.md: one row for each exhibit, from what was reported and what was found."""

from __future__ import annotations

from collections.abc import Sequence

from museum.checks import Record, records
from museum.exhibits import FIXED, FLAWED, REPORTED, SOUND, Exhibit, Release

VIOLATED = "VIOLATED"
ALPHA = 1e-6  # of a check: what `check` takes where it is not told

HEAD = """# The museum

Public flaws of released software, each checked as a user would check it: `subnormal.check` gets a function, the domain
of its data and its claim (or the law that its noise declares), and no hint. `subnormal.check_training` gets a loop of
DP-SGD, some records, and what its accountant assumes. `make museum` installs each release into an environment of its
own, checks it, and writes this page. [CONTRIBUTING.md](../CONTRIBUTING.md) says what an exhibit is.

{summary}
"""

FLAWS = """
## Flaws

An exhibit's name leads to what is checked, its date to the report that made the flaw public, and its verdict to the
page of its check, with both inputs and the event. The evidence is *exact* (one pair of inputs proves it), *modelled*
(it holds if the calls that draw noise draw what their names say), *sequential* (an event that was fixed before it was
counted, in as many runs of one input as of the other) or *law* (events that the declared law has fixed, in runs of one
input); of a training loop, it is what is said first of each stage that is wrong. A row with exact evidence is the same
in every run. A flaw that the check does not find stays here, is called missed, and says why.

| exhibit | public since | flawed release | verdict | decided by | evidence | fixed release |
|---|---|---|---|---|---|---|
"""

OTHERS = """
## {title}

{text}

| exhibit | source | release | verdict |
|---|---|---|---|
"""

TIME = """
## Time

Of the last run. A check has 60 seconds, where its exhibit does not say otherwise, and at most five minutes.

| exhibit | release | processor seconds | pairs | runs |
|---|---|---|---|---|
"""


def text(exhibits: Sequence[Exhibit]) -> str:
    """Return the whole page."""
    flaws, reported, sound = (
        [one for one in exhibits if one.kind == kind and one.releases] for kind in (FLAWED, REPORTED, SOUND)
    )
    parts = [HEAD.format(summary=_summary(exhibits, flaws))]
    parts += [FLAWS, *map(_flaw, flaws)]
    if reported:
        told = "Somebody reported these releases as broken. They keep their claims where it was tried."
        parts += [OTHERS.format(title="Reported and not accused", text=told), *map(_other, reported)]
    if sound:
        told = "Nobody doubts these releases. They must not be accused."
        parts += [OTHERS.format(title="Sound", text=told), *map(_other, sound)]
    parts += [TIME, *(_time(one, release) for one in exhibits for release in one.releases)]
    return "".join(parts)


def is_accused(exhibit: Exhibit, release: Release) -> bool:
    """Return whether a release is convicted that must not be."""
    return release.role != FLAWED and records(exhibit).get(release.role, {}).get("verdict") == VIOLATED


def is_convicted(exhibit: Exhibit) -> bool:
    """Return whether the flawed release is convicted."""
    return records(exhibit).get(FLAWED, {}).get("verdict") == VIOLATED


def _summary(exhibits: Sequence[Exhibit], flaws: Sequence[Exhibit]) -> str:
    convicted = [one for one in flaws if is_convicted(one)]
    packages = {one.package for one in convicted if one.package}
    others = [(one, release) for one in exhibits for release in one.releases if release.role != FLAWED]
    checked = [pair for pair in others if records(pair[0]).get(pair[1].role, {}).get("verdict")]
    accused = [pair for pair in others if is_accused(*pair)]
    return (
        f"**{len(convicted)} of {len(flaws)} flaws are convicted**, of {len(packages)} packages and of programs that "
        f"people copy. **{len(accused)} of {len(checked)} releases are accused that must not be.** A check accuses a "
        f"sound release with probability {ALPHA:g} at most, and one of all of them with {ALPHA * len(checked):g}."
    )


def _flaw(exhibit: Exhibit) -> str:
    record = records(exhibit).get(FLAWED)
    fixed = [release for release in exhibit.releases if release.role == FIXED]
    cells = [
        *_names(exhibit),
        _release(exhibit, exhibit.releases[0]),
        *_found(exhibit, record),
        f"{_release(exhibit, fixed[0])}: {_verdict(exhibit, fixed[0])}" if fixed else "none",
    ]
    return _row(cells)


def _other(exhibit: Exhibit) -> str:
    release = exhibit.releases[0]
    verdict = _linked(exhibit, _verdict(exhibit, release))
    return _row([*_names(exhibit), _release(exhibit, release), verdict])


def _time(exhibit: Exhibit, release: Release) -> str:
    spent = records(exhibit).get(release.role, {}).get("spent")
    numbers = [f"{spent[key]:,}" if spent and key in spent else "" for key in ("seconds", "pairs", "runs")]
    return _row([exhibit.name, _release(exhibit, release), *numbers])


def _names(exhibit: Exhibit) -> list[str]:
    return [
        f"[{exhibit.name}]({exhibit.name}/exhibit.py): {exhibit.title}",
        f"[{exhibit.public or 'source'}]({exhibit.source})",
    ]


def _linked(exhibit: Exhibit, said: str) -> str:
    """Return a verdict that leads to the page of the release that the exhibit is about."""
    record = records(exhibit).get(exhibit.kind, {})
    page = "check.txt" if record.get("stage") == "training" else "check.html"
    return f"[{said}]({exhibit.name}/{page})" if "verdict" in record else said


def _release(exhibit: Exhibit, release: Release) -> str:
    return f"{exhibit.package} {release.name}" if exhibit.package else f"`{release.name}`"


def _found(exhibit: Exhibit, record: Record | None) -> list[str]:
    """Return the verdict on a flawed release, the stage that decided, and the evidence, or why there is none."""
    if record is None or not record.get("verdict"):
        return [_no_verdict(record), "", ""]
    if record["verdict"] == VIOLATED:
        return [_linked(exhibit, VIOLATED), record["stage"], _evidence(record)]
    return [f"{_linked(exhibit, '**missed**')} ({record['verdict']})", "", exhibit.missed or "nobody has said why"]


def _verdict(exhibit: Exhibit, release: Release) -> str:
    record = records(exhibit).get(release.role)
    if record is None or not record.get("verdict"):
        return _no_verdict(record)
    if record["verdict"] == VIOLATED:
        return f"**accused**: {_evidence(record)}"
    return f"not accused ({record['verdict']})"


def _no_verdict(record: Record | None) -> str:
    if record is None:
        return "not checked yet"
    if "not installed" in record:
        return f"does not install: {record['not installed']}"
    return f"**no verdict**: {record.get('failed') or record.get('error')}"


def _evidence(record: Record) -> str:
    return "; ".join(f"{kind}: {_short(kind, words)}" for kind, words in record["evidence"].items())


def _short(kind: str, words: str) -> str:
    """Return the numbers in the words of one kind of evidence; the page of the check has the rest."""
    if kind == "sequential":
        return words.removeprefix("the event in ").partition(": ")[0]
    return words.partition(": ")[2].partition(", if ")[0] if kind == "modelled" else words


def _row(cells: Sequence[str]) -> str:
    joined = " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells)
    return f"| {joined} |\n"
