"""What an exhibit is: exhibit.toml, which says what was reported, and exhibit.py, which says what to check.

CONTRIBUTING.md explains the two files.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

MUSEUM = Path(__file__).resolve().parent
SECONDS = 60.0  # of a check, as for every user of `check`
SECONDS_MAX = 280.0  # so that a check, its start included, takes at most five minutes

FLAWED, REPORTED, SOUND, FIXED = "flawed", "reported", "sound", "fixed"
KINDS = (FLAWED, REPORTED, SOUND)

_TEXTS = ("title", "package", "source", "claim", "missed", "python", *KINDS, FIXED)


class ExhibitError(ValueError):
    """The files of an exhibit do not have their form."""


@dataclass(frozen=True, slots=True)
class Release:
    """One thing to check. role: flawed, fixed, reported or sound; name: a version of the package, a function of
    exhibit.py, or `cmd: program`."""

    role: str
    name: str


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An exhibit, as exhibit.toml describes it.

    package: empty where there is none to install. public: None of what is sound.
    """

    name: str
    folder: Path
    title: str
    package: str
    source: str
    public: date | None
    claim: str
    releases: tuple[Release, ...]
    requires: tuple[str, ...]
    dependencies: bool
    python: str
    seconds: float
    missed: str

    @property
    def kind(self) -> str:
        """The role of the release that the exhibit is about."""
        return self.releases[0].role

    @property
    def is_alone(self) -> bool:
        """Whether the release is installed without Subnormal, and its function stands in a file of its own."""
        return (self.folder / "release.py").is_file()


def exhibits(folder: Path = MUSEUM) -> list[Exhibit]:
    """Return all exhibits in the order of their names. Raises ExhibitError for one that does not have the form."""
    return [exhibit(path.parent) for path in sorted(folder.glob("*/exhibit.toml"))]


def exhibit(folder: Path) -> Exhibit:
    """Return the exhibit of a folder. Raises ExhibitError, which names the folder and the key."""
    try:
        keys = tomllib.loads((folder / "exhibit.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExhibitError(f"{folder.name}/exhibit.toml: {error}") from None
    problem = _problem(folder, keys)
    if problem:
        raise ExhibitError(f"{folder.name}/exhibit.toml: {problem}")
    return Exhibit(
        name=folder.name,
        folder=folder,
        title=keys["title"],
        package=keys.get("package", ""),
        source=keys["source"],
        public=keys.get("public"),
        claim=keys["claim"],
        releases=tuple(Release(role, keys[role]) for role in (*KINDS, FIXED) if role in keys),
        requires=tuple(keys.get("requires", ())),
        dependencies=keys.get("dependencies", True),
        python=keys.get("python", ""),
        seconds=float(keys.get("seconds", SECONDS)),
        missed=keys.get("missed", ""),
    )


def _problem(folder: Path, keys: dict[str, Any]) -> str | None:
    """Return what is wrong with the keys; None where nothing is."""
    if not (folder / "exhibit.py").is_file():
        return "there is no exhibit.py beside it"
    if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", folder.name) is None:
        return "the folder's name must be words in small letters, joined by hyphens"
    unknown = sorted(keys.keys() - {*_TEXTS, "public", "requires", "dependencies", "seconds"})
    if unknown:
        return f"unknown keys: {', '.join(unknown)}"
    required = ("title", "source", "claim", *(() if SOUND in keys else ("public",)))
    missing = [key for key in required if key not in keys]
    if missing:
        return f"keys are missing: {', '.join(missing)}"
    if bad := [key for key in _TEXTS if key in keys and not (isinstance(keys[key], str) and keys[key].strip())]:
        return f"{bad[0]} must be a text, got {keys[bad[0]]!r}"
    if len([kind for kind in KINDS if kind in keys]) != 1:
        return f"exactly one of {', '.join(KINDS)} names the release that the exhibit is about"
    if FIXED in keys and FLAWED not in keys:
        return "fixed goes with flawed"
    if not keys["source"].startswith("https://"):
        return f"source must be an address, https://…, got {keys['source']!r}"
    if type(keys.get("public", date.min)) is not date:
        return f"public must be a date, as 2024-08-15 without quotes, got {keys['public']!r}"
    if not all(isinstance(one, str) for one in keys.get("requires", [])):
        return f"requires must be a list of requirements, got {keys['requires']!r}"
    if not isinstance(keys.get("dependencies", True), bool):
        return f"dependencies must be true or false, got {keys['dependencies']!r}"
    if not 0 < keys.get("seconds", SECONDS) <= SECONDS_MAX:
        return f"seconds must be above 0 and at most {SECONDS_MAX:g}, got {keys['seconds']!r}"
    if "python" in keys and not (folder / "release.py").is_file():
        return "python goes with release.py: Subnormal runs on its own interpreter"
    return None
