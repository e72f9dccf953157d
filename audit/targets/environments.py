"""An environment of its own for each pinned release, kept between runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

INSTALL_SECONDS = 1800  # of one installation


class NotInstalledError(Exception):
    """A release cannot be installed."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What is installed, below a folder: requirements as pip reads them.

    bare: of the requirements, those that are installed without what they require. editable: the folder of Subnormal,
    which is installed too; None: the requirements are alone. python: an interpreter such as "3.9", where they are.
    """

    requirements: tuple[str, ...]
    bare: tuple[str, ...]
    below: Path
    editable: Path | None = None
    python: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the environment, named by what is in it."""
        words = (
            *self.requirements,
            *(("bare",) if self.bare else ()),
            *(("alone", self.python) if self.editable is None else ()),
        )
        return self.below / re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(words)).strip("-")

    @property
    def interpreter(self) -> Path:
        """The interpreter of the environment; this one where nothing is to be installed."""
        return self.folder / "bin" / "python" if self.requirements else Path(sys.executable)


def install(wanted: Environment) -> None:
    """Install what an environment lacks. Raises NotInstalledError with pip's reason."""
    ours = [] if wanted.editable is None else _dependencies(wanted.editable)
    stamp, content = wanted.folder / "installed.txt", "\n".join([*wanted.requirements, *ours])
    if not wanted.requirements or (stamp.is_file() and stamp.read_text("utf-8") == content):
        return
    shutil.rmtree(wanted.folder, ignore_errors=True)
    _run([_base(wanted.python), "-m", "venv", *(["--without-pip"] if wanted.editable else []), str(wanted.folder)])
    options = ["install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    whole = [one for one in wanted.requirements if one not in wanted.bare]
    if wanted.editable is None:
        pip = [str(wanted.interpreter), "-m", "pip"]  # its interpreter may be too old for our pip
    else:
        pip, whole = (
            [sys.executable, "-m", "pip", "--python", str(wanted.interpreter)],
            ["--editable", str(wanted.editable), *whole],
        )
    if whole:
        _run([*pip, *options, *whole])
    if wanted.bare:
        _run([*pip, *options, "--no-deps", *wanted.bare])
    stamp.write_text(content, "utf-8")


def _dependencies(root: Path) -> list[str]:
    """Return what Subnormal requires: after a change there an environment is made again."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def _base(python: str) -> str:
    """Return the interpreter of a version, as python3.9. Raises NotInstalledError where it is not on the path."""
    if not python:
        return sys.executable
    name = f"python{python}"
    if shutil.which(name) is None or subprocess.run([name, "-c", ""], capture_output=True).returncode != 0:
        raise NotInstalledError(f"{name} is not on the path")
    return name


def _run(command: list[str]) -> None:
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            stdin=subprocess.DEVNULL,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"not installed within {INSTALL_SECONDS} s") from None
    if ended.returncode != 0:
        lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        raise NotInstalledError((errors or lines or ["no message"])[-1])
