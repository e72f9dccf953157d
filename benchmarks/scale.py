"""An audit of one row with very many runs, in a fresh process: its time, and the memory of the largest process.

Run as a module: python -m benchmarks.scale RUNS JOBS
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.memory import LIMIT, peak
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine import process_pool
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.evidence.batches import BATCH, count_batch, zero_counts
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import member

OUTCOMES = 1_000
MECHANISM = "exponential-exact"


def audited(runs: int, jobs: int) -> dict[str, float]:
    """Return the seconds and the peak MiB of an audit in a fresh process; runs are of each world."""
    command = [sys.executable, "-m", "benchmarks.scale", str(runs), str(jobs)]
    root = Path(__file__).parent.parent
    measured = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=LIMIT).stdout
    found: dict[str, float] = json.loads(measured)
    return found


def audit(runs: int, jobs: int) -> dict[str, float]:
    """Audit in this process and its workers, and measure it."""
    crossing = Crossing(zero_rounding(outcomes=OUTCOMES), member(MECHANISM))
    started = time.perf_counter()
    with process_pool.local(jobs) as executor:
        (row,) = examine_all([crossing], seed=1, runs=runs, alpha=0.05, executor=executor).rows
        seconds = time.perf_counter() - started
        asked = [executor.submit(peak) for _ in range(jobs)]  # each in a process that is free
        peaks = [peak(), *(future.result(LIMIT) for future in asked)]
    if row.sampled is None or row.sampled.runs != runs:
        raise RuntimeError(f"the row has not been counted: {row.error}")
    return {"seconds": seconds, "peak": max(peaks)}


def rivals(batches: int) -> dict[str, Callable[[], object]]:
    """Return what counts some batches of one world: as an audit does, and as a bare loop over the same draws."""
    attack, mechanism = zero_rounding(outcomes=OUTCOMES), member(MECHANISM)
    _, data = attack.worlds()
    edges = np.arange(OUTCOMES, dtype=np.float64)

    def ours() -> object:
        seen = zero_counts(OUTCOMES)
        for number in range(batches):
            seen += count_batch(mechanism, attack, "out", data, edges, 1, number, BATCH)
        return seen

    def bare() -> object:
        seen = np.zeros(OUTCOMES, dtype=np.int64)
        for number in range(batches):
            bits = seeded_bits(1, attack.name, mechanism.name, "out", number)
            seen += np.bincount(mechanism.sample(data, attack.parameters, bits, BATCH), minlength=OUTCOMES)
        return seen

    return {"ours": ours, "bare": bare}


if __name__ == "__main__":
    print(json.dumps(audit(int(sys.argv[1]), int(sys.argv[2]))))
