"""What a check depends on, as one text: while it is the same, what was not refuted need not be checked again."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

APART = ("alpha", "command")  # of the arguments: the share of a check is smaller in a longer suite
CODE = (".py", ".so", ".pyd")


def fingerprint(arguments: Mapping[str, Any], code: str) -> str:
    """Return the fingerprint of a check. code: of `code_of`."""
    asked = {name: repr(value) for name, value in arguments.items() if name not in APART}
    schema = arguments["data"] if str(arguments["data"]).endswith(".json") else None
    domain = None if schema is None else Path(schema).read_text(encoding="utf-8")
    return _hash([json.dumps([asked, domain, code], sort_keys=True).encode()])


def code_of(names: Iterable[str]) -> str:
    """Return the fingerprint of all code that modules of these names bring: call it after they are imported.

    Its files are those of their packages, of Subnormal, and of all imported packages that lie outside the folders of
    Python and of what is installed; of a module without a package, all modules beside it. What else is installed counts
    by its version.
    """
    tops = {"subnormal", *(name.partition(".")[0] for name in names)}
    files = {file for top in sorted(tops | set(_local())) for file in _files(top)}
    installed = sorted({f"{one.name}=={one.version}" for one in distributions()})
    parts = [f"{platform.python_version()} {platform.machine()} {installed}".encode()]
    for file in sorted(files):
        parts += [file.as_posix().encode(), file.read_bytes()]
    return _hash(parts)


def _local() -> Iterator[str]:
    """Yield the imported packages that are neither Python's own nor installed."""
    apart = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and name != "__main__":
            path = Path(file).resolve()
            if not any(path.is_relative_to(folder) for folder in apart):
                yield name.partition(".")[0]


def _files(top: str) -> Iterator[Path]:
    """Yield the files of code of a package, or the modules beside a module."""
    module = sys.modules.get(top)
    folders = [Path(one) for one in getattr(module, "__path__", ())]
    for folder in folders:
        yield from _below(folder, set())
    file = getattr(module, "__file__", None)
    if not folders and file is not None:
        yield from (one for one in Path(file).parent.glob("*") if one.suffix in CODE and one.is_file())


def _below(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """Yield the files of code in a folder and in those below it, through links too, each folder once.

    Environments are left out: a checkout may hold one, and what is installed counts by its version.
    """
    seen.add(folder.resolve())
    for one in folder.iterdir():
        if one.is_dir():
            if one.resolve() not in seen and not (one / "pyvenv.cfg").exists():
                yield from _below(one, seen)
        elif one.suffix in CODE and one.is_file():
            yield one


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()
