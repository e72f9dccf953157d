"""The exhibits that `make test` checks: those that take seconds and need no package, or one installed with the tests.

A clock that counts work takes the place of the clock: what a check decides depends neither on the machine nor on its
load.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import version

import pytest

from museum.checks import records
from museum.examine import examined
from museum.exhibits import FIXED, MUSEUM, SOUND, exhibit
from tests.support.work_clock import work_counted

FLAWS = (
    "box-muller",
    "cook-laplace",
    "diffprivlib-94",
    "gaussian-large-epsilon",
    "group-by-keys",
    "ilvento-exponential",
    "local-sensitivity-mean",
    "lyu-svt-noiseless",
    "numpy-sum-order",
    "numpy-sum-rounding",
    "statdp-histogram",
)
NOT_ACCUSED = (
    *((name, FIXED) for name in FLAWS if any(one.role == FIXED for one in exhibit(MUSEUM / name).releases)),
    ("secrets-discrete-laplace", SOUND),
    ("secrets-geometric", SOUND),
    ("secrets-randomized-response", SOUND),
    ("subnormal-exponential", SOUND),
    ("subnormal-gaussian-vector", SOUND),
)
LAST_BITS = ("box-muller", "cook-laplace", "diffprivlib-94")  # flaws in them: the check goes on to the end
SECONDS = 0.3  # of that clock, of a sound release, whose check goes on to the end, too
FLAW_SECONDS = 10.0  # of a flaw in last bits; of the others those of the exhibit, of which they need few


def verdicts(name: str, role: str, seconds: float | None = None) -> tuple[str, str]:
    """Return the verdict on the museum's page, and that of a check now. seconds: instead of those of the exhibit."""
    one = exhibit(MUSEUM / name)
    release = next(release for release in one.releases if release.role == role)
    if one.package and version(one.package) != release.name:
        pytest.skip(f"{one.package} {release.name} is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        patch.delitem(sys.modules, "exhibit", raising=False)  # another one's
        with work_counted():
            result = examined(replace(one, seconds=seconds or one.seconds), release)
    return records(one)[role]["verdict"], str(result.verdict)
