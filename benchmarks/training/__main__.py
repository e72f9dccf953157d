"""Plant the pitfalls of jax_privacy's documentation in a loop of Opacus and in one of jax_privacy, and check them.

    python -m benchmarks.training [opacus_loops] [jax_privacy_loops] [opacus_releases]

It needs an environment with opacus and jax_privacy. Each check is kept in results.json as it ends, and results.md is
written from it. `opacus_releases` is run with the installed release of Opacus: once with 1.5.3, once with 1.5.4.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.training.setting import DELTA, EXPECTED, MULTIPLIER, RATE, RECORDS, STEPS, Case
from subnormal.audit.training.accounting import bounds
from subnormal.audit.training.result import Result
from subnormal.audit.training.training import check_training
from subnormal.mechanisms.privacy import Claim

FOLDER = Path(__file__).parent
SEEDS = (1, 1_001, 2_001)  # of a correct loop; a planted one has the first
PITFALLS = "https://github.com/google-deepmind/jax_privacy/blob/main/docs/sharp_edges_dp_training_pitfalls.md"
HEAD = f"""# Loops of DP-SGD with the documented pitfalls

The documentation of jax_privacy lists [twelve pitfalls]({PITFALLS})
of training with differential privacy. Each is planted in a correct loop of Opacus and in one of jax_privacy, by a
change of a line or a few (`opacus_loops.py`, `jax_privacy_loops.py`), and `subnormal.check_training` gets the loop, its
data and the parameters of its accountant, and no hint. `python -m benchmarks.training` writes this page.
*Floating point robustness* is left out: correct loops of both libraries have it. *Finite-precision numerical error* is
planted as an accountant whose ε is 1 % too low. Names with a number are public flaws of Opacus (`opacus_releases.py`).

A correct loop is accused with probability 10^-6 at most in each check. Seconds are of the clock, on two processors that
others used too; those of the processor follow.

| library | loop | planted stage | stages that are named | what is said first | runs | seconds | of the processor |
|---|---|---|---|---|---|---|---|
"""


def checked(case: Case, data: Any, step_size: float, seed: int) -> Result:
    """Check one loop, with the certified ε as its claim where there is one."""
    found = bounds(case.assumed, MULTIPLIER, STEPS, DELTA, RECORDS, case.relation)
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
        claim=Claim(found[1] * case.epsilon_share, DELTA) if found else None,
        step_size=step_size,
        seed=seed,
    )


def row(module: Any, case: Case, seed: int) -> dict[str, Any]:
    """Check a loop, and return what the page shows of it."""
    name = "opacus" if "opacus" in module.__name__ else "jax-privacy"
    start, processor = time.monotonic(), time.process_time()
    result = checked(case, module.data(), module.STEP_SIZE, seed)
    said = result.stage(result.violated[0]).said[0] if result.violated else str(result.verdict)
    return {
        "library": f"{name} {importlib.metadata.version(name)}",
        "loop": case.pitfall if seed == SEEDS[0] else f"{case.pitfall}, seed {seed:,}",
        "planted": case.stage or "none",
        "named": ", ".join(result.violated) or "none",
        "said": said,
        "runs": result.runs,
        "seconds": round(time.monotonic() - start, 1),
        "processor": round(time.process_time() - processor, 1),
    }


def keep(rows: list[dict[str, Any]]) -> None:
    """Add rows to results.json in place of older ones of the same loops, and write results.md."""
    file = FOLDER / "results.json"
    known = json.loads(file.read_text()) if file.exists() else []
    every = {(one["library"], one["loop"]): one for one in [*known, *rows]}
    file.write_text(json.dumps(list(every.values()), indent=1, ensure_ascii=False) + "\n")
    ordered = sorted(every.values(), key=lambda one: one["library"])
    lines = ["| " + " | ".join(str(value).replace("|", "\\|") for value in one.values()) + " |" for one in ordered]
    (FOLDER / "results.md").write_text(HEAD + "\n".join(lines) + "\n")


def main(names: list[str]) -> None:
    """Check the loops of these modules, one after the other; without names those of the installed libraries."""
    for name in names or ["opacus_loops", "jax_privacy_loops"]:
        module = importlib.import_module(f"benchmarks.training.{name}")
        for case in module.CASES:
            for seed in SEEDS if case.stage is None else SEEDS[:1]:
                made = row(module, case, seed)
                print(*made.values(), sep=" | ", flush=True)
                keep([made])


if __name__ == "__main__":
    main(sys.argv[1:])
