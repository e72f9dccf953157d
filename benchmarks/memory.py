"""Memory that a call needs beyond its input: as Python counts it, and as the operating system does.

Run as a module it measures one of its cases in a fresh process: python -m benchmarks.memory CASE
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import naive
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.exponential.exact import sample
from subnormal.mechanisms.privacy import Eta

LIMIT = 3_600  # seconds for a fresh process
STATUS = Path("/proc/self/status")  # its VmHWM, unlike ru_maxrss, starts anew in a new program
KIB_PER_MIB = 1 << 10


def ten_million_in_ten() -> Utilities:
    """Return 10^7 random utilities in 0…9."""
    return np.random.default_rng(1).integers(0, 10, 10_000_000)


def distinct_utilities() -> Utilities:
    """Return 75,000 distinct utilities."""
    return np.arange(75_000)


CASES: dict[str, Callable[[], Utilities]] = {"ten-million": ten_million_in_ten, "distinct": distinct_utilities}


def allocated(call: Callable[[], object]) -> float:
    """Return the peak, in MiB, of what a call allocates through Python, numpy's arrays included."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / (1 << 20)
    finally:
        tracemalloc.stop()


def resident(case: str, side: str) -> float | None:
    """Return the growth, in MiB, of a fresh process's resident memory; None where the system does not tell."""
    if not STATUS.exists():
        return None
    command = [sys.executable, "-m", "benchmarks.memory", case, side]
    root = Path(__file__).parent.parent
    return float(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=LIMIT).stdout)


def one_draw(utilities: Utilities, side: str) -> Callable[[], object]:
    """Return the call that is measured, "exact" or "naive"."""
    if side == "exact":
        bits = system_bits()
        return lambda: sample(utilities, Eta(1, 1, 1), bits, 1)
    generator = np.random.default_rng(1)
    return lambda: naive.draw(utilities, naive.LN2, generator)


def peak() -> float:
    """Return the largest resident memory of this process so far, in MiB."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / KIB_PER_MIB


if __name__ == "__main__":
    measured = one_draw(CASES[sys.argv[1]](), sys.argv[2])
    before = peak()
    measured()
    print(peak() - before)
