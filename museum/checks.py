"""Install and check releases, two at a time, each check in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from museum.environments import ROOT, environment
from museum.exhibits import Exhibit, Release
from subnormal.audit.targets.environments import Environment, NotInstalledError, install

PROCESSOR_SECONDS = 300  # of one check
WALL_SECONDS = 900  # of one check
AT_A_TIME = 2

Record = dict[str, Any]
Told = Callable[[str], None]


def records(exhibit: Exhibit) -> dict[str, Record]:
    """Return what the last check of each release has found, by its role; nothing of other releases than today's."""
    path = exhibit.folder / "result.json"
    known: dict[str, Record] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {one.role: known[one.role] for one in exhibit.releases if known.get(one.role, {}).get("release") == one.name}


def keep(exhibit: Exhibit, release: Release, record: Mapping[str, Any]) -> None:
    """Write what was found into result.json of the exhibit, beside what is known of its other releases."""
    known = records(exhibit) | {release.role: {"release": release.name, **record}}
    ordered = {one.role: known[one.role] for one in exhibit.releases if one.role in known}
    text = json.dumps(ordered, indent=1, ensure_ascii=False, allow_nan=False)
    (exhibit.folder / "result.json").write_text(text + "\n", encoding="utf-8")


def check_all(exhibits: Sequence[Exhibit], told: Told) -> None:
    """Install and check every release of the exhibits, and keep what was found in their folders."""
    pairs = [(exhibit, release) for exhibit in exhibits for release in exhibit.releases]
    wanted = list(dict.fromkeys(environment(*pair) for pair in pairs))
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        failed = dict(zip(wanted, pool.map(partial(_installed, told=told), wanted), strict=True))
        checks = [pool.submit(_checked, *pair, failed[environment(*pair)], told) for pair in pairs]
        for pair, made in zip(pairs, checks, strict=True):
            keep(*pair, made.result())


def _installed(wanted: Environment, told: Told) -> str | None:
    """Install an environment; return why that failed, or None."""
    if wanted.requirements:
        told(f"installing {' '.join(wanted.requirements)}")
    try:
        install(wanted)
    except NotInstalledError as error:
        told(f"not installed: {' '.join(wanted.requirements)}: {error}")
        return str(error)
    return None


def _checked(exhibit: Exhibit, release: Release, not_installed: str | None, told: Told) -> Record:
    if not_installed is not None:
        return {"not installed": not_installed}
    named = f"{exhibit.name}, {release.role} {release.name}"
    told(f"checking {named}")
    record = checked(exhibit, release, environment(exhibit, release).interpreter)
    outcome = record.get("failed") or f"{record['verdict'] or record['error']}, {record['spent']['seconds']:g} s"
    told(f"checked {named}: {outcome}")
    return record


def checked(exhibit: Exhibit, release: Release, interpreter: Path) -> Record:
    """Check one release in a process of its own, and return what was found, or why nothing was.

    interpreter: of the environment of the release.
    """
    command = ["-m", "museum.examine", str(exhibit.folder), release.role, str(PROCESSOR_SECONDS)]
    command = [sys.executable, *command, str(interpreter)] if exhibit.is_alone else [str(interpreter), *command]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    try:
        ended = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **threads, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no verdict within {WALL_SECONDS} s"}
    if ended.returncode == 0:
        record: Record = json.loads(ended.stdout)
        return record
    if ended.returncode == -signal.SIGXCPU:
        return {"failed": f"no verdict within {PROCESSOR_SECONDS} s of processor time"}
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    return {"failed": lines[-1] if lines else f"exit code {ended.returncode}"}
