"""Who answers: a function in Python, or a package, installed here or at a version in an environment of its own.

A row is one accountant and one kind of claim, which is held in any process.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

from subnormal.audit.claims.holding import Answer, Held, RefusedError, Said, hold
from subnormal.audit.claims.kinds import kind
from subnormal.audit.report.form import plain
from subnormal.audit.targets import serve
from subnormal.audit.targets.environments import Environment, install
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.program import program
from subnormal.mechanisms.core.mechanism import Refused

FOLDER = Path(__file__).parent / "packages"
SECONDS = 1.0  # of processor time, for one answer
BYTES = 6 << 30  # of memory of an answering process
WALL_SECONDS = 120.0  # after which a process that does not answer is ended


@dataclass(frozen=True, slots=True)
class Package:
    """A package with a file in `packages`. bare: installed without its dependencies, but with `requires`."""

    name: str
    bare: bool = False
    requires: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """The file of its answers."""
        return FOLDER / f"{self.name.replace('-', '_')}.py"


Source: TypeAlias = tuple[Package, Path]  # a package, and the interpreter that has it
Answers: TypeAlias = Mapping[tuple[str, str], Answer]  # by the name of the accountant and that of the kind

PACKAGES = (
    Package("subnormal"),
    Package("dp-accounting"),
    Package("opendp"),
    Package("diffprivlib", requires=("scikit-learn<1.8",)),
    Package("prv-accountant"),
    Package("autodp", requires=("numpy<2", "scipy<1.14")),
    Package("smartnoise-sql"),
    Package("jax-privacy"),
    Package("opacus", bare=True, requires=("numpy", "scipy")),  # its accountants do without torch
)


def package(name: str) -> Package:
    """Return a package. Raises LookupError, with the names, for one that is not there."""
    for one in PACKAGES:
        if one.name == name.lower().replace("_", "-"):
            return one
    raise LookupError(f"{name!r} is none of {', '.join(one.name for one in PACKAGES)}")


def interpreter(one: Package, version: str, below: Path) -> Path:
    """Return the interpreter that has the package: this one, or that of an environment, which is installed.

    version: empty for the package that is installed here. below: the folder of the environments.
    Raises LookupError where nothing is installed here, NotInstalledError where pip fails.
    """
    if not version:
        try:
            metadata.version(one.name)
        except metadata.PackageNotFoundError:
            advice = f"install it, or name one of its versions, as {one.name}==VERSION"
            raise LookupError(f"{one.name} is not installed here: {advice}") from None
        return Path(sys.executable)
    pinned = f"{one.name}=={version}"
    wanted = Environment((pinned, *one.requires), (pinned,) if one.bare else (), below)
    install(wanted)
    return wanted.interpreter


def source(release: str) -> Source:
    """Return a package, as "opendp" or "opendp==0.16.0", and the interpreter that has it: a release's is in the cache.

    Raises LookupError and NotInstalledError as `package` and `interpreter` do.
    """
    name, _, version = release.partition("==")
    one, cache = package(name), Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return one, interpreter(one, version, cache / "subnormal" / "environments")


@contextmanager
def _answers(python: Path, path: str, *named: str) -> Iterator[Answers]:
    """Yield the answers of a process, which is started again after it failed.

    path: where modules are looked for. named: what it answers for.
    """
    threads = ("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
    served = (serve.__file__, str(FOLDER / "answering.py"), str(SECONDS), str(BYTES), *named)
    command = shlex.join(["env", f"PYTHONPATH={path}", *threads, str(python), *served])
    function: Callable[[Any, int], list[Any]] | None = None

    def ask(data: Any) -> Any:
        nonlocal function
        try:
            function = function or process.enter_context(program(command, {}, WALL_SECONDS))
            (outcome,) = function(data, 1)
        except TargetError:
            function = None
            process.close()
            raise
        return outcome

    with ExitStack() as process:
        names = ask(None)
        if isinstance(names, Refused | str):
            raise TargetError(names.error if isinstance(names, Refused) else names)
        yield {(who, kind): partial(_asked, ask, who, kind) for who, kind in names}


def of_package(one: Package, python: Path) -> AbstractContextManager[Answers]:
    """Return the answers of a package, by the name of its accountant and that of the kind.

    Raises TargetError where its file cannot be loaded there.
    """
    return _answers(python, os.environ.get("PYTHONPATH", "") if python == Path(sys.executable) else "", str(one.file))


def of_function(name: str, of_kind: str) -> AbstractContextManager[Answers]:
    """Return the answers of package.module:function, which takes a kind's parameters by their names.

    It is called in a process of its own, because it may exit, crash, or never return. An answer raises RefusedError
    where the function does so, raises anything, or returns no number. Raises TargetError where it cannot be imported.
    """
    return _answers(Path(sys.executable), os.pathsep.join(sys.path), name, of_kind)


def _asked(ask: Callable[[Any], Any], accountant: str, kind: str, **parameters: Any) -> float:
    try:
        outcome = ask([accountant, kind, parameters])
    except TargetError as error:
        raise RefusedError(str(error)) from None
    if isinstance(outcome, Refused):
        raise RefusedError(outcome.error)
    if math.isnan(number := float(outcome)):
        raise RefusedError("not a number (NaN)")
    return number


@dataclass(frozen=True, slots=True)
class Row:
    """What one row asks.

    source: the package that is started to answer; None: somebody here answers. ends: the time (s since the epoch) when
    all rows end. share: of the time that is left then. options: of `hold`, besides the time.
    """

    accountant: str
    kind: str
    source: Source | None = None
    ends: float = math.inf
    share: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)


def held(here: Answers, row: Row) -> Held:
    """Return what is found of one row. here: who answers where the row has no source."""
    with nullcontext(here) if row.source is None else of_package(*row.source) as answers:
        answer, seconds = answers[row.accountant, row.kind], row.share * max(0.0, row.ends - time.time())
        return hold(row.accountant, answer, kind(row.kind), seconds=seconds, **row.options)


def as_json(one: Held) -> dict[str, Any]:
    """Return what was found as JSON values; "inf" and "-inf" stand for infinities."""

    def said(answer: Said | None) -> Any:
        return None if answer is None else {**plain(answer), "shortfall": answer.shortfall}

    return {
        "accountant": one.accountant,
        "kind": one.kind,
        "verdict": one.verdict,
        "answered": one.examples,
        "refused": one.refused,
        "reason": one.why,
        "rounded": one.rounded,
        "shortest": said(one.shortest),
        "violated": said(one.violated),
        "loose": plain(one.factor),
        "loosest": said(one.loosest),
    }
