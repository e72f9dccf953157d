"""Other tools: where their code is, and how they are asked. Their code is not in this repository."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PLACES = "ADVERSARY_TOOLS"  # the environment variable of a folder: NAME/ is a checkout, NAME-python an interpreter


@dataclass(frozen=True, slots=True)
class Tool:
    """version: the commit that was read. folder: of its packages, inside its checkout; "" where it is not run."""

    title: str
    version: str
    source: str
    folder: str
    remark: str


OTHERS: Mapping[str, Tool] = {
    "sniper": Tool(
        "DP-Sniper",
        "0.1.0, ee087b2 (2021-08-27)",
        "https://github.com/eth-sri/dp-sniper",
        ".",
        "its default c = .01, once with its logistic regression and once with its network of two layers",
    ),
    "statdp": Tool(
        "StatDP",
        "0.1, d1f1e8f (2023-04-11)",
        "https://github.com/cmla-psu/statdp",
        ".",
        "only for δ = 0, and for at most four parts: it tries the product of ten events of each part",
    ),
    "auditorium": Tool(
        "DP-Auditorium",
        "b5b0286 (2026-08-06)",
        "https://github.com/google/differential-privacy",
        "python/dp_auditorium",
        "its hockey-stick tester with the default model and training",
    ),
    "siege": Tool(
        "Delta-Siege",
        "358377f (2024-02-12)",
        "https://github.com/eth-sri/Delta-Siege",
        "",
        "not run: it audits a family of mechanisms with a curve of (ε, δ) for each noise, not one function with one "
        "claim; it pins numpy 1.22.4, which has no wheel for Python 3.11",
    ),
    "recorder": Tool(
        "dp-recorder",
        "0.1.0, 85d189e (2026-05-01)",
        "https://github.com/ObliviousAI/dp-recorder",
        "",
        "not run: each function would have to be written anew around annotated primitives that state a sensitivity",
    ),
}


def is_there(tool: str) -> bool:
    """Return whether a tool is in the folder of tools."""
    return bool(OTHERS[tool].folder) and (Path(os.environ.get(PLACES, "/nonexistent")) / f"{tool}-python").exists()


def asked(tool: str, name: str, seconds: float) -> dict[str, Any]:
    """Return what another tool says of a problem whose pair is named, in so many seconds of processor."""
    places = Path(os.environ.get(PLACES, "/nonexistent"))
    path = os.pathsep.join([str(HERE.parents[1]), str(places / tool / OTHERS[tool].folder)])
    threads = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    command = [str(places / f"{tool}-python"), "-m", f"benchmarks.adversary.tools.{tool}", name, str(seconds)]
    given = {**os.environ, **threads, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with tempfile.TemporaryDirectory() as folder:  # DP-Sniper leaves folders where it runs
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=given, cwd=folder)
    if ended.returncode:
        return {"found": False, "runs": 0, "processor": 0.0, "error": ended.stderr.strip()[-300:]}
    answer: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return answer
