"""Check one release of one exhibit in this process, and print what was found as one line of JSON.

The page of the release that the exhibit is about becomes check.html in its folder, or check.txt where it is a training
loop.

    python -m museum.examine FOLDER ROLE SECONDS [INTERPRETER]

SECONDS: of processor time, after which the process ends. INTERPRETER: of an environment in which the release is alone.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from museum.exhibits import Exhibit, ExhibitError, Release, exhibit
from subnormal.audit.check import document, page
from subnormal.audit.check.check import check
from subnormal.audit.check.result import Result
from subnormal.audit.check.words import evidence_words
from subnormal.audit.commands.printing import redirect_stdout_to_stderr
from subnormal.audit.conforms.conforms import conforms
from subnormal.audit.model import Verdict
from subnormal.audit.targets import serve
from subnormal.audit.targets.program import program
from subnormal.audit.training import result as training
from subnormal.audit.training.training import check_training

COMMAND = "cmd:"
ANSWER_SECONDS = 120.0  # for one answer of a program


def examined(one: Exhibit, release: Release, interpreter: str = "") -> Result | training.Result:
    """Check one release. interpreter: of the environment in which it is alone.

    Raises ExhibitError where exhibit.py lacks a name, TargetError where a program breaks the protocol.
    """
    names = _names(one)
    required = ("data",) if "law" in names or "training" in names else ("data", "adjacent")
    if missing := [name for name in required if name not in names]:
        raise ExhibitError(f"{one.name}/exhibit.py: {', '.join(missing)} must be defined")
    with _function(one, release, names, interpreter) as (function, batch):
        if "training" in names:
            return check_training(function, names["data"], **names["training"])
        if "bound" in names:
            return _stability(function, names, one.seconds, batch)
        if "law" in names:
            return conforms(function, names["data"], names["law"], batch=batch, seconds=one.seconds)
        return check(function, names["data"], names["adjacent"], names["claim"], batch=batch, seconds=one.seconds)


def _stability(function: Callable[..., Any], names: dict[str, Any], seconds: float, batch: bool) -> Result:
    from subnormal import stability

    single = (lambda data: function(data, 1)[0]) if batch else function
    known = {name: names[name] for name in ("distance", "bound") if name in names}
    result: Result = stability(single, names["data"], names["adjacent"], seconds=seconds, **known)
    return result


@contextmanager
def _function(
    one: Exhibit, release: Release, names: dict[str, Any], interpreter: str
) -> Iterator[tuple[Callable[..., Any], bool]]:
    """Yield the function under audit, and whether it takes (data, runs)."""
    if one.is_alone:
        command = shlex.join(
            os.path.relpath(path) for path in (interpreter, serve.__file__, str(one.folder / "release.py"))
        )
    elif release.name.startswith(COMMAND):
        os.chdir(one.folder)
        command = release.name.removeprefix(COMMAND)
    else:
        name = "function" if one.package else release.name
        if name not in names:
            raise ExhibitError(f"{one.name}/exhibit.py: {name} must be defined")
        yield names[name], bool(names.get("batch", False))
        return
    with program(command, {}, ANSWER_SECONDS) as function:
        yield function, True


def _names(one: Exhibit) -> dict[str, Any]:
    """Return the names of exhibit.py, which may import what is in its folder."""
    sys.path.insert(0, str(one.folder))
    return vars(importlib.import_module("exhibit"))


def found(result: Result | training.Result) -> dict[str, Any]:
    """Return what is kept of a result. What differs between two equal searches is under "spent"."""
    if isinstance(result, training.Result):
        return _stages(result)
    whole = json.loads(document.to_json(result))
    kept = {key: whole[key] for key in ("verdict", "stage", "worlds", "error", "notes")}
    words = {kind: evidence_words(evidence) for kind, evidence in result.evidence.items()}
    event = None if whole["event"] is None else whole["event"]["words"]
    return {**kept, "event": event, "evidence": words, "spent": {key: whole[key] for key in ("pairs", "runs")}}


def _stages(result: training.Result) -> dict[str, Any]:
    """Return what is kept of a check of a loop: of each stage that is wrong, or was not tried, what is said first."""
    passed = Verdict.NOT_REFUTED
    said = {stage.name: stage.said[0] for stage in result.stages if stage.verdict is result.verdict is not passed}
    return {
        "verdict": result.verdict,
        "stage": "training",
        "worlds": None,
        "error": None,
        "notes": [],
        "event": None,
        "evidence": said,
        "spent": {"runs": result.runs},
    }


def keep_page(folder: Path, result: Result | training.Result) -> None:
    """Write what was found for a reader."""
    if isinstance(result, training.Result):
        (folder / "check.txt").write_text(f"{result}\n", encoding="utf-8")
    else:
        (folder / "check.html").write_text(page.to_html(result), encoding="utf-8")


def main() -> None:
    """Print what the check of one release has found."""
    folder, role, seconds, *interpreter = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 10))
    one = exhibit(Path(folder))
    release = next(release for release in one.releases if release.role == role)
    with redirect_stdout_to_stderr():
        result = examined(one, release, *interpreter)
    made = found(result)
    if release.role == one.kind:
        keep_page(one.folder, result)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    made["spent"]["seconds"] = round(sum(one.ru_utime + one.ru_stime for one in used), 1)
    print(json.dumps(made, allow_nan=False))


if __name__ == "__main__":
    main()
