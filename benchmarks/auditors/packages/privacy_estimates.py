"""privacy-estimates: bounds from the counts of an attack, whose threshold is chosen on half of the scores.

Its joint methods take most of a minute for a bound.
"""

import numpy as np
from privacy_estimates import AttackResults, compute_eps_lo


def counts(high, low):
    """Return the counts of the second halves at the threshold that is best on the first ones."""
    first, second = (high[: len(high) // 2], low[: len(low) // 2]), (high[len(high) // 2 :], low[len(low) // 2 :])
    places = np.unique(np.concatenate(first))
    correct = [(first[0] >= one).mean() + (first[1] < one).mean() for one in places[:: 1 + len(places) // 1000]]
    place = places[:: 1 + len(places) // 1000][int(np.argmax(correct))]
    found, wrong = int((second[0] >= place).sum()), int((second[1] >= place).sum())
    return AttackResults(FN=len(second[0]) - found, FP=wrong, TN=len(second[1]) - wrong, TP=found)


def method(name):
    def bound(scores, included, delta, alpha):
        return compute_eps_lo(counts(scores[included], scores[~included]), delta, alpha, name)

    return bound


AUDITORS = {"beta (Clopper-Pearson)": method("beta"), "jeffreys": method("jeffreys")}
GAUSSIAN = ()
