"""What `check` does with a problem, measured in seconds of processor: the load of the machine is no matter."""

from __future__ import annotations

import time
from typing import Any, Literal
from unittest.mock import patch

from benchmarks.adversary.functions import PROBLEMS
from subnormal.audit.check.check import check
from subnormal.audit.model import Verdict

Kind = Literal["pair", "domain", "sound"]  # the pair is named, or the domain alone; or the sound twin, with the domain


def measured(kind: Kind, name: str, seed: int, seconds: float) -> dict[str, Any]:
    """Return whether `check` convicts within so many seconds of processor, and what it took.

    runs: of each input where the pair is named, of all inputs otherwise. judged: those of each
    input that the sequential test took. No part of `check` waits, so a clock that
    shows the processor's time in place of the machine's gives it as much work on a loaded machine as on an idle one.
    """
    problem = PROBLEMS[name]
    function = problem.sound if kind == "sound" else problem.function
    if kind == "pair":
        given: dict[str, Any] = {"pairs": [problem.pair]}
    else:
        given = {"data": problem.data, "adjacent": problem.adjacent}
    wall, before = time.monotonic(), time.process_time()
    with patch("time.monotonic", time.process_time):
        result = check(function, claim=problem.claim, seconds=seconds, seed=seed, **given)
    return {
        "found": result.verdict is Verdict.VIOLATED,
        "runs": result.runs // 2 if kind == "pair" else result.runs,
        "judged": getattr(result.evidence.get("sequential"), "runs", 0),
        "processor": round(time.process_time() - before, 2),
        "wall": round(time.monotonic() - wall, 1),
        "stage": result.stage,
        "error": result.error,
    }
