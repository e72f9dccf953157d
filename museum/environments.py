"""The environment that a release of an exhibit needs, kept between runs in museum/.environments/."""

from __future__ import annotations

from museum.exhibits import MUSEUM, Exhibit, Release
from subnormal.audit.targets.environments import Environment

ROOT = MUSEUM.parent
ENVIRONMENTS = MUSEUM / ".environments"


def environment(exhibit: Exhibit, release: Release) -> Environment:
    """Return the environment that a release of an exhibit needs."""
    pinned = (f"{exhibit.package}=={release.name}",) if exhibit.package else ()
    bare = () if exhibit.dependencies else pinned
    editable = None if exhibit.is_alone else ROOT
    return Environment((*pinned, *exhibit.requires), bare, ENVIRONMENTS, editable, exhibit.python)
