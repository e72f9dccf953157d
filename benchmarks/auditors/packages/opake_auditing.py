"""opake-auditing: its one-run estimate, with the threshold of its choice, and with one chosen on half of the scores."""

import numpy as np
from opake.auditing import canary_scores, one_run
from opake.auditing.types import CoinFlip


def estimate(high, low):
    places = np.arange(len(high) + len(low))
    isin = places < len(high)
    flip = CoinFlip(len(places), places, isin, places[isin], places[~isin])
    return one_run(canary_scores(np.concatenate([high, low]), canary_indices=places), coin_flip=flip)


def gdp(scores, included, delta, alpha):
    return (
        estimate(scores[included], scores[~included]).gdp(grid_size=1_000).epsilon_at(delta=delta, significance=alpha)
    )


def eps_delta(scores, included, delta, alpha):
    return estimate(scores[included], scores[~included]).eps_delta().epsilon_at(delta=delta, significance=alpha)


def eps_delta_split(scores, included, delta, alpha):
    high, low = scores[included], scores[~included]
    first = np.concatenate([high[: len(high) // 2], low[: len(low) // 2]])
    second = estimate(high[len(high) // 2 :], low[len(low) // 2 :])
    return second.eps_delta().epsilon_at(delta=delta, significance=alpha, threshold=float(np.median(first)))


AUDITORS = {"eps_delta": eps_delta, "eps_delta, median of one half": eps_delta_split, "gdp": gdp}
GAUSSIAN = ("gdp",)
