"""museum/README.md: one row for each exhibit, from what was reported and what was found."""

from __future__ import annotations

from collections.abc import Sequence

from museum.checks import Record, records
from museum.exhibits import FIXED, FLAWED, REPORTED, SOUND, Exhibit, Release

VIOLATED = "VIOLATED"
INPUT_MAX = 100  # letters of an input that are shown

HEAD = """# The museum

Public flaws of released software, each checked as a user would check it: `subnormal.check` gets a function, the domain
of its data and its claim, and no hint. `make museum` installs each release into an environment of its own, checks it,
and writes this page. [CONTRIBUTING.md](../CONTRIBUTING.md) says what an exhibit is. A row that is decided by exact
evidence is the same in every run.

{summary}
"""

FLAWS = """
## Flaws

A flaw that the check does not find stays here, and is called missed.

| exhibit | source | flawed release | verdict | decided by | evidence | fixed release |
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
    packages = {one.package for one in flaws if one.package}
    others = [(one, release) for one in exhibits for release in one.releases if release.role != FLAWED]
    checked = [pair for pair in others if records(pair[0]).get(pair[1].role, {}).get("verdict")]
    accused = [pair for pair in others if is_accused(*pair)]
    return (
        f"**{sum(map(is_convicted, flaws))} of {len(flaws)} flaws are convicted**, of {len(packages)} packages and of "
        f"programs that people copy. **{len(accused)} of {len(checked)} releases are accused that must not be.** Each "
        "check accuses a sound release with probability 10^-6 at the most."
    )


def _flaw(exhibit: Exhibit) -> str:
    record = records(exhibit).get(FLAWED)
    fixed = [release for release in exhibit.releases if release.role == FIXED]
    decided = record["stage"] if record and record.get("verdict") == VIOLATED else ""
    cells = [
        *_names(exhibit),
        _release(exhibit, exhibit.releases[0]),
        _flawed_verdict(exhibit, record),
        decided,
        _evidence(record),
        f"{_release(exhibit, fixed[0])}: {_verdict(exhibit, fixed[0])}" if fixed else "none yet",
    ]
    return _row(cells)


def _other(exhibit: Exhibit) -> str:
    release = exhibit.releases[0]
    return _row([*_names(exhibit), _release(exhibit, release), _verdict(exhibit, release)])


def _time(exhibit: Exhibit, release: Release) -> str:
    spent = records(exhibit).get(release.role, {}).get("spent")
    numbers = ["", "", ""] if spent is None else [f"{spent[key]:,}" for key in ("seconds", "pairs", "runs")]
    return _row([exhibit.name, _release(exhibit, release), *numbers])


def _names(exhibit: Exhibit) -> list[str]:
    checked = "verdict" in records(exhibit).get(exhibit.kind, {})
    page = f", [page]({exhibit.name}/check.html)" if checked else ""
    return [
        f"[{exhibit.name}]({exhibit.name}/exhibit.py): {exhibit.title}{page}",
        f"[{exhibit.public or 'source'}]({exhibit.source})",
    ]


def _release(exhibit: Exhibit, release: Release) -> str:
    return f"{exhibit.package} {release.name}" if exhibit.package else f"`{release.name}`"


def _flawed_verdict(exhibit: Exhibit, record: Record | None) -> str:
    if record is None or not record.get("verdict"):
        return _no_verdict(record)
    if record["verdict"] == VIOLATED:
        return VIOLATED
    return f"**missed** ({record['verdict']}): {exhibit.missed or 'nobody has said why'}"


def _verdict(exhibit: Exhibit, release: Release) -> str:
    record = records(exhibit).get(release.role)
    if record is None or not record.get("verdict"):
        return _no_verdict(record)
    return (
        f"**accused**: {_evidence(record)}" if record["verdict"] == VIOLATED else f"not accused ({record['verdict']})"
    )


def _no_verdict(record: Record | None) -> str:
    if record is None:
        return "not checked yet"
    if "not installed" in record:
        return f"does not install: {record['not installed']}"
    return f"**no verdict**: {record.get('failed') or record.get('error')}"


def _evidence(record: Record | None) -> str:
    if record is None or record.get("verdict") != VIOLATED:
        return ""
    said = [f"{kind}: {words}" for kind, words in record["evidence"].items()]
    said += [f"event: {record['event']}"] if "sequential" in record["evidence"] else []
    worlds: dict[str, str] = record["worlds"] or {}
    return "; ".join([*said, *(f"{name.strip('_')} `{_short(shown)}`" for name, shown in worlds.items())])


def _short(shown: str) -> str:
    return shown if len(shown) <= INPUT_MAX else f"{shown[:INPUT_MAX]} …"


def _row(cells: Sequence[str]) -> str:
    joined = " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells)
    return f"| {joined} |\n"
