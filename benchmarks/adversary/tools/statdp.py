"""StatDP: its selection of an event and its test on the named pair, for a pure ε and few parts."""

import logging
from multiprocessing.pool import ThreadPool

import numpy as np

np.bool = bool  # numpy 1.24 dropped the name that it uses
from statdp.hypotest import hypothesis_test  # noqa: E402
from statdp.selectors import select_event  # noqa: E402

from benchmarks.adversary.tools import ALPHA, Runs, answer  # noqa: E402

PARTS = 4  # 10^4 events


def convicts(runs: Runs, count: int) -> bool:
    if runs.length > PARTS or runs.problem.claim.delta:
        raise NotImplementedError(f"{runs.length} parts, δ = {runs.problem.claim.delta}")

    def algorithm(prng, queries, **given):
        drawn = runs.many(queries[0], 1)[0].tolist()
        return drawn[0] if len(drawn) == 1 else drawn

    epsilon = runs.problem.claim.epsilon
    with ThreadPool(1) as pool:
        given = select_event(algorithm, [((0,), (1,), {})], epsilon, count, pool, quiet=True)
        return min(hypothesis_test(algorithm, *given, epsilon, count, pool)) < ALPHA


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    answer(convicts)
