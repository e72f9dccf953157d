"""The pitfalls of jax_privacy's documentation, planted in a loop of Opacus and in one of jax_privacy, and checked."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from benchmarks.training.setting import DELTA, EXPECTED, MULTIPLIER, RATE, RECORDS, STEPS, Case
from subnormal.audit.training.accounting import bounds
from subnormal.audit.training.result import Result
from subnormal.audit.training.training import check_training
from subnormal.mechanisms.privacy import Claim


def checked(case: Case, data: Any, step_size: float, seed: int) -> Result:
    """Check one loop, with the certified ε as its claim."""
    found = bounds(case.assumed, MULTIPLIER, STEPS, DELTA, RECORDS, case.relation)
    assert found is not None
    return check_training(
        case.train,
        data,
        clip=case.clip,
        noise_multiplier=MULTIPLIER,
        steps=STEPS,
        sampler=case.sampler,
        sample_rate=RATE,
        batch_size=EXPECTED,
        relation=case.relation,
        claim=Claim(found[1] * case.epsilon_share, DELTA),
        step_size=step_size,
        seed=seed,
    )


def main(words: list[str]) -> None:
    for library in ("opacus", "jax_privacy"):
        if words and library not in words[0]:
            continue
        loops = importlib.import_module(f"benchmarks.training.{library}_loops")
        for case in loops.CASES:
            if len(words) > 1 and words[1] not in case.pitfall:
                continue
            start, cpu = time.monotonic(), time.process_time()
            result = checked(case, loops.data(), loops.STEP_SIZE, 1)
            right = result.violated == ((case.stage,) if case.stage else ())
            print(
                "ok " if right else "BAD",
                library,
                case.pitfall,
                case.stage,
                result.violated,
                f"{time.monotonic() - start:.1f} s, {time.process_time() - cpu:.1f} s of processor time",
                result.runs,
                flush=True,
            )
            if not right or len(words) > 1:
                print(result)


if __name__ == "__main__":
    main(sys.argv[1:])
