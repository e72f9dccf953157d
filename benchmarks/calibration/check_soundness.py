"""How often `check` accuses functions that keep their claims: python -m benchmarks.calibration.check_soundness 200 2.

The arguments are the seeds of each function and the seconds of each check; names of functions may follow. By the
e-process one check accuses wrongly with probability at most ALPHA; a replay never should.
"""

from __future__ import annotations

import sys
import time

from subnormal.audit.check.check import check
from subnormal.audit.model import Verdict
from subnormal.audit.statistics.binomial import clopper_pearson
from tests.support.checked_functions import SOUND

ALPHA = 1e-6
TAIL = 0.025  # of the interval of the rate that is printed


def main(seeds: int, seconds: float, *names: str) -> None:
    """Print for each function how many checks accuse it, and of all of them the interval of their rate."""
    accused = 0
    for name in names or SOUND:
        case, started, stages = SOUND[name], time.process_time(), []
        for seed in range(1, seeds + 1):
            result = check(case.function, case.data, case.adjacent, case.claim, seconds=seconds, alpha=ALPHA, seed=seed)
            if result.error is not None:
                raise RuntimeError(f"{name}: {result.error}")
            if result.verdict is Verdict.VIOLATED:
                stages.append(result.stage)
                print(result, flush=True)
        accused += len(stages)
        spent = (time.process_time() - started) / seeds
        print(f"{name}: {len(stages)} of {seeds} accused, {spent:.2f} s of processor time each", flush=True)
    checks = seeds * len(names or SOUND)
    low, high = clopper_pearson(accused, checks, TAIL)
    print(f"{accused} of {checks} accused: a rate between {low:.5f} and {high:.5f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:])
