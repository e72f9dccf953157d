"""What a result was made with: the versions of the libraries, and the commit of the working directory."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

ALWAYS = ("numpy", "scipy", "hypothesis")  # what every check draws with
GIT_SECONDS = 10.0  # for one answer of git


def versions(place: str | None = None) -> dict[str, str]:
    """Return the versions of Subnormal, of Python and of libraries, by name.

    place: "module:name" of a function; libraries that its module imports by their names are among them.

    >>> list(versions())
    ['subnormal', 'python', 'hypothesis', 'numpy', 'scipy']
    """
    names = vars(sys.modules.get((place or "").partition(":")[0], ModuleType("none")))
    modules = [
        one.__name__ if isinstance(one, ModuleType) else getattr(one, "__module__", None) for one in names.values()
    ]
    libraries = {*ALWAYS, *(name.partition(".")[0] for name in modules if isinstance(name, str))}
    made = {"subnormal": version("subnormal"), "python": platform.python_version()}
    for library in sorted(libraries - made.keys()):
        try:
            made[library] = version(library)
        except (PackageNotFoundError, ValueError):  # the standard library, or a module of the user's
            continue
    return made


def commit() -> str | None:
    """Return the git commit of the working directory, with "changed" where files differ from it; None without git."""
    try:
        head, changes = (_answer(*words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "-uno")))
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{head} (changed)" if changes else head


def _answer(*words: str) -> str:
    asked = subprocess.run(
        ["git", "--no-optional-locks", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=GIT_SECONDS,
        check=True,
    )
    return asked.stdout.strip()
